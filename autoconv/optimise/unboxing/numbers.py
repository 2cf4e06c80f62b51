"""Rules for boxed numbers: kinds of results, and the scalar ops with Python's meaning that replace object ops.

A rule returns True if it supports a node, False if not, None if undecided (see `kind_inference.Rule`). An op whose
result may exceed 64 bits stays on objects in `late_nodes`, after which the call cannot rerun as plain Python.
"""

from __future__ import annotations

import numpy as np

from autoconv.graph.dtypes import bfloat16, bool_, float16
from autoconv.graph.graph import Node, Value
from autoconv.graph.python_operators import BINARY, BITWISE, COMPARISONS
from autoconv.graph.types import TensorType, TupleType
from autoconv.ops import OPS
from autoconv.optimise.unboxing.kind_inference import Kinds, dict_rule, operation_key, rule
from autoconv.optimise.unboxing.kinds import (
    BOOL,
    DEQUE,
    FLOAT,
    INT,
    LIST,
    OTHER,
    SLICE,
    Kind,
    fits_int64,
    is_item,
    is_number,
    is_python_number,
)
from autoconv.optimise.unboxing.scalars import scalar_dtype, scalar_result, write_scalar_operator
from autoconv.optimise.unboxing.traversal import is_traversable, write_reduction, yielded_kind
from autoconv.optimise.unboxing.tuples import comparison_rule, is_orderable, write_comparison
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule, rewrite_rule

_BINARY_OPS = {
    operator.name: operator.number_op.removeprefix("python_") for operator in BINARY if operator.number_op is not None
}
_COMPARISONS = {comparison.name: comparison.tensor_op for comparison in COMPARISONS}
_UNARY_OPS = {"neg": "negative", "abs": "abs", "invert": "invert", "int": "int", "float": "float", "bool": "bool"}
_BITWISE_OPS = frozenset({*(_BINARY_OPS[operator.name] for operator in BITWISE), "invert"})
_OP_NAMES = {
    **{f"object_apply.{name}": op for name, op in {**_BINARY_OPS, **_COMPARISONS, **_UNARY_OPS}.items()},
    **{f"object_apply.i{name}": op for name, op in _BINARY_OPS.items()},
}  # fmt: skip
_OPERAND_COUNTS = {
    **dict.fromkeys((*_BINARY_OPS.values(), *_COMPARISONS.values()), 2),
    **dict.fromkeys(_UNARY_OPS.values(), 1),
}
_BOUND_TYPES = (int, type(None))  # of the bounds of a native slice
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1  # the limits of native ints


@rule("object_constant")
def _constant_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether a constant is native, and set its kind: a number, a tuple of these, or a slice with int bounds."""
    value = node.attributes["value"]
    kind = _kind_of_constant(value)
    if type(value) is slice and value.step != 0:
        has_int_bounds = all(type(bound) in _BOUND_TYPES for bound in (value.start, value.stop, value.step))
        kind = SLICE if has_int_bounds else OTHER
    kinds.widen_kind_of(node.results[0], kind)
    return kinds.kind(node.results[0]) != OTHER


def _kind_of_constant(value: object) -> Kind:
    """Return the kind of a number, or of a tuple of numbers; OTHER for any other object."""
    if type(value) is tuple and value:
        item_kinds = [_kind_of_constant(item) for item in value]
        return OTHER if OTHER in item_kinds else TupleType(tuple(item_kinds))  # type: ignore[arg-type]
    if type(value) is int and not _INT64_MIN <= value <= _INT64_MAX:
        return OTHER
    return {bool: BOOL, int: INT, float: FLOAT}.get(type(value), OTHER)


@rewrite_rule("object_constant")
def _write_constant(writer: Writer, node: Node) -> list[Value]:
    value, kind = node.attributes["value"], writer.kinds.kind(node.results[0])
    if kind == SLICE:
        return []  # the bounds are read at the slice's use
    assert isinstance(kind, (TensorType, TupleType))
    return [_write_number(writer, node, number) for number in _numbers_in(value)]


def _numbers_in(value: object) -> list[object]:
    """Return the number, or the numbers in a tuple, which may be nested."""
    return [number for item in value for number in _numbers_in(item)] if type(value) is tuple else [value]


def _write_number(writer: Writer, node: Node, value: object) -> Value:
    kind = _kind_of_constant(value)
    assert isinstance(kind, TensorType)
    constant = writer.add("constant", node, value=np.array(value, kind.dtype.numpy), weak=True)
    writer.constants[constant] = value
    return constant


@rule("object_box")
def _box_rule(kinds: Kinds, node: Node) -> bool:
    kinds.widen_kind_of(node.results[0], _kind_of_box(node))
    return is_number(kinds.kind(node.results[0]))


def _kind_of_box(node: Node) -> Kind:
    """Return the kind of the object that an `object_box` makes of a scalar."""
    type_, boxing = node.inputs[0].type, node.attributes["boxing"]
    if not isinstance(type_, TensorType) or type_.shape != () or boxing == "tensor":
        return OTHER
    dtype = type_.dtype
    if boxing == "array":
        kind = TensorType(dtype, ())
        return kind if is_number(kind) and not type_.weak else OTHER
    if dtype.is_bool:
        return BOOL
    if dtype.is_floating and dtype not in (float16, bfloat16):
        return FLOAT
    return INT if fits_int64(dtype) else OTHER


@rewrite_rule("object_box")
def _write_box(writer: Writer, node: Node) -> list[Value]:
    kind = writer.kinds.kind(node.results[0])
    assert isinstance(kind, TensorType)
    return [writer.convert(writer.number(node.inputs[0]), kind, node)]


@rule("object_unbox")
def _unbox_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the unboxing of a number as the attribute `type`."""
    kind, type_ = kinds.kind(node.inputs[0]), node.attributes["type"]
    if kind is None:
        return None
    if not is_number(kind) or not is_number(type_):
        return False
    if kind == type_:
        return True
    assert isinstance(kind, TensorType)
    if type_ == INT and not kind.weak:  # NumPy's integers are indices as Python's are
        return fits_int64(kind.dtype)
    return is_python_number(kind) and not type_.weak and (kind != FLOAT or type_.dtype.is_floating)


@rewrite_rule("object_unbox")
def _write_unbox(writer: Writer, node: Node) -> list[Value]:
    return [writer.convert(writer.number(node.inputs[0]), node.attributes["type"], node)]


@rule("object_element")
def _element_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the conversion of a number to an element of an array."""
    kind, dtype = kinds.kind(node.inputs[0]), node.attributes["dtype"]
    if kind is None:
        return None
    if not isinstance(kind, TensorType) or not is_number(TensorType(dtype)):
        return False
    if not kind.weak:  # NumPy's number: a conversion to another dtype may not fit
        return kind.dtype is dtype or (dtype.is_floating and (kind.dtype.is_floating or kind.dtype.is_integer))
    return not (kind == FLOAT and dtype.is_integer and node in kinds.late_nodes)


@rewrite_rule("object_element")
def _write_element(writer: Writer, node: Node) -> list[Value]:
    """Convert the number to the dtype of an array, as NumPy does when it stores an element."""
    number, dtype = writer.number(node.inputs[0]), node.attributes["dtype"]
    if not number.weak:
        return [number if number.type == TensorType(dtype) else writer.add("cast", node, number, dtype=dtype)]
    if dtype.is_bool:
        number = writer.convert(number, BOOL, node)
    elif dtype.is_integer and number.type == FLOAT:
        number = writer.add("python_int", node, number)
    return [writer.add("python_cast", node, number, dtype=dtype, weak=False)]


@rule("object_check_assigned")
def _check_assigned_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for checked values that are numbers, tuples, lists or deques: the result is the same object."""
    kind = kinds.kind(node.inputs[0])
    if kind is None:
        return None
    if kind not in (LIST, DEQUE) and not is_item(kind):
        return False
    kinds.unify(kinds.alias_class(node.inputs[0]), kinds.alias_class(node.results[0]))
    return True


@rewrite_rule("object_check_assigned")
def _write_check_assigned(writer: Writer, node: Node) -> list[Value]:
    return [*writer.replacements(node.inputs[0])]


@rule(*_OP_NAMES)
def operator_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for operators on numbers."""
    name = _op_name(node)
    input_kinds = [kinds.kind_or_number_type(value) for value in node.inputs]
    if any(isinstance(kind, TupleType) for kind in input_kinds):
        return comparison_rule(kinds, node)
    if node.attributes["keywords"] or len(input_kinds) != _OPERAND_COUNTS[name.removeprefix("python_")]:
        return False
    dtype = scalar_dtype(input_kinds)
    scalar_kind = None if dtype is None else TensorType(dtype, ())
    if any(kind not in (None, scalar_kind) and not is_python_number(kind) for kind in input_kinds):
        return False
    if None in input_kinds:
        return None
    if dtype is not None:
        result = scalar_result(node.attributes["function"], dtype)
        kinds.widen_kind_of(node.results[0], result or OTHER)
        return result is not None and kinds.kind(node.results[0]) != OTHER
    kind, is_refused = _result_kind(kinds, node, name, input_kinds)
    kinds.widen_kind_of(node.results[0], OTHER if is_refused else kind)
    return not is_refused and kinds.kind(node.results[0]) != OTHER


def _result_kind(kinds: Kinds, node: Node, name: str, input_kinds: list[Kind]) -> tuple[Kind, bool]:
    """Return the kind of an operator's result, and whether the operator is refused: it has to stay on objects."""
    if name.removeprefix("python_") in _BITWISE_OPS and FLOAT in input_kinds:
        return OTHER, True  # raises Python's TypeError
    (kind,) = OPS[name].result_types(input_kinds, {})  # type: ignore[arg-type]
    assert isinstance(kind, TensorType)
    # The call reruns as plain Python for a result beyond 64 bits, or of another kind.
    is_bounded = name in (
        "python_modulo", "python_float", "python_and", "python_or", "python_xor", "python_right_shift"
    )
    may_rerun = name in ("python_power", "python_int") or (kind == INT and not is_bounded)
    return kind, may_rerun and node in kinds.late_nodes


def _op_name(node: Node) -> str:
    """Return the op on Python's numbers that replaces an operator on objects."""
    return f"python_{_OP_NAMES[operation_key(node)]}"


@rewrite_rule(*_OP_NAMES)
def write_operator(writer: Writer, node: Node) -> list[Value]:
    """Return the result of an operator on numbers, which replaces one on objects."""
    input_kinds = [writer.kinds.kind_or_number_type(value) for value in node.inputs]
    if isinstance(input_kinds[0], TupleType):
        return [write_comparison(writer, node)]
    dtype = scalar_dtype(input_kinds)
    if dtype is not None:
        return [write_scalar_operator(writer, node, dtype)]
    return [writer.add(_op_name(node), node, *(writer.number(value) for value in node.inputs))]


@rule("object_apply.pos", "object_apply.round")
def _rounding_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `round(x)`, which returns an int, and `+x`, which returns an int for a bool."""
    kind = kinds.kind_or_number_type(node.inputs[0])
    if kind is None:
        return None
    if len(node.inputs) != 1 or not is_python_number(kind):
        return False
    is_round = node.attributes["function"] == "round"
    if is_round and kind == FLOAT and node in kinds.late_nodes:
        return False
    kinds.widen_kind_of(node.results[0], FLOAT if kind == FLOAT and not is_round else INT)
    return kinds.kind(node.results[0]) != OTHER


@rewrite_rule("object_apply.pos", "object_apply.round")
def _write_rounding(writer: Writer, node: Node) -> list[Value]:
    number = writer.number(node.inputs[0])
    if node.attributes["function"] == "round":
        return [writer.add("python_round", node, number, digits=None)]
    return [writer.convert(number, writer.kinds.kind(node.results[0]), node)]


@rule("object_apply.min", "object_apply.max")
@dict_rule("object_apply.min", "object_apply.max")
def _extremum_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for min and max of several numbers of one kind, and of one list."""
    input_kinds = [kinds.kind_or_number_type(value) for value in node.inputs]
    if len(input_kinds) == 1:
        operand_kind = input_kinds[0]
        if not is_traversable(operand_kind):
            return None if operand_kind is None else False
        return _reduction_rule(kinds, node)
    if node.attributes["keywords"] or any(kind is not None and not is_python_number(kind) for kind in input_kinds):
        return False
    if None in input_kinds:
        return None
    if len(set(input_kinds)) != 1:
        return False
    kinds.widen_kind_of(node.results[0], input_kinds[0])
    return kinds.kind(node.results[0]) != OTHER


def _reduction_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the min and max of one list."""
    item_kind = yielded_kind(kinds, node.inputs[0])
    if item_kind is None:
        return None
    kinds.widen_kind_of(node.results[0], item_kind)
    return is_item(item_kind) and is_orderable(kinds, node) and kinds.kind(node.results[0]) != OTHER


@rewrite_rule("object_apply.min", "object_apply.max")
@dict_rewrite_rule("object_apply.min", "object_apply.max")
def _write_extremum(writer: Writer, node: Node) -> list[Value]:
    """Reduce a list that is the only operand; choose among several numbers by comparisons in Python's order."""
    function = node.attributes["function"]
    if len(node.inputs) == 1:
        return write_reduction(writer, node)
    extremum, *further_numbers = (writer.number(value) for value in node.inputs)
    comparison = "python_less" if function == "min" else "python_greater"
    for number in further_numbers:
        extremum = writer.add("select", node, writer.add(comparison, node, number, extremum), number, extremum)
    return [extremum]


@rule("object_truth")
def _truth_rule(kinds: Kinds, node: Node) -> bool | None:
    kind = kinds.kind(node.inputs[0])
    return None if kind is None else kind in (LIST, DEQUE) or is_python_number(kind) or kind == TensorType(bool_, ())


@rewrite_rule("object_truth")
def _write_truth(writer: Writer, node: Node) -> list[Value]:
    if writer.kinds.kind(node.inputs[0]) in (LIST, DEQUE):
        zero = writer.add("constant", node, value=np.array(0), weak=True)
        return [writer.add("python_greater", node, *writer.add_list_op("length", node, node.inputs[0]), zero)]
    return [writer.convert(writer.number(node.inputs[0]), BOOL, node)]


@rule("object_index")
def _index_rule(kinds: Kinds, node: Node) -> bool | None:
    kind = kinds.kind(node.inputs[0])
    return None if kind is None else kind in (INT, BOOL)


@rewrite_rule("object_index")
def _write_index(writer: Writer, node: Node) -> list[Value]:
    return [writer.convert(writer.number(node.inputs[0]), INT, node)]


def _math_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the functions of `math` in `_MATH`."""
    input_kinds = [kinds.kind_or_number_type(value) for value in node.inputs]
    if node.attributes["keywords"] or any(kind is not None and not is_python_number(kind) for kind in input_kinds):
        return False
    if None in input_kinds:
        return None
    (kind,) = OPS["python_math"].result_types(input_kinds, {"function": _math_name(node)})  # type: ignore[arg-type]
    kinds.widen_kind_of(node.results[0], OTHER if kind == INT and node in kinds.late_nodes else kind)  # type: ignore[arg-type]
    return kinds.kind(node.results[0]) != OTHER


def _math_name(node: Node) -> str:
    return str(node.attributes["function"]).removeprefix("math.")


def _write_math(writer: Writer, node: Node) -> list[Value]:
    numbers = [writer.number(value) for value in node.inputs]
    return [writer.add("python_math", node, *numbers, function=_math_name(node))]


# Functions of one or two numbers with an int, float or bool result, as in python_math.
_MATH = [
    f"object_apply.math.{name}"
    for name in (
        "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "fabs", "floor", "ceil", "trunc", "fmod",
        "hypot", "copysign", "isnan", "isinf", "isfinite", "gcd", "lcm", "isqrt", "factorial", "pow", "degrees",
        "radians",
    )
]  # fmt: skip
rule(*_MATH)(_math_rule)
rewrite_rule(*_MATH)(_write_math)
