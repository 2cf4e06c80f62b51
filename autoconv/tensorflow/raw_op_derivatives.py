"""Raw ops that gradients use: axes of sums, slopes of gamma functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autoconv as tf
from autoconv import Tensor
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.dispatch import apply


def _broadcast_gradient_args(s0: TensorLike, s1: TensorLike) -> tuple[Any, Any]:
    """Return the axes over which the gradients of two broadcast operands are summed, from the operands' sizes.

    An axis belongs to an operand whose size is 1 there. Operands of equal sizes have no axes.
    """
    sizes = [tf.convert_to_tensor(tensor) for tensor in (s0, s1)]
    rank = tf.maximum(tf.size(sizes[0]), tf.size(sizes[1]))
    padded: list[Any] = [tf.concat([tf.ones([rank - tf.size(each)], each.dtype), each], 0) for each in sizes]
    differ = tf.reduce_any(padded[0] != padded[1])
    first, second = (tf.cast(tf.where((each == 1) & differ)[:, 0], each.dtype) for each in padded)
    return first, second


def _igamma_slope(a: TensorLike, x: TensorLike) -> Tensor:
    """Return the derivative of `math.igamma` by its first operand."""
    return apply("igamma_slope", a, x)


def _random_gamma_slope(alpha: TensorLike, sample: TensorLike) -> Tensor:
    """Return the derivative of a number drawn from a gamma distribution by the distribution's shape `alpha`.

    The number's quantile stays the same: its derivative is that of the distribution function, divided by the density.
    """
    shape, x = tf.convert_to_tensor(alpha), tf.convert_to_tensor(sample)
    log_density = tf.math.xlogy(shape - 1, x) - x - tf.math.lgamma(shape)
    return -_igamma_slope(shape, x) / tf.exp(log_density)


FORMS: dict[str, Callable[..., object]] = {
    "BroadcastGradientArgs": _broadcast_gradient_args,
    "IgammaGradA": _igamma_slope,
    "RandomGammaGrad": _random_gamma_slope,
}
