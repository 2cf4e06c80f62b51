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

    These are the axes where the operand's size is 1. For operands of equal sizes there are none.
    """
    first, second = tf.convert_to_tensor(s0), tf.convert_to_tensor(s1)
    rank = tf.maximum(tf.size(first), tf.size(second))

    def pad_with_ones(sizes: Any) -> Any:
        return tf.concat([tf.ones([rank - tf.size(sizes)], sizes.dtype), sizes], 0)

    padded_first, padded_second = pad_with_ones(first), pad_with_ones(second)
    differ = tf.reduce_any(padded_first != padded_second)

    def summed_axes(sizes: Any) -> Any:
        return tf.cast(tf.where((sizes == 1) & differ)[:, 0], sizes.dtype)

    return summed_axes(padded_first), summed_axes(padded_second)


def _igamma_slope(a: TensorLike, x: TensorLike) -> Tensor:
    """Return the derivative of `math.igamma` by its first operand."""
    return apply("igamma_slope", a, x)


def _random_gamma_slope(alpha: TensorLike, sample: TensorLike) -> Tensor:
    """Return the derivative of a number drawn from a gamma distribution by the distribution's shape `alpha`.

    The number's quantile stays the same: the result is minus the derivative of the distribution function by `alpha`,
    divided by the density.
    """
    shape, x = tf.convert_to_tensor(alpha), tf.convert_to_tensor(sample)
    log_density = tf.math.xlogy(shape - 1, x) - x - tf.math.lgamma(shape)
    return -_igamma_slope(shape, x) / tf.exp(log_density)


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    "BroadcastGradientArgs": _broadcast_gradient_args,
    "IgammaGradA": _igamma_slope,
    "RandomGammaGrad": _random_gamma_slope,
}
