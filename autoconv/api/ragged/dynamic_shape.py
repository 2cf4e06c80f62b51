"""Shapes of tensors with ragged dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged.row_partition import RowPartition
from autoconv.api.ragged.tensor import RaggedTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.shaping import expand_dims
from autoconv.api.tensors.shaping import shape as dense_shape
from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.runtime.annotations import DTypeLike, IntLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.type_spec import CompositeTensor, TypeSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

Lengths = int | Sequence[int]  # the lengths of rows in one dimension: one for all, or one for each row


class DynamicRaggedShape(CompositeTensor):
    """The shape of a ragged tensor: partitions of the outer dimensions into rows, and the shape of the flat values.

    `uniform` has for each partition the length that all its rows have, None if they may have several lengths.

    >>> autoconv.shape(autoconv.ragged.constant([[3, 1], [4]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    __autoconv_handlers__ = "autoconv.api.ragged.shaped_by"

    def __init__(
        self, row_partitions: Sequence[RowPartition], inner_shape: Any, dtype: DTypeLike | None = None,
        uniform: Sequence[int | None] | None = None,
    ) -> None:  # fmt: skip
        partitions = tuple(row_partitions)
        splits_dtype = partitions[0].dtype if partitions and dtype is None else as_dtype(dtype or int64)
        self._partitions = partitions
        self._inner_shape = cast(convert_to_tensor(inner_shape, dtype_hint=splits_dtype), splits_dtype)
        self._uniform_lengths = tuple(uniform or (None,) * len(partitions))

    @classmethod
    def from_tensor(cls, t: Any, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Return the shape of a tensor, ragged or not."""
        partitions, uniform_lengths = [], []
        while isinstance(t, RaggedTensor):
            partitions.append(RowPartition.from_row_splits(t.row_splits, validate=False))
            uniform_lengths.append(t.shape[1])
            t = t.values
        return cls(partitions, dense_shape(t, int64), dtype, uniform_lengths)

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[Lengths], num_row_partitions: int | None = None, dtype: DTypeLike = int64
    ) -> DynamicRaggedShape:
        """Return the shape with these lengths: an int for a uniform dimension, the lengths of all rows of a ragged one.

        `num_row_partitions` dimensions after the first are partitions, by default those up to the last ragged one.
        """
        ragged_axes = [axis for axis, length in enumerate(lengths) if not isinstance(length, (int, np.integer))]
        last_ragged_axis = max(ragged_axes, default=0)
        partition_count = last_ragged_axis if num_row_partitions is None else num_row_partitions
        if not lengths or ragged_axes[:1] == [0]:
            raise ValueError("the first length has to be an int: the number of rows")
        if partition_count < last_ragged_axis or partition_count >= max(len(lengths), 1):
            raise ValueError(f"{partition_count} row partitions do not fit {list(lengths)!r}")
        row_count, partitions, uniform_lengths = int(lengths[0]), [], []  # type: ignore[arg-type]
        for length in lengths[1 : partition_count + 1]:
            is_uniform = isinstance(length, (int, np.integer))
            row_lengths = np.full(row_count, length) if is_uniform else np.asarray(length)
            if len(row_lengths) != row_count:
                raise ValueError(f"{len(row_lengths)} lengths are given for {row_count} rows: {list(lengths)!r}")
            partitions.append(RowPartition.from_row_lengths(row_lengths.astype(as_dtype(dtype).numpy)))
            uniform_lengths.append(int(length) if is_uniform else None)  # type: ignore[arg-type]
            row_count = int(row_lengths.sum())
        return cls(partitions, np.array([row_count, *lengths[partition_count + 1 :]]), dtype, uniform_lengths)

    @property
    def _type_spec(self) -> DynamicRaggedShapeSpec:
        return DynamicRaggedShapeSpec(self._uniform_lengths, self.inner_rank, self.dtype)

    @property
    def dtype(self) -> DType:
        return self._inner_shape.dtype

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        return self._partitions

    @property
    def num_row_partitions(self) -> int:
        return len(self._partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return self._inner_shape

    @property
    def inner_rank(self) -> int | None:
        return self._inner_shape.shape[0]

    @property
    def rank(self) -> int | None:
        return None if self.inner_rank is None else self.inner_rank + self.num_row_partitions

    def is_uniform(self, axis: int) -> bool:
        """Return whether all rows of this dimension are known while tracing to have one length."""
        return not 0 < axis <= self.num_row_partitions or self._uniform_lengths[axis - 1] is not None

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Return the lengths as `from_lengths` takes them; None is an unknown length, `...` are unknown inner sizes.

        Without `ragged_lengths`, the lengths of ragged dimensions are None, too.
        """
        sizes: list[Any] = []
        if self._partitions:
            row_count = static_value(self._partitions[0].nrows())
            sizes.append(None if row_count is None else int(row_count))
        for partition, length in zip(self._partitions, self._uniform_lengths, strict=True):
            lengths = static_value(partition.row_lengths()) if length is None and ragged_lengths else None
            sizes.append(length if lengths is None else tuple(np.asarray(lengths).tolist()))
        inner_sizes = static_value(self._inner_shape)
        if inner_sizes is None:
            return [*sizes, ...]
        first_axis = 1 if self._partitions else 0  # partitions merge their dimensions into the first of the flat values
        return [*sizes, *np.asarray(inner_sizes).tolist()[first_axis:]]

    def num_slices_in_dimension(self, axis: int) -> Tensor:
        """Return the number of slices down to `axis`: the product of the sizes of the dimensions up to it.

        Down to a ragged dimension it is the sum of that dimension's row lengths.
        """
        if axis < 0:
            if self.rank is None:
                raise ValueError("a negative axis needs a shape of known rank")
            axis += self.rank
        if axis < self.num_row_partitions:
            return self._partitions[axis].nrows()
        slice_count = self._inner_shape[0]
        for inner_axis in range(1, axis - self.num_row_partitions + 1):
            slice_count = slice_count * self._inner_shape[inner_axis]
        return slice_count

    def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape:
        """Return the shape with lengths of this dtype."""
        splits_dtype = as_dtype(dtype)
        partitions = [
            RowPartition.from_row_splits(cast(partition.row_splits(), splits_dtype), validate=False)
            for partition in self._partitions
        ]
        return type(self)(partitions, cast(self._inner_shape, splits_dtype), splits_dtype, self._uniform_lengths)

    def __getitem__(self, index: IntLike | slice) -> Any:
        """Return the length of a uniform dimension, or the shape of consecutive dimensions.

        Raises ValueError for a ragged dimension, and for a slice that includes a ragged dimension but not the first.
        """
        if isinstance(index, slice):
            return self._slice(index)
        axis = int(static_value(convert_to_tensor(index)))  # type: ignore[call-overload]
        if axis < 0 and self.rank is not None:
            axis += self.rank
        if axis < 0 or (self.rank is not None and axis >= self.rank):
            raise IndexError(f"the shape of {self.rank} dimensions has no dimension {index!r}")
        if axis == 0:
            return self._partitions[0].nrows() if self._partitions else self._inner_shape[0]
        if axis <= self.num_row_partitions:
            length = self._uniform_lengths[axis - 1]
            if length is None:
                raise ValueError(f"Index {axis} is not uniform: its rows have lengths of their own")
            return convert_to_tensor(np.array(length, self.dtype.numpy))
        return self._inner_shape[axis - self.num_row_partitions]

    def _slice(self, axes: slice) -> DynamicRaggedShape:
        """Return the shape of consecutive axes; unless they begin with the first, each has to be uniform."""
        if axes.step not in (None, 1):
            raise IndexError("a slice of a shape has no step")
        if self.rank is None:
            raise ValueError("a slice of a shape needs one of known rank")
        start, stop, _ = axes.indices(self.rank)
        if start:
            if stop > start and not all(map(self.is_uniform, range(1, min(stop, self.num_row_partitions + 1)))):
                raise ValueError("All relevant dimensions must be uniform")
            lengths = [self[axis] for axis in range(start, stop)]
            return type(self)([], apply("stack", *lengths, axis=0) if lengths else [], self.dtype)
        if stop >= self.rank:
            return self
        partition_count = min(max(stop - 1, 0), self.num_row_partitions)
        partitions = self._partitions[:partition_count]
        if not stop:
            inner_shape: Any = []
        elif stop > self.num_row_partitions:
            inner_shape = self._inner_shape[: stop - self.num_row_partitions]
        else:
            inner_shape = expand_dims(partitions[-1].nvals() if partitions else self._partitions[0].nrows(), 0)
        return type(self)(partitions, inner_shape, self.dtype, self._uniform_lengths[:partition_count])

    def __repr__(self) -> str:
        lengths_text = ", ".join("..." if length is ... else str(length) for length in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{lengths_text}] num_row_partitions={self.num_row_partitions}>"


class DynamicRaggedShapeSpec(TypeSpec):
    """The type of a DynamicRaggedShape: its uniform row lengths (`uniform`), the rank of its inner shape, its dtype."""

    value_type = DynamicRaggedShape

    def __init__(self, uniform: Sequence[int | None], inner_rank: int | None, dtype: DTypeLike) -> None:
        self._uniform_lengths, self._inner_rank, self._dtype = tuple(uniform), inner_rank, as_dtype(dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._uniform_lengths, self._inner_rank, self._dtype

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        splits = TensorSpec([None], self._dtype)
        return (*(splits for _ in self._uniform_lengths), TensorSpec([self._inner_rank], self._dtype))

    def _to_components(self, value: Any) -> tuple[Tensor, ...]:
        return (*(partition.row_splits() for partition in value.row_partitions), value.inner_shape)

    def _from_components(self, components: Sequence[Tensor]) -> DynamicRaggedShape:
        *splits, inner_shape = components
        partitions = [RowPartition.from_row_splits(row_splits, validate=False) for row_splits in splits]
        return DynamicRaggedShape(partitions, inner_shape, self._dtype, self._uniform_lengths)
