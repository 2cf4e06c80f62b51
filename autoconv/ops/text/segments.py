"""Ops that join the strings of each segment, and that hash the rows of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import string, uint8
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.record import define, sample
from autoconv.ops.text.fingerprint import fingerprint
from autoconv.ops.text.strings import NO_GRADIENT, check_strings, text_array


def _segment_type(texts: TensorType, ids: TensorType, count: TensorType, **_: Any) -> TensorType:
    """Return the type of one string a segment, whose number is open."""
    check_strings("unsorted_segment_join", texts)
    if not (ids.dtype.is_integer and count.dtype.is_integer):
        raise TypeError(
            f"the segment ids and the number of segments have to be integers, found {ids.dtype.name} and "
            f"{count.dtype.name}"
        )
    if texts.shape is None or ids.shape is None:
        return TensorType(string, None)
    return TensorType(string, (None, *texts.shape[len(ids.shape) :]))


def _segment_join(texts: Any, ids: Any, count: Any, *, separator: str = "") -> Any:
    """Join the rows of strings that have the same segment id, element by element; a negative id drops its row."""
    texts_array, segment_ids, segment_count = np.asarray(texts, object), np.asarray(ids), int(count)
    if texts_array.shape[: segment_ids.ndim] != segment_ids.shape:
        raise InvalidArgumentError(
            f"the shape of the strings, {list(texts_array.shape)}, does not begin with that of the segment ids, "
            f"{list(segment_ids.shape)}"
        )
    if segment_count < 0:
        raise InvalidArgumentError(f"the number of segments must not be negative, found {segment_count}")
    if np.any(segment_ids >= segment_count):
        raise InvalidArgumentError(f"segment ids have to be below {segment_count}, found {np.max(segment_ids)}")
    element_shape = texts_array.shape[segment_ids.ndim :]
    rows, segment_of_row = texts_array.reshape(segment_ids.size, -1), segment_ids.ravel()
    result = np.empty((segment_count, rows.shape[1]), object)
    for segment in range(segment_count):
        members = rows[segment_of_row == segment]
        for column in range(rows.shape[1]):
            result[segment, column] = separator.encode().join(members[:, column])
    return result.reshape(segment_count, *element_shape)


def _fingerprint_type(data: TensorType, **_: Any) -> TensorType:
    if data.shape is not None and not data.shape:
        raise ValueError("`data` must be of rank 1 or more, found a scalar")
    return TensorType(uint8, None if data.shape is None else (data.shape[0], 8))


def _fingerprints(data: Any) -> Any:
    """Return the hash of each row's bytes.

    A row of several strings has the hash of its strings' joined hashes.
    """
    array = np.asarray(data)
    if not array.ndim:
        raise InvalidArgumentError("`data` should have at least one dimension: []")
    rows = array.reshape(len(array), -1) if array.size else array.reshape(len(array), 0)
    result = np.empty((len(array), 8), np.uint8)
    for row, result_row in zip(rows, result, strict=True):
        if array.dtype == object:
            hashes = [fingerprint(bytes(text)).to_bytes(8, "little") for text in row]
            digest = hashes[0] if len(hashes) == 1 else fingerprint(b"".join(hashes)).to_bytes(8, "little")
        else:
            digest = fingerprint(np.ascontiguousarray(row).tobytes()).to_bytes(8, "little")
        result_row[:] = np.frombuffer(digest, np.uint8)
    return result


string_segment_join = define(
    name="string_segment_join", graphdef="UnsortedSegmentJoin", result=_segment_type, kernel=_segment_join,
    gradient=NO_GRADIENT, effects=Effects.RAISE,
    samples=(sample(text_array("a", "b", "c"), np.array([1, 0, 1]), np.int32(3), separator="-"),),
)  # fmt: skip
row_fingerprints = define(
    name="row_fingerprints", graphdef="Fingerprint", result=_fingerprint_type, kernel=_fingerprints,
    gradient=NO_GRADIENT, samples=(sample(text_array("a", "b")), sample(np.array([[1, 2], [3, 4]]))),
)  # fmt: skip
