"""Sorting, top-k, unique elements, and binary search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, int32
from autoconv.graph.effects import Effects
from autoconv.graph.types import Shape, TensorType, are_shapes_compatible, shape_text
from autoconv.ops.movement.gather import check_indices
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import check_axis_of, normalised_axis
from autoconv.ops.traits import Indexing, Scatter

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_INTEGERS = np.array([3, 1, 3, 2, 1], np.int32)
_COMPLEX = np.array([0.5 + 2j, -1.5 - 1j, 1.25 - 0.75j])
_NAMES = np.array([b"b", b"a", b"b"], object)


def _sort_rule(name: str, dtype: DType | None = None) -> Callable[..., TensorType]:
    """Return the type rule of the op `name`, whose result has the dtype `dtype`, or by default that of x."""

    def rule(x: TensorType, *, axis: int = -1, **_: Any) -> TensorType:
        if x.dtype.is_string:
            raise TypeError(f"{name} takes tensors of numbers, found {x.dtype.name}")
        check_axis_of(name, x, axis)
        return x if dtype is None else x.with_dtype(dtype)

    return rule


def _stable_order(x: Any, axis: int, descending: bool) -> Any:
    """Return the positions of the sorted elements; of equal elements the earlier one comes first in either order.

    Complex numbers are compared by their real parts, and then by their imaginary ones.
    """
    if not -x.ndim <= axis < x.ndim:
        raise InvalidArgumentError(f"axis {axis} is out of range for a tensor of {x.ndim} dimensions")
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    order_of_flipped = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - order_of_flipped, axis)


def _sort(x: Any, *, axis: int = -1, descending: bool = False) -> Any:
    return np.take_along_axis(x, _stable_order(x, axis, descending), axis)


def _argsort(x: Any, *, axis: int = -1, descending: bool = False) -> Any:
    return _stable_order(x, axis, descending).astype(np.int32)


def _sort_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    axis = attributes.get("axis", -1)
    source_positions = b.argsort(inputs[0], **attributes)
    return (b.take_along_axis(cotangents[0], b.argsort(source_positions, axis=axis, descending=False), axis=axis),)


def _top_k_type(x: TensorType, count: TensorType | None = None, *, k: int | None = None, **_: Any) -> Any:
    """Return the types of the values and of their positions."""
    if x.dtype.is_complex or x.dtype.is_string:
        raise TypeError(f"top_k takes real tensors, found {x.dtype.name}")
    if count is None and (k is None or k < 0):
        raise ValueError(f"top_k: Need k >= 0, got {k}")
    shape: Shape = None
    if x.shape is not None:
        if not x.shape:
            raise ValueError("top_k: input must be >= 1-D, found a scalar")
        last_size = x.shape[-1]
        if isinstance(last_size, int) and k is not None and last_size < k:
            raise ValueError(f"top_k: input must have last dimension >= k = {k} but is {last_size}")
        shape = (*x.shape[:-1], k)
    return TensorType(x.dtype, shape), TensorType(int32, shape)


def _top_k(x: Any, count: Any = None, *, k: int | None = None) -> Any:
    result_count = int(k or 0) if count is None else int(count)
    if not 0 <= result_count <= x.shape[-1]:
        raise InvalidArgumentError(f"input must have at least k columns. Had {x.shape[-1]}, needed {result_count}")
    indices = _stable_order(x, axis=-1, descending=True)[..., :result_count]
    return np.take_along_axis(x, indices, -1), indices.astype(np.int32)


def _top_k_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    cotangents_of_k = (None,) * (len(inputs) - 1)
    if cotangents[0] is None:
        return (None, *cotangents_of_k)
    return (b.add_along_axis(cotangents[0], results[1], inputs[0], axis=-1), *cotangents_of_k)


def _along_type(x: TensorType, indices: TensorType, *like: TensorType, axis: int) -> TensorType:
    """Return the type of `take_along_axis`; raise an error for invalid operands.

    `add_along_axis` calls it for the errors only, with its third operand `like`.
    """
    if not indices.dtype.is_integer:
        raise TypeError(f"indices have to be integers, found {indices.dtype.name}")
    if x.shape is None or indices.shape is None:
        return x.with_shape(None if like else indices.shape)
    if len(x.shape) != len(indices.shape):
        raise ValueError(
            f"indices have to be of the rank of what they index, found [{shape_text(indices.shape)}] for "
            f"[{shape_text(x.shape)}]"
        )
    resolved_axis = normalised_axis(axis, len(x.shape))
    pairs = enumerate(zip(x.shape, indices.shape, strict=True))
    if any(i != resolved_axis and not are_shapes_compatible((size,), (index_size,)) for i, (size, index_size) in pairs):
        raise ValueError(f"{x} and indices of [{shape_text(indices.shape)}] differ beside axis {axis}")
    return x.with_shape(indices.shape)


def _take_along(x: Any, indices: Any, *, axis: int) -> Any:
    check_indices(indices, x.shape[axis])
    return np.take_along_axis(x, indices, axis)


def _take_along_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return b.add_along_axis(cotangents[0], inputs[1], inputs[0], **attributes), None


def _add_along_type(updates: TensorType, indices: TensorType, like: TensorType, *, axis: int) -> TensorType:
    _along_type(updates, indices, like, axis=axis)
    return updates.with_shape(like.shape)


def _add_along(updates: Any, indices: Any, like: Any, *, axis: int) -> Any:
    """Add the updates at the indices along the axis to zeros like `like`: the adjoint of `take_along_axis`."""
    result = np.zeros(np.shape(like), updates.dtype)
    check_indices(indices, result.shape[axis])
    target_index: list[Any] = list(np.ogrid[tuple(map(slice, indices.shape))])
    target_index[axis] = indices
    np.add.at(result, tuple(target_index), updates)
    return result


def _add_along_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return b.take_along_axis(cotangents[0], inputs[1], **attributes), None, None


def _unique_type(x: TensorType, *, dtype: DType = int32) -> Any:
    if not are_shapes_compatible(x.shape, (None,)):
        raise ValueError(f"unique expects a 1D vector, found {x}")
    length = x.shape[0] if x.shape is not None else None
    return TensorType(x.dtype, (None,)), TensorType(dtype, (length,)), TensorType(dtype, (None,))


def _unique(x: Any, *, dtype: DType = int32) -> Any:
    """Return the unique elements in order of first occurrence, the position in them of each element, and counts."""
    if np.ndim(x) != 1:
        raise InvalidArgumentError("unique expects a 1D vector.")
    numbers = np.asarray(x, np.float32) if x.dtype.kind == "V" else x  # NumPy cannot sort bfloat16 with nan
    _, first_positions, inverse, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first_positions, kind="stable")
    result_positions = np.argsort(order, kind="stable")  # in the result, of each sorted unique element
    unique_elements = x[first_positions[order]]
    return unique_elements, result_positions[inverse].astype(dtype.numpy), counts[order].astype(dtype.numpy)


def _searchsorted_type(
    sequence: TensorType, values: TensorType, *, dtype: DType = int32, **_: Any
) -> TensorType:
    """Return the type of the positions, one for each value."""
    if sequence.dtype is not values.dtype:
        raise TypeError(f"searchsorted: {sequence.dtype.name} and {values.dtype.name} do not match")
    if sequence.shape is not None and not sequence.shape:
        raise ValueError("searchsorted: the sorted sequence needs a dimension, found a scalar")
    is_batched = sequence.shape is not None and values.shape is not None and len(sequence.shape) > 1
    if is_batched and not are_shapes_compatible(sequence.shape[:-1], values.shape[:-1]):  # type: ignore[index]
        raise ValueError(
            f"searchsorted: leading dimensions of [{shape_text(sequence.shape)}] and "
            f"[{shape_text(values.shape)}] must match"
        )
    return values.with_dtype(dtype)


def _searchsorted(sequence: Any, values: Any, *, side: str = "left", dtype: DType = int32) -> Any:
    """Return the positions of the values; each row of a batch has its own sorted sequence."""
    if sequence.ndim == 1:
        return np.asarray(np.searchsorted(sequence, values, side=side)).astype(dtype.numpy)  # type: ignore[call-overload]
    if sequence.shape[:-1] != values.shape[:-1]:
        raise InvalidArgumentError(
            f"Leading dim_size of both tensors must match: {list(sequence.shape)} and {list(values.shape)}"
        )
    row_count = int(np.prod(sequence.shape[:-1], dtype=np.int64))
    rows = zip(*(x.reshape(row_count, x.shape[-1]) for x in (sequence, values)), strict=True)
    positions = [np.searchsorted(row, row_values, side=side) for row, row_values in rows]  # type: ignore[call-overload]
    return np.array(positions, dtype.numpy).reshape(values.shape)


sort = define(
    name="sort", graphdef="Sort", result=_sort_rule("sort"), kernel=_sort, gradient=_sort_gradient,
    samples=(sample(_X, axis=-1, descending=False), sample(_X, axis=0, descending=True), sample(_COMPLEX, axis=0)),
)  # fmt: skip
argsort = define(
    name="argsort", graphdef="ArgSort", result=_sort_rule("argsort", int32), kernel=_argsort,
    gradient=no_gradient("the result is an index"),
    samples=(sample(_X, axis=-1, descending=False), sample(_INTEGERS, axis=0, descending=True)),
)  # fmt: skip
top_k = define(
    name="top_k", graphdef="TopKV2", result=_top_k_type, kernel=_top_k, gradient=_top_k_gradient,
    effects=Effects.RAISE, samples=(sample(_X, k=2), sample(_X, np.int32(2), k=None)),
)  # fmt: skip
take_along_axis = define(
    name="take_along_axis", graphdef="TakeAlongAxis", result=_along_type, kernel=_take_along,
    gradient=_take_along_gradient, effects=Effects.RAISE, indexing=Indexing("along"),
    samples=(sample(_X, np.array([[2, 0], [1, 1]]), axis=1), sample(_X, np.array([[1, 0, 1]]), axis=0)),
)  # fmt: skip
add_along_axis = define(
    name="add_along_axis", graphdef="AddAlongAxis", result=_add_along_type, kernel=_add_along,
    gradient=_add_along_gradient, effects=Effects.RAISE,
    samples=(sample(_X[:, :2], np.array([[2, 0], [1, 1]]), _X, axis=1, differentiable=(0,)),),
    shape_only=(2,), indexing=Indexing("along"), scatter=Scatter(0),
)  # fmt: skip
unique = define(
    name="unique", graphdef="UniqueWithCounts", result=_unique_type, kernel=_unique,
    gradient=no_gradient("which elements are distinct is not continuous"),
    samples=(sample(_INTEGERS, dtype=int32), sample(_NAMES, dtype=int32)),
)  # fmt: skip
searchsorted = define(
    name="searchsorted", graphdef="SearchSorted", result=_searchsorted_type, kernel=_searchsorted,
    unify=(0, 1), gradient=no_gradient("the result is an index"),
    samples=(
        sample(np.array([0.5, 1.0, 2.0]), np.array([[1.0, 3.0]]), side="left", dtype=int32),
        sample(np.array([[1, 2], [0, 9]]), np.array([[2], [5]]), side="right", dtype=int32),
    ),
)  # fmt: skip
