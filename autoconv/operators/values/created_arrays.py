"""Arrays that NumPy makes from plain values while a graph is traced, as calls and by subscripts: `np.mgrid[:3]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.runtime.arrays.read_only import mark_read_only
from autoconv.runtime.arrays.symbolic_arrays import wrap_new_arrays
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.recording.regions import current_region

GRIDS = frozenset(map(type, (np.mgrid, np.ogrid, np.r_, np.c_)))  # classes whose subscripts make arrays


def convert_created(result: Any) -> Any:
    """Convert arrays that NumPy created from plain values to tensors, so that they are new on every call.

    Returns None where there are none.
    """
    from_array = implementation(np.asarray)
    assert from_array is not None
    if isinstance(result, np.ndarray):
        tensor = from_array(result)
        return tensor if result.flags.writeable else mark_read_only(tensor)
    if type(result) in (tuple, list) and any(isinstance(x, np.ndarray) for x in result):
        return type(result)(convert_created(x) if isinstance(x, np.ndarray) else x for x in result)
    return None


def new_arrays(result: Any) -> Any:
    """Return what a subscript of one of GRIDS made: under `compile`, its arrays belong to the program."""
    region = current_region()
    if region is None or not region.contract.numpy_arrays:
        return result
    created = convert_created(result)
    if created is None:
        return result
    region.trace.arrays = True
    return wrap_new_arrays(created)


__all__ = ["GRIDS", "convert_created", "new_arrays"]
