"""Arithmetic on Python numbers in a graph, with Python's results and errors.

A Python int is represented as int64 and raises OverflowError where it no longer fits. Division of floats by zero raises
ZeroDivisionError, as do `//` and `%`. A complex number is represented as complex128, and converts real operands to
complex. Kernels compute with Python's numbers, so their meaning is Python's.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import IntegerLimitError, OtherKindError
from autoconv.graph.dtypes import DType, bool_, complex128, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, number_kind_order, number_type
from autoconv.ops.elementwise.casts import cast_gradient
from autoconv.ops.program_errors import mark_program_error
from autoconv.ops.record import OPS, Builder, define, no_gradient, sample

KINDS = ("bool", "int", "float", "complex")  # by `number_kind_order`
_INT_LIMIT = 2**63  # the ints of a graph are those from -2**63 to 2**63 - 1
_FLOAT, _OTHER_FLOAT = np.array(2.5), np.array(-1.5)
_INT, _OTHER_INT = np.array(-7), np.array(3)
_COMPLEX = np.array(0.5 - 1.25j)


def to_python_array(value: Any, allows_complex: bool = False) -> np.ndarray:
    """Convert a Python number to its scalar array.

    Raises IntegerLimitError for an int beyond 64 bits, and OtherKindError for a complex number unless `allows_complex`.
    """
    is_int = isinstance(value, int) and not isinstance(value, bool)
    if is_int and not -_INT_LIMIT <= value < _INT_LIMIT:
        raise IntegerLimitError(
            f"the Python int {_short_text(value)} does not fit into the 64 bits that a graph carries it in; start with "
            "a float, or use @autoconv.compile, which runs a call that needs such ints as plain Python"
        )
    if isinstance(value, complex) and not allows_complex:
        raise OtherKindError(
            "a complex number comes where this graph was recorded for a real one; start with a complex number, or use "
            "@autoconv.compile, which runs such a call as plain Python"
        )
    return np.array(value, np.int64 if type(value) is int else None)


def _short_text(value: int) -> str:
    """Return the digits of an int, or its number of bits if it is longer than a line."""
    return str(value) if value.bit_length() < 300 else f"of {value.bit_length()} bits"


def _arithmetic_type(*inputs: TensorType, **_: Any) -> TensorType:
    """Return the type of a sum: the highest kind of the operands in the order of `KINDS`, and int for bools."""
    kind = max(number_kind_order(x.dtype) for x in inputs)
    return number_type((int64, int64, float64, complex128)[kind])


def _real_arithmetic_type(symbol: str) -> Callable[..., TensorType]:
    """Return the type rule of an arithmetic operator that raises Python's TypeError for complex numbers."""

    def result(*inputs: TensorType, **_: Any) -> TensorType:
        _refuse_complex(f"unsupported operand type(s) for {symbol}: {{}} and {{}}", inputs)
        return _arithmetic_type(*inputs)

    return result


def _ordering_type(symbol: str) -> Callable[..., TensorType]:
    """Return the type rule of a comparison that raises Python's TypeError for complex numbers."""

    def result(*inputs: TensorType, **_: Any) -> TensorType:
        _refuse_complex(f"'{symbol}' not supported between instances of {{}} and {{}}", inputs)
        return bool_type()

    return result


def _refuse_complex(template: str, inputs: tuple[TensorType, ...]) -> None:
    """Raise Python's TypeError, with the operands' kinds in `template`, if an operand is complex."""
    if not any(x.dtype.is_complex for x in inputs):
        return
    kinds = (f"{KINDS[number_kind_order(x.dtype)]!r}" for x in inputs)
    raise mark_program_error(TypeError(template.format(*kinds)))


def _abs_type(x: TensorType) -> TensorType:
    return number_type(float64) if x.dtype.is_complex else _arithmetic_type(x)


def _quotient_type(*inputs: TensorType, **_: Any) -> TensorType:
    """Return complex128 if an operand is complex, else float64."""
    return TensorType(complex128 if any(x.dtype.is_complex for x in inputs) else float64, (), weak=True)


def _float_type(*_: TensorType, **__: Any) -> TensorType:
    return number_type(float64)


def int_type(*_: TensorType, **__: Any) -> TensorType:
    return number_type(int64)


def bool_type(*_: TensorType, **__: Any) -> TensorType:
    return number_type(bool_)


def _bitwise_type(*inputs: TensorType, **_: Any) -> TensorType:
    """Return bool for bools, else int64; raises TypeError for floats and complex numbers."""
    for x in inputs:
        if x.dtype.is_floating or x.dtype.is_complex:
            raise TypeError(f"unsupported operand type(s) for a bit operation: {KINDS[number_kind_order(x.dtype)]!r}")
    return TensorType(bool_ if all(x.dtype.is_bool for x in inputs) else int64, (), weak=True)


def python_kernel(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Return the kernel that calls `function` with Python's numbers.

    A complex result of real operands raises OtherKindError.
    """

    def number_kernel(*inputs: Any, **attributes: Any) -> np.ndarray:
        numbers = [np.asarray(x).item() for x in inputs]
        return to_python_array(function(*numbers, **attributes), complex in map(type, numbers))

    return number_kernel


def _power(x: Any, y: Any) -> Any:
    """Return x ** y; raises OtherKindError for a result of another kind than the graph was recorded for."""
    result = x**y
    if isinstance(x, int) and isinstance(y, int) and y < 0:
        raise OtherKindError(
            "a negative integer power of a Python int is a float, which this graph did not expect; make the base a "
            "float, or use @autoconv.compile, which runs such a call as plain Python"
        )
    if isinstance(result, complex) and complex not in (type(x), type(y)):
        raise OtherKindError(
            "a negative number to a fractional power is complex, where this graph was recorded for a float; start with "
            "a complex number, or use @autoconv.compile, which runs such a call as plain Python"
        )
    return result


def _arithmetic_effects(types: Any, _: Any) -> Effects:
    """Return RAISE for ints, which may overflow; PURE for operands that are all floats, or one of which is complex."""
    cannot_raise = any(x.dtype.is_complex for x in types) or all(x.dtype.is_floating for x in types)
    return Effects.PURE if cannot_raise else Effects.RAISE


def _abs_effects(types: Any, _: Any) -> Effects:
    """Return PURE for a float, else RAISE: the magnitude of an int or of a complex number may overflow."""
    return Effects.PURE if types[0].dtype.is_floating else Effects.RAISE


def gradient_of(op: str) -> Callable[..., Any]:
    """Return the gradient rule of the tensor op `op`, applied to operands converted to float or complex."""

    def rule(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        """Apply the gradient of `op`, in float64 or complex128, and convert its results to the operands' dtypes."""
        common_dtype = complex128 if any(x.dtype.is_complex for x in inputs) else float64
        converted_inputs = tuple(
            x if x.dtype is common_dtype else b.python_cast(x, dtype=common_dtype, weak=True) for x in inputs
        )
        gradients = OPS[op].gradient(b, converted_inputs, results, cotangents, attributes)  # type: ignore[operator]
        return tuple(_convert_cotangent(b, gradient, x.dtype) for gradient, x in zip(gradients, inputs, strict=True))

    return rule


def _convert_cotangent(b: Builder, cotangent: Any, dtype: DType) -> Any:
    """Convert a cotangent to the operand's dtype: a real operand of a complex op gets the real part, an int None."""
    if cotangent is None or not dtype.is_differentiable:
        return None
    return cotangent if dtype.is_complex or not cotangent.dtype.is_complex else b.real(cotangent)


_name: str
_graphdef: str
_symbol: str
_function: Any

for _name, _graphdef, _function, _tensor_op, _properties in (
    ("add", "AddV2", operator.add, "add", {"commutative": True}),
    ("subtract", "Sub", operator.sub, "subtract", {}),
    ("multiply", "Mul", operator.mul, "multiply", {"commutative": True}),
    ("negative", "Neg", operator.neg, "negative", {}),
    ("abs", "Abs", builtins.abs, "abs", {}),
):
    _arity = 1 if _name in ("negative", "abs") else 2
    define(
        name=f"python_{_name}", graphdef=_graphdef, result=_abs_type if _name == "abs" else _arithmetic_type,
        kernel=python_kernel(_function), gradient=gradient_of(_tensor_op),
        effects=_abs_effects if _name == "abs" else _arithmetic_effects, elementwise=True, overflow_error="only",
        samples=tuple(
            sample(*numbers[:_arity])
            for numbers in ((_FLOAT, _OTHER_FLOAT), (_INT, _OTHER_INT), (_COMPLEX, _OTHER_FLOAT))
        ),
        **_properties,
    )  # fmt: skip

define(
    name="python_divide", graphdef="RealDiv", result=_quotient_type, kernel=python_kernel(operator.truediv),
    gradient=gradient_of("divide"), effects=Effects.RAISE, elementwise=True,
    samples=(sample(_FLOAT, _OTHER_FLOAT), sample(_INT, _OTHER_INT), sample(_OTHER_FLOAT, _COMPLEX)), costly=True,
)  # fmt: skip
define(
    name="python_power", graphdef="Pow", result=_arithmetic_type, kernel=python_kernel(_power),
    gradient=gradient_of("power"), effects=Effects.RAISE, overflow_error="also", elementwise=True,
    samples=(sample(np.array(2.5), np.array(1.5)), sample(_INT, _OTHER_INT), sample(_COMPLEX, _OTHER_FLOAT)),
)  # fmt: skip

for _name, _graphdef, _function, _symbol, _reason in (
    ("floor_divide", "FloorDiv", operator.floordiv, "//", "piecewise constant"),
    ("modulo", "FloorMod", operator.mod, "%", "not written for a remainder of Python numbers"),
):
    define(
        name=f"python_{_name}", graphdef=_graphdef, result=_real_arithmetic_type(_symbol),
        kernel=python_kernel(_function), gradient=no_gradient(_reason), effects=Effects.RAISE, elementwise=True,
        samples=(sample(_FLOAT, _OTHER_FLOAT), sample(_INT, _OTHER_INT)),
    )  # fmt: skip

for _name, _graphdef, _function, _symbol in (
    ("equal", "Equal", operator.eq, ""),
    ("not_equal", "NotEqual", operator.ne, ""),
    ("less", "Less", operator.lt, "<"),
    ("less_equal", "LessEqual", operator.le, "<="),
    ("greater", "Greater", operator.gt, ">"),
    ("greater_equal", "GreaterEqual", operator.ge, ">="),
):
    define(
        name=f"python_{_name}", graphdef=_graphdef, result=_ordering_type(_symbol) if _symbol else bool_type,
        kernel=python_kernel(_function), gradient=no_gradient("a bool"), elementwise=True,
        samples=(sample(_FLOAT, _OTHER_FLOAT), sample(_INT, np.array(2.5))),
    )  # fmt: skip

for _name, _graphdef, _function in (
    ("and", "BitwiseAnd", operator.and_),
    ("or", "BitwiseOr", operator.or_),
    ("xor", "BitwiseXor", operator.xor),
    ("left_shift", "LeftShift", operator.lshift),
    ("right_shift", "RightShift", operator.rshift),
    ("invert", "Invert", operator.invert),
):
    define(
        name=f"python_{_name}", graphdef=_graphdef,
        result=int_type if _name in ("invert", "left_shift", "right_shift") else _bitwise_type,
        kernel=python_kernel(_function), gradient=no_gradient("an integer"), elementwise=True,
        effects=Effects.RAISE if "shift" in _name else Effects.PURE,
        overflow_error="also" if _name == "left_shift" else "",
        samples=(sample(*(_INT, _OTHER_INT)[: 1 if _name == "invert" else 2]),),
    )  # fmt: skip


def _cast_type(x: TensorType, *, dtype: DType, weak: bool = False) -> TensorType:
    return TensorType(dtype, x.shape, weak)


def _cast(x: Any, *, dtype: DType, weak: bool = False) -> Any:
    """Convert numbers; raise OverflowError for an integer that the integer `dtype` cannot represent."""
    array = np.asarray(x)
    if dtype.is_integer and array.dtype.kind == "i":
        is_outside = (array < dtype.min) | (array > dtype.max)
        if np.any(is_outside):
            raise OverflowError(f"Python integer {array[is_outside].flat[0]} out of bounds for {dtype.name}")
    return array.astype(dtype.numpy)


def _cast_effects(types: Any, attributes: Any) -> Effects:
    """Return RAISE for a cast of integers to an integer dtype other than int64, which may not represent them."""
    may_not_fit = attributes["dtype"].is_integer and attributes["dtype"] is not int64
    return Effects.RAISE if may_not_fit and types[0].dtype.is_integer else Effects.PURE


define(
    name="python_cast", graphdef="Cast", result=_cast_type, kernel=_cast, gradient=cast_gradient,
    effects=_cast_effects, elementwise=True, samples=(sample(_FLOAT, dtype=float64), sample(_INT, dtype=float64)),
    may_alias=True,
)  # fmt: skip
define(
    name="python_int", graphdef="Cast", result=int_type, kernel=python_kernel(int),
    gradient=no_gradient("piecewise constant"), effects=Effects.RAISE, overflow_error="also",
    samples=(sample(_FLOAT), sample(_INT)),
)  # fmt: skip
define(
    name="python_float", graphdef="Cast", result=_float_type, kernel=python_kernel(float),
    gradient=cast_gradient, samples=(sample(_INT), sample(_FLOAT)),
)  # fmt: skip
define(
    name="python_bool", graphdef="NotEqual", result=bool_type, kernel=python_kernel(bool),
    gradient=no_gradient("a bool"), samples=(sample(_INT), sample(_FLOAT)),
)  # fmt: skip


def _round_type(x: TensorType, *, digits: int | None) -> TensorType:
    """Return int64 if `digits` is None or the operand is an int, else float64."""
    return number_type(int64 if digits is None or not x.dtype.is_floating else float64)


define(
    name="python_round", graphdef="Round", result=_round_type,
    kernel=python_kernel(lambda x, digits: round(x) if digits is None else round(x, digits)),
    gradient=no_gradient("piecewise constant"), effects=Effects.RAISE, overflow_error="also",
    samples=(sample(_FLOAT, digits=None), sample(_FLOAT, digits=1)),
)  # fmt: skip


def _range_item(position: Any, start: Any, stop: Any, step: Any) -> np.ndarray:
    """Return the item of a range at a valid position."""
    return np.asarray(int(start) + int(position) * int(step))


define(
    name="range_item", graphdef="RangeItem", result=lambda *_: number_type(int64), kernel=_range_item,
    gradient=no_gradient("an integer"), samples=(sample(_INT, _INT, np.array(100), np.array(2)),),
)  # fmt: skip


def _range_length(start: Any, stop: Any, step: Any) -> np.ndarray:
    """Return the number of items of a range, saturated at the int64 maximum."""
    distance, step = (int(stop) - int(start), int(step)) if step > 0 else (int(start) - int(stop), -int(step))
    return np.asarray(min(-(-distance // step), int64.max) if distance > 0 and step else 0)


define(
    name="range_length", graphdef="RangeLength", result=lambda *_: number_type(int64), kernel=_range_length,
    gradient=no_gradient("an integer"),
    samples=(sample(_INT, np.array(100), np.array(2)), sample(_INT, _INT, np.array(-3))),
)  # fmt: skip


def frexp_mantissa(x: float, /) -> float:
    return math.frexp(x)[0]


def frexp_exponent(x: float, /) -> int:
    return math.frexp(x)[1]


def modf_fraction(x: float, /) -> float:
    return math.modf(x)[0]


def modf_integer(x: float, /) -> float:
    return math.modf(x)[1]


# {function of math with two results: a function for each result}.
MATH_PARTS: dict[Any, tuple[Any, Any]] = {
    math.frexp: (frexp_mantissa, frexp_exponent), math.modf: (modf_fraction, modf_integer),
}  # fmt: skip
_MATH_FUNCTIONS = vars(math) | {part.__name__: part for parts in MATH_PARTS.values() for part in parts}
INTEGER_MATH = frozenset({
    "floor", "ceil", "trunc", "gcd", "lcm", "isqrt", "comb", "perm", "factorial", "frexp_exponent",
})  # fmt: skip
BOOL_MATH = frozenset({"isnan", "isinf", "isfinite", "isclose"})
_TENSOR_OP_BY_MATH_FUNCTION = {
    "sqrt": "sqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf", "erfc": "erfc", "lgamma": "lgamma",
    "fabs": "abs", "atan2": "atan2", "pow": "power",
}  # fmt: skip


def _math_type(*_: TensorType, function: str, is_exported: bool = False) -> TensorType:
    """Return the type of a result of math's function; `elements.python_math.rule_of` explains `is_exported`."""
    if function in INTEGER_MATH:
        return number_type(int64)
    return number_type(bool_ if function in BOOL_MATH else float64)


def _math_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    op = _TENSOR_OP_BY_MATH_FUNCTION.get(attributes["function"])
    if op is None or (op == "log" and len(inputs) > 1):
        return no_gradient(f"no rule for math.{attributes['function']} is written")
    return gradient_of(op)(b, inputs, results, cotangents, {})


define(
    name="python_math", graphdef="PythonMath", result=_math_type,
    kernel=python_kernel(lambda *inputs, function, is_exported=False: _MATH_FUNCTIONS[function](*inputs)),
    gradient=_math_gradient, effects=Effects.RAISE, overflow_error="also",
    samples=(
        sample(_FLOAT, function="sqrt"), sample(_FLOAT, function="floor"),
        sample(_FLOAT, _OTHER_FLOAT, function="atan2"),
    ),
)  # fmt: skip
