"""Host functions that read Example and SequenceExample records into arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, float32, int64
from autoconv.lazy_dataclass import dataclass
from autoconv.train.example import message_classes

# The kind of values (see `FeatureSpec.kind`) by the field of a Feature that holds them.
_KIND_OF_FIELD = {"float_list": "float", "int64_list": "int64", "bytes_list": "string"}


@attribute_class
@dataclass(frozen=True)
class FeatureSpec:
    """A feature to read: its key, and the dtype and shape of its values.

    If the feature `varies`, a dimension of any size precedes `shape`. `default` has the elements of a missing feature:
    one value for all elements, which also pads, or one for each element; () stands for 0 or the empty text.
    """

    key: str
    dtype: DType
    shape: tuple[int, ...]
    varies: bool
    optional: bool
    default: tuple[Any, ...]

    @property
    def kind(self) -> str:
        """The name of the dtype in error messages, as protobuf names it."""
        if self.dtype is float32:
            return "float"
        return "int64" if self.dtype is int64 else "string"

    def filled_array(self, shape: Sequence[int]) -> np.ndarray:
        """Return an array filled with the default."""
        empty_value = b"" if self.dtype.is_string else 0
        dtype = object if self.dtype.is_string else self.dtype.numpy
        result = np.full(tuple(shape), self.default[0] if len(self.default) == 1 else empty_value, dtype)
        if len(self.default) > 1:
            result[...] = np.array(self.default, dtype).reshape(self.shape)
        return result


@attribute_class
@dataclass(frozen=True)
class DecodeExamples:
    """Read the requested features of Examples; return an array of the values of each feature for all records."""

    graphdef_name: ClassVar = "ParseExampleV2"
    specs: tuple[FeatureSpec, ...]

    def __call__(self, records: np.ndarray) -> list[np.ndarray]:
        located_records, shape = _records_with_locations(records)
        feature_maps = [_parse("Example", record, location).features.feature for location, record in located_records]
        locations = [location for location, _ in located_records]
        return [_join_feature(spec, feature_maps, locations, shape) for spec in self.specs]


@attribute_class
@dataclass(frozen=True)
class DecodeRows:
    """Read features of any length; return for each its values in all records, and their number by record.

    With `of_context`, the records are SequenceExamples, whose contexts have the features.
    """

    graphdef_name: ClassVar = "ParseExampleV2"
    specs: tuple[FeatureSpec, ...]
    of_context: bool = False

    def __call__(self, records: np.ndarray) -> list[np.ndarray]:
        located_records, _ = _records_with_locations(records)
        message_name, field = ("SequenceExample", "context") if self.of_context else ("Example", "features")
        located_maps = [
            (location, getattr(_parse(message_name, record, location), field).feature)
            for location, record in located_records
        ]
        results = []
        for spec in self.specs:
            rows = [_read_feature(spec, feature_map, location) for location, feature_map in located_maps]
            results.append(np.concatenate([spec.filled_array((0,)), *rows]))
            results.append(np.array([len(row) for row in rows], np.int64))
        return results


@attribute_class
@dataclass(frozen=True)
class DecodeStepRows:
    """Read features of steps of any length from SequenceExamples.

    Return for each its values in all records, their number by step, and the number of steps by record.
    """

    graphdef_name: ClassVar = "ParseSequenceExampleV2"
    specs: tuple[FeatureSpec, ...]

    def __call__(self, records: np.ndarray) -> list[np.ndarray]:
        located_records, _ = _records_with_locations(records)
        located_maps = [
            (location, _parse("SequenceExample", record, location).feature_lists.feature_list)
            for location, record in located_records
        ]
        results = []
        for spec in self.specs:
            rows_by_record = [_read_step_rows(spec, list_map, location) for location, list_map in located_maps]
            rows = [row for record_rows in rows_by_record for row in record_rows]
            results.append(np.concatenate([spec.filled_array((0,)), *rows]))
            results.append(np.array([len(row) for row in rows], np.int64))
            results.append(np.array([len(record_rows) for record_rows in rows_by_record], np.int64))
        return results


@attribute_class
@dataclass(frozen=True)
class DecodeSequences:
    """Read SequenceExamples: context features, features of steps, and the numbers of steps."""

    graphdef_name: ClassVar = "ParseSequenceExampleV2"
    context_specs: tuple[FeatureSpec, ...]
    step_specs: tuple[FeatureSpec, ...]

    def __call__(self, records: np.ndarray) -> list[np.ndarray]:
        located_records, shape = _records_with_locations(records)
        messages = [_parse("SequenceExample", record, location) for location, record in located_records]
        locations = [location for location, _ in located_records]
        contexts = [message.context.feature for message in messages]
        results = [_join_feature(spec, contexts, locations, shape) for spec in self.context_specs]
        list_maps = [message.feature_lists.feature_list for message in messages]
        lengths = []
        for spec in self.step_specs:
            pairs = zip(list_maps, locations, strict=True)
            rows = [_read_steps(spec, list_map, location) for list_map, location in pairs]
            results.append(_pad_to_longest(spec, rows, shape))
            lengths.append(np.array([len(row) for row in rows], np.int64).reshape(shape))
        return [*results, *lengths]


def flat_default(key: str, value: Any, dtype: DType, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a default as a tuple of Python's values, () for None; raises InvalidArgumentError for another size."""
    if value is None:
        return ()
    array = np.asarray(getattr(value, "numpy", lambda: value)(), object if dtype.is_string else dtype.numpy)
    if array.size != math.prod(shape):
        raise InvalidArgumentError(
            f"Key: {key}.  The default has {array.size} values, but the shape of the feature is {list(shape)}"
        )
    items = array.ravel().tolist()
    return tuple(item.encode() if isinstance(item, str) else item for item in items)


def _records_with_locations(records: np.ndarray) -> tuple[list[tuple[str, bytes]], tuple[int, ...]]:
    """Return the records, each with its location for error messages, and the shape of the array."""
    array = np.asarray(records, object)
    if array.ndim > 1:
        sizes = ",".join(map(str, array.shape))
        raise InvalidArgumentError(f"Expected serialized to be a scalar or vector, got shape: [{sizes}]")
    locations = [""] if array.ndim == 0 else [f"Index: {i}" for i in range(array.size)]
    return list(zip(locations, map(bytes, array.ravel()), strict=True)), array.shape


@functools.cache
def _message_classes() -> dict[str, Callable[[], Any]]:
    """Return protobuf's classes of messages by name."""
    return message_classes()  # type: ignore[return-value]


def _parse(message_name: str, record: bytes, location: str) -> Any:
    """Return the message in a record's bytes; raise InvalidArgumentError for bytes that are none."""
    message = _message_classes()[message_name]()
    try:
        message.ParseFromString(record)
    except Exception:  # protobuf's implementations raise classes of their own
        raise InvalidArgumentError(
            f"{_location_prefix(location)}Could not parse example input, value: {record[:40]!r}"
        ) from None
    return message


def _join_feature(
    spec: FeatureSpec, feature_maps: list[Any], locations: list[str], shape: tuple[int, ...]
) -> np.ndarray:
    """Return the values of one feature of all records; `shape` is that of the array of records."""
    pairs = zip(feature_maps, locations, strict=True)
    rows = [_read_feature(spec, feature_map, location) for feature_map, location in pairs]
    if spec.varies:
        return _pad_to_longest(spec, rows, shape)
    result = spec.filled_array((*shape, *spec.shape))
    values_by_record = result.reshape(len(rows), *spec.shape)
    for i, row in enumerate(rows):
        values_by_record[i, ...] = row
    return result


def _pad_to_longest(spec: FeatureSpec, rows: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Return one array of all rows, each padded by the default to the length of the longest."""
    max_length = max((len(row) for row in rows), default=0)
    padding = replace(spec, default=spec.default[:1])
    array = padding.filled_array((len(rows), max_length, *spec.shape))
    for i, row in enumerate(rows):
        array[i, : len(row)] = row
    return array.reshape(*shape, max_length, *spec.shape)


def _read_feature(spec: FeatureSpec, features: Any, location: str) -> np.ndarray:
    """Return the values of a feature of one record, in the feature's shape; the default if the record lacks it."""
    values = _feature_values(spec, features[spec.key], location) if spec.key in features else None
    if values is None:
        if not spec.optional:
            raise InvalidArgumentError(
                f"{_location_prefix(location)}Feature: {spec.key} (data type: {spec.kind}) "
                "is required but could not be found."
            )
        return spec.filled_array((0, *spec.shape) if spec.varies else spec.shape)
    return _reshape_values(spec, values, location)


def _reshape_values(spec: FeatureSpec, values: np.ndarray, location: str) -> np.ndarray:
    """Return the values in the shape of the feature; raise InvalidArgumentError for another number of values."""
    size = math.prod(spec.shape)
    if spec.varies:
        if size == 0 or len(values) % size:
            raise InvalidArgumentError(
                f"{_key_prefix(spec, location)}  Number of {spec.kind} values is not a multiple of stride length. "
                f"Saw {len(values)} values but output shape is: [{','.join(map(str, ('?', *spec.shape)))}]"
            )
        return values.reshape(-1, *spec.shape)
    if len(values) != size:
        raise InvalidArgumentError(
            f"{_key_prefix(spec, location)}  Number of {spec.kind} values != expected.  "
            f"Values size: {len(values)} but output shape: [{','.join(map(str, spec.shape))}]"
        )
    return values.reshape(spec.shape)


def _read_steps(spec: FeatureSpec, feature_lists: Any, location: str) -> np.ndarray:
    """Return the values of a feature of steps, with the step as first dimension."""
    if spec.key not in feature_lists:
        if not spec.optional:
            raise InvalidArgumentError(
                f"{_location_prefix(location)}Feature list '{spec.key}' is required but could not be found.  "
                "FixedLenSequenceFeature(…, allow_missing=True) reads such a record as one without steps."
            )
        return spec.filled_array((0, *spec.shape))
    step_spec = replace(spec, varies=False, optional=False, default=())
    rows = []
    for number, feature in enumerate(feature_lists[spec.key].feature):
        step_location = f"{_location_prefix(location)}Step: {number}"
        values = _feature_values(step_spec, feature, step_location)
        if values is None:
            raise InvalidArgumentError(
                f"{_location_prefix(step_location)}Feature list '{spec.key}' has a step without values"
            )
        rows.append(_reshape_values(step_spec, values, step_location))
    result = spec.filled_array((len(rows), *spec.shape))
    for i, row in enumerate(rows):
        result[i, ...] = row
    return result


def _read_step_rows(spec: FeatureSpec, feature_lists: Any, location: str) -> list[np.ndarray]:
    """Return the values of a feature in each step of a record; a record without the feature has no steps."""
    steps = feature_lists[spec.key].feature if spec.key in feature_lists else ()
    rows = [
        _feature_values(spec, feature, f"{_location_prefix(location)}Step: {number}")
        for number, feature in enumerate(steps)
    ]
    return [spec.filled_array((0,)) if row is None else row for row in rows]


def _feature_values(spec: FeatureSpec, feature: Any, location: str) -> np.ndarray | None:
    """Return the values of a feature as a vector; None if the message holds no list of values."""
    field = feature.WhichOneof("kind")
    if field is None:
        return None
    if _KIND_OF_FIELD[field] != spec.kind:
        raise InvalidArgumentError(
            f"{_key_prefix(spec, location)}  Data types don't match. Data type: {_KIND_OF_FIELD[field]} "
            f"but expected type: {spec.kind}"
        )
    values = getattr(feature, field).value
    if not spec.dtype.is_string:
        return np.array(values, spec.dtype.numpy)
    result = np.empty(len(values), object)
    result[:] = list(values)
    return result


def _key_prefix(spec: FeatureSpec, location: str) -> str:
    """Return the start of a message about one feature."""
    return f"Key: {spec.key}{', ' if location else ''}{location}."


def _location_prefix(location: str) -> str:
    """Return the start of a message about one record; a scalar has no location."""
    return f"{location}, " if location else ""
