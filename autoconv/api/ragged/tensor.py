"""Ragged tensors: rows of different lengths, represented by their concatenated values and row splits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.factories import CONVERSIONS, RaggedFactories
from autoconv.api.ragged.text import ragged_text, text_tensor
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.graph.dtypes import DType, as_dtype, float32, int64
from autoconv.hooks import Hook
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import TensorShape, TensorSpec, as_shape
from autoconv.runtime.support.type_spec import CompositeTensor, TypeSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

OPERATORS = Hook("autoconv.api.ragged_handlers")  # (name of an operator, *operands) -> its result
GET_ITEM = Hook("autoconv.api.ragged.indexing")  # (ragged tensor, index) -> ragged_tensor[index]


class RaggedTensor(RaggedFactories, CompositeTensor):
    """A tensor whose rows, along one or more dimensions, differ in length.

    `values` is the concatenation of the rows, a tensor or a ragged tensor; `row_splits` has their bounds: row i is
    values[row_splits[i]:row_splits[i + 1]]. `ragged.constant` and the class methods `from_…` create ragged tensors.

    >>> rows = autoconv.ragged.constant([[1, 2], [], [3]])
    >>> rows.values.numpy(), rows.row_splits.numpy()
    (array([1, 2, 3], dtype=int32), array([0, 2, 2, 3]))
    >>> (rows + 1).to_list(), autoconv.reduce_sum(rows, axis=1).numpy()
    ([[2, 3], [], [4]], array([3, 0, 3], dtype=int32))
    """

    __module__ = "autoconv.tensorflow.python.ops.ragged.ragged_tensor"  # libraries test this name
    __autoconv_handlers__ = "autoconv.api.ragged_handlers"

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __init__(self, values: RaggedLike, row_splits: TensorLike, uniform_row_length: int | None = None) -> None:
        self._values: Any = values
        self._row_splits = convert_to_tensor(row_splits)
        self._uniform_row_length = uniform_row_length
        self._nrows = _count_rows(self._row_splits.shape.with_rank(1)[0])

    @property
    def values(self) -> Any:
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The concatenation of the innermost rows, a dense tensor."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values  # type: ignore[no-any-return]

    @property
    def row_splits(self) -> Tensor:
        return self._row_splits

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        inner_splits = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner_splits)

    @property
    def uniform_row_length(self) -> Any:
        """The common length of all rows as a scalar tensor; None if they may have several lengths."""
        row_length = self._uniform_row_length
        return None if row_length is None else convert_to_tensor(np.array(row_length, self._splits_numpy_dtype))

    @property
    def _splits_numpy_dtype(self) -> Any:
        return self._row_splits.dtype.numpy

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def dtype(self) -> DType:
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        values_shape = self._values.shape
        if values_shape.rank is None:
            return TensorShape(None)
        return TensorShape([self._nrows, self._uniform_row_length, *values_shape[1:]])

    def get_shape(self) -> TensorShape:
        return self.shape

    def consumers(self) -> list[Any]:
        return []

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def with_values(self, new_values: RaggedLike) -> RaggedTensor:
        """Return a ragged tensor with the same row splits and other values."""
        return RaggedTensor(partitions.values_of(new_values), self._row_splits, self._uniform_row_length)

    def with_flat_values(self, new_values: RaggedLike) -> RaggedTensor:
        """Return a ragged tensor with the same row splits in all ragged dimensions and other flat values."""
        values = self._values
        return self.with_values(values.with_flat_values(new_values) if isinstance(values, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """Return the same rows with row splits of another dtype, int32 or int64."""
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(values, cast(self._row_splits, dtype), self._uniform_row_length)

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """Return the number of rows."""
        return partitions.ragged_row_count(self, out_type)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the lengths of the rows along `axis`."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return partitions.lengths(self)
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        return CONVERSIONS("uniform_lengths", self, axis)

    def row_starts(self, name: str | None = None) -> Tensor:
        return partitions.starts(self)

    def row_limits(self, name: str | None = None) -> Tensor:
        return partitions.limits(self)

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return the row id of each value: the number of its row."""
        return partitions.rowids(self)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        inner_lengths = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (partitions.lengths(self), *inner_lengths)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        inner_rowids = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (partitions.rowids(self), *inner_rowids)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """Return the sizes of the smallest dense tensor that holds all rows."""
        return CONVERSIONS("bounding_shape", self, axis, out_type)  # type: ignore[no-any-return]

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merge the dimensions from `outer_axis` to `inner_axis` into one."""
        return CONVERSIONS("merge_dims", self, outer_axis, inner_axis)

    def to_tensor(
        self, default_value: TensorLike | None = None, name: str | None = None, shape: ShapeLike | None = None
    ) -> Tensor:
        """Return a dense tensor with `default_value` (zero) after the ends of rows, of `shape` if that is given.

        >>> autoconv.ragged.constant([[1, 2], [3]]).to_tensor(default_value=-1).numpy()
        array([[ 1,  2],
               [ 3, -1]], dtype=int32)
        """
        return CONVERSIONS("to_tensor", self, default_value, shape)  # type: ignore[no-any-return]

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        return CONVERSIONS("to_sparse", self)  # type: ignore[no-any-return]

    def to_list(self) -> list[Any]:
        """Return the rows as nested lists; raises ValueError while a function is traced."""
        if current_region() is not None and not self._is_eager():
            raise ValueError("to_list can only be used in eager mode; inside of a function, to_tensor gives a tensor")
        values = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        splits = self._row_splits.numpy().tolist()  # type: ignore[attr-defined]
        return [values[start:end] for start, end in itertools.pairwise(splits)]

    def numpy(self) -> np.ndarray:
        """Return the rows as one array; if their lengths differ, as an array of objects that are arrays."""
        values = self._values.numpy()
        splits = self._row_splits.numpy().tolist()  # type: ignore[attr-defined]
        rows = [values[start:end] for start, end in itertools.pairwise(splits)]
        if not rows:
            return np.array([], values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.array(rows)
        result = np.empty(len(rows), object)
        for index, row in enumerate(rows):
            result[index] = row
        return result

    def _is_eager(self) -> bool:
        """Return whether values and row splits are eager tensors."""
        return all(hasattr(tensor, "numpy") for tensor in (self.flat_values, *self.nested_row_splits))

    def __getitem__(self, key: Any) -> Any:
        return GET_ITEM(self, key)

    def __iter__(self) -> Any:
        if self._nrows is None:
            raise TypeError("a ragged tensor whose number of rows is known only at run time cannot be iterated over")
        return (self[row] for row in range(self._nrows))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def _printed_parts(self, summarize: int) -> tuple[Tensor]:
        """Return the text that `print` writes, as a scalar tensor."""
        return (text_tensor(self.flat_values, self.nested_row_splits, summarize),)

    def __repr__(self) -> str:
        if self._is_eager():
            return f"<autoconv.RaggedTensor {ragged_text(self.numpy())}>"
        return f"autoconv.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"

    __str__ = __repr__


RaggedLike: TypeAlias = "TensorLike | RaggedTensor"
"""A tensor, a value that can be converted to a tensor, or a ragged tensor."""


def _operator(name: str) -> Callable[..., Any]:
    """Return the method for an operator: `name` is "add" for `__add__`, "radd" for `__radd__`."""
    return lambda self, *operands: OPERATORS(name, self, *operands)


_OPERATOR_NAMES = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge",
)  # fmt: skip
for _name in _OPERATOR_NAMES:
    setattr(RaggedTensor, f"__{_name}__", _operator(_name))
    if _name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(RaggedTensor, f"__r{_name}__", _operator(f"r{_name}"))
for _name in ("neg", "abs", "invert"):
    setattr(RaggedTensor, f"__{_name}__", _operator(_name))


class RaggedTensorSpec(TypeSpec):
    """The type of a ragged tensor: shape, dtype, the number of ragged dimensions, the dtype of row splits.

    With `ragged_rank=0` it is the type of dense tensors. `flat_values_spec` has no effect.

    >>> autoconv.RaggedTensorSpec([None, None], autoconv.int32)
    RaggedTensorSpec(TensorShape([None, None]), autoconv.int32, 1, autoconv.int64)
    """

    __slots__ = ("_dtype", "_ragged_rank", "_shape", "_splits_dtype")

    def __init__(
        self, shape: ShapeLike | None = None, dtype: DTypeLike = float32, ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = int64, flat_values_spec: TypeSpec | None = None,
    ) -> None:  # fmt: skip
        self._shape = TensorShape(as_shape(shape))
        self._dtype = as_dtype(dtype)
        self._splits_dtype = as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: RaggedTensor) -> RaggedTensorSpec:
        return value._type_spec

    @property
    def value_type(self) -> type:
        return RaggedTensor if self._ragged_rank else Tensor

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        return self._splits_dtype

    def is_compatible_with(self, spec_or_value: object) -> bool:
        if self._ragged_rank == 0 and not isinstance(spec_or_value, (TypeSpec, CompositeTensor)):
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        shape, ragged_rank = self._shape, self._ragged_rank
        if ragged_rank == 0:
            return [TensorSpec(shape, self._dtype)]
        flat_shape = None if shape.rank is None else [None, *shape[ragged_rank + 1 :]]
        split_count = None if shape.rank is None or shape[0] is None else shape[0] + 1
        splits = [TensorSpec([split_count if level == 0 else None], self._splits_dtype) for level in range(ragged_rank)]
        return [TensorSpec(flat_shape, self._dtype), *splits]

    def _to_components(self, value: object) -> list[Any]:
        return [value.flat_values, *value.nested_row_splits] if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, components: Any) -> Any:
        result = components[0]
        for level in reversed(range(self._ragged_rank)):
            uniform_length = None if self._shape.rank is None else self._shape[level + 1]
            result = _make_unchecked(result, components[1 + level], uniform_length)
        return result

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self._shape[1:], self._dtype, max(self._ragged_rank - 1, 0), self._splits_dtype)

    def _rows(self, value: Any) -> list[Any]:
        if not isinstance(value, RaggedTensor):
            return list(value)
        splits = value.row_splits.numpy().tolist()  # type: ignore[attr-defined]
        return [value.values[begin:end] for begin, end in itertools.pairwise(splits)]

    def _stack_values(self, values: Sequence[Any]) -> RaggedTensor:
        ragged_values = [CONVERSIONS("to_rank", value, self._ragged_rank, self._splits_dtype) for value in values]
        row_counts = [int(partitions.count_rows(value).numpy()) for value in ragged_values]  # type: ignore[attr-defined]
        splits = np.cumsum([0, *row_counts]).astype(self._splits_dtype.numpy)
        return RaggedTensor(CONVERSIONS("concat_rows", ragged_values), splits, _static_row_length(self._shape))


def _static_row_length(shape: TensorShape) -> int | None:
    """Return the length of the rows in a stack of tensors of this shape, None if it is not static."""
    return shape[0] if shape.rank else None


def _make_unchecked(values: RaggedLike, splits: Any, uniform_length: int | None) -> RaggedTensor:
    """Return a ragged tensor without checks: values and splits may be other objects than tensors, such as None."""
    result = RaggedTensor.__new__(RaggedTensor)
    result._values, result._row_splits, result._uniform_row_length = values, splits, uniform_length
    result._nrows = _count_rows(splits.shape[0]) if isinstance(splits, Tensor) and splits.shape.rank == 1 else None
    return result


def _count_rows(split_count: int | None) -> int | None:
    """Return the number of rows that have `split_count` row splits, None for None."""
    return None if split_count is None else split_count - 1
