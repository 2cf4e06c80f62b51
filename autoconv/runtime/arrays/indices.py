"""Indices whose result is a copy in NumPy, although positions and slices alone select a view."""

from __future__ import annotations

import numpy as np

from autoconv.graph.types import ArrayType


def selects_copy(index: object) -> bool:
    """Return whether an index of positions and slices holds an array without dimensions: NumPy copies the elements.

    NumPy's scalars select a view, as Python's numbers do.
    """
    return any(map(_is_without_dimensions, index if type(index) is tuple else (index,)))


def _is_without_dimensions(item: object) -> bool:
    """Return whether the index is an array without dimensions."""
    if isinstance(item, np.ndarray):
        return item.ndim == 0
    type_ = getattr(item, "type", None)
    return isinstance(type_, ArrayType) and type_.shape == ()
