"""Repeated labels of sequences, regression by monotonous steps, and further names of `autoconv.nn`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.gradients.tape import GradientTape
from autoconv.api.nn.convolution import depthwise_conv2d
from autoconv.api.nn.layers import batch_normalization
from autoconv.api.nn.transposed_convolution import conv2d_transpose
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.gather import scatter_nd, where
from autoconv.api.tensors.reductions import reduce_max, reduce_sum
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, sequence_mask, shape, stack, transpose
from autoconv.api.tensors.sorting import top_k, unique
from autoconv.graph.attribute_text import attribute_class
from autoconv.graph.dtypes import as_dtype, float64, int32, int64
from autoconv.ops.index_spec import Mask
from autoconv.runtime.annotations import IntLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Merge equal labels next to each other within the first `seq_length` of each row; return rows and lengths.

    >>> found, lengths = autoconv.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])
    >>> found.numpy(), lengths.numpy()
    (array([[1, 2, 1]], dtype=int32), array([3], dtype=int32))
    """
    given: Any = convert_to_tensor(labels)
    lengths = cast(convert_to_tensor(seq_length), int32)
    first = apply("ones_like", get_item(given, (slice(None), slice(None, 1))), dtype=as_dtype("bool"))
    after, before = (get_item(given, (slice(None), part)) for part in (slice(1, None), slice(None, -1)))
    later = apply("not_equal", after, before)
    kept = apply("logical_and", concat([first, later], 1), sequence_mask(lengths, shape(given)[1]))
    counts: Any = reduce_sum(cast(kept, int32), 1)
    width = reduce_max(counts)
    places = where(kept)
    rows = get_item(places, (slice(None), 0))
    number: Any = apply("cumsum", cast(kept, int64), axis=1, exclusive=True, reverse=False)
    columns = apply("get_item", number, kept, spec=(Mask(),))
    values = apply("get_item", given, kept, spec=(Mask(),))
    whole = stack([cast(shape(given)[0], int64), cast(width, int64)])
    return scatter_nd(stack([rows, columns], 1), values, whole), counts


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The different labels of each row [batch, time], padded with zeros, and for each label the place of its own.

    >>> found, places = autoconv.nn.ctc_unique_labels([[3, 4, 3]])
    >>> found.numpy(), places.numpy()
    (array([[3, 4, 0]]), array([[0, 1, 0]], dtype=int32))
    """
    given = convert_to_tensor(labels)
    rows = given.shape[0]
    if rows is None:
        raise ValueError("ctc_unique_labels takes labels of a known batch")
    uniques, places = [], []
    width = shape(given)[1]
    for i in range(rows):
        found = unique(get_item(given, i))
        missing = width - shape(found.y)[0]
        uniques.append(concat([cast(found.y, int64), zeros(reshape(missing, [1]), int64)], 0))
        places.append(found.idx)
    return stack(uniques), stack(places)


def isotonic_regression(
    inputs: TensorLike, decreasing: bool = True, axis: IntLike = -1, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The nearest sequences, by squares, that never rise (or never fall), and the number of the step of each element.

    >>> values, steps = autoconv.nn.isotonic_regression([3.0, 1.0, 2.0, 0.0])
    >>> values.numpy(), steps.numpy()
    (array([3. , 1.5, 1.5, 0. ], dtype=float32), array([0, 1, 1, 2], dtype=int32))
    """
    x = convert_to_tensor(inputs)
    if not x.dtype.is_floating:
        x = cast(x, float64)
    rank, at = len(x.shape), static_int(axis, "axis")
    order = [i for i in range(rank) if i != at % rank] + [at % rank]
    back = [order.index(i) for i in range(rank)]
    moved: Any = transpose(x, order)
    found = numpy_function(IsotonicSteps(bool(decreasing)), [stop_gradient(moved)], int32)
    steps = reshape(found, moved.shape if moved.shape.is_fully_defined() else shape(moved))
    same = cast(apply("equal", expand_dims(steps, -1), expand_dims(steps, -2)), moved.dtype)
    sums: Any = apply("squeeze", apply("matmul", same, expand_dims(moved, -1)), axis=(-1,))
    return transpose(sums / reduce_sum(same, -1), back), transpose(steps, back)


@attribute_class
@dataclass(frozen=True)
class IsotonicSteps:
    """Find the steps of the nearest monotonous sequences along the last axis, by merging neighbours that violate it."""

    graphdef: ClassVar = "IsotonicRegression"
    decreasing: bool

    def __call__(self, array: Any) -> Any:
        given = np.asarray(array, np.float64) * (1.0 if self.decreasing else -1.0)
        rows = given.reshape(-1, given.shape[-1])
        found = np.zeros(rows.shape, np.int32)
        for row, out in zip(rows, found, strict=True):
            means: list[float] = []
            counts: list[int] = []
            for number in row.tolist():
                means.append(number)
                counts.append(1)
                while len(means) > 1 and means[-1] >= means[-2]:
                    mean, count = means.pop(), counts.pop()
                    means[-1] = (means[-1] * counts[-1] + mean * count) / (counts[-1] + count)
                    counts[-1] += count
            out[:] = np.repeat(np.arange(len(counts)), counts)
        return found.reshape(given.shape)


def approx_max_k(
    operand: TensorLike, k: IntLike, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The `k` largest elements along a dimension, in descending order, and their places; they are exact here.

    >>> values, places = autoconv.math.approx_max_k([1.0, 3.0, 2.0], 2)
    >>> values.numpy(), places.numpy()
    (array([3., 2.], dtype=float32), array([1, 2], dtype=int32))
    """
    x = convert_to_tensor(operand)
    rank = len(x.shape)
    order = [i for i in range(rank) if i != reduction_dimension % rank] + [reduction_dimension % rank]
    back = [order.index(i) for i in range(rank)]
    values, places = top_k(transpose(x, order), k)
    return transpose(values, back), transpose(places, back)


def approx_min_k(
    operand: TensorLike, k: IntLike, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The `k` smallest elements along a dimension, in ascending order, and their places; they are exact here.

    >>> autoconv.math.approx_min_k([1.0, 3.0, 2.0], 2)[0].numpy()
    array([1., 2.], dtype=float32)
    """
    values, places = approx_max_k(apply("negative", convert_to_tensor(operand)), k, reduction_dimension)
    return apply("negative", values), places


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`: a transposed convolution whose filter elements are `rate` apart.

    >>> x, kernel = autoconv.ones([1, 2, 2, 1]), autoconv.ones([2, 2, 1, 1])
    >>> autoconv.nn.atrous_conv2d_transpose(x, kernel, [1, 4, 4, 1], rate=2, padding="VALID").shape
    TensorShape([1, 4, 4, 1])
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate, name=name)


def batch_norm_with_global_normalization(
    input: TensorLike, mean: TensorLike, variance: TensorLike, beta: TensorLike, gamma: TensorLike,
    variance_epsilon: float, scale_after_normalization: bool, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`batch_normalization` of an image with given moments; `gamma` counts if `scale_after_normalization`.

    >>> x = autoconv.ones([1, 1, 1, 2])
    >>> autoconv.nn.batch_norm_with_global_normalization(x, 0.0, 1.0, 1.0, 2.0, 0.0, True).numpy().ravel()
    array([3., 3.], dtype=float32)
    """
    scale, shift = gamma if scale_after_normalization else None, convert_to_tensor(beta)
    return batch_normalization(input, mean, variance, shift, scale, variance_epsilon, name)


def depthwise_conv2d_backprop_input(
    input_sizes: ShapeLike, filter: TensorLike, out_backprop: TensorLike, strides: Any, padding: str,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of `depthwise_conv2d` with respect to its input, of the shape `input_sizes`.

    >>> kernel, given = autoconv.ones([2, 2, 1, 1]), autoconv.ones([1, 1, 1, 1])
    >>> autoconv.nn.depthwise_conv2d_backprop_input([1, 2, 2, 1], kernel, given, [1] * 4, "VALID").numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    kernel = convert_to_tensor(filter)
    return _pulled(
        lambda x: depthwise_conv2d(x, kernel, strides, padding, data_format, list(dilations[1:3])),
        zeros(input_sizes, kernel.dtype), out_backprop,
    )  # fmt: skip


def depthwise_conv2d_backprop_filter(
    input: TensorLike, filter_sizes: ShapeLike, out_backprop: TensorLike, strides: Any, padding: str,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of `depthwise_conv2d` with respect to its filter, of the shape `filter_sizes`.

    >>> x, given = autoconv.ones([1, 2, 2, 1]), autoconv.ones([1, 1, 1, 1])
    >>> autoconv.nn.depthwise_conv2d_backprop_filter(x, [2, 2, 1, 1], given, [1] * 4, "VALID").numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    x = convert_to_tensor(input)
    return _pulled(
        lambda kernel: depthwise_conv2d(x, kernel, strides, padding, data_format, list(dilations[1:3])),
        zeros(filter_sizes, x.dtype), out_backprop,
    )  # fmt: skip


def _pulled(function: Callable[[Tensor], Tensor], at: Tensor, cotangent: TensorLike) -> Any:
    with GradientTape() as tape:
        tape.watch(at)
        found = function(at)
    return tape.gradient(found, at, output_gradients=convert_to_tensor(cotangent))


def general_dropout(
    x: TensorLike, rate: Any, uniform_sampler: Callable[..., Tensor], noise_shape: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Dropout by `uniform_sampler(shape=, dtype=)`: elements with a number below `rate` become 0, others are scaled.

    >>> def sampler(shape, dtype):
    ...     return autoconv.constant([0.1, 0.9], dtype)
    >>> autoconv.nn.experimental.general_dropout([1.0, 1.0], 0.5, sampler).numpy()
    array([0., 2.], dtype=float32)
    """
    given: Any = convert_to_tensor(x)
    drawn: Any = uniform_sampler(shape=shape(given) if noise_shape is None else noise_shape, dtype=given.dtype)
    part = cast(convert_to_tensor(rate), given.dtype)
    scaled = given / (1.0 - part)
    return where(apply("greater_equal", drawn, part), scaled, apply("zeros_like", scaled))
