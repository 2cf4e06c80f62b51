"""Arguments of NumPy's sliding_window_view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple


def window_axes(shape: Sequence[int], window_shape: Any, axis: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axis of each dimension of a window, and its length; raises NumPy's errors."""
    windows = np.lib.stride_tricks.sliding_window_view(np.broadcast_to(np.False_, shape), window_shape, axis)
    axes = tuple(range(len(shape))) if axis is None else normalize_axis_tuple(axis, len(shape), allow_duplicate=True)
    return axes, windows.shape[len(shape) :]
