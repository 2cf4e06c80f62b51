"""Features of Examples that are read as sparse and ragged tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoconv.api.ragged.joining import ragged_concat
from autoconv.api.ragged.tensor import RaggedTensor
from autoconv.api.sparse.shaping import reorder
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import maximum
from autoconv.api.tensors.constants import ones_like, zeros_like
from autoconv.api.tensors.gather import gather, unsorted_segment_sum
from autoconv.api.tensors.maths import cumsum
from autoconv.api.tensors.reductions import reduce_sum
from autoconv.api.tensors.segments import unsorted_segment_max
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, stack
from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.io.example_decoding import DecodeRows, DecodeStepRows, FeatureSpec
from autoconv.io.features import RaggedFeature, SparseFeature, VarLenFeature
from autoconv.io.host_function import call_on_host
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

_COMPOSITE_FEATURES = (VarLenFeature, SparseFeature, RaggedFeature)


def composite_features(records: Tensor, features: Mapping[str, Any], of_context: bool = False) -> dict[str, Any]:
    """Return the sparse and ragged tensors of a vector of records, or of a scalar with one record.

    With `of_context`, the records are SequenceExamples, whose contexts have the features.
    """
    if not features:
        return {}
    is_single = records.shape.rank == 0
    vector = reshape(records, [1]) if is_single else records
    rows_by_key = _read_rows(vector, _dtypes_by_key(features), of_context)
    values = {key: _feature_value(key, feature, rows_by_key) for key, feature in features.items()}
    return {key: _only_record(value) for key, value in values.items()} if is_single else values


def composite_steps(records: Tensor, features: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sparse and ragged tensors of features of steps, of one SequenceExample or a vector of them.

    Their dimensions are that of the vector, the steps, and the values of a step.
    """
    if not features:
        return {}
    for key, feature in features.items():
        if isinstance(feature, SparseFeature) or (isinstance(feature, RaggedFeature) and feature.partitions):
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key {key!r} of sequence features")
    is_single = records.shape.rank == 0
    vector = reshape(records, [1]) if is_single else records
    rows_by_key = _read_step_rows(vector, _dtypes_by_key(features))
    values: dict[str, Any] = {}
    for key, feature in features.items():
        if isinstance(feature, RaggedFeature):
            values[key] = rows_by_key[feature.value_key or key].with_row_splits_dtype(feature.row_splits_dtype)
        else:
            values[key] = rows_by_key[key].to_sparse()
    return {key: _only_record(value) for key, value in values.items()} if is_single else values


def _dtypes_by_key(features: Mapping[str, Any]) -> dict[str, DType]:
    """Return the keys to read with their dtypes; raises ValueError for a key of two dtypes."""
    result: dict[str, DType] = {}

    def add_dtype(key: str, dtype: DTypeLike) -> None:
        if result.setdefault(key, as_dtype(dtype)) is not as_dtype(dtype):
            raise ValueError(f"Conflicting type {result[key].name} vs {as_dtype(dtype).name} for feature {key}.")

    for key, feature in features.items():
        if feature.dtype is None:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
        if isinstance(feature, SparseFeature):
            for index_key in _index_keys(feature):
                add_dtype(index_key, int64)
            add_dtype(feature.value_key, feature.dtype)
        else:
            add_dtype(getattr(feature, "value_key", None) or key, feature.dtype)
        for partition in getattr(feature, "partitions", ()):
            if not isinstance(partition, RaggedFeature.UniformRowLength):
                add_dtype(partition.key, int64)
    return result


def _index_keys(feature: SparseFeature) -> list[str]:
    """Return the keys that have the positions of a sparse feature, one for each dimension."""
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _row_specs(dtypes: Mapping[str, DType]) -> tuple[FeatureSpec, ...]:
    """Return the specs of features of any length, in the order of their keys."""
    return tuple(
        FeatureSpec(key, dtype, (), varies=True, optional=True, default=()) for key, dtype in sorted(dtypes.items())
    )


def _read_step_rows(records: Tensor, dtypes: Mapping[str, DType]) -> dict[str, RaggedTensor]:
    """Return for each key a ragged tensor of records, steps and the values of a step."""
    feature_specs = _row_specs(dtypes)
    count = records.shape[0] if records.shape.rank else None
    specs = [
        spec
        for feature_spec in feature_specs
        for spec in (TensorSpec([None], feature_spec.dtype), TensorSpec([None], int64), TensorSpec([count], int64))
    ]
    results = iter(call_on_host(DecodeStepRows(feature_specs), [records], specs))
    return {
        spec.key: RaggedTensor.from_nested_row_lengths(
            next(results), list(reversed([next(results), next(results)])), validate=False
        )
        for spec in feature_specs
    }


def _read_rows(records: Tensor, dtypes: Mapping[str, DType], of_context: bool) -> dict[str, RaggedTensor]:
    """Return for each key a ragged tensor with one row per record: the values that the record has."""
    feature_specs = _row_specs(dtypes)
    count = records.shape[0] if records.shape.rank else None
    specs = [
        spec
        for feature_spec in feature_specs
        for spec in (TensorSpec([None], feature_spec.dtype), TensorSpec([count], int64))
    ]
    results = iter(call_on_host(DecodeRows(feature_specs, of_context), [records], specs))
    return {
        feature_spec.key: RaggedTensor.from_row_lengths(next(results), next(results), validate=False)
        for feature_spec in feature_specs
    }


def _feature_value(
    key: str, feature: VarLenFeature | SparseFeature | RaggedFeature, rows_by_key: Mapping[str, RaggedTensor]
) -> Any:
    """Return the sparse or ragged tensor of one feature."""
    if isinstance(feature, VarLenFeature):
        return rows_by_key[key].to_sparse()
    if isinstance(feature, SparseFeature):
        return _sparse_feature(feature, rows_by_key)
    return _ragged_feature(feature, rows_by_key[feature.value_key or key], rows_by_key)


def _sparse_feature(feature: SparseFeature, rows_by_key: Mapping[str, RaggedTensor]) -> SparseTensor:
    """Return the sparse tensor of a SparseFeature: its first dimension is that of the records."""
    values = rows_by_key[feature.value_key]
    indices = [rows_by_key[key].flat_values for key in _index_keys(feature)]
    sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
    shape = concat([expand_dims(values.nrows(), 0), convert_to_tensor(list(sizes), int64)], 0)
    sparse = SparseTensor(stack([values.value_rowids(), *indices], 1), values.flat_values, shape)
    sparse.set_shape([values.shape[0], *sizes])
    return sparse if feature.already_sorted else reorder(sparse)


def _ragged_feature(feature: RaggedFeature, values: RaggedTensor, rows_by_key: Mapping[str, RaggedTensor]) -> Any:
    """Return the ragged tensor of a RaggedFeature, built from the innermost partition to the outermost."""
    ragged, counts = values.flat_values, values.row_lengths()
    for partition in reversed(feature.partitions):
        lengths, counts = _lengths_of_partition(partition, counts, rows_by_key)
        if isinstance(partition, RaggedFeature.UniformRowLength):
            ragged = RaggedTensor.from_uniform_row_length(ragged, partition.length, validate=feature.validate)
        else:
            ragged = RaggedTensor.from_row_lengths(ragged, lengths, validate=feature.validate)
    return RaggedTensor.from_row_lengths(ragged, counts, validate=False).with_row_splits_dtype(feature.row_splits_dtype)


def _lengths_of_partition(
    partition: Any, counts: Tensor, rows_by_key: Mapping[str, RaggedTensor]
) -> tuple[Any, Tensor]:
    """Return the lengths of the rows of all records, and the number of rows of each record.

    `counts` has the number of values of each record. The lengths are None for a UniformRowLength.
    """
    if isinstance(partition, RaggedFeature.UniformRowLength):
        return None, counts // partition.length
    ragged_rows = rows_by_key[partition.key]
    if isinstance(partition, RaggedFeature.RowLengths):
        return ragged_rows.flat_values, ragged_rows.row_lengths()
    if isinstance(partition, RaggedFeature.ValueRowIds):
        return _lengths_of_row_ids(ragged_rows)
    if isinstance(partition, RaggedFeature.RowSplits):
        row_starts, row_ends = ragged_rows[:, :-1], ragged_rows[:, 1:]
    elif isinstance(partition, RaggedFeature.RowStarts):
        row_starts, row_ends = (
            ragged_rows,
            ragged_concat([ragged_rows[:, 1:], RaggedTensor.from_uniform_row_length(counts, 1)], 1),
        )
    else:
        zeros = RaggedTensor.from_uniform_row_length(zeros_like(counts), 1)
        row_starts, row_ends = ragged_concat([zeros, ragged_rows[:, :-1]], 1), ragged_rows
    return row_ends.flat_values - row_starts.flat_values, row_starts.row_lengths()


def _lengths_of_row_ids(ragged: RaggedTensor) -> tuple[Tensor, Tensor]:
    """Return the lengths of all rows, and the number of rows of each record, from the row ids of values."""
    row_ids, record_ids = ragged.flat_values, ragged.value_rowids()
    row_counts = unsorted_segment_max(row_ids + 1, record_ids, ragged.nrows())
    # A record without values has the lowest integer as its maximum.
    rows_by_record = cast(maximum(row_counts, zeros_like(row_counts)), int64)
    offsets = cumsum(rows_by_record, exclusive=True)
    total = reduce_sum(rows_by_record)
    return unsorted_segment_sum(ones_like(row_ids), row_ids + gather(offsets, record_ids), total), rows_by_record


def _only_record(value: RaggedTensor | SparseTensor) -> Any:
    """Return the value of a batch with one record, without the batch dimension."""
    if isinstance(value, RaggedTensor):
        return value[0]
    result = SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
    result.set_shape(value.shape[1:])
    return result


def split_features(features: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split features into those read as dense tensors and those read as composite ones."""
    composite = {key: feature for key, feature in features.items() if isinstance(feature, _COMPOSITE_FEATURES)}
    return {key: feature for key, feature in features.items() if key not in composite}, composite
