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
from autoconv.io.example_decoding import DecodeRows, FeatureSpec
from autoconv.io.features import RaggedFeature, SparseFeature, VarLenFeature
from autoconv.io.host_function import on_host
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

COMPOSITE = (VarLenFeature, SparseFeature, RaggedFeature)


def composite_features(records: Tensor, features: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sparse and ragged tensors of a vector of records, or of one."""
    if not features:
        return {}
    is_one = records.shape.rank == 0
    vector = reshape(records, [1]) if is_one else records
    rows = _rows(vector, _keys(features))
    values = {key: _value(key, feature, rows) for key, feature in features.items()}
    return {key: _first(value) for key, value in values.items()} if is_one else values


def _keys(features: Mapping[str, Any]) -> dict[str, DType]:
    """Return the keys to read with their dtypes; raises ValueError for a key of two dtypes."""
    result: dict[str, DType] = {}

    def add(key: str, dtype: DTypeLike) -> None:
        if result.setdefault(key, as_dtype(dtype)) is not as_dtype(dtype):
            raise ValueError(f"Conflicting type {result[key].name} vs {as_dtype(dtype).name} for feature {key}.")

    for key, feature in features.items():
        if feature.dtype is None:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
        if isinstance(feature, SparseFeature):
            for index in _index_keys(feature):
                add(index, int64)
            add(feature.value_key, feature.dtype)
        else:
            add(getattr(feature, "value_key", None) or key, feature.dtype)
        for partition in getattr(feature, "partitions", ()):
            if not isinstance(partition, RaggedFeature.UniformRowLength):
                add(partition.key, int64)
    return result


def _index_keys(feature: SparseFeature) -> list[str]:
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def _rows(records: Tensor, keys: Mapping[str, DType]) -> dict[str, RaggedTensor]:
    specs_of_keys = tuple(FeatureSpec(key, dtype, (), True, True, ()) for key, dtype in sorted(keys.items()))
    count = records.shape[0] if records.shape.rank else None
    specs = [spec for one in specs_of_keys for spec in (TensorSpec([None], one.dtype), TensorSpec([count], int64))]
    iterator = iter(on_host(DecodeRows(specs_of_keys), [records], specs))
    return {
        one.key: RaggedTensor.from_row_lengths(next(iterator), next(iterator), validate=False) for one in specs_of_keys
    }


def _value(key: str, feature: VarLenFeature | SparseFeature | RaggedFeature, rows: Mapping[str, RaggedTensor]) -> Any:
    if isinstance(feature, VarLenFeature):
        return rows[key].to_sparse()
    if isinstance(feature, SparseFeature):
        return _sparse(feature, rows)
    return _ragged_feature(feature, rows[feature.value_key or key], rows)


def _sparse(feature: SparseFeature, rows: Mapping[str, RaggedTensor]) -> SparseTensor:
    values = rows[feature.value_key]
    places = [rows[key].flat_values for key in _index_keys(feature)]
    sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
    shape = concat([expand_dims(values.nrows(), 0), convert_to_tensor(list(sizes), int64)], 0)
    sparse = SparseTensor(stack([values.value_rowids(), *places], 1), values.flat_values, shape)
    sparse.set_shape([values.shape[0], *sizes])
    return sparse if feature.already_sorted else reorder(sparse)


def _ragged_feature(feature: RaggedFeature, values: RaggedTensor, rows: Mapping[str, RaggedTensor]) -> Any:
    inner, counts = values.flat_values, values.row_lengths()
    for partition in reversed(feature.partitions):
        lengths, counts = _lengths(partition, counts, rows)
        if isinstance(partition, RaggedFeature.UniformRowLength):
            inner = RaggedTensor.from_uniform_row_length(inner, partition.length, validate=feature.validate)
        else:
            inner = RaggedTensor.from_row_lengths(inner, lengths, validate=feature.validate)
    return RaggedTensor.from_row_lengths(inner, counts, validate=False).with_row_splits_dtype(feature.row_splits_dtype)


def _lengths(
    partition: tuple[Any, ...], counts: Tensor, rows: Mapping[str, RaggedTensor]
) -> tuple[Any, Tensor]:
    """Return the lengths of the rows of all records, and the number of rows of each record.

    `counts` has the number of values of each record.
    """
    if isinstance(partition, RaggedFeature.UniformRowLength):
        return None, counts // partition.length
    ragged_rows = rows[partition[0]]
    if isinstance(partition, RaggedFeature.RowLengths):
        return ragged_rows.flat_values, ragged_rows.row_lengths()
    if isinstance(partition, RaggedFeature.ValueRowIds):
        return _row_lengths(ragged_rows)
    if isinstance(partition, RaggedFeature.RowSplits):
        begins, ends = ragged_rows[:, :-1], ragged_rows[:, 1:]
    elif isinstance(partition, RaggedFeature.RowStarts):
        begins, ends = (
            ragged_rows,
            ragged_concat([ragged_rows[:, 1:], RaggedTensor.from_uniform_row_length(counts, 1)], 1),
        )
    else:
        zeros = RaggedTensor.from_uniform_row_length(zeros_like(counts), 1)
        begins, ends = ragged_concat([zeros, ragged_rows[:, :-1]], 1), ragged_rows
    return ends.flat_values - begins.flat_values, begins.row_lengths()


def _row_lengths(ragged: RaggedTensor) -> tuple[Tensor, Tensor]:
    """Return lengths of rows, and their numbers by record, of the numbers of the values' rows."""
    ids, records = ragged.flat_values, ragged.value_rowids()
    record_of_row = unsorted_segment_max(ids + 1, records, ragged.nrows())
    of_records = cast(maximum(record_of_row, zeros_like(record_of_row)), int64)
    offsets = cumsum(of_records, exclusive=True)
    total = reduce_sum(of_records)
    return unsorted_segment_sum(ones_like(ids), ids + gather(offsets, records), total), of_records


def _first(value: RaggedTensor | SparseTensor) -> Any:
    """Return the value of the only record."""
    if isinstance(value, RaggedTensor):
        return value[0]
    result = SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
    result.set_shape(value.shape[1:])
    return result


def dense_only(features: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the features that are read as tensors, and the others."""
    composite = {key: feature for key, feature in features.items() if isinstance(feature, COMPOSITE)}
    return {key: feature for key, feature in features.items() if key not in composite}, composite


__all__ = ["composite_features", "dense_only"]
