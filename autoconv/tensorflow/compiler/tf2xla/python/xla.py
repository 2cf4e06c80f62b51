"""XLA's ops under their private path."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.arithmetic import subtract
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.constants import range as indices
from autoconv.api.tensors.gather import tensor_scatter_nd_update
from autoconv.api.tensors.shaping import meshgrid, shape, stack
from autoconv.runtime.tensors.conversion import convert_to_tensor


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """Return the operand with a part replaced by `update`, from `start_indices` on, which are moved to fit."""
    operand, update = convert_to_tensor(operand), convert_to_tensor(update)
    sizes = shape(update)
    start = cast(convert_to_tensor(start_indices), sizes.dtype)
    start = clip_by_value(start, 0, subtract(shape(operand), sizes))
    places = [indices(sizes[axis]) + start[axis] for axis in range(len(update.shape))]
    return tensor_scatter_nd_update(operand, stack(meshgrid(*places, indexing="ij"), axis=-1), update)
