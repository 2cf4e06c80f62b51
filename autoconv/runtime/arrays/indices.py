"""Tests of indices of positions and slices: whether NumPy copies the elements, and whether one is out of bounds."""

from __future__ import annotations

import numpy as np

from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import INPUT, At, Slice, Spec
from autoconv.ops.numpy.arrays import basic_entries
from autoconv.ops.program_errors import as_program_error


def has_zero_dimensional_array(index: object) -> bool:
    """Return whether one of the positions is an array without dimensions, for which NumPy copies the elements.

    For NumPy's scalars and Python's numbers, NumPy returns a view.
    """
    return any(map(_is_without_dimensions, index if type(index) is tuple else (index,)))


def _is_without_dimensions(item: object) -> bool:
    """Return whether the index is an array without dimensions."""
    if isinstance(item, np.ndarray):
        return item.ndim == 0
    type_ = getattr(item, "type", None)
    return isinstance(type_, ArrayType) and type_.shape == ()


def check_static_entries(spec: Spec, shape: tuple[int | None, ...]) -> None:
    """Raise NumPy's error for a static index out of the bounds of a dimension of known size, and for a step of 0."""
    for entry, axis in basic_entries(len(shape), spec):
        if isinstance(entry, At) and entry.index != INPUT:
            size = shape[axis]
            if size is not None and not -size <= entry.index < size:
                message = f"index {entry.index} is out of bounds for axis {axis} with size {size}"
                raise as_program_error(IndexError(message))
        if isinstance(entry, Slice) and entry.step == 0:
            raise as_program_error(ValueError("slice step cannot be zero"))
