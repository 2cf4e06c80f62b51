"""Isotonic regression: the monotone sequences that are closest to given ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.arguments import axis_in_range, static_int
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.constants import zeros_like
from autoconv.api.tensors.reductions import reduce_sum
from autoconv.api.tensors.shaping import expand_dims, reshape, shape, transpose
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import float32, float64, int32
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def isotonic_regression(
    inputs: TensorLike, decreasing: bool = True, axis: IntLike = -1, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The least-squares approximation of `inputs` along `axis` that never rises, or never falls unless `decreasing`.

    Returns the approximation, and the index of the block of each element: a block is a maximal run of equal values.

    >>> values, blocks = autoconv.nn.isotonic_regression([3.0, 1.0, 2.0, 0.0])
    >>> values.numpy(), blocks.numpy()
    (array([3. , 1.5, 1.5, 0. ], dtype=float32), array([0, 1, 1, 2], dtype=int32))
    """
    x = convert_to_tensor(inputs)
    if not x.dtype.is_floating:
        x = cast(x, float32 if x.dtype.size < 4 else float64)
    rank, known_axis = len(x.shape), static_int(axis, "axis")
    if rank == 0 or 0 in x.shape:
        return x, zeros_like(x, int32)
    target_axis = axis_in_range(known_axis, rank)
    order = [i for i in range(rank) if i != target_axis] + [target_axis]
    inverse_order = [order.index(i) for i in range(rank)]
    transposed_x: Any = transpose(x, order)
    result = numpy_function(IsotonicBlocks(bool(decreasing)), [stop_gradient(transposed_x)], int32)
    blocks = reshape(result, transposed_x.shape if transposed_x.shape.is_fully_defined() else shape(transposed_x))
    is_same_block = cast(apply("equal", expand_dims(blocks, -1), expand_dims(blocks, -2)), transposed_x.dtype)
    sums: Any = apply("squeeze", apply("matmul", is_same_block, expand_dims(transposed_x, -1)), axis=(-1,))
    return transpose(sums / reduce_sum(is_same_block, -1), inverse_order), transpose(blocks, inverse_order)


@attribute_class
@dataclass(frozen=True)
class IsotonicBlocks:
    """A function that returns the block's index of each element, for least-squares monotone rows of the last axis.

    Neighbouring blocks in the wrong order are merged into one with their mean (pool adjacent violators).
    """

    graphdef_name: ClassVar = "IsotonicRegression"
    decreasing: bool

    def __call__(self, array: Any) -> Any:
        values = np.asarray(array, np.float64) * (1.0 if self.decreasing else -1.0)
        rows = values.reshape(-1, values.shape[-1])
        result = np.zeros(rows.shape, np.int32)
        for row, blocks_of_row in zip(rows, result, strict=True):
            means: list[float] = []  # of the blocks
            sizes: list[int] = []
            for value in row.tolist():
                means.append(value)
                sizes.append(1)
                while len(means) > 1 and means[-1] >= means[-2]:
                    mean, size = means.pop(), sizes.pop()
                    means[-1] = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
                    sizes[-1] += size
            blocks_of_row[:] = np.repeat(np.arange(len(sizes)), sizes)
        return result.reshape(values.shape)
