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
    recorder: tape_recorders.Recorder, targets: Sequence[Any], given: Sequence[Any], sources: Sequence[Any]
) -> list[Any]:
    """Return the cotangents of the sources, None where nothing connects; `given` are those of the targets.

    Targets and sources are tensors, or storages of variables. A source that is reached only through `gather` along the
    first dimension gets IndexedSlices.
    """
    found: dict[int, Any] = {}
    for target, cotangent in zip(targets, given, strict=True):
        if recorder.follows(target) or any(target is source for source in sources):
            _accumulate(found, target, cotangent)
    for entry in reversed(recorder.entries[:]):
        taken = [found.get(id(result)) for result in entry.results]
        if all(ct is None for ct in taken):
            continue
        for value, cotangent in zip(entry.inputs, _pulled(entry, taken), strict=True):
            if cotangent is not None and recorder.follows(value):
                _accumulate(found, value, cotangent)
    return [found.get(id(source)) for source in sources]


def _pulled(entry: tape_recorders.Entry, taken: Sequence[Any]) -> Sequence[Any]:
    if entry.name == "read_variable":
        return taken
    dense = [_dense(ct, result) for ct, result in zip(taken, entry.results, strict=True)]
    if entry.name == "gather":
        slices = _slices(entry, dense[0])
        if slices is not None:
            return slices
    return entry.pull(dense)


def _slices(entry: tape_recorders.Entry, cotangent: TensorLike) -> Sequence[Any] | None:
    """Return the cotangents of a row gather as IndexedSlices; None where the gather is of another form."""
    x, indices = entry.inputs
    if entry.attributes.get("axis", 0) != 0 or entry.attributes.get("batch_dims", 0) != 0 or not x.type.rank:
        return None
    picked = indices.type.shape
    tail = tuple(x.type.shape[1:])
    # -1 is ambiguous for rows without elements.
    values = apply("reshape", cotangent, shape=(-1 if None in picked else math.prod(picked), *tail))
    return IndexedSlices(values, apply("reshape", indices, shape=(-1,)), apply("shape", x)), None


def _accumulate(found: dict[int, Any], value: object, cotangent: TensorLike) -> None:
    before = found.get(id(value))
    if before is None:
        found[id(value)] = cotangent
    elif isinstance(before, IndexedSlices) and isinstance(cotangent, IndexedSlices):
        values = apply("concat", before.values, cotangent.values, axis=0)
        indices = [apply("cast", part.indices, dtype=_index_dtype(before, cotangent)) for part in (before, cotangent)]
        found[id(value)] = IndexedSlices(values, apply("concat", *indices, axis=0), before.dense_shape)
    else:
        found[id(value)] = tape_recorders.add(_dense(before, value), _dense(cotangent, value))


def _index_dtype(first: IndexedSlices, second: IndexedSlices) -> Any:
    return max(first.indices.dtype, second.indices.dtype, key=lambda dtype: dtype.size)


def _dense(cotangent: TensorLike, like: object) -> Any:
    if not isinstance(cotangent, IndexedSlices):
        return cotangent
    zeros = tape_recorders.zeros_for(like)
    rows = apply("expand_dims", cotangent.indices, axis=-1)
    return apply("tensor_scatter_nd_add", zeros, rows, cotangent.values)


__all__ = ["eager_gradients"]
