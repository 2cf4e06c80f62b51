"""XLA's ops under their private path."""

from __future__ import annotations

from autoconv.api.tensors.arithmetic import subtract
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.constants import range as indices
from autoconv.api.tensors.gather import tensor_scatter_nd_update
from autoconv.api.tensors.shaping import meshgrid, shape, stack
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def dynamic_update_slice(operand: TensorLike, update: TensorLike, start_indices: TensorLike) -> Tensor:
    """Return the operand with a part replaced by `update`, from `start_indices` on, which are clipped to fit."""
    target, part = convert_to_tensor(operand), convert_to_tensor(update)
    sizes = shape(part)
    start = cast(convert_to_tensor(start_indices), sizes.dtype)
    start = clip_by_value(start, 0, subtract(shape(target), sizes))
    positions = [indices(sizes[axis]) + start[axis] for axis in range(len(part.shape))]
    return tensor_scatter_nd_update(target, stack(meshgrid(*positions, indexing="ij"), axis=-1), part)
