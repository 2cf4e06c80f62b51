"""Sets: the distinct elements along the last dimension of tensors, or of sparse tensors."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import int32, int64
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

Groups = dict[tuple[int, ...], set[Any]]  # the set of each row, by its coordinates in all dimensions but the last


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in both sets, row by row, in ascending order.

    `a` and `b` are tensors or sparse tensors whose dimensions but the last agree. `validate_indices` has no effect.

    >>> autoconv.sparse.to_dense(autoconv.sets.intersection([[1, 2, 3]], [[3, 2, 7]])).numpy()
    array([[2, 3]], dtype=int32)
    """
    return _operation("intersection", a, b)


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in one of the sets or in both, row by row, in ascending order.

    `validate_indices` has no effect.

    >>> autoconv.sparse.to_dense(autoconv.sets.union([[1, 2]], [[2, 7]])).numpy()
    array([[1, 2, 7]], dtype=int32)
    """
    return _operation("union", a, b)


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of `a` that are not in `b`, row by row; without `aminusb`, those of `b` that are not in `a`.

    `validate_indices` has no effect.

    >>> autoconv.sparse.to_dense(autoconv.sets.difference([[1, 2]], [[2, 7]])).numpy()
    array([[1]], dtype=int32)
    """
    return _operation("difference", a, b) if aminusb else _operation("difference", b, a)


def size(a: Any, validate_indices: bool = True) -> Tensor:
    """The number of distinct elements in each row of a sparse tensor, int32.

    Raises TypeError for another tensor. `validate_indices` has no effect.

    >>> autoconv.sets.size(autoconv.sparse.from_dense([[5, 5], [5, 6]])).numpy()
    array([1, 2], dtype=int32)
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a!r}")
    spec = TensorSpec(None if a.shape.rank is None else a.shape.as_list()[:-1], int32)
    return numpy_function(SetSizes(), [a.indices, a.values, a.dense_shape], [spec], name="SetSize")[0]


def _operation(kind: str, first: Any, second: Any) -> SparseTensor:
    """Return the result of the method `kind` of Python's sets, row by row."""
    are_sparse = isinstance(first, SparseTensor), isinstance(second, SparseTensor)
    first, second = (x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in (first, second))
    if first.dtype is not second.dtype:
        raise TypeError(f"Types don't match, {first.dtype} vs {second.dtype}")
    arrays = [array for x in (first, second) for array in _component_arrays(x)]
    rank = first.shape.rank
    specs = [TensorSpec((None, rank), int64), TensorSpec((None,), first.dtype), TensorSpec((rank,), int64)]
    result = numpy_function(SetOperation(kind, *are_sparse), arrays, specs, name="SetOperation")
    return SparseTensor(*result)


def _component_arrays(operand: Any) -> tuple[Tensor, ...]:
    """Return the tensors of an operand: indices, values and shape of a sparse one."""
    return (operand.indices, operand.values, operand.dense_shape) if isinstance(operand, SparseTensor) else (operand,)


@attribute_class
@dataclass(frozen=True)
class SetOperation:
    """Apply the method `kind` of Python's sets to two operands, each an array, or indices, values and a shape."""

    graphdef_name: ClassVar = "SetOperation"
    kind: str
    first_is_sparse: bool
    second_is_sparse: bool

    def __call__(self, *arrays: Any) -> Any:
        remaining_arrays = iter(arrays)
        (first, group_shape), (second, other_shape) = (
            _sparse_groups(*itertools.islice(remaining_arrays, 3))
            if is_sparse
            else _dense_groups(next(remaining_arrays))
            for is_sparse in (self.first_is_sparse, self.second_is_sparse)
        )
        if group_shape != other_shape:
            raise InvalidArgumentError(f"Mismatched group shapes: {list(group_shape)} vs {list(other_shape)}")
        entries = []
        for coordinates in sorted({*first, *second}):
            elements: set[Any] = getattr(first.get(coordinates, set()), self.kind)(second.get(coordinates, set()))
            entries += [(coordinates, position, element) for position, element in enumerate(sorted(elements))]
        indices = np.array([(*coordinates, position) for coordinates, position, _ in entries], np.int64)
        dtype = arrays[1 if self.first_is_sparse else 0].dtype
        values = np.array([element for _, _, element in entries], dtype)
        max_size = 1 + max((position for _, position, _ in entries), default=-1)
        return indices.reshape(-1, len(group_shape) + 1), values, np.array([*group_shape, max_size], np.int64)


@attribute_class
@dataclass(frozen=True)
class SetSizes:
    """Return the number of distinct elements in each row of a sparse tensor, int32."""

    graphdef_name: ClassVar = "SetSize"

    def __call__(self, indices: Any, values: Any, shape: Any) -> Any:
        groups, group_shape = _sparse_groups(indices, values, shape)
        counts = np.zeros(group_shape, np.int32)
        for coordinates, elements in groups.items():
            counts[coordinates] = len(elements)
        return counts


def _sparse_groups(indices: Any, values: Any, shape: Any) -> tuple[Groups, tuple[int, ...]]:
    """Return the sets of the rows of a sparse tensor that are not empty, and its shape without the last dimension."""
    groups: Groups = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        groups.setdefault(tuple(index[:-1]), set()).add(value)
    return groups, tuple(shape.tolist()[:-1])


def _dense_groups(array: Any) -> tuple[Groups, tuple[int, ...]]:
    """Return the sets of the rows of an array, and its shape without the last dimension."""
    if array.ndim < 2:
        raise InvalidArgumentError(f"Input set needs at least two dimensions, found shape {list(array.shape)}")
    group_shape = array.shape[:-1]
    return {coordinates: set(array[coordinates].tolist()) for coordinates in np.ndindex(*group_shape)}, group_shape
