"""Weights of elements, and the query for variables."""

from __future__ import annotations

import autoconv
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tensorflow.python.ops.resource_variable_ops import is_resource_variable as is_resource_variable


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Tensor:
    """Return the weights in the shape of the values.

    Weights are a scalar, or have the rank of the values and on each axis the size 1 or the values' size. Raises
    ValueError for other weights.
    """
    values = autoconv.convert_to_tensor(values)
    weights = autoconv.convert_to_tensor(weights, dtype_hint=values.dtype)
    sizes, weight_sizes = values.shape, weights.shape
    if weight_sizes.rank and sizes.rank is not None:
        fits = weight_sizes.rank == sizes.rank and all(
            weight_size in (1, None, size) or size is None
            for weight_size, size in zip(weight_sizes.as_list(), sizes.as_list(), strict=True)
        )
        if not fits:
            raise ValueError(
                f"weights can not be broadcast to values. values.rank={sizes.rank}. weights.rank={weight_sizes.rank}. "
                f"values.shape={sizes}. weights.shape={weight_sizes}."
            )
    return weights * autoconv.ones_like(values, dtype=weights.dtype)
