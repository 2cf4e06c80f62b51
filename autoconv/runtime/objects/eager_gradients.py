"""Reverse-mode differentiation over the entries of a recorder, from targets to sources."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.tensors.dispatch import apply


def eager_gradients(
    recorder: tape_recorders.Recorder, targets: Sequence[Any], target_cotangents: Sequence[Any],
    sources: Sequence[Any],
) -> list[Any]:
    """Return the cotangents of the sources; None for a source on which no target depends.

    Targets and sources are tensors, or storages of variables. A source that is reached only through `gather` along the
    first dimension gets IndexedSlices.
    """
    cotangents: dict[int, Any] = {}
    for target, cotangent in zip(targets, target_cotangents, strict=True):
        if recorder.follows(target) or any(target is source for source in sources):
            _accumulate(cotangents, target, cotangent)
    for entry in reversed(recorder.entries[:]):
        cotangents_of_results = [cotangents.get(id(result)) for result in entry.results]
        if all(cotangent is None for cotangent in cotangents_of_results):
            continue
        for value, cotangent in zip(entry.inputs, _operand_cotangents(entry, cotangents_of_results), strict=True):
            if cotangent is not None and recorder.follows(value):
                _accumulate(cotangents, value, cotangent)
    return [cotangents.get(id(source)) for source in sources]


def _operand_cotangents(entry: tape_recorders.Entry, cotangents: Sequence[Any]) -> Sequence[Any]:
    """Return the cotangents of an entry's inputs, given those of its results."""
    if entry.name == "read_variable":
        return cotangents
    dense_cotangents = list(map(_densify, cotangents, entry.results))
    if entry.name == "gather":
        slices = _row_slices(entry, dense_cotangents[0])
        if slices is not None:
            return slices
    return entry.vjp(dense_cotangents)


def _row_slices(entry: tape_recorders.Entry, cotangent: TensorLike) -> Sequence[Any] | None:
    """Return the cotangents of a row gather as IndexedSlices; None where the gather is of another form."""
    x, indices = entry.inputs
    if entry.attributes.get("axis", 0) != 0 or entry.attributes.get("batch_dims", 0) != 0 or not x.type.rank:
        return None
    index_shape = indices.type.shape
    row_shape = tuple(x.type.shape[1:])
    # -1 is ambiguous for rows without elements.
    values = apply("reshape", cotangent, shape=(-1 if None in index_shape else math.prod(index_shape), *row_shape))
    return IndexedSlices(values, apply("reshape", indices, shape=(-1,)), apply("shape", x)), None


def _accumulate(cotangents: dict[int, Any], value: object, cotangent: TensorLike) -> None:
    """Add a cotangent to that of a value, by the value's identity."""
    previous = cotangents.get(id(value))
    if previous is None:
        cotangents[id(value)] = cotangent
    elif isinstance(previous, IndexedSlices) and isinstance(cotangent, IndexedSlices):
        values = apply("concat", previous.values, cotangent.values, axis=0)
        dtype = _index_dtype(previous, cotangent)
        indices = [apply("cast", slices.indices, dtype=dtype) for slices in (previous, cotangent)]
        cotangents[id(value)] = IndexedSlices(values, apply("concat", *indices, axis=0), previous.dense_shape)
    else:
        cotangents[id(value)] = tape_recorders.add(_densify(previous, value), _densify(cotangent, value))


def _index_dtype(first: IndexedSlices, second: IndexedSlices) -> Any:
    """Return the wider one of the dtypes that the two have for their indices."""
    return max(first.indices.dtype, second.indices.dtype, key=lambda dtype: dtype.size)


def _densify(cotangent: TensorLike, value: object) -> Any:
    """Return the cotangent of a value as a tensor; IndexedSlices are added to zeros."""
    if not isinstance(cotangent, IndexedSlices):
        return cotangent
    zeros = tape_recorders.zeros_for(value)
    rows = apply("expand_dims", cotangent.indices, axis=-1)
    return apply("tensor_scatter_nd_add", zeros, rows, cotangent.values)
