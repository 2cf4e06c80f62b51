"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.elementwise.maths import COMPLEX, SMALL, define_unary, floating_rule, numeric_rule
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import check_axis_of

_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717
_INTEGERS = np.array([7, -7, 0], np.int64)


def _sigmoid(x: Any) -> Any:
    one = x.dtype.type(1)
    return np.true_divide(one, np.add(one, np.exp(np.negative(x))))


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, x.dtype.type(0))


def _relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))


def _relu_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (_where_positive(b, results[0], cotangents[0], b.zeros_like(cotangents[0])),)


def _where_positive(b: Builder, x: Any, if_positive: Any, otherwise: Any) -> Any:
    """Return `if_positive` where x is above 0, and `otherwise` elsewhere."""
    return b.select(b.greater(x, b.zeros_like(x)), if_positive, otherwise)


def _elu(x: Any) -> Any:
    return np.where(np.greater(x, 0), x, np.expm1(x))


def _elu_slope(b: Builder, x: Any, y: Any) -> Any:
    return _where_positive(b, x, b.ones_like(x), b.add(y, 1.0))


def _selu(x: Any) -> Any:
    scale, alpha = x.dtype.type(_SELU_SCALE), x.dtype.type(_SELU_ALPHA)
    return np.multiply(scale, np.where(np.greater(x, 0), x, np.multiply(alpha, np.expm1(x))))


def _selu_slope(b: Builder, x: Any, y: Any) -> Any:
    """Return the scale from 0 on, and y + scale·alpha below; at 0, the right derivative, as in TensorFlow."""
    slope = b.multiply(b.ones_like(x), _SELU_SCALE)
    return b.select(b.less(x, 0.0), b.add(y, _SELU_SCALE * _SELU_ALPHA), slope)


def _leaky_relu(x: Any, *, alpha: float) -> Any:
    return np.where(np.greater(x, 0), x, np.multiply(x, x.dtype.type(alpha)))


def _leaky_relu_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,) = cotangents, inputs
    return (_where_positive(b, x, cotangent, b.multiply(cotangent, attributes["alpha"])),)


def _axis_rule(name: str) -> Callable[..., TensorType]:
    """Return the type rule of a floating op along an axis, which keeps the operand's type."""
    floating_type = floating_rule(name, allows_complex=False)

    def rule(x: TensorType, *, axis: int, **_: Any) -> TensorType:
        check_axis_of(name, x, axis)
        return floating_type(x)

    return rule


def _subtract_maximum(x: Any, axis: int) -> Any:
    """Return x minus its maximum along the axis, so that exp does not overflow; an infinite maximum itself becomes nan.

    Along an axis of size 0 there is no maximum, so `max` gets an initial value.
    """
    lowest = x.dtype.type(-np.inf)
    return np.subtract(x, np.max(x, axis=axis, keepdims=True, initial=lowest))


def _softmax(x: Any, *, axis: int) -> Any:
    exponentials = np.exp(_subtract_maximum(x, axis))
    return np.divide(exponentials, np.sum(exponentials, axis=axis, keepdims=True, dtype=x.dtype))


def _softmax_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (y,) = cotangents, results
    total = b.reduce_sum(b.multiply(cotangent, y), axis=(attributes["axis"],), keepdims=True)
    return (b.multiply(y, b.subtract(cotangent, total)),)


def _log_softmax(x: Any, *, axis: int) -> Any:
    shifted_x = _subtract_maximum(x, axis)
    return np.subtract(shifted_x, np.log(np.sum(np.exp(shifted_x), axis=axis, keepdims=True, dtype=x.dtype)))


def _log_softmax_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (y,) = cotangents, results
    total = b.reduce_sum(cotangent, axis=(attributes["axis"],), keepdims=True)
    return (b.subtract(cotangent, b.multiply(b.exp(y), total)),)


sigmoid = define_unary(
    "sigmoid", "Sigmoid", _sigmoid, lambda b, x, y: b.multiply(y, b.subtract(1.0, y)), SMALL, COMPLEX
)
softplus = define_unary(
    "softplus", "Softplus", _softplus, lambda b, x, y: b.sigmoid(x), SMALL,
    rule=floating_rule("softplus", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
relu = define(
    name="relu", graphdef="Relu", result=numeric_rule("relu", allows_complex=False), kernel=quiet(_relu),
    gradient=_relu_gradient, elementwise=True, samples=(sample(SMALL), sample(_INTEGERS)),
)  # fmt: skip
elu = define_unary("elu", "Elu", _elu, _elu_slope, SMALL, rule=floating_rule("elu", allows_complex=False))
selu = define_unary("selu", "Selu", _selu, _selu_slope, SMALL, rule=floating_rule("selu", allows_complex=False))
leaky_relu = define(
    name="leaky_relu", graphdef="LeakyRelu", result=floating_rule("leaky_relu", allows_complex=False),
    kernel=quiet(_leaky_relu), gradient=_leaky_relu_gradient, elementwise=True,
    samples=(sample(SMALL, alpha=0.2),),
)  # fmt: skip
softmax = define(
    name="softmax", graphdef="Softmax", result=_axis_rule("softmax"), kernel=quiet(_softmax),
    gradient=_softmax_gradient, samples=(sample(SMALL, axis=-1), sample(SMALL, axis=0)),
)  # fmt: skip
log_softmax = define(
    name="log_softmax", graphdef="LogSoftmax", result=_axis_rule("log_softmax"), kernel=quiet(_log_softmax),
    gradient=_log_softmax_gradient, samples=(sample(SMALL, axis=-1), sample(SMALL, axis=0)),
)  # fmt: skip
