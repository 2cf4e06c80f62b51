"""Reads and writes of rows and elements by index arrays: gather, ungather, gather_nd, scatter_nd.

Indices out of range raise InvalidArgumentError; negative ones are out of range, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import Shape, TensorType, are_shapes_compatible, shape_text
from autoconv.ops.movement.constants import static_shape
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import normalised_axis
from autoconv.ops.traits import Indexing, Scatter, SizeOperand

_X = np.arange(12.0).reshape(3, 4) / 4
_BATCH = np.arange(24.0).reshape(2, 3, 4) / 8


def check_indices(indices: Any, size: int, name: str = "indices") -> None:
    """Raise InvalidArgumentError with the first index that is not in [0, size)."""
    is_outside = (indices < 0) | (indices >= size)
    if np.any(is_outside):
        position = np.argwhere(is_outside)[0]
        position_text = f"[{','.join(map(str, position))}]" if len(position) else ""
        index = np.asarray(indices)[tuple(position)]
        raise InvalidArgumentError(f"{name}{position_text} = {index} is not in [0, {size})")


def _check_integer_indices(op: str, indices: TensorType) -> None:
    """Raise TypeError unless the indices are integers."""
    if not indices.dtype.is_integer:
        raise TypeError(f"{op}: the indices have to be integers, found {indices.dtype.name}")


# ---- rows along one axis


def _gather_type(
    params: TensorType, indices: TensorType, *, axis: int = 0, batch_dims: int = 0
) -> TensorType:
    """Return the type of `params` with the axis replaced by the dimensions of the indices after `batch_dims`."""
    _check_integer_indices("gather", indices)
    if params.shape is None or indices.shape is None:
        return params.with_shape(None)
    if not params.shape:
        raise ValueError("gather takes params of one or more dimensions, found a scalar")
    resolved_axis = normalised_axis(axis, len(params.shape))
    if batch_dims > resolved_axis:
        raise ValueError(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    if batch_dims > len(indices.shape):
        raise ValueError(
            f"gather: indices has {len(indices.shape)} dimensions, fewer than batch_dims {batch_dims}"
        )
    if not are_shapes_compatible(params.shape[:batch_dims], indices.shape[:batch_dims]):
        raise ValueError(
            f"gather: the batch dimensions of the shapes [{shape_text(params.shape)}] and "
            f"[{shape_text(indices.shape)}] differ"
        )
    before, after = params.shape[:resolved_axis], params.shape[resolved_axis + 1 :]
    return params.with_shape((*before, *indices.shape[batch_dims:], *after))


def _batch_index(params: Any, indices: Any, resolved_axis: int, batch_dims: int) -> tuple[Any, tuple[Any, ...]]:
    """Return `params` with the axis moved next to the batch dimensions, and NumPy's index of the rows in the result."""
    moved_params = np.moveaxis(params, resolved_axis, batch_dims)
    trailing_rank = np.ndim(indices) - batch_dims
    batch_positions = [  # broadcast against `indices`: each index selects a row of its own batch element
        np.arange(size).reshape([-1 if i == j else 1 for j in range(batch_dims)] + [1] * trailing_rank)
        for i, size in enumerate(np.shape(indices)[:batch_dims])
    ]
    return moved_params, (*batch_positions, indices)


def _gather(params: Any, indices: Any, *, axis: int = 0, batch_dims: int = 0) -> Any:
    """Return the rows along the axis at the indices; params and indices share the first `batch_dims` dimensions."""
    resolved_axis = normalised_axis(axis, np.ndim(params))
    indices = np.asarray(indices)
    check_indices(indices, np.shape(params)[resolved_axis])
    if not batch_dims:
        return np.take(params, indices, resolved_axis)
    if np.shape(params)[:batch_dims] != indices.shape[:batch_dims]:
        raise InvalidArgumentError(
            f"gather: the batch dimensions of {list(np.shape(params))} and {list(indices.shape)} differ"
        )
    moved_params, index = _batch_index(params, indices, resolved_axis, batch_dims)
    rows = moved_params[index]  # dimensions: batch, indices, those between batch and axis, those after the axis
    between_count = resolved_axis - batch_dims
    source_axes = range(indices.ndim, indices.ndim + between_count)
    return np.moveaxis(rows, tuple(source_axes), tuple(range(batch_dims, resolved_axis)))


def _ungather(x: Any, indices: Any, like: Any, *, axis: int = 0, batch_dims: int = 0) -> Any:
    """Add the rows of `x` at the indices to zeros of the shape of `like`, the adjoint of gather."""
    result = np.zeros(np.shape(like), np.asarray(x).dtype)
    resolved_axis = axis % result.ndim
    indices = np.asarray(indices)
    check_indices(indices, result.shape[resolved_axis])
    moved_result, index = _batch_index(result, indices, resolved_axis, batch_dims)
    rows = np.moveaxis(
        x,
        tuple(range(batch_dims, resolved_axis)),
        tuple(range(indices.ndim, indices.ndim + resolved_axis - batch_dims)),
    )
    np.add.at(moved_result, index, rows)
    return result


def _gather_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    params, indices = inputs
    return b.ungather(cotangents[0], indices, params, **attributes), None


def _ungather_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return b.gather(cotangents[0], inputs[1], **attributes), None, None


_INDICES = np.array([[2, 0], [2, 1]], np.int32)
gather = define(
    name="gather", graphdef="GatherV2", result=_gather_type, kernel=_gather, gradient=_gather_gradient,
    effects=Effects.RAISE, indexing=Indexing("rows"),
    samples=(
        sample(_X, _INDICES, axis=0), sample(_X, np.array(1), axis=-1), sample(_BATCH, _INDICES, axis=2, batch_dims=1),
        sample(_BATCH, _INDICES, axis=-2, batch_dims=1),
    ),
)  # fmt: skip
ungather = define(
    name="ungather", graphdef="UnsortedSegmentSum",
    result=lambda x, indices, like, **_: x.with_shape(like.shape), kernel=_ungather,
    gradient=_ungather_gradient,
    samples=(
        sample(np.arange(16.0).reshape(2, 2, 4), _INDICES, _X, axis=0, differentiable=(0,)),
        sample(np.arange(12.0).reshape(2, 3, 2), _INDICES, _BATCH, axis=2, batch_dims=1, differentiable=(0,)),
    ),
    shape_only=(2,), indexing=Indexing("rows"), scatter=Scatter(0),
)  # fmt: skip


# ---- elements and slices, by vectors of coordinates


def _coordinate_count(op: str, indices: TensorType) -> int | None:
    """Return the number of coordinates in each index vector, the size of the last dimension; None if it is open."""
    _check_integer_indices(op, indices)
    if indices.shape is None:
        return None
    if not indices.shape:
        raise ValueError(f"{op}: the indices have to have one or more dimensions, found a scalar")
    return indices.shape[-1] if isinstance(indices.shape[-1], int) else None


def _gather_nd_type(params: TensorType, indices: TensorType, *, batch_dims: int = 0) -> TensorType:
    """Return the type of the rows at the index vectors; raise ValueError if the vectors are longer than the rank."""
    coordinate_count = _coordinate_count("gather_nd", indices)
    if params.shape is None or coordinate_count is None:
        return params.with_shape(None)
    if coordinate_count + batch_dims > len(params.shape):
        raise ValueError(
            f"index innermost dimension length must be <= params rank; saw: {coordinate_count} vs. {params.rank}"
        )
    return params.with_shape((*(indices.shape or ())[:-1], *params.shape[batch_dims + coordinate_count :]))


def _coordinates(indices: Any, shape: tuple[int, ...], batch_dims: int = 0) -> tuple[Any, ...]:
    """Return NumPy's index for the coordinate vectors in `indices`, into an array of the shape."""
    indices = np.asarray(indices)
    coordinate_count = indices.shape[-1]
    if coordinate_count + batch_dims > len(shape):
        raise InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {coordinate_count} vs. {len(shape)}"
        )
    is_outside = (indices < 0) | (indices >= np.array(shape[batch_dims : batch_dims + coordinate_count], np.int64))
    if np.any(is_outside):
        position = np.argwhere(is_outside)[0][:-1]
        coordinates = ", ".join(map(str, indices[tuple(position)]))
        raise InvalidArgumentError(
            f"indices[{','.join(map(str, position))}] = [{coordinates}] does not index into shape {list(shape)}"
        )
    leading_rank = indices.ndim - 1
    batch_positions = [
        np.arange(size).reshape([-1 if i == j else 1 for j in range(leading_rank)])
        for i, size in enumerate(indices.shape[:batch_dims])
    ]
    return (*batch_positions, *np.moveaxis(indices, -1, 0))


def _select_elements(x: Any, index: tuple[Any, ...], leading_shape: tuple[int, ...]) -> Any:
    """Return x[index]; if the index vectors have no coordinates, each of them selects all of x."""
    return x[index] if index else np.broadcast_to(x, leading_shape + np.shape(x))


def _gather_nd(params: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    return _select_elements(params, _coordinates(indices, np.shape(params), batch_dims), np.shape(indices)[:-1])


def _scatter_type(
    indices: TensorType, updates: TensorType, shape_vector: TensorType | None = None,
    *, shape: tuple[int | None, ...] | None,
) -> TensorType:  # fmt: skip
    """Return the type of `updates` in the requested shape; raise if the updates' shape does not fit."""
    result = static_shape("scatter_nd", shape, shape_vector)
    _check_updates("scatter_nd", result, indices, updates)
    return updates.with_shape(result)


def _check_updates(op: str, shape: Shape, indices: TensorType, updates: TensorType) -> None:
    """Raise ValueError unless the updates have the shape of the elements at the indices."""
    coordinate_count = _coordinate_count(op, indices)
    if shape is None or coordinate_count is None or indices.shape is None:
        return
    if coordinate_count > len(shape):
        raise ValueError(f"{op}: the indices have {coordinate_count} coordinates, the tensor {len(shape)} dimensions")
    expected_shape = (*indices.shape[:-1], *shape[coordinate_count:])
    if not are_shapes_compatible(updates.shape, expected_shape):
        raise ValueError(
            f"{op}: the shape of the updates has to be [{shape_text(expected_shape)}], found "
            f"[{shape_text(updates.shape)}]"
        )


def _combine_at(result: Any, indices: Any, updates: Any, ufunc: Any, batch_dims: int = 0) -> Any:
    """Combine the updates with the elements of `result` by `ufunc`, in place; with None they replace the elements."""
    index = _coordinates(indices, result.shape, batch_dims)
    expected_shape = np.shape(indices)[:-1] + result.shape[batch_dims + np.shape(indices)[-1] :]
    if np.shape(updates) != expected_shape:
        raise InvalidArgumentError(
            f"the updates have to be of shape {list(expected_shape)}, found {list(np.shape(updates))}"
        )
    if not index:
        for update in np.reshape(updates, (-1, *result.shape)):
            result[...] = update if ufunc is None else ufunc(result, update)
    elif ufunc is None:
        # NumPy would store a scalar array of strings itself as an object.
        result[index] = updates if np.ndim(updates) else np.asarray(updates)[()]
    else:
        ufunc.at(result, index, updates)
    return result


def _scatter_nd(indices: Any, updates: Any, shape_vector: Any = None, *, shape: Any) -> Any:
    """Add the updates at the index vectors to zeros of the shape; bools are combined by `or`, strings are joined."""
    sizes = tuple(int(size) for size in (shape if shape_vector is None else shape_vector))
    updates = np.asarray(updates)
    initial_elements = np.full(sizes, b"", object) if updates.dtype == object else np.zeros(sizes, updates.dtype)
    return _combine_at(initial_elements, indices, updates, np.logical_or if updates.dtype == bool else np.add)


def _scatter_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return None, b.gather_nd(cotangents[0], inputs[0], batch_dims=0), *(None for _ in inputs[2:])


def _gather_nd_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    params, indices = inputs
    return b.ungather_nd(cotangents[0], indices, params, batch_dims=attributes.get("batch_dims", 0)), None


def _ungather_nd(x: Any, indices: Any, like: Any, *, batch_dims: int = 0) -> Any:
    """Add x at the index vectors to zeros of the shape of `like`: the adjoint of `gather_nd`."""
    return _combine_at(np.zeros(np.shape(like), np.asarray(x).dtype), indices, x, np.add, batch_dims)


def _ungather_nd_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return b.gather_nd(cotangents[0], inputs[1], batch_dims=attributes.get("batch_dims", 0)), None, None


_VECTORS = np.array([[2, 1], [0, 3], [2, 1]], np.int32)
_ROWS = np.array([[2], [0]], np.int64)
gather_nd = define(
    name="gather_nd", graphdef="GatherNd", result=_gather_nd_type, kernel=_gather_nd,
    effects=Effects.RAISE,
    gradient=_gather_nd_gradient,
    samples=(
        sample(_X, _VECTORS), sample(_X, _ROWS), sample(_BATCH, np.array([[[2], [0]], [[1], [1]]]), batch_dims=1),
        sample(_X, np.zeros((2, 0), np.int32)),
    ),
    may_alias=True, indexing=Indexing("vectors"),
)  # fmt: skip
ungather_nd = define(
    name="ungather_nd", graphdef="ScatterNd",
    result=lambda x, indices, like, **_: x.with_shape(like.shape), kernel=_ungather_nd,
    gradient=_ungather_nd_gradient,
    samples=(sample(np.array([1.5, 2.5, 0.5]), _VECTORS, _X, differentiable=(0,)),),
    shape_only=(2,), indexing=Indexing("vectors"), scatter=Scatter(0),
)  # fmt: skip
scatter_nd = define(
    name="scatter_nd", graphdef="ScatterNd", result=_scatter_type, kernel=_scatter_nd,
    effects=Effects.RAISE,
    gradient=_scatter_gradient,
    samples=(
        sample(_VECTORS, np.array([1.5, 2.5, 0.5]), shape=(3, 4)),
        sample(_ROWS, _X[:2], np.array([3, 4]), shape=(None, 4)),
    ),
    sizes=SizeOperand("shape", 2), indexing=Indexing("vectors", 0), scatter=Scatter(1),
)  # fmt: skip


def _tensor_scatter_type(tensor: TensorType, indices: TensorType, updates: TensorType) -> TensorType:
    if tensor.dtype is not updates.dtype:
        raise TypeError(f"the tensor is {tensor.dtype.name}, the updates are {updates.dtype.name}")
    _check_updates("tensor_scatter_nd", tensor.shape, indices, updates)
    return tensor


def _define_tensor_scatter(name: str, graphdef: str, ufunc: Any, combine: str | None, gradient: Any) -> Any:
    """Define the op that combines updates with elements by `ufunc`, or replaces the elements if `ufunc` is None.

    `combine` is the name of the ufunc's op in the traits.
    """

    def kernel(tensor: Any, indices: Any, updates: Any) -> Any:
        return _combine_at(np.array(tensor), indices, np.asarray(updates), ufunc)

    return define(
        name=name, graphdef=graphdef, result=_tensor_scatter_type, kernel=kernel, gradient=gradient,
        unify=(0, 2), effects=Effects.RAISE, indexing=Indexing("vectors"), scatter=Scatter(2, combine, base=0),
        samples=(
            sample(_X, _VECTORS, np.array([9.5, -2.5, 0.75])),
            sample(_X, _ROWS, np.array([[9.0, -9.0, 8.0, -8.0], [-1.0, 7.0, 0.25, 6.0]])),
        ),
    )  # fmt: skip


def _update_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent of the tensor, zero at the indices, and of the updates, zero for overwritten ones."""
    (cotangent,), (tensor, indices, updates) = cotangents, inputs
    # The updates are numbered and written: an element then holds the number of its last update.
    zero, one = (b.constant(value=np.array(number, np.int64)) for number in (0, 1))
    update_numbers = b.reshape_like(b.range(zero, b.size(updates, dtype=int64), one), updates)
    last_writers = b.tensor_scatter_nd_update(b.zeros_like(tensor, dtype=int64), indices, update_numbers)
    is_last = b.equal(b.gather_nd(last_writers, indices, batch_dims=0), update_numbers)
    written_cotangent = b.gather_nd(cotangent, indices, batch_dims=0)
    return (
        b.tensor_scatter_nd_update(cotangent, indices, b.zeros_like(updates)),
        None,
        b.select(is_last, written_cotangent, b.zeros_like(written_cotangent)),
    )


def _add_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return cotangents[0], None, b.gather_nd(cotangents[0], inputs[1], batch_dims=0)


def _subtract_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return cotangents[0], None, b.negative(b.gather_nd(cotangents[0], inputs[1], batch_dims=0))


def _extreme_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Distribute the cotangent of each element of the result evenly over the operands that equal the element."""
    (cotangent,), (tensor, indices, updates), (result,) = cotangents, inputs, results

    def indicator(condition: Any, like: Any) -> Any:
        return b.select(condition, b.ones_like(like), b.zeros_like(like))

    is_from_tensor = indicator(b.equal(tensor, result), tensor)
    is_from_update = indicator(b.equal(updates, b.gather_nd(result, indices, batch_dims=0)), updates)
    share = b.divide(cotangent, b.tensor_scatter_nd_add(is_from_tensor, indices, is_from_update))
    updates_share = b.gather_nd(share, indices, batch_dims=0)
    return b.multiply(share, is_from_tensor), None, b.multiply(is_from_update, updates_share)


_define_tensor_scatter("tensor_scatter_nd_update", "TensorScatterUpdate", None, None, _update_gradient)
_define_tensor_scatter("tensor_scatter_nd_add", "TensorScatterAdd", np.add, "add", _add_gradient)
_define_tensor_scatter("tensor_scatter_nd_sub", "TensorScatterSub", np.subtract, "subtract", _subtract_gradient)
_define_tensor_scatter("tensor_scatter_nd_min", "TensorScatterMin", np.minimum, "minimum", _extreme_gradient)
_define_tensor_scatter("tensor_scatter_nd_max", "TensorScatterMax", np.maximum, "maximum", _extreme_gradient)
