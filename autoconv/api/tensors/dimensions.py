"""Sizes of dimensions, as ints if they are static."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.arguments import known_sizes
from autoconv.api.tensors.shaping import shape
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def sizes_of(tensor: Tensor) -> list[Any]:
    """Return the sizes of a tensor: ints where they are static, else scalars of the graph."""
    return [shape(tensor)[axis] if size is None else size for axis, size in enumerate(tensor.shape.as_list())]


def size_entry(sizes: TensorLike, position: int) -> Any:
    """Return an entry of a vector of sizes: an int if it is static, else a scalar of the graph."""
    static_sizes = known_sizes(sizes)
    size = None if static_sizes is None else static_sizes[position]
    return get_item(convert_to_tensor(sizes), position) if size is None else size
