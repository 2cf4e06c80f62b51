"""Conversions between ragged, dense and sparse tensors, and bounding shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.factories import CONVERSIONS
from autoconv.api.ragged.joining import ragged_concat
from autoconv.api.ragged.rows import gather_ranges, value_coordinates
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.sparse.coordinates import true_rows
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import fill, zeros
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, tensor_scatter_nd_update, where
from autoconv.api.tensors.reductions import reduce_all, reduce_max
from autoconv.api.tensors.shaping import broadcast_to, concat, expand_dims, reshape, shape, stack
from autoconv.graph.dtypes import as_dtype, int32, int64
from autoconv.runtime.annotations import AxisLike, DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def from_tensor(
    tensor: TensorLike, lengths: Any, padding: TensorLike | None, ragged_rank: int, dtype: DTypeLike
) -> RaggedTensor:
    """Return the result of `RaggedTensor.from_tensor`; `dtype` is that of the row splits."""
    dense = convert_to_tensor(tensor)
    splits_dtype = as_dtype(dtype)
    if splits_dtype not in (int32, int64):
        raise ValueError(f"row_splits must be int32 or int64, found {splits_dtype.name}")
    rank = dense.shape.rank
    if rank is None:
        raise ValueError("from_tensor needs a tensor of known rank")
    if not 0 < ragged_rank < rank:
        raise ValueError(f"ragged_rank={ragged_rank} must be in [1, {rank}) for a tensor of shape {dense.shape}")
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    has_nested_lengths = isinstance(lengths, (list, tuple)) and lengths and all(map(_is_no_scalar, lengths))
    if has_nested_lengths:
        nested_lengths = [partitions.partition_tensor(row_lengths_of_level) for row_lengths_of_level in lengths]
        return RaggedTensor.from_nested_row_lengths(  # type: ignore[no-any-return]
            _values_within_lengths(dense, lengths, splits_dtype), nested_lengths
        )
    sizes = shape(dense, splits_dtype)
    row_count = _size_of_axis(dense, 0, sizes)
    if ragged_rank > 1:
        merged_values = _set_static_shape(_merge_outer_dimensions(dense, sizes), [None, *dense.shape[2:]])
        rows = from_tensor(merged_values, lengths, padding, ragged_rank - 1, splits_dtype)
        length = _size_of_axis(dense, 1, sizes)
        return RaggedTensor.from_uniform_row_length(rows, length, row_count, validate=False)
    flat_values = _set_static_shape(
        _merge_outer_dimensions(dense, sizes), [_product(dense.shape[0], dense.shape[1]), *dense.shape[2:]]
    )
    if lengths is None and padding is None:
        length = _size_of_axis(dense, 1, sizes)
        ragged = RaggedTensor.from_uniform_row_length(flat_values, length, row_count, validate=False)
        return RaggedTensor(ragged.values, cast(ragged.row_splits, splits_dtype), ragged._uniform_row_length)
    width = get_item(sizes, 1)
    if lengths is not None:
        given_lengths = cast(convert_to_tensor(lengths), splits_dtype)
        row_lengths = apply("minimum", apply("maximum", given_lengths, apply("zeros_like", given_lengths)), width)
    else:
        row_lengths = _lengths_without_padding(dense, padding, splits_dtype)
    begins = tensor_range(get_item(sizes, 0)) * width
    return gather_ranges(flat_values, begins, begins + row_lengths)


def _merge_outer_dimensions(dense: Tensor, sizes: Tensor) -> Tensor:
    """Return the tensor with its first two dimensions merged into one."""
    count = get_item(sizes, slice(0, 1)) * get_item(sizes, slice(1, 2))
    return reshape(dense, concat([count, get_item(sizes, slice(2, None))], 0))


def _is_no_scalar(value: RaggedLike) -> bool:
    """Return whether the value is a list, a tuple or a tensor with dimensions."""
    return isinstance(value, (list, tuple)) or getattr(value, "shape", ()) != ()


def _lengths_without_padding(dense: Tensor, padding: TensorLike | None, dtype: Any) -> Tensor:
    """Return the lengths of the rows without the elements equal to `padding` at their ends."""
    is_value = apply("not_equal", dense, convert_to_tensor(padding, dense.dtype))
    for axis in range((dense.shape.rank or 2) - 1, 1, -1):
        is_value = apply("reduce_any", is_value, axis=(axis,), keepdims=False)
    end_positions = tensor_range(get_item(shape(dense, dtype), 1)) + 1
    ends = where(is_value, end_positions, apply("zeros_like", end_positions))
    # The column of zeros is the maximum of rows without elements.
    return reduce_max(concat([zeros(stack([get_item(shape(dense, dtype), 0), 1]), ends.dtype), ends], 1), axis=1)


def _values_within_lengths(dense: Tensor, lengths: Sequence[Any], dtype: Any) -> Tensor:
    """Return the flat values of a dense tensor whose indices are within the nested row lengths."""
    rows = from_tensor(dense, lengths[0], padding=None, ragged_rank=1, dtype=dtype)
    values: Any = rows.values
    for row_lengths in lengths[1:]:
        values = from_tensor(values, row_lengths, padding=None, ragged_rank=1, dtype=dtype).values
    return values  # type: ignore[no-any-return]


def _size_of_axis(dense: Tensor, axis: int, sizes: Tensor) -> Any:
    """Return the size of an axis: an int, or an element of `sizes` if it is known at run time only."""
    static_size = dense.shape[axis]
    return get_item(sizes, axis) if static_size is None else static_size


def _product(first: int | None, second: int | None) -> int | None:
    """Return the product of two sizes; None if one is not known."""
    return None if first is None or second is None else first * second


def _set_static_shape(tensor: Tensor, sizes: Sequence[int | None]) -> Tensor:
    """Return the tensor, in a graph with the static shape `sizes`."""
    if current_region() is not None:
        tensor.set_shape(TensorShape(sizes))  # type: ignore[attr-defined]
    return tensor


def from_sparse(value: SparseTensor, dtype: DTypeLike) -> RaggedTensor:
    """Return the result of `RaggedTensor.from_sparse`; `dtype` is that of the row splits."""
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(value).__name__}.")
    if value.shape.rank not in (2, None):
        raise ValueError(f"rank(st_input) must be 2, found the shape {value.shape}")
    rows = cast(get_item(value.indices, (slice(None), 0)), dtype)
    result = RaggedTensor.from_value_rowids(
        value.values, rows, cast(get_item(value.dense_shape, 0), dtype), validate=False
    )
    columns = cast(get_item(value.indices, (slice(None), 1)), dtype)
    is_right_ragged = apply("equal", partitions.positions_in_rows(result), columns)
    partitions.require(reduce_all(is_right_ragged), "SparseTensor is not right-ragged: values have to begin their rows")
    row_count = value.shape[0] if value.shape.rank else None
    if row_count is not None and result.row_splits.shape[0] is None and current_region() is not None:
        result.row_splits.set_shape([row_count + 1])  # type: ignore[attr-defined]
        return RaggedTensor(result.values, result.row_splits)
    return result


def uniform_lengths(rows: RaggedTensor, axis: int) -> Any:
    """Return the lengths along `axis`, a uniform dimension of the values, for all rows, as a ragged tensor."""
    values = rows.values
    size = get_item(shape(values, rows.row_splits.dtype), axis - 1)
    return rows.with_values(fill(get_item(shape(values), slice(0, axis - 1)), size))


def bounding_shape(rows: RaggedTensor, axis: AxisLike, out_type: DTypeLike | None) -> Tensor:
    """Return the result of `RaggedTensor.bounding_shape`."""
    dtype = as_dtype(out_type) if out_type is not None else rows.row_splits.dtype
    if isinstance(axis, int):
        rank = rows.shape.rank or 0
        axis = axis + rank if axis < 0 else axis
        return cast(rows.nrows(), dtype) if axis == 0 else cast(get_item(_bounding_sizes(rows), axis), dtype)
    result = cast(_bounding_sizes(rows), dtype)
    return result if axis is None else gather(result, convert_to_tensor(axis))


def _bounding_sizes(rows: RaggedTensor) -> Tensor:
    """Return the sizes of the smallest dense tensor that holds the rows."""
    sizes: list[Any] = [expand_dims(rows.nrows(), 0)]
    values: Any = rows
    while isinstance(values, RaggedTensor):
        lengths = partitions.lengths(values)
        max_length = reduce_max(concat([zeros([1], lengths.dtype), lengths], 0))
        uniform = values._uniform_row_length
        size = max_length if uniform is None else convert_to_tensor(np.array(uniform, lengths.dtype.numpy))
        sizes.append(expand_dims(cast(size, rows.row_splits.dtype), 0))
        values = values.values
    return concat([*sizes, get_item(shape(values, rows.row_splits.dtype), slice(1, None))], 0)


def merge_dims(rows: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """Return the result of `RaggedTensor.merge_dims`."""
    rank = rows.shape.rank
    first, last = (axis + rank if axis < 0 and rank is not None else axis for axis in (outer_axis, inner_axis))
    if first > last:
        raise ValueError(f"Expected outer_axis ({first}) to be less than or equal to inner_axis ({last}).")
    return _merge_dimensions(rows, first, last)


def _merge_dimensions(rows: RaggedLike, first: int, last: int) -> Any:
    """Return the tensor, ragged or not, with the dimensions `first` to `last` merged into one."""
    if first == last:
        return rows
    if not isinstance(rows, RaggedTensor):
        sizes = shape(rows)
        new_sizes = [get_item(sizes, slice(0, first)), np.array([-1], np.int32), get_item(sizes, slice(last + 1, None))]
        return reshape(rows, concat(new_sizes, 0))
    if first > 1:
        return rows.with_values(_merge_dimensions(rows.values, first - 1, last - 1))
    if first == 0:
        return rows.values if last == 1 else _merge_dimensions(rows.values, 0, last - 1)
    return _merge_inner(rows, last - 1)  # `first` is 1: the row splits have to change


def _merge_inner(rows: RaggedTensor, count: int) -> RaggedTensor:
    """Return the rows with their dimension 1 and the next `count` dimensions merged into one."""
    splits, values, length = rows.row_splits, rows.values, rows._uniform_row_length
    for _ in range(count):
        if isinstance(values, RaggedTensor):
            splits, length = gather(values.row_splits, splits), _product(length, values._uniform_row_length)
            values = values.values
        else:
            width = get_item(shape(values, splits.dtype), 1)
            splits, length = splits * width, _product(length, values.shape[1])
            values = _merge_dimensions(values, 0, 1)
    return RaggedTensor(values, splits, length)


def to_tensor(rows: RaggedTensor, default_value: TensorLike | None, padded_shape: ShapeLike | None) -> Tensor:
    """Return the result of `RaggedTensor.to_tensor`."""
    sizes = cast(_bounding_sizes(rows), int64)
    static_sizes = rows.shape.as_list()
    if padded_shape is not None:
        sizes, static_sizes = _apply_padded_shape(sizes, static_sizes, padded_shape)
    depth = rows.ragged_rank + 1
    indices = stack([cast(axis_coordinates, int64) for axis_coordinates in value_coordinates(rows)], 1)
    values = rows.flat_values
    if padded_shape is not None:
        rows_inside = true_rows(reduce_all(indices < get_item(sizes, slice(0, depth)), axis=1))
        indices, values = gather(indices, rows_inside), gather(values, rows_inside)
        values = _crop_to_sizes(values, sizes, depth)
    filler = convert_to_tensor(_default_filler(rows) if default_value is None else default_value, rows.dtype)
    padded_tensor = fill(sizes, filler) if filler.shape.rank == 0 else broadcast_to(filler, sizes)
    return _set_static_shape(tensor_scatter_nd_update(padded_tensor, indices, values), static_sizes)


def _crop_to_sizes(values: Tensor, sizes: Tensor, depth: int) -> Tensor:
    """Return the flat values cropped to the sizes after the first `depth` ones; smaller values are not padded."""
    for axis in range(1, values.shape.rank or 1):
        values = values[(*[slice(None)] * axis, slice(0, get_item(sizes, depth + axis - 1)))]
    return values


def _default_filler(rows: RaggedTensor) -> Any:
    """Return the zero of the dtype: an empty string, False or 0."""
    return "" if rows.dtype.is_string else False if rows.dtype.is_bool else np.zeros((), rows.dtype.numpy)


def _apply_padded_shape(
    sizes: Tensor, static_sizes: list[int | None], padded_shape: ShapeLike
) -> tuple[Tensor, list[int | None]]:
    """Return `sizes` and `static_sizes`, with those sizes that `padded_shape` gives in their place.

    `padded_shape` is static, a list with None and scalar tensors, or a tensor, in which -1 stands for None.
    """
    static_shape = padded_shape.as_list() if isinstance(padded_shape, TensorShape) else static_value(padded_shape)
    if static_shape is None and isinstance(padded_shape, (list, tuple)):
        requested: Any = list(padded_shape)
    elif static_shape is None:
        requested_sizes = cast(convert_to_tensor(padded_shape), int64)
        return where(requested_sizes < 0, sizes, requested_sizes), [None] * len(static_sizes)
    else:
        requested = [None if size is None or size < 0 else int(size) for size in static_shape]
    if len(requested) != len(static_sizes):
        raise ValueError(f"the shape {requested} has another number of dimensions than {static_sizes}")
    result_sizes = [
        get_item(sizes, i) if size is None else cast(convert_to_tensor(size), int64) for i, size in enumerate(requested)
    ]
    static_requested = [static_value(size) if size is not None else None for size in requested]
    return stack(result_sizes), [
        size if requested_size is None else int(requested_size)
        for requested_size, size in zip(static_requested, static_sizes, strict=True)
    ]


def to_sparse(rows: RaggedTensor) -> SparseTensor:
    """Return the result of `RaggedTensor.to_sparse`."""
    values, indices = rows.flat_values, [cast(axis_coordinates, int64) for axis_coordinates in value_coordinates(rows)]
    rank = values.shape.rank
    if rank is None:
        raise ValueError("the rank of a ragged tensor has to be known to make it sparse")
    if rank > 1:
        positions = where(apply("ones_like", cast(values, int64)))  # the coordinates of all elements
        row_numbers = get_item(positions, (slice(None), 0))
        indices = [gather(axis_coordinates, row_numbers) for axis_coordinates in indices]
        indices += [get_item(positions, (slice(None), axis)) for axis in range(1, rank)]
        values = reshape(values, [-1])
    result = SparseTensor(stack(indices, 1), values, cast(_bounding_sizes(rows), int64))
    result.set_shape(rows.shape)
    return result


def to_rank(value: Any, ragged_rank: int, dtype: DTypeLike) -> Any:
    """Return a dense tensor as a ragged one with `ragged_rank` ragged dimensions; a ragged one, or for 0, unchanged."""
    if isinstance(value, RaggedTensor) or ragged_rank == 0:
        return value
    return from_tensor(value, lengths=None, padding=None, ragged_rank=ragged_rank, dtype=dtype)


def concat_rows(values: Sequence[Any]) -> Any:
    """Return the concatenation of values along their first dimension."""
    return ragged_concat(values, 0)


_CONVERSION_BY_NAME: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        from_tensor,
        from_sparse,
        uniform_lengths,
        bounding_shape,
        merge_dims,
        to_tensor,
        to_sparse,
        to_rank,
        concat_rows,
    )
}
CONVERSIONS.set(lambda name, *arguments: _CONVERSION_BY_NAME[name](*arguments))
