"""Operations on variants: reads, comparison with None, truth, arithmetic."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.errors import AutoconvError, StagingError
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.python_operators import BINARY, COMPARISONS, UNARY
from autoconv.graph.types import TensorType, number_kind_order
from autoconv.operators.control.shared_numbers import apply_to_number, compare_numbers, number_in_dtype, shared_number
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.regions.layout import NEVER, Layout, Leaf, Static, Variant
from autoconv.operators.regions.marshalling import renumber_arms
from autoconv.operators.regions.value_layout import layout_of
from autoconv.operators.support.narrowing import excluded_alternatives
from autoconv.operators.support.protected_names import Undefined, is_absent, unbound_error
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import heap_of, items_of
from autoconv.runtime.objects.symbolic_objects import box
from autoconv.runtime.recording.program_reads import is_of_program, read_for_program
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.caller_instruction import is_in_place
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_methods import TensorMethods, raise_if_python_refuses


def raise_if(condition: Any, error: BaseException) -> None:
    """Record a raise of `error` where the symbolic bool `condition` is true."""
    region = current_region()
    assert region is not None
    mark_program_error(error)

    def fail() -> tuple[()]:
        raise error

    stage_arms(condition, [fail, lambda: ()], [], ())


def raise_all_but_last(variant: Variant, make_error: Callable[[Any], BaseException]) -> Any:
    """Record a raise of `make_error(value)` for each alternative but the last, where the tag selects it.

    Returns the last alternative.
    """
    defined_variant = require_defined(variant)
    if type(defined_variant) is not Variant:
        return defined_variant
    for index, value in enumerate(defined_variant.values[:-1]):
        stage_arms(defined_variant.tag == index, [functools.partial(_raise, make_error, value), lambda: ()], [], ())
    return defined_variant.values[-1]


def _raise(make_error: Callable[[Any], BaseException], value: Any) -> tuple[()]:
    raise mark_program_error(make_error(value))


def drop_arms(variant: Variant, is_dropped: Callable[[Any], bool], make_error: Any) -> Any:
    """Remove the arms whose value `is_dropped`; raise `make_error(value)` at run time where the tag selects one.

    `make_error` is None where the tag never selects such an arm.
    """
    kept_positions: list[int] = []
    for index, value in enumerate(variant.values):
        if isinstance(variant.layouts[index], Static) and is_dropped(value):
            if make_error is not None:
                raise_if(variant.tag == index, make_error(value))
        else:
            kept_positions.append(index)
    return _keep_arms(variant, kept_positions)


def _keep_arms(variant: Variant, kept_positions: Sequence[int]) -> Any:
    """Return the variant with only the arms at these positions; its tag selects one of them."""
    if len(kept_positions) == 1:
        return variant.values[kept_positions[0]]
    if len(kept_positions) == len(variant.values):
        return variant
    layouts = [variant.layouts[i] for i in kept_positions]
    new_positions = [kept_positions.index(i) if i in kept_positions else 0 for i in range(len(variant.values))]
    values = [variant.values[i] for i in kept_positions]
    return Variant(renumber_arms(variant.tag, new_positions), layouts, values, variant.number)


def narrow(variant: Variant) -> Any:
    """Remove the arms that the tests around the current code exclude, such as None after `x is not None`."""
    region, tag = current_region(), getattr(variant.tag, "value_in_graph", None)
    excluded = set() if tag is None else excluded_alternatives(tag, len(variant.values), region)
    kept_positions = [i for i in range(len(variant.values)) if i not in excluded]
    return _keep_arms(variant, kept_positions) if kept_positions else variant


def require_defined(variant: Variant, is_outer: bool = False) -> Any:
    """Drop excluded arms and that of an unassigned name.

    Raise UnboundLocalError where the latter is selected, NameError if `is_outer`.
    """
    narrowed_variant = narrow(variant)
    if type(narrowed_variant) is not Variant:
        return narrowed_variant
    return drop_arms(
        narrowed_variant, lambda value: isinstance(value, Undefined), lambda value: unbound_error(value.name, is_outer)
    )


def drop_undefined(variant: Variant) -> Any:
    """Remove the undefined arm of a variant, which the program's structure shows to be never selected."""
    return drop_arms(variant, lambda value: isinstance(value, Undefined), make_error=None)


def require_present(variant: Variant, absent: Any, error: BaseException) -> Any:
    """Remove the arm that is the object `absent`; raise `error` at run time where the tag selects it."""
    return drop_arms(variant, lambda value: value is absent, lambda _: error)


def as_array_element(variant: Variant, dtype: DType) -> Any:
    """Return a variant of numbers as one element of an array of that dtype; None if an arm is no number."""
    defined_variant = require_defined(variant)
    if type(defined_variant) is not Variant:
        return defined_variant
    if not all(map(_is_number, defined_variant.values)):
        return None
    number = shared_number(defined_variant)
    if number is not None and number.type.dtype is dtype:
        return number
    return number_in_dtype(defined_variant, dtype)


def as_index(variant: Variant) -> Any:
    """Return a variant of integers, Python's and NumPy's, as one int64 for subscripts; None if an arm is no integer."""
    values = [value for value in variant.values if not isinstance(value, Undefined)]
    return as_array_element(variant, int64) if all(map(_is_integer, values)) else None


def _is_integer(value: object) -> bool:
    """Return whether a value is an integer scalar whose values all fit int64."""
    if isinstance(value, SymbolicTensor):
        dtype = value.type.dtype
        return value.type.shape == () and dtype.is_integer and not (dtype.is_unsigned and dtype.size == int64.size)
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: object) -> bool:
    """Return whether a value is a real number or a bool, of Python or as a scalar of the graph."""
    if isinstance(value, SymbolicTensor):
        return value.type.shape == () and not value.type.dtype.is_complex and not value.type.dtype.is_string
    return isinstance(value, (bool, int, float))


def distribute(function: Callable[..., Any], *operands: Any) -> Any:
    """Return `function(*operands)` for variants among the operands: one arm for each combination of alternatives."""
    for position, operand in enumerate(operands):
        if type(operand) is Variant:
            before, after = operands[:position], operands[position + 1 :]
            variant = require_defined(operand)
            if type(variant) is not Variant:
                return distribute(function, *before, variant, *after)
            arms = [_make_arm(function, before, value, after) for value in variant.values]
            (result,) = stage_arms(variant.tag, arms, [], ("value",))
            return result
    return function(*operands)


def has_one_length(variant: Variant) -> bool:
    """Return whether all alternatives are lists or tuples with the same known number of items."""
    values = [value for value in variant.values if not isinstance(value, Undefined)]
    if not all(isinstance(value, (list, tuple)) and items_of(value) is heap_of(value) is None for value in values):
        return False
    return len({len(value) for value in values}) == 1


def _iterate(self: Variant) -> Any:
    """Iterate over the items of lists or tuples of one length, each decided in the graph."""
    if has_one_length(self):
        return iter(distribute(tuple, self))
    return _make_method("__iter__")(self)


def _stack(self: Variant) -> Any:
    """Convert each alternative to a tensor; None unless all are lists or tuples."""
    values = [value for value in self.values if not isinstance(value, Undefined)]
    if not all(isinstance(value, (list, tuple)) for value in values):
        return None
    return distribute(convert_to_tensor, self)


def distribute_call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return `function(*args, **kwargs)`, distributed over variants among the arguments like `distribute`."""
    return distribute(functools.partial(_call_with_keywords, function, tuple(kwargs)), *args, *kwargs.values())


def _call_with_keywords(function: Callable[..., Any], names: tuple[str, ...], *values: Any) -> Any:
    positional_count = len(values) - len(names)
    return function(*values[:positional_count], **dict(zip(names, values[positional_count:], strict=True)))


def _make_arm(function: Any, before: Any, value: Any, after: Any) -> Any:
    """Return an arm that applies the function to one alternative; its TypeError is one of the program."""
    def arm() -> tuple[Any]:
        """Return `function` of the alternative and the other operands, as a tuple of one result."""
        try:
            return (distribute(function, *before, value, *after),)
        except (TypeError, AttributeError) as error:
            operands = (*before, value, *after)
            if not isinstance(error, AutoconvError) and not _may_be_refusal(operands):
                _rename_numbers(error, operands)
                mark_program_error(error)
            raise

    return arm


def _may_be_refusal(operands: Sequence[Any]) -> bool:
    """Return whether a TypeError may be raised because an op lacks a dtype of arrays that NumPy's function takes."""
    holds_arrays = any(_is_array(x) or type(x) is SymbolicArray for x in operands)
    return holds_arrays and not any(map(is_absent, operands))


def merge_arms(variant: Variant, values: Sequence[Any], region: Region) -> Any:
    """Return a variant with the tag of `variant` and with `values` as its arms; tensors of one dtype share an arm."""
    groups: list[list[int]] = []
    layouts = [layout_of(value, region) for value in values]
    for index, layout in enumerate(layouts):
        group = next((candidates for candidates in groups if _are_mergeable(layouts[candidates[0]], layout)), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    if len(groups) == len(values):
        return Variant(variant.tag, layouts, values)
    results = [values[group[0]] if len(group) == 1 else _merge_group(variant.tag, values, group) for group in groups]
    if len(groups) == 1:
        return results[0]
    group_numbers = [next(number for number, group in enumerate(groups) if i in group) for i in range(len(values))]
    tag = renumber_arms(variant.tag, group_numbers)
    return Variant(tag, [layout_of(value, region) for value in results], results)


def _are_mergeable(first: Layout, second: Layout) -> bool:
    """Return whether two arms can be one: tensors of one dtype in any shapes, or equal layouts."""
    if not isinstance(first, Leaf) or not isinstance(second, Leaf):
        return first == second
    if not isinstance(first.type, TensorType) or not isinstance(second.type, TensorType):
        return first == second
    return (first.type.dtype, first.type.weak, first.wrap) == (second.type.dtype, second.type.weak, second.wrap)


def _merge_group(tag: Any, values: Sequence[Any], group: Sequence[int]) -> Any:
    """Return the value of the arms in `group` where the tag selects one of them; else any value."""

    def make_arm(value: Any) -> Any:  # without the copy, a list would keep its identity and an arm of its own
        return lambda: (value.copy() if items_of(value) is not None else value,)

    arms = [make_arm(values[i]) if i in group else lambda: (NEVER,) for i in range(len(values))]
    (result,) = stage_arms(tag, arms, [], ("value",))
    return result


def _rename_numbers(error: Exception, operands: Sequence[Any]) -> None:
    """Replace our class name in the message by Python's, if exactly one operand is a number of the graph."""
    numbers = [x for x in operands if isinstance(x, SymbolicTensor)]
    has_only_text = len(error.args) == 1 and isinstance(error.args[0], str)
    if has_only_text and len(numbers) == 1 and numbers[0].weak:
        class_name = ("bool", "int", "float", "complex")[number_kind_order(numbers[0].type.dtype)]
        error.args = (error.args[0].replace("'SymbolicTensor'", f"'{class_name}'"),)


def box_variant(variant: Variant) -> Any:
    """Return the variant as one graph object."""
    arms = [lambda value=value: (box(value),) for value in variant.values]
    (result,) = stage_arms(variant.tag, arms, [], ("value",))
    return result


def only_value(variant: Variant, operation: str) -> Any:
    """Return the one arm of the variant that is a value; the others raise Python's own errors."""

    def make_error(value: object) -> Exception:
        if isinstance(value, Undefined):
            return unbound_error(value.name)
        return TypeError(f"unsupported operand type(s) for {operation}: 'NoneType'")

    result = drop_arms(variant, is_absent, make_error)
    if isinstance(result, Variant):
        kinds = ", ".join(map(_kind_name, result.values))
        raise StagingError(
            f"this value is one of several kinds depending on a tensor ({kinds}), and {operation} needs one kind",
            current_place(),
            "values of one kind on every path",
        )
    return result


def _kind_name(value: object) -> str:
    return "tensor" if isinstance(value, Tensor) else type(value).__name__


def _make_method(name: str) -> Any:
    """Return the method of variants with that name: operators apply to each alternative, others to the only value."""
    function: Any = _OPERATOR_FUNCTIONS.get(name)
    in_place_operator: Any = getattr(operator, f"__i{name[2:]}", None)

    def method(self: Variant, *arguments: Any) -> Any:
        """Apply the operator to each alternative, or call the method of the only value."""
        operation = function
        if in_place_operator is not None and is_in_place(sys._getframe(1)):
            operation = lambda x, y: function(x, y) if _is_array(x) else in_place_operator(x, y)
        if function is not None:
            result = _apply_to_number(name, function, self, *arguments)
            return distribute(operation, self, *arguments) if result is NotImplemented else result
        return getattr(only_value(self, name), name)(*arguments)

    return method


def _apply_to_number(name: str, function: Callable[..., Any], self: Variant, *arguments: Any) -> Any:
    """Return the result of the operator `name` on the number that the arms share; else NotImplemented."""
    variant = require_defined(self)
    if type(variant) is not Variant:
        return function(variant, *arguments)
    if name in _COMPARISONS:
        return compare_numbers(function, variant, *map(defined_value, arguments))
    return apply_to_number(function, variant, *arguments)


def defined_value(value: Any) -> Any:
    """Return the value, without the arm of an unassigned name if it is a variant."""
    return require_defined(value) if type(value) is Variant else value


def _is_array(x: object) -> bool:
    return isinstance(x, Tensor) and not x.weak


def _checked_comparison(compare: Any) -> Any:
    def compare_checked(x: object, y: object) -> Any:
        raise_if_python_refuses(compare, x, y)
        return compare(x, y)

    return compare_checked


_COMPARISONS = frozenset(comparison.method for comparison in COMPARISONS)
_OPERATOR_FUNCTIONS: dict[str, Any] = {
    **{entry.method: entry.function for entry in (*BINARY, *COMPARISONS, *UNARY)},
    **{entry.method: _checked_comparison(entry.function) for entry in COMPARISONS if entry.name not in ("eq", "ne")},
    **{entry.reflected: lambda x, y, function=entry.function: function(y, x) for entry in BINARY},
    "__pos__": operator.pos, "__getitem__": operator.getitem, "__divmod__": divmod, "__round__": round,
}  # fmt: skip


def selects_object(variant: Variant, constant: Any) -> Any:
    """Return whether the tag selects the object `constant`: a tensor, or False where no arm is that object."""
    for index, layout in enumerate(variant.layouts):
        if isinstance(layout, Static) and layout.value is constant:
            return variant.tag == index
    return False


for _name, _method in vars(TensorMethods).items():
    if _name.startswith("__") and callable(_method) and _name not in ("__init__", "__slots__"):
        setattr(Variant, _name, _make_method(_name))
for _name in ("__len__", "__call__", "__index__", "__float__", "__int__"):
    setattr(Variant, _name, _make_method(_name))
Variant.__array_ufunc__ = None  # type: ignore[attr-defined]  # operators of NumPy's numbers defer to the variant's
Variant.__iter__ = _iterate  # type: ignore[attr-defined]
Variant.__autoconv_stack__ = _stack  # type: ignore[attr-defined]
Variant.__hash__ = None  # type: ignore[assignment]
Variant.__autoconv_box__ = box_variant  # type: ignore[attr-defined]
Variant.__autoconv_defined__ = require_defined  # type: ignore[attr-defined]
Variant.__autoconv_assigned__ = drop_undefined  # type: ignore[attr-defined]
Variant.__autoconv_present__ = require_present  # type: ignore[attr-defined]


def _read_attribute(self: Variant, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    read = read_for_program if is_of_program(sys._getframe(1)) else getattr
    return distribute(lambda value: read(value, name), self)


Variant.__getattr__ = _read_attribute  # type: ignore[attr-defined]
