"""RowPartition: the partition of a ragged tensor into rows, without its values."""

from __future__ import annotations

from autoconv.api.ragged.partitions import partition_tensor
from autoconv.api.ragged.tensor import RaggedTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather
from autoconv.api.tensors.shaping import concat
from autoconv.graph.dtypes import DType, int64
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


class RowPartition:
    """A partition of values into rows, created by class methods like those of ragged tensors.

    >>> rows = autoconv.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
    >>> rows.row_splits().numpy(), rows.row_lengths().numpy()
    (array([0, 2, 2, 3, 3]), array([2, 0, 1, 0]))
    """

    def __init__(self, rows: RaggedTensor) -> None:
        self._rows = rows  # a ragged tensor of this partition, whose values have no meaning

    @classmethod
    def from_row_splits(cls, row_splits: TensorLike, validate: bool = True) -> RowPartition:
        """Return the partition in which row i has the values from row_splits[i] up to row_splits[i + 1]."""
        splits = partition_tensor(row_splits)
        return cls(RaggedTensor.from_row_splits(tensor_range(splits[-1]), splits, validate=validate))

    @classmethod
    def from_row_lengths(cls, row_lengths: TensorLike, validate: bool = True) -> RowPartition:
        """Return the partition into rows of these lengths."""
        lengths = partition_tensor(row_lengths)
        return cls.from_row_splits(RaggedTensor.from_row_lengths(lengths, lengths, validate=False).row_splits, validate)

    @classmethod
    def from_value_rowids(
        cls, value_rowids: TensorLike, nrows: IntLike | None = None, validate: bool = True
    ) -> RowPartition:
        """Return the partition in which `value_rowids` has the row of each value."""
        ids = partition_tensor(value_rowids)
        return cls(RaggedTensor.from_value_rowids(ids, ids, nrows, validate=validate))

    @classmethod
    def from_row_starts(cls, row_starts: TensorLike, nvals: IntLike, validate: bool = True) -> RowPartition:
        """Return the partition of `nvals` values into rows that begin at these positions."""
        numbers = tensor_range(cast(nvals, partition_tensor(row_starts).dtype))
        return cls(RaggedTensor.from_row_starts(numbers, row_starts, validate=validate))

    @classmethod
    def from_row_limits(
        cls, row_limits: TensorLike, validate: bool = True, dtype: DTypeLike | None = None
    ) -> RowPartition:
        """Return the partition into rows that end before these positions."""
        limits = partition_tensor(row_limits) if dtype is None else cast(row_limits, dtype)
        return cls(RaggedTensor.from_row_limits(tensor_range(concat([[0], limits], 0)[-1]), limits, validate=validate))

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: IntLike, nvals: IntLike | None = None, nrows: IntLike | None = None,
        validate: bool = True,
    ) -> RowPartition:  # fmt: skip
        """Return the partition into rows of one length, which has to be given with the number of values or rows."""
        if nvals is None:
            if nrows is None:
                raise ValueError("nvals or nrows has to be given beside uniform_row_length")
            nvals = nrows * uniform_row_length  # type: ignore[operator]
        numbers = tensor_range(cast(nvals, int64))
        return cls(RaggedTensor.from_uniform_row_length(numbers, uniform_row_length, nrows, validate))

    def __repr__(self) -> str:
        length, splits = self.static_uniform_row_length, self._rows.row_splits
        if length is not None:
            return f"RowPartition(nrows={self.static_nrows}, uniform_row_length={length})"
        return f"RowPartition(row_splits={splits.numpy() if isinstance(splits, EagerTensor) else splits})"

    @property
    def dtype(self) -> DType:
        return self._rows.row_splits.dtype

    def with_dtype(self, dtype: DTypeLike) -> RowPartition:
        """Return the partition with splits of another dtype."""
        return RowPartition(self._rows.with_row_splits_dtype(dtype))

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, if it is known while tracing."""
        return self._rows.shape[0]  # type: ignore[no-any-return]

    @property
    def static_nvals(self) -> int | None:
        """The number of values, if it is known while tracing."""
        return self._rows.values.shape[0]  # type: ignore[no-any-return]

    @property
    def static_uniform_row_length(self) -> int | None:
        """The common length of all rows, if it is known while tracing."""
        static_length = static_value(self._rows.uniform_row_length)
        return None if static_length is None else int(static_length)

    def is_uniform(self) -> bool:
        """Return whether the partition was created with one length for all rows."""
        return self._rows.uniform_row_length is not None

    def uniform_row_length(self) -> Tensor | None:
        return self._rows.uniform_row_length  # type: ignore[no-any-return]

    def nvals(self) -> Tensor:
        return self._rows.row_splits[-1]  # type: ignore[no-any-return]

    def row_starts(self) -> Tensor:
        return self._rows.row_starts()

    def row_limits(self) -> Tensor:
        return self._rows.row_limits()

    def offsets_in_rows(self) -> Tensor:
        """Return the position of each value in its row."""
        row_starts = gather(self._rows.row_starts(), self._rows.value_rowids())
        return tensor_range(cast(self.nvals(), self.dtype)) - cast(row_starts, self.dtype)  # type: ignore[no-any-return]

    def row_splits(self) -> Tensor:
        return self._rows.row_splits

    def row_lengths(self) -> Tensor:
        return self._rows.row_lengths()  # type: ignore[no-any-return]

    def value_rowids(self) -> Tensor:
        return self._rows.value_rowids()

    def nrows(self) -> Tensor:
        return self._rows.nrows()
