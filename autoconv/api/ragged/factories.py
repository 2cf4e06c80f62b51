"""Class methods that create ragged tensors from values and a row partition, see `partitions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from autoconv.api.ragged import partitions
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.graph.dtypes import int64
from autoconv.hooks import Hook
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.support.type_spec import CompositeTensor

Values: TypeAlias = "TensorLike | CompositeTensor"

# Calls a function of `conversion` by its name: CONVERSIONS(name, *arguments). That module imports this one.
CONVERSIONS = Hook("autoconv.api.ragged.conversion")


class RaggedFactories:
    """Base of RaggedTensor with the class methods that create ragged tensors."""

    def __init__(self, values: Any, row_splits: TensorLike, uniform_row_length: int | None = None) -> None:
        raise NotImplementedError

    @classmethod
    def from_row_splits(
        cls, values: Values, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of the values: row i has those from row_splits[i] up to row_splits[i + 1].

        With `validate`, raises ValueError or InvalidArgumentError unless the splits ascend from 0 to the number of
        values.

        >>> autoconv.RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3]).to_list()
        [[3, 1], [], [4]]
        """
        data = partitions.values_of(values)
        return cls(data, partitions.check_splits(data, partitions.partition_tensor(row_splits), "row_splits", validate))

    @classmethod
    def from_row_lengths(
        cls, values: Values, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of the values that have the lengths `row_lengths`.

        >>> autoconv.RaggedTensor.from_row_lengths([3, 1, 4], [2, 0, 1]).to_list()
        [[3, 1], [], [4]]
        """
        data, lengths = partitions.values_of(values), partitions.partition_tensor(row_lengths)
        splits = partitions.splits_of_lengths(lengths)
        return cls(data, partitions.check_splits(data, splits, "row_lengths", validate))

    @classmethod
    def from_value_rowids(
        cls, values: Values, value_rowids: TensorLike, nrows: IntLike | None = None, name: str | None = None,
        validate: bool = True,
    ) -> Any:  # fmt: skip
        """Return `nrows` rows of the values; `value_rowids` has the row of each value, in ascending order.

        >>> autoconv.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2], nrows=4).to_list()
        [[3, 1], [], [4], []]
        """
        data, ids = partitions.values_of(values), partitions.partition_tensor(value_rowids)
        return cls(data, partitions.splits_of_rowids(data, ids, nrows, validate))

    @classmethod
    def from_row_starts(
        cls, values: Values, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of the values that begin at the positions `row_starts`.

        >>> autoconv.RaggedTensor.from_row_starts([3, 1, 4], [0, 2, 2]).to_list()
        [[3, 1], [], [4]]
        """
        data = partitions.values_of(values)
        splits = partitions.splits_of_starts(data, partitions.partition_tensor(row_starts))
        return cls(data, partitions.check_splits(data, splits, "row_starts", validate))

    @classmethod
    def from_row_limits(
        cls, values: Values, row_limits: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of the values that end before the positions `row_limits`.

        >>> autoconv.RaggedTensor.from_row_limits([3, 1, 4], [2, 2, 3]).to_list()
        [[3, 1], [], [4]]
        """
        data = partitions.values_of(values)
        splits = partitions.splits_of_limits(partitions.partition_tensor(row_limits))
        return cls(data, partitions.check_splits(data, splits, "row_limits", validate))

    @classmethod
    def from_uniform_row_length(
        cls, values: Values, uniform_row_length: IntLike, nrows: IntLike | None = None, validate: bool = True,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return rows of the values that all have one length, which is static if it is an int.

        >>> autoconv.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape
        TensorShape([2, 2])
        """
        data = partitions.values_of(values)
        splits, length = partitions.splits_of_uniform(data, uniform_row_length, nrows)
        return cls(data, partitions.check_splits(data, splits, "uniform_row_length", validate), length)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Values, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return nested rows; `nested_row_splits` has the row splits of each ragged dimension, from the outermost on.

        >>> autoconv.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 2], [0, 1, 3]]).to_list()
        [[[1], [2, 3]], []]
        """
        make_rows = lambda data, splits: cls.from_row_splits(data, splits, validate=validate)
        return _make_nested(flat_values, nested_row_splits, make_rows)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Values, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return nested rows; `nested_row_lengths` has the lengths in each ragged dimension, from the outermost on."""
        make_rows = lambda data, lengths: cls.from_row_lengths(data, lengths, validate=validate)
        return _make_nested(flat_values, nested_row_lengths, make_rows)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: Values, nested_value_rowids: Sequence[Any], nested_nrows: Sequence[Any] | None = None,
        name: str | None = None, validate: bool = True,
    ) -> Any:  # fmt: skip
        """Return nested rows; `nested_value_rowids` has the row ids in each ragged dimension, from the outermost on."""
        row_counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows

        def make_rows(data: Any, ids_and_count: tuple[Any, Any]) -> Any:
            ids, count = ids_and_count
            return cls.from_value_rowids(data, ids, count, validate=validate)

        return _make_nested(flat_values, list(zip(nested_value_rowids, row_counts, strict=True)), make_rows)

    @classmethod
    def from_tensor(
        cls, tensor: TensorLike, lengths: Any = None, padding: TensorLike | None = None, ragged_rank: int = 1,
        name: str | None = None, row_splits_dtype: DTypeLike = int64,
    ) -> Any:  # fmt: skip
        """Return the rows of a dense tensor, without `padding` at their ends, or of the given `lengths`.

        >>> autoconv.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0).to_list()
        [[1, 2], [3]]
        """
        return CONVERSIONS("from_tensor", tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = int64
    ) -> Any:
        """Return the rows of a sparse matrix, whose values have to be at the starts of their rows."""
        return CONVERSIONS("from_sparse", st_input, row_splits_dtype)


def _make_nested(flat_values: Values, nested_partitions: Sequence[Any], make_rows: Callable[[Any, Any], Any]) -> Any:
    """Return nested rows; `make_rows(values, partition)` adds a dimension, from the innermost partition on."""
    rows = partitions.values_of(flat_values)
    for partition in reversed(nested_partitions):
        rows = make_rows(rows, partition)
    return rows
