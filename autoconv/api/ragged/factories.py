"""Class methods that make ragged tensors from values and a partition into rows."""

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

# Calls a function of that module by its name: hook(name, *arguments). The module imports this one.
CONVERSIONS = Hook("autoconv.api.ragged.conversion")


class RaggedFactories:
    """The class methods of RaggedTensor that make ragged tensors."""

    def __init__(self, values: Any, row_splits: TensorLike, uniform_row_length: int | None = None) -> None:
        raise NotImplementedError

    @classmethod
    def from_row_splits(
        cls, values: Values, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows with these bounds: `row_splits` begins with 0 and ends with the number of values.

        >>> autoconv.RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3]).to_list()
        [[3, 1], [], [4]]
        """
        data = partitions.values_of(values)
        return cls(data, partitions.check_splits(data, partitions.partition_tensor(row_splits), "row_splits", validate))

    @classmethod
    def from_row_lengths(
        cls, values: Values, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of these lengths.

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
        """Return rows by the row number of each value; the numbers do not decrease.

        >>> autoconv.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2], nrows=4).to_list()
        [[3, 1], [], [4], []]
        """
        data, ids = partitions.values_of(values), partitions.partition_tensor(value_rowids)
        return cls(data, partitions.splits_of_rowids(data, ids, nrows, validate))

    @classmethod
    def from_row_starts(
        cls, values: Values, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows that begin at these positions.

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
        """Return rows that end before these positions.

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
        """Return rows of one length, which is static if it is given as an int.

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
        """Return rows of rows with these splits, from the outermost dimension on.

        >>> autoconv.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 2], [0, 1, 3]]).to_list()
        [[[1], [2, 3]], []]
        """
        make_rows = lambda data, level: cls.from_row_splits(data, level, None, validate)
        return _make_nested(flat_values, nested_row_splits, make_rows)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Values, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        """Return rows of rows of these lengths, from the outermost dimension on."""
        make_rows = lambda data, level: cls.from_row_lengths(data, level, None, validate)
        return _make_nested(flat_values, nested_row_lengths, make_rows)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: Values, nested_value_rowids: Sequence[Any], nested_nrows: Sequence[Any] | None = None,
        name: str | None = None, validate: bool = True,
    ) -> Any:  # fmt: skip
        """Return rows of rows by the row number of each value, from the outermost dimension on."""
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        make_rows = lambda data, level: cls.from_value_rowids(data, level[0], level[1], None, validate)
        return _make_nested(flat_values, list(zip(nested_value_rowids, counts, strict=True)), make_rows)

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


def _make_nested(flat_values: Values, levels: Sequence[Any], make_rows: Callable[[Any, Any], Any]) -> Any:
    """Return rows of rows; `make_rows(values, partition)` adds a dimension, from the innermost partition on."""
    rows = partitions.values_of(flat_values)
    for level in reversed(levels):
        rows = make_rows(rows, level)
    return rows
