"""Elementary functions of one and two variables, with NumPy's meaning: nan and inf instead of errors."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import conjugate, dtype_of, unbroadcast
from autoconv.ops.record import Builder, Gradient, Op, Sample, define, sample
from autoconv.ops.rules import broadcast

Derivative = Callable[[Builder, Any, Any], Any]  # (b, x, y) -> dy/dx

# Operands of samples
SMALL = np.array([[0.5, -0.25, 0.75], [0.125, -0.8, 0.3]])
POSITIVE = np.array([0.5, 1.75, 3.0])
COMPLEX = np.array([0.5 + 0.25j, -0.75 - 1.5j])
INTEGERS = np.array([7, -7, 0], np.int64)


def floating_rule(name: str, allows_complex: bool = True) -> Callable[..., TensorType]:
    """Return a type rule: the result has the operand's type, which has to be floating, or complex if allowed."""
    kinds = "floating or complex" if allows_complex else "floating"

    def rule(x: TensorType, **_: Any) -> TensorType:
        if not (x.dtype.is_floating or (allows_complex and x.dtype.is_complex)):
            raise TypeError(f"{name} takes {kinds} tensors, found {x.dtype.name}; cast first")
        return x

    return rule


def numeric_rule(name: str, allows_complex: bool = True) -> Callable[..., TensorType]:
    """Return a type rule: operands of one numeric dtype, broadcast against each other."""

    def rule(*inputs: TensorType, **_: Any) -> TensorType:
        for x in inputs:
            if not x.dtype.is_numeric or (x.dtype.is_complex and not allows_complex):
                raise TypeError(f"{name} takes numeric tensors, found {x.dtype.name}")
        return broadcast(*inputs)

    return rule


def define_unary(
    name: str, graphdef: str, kernel: Callable[..., Any], derivative: Derivative, *inputs: Any,
    rule: Callable[..., TensorType] | None = None, costly: bool = True, compiles_eager_calls: bool = False,
    has_pole: bool = False,
) -> Op:  # fmt: skip
    """Define an elementwise op of one operand; `derivative(b, x, y)` is dy/dx, and `inputs` are the samples.

    With `has_pole`, the derivative is infinite at 0, and a cotangent of 0 gives 0 there, not nan. `costly` and
    `compiles_eager_calls` are traits of the op.
    """

    def gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        slope = derivative(b, inputs[0], results[0])
        product = b.multiply(cotangents[0], conjugate(b, slope))
        return (_keep_zeros(b, cotangents[0], product) if has_pole else product,)

    return define(
        name=name, graphdef=graphdef, result=rule or floating_rule(name), kernel=quiet(kernel),
        gradient=gradient, elementwise=True, costly=costly, compiles_eager_calls=compiles_eager_calls,
        samples=tuple(map(sample, inputs)),
    )  # fmt: skip


def _define_real_unary(name: str, graphdef: str, kernel: Callable[..., Any], derivative: Derivative, x: Any) -> Op:
    """Define an elementwise op of one floating operand, with one sample, `x`."""
    return define_unary(name, graphdef, kernel, derivative, x, rule=floating_rule(name, allows_complex=False))


def _define_binary(
    name: str, graphdef: str, kernel: Callable[..., Any], gradient: Gradient | Any,
    *samples: tuple[Any, Any] | Sample, rule: Callable[..., TensorType] | None = None, **record_fields: Any,
) -> Op:  # fmt: skip
    """Define an op on the elements of two tensors of a floating dtype, which broadcast."""

    def result(x: TensorType, y: TensorType, **_: Any) -> TensorType:
        return broadcast(floating_rule(name, allows_complex=False)(x), y)

    return define(
        name=name, graphdef=graphdef, result=rule or result, kernel=quiet(kernel), gradient=gradient,
        unify="all", elementwise=True,
        samples=tuple(each if isinstance(each, Sample) else sample(*each) for each in samples), **record_fields,
    )  # fmt: skip


def _reciprocal_of_one_plus(b: Builder, x: Any) -> Any:
    return b.reciprocal(b.add(x, 1.0))


def _slope_of_log(b: Builder, x: Any, y: Any, *, base: float) -> Any:
    return b.reciprocal(b.multiply(x, math.log(base)))


def _arc_slope_on_reals(b: Builder, x: Any) -> Any:
    """Return 1 / sqrt(1 - x²)."""
    return b.rsqrt(b.subtract(1.0, b.square(x)))


def _arcsine_slope(b: Builder, x: Any, y: Any) -> Any:
    """Return 1 / sqrt(1 - x²); for complex numbers 1 / cos(y), which has the right side of the branch cut."""
    return b.reciprocal(b.cos(y)) if dtype_of(x).is_complex else _arc_slope_on_reals(b, x)


def _arccosine_slope(b: Builder, x: Any, y: Any) -> Any:
    return b.negative(b.reciprocal(b.sin(y)) if dtype_of(x).is_complex else _arc_slope_on_reals(b, x))


def _integer_power(x: Any, y: Any) -> Any:
    """Return the power of integers; raise InvalidArgumentError for a negative exponent."""
    try:
        return np.power(x, y)
    except ValueError as error:
        if "negative" not in str(error):
            raise
        public_error = InvalidArgumentError("Integers to negative integer powers are not allowed")
        raise public_error.with_plain_error(error.with_traceback(None)) from None


def _power(x: Any, y: Any) -> Any:
    return _integer_power(x, y) if x.dtype.kind in "iu" else np.power(x, y)


def _power_effects(types: Sequence[Type], attributes: Any) -> Effects:
    """Return the effects of a power: that of integers may raise."""
    is_integer = isinstance(types[0], TensorType) and types[0].dtype.is_integer
    return Effects.RAISE if is_integer else Effects.PURE


def _power_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent times y·x^(y-1), and times x^y·log(x).

    The former is 0 where y is 0, the latter where x has no logarithm in its dtype.
    """
    (cotangent,), (x, y), (power_,) = cotangents, inputs, results
    is_constant_in_x = b.equal(y, 0.0)
    exponent = b.select(is_constant_in_x, b.ones_like(y), y)
    x_slope = b.multiply(exponent, b.power(x, b.subtract(exponent, 1.0)))
    x_slope = b.select(is_constant_in_x, b.zeros_like(x_slope), x_slope)
    has_logarithm = b.not_equal(x, 0.0) if dtype_of(x).is_complex else b.greater(x, 0.0)
    logarithm = b.log(b.select(has_logarithm, x, b.ones_like(x)))
    logarithm = b.select(has_logarithm, logarithm, b.zeros_like(x))
    return (
        unbroadcast(b, b.multiply(cotangent, conjugate(b, x_slope)), x),
        unbroadcast(b, b.multiply(cotangent, conjugate(b, b.multiply(power_, logarithm))), y),
    )


def _squared_difference_gradient(
    b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any
) -> Any:
    (cotangent,), (x, y) = cotangents, inputs
    x_cotangent = b.multiply(cotangent, conjugate(b, b.multiply(b.subtract(x, y), 2.0)))
    return unbroadcast(b, x_cotangent, x), unbroadcast(b, b.negative(x_cotangent), y)


def _atan2_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent times x / (x² + y²) for y, and times -y / (x² + y²) for x."""
    (cotangent,), (y, x) = cotangents, inputs
    scaled_cotangent = b.divide(cotangent, b.add(b.square(x), b.square(y)))
    return (
        unbroadcast(b, b.multiply(scaled_cotangent, x), y),
        unbroadcast(b, b.negative(b.multiply(scaled_cotangent, y)), x),
    )


def _hypot_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    scaled_cotangent = b.divide(cotangents[0], results[0])
    return tuple(unbroadcast(b, b.multiply(scaled_cotangent, x), x) for x in inputs)


def _copysign_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent times the signs of x and of the result; None for the second operand, which gives a sign."""
    (cotangent,), (x, _), (result,) = cotangents, inputs, results
    return unbroadcast(b, b.multiply(cotangent, b.multiply(b.sign(x), b.sign(result))), x), None


def _nextafter_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent for the first operand, as in TensorFlow; None for the second, which is only a direction."""
    return unbroadcast(b, cotangents[0], inputs[0]), None


def _logaddexp_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent times sigmoid(x - y) for x, and times 1 - sigmoid(x - y) for y."""
    (cotangent,), (x, y) = cotangents, inputs
    x_slope = b.sigmoid(b.subtract(x, y))
    return (
        unbroadcast(b, b.multiply(cotangent, x_slope), x),
        unbroadcast(b, b.multiply(cotangent, b.subtract(1.0, x_slope)), y),
    )


def _xlogy(x: Any, y: Any) -> Any:
    return np.where(np.equal(x, 0) & ~np.isnan(y), np.zeros((), x.dtype), np.multiply(x, np.log(y)))


def _xlogy_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return log(y) · cotangent and x / y · cotangent, both 0 where x is 0."""
    (cotangent,), (x, y) = cotangents, inputs
    nonzero_mask = b.cast(b.not_equal(x, 0.0), dtype=dtype_of(x))
    return (
        unbroadcast(b, b.multiply(cotangent, b.xlogy(nonzero_mask, y)), x),
        unbroadcast(b, b.multiply(cotangent, b.xdivy(x, y)), y),
    )


def _xdivy(x: Any, y: Any) -> Any:
    return np.where(np.equal(x, 0) & ~np.isnan(y), np.zeros((), x.dtype), np.divide(x, y))


def _xdivy_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return cotangent / y and -x / y² · cotangent, both 0 where x is 0."""
    (cotangent,), (x, y), (quotient,) = cotangents, inputs, results
    nonzero_mask = b.cast(b.not_equal(x, 0.0), dtype=dtype_of(x))
    return (
        unbroadcast(b, b.multiply(cotangent, b.xdivy(nonzero_mask, y)), x),
        unbroadcast(b, b.multiply(cotangent, b.negative(b.xdivy(quotient, y))), y),
    )


def _sqrt_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return cotangent / (2·√x), but 0 where cotangent is 0, since the derivative is infinite at 0."""
    (cotangent,), (y,) = cotangents, results
    return (_keep_zeros(b, cotangent, b.divide(b.multiply(cotangent, 0.5), conjugate(b, y))),)


def _keep_zeros(b: Builder, cotangent: Any, product: Any) -> Any:
    """Return a product of the cotangent with an infinite derivative, but 0 where the cotangent is 0."""
    return b.select(b.equal(cotangent, 0.0), b.zeros_like(product), product)


def _reciprocal(x: Any) -> Any:
    return np.true_divide(x.dtype.type(1), x)


def _rsqrt(x: Any) -> Any:
    return np.true_divide(x.dtype.type(1), np.sqrt(x))


square = define_unary(
    "square", "Square", np.square, lambda b, x, y: b.multiply(x, 2.0), SMALL, COMPLEX, INTEGERS,
    rule=numeric_rule("square"), costly=False,
)  # fmt: skip
sqrt = define(
    name="sqrt", graphdef="Sqrt", result=floating_rule("sqrt"), kernel=quiet(np.sqrt), gradient=_sqrt_gradient,
    elementwise=True, costly=True, samples=(sample(POSITIVE), sample(COMPLEX)),
)  # fmt: skip
rsqrt = define_unary(
    "rsqrt", "Rsqrt", _rsqrt, lambda b, x, y: b.multiply(b.multiply(b.square(y), y), -0.5), POSITIVE, COMPLEX,
    has_pole=True,
)
reciprocal = define_unary(
    "reciprocal", "Reciprocal", _reciprocal, lambda b, x, y: b.negative(b.square(y)), SMALL, COMPLEX, has_pole=True
)
exp = define_unary("exp", "Exp", np.exp, lambda b, x, y: y, SMALL, COMPLEX)
expm1 = define_unary("expm1", "Expm1", np.expm1, lambda b, x, y: b.exp(x), SMALL, COMPLEX)
log = define_unary("log", "Log", np.log, lambda b, x, y: b.reciprocal(x), POSITIVE, COMPLEX)
log1p = define_unary("log1p", "Log1p", np.log1p, lambda b, x, y: _reciprocal_of_one_plus(b, x), SMALL, COMPLEX)
exp2 = _define_real_unary("exp2", "Exp2", np.exp2, lambda b, x, y: b.multiply(y, math.log(2.0)), SMALL)
log2 = _define_real_unary("log2", "Log2", np.log2, functools.partial(_slope_of_log, base=2.0), POSITIVE)
log10 = _define_real_unary("log10", "Log10", np.log10, functools.partial(_slope_of_log, base=10.0), POSITIVE)
sin = define_unary("sin", "Sin", np.sin, lambda b, x, y: b.cos(x), SMALL, COMPLEX)
cos = define_unary("cos", "Cos", np.cos, lambda b, x, y: b.negative(b.sin(x)), SMALL, COMPLEX)
tan = define_unary("tan", "Tan", np.tan, lambda b, x, y: b.add(b.square(y), 1.0), SMALL, COMPLEX)
asin = define_unary("asin", "Asin", np.arcsin, _arcsine_slope, SMALL, COMPLEX)
acos = define_unary("acos", "Acos", np.arccos, _arccosine_slope, SMALL, COMPLEX)
atan = define_unary("atan", "Atan", np.arctan, lambda b, x, y: _reciprocal_of_one_plus(b, b.square(x)), SMALL, COMPLEX)
sinh = define_unary("sinh", "Sinh", np.sinh, lambda b, x, y: b.cosh(x), SMALL, COMPLEX)
cosh = define_unary("cosh", "Cosh", np.cosh, lambda b, x, y: b.sinh(x), SMALL, COMPLEX)
tanh = define_unary("tanh", "Tanh", np.tanh, lambda b, x, y: b.subtract(1.0, b.square(y)), SMALL, COMPLEX)
asinh = define_unary(
    "asinh", "Asinh", np.arcsinh, lambda b, x, y: b.reciprocal(b.cosh(y)), SMALL, COMPLEX
)
acosh = define_unary(
    "acosh", "Acosh", np.arccosh, lambda b, x, y: b.reciprocal(b.sinh(y)), POSITIVE + 1.0, COMPLEX
)
atanh = define_unary(
    "atanh", "Atanh", np.arctanh, lambda b, x, y: b.reciprocal(b.subtract(1.0, b.square(x))), SMALL, COMPLEX
)
cbrt = _define_real_unary(
    "cbrt", "Cbrt", np.cbrt, lambda b, x, y: b.reciprocal(b.multiply(b.square(y), 3.0)), POSITIVE
)

power = _define_binary(
    "power", "Pow", _power, _power_gradient,
    (POSITIVE, np.array([[2.0], [-1.5]])), sample(SMALL, np.array(3.0), differentiable=(0,)),
    (COMPLEX, COMPLEX[::-1]),
    (INTEGERS, np.array([3, 2, 0], np.int64)),
    rule=numeric_rule("power"), effects=_power_effects, costly=True,
)  # fmt: skip
squared_difference = _define_binary(
    "squared_difference", "SquaredDifference", lambda x, y: np.square(np.subtract(x, y)),
    _squared_difference_gradient, (SMALL, POSITIVE), (INTEGERS, INTEGERS[::-1]),
    rule=numeric_rule("squared_difference", allows_complex=False), commutative=True,
)  # fmt: skip
atan2 = _define_binary(
    "atan2", "Atan2", np.arctan2, _atan2_gradient, (SMALL, POSITIVE), (SMALL, -POSITIVE), costly=True
)
hypot = _define_binary("hypot", "Hypot", np.hypot, _hypot_gradient, (SMALL, POSITIVE), commutative=True, costly=True)
logaddexp = _define_binary(
    "logaddexp", "LogAddExp", np.logaddexp, _logaddexp_gradient, (SMALL, POSITIVE), commutative=True, costly=True
)
xlogy = _define_binary("xlogy", "Xlogy", _xlogy, _xlogy_gradient, (SMALL, POSITIVE), costly=True)
xdivy = _define_binary("xdivy", "Xdivy", _xdivy, _xdivy_gradient, (SMALL, POSITIVE), costly=True)
copysign = _define_binary("copysign", "CopySign", np.copysign, _copysign_gradient, (SMALL, -SMALL), (SMALL, POSITIVE))
nextafter = _define_binary("nextafter", "NextAfter", np.nextafter, _nextafter_gradient, (SMALL, POSITIVE))
