"""Sparse tensors: coordinates and values of the elements that are not zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.tensors.arguments import known_sizes
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import gather_nd
from autoconv.api.tensors.shaping import broadcast_to
from autoconv.graph.dtypes import DType, as_dtype, float32, int64
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.support.shape import TensorShape, TensorSpec, as_shape
from autoconv.runtime.support.type_spec import CompositeTensor, TypeSpec
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class SparseTensor(CompositeTensor):
    """A tensor that is given by the coordinates and values of its nonzero elements.

    `indices` has a row of coordinates for each of the `values`; it is int64, as is `dense_shape`. Most functions expect
    rows in row-major order, see `sparse.reorder`. Raises ValueError if the shapes of the three are inconsistent.

    >>> x = autoconv.SparseTensor(indices=[[0, 1], [1, 2]], values=[5.0, 6.0], dense_shape=[2, 3])
    >>> autoconv.sparse.to_dense(x * 2.0).numpy()
    array([[ 0., 10.,  0.],
           [ 0.,  0., 12.]], dtype=float32)
    """

    __module__ = "autoconv.tensorflow.python.framework.sparse_tensor"  # libraries test this name
    __autoconv_handlers__ = "autoconv.api.sparse.handlers"

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: ShapeLike) -> None:
        self._indices = _convert(indices, int64)
        self._values = convert_to_tensor(values)
        self._dense_shape = _convert(dense_shape, int64)
        indices_shape = self._indices.shape.with_rank(2)
        values_shape = self._values.shape.with_rank(1)
        sizes_shape = self._dense_shape.shape.with_rank(1)
        _require_equal(indices_shape[0], values_shape[0])
        _require_equal(indices_shape[1], sizes_shape[0])
        sizes = known_sizes(dense_shape)
        unknown_sizes = None if indices_shape[1] is None else (None,) * indices_shape[1]
        self._shape = TensorShape(unknown_sizes if sizes is None else sizes)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return a sparse tensor of anything with indices, values and a dense_shape."""
        if isinstance(sparse_tensor_value, cls):
            return sparse_tensor_value
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Merge another shape into the static one; raises ValueError if they are incompatible."""
        self._shape = self._shape.merge_with(shape)

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """Return a sparse tensor with other values at the same coordinates."""
        return _refine_shape(SparseTensor(self._indices, new_values, self._dense_shape), self._shape)

    def _printed_parts(self, summarize: int) -> tuple[Any, ...]:
        """Return the texts and tensors that `print` writes."""
        shape = self._dense_shape
        return "'SparseTensor(indices=", self._indices, ", values=", self._values, ", shape=", shape, ")'"

    def consumers(self) -> list[Any]:
        return []

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._shape, self.dtype)

    def __mul__(self, other: TensorLike) -> Any:
        return self._with_dense_operand("multiply", other)

    __rmul__ = __mul__

    def __truediv__(self, other: TensorLike) -> Any:
        return self._with_dense_operand("divide", other)

    def _with_dense_operand(self, op: str, other: TensorLike) -> Any:
        """Return the result of an op on the values and the elements of a dense tensor at the same coordinates.

        The dense tensor is broadcast to the shape of the sparse one.
        """
        if isinstance(other, CompositeTensor):
            return NotImplemented
        dense = convert_to_tensor(other, self.dtype) if as_tensor(other) is None else convert_to_tensor(other)
        if dense.shape.rank != 0:
            dense = gather_nd(broadcast_to(dense, self._dense_shape), self._indices)
        return self.with_values(apply(op, self._values, dense))

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __str__ = __repr__


class SparseTensorSpec(TypeSpec):
    """The type of a sparse tensor: its shape and dtype, but not the number of its values.

    >>> autoconv.SparseTensorSpec([None, 3], autoconv.int32).is_compatible_with(autoconv.sparse.eye(3, dtype="int32"))
    True
    """

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = float32) -> None:
        self._shape = TensorShape(as_shape(shape))
        self._dtype = as_dtype(dtype)

    @staticmethod
    def from_value(value: SparseTensor) -> SparseTensorSpec:
        """Return the spec of a sparse tensor."""
        return SparseTensorSpec(value.shape, value.dtype)

    @property
    def value_type(self) -> type:
        return SparseTensor

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self._dtype), TensorSpec([rank], int64)]

    def _to_components(self, value: Any) -> list[Tensor]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if not all(isinstance(component, Tensor) for component in components):
            return _make_unchecked(components)  # such as the gradients of the components, or their names
        return _refine_shape(SparseTensor(*components), self._shape)

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _rows(self, value: Any) -> list[SparseTensor]:
        indices, values, sizes = (tensor.numpy() for tensor in self._to_components(value))  # type: ignore[attr-defined]
        masks = [indices[:, 0] == row for row in range(int(sizes[0]))]
        return [SparseTensor(indices[mask, 1:], values[mask], sizes[1:]) for mask in masks]

    def _stack_values(self, values: Sequence[Any]) -> SparseTensor:
        """Return the batch of rows; each dimension has the largest of their sizes."""
        components = [
            [np.asarray(tensor.numpy()) for tensor in self._to_components(value)]  # type: ignore[attr-defined]
            for value in values
        ]
        indices = [
            np.concatenate([np.full((len(indices), 1), row, np.int64), indices], 1)
            for row, (indices, _, _) in enumerate(components)
        ]
        sizes = np.max([sizes for _, _, sizes in components], axis=0)
        batch_values = np.concatenate([values for _, values, _ in components])
        return SparseTensor(np.concatenate(indices), batch_values, np.array([len(components), *sizes], np.int64))


def _refine_shape(sparse: SparseTensor, shape: TensorShape) -> SparseTensor:
    """Merge a shape into the static one of a new sparse tensor if the two are compatible; return the tensor."""
    if sparse._shape.is_compatible_with(shape):
        sparse._shape = sparse._shape.merge_with(shape)
    return sparse


def _make_unchecked(components: Any) -> SparseTensor:
    """Return a sparse tensor of components that may be no tensors, such as names or None."""
    result = SparseTensor.__new__(SparseTensor)
    result._indices, result._values, result._dense_shape = components
    result._shape = TensorShape(None)
    return result


def _convert(value: TensorLike, dtype: DType) -> Tensor:
    """Return the value as a tensor of the dtype; elements of a list may be tensors."""
    tensor = as_tensor(value)
    if isinstance(value, (list, tuple)) and any(as_tensor(element) is not None for element in value):
        tensor = convert_to_tensor(value)  # packs the tensors among the elements
    return convert_to_tensor(value, dtype) if tensor is None else cast(tensor, dtype)


def _require_equal(first: int | None, second: int | None) -> None:
    """Raise ValueError for known sizes that differ."""
    if first is not None and second is not None and first != second:
        raise ValueError(f"Dimensions {first} and {second} are not compatible")


class NotSparseError(TypeError, AttributeError):
    """An argument is not sparse. TensorFlow raises a TypeError or an AttributeError, depending on the function."""


def sparse_argument(value: Any) -> SparseTensor:
    """Return the value as a SparseTensor if it has indices, values and a dense_shape; else raise NotSparseError."""
    if isinstance(value, SparseTensor):
        return value
    if all(hasattr(value, name) for name in ("indices", "values", "dense_shape")):
        return SparseTensor.from_value(value)
    class_name = type(value).__name__
    raise NotSparseError(f"Input must be a SparseTensor, found {class_name}: autoconv.sparse.from_dense makes one.")
