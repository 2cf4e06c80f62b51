"""Partitions of values into rows, apart from the values."""

from __future__ import annotations

from autoconv.api.ragged.partitions import integers
from autoconv.api.ragged.tensor import RaggedTensor
from autoconv.api.tensors.constants import range as counted
from autoconv.graph.dtypes import DType
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.tensor import Tensor


class RowPartition:
    """A partition of values into rows, given in any of the ways in which ragged tensors are made.

    >>> rows = autoconv.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
    >>> rows.row_splits().numpy(), rows.row_lengths().numpy()
    (array([0, 2, 2, 3, 3]), array([2, 0, 1, 0]))
    """

    def __init__(self, numbered: RaggedTensor) -> None:
        self._rows = numbered  # the numbers of values, in rows

    @classmethod
    def from_row_splits(cls, row_splits: TensorLike, validate: bool = True) -> RowPartition:
        """Return the partition with these splits."""
        splits = integers(row_splits)
        return cls(RaggedTensor.from_row_splits(counted(splits[-1]), splits, validate=validate))

    @classmethod
    def from_row_lengths(cls, row_lengths: TensorLike, validate: bool = True) -> RowPartition:
        """Return the partition into rows of these lengths."""
        lengths = integers(row_lengths)
        return cls.from_row_splits(RaggedTensor.from_row_lengths(lengths, lengths, validate=False).row_splits, validate)

    @classmethod
    def from_value_rowids(
        cls, value_rowids: TensorLike, nrows: IntLike | None = None, validate: bool = True
    ) -> RowPartition:
        """Return the partition by the number of each value's row."""
        ids = integers(value_rowids)
        return cls(RaggedTensor.from_value_rowids(ids, ids, nrows, validate=validate))

    @property
    def dtype(self) -> DType:
        return self._rows.row_splits.dtype

    def row_splits(self) -> Tensor:
        return self._rows.row_splits

    def row_lengths(self) -> Tensor:
        return self._rows.row_lengths()  # type: ignore[no-any-return]

    def value_rowids(self) -> Tensor:
        return self._rows.value_rowids()

    def nrows(self) -> Tensor:
        return self._rows.nrows()
