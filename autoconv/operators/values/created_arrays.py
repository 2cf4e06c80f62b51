"""Arrays that NumPy makes from plain values while a graph is traced, as calls and by subscripts: `np.mgrid[:3]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import number_kind_order
from autoconv.runtime.arrays.read_only import mark_read_only
from autoconv.runtime.arrays.symbolic_arrays import load_elements, wrap_new_arrays
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

_JOINING_CLASSES = frozenset(map(type, (np.r_, np.c_)))
GRID_CLASSES = _JOINING_CLASSES | {type(np.mgrid), type(np.ogrid)}  # classes whose subscripts make arrays


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


def grid_item(grid: Any, index: object) -> object:
    """Return `grid[index]` for a grid of GRID_CLASSES; NotImplemented for an index that only NumPy could take.

    Such an index has values of the graph, and is no list of arrays and ranges to join.
    """
    region = current_region()
    if region is None or not region.contract.numpy_arrays:
        return NotImplemented if holds_symbols((index,)) else grid[index]
    if type(grid) in _JOINING_CLASSES and any(map(_is_of_graph, _parts(index))):
        return _join(_parts(index), as_columns=type(grid) is type(np.c_))
    if holds_symbols((index,)):
        return NotImplemented
    result = grid[index]
    new_arrays = convert_created(result)
    if new_arrays is None:
        return result
    region.trace.uses_arrays = True
    return wrap_new_arrays(new_arrays)


def _parts(index: object) -> tuple[object, ...]:
    """Return the entries of a subscript."""
    return index if type(index) is tuple else (index,)


def _is_of_graph(entry: object) -> bool:
    return holds_symbols((entry.start, entry.stop, entry.step) if type(entry) is slice else (entry,))


def _join(index_entries: Sequence[object], as_columns: bool) -> object:
    """Concatenate the arrays, numbers and ranges in a subscript of `np.r_` or, as columns, of `np.c_`."""
    operands = map(_range_or_item, index_entries)
    tensors = [operand if as_tensor(operand) is None else as_tensor(operand) for operand in operands]
    if not all(_can_be_joined(tensor) for tensor in tensors):
        return NotImplemented
    dtype = np.result_type(*map(_dtype_or_number, tensors))
    arrays = []
    for tensor in tensors:
        x = tensor if isinstance(tensor, Tensor) else EagerTensor(np.asarray(tensor, dtype))
        if x.type.weak:
            x = dispatch.apply("python_cast", x, dtype=as_dtype(dtype), weak=False)
        x = dispatch.apply("cast", x, dtype=as_dtype(dtype))
        if x.type.rank == 0:
            x = dispatch.apply("reshape", x, shape=(1,))
        arrays.append(dispatch.apply("expand_dims", x, axis=1) if as_columns and x.type.rank == 1 else x)
    if len({x.type.rank for x in arrays}) > 1:
        return NotImplemented
    return wrap_new_arrays(dispatch.apply("concat", *arrays, axis=-1 if as_columns else 0))


def _range_or_item(entry: object) -> object:
    """Return a slice as an array of its numbers, and any other entry of a subscript as a value.

    Return None for a slice of the graph with a complex step or without a stop.
    """
    if type(entry) is list:
        return implementation(np.asarray)(entry)  # type: ignore[misc]
    if type(entry) is not slice:
        return load_elements(entry)
    if not _is_of_graph(entry):
        return np.r_[entry]
    start, step = (0 if entry.start is None else entry.start), (1 if entry.step is None else entry.step)
    if type(step) is complex or entry.stop is None:
        return None
    return implementation(np.arange)(start, entry.stop, step)  # type: ignore[misc]


def _can_be_joined(operand: object) -> bool:
    if isinstance(operand, Tensor):
        return operand.type.rank is not None and not operand.type.dtype.is_string
    return type(operand) in (bool, int, float, complex) or isinstance(operand, (np.ndarray, np.generic))


def _dtype_or_number(operand: object) -> Any:
    """Return what decides the dtype of joined arrays: a dtype, or a number of Python's class."""
    if not isinstance(operand, Tensor):
        return operand if type(operand) in (bool, int, float, complex) else np.asarray(operand).dtype
    return (False, 0, 0.0, 0j)[number_kind_order(operand.type.dtype)] if operand.type.weak else operand.type.dtype.numpy
