"""Weighted means and variances, normalization across channels, and further losses."""

from __future__ import annotations

import math
from typing import Any

from autoconv.api.nn.windows import as_image
from autoconv.api.tensors.accepted_dtypes import check_dtype, with_default_dtype
from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.arithmetic import divide_no_nan, squared_difference
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones, ones_like
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.reductions import reduce_sum
from autoconv.api.tensors.shaping import concat, reshape, shape
from autoconv.graph.dtype_sets import COMPLEX, FLOATING, SIGNED
from autoconv.graph.dtypes import float16, float32, float64
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits`, where the term of the positive labels is multiplied by `pos_weight`.

    >>> autoconv.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 3.0).numpy().round(4)
    array([2.0794, 0.6931], dtype=float32)
    """
    x, targets = convert_to_tensor(logits), convert_to_tensor(labels)
    weight: Any = 1.0 + (convert_to_tensor(pos_weight, x.dtype) - 1.0) * targets  # type: ignore[operator]
    softplus = apply("log1p", apply("exp", -apply("abs", x))) + apply("relu", -x)  # type: ignore[operator]
    return (1.0 - targets) * x + weight * softplus  # type: ignore[operator,no-any-return]


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """exp(c) - c·z for the targets z and the logarithm c of a prediction.

    With `compute_full_loss`, Stirling's approximation of log(z!) is added for z > 1.

    >>> autoconv.nn.log_poisson_loss([1.0, 2.0], [0.0, 1.0]).numpy().round(4)
    array([1.    , 0.7183], dtype=float32)
    """
    log_rates: Any = convert_to_tensor(log_input)
    counts: Any = convert_to_tensor(targets, log_rates.dtype)
    result = apply("exp", log_rates) - log_rates * counts
    if not compute_full_loss:
        return result
    positive_targets = where(counts > 1, counts, ones_like(counts))
    stirling = positive_targets * apply("log", positive_targets) - positive_targets + 0.5 * apply(
        "log", 2.0 * math.pi * positive_targets
    )
    return result + where((counts >= 0) & (counts <= 1), apply("zeros_like", counts), stirling)


def crelu(features: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """The positive parts of x and of -x, concatenated along `axis`.

    >>> autoconv.nn.crelu([[1.0, -2.0]]).numpy()
    array([[1., 0., 0., 2.]], dtype=float32)
    """
    check_dtype("crelu", FLOATING | SIGNED | COMPLEX, features)
    x = convert_to_tensor(features)
    return apply("relu", concat([x, apply("negative", x)], axis))


def local_response_normalization(
    input: TensorLike, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """x / (bias + alpha·s)^beta, where s sums the squares of x and of `depth_radius` channels on each side of it.

    `input` is [batch, height, width, channels].

    >>> autoconv.nn.local_response_normalization([[[[1.0, 2.0]]]], depth_radius=1).numpy().ravel().round(4)
    array([0.4082, 0.8165], dtype=float32)
    """
    input = with_default_dtype(input, float32, FLOATING - {float64})
    x: Any = as_image(input, 4)
    depth = shape(x)[-1]  # type: ignore[index]
    radius = int(depth_radius)
    neighbours = apply("matrix_band_part", ones([depth, depth], x.dtype), num_lower=radius, num_upper=radius)
    total: Any = reshape(apply("matmul", reshape(x * x, [-1, depth]), neighbours), shape(x))
    return x / apply("power", bias + alpha * total, beta)


lrn = local_response_normalization


def sufficient_statistics(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The number of elements over `axes`, the sums of x - `shift` and of its square, and `shift`.

    >>> count, total, total_of_squares, _ = autoconv.nn.sufficient_statistics([1.0, 2.0, 3.0], [0])
    >>> float(count), float(total), float(total_of_squares)
    (3.0, 6.0, 14.0)
    """
    tensor: Any = convert_to_tensor(x)
    axes_tuple = static_axes(axes) or ()
    sizes: Any = shape(tensor)
    count: Any = 1
    for axis in axes_tuple:
        count = count * sizes[axis]
    offset = None if shift is None else convert_to_tensor(shift, tensor.dtype)
    shifted_x = tensor if offset is None else tensor - offset
    sums = reduce_sum(shifted_x, axes, keepdims), reduce_sum(shifted_x * shifted_x, axes, keepdims)
    return cast(count, tensor.dtype), *sums, offset


def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike | None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance from the results of `sufficient_statistics`: the number, the two sums and the shift.

    >>> [float(number) for number in autoconv.nn.normalize_moments(2.0, 4.0, 10.0, None)]
    [2.0, 1.0]
    """
    inverse_count: Any = apply("reciprocal", convert_to_tensor(counts))
    shifted_mean = mean_ss * inverse_count
    mean = shifted_mean if shift is None else shifted_mean + shift
    return mean, variance_ss * inverse_count - shifted_mean * shifted_mean


def weighted_moments(
    x: TensorLike, axes: AxisLike, frequency_weights: TensorLike, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over `axes` of elements weighted by `frequency_weights`; 0 where these add up to 0.

    They are computed in float32 for float16.

    >>> [float(number) for number in autoconv.nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0])]
    [2.0, 2.0]
    """
    tensor: Any = convert_to_tensor(x)
    if tensor.dtype is float16:
        mean, variance = weighted_moments(cast(tensor, float32), axes, frequency_weights, keepdims)
        return cast(mean, float16), cast(variance, float16)
    weights: Any = cast(convert_to_tensor(frequency_weights), tensor.dtype) + apply("zeros_like", tensor)  # broadcast
    total_weight = reduce_sum(weights, axes, keepdims=True)
    mean = divide_no_nan(reduce_sum(weights * tensor, axes, keepdims=True), total_weight)
    variance = divide_no_nan(reduce_sum(weights * squared_difference(tensor, mean), axes, keepdims=True), total_weight)
    if keepdims:
        return mean, variance
    reduced_axes = static_axes(axes)
    return apply("squeeze", mean, axis=reduced_axes), apply("squeeze", variance, axis=reduced_axes)
