"""Handlers that public functions call for ragged tensors; each has the parameters of its function."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api import strings
from autoconv.api.elementwise import BINARY, UNARY
from autoconv.api.matrices.linalg import conj, matmul
from autoconv.api.nn import layers
from autoconv.api.ragged import construction, conversion, indexing, joining, partitions
from autoconv.api.ragged.broadcasting import elementwise, select
from autoconv.api.ragged.dynamic_shape import DynamicRaggedShape
from autoconv.api.ragged.partitions import require_same_rows
from autoconv.api.ragged.products import ragged_matmul
from autoconv.api.ragged.reductions import REDUCTIONS, ragged_cumsum, ragged_reduce, ragged_softmax, reduce_segments
from autoconv.api.ragged.rows import as_ragged, gather_rows, value_coordinates
from autoconv.api.ragged.tensor import OPERATORS, RaggedLike, RaggedTensor
from autoconv.api.random.dropout import dropout
from autoconv.api.sparse.conversion import to_dense
from autoconv.api.sparse.coordinates import true_rows
from autoconv.api.sparse.counting import bincount as sparse_bincount
from autoconv.api.sparse.counting import register_row_splitter
from autoconv.api.tensors import arithmetic, comparison, constants, segments, shaping
from autoconv.api.tensors.arguments import static_axes, static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import (
    dynamic_partition,
    gather,
    gather_nd,
    one_hot,
    unsorted_segment_sum,
    where,
)
from autoconv.api.tensors.maths import cumsum
from autoconv.graph.dtypes import int32, int64
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, TensorLike
from autoconv.runtime.recording.api_dispatch import handles, handles_each
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_HOOK_SETTERS = (conversion, indexing)  # imported because these modules set hooks of RaggedTensor
assert _HOOK_SETTERS


@handles_each(UNARY, composite=RaggedTensor)
def _unary(function: Callable[..., Any], x: RaggedTensor | None = None, *args: Any, **kwargs: Any) -> Any:
    if x is None:  # the operand was passed by its name, which differs between the functions
        name = next(name for name, value in kwargs.items() if isinstance(value, RaggedTensor))
        return kwargs[name].with_flat_values(function(**{**kwargs, name: kwargs[name].flat_values}))
    return x.with_flat_values(function(x.flat_values, *args, **kwargs))


@handles_each(BINARY, composite=RaggedTensor)
def _binary(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    named_operands = [value for name, value in kwargs.items() if name != "name"]
    return elementwise(function, *args[:2], *named_operands)  # a third positional argument is the parameter `name`


@handles_each(REDUCTIONS, composite=RaggedTensor)
def _reduction(function: Callable[..., Any], input_tensor: Any, *args: Any, **kwargs: Any) -> Any:
    return ragged_reduce(function, input_tensor, *args, **kwargs)


@handles(where, composite=RaggedTensor)
def _where(condition: RaggedTensor, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    if x is not None and y is not None:
        return select(condition, x, y)
    positions = apply("stack", *(cast(index, int64) for index in value_coordinates(condition)), axis=1)
    return gather(positions, true_rows(condition.flat_values))


@handles(shaping.shape, composite=RaggedTensor)
def _shape(input: RaggedTensor, out_type: DTypeLike | None = None, name: str | None = None) -> DynamicRaggedShape:
    return DynamicRaggedShape.from_tensor(input).with_dtype(int32 if out_type is None else out_type)


@handles(shaping.concat, composite=RaggedTensor)
def _concat(values: Sequence[Any], axis: AxisLike, name: str | None = None) -> Any:
    return joining.ragged_concat(values, axis)


@handles(shaping.stack, composite=RaggedTensor)
def _stack(values: Sequence[Any], axis: AxisLike = 0, name: str | None = None) -> Any:
    return joining.ragged_stack(values, axis)


@handles(shaping.split, composite=RaggedTensor)
def _split(
    value: RaggedTensor, num_or_size_splits: TensorLike, axis: AxisLike = 0, num: int | None = None,
    name: str | None = None,
) -> Any:
    return joining.ragged_split(value, num_or_size_splits, axis)


handles(shaping.expand_dims, composite=RaggedTensor)(joining.ragged_expand_dims)


@handles(shaping.squeeze, composite=RaggedTensor)
def _squeeze(input: RaggedTensor, axis: AxisLike | None = None, name: str | None = None) -> Any:
    if axis is None:
        raise ValueError("squeeze of a ragged tensor needs the axis")
    return joining.ragged_squeeze(input, _nonnegative_axes(input, axis))


@handles(shaping.reverse, composite=RaggedTensor)
def _reverse(tensor: RaggedTensor, axis: AxisLike, name: str | None = None) -> Any:
    return joining.ragged_reverse(tensor, _nonnegative_axes(tensor, axis))


def _nonnegative_axes(value: RaggedTensor | Tensor, axis: AxisLike) -> list[int]:
    """Return `axis`, an int or several, as a list of numbers from 0 on.

    Raises ValueError for a negative axis of a tensor of unknown rank.
    """
    rank = value.shape.rank
    axes = static_axes(axis) or ()
    if rank is None and any(number < 0 for number in axes):
        raise ValueError("a negative axis needs a tensor of known rank")
    return [number + rank if number < 0 else number for number in axes]  # type: ignore[operator]


@handles(shaping.tile, composite=RaggedTensor)
def _tile(input: RaggedTensor, multiples: TensorLike, name: str | None = None) -> Any:
    return joining.ragged_tile(input, multiples)


@handles(shaping.size, composite=RaggedTensor)
def _size(input: RaggedTensor, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return shaping.size(input.flat_values, out_type or int32)


@handles(shaping.rank, composite=RaggedTensor)
def _rank(input: RaggedTensor, name: str | None = None) -> Tensor:
    rank = input.shape.rank
    if rank is not None:
        return convert_to_tensor(np.int32(rank))
    return shaping.rank(input.flat_values) + input.ragged_rank


@handles(shaping.reshape, composite=RaggedTensor)
def _reshape(tensor: RaggedTensor, shape: Any, name: str | None = None) -> Any:
    """Return a dense tensor of all values with another shape."""
    return shaping.reshape(tensor.flat_values, shape)


@handles(gather, composite=RaggedTensor)
def _gather(
    params: RaggedLike, indices: RaggedLike, validate_indices: bool | None = None, axis: AxisLike | None = None,
    batch_dims: AxisLike = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the result of `gather` along `axis`.

    Raises NotImplementedError unless `batch_dims` is 0, or 1 along axis 1.
    """
    batch_rank = static_int(batch_dims, "batch_dims")
    gather_axis = batch_rank if axis is None else static_int(axis, "axis")
    if gather_axis < 0:
        params = params if isinstance(params, RaggedTensor) else convert_to_tensor(params)
        (gather_axis,) = _nonnegative_axes(params, gather_axis)
    if batch_rank == 0 and gather_axis == 0:
        return gather_rows(params, indices)
    if batch_rank == 1 and gather_axis == 1:
        return _gather_in_rows(params, indices)
    if batch_rank == 0 and gather_axis > 0 and isinstance(params, RaggedTensor):
        if gather_axis == 1:
            return _gather_columns(params, indices)
        return params.with_values(_gather(params.values, indices, axis=gather_axis - 1))
    if batch_rank == 0 and gather_axis > 0 and isinstance(indices, RaggedTensor):
        return _gather_along(convert_to_tensor(params), indices, gather_axis)
    raise NotImplementedError(f"gather of ragged tensors with batch_dims={batch_rank}, axis={gather_axis}")


def _gather_along(params: Tensor, indices: RaggedTensor, axis: int) -> Any:
    """Return the elements of a dense tensor at ragged positions along an axis after the first."""
    sizes = shaping.shape(params)
    if axis > 1:  # in `merged_params`, its first two dimensions are one, and `axis` is smaller by 1
        static_size = params.shape[1]
        merged_params = shaping.reshape(params, shaping.concat([[-1], sizes[2:]], 0))
        rows = _gather_along(merged_params, indices, axis - 1)
        return RaggedTensor.from_uniform_row_length(rows, sizes[1] if static_size is None else static_size)
    static_count = indices.shape[0]
    row_count = partitions.ragged_row_count(indices) if static_count is None else static_count
    row_numbers = shaping.tile(constants.range(row_count), [sizes[0]])  # all of `indices`, for each row of `params`
    columns = gather(params, indices.flat_values, axis=1)
    flat_values = shaping.reshape(columns, shaping.concat([[-1], shaping.shape(columns)[2:]], 0))
    rows = gather_rows(indices, row_numbers).with_flat_values(flat_values)
    return RaggedTensor.from_uniform_row_length(rows, row_count, nrows=sizes[0])


def _gather_columns(params: RaggedTensor, indices: RaggedLike) -> Any:
    """Return the elements of each row at the positions `indices`, a vector, which is the same for all rows."""
    column_numbers = convert_to_tensor(indices)
    columns_of_rows = [
        joining.ragged_expand_dims(
            gather_rows(params.values, partitions.starts(params) + column_numbers[position]), 1
        )
        for position in range(column_numbers.shape[0] or 0)
    ]
    return joining.ragged_concat(columns_of_rows, 1)


def _gather_in_rows(params: RaggedLike, indices: RaggedLike) -> Any:
    """Return the elements of each row of `params` at the positions in the same row of `indices`."""
    rows = params if isinstance(params, RaggedTensor) else RaggedTensor.from_tensor(params)
    if isinstance(indices, RaggedTensor):
        begins = gather(partitions.starts(rows), partitions.rowids(indices))
        return indices.with_values(gather_rows(rows.values, cast(indices.values, begins.dtype) + begins))
    positions = convert_to_tensor(indices)
    begins = partitions.starts(rows)
    for _ in range((positions.shape.rank or 1) - 1):
        begins = shaping.expand_dims(begins, -1)
    return gather_rows(rows.values, cast(positions, begins.dtype) + begins)


@handles(gather_nd, composite=RaggedTensor)
def _gather_nd(
    params: RaggedLike, indices: RaggedLike, batch_dims: Any = 0, name: str | None = None, **options: Any
) -> Any:
    """Return the elements or slices at the coordinates along the last dimension of the indices."""
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gather_nd(params, indices.values))
    positions = convert_to_tensor(indices)
    if not isinstance(params, RaggedTensor):
        return gather_nd(params, positions)
    depth = positions.shape[-1]
    if depth is None:
        raise ValueError("the number of coordinates for gather_nd has to be known")
    outer_rows = positions[..., 0]
    if depth == 1:
        return gather_rows(params, outer_rows)
    begins = gather(partitions.starts(params), outer_rows)
    inner_rows = cast(positions[..., 1], begins.dtype) + begins
    return _gather_nd_in_values(params.values, inner_rows, positions, axis=2, depth=depth)


def _gather_nd_in_values(values: RaggedLike, rows: Tensor, positions: Tensor, axis: int, depth: int) -> Any:
    """Return the elements at the coordinates `positions[..., axis:depth]` in the rows of `values` numbered `rows`."""
    if axis == depth:
        return gather_rows(values, rows)
    if not isinstance(values, RaggedTensor):
        inner_positions = cast(positions[..., axis:], rows.dtype)
        return gather_nd(values, shaping.concat([shaping.expand_dims(rows, -1), inner_positions], -1))
    begins = gather(partitions.starts(values), rows)
    inner_rows = cast(positions[..., axis], begins.dtype) + begins
    return _gather_nd_in_values(values.values, inner_rows, positions, axis + 1, depth)


@handles(one_hot, composite=RaggedTensor)
def _one_hot(indices: RaggedTensor, *args: Any, **kwargs: Any) -> Any:
    return indices.with_flat_values(one_hot(indices.flat_values, *args, **kwargs))


@handles(layers.embedding_lookup, composite=RaggedTensor)
def _embedding_lookup(params: TensorLike, ids: RaggedTensor, *args: Any, **kwargs: Any) -> Any:
    return ids.with_flat_values(layers.embedding_lookup(params, ids.flat_values, *args, **kwargs))


@handles(matmul, composite=RaggedTensor)
def _matmul(
    a: RaggedLike, b: RaggedLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Return the products of batches of matrices of different sizes, conjugated and transposed as requested."""
    operands: Any = (a, adjoint_a), (b, adjoint_b)
    left, right = (conj(x) if is_adjoint else x for x, is_adjoint in operands)
    return ragged_matmul(left, right, transpose_a or adjoint_a, transpose_b or adjoint_b)


@handles(layers.softmax, composite=RaggedTensor)
def _softmax(logits: RaggedTensor, axis: AxisLike = -1, name: str | None = None) -> Any:
    (positive_axis,) = _nonnegative_axes(logits, axis)
    return ragged_softmax(logits, positive_axis)


@handles(layers.sigmoid_cross_entropy_with_logits, composite=RaggedTensor)
def _cross_entropy(labels: RaggedLike | None = None, logits: RaggedLike | None = None, name: str | None = None) -> Any:
    return elementwise(layers.sigmoid_cross_entropy_with_logits, labels, logits)


@handles(dropout, composite=RaggedTensor)
def _dropout(x: RaggedTensor, rate: Any, *args: Any, **kwargs: Any) -> Any:
    return x.with_flat_values(dropout(x.flat_values, rate, *args, **kwargs))


@handles(cumsum, composite=RaggedTensor)
def _cumsum(
    x: RaggedTensor, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    (positive_axis,) = _nonnegative_axes(x, axis)
    return ragged_cumsum(x, positive_axis, exclusive, reverse)


@handles(arithmetic.add_n, composite=RaggedTensor)
def _add_n(inputs: Any, name: str | None = None) -> Any:
    result = inputs[0]
    for term in inputs[1:]:
        result = elementwise(arithmetic.add, result, term)
    return result


_SEGMENT_FUNCTIONS = (
    unsorted_segment_sum, segments.unsorted_segment_max, segments.unsorted_segment_min, segments.unsorted_segment_prod,
)  # fmt: skip


@handles_each(_SEGMENT_FUNCTIONS, composite=RaggedTensor)
def _segments(
    function: Callable[..., Any], data: Any, segment_ids: TensorLike, num_segments: IntLike, name: str | None = None
) -> Any:
    if isinstance(segment_ids, RaggedTensor):
        require_same_rows(data, segment_ids)
        return function(data.flat_values, segment_ids.flat_values, num_segments)
    return reduce_segments(function, data, convert_to_tensor(segment_ids), num_segments)


@handles(dynamic_partition, composite=RaggedTensor)
def _dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Any]:
    if isinstance(partitions, RaggedTensor):
        require_same_rows(data, partitions)
        return dynamic_partition(data.flat_values, cast(partitions.flat_values, int32), num_partitions)
    partition_ids = convert_to_tensor(partitions)
    if (partition_ids.shape.rank or 0) > 1:
        return _dynamic_partition(data, as_ragged(partition_ids, data.ragged_rank), num_partitions)
    return [gather_rows(data, true_rows(apply("equal", partition_ids, number))) for number in range(num_partitions)]


@handles(segments.bincount, composite=RaggedTensor)
def _bincount(arr: RaggedTensor, *args: Any, **kwargs: Any) -> Any:
    arguments = dict(zip(("weights", "minlength", "maxlength", "dtype", "name", "axis"), args, strict=False)) | kwargs
    if arguments.get("axis") is None:
        return segments.bincount(arr.flat_values, **arguments)
    dtype = arguments.pop("dtype", None)
    counts = to_dense(sparse_bincount(arr, **arguments))
    return counts if dtype is None else cast(counts, dtype)


@handles(strings.join, composite=RaggedTensor)
def _join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    return elementwise(lambda *texts: strings.join(list(texts), separator), *inputs)


@handles(strings.unicode_encode, composite=RaggedTensor)
def _unicode_encode(input: RaggedTensor, *args: Any, **kwargs: Any) -> Any:
    """Return a string for each innermost row, which has its code points."""
    points = shaping.expand_dims(input.flat_values, -1)
    return _reduce_join(input.with_flat_values(strings.unicode_encode(points, *args, **kwargs)), -1)


@handles(strings.reduce_join, composite=RaggedTensor)
def _reduce_join(
    inputs: RaggedTensor, axis: AxisLike | None = None, keepdims: bool = False, separator: str = "",
    name: str | None = None,
) -> Any:
    """Return the strings along an axis joined, by default along the innermost ragged dimension."""
    positive_axis = _nonnegative_axes(inputs, axis)[0] if axis is not None else inputs.ragged_rank
    if positive_axis > 1:
        reduce_inner = _reduce_join if isinstance(inputs.values, RaggedTensor) else strings.reduce_join
        return inputs.with_values(reduce_inner(inputs.values, positive_axis - 1, keepdims, separator))
    if isinstance(inputs.values, RaggedTensor) or positive_axis == 0:
        raise NotImplementedError("reduce_join of a ragged tensor works along its innermost ragged dimension only")
    row_lengths = gather(partitions.lengths(inputs), inputs.value_rowids())
    ends_row = apply("equal", partitions.positions_in_rows(inputs) + 1, row_lengths)
    separated_texts = where(ends_row, inputs.values, strings.join([inputs.values, separator]))
    return strings.reduce_join(inputs.with_values(separated_texts).to_tensor(""), 1, keepdims)


register_row_splitter(RaggedTensor, construction.row_elements)

_FUNCTION_BY_OPERATOR: dict[str, Callable[..., Any]] = {
    "add": arithmetic.add, "sub": arithmetic.subtract, "mul": arithmetic.multiply, "truediv": arithmetic.divide,
    "floordiv": arithmetic.floordiv, "mod": arithmetic.floormod, "pow": arithmetic.pow, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "eq": comparison.equal, "ne": comparison.not_equal,
    "lt": comparison.less, "le": comparison.less_equal, "gt": comparison.greater, "ge": comparison.greater_equal,
    "neg": operator.neg, "abs": abs, "invert": operator.invert,
}  # fmt: skip


def _apply_operator(name: str, value: RaggedTensor, *operands: Any) -> Any:
    """Return the result of the method `__name__` of `value`, which has at most one operand.

    It is NotImplemented for the operand None, and for a string beside numbers.
    """
    if not operands:
        return value.with_flat_values(_FUNCTION_BY_OPERATOR[name](value.flat_values))
    operand = operands[0]
    if operand is None or (isinstance(operand, (str, bytes)) and not value.dtype.is_string):
        return NotImplemented
    if name in _FUNCTION_BY_OPERATOR:
        return elementwise(_FUNCTION_BY_OPERATOR[name], value, operand)
    return elementwise(_FUNCTION_BY_OPERATOR[name.removeprefix("r")], operand, value)  # reflected, such as "radd"


OPERATORS.set(_apply_operator)
