"""Element-by-element functions of ragged tensors; dense operands are broadcast to the shape of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.ragged import partitions
from autoconv.api.ragged.rows import unify_splits_dtypes, value_coordinates
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import gather, gather_nd, where
from autoconv.api.tensors.shaping import shape, stack
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """Return function(*operands) element by element; operands that are not ragged are broadcast to the ragged ones.

    Raises InvalidArgumentError unless ragged operands have the same rows, or rows of one element.
    """
    converted_operands = unify_splits_dtypes(*operands)
    ragged_operands = [operand for operand in converted_operands if isinstance(operand, RaggedTensor)]
    template = max(ragged_operands, key=lambda operand: (operand.ragged_rank, not _has_unit_rows(operand)))
    return template.with_flat_values(
        function(*(_broadcast_to_values(operand, template) for operand in converted_operands))
    )


def _has_unit_rows(rows: RaggedTensor) -> bool:
    """Return whether all rows have one element, according to their static uniform length."""
    return rows._uniform_row_length == 1


def _broadcast_to_values(operand: RaggedLike, rows: RaggedTensor) -> Any:
    """Return the element of an operand for each flat value of `rows`, in the shape of the flat values."""
    if isinstance(operand, RaggedTensor):
        if operand.ragged_rank == rows.ragged_rank and (not _has_unit_rows(operand) or _has_unit_rows(rows)):
            partitions.require_same_rows(operand, rows)
            return operand.flat_values
        return _broadcast_unit_rows(operand, rows)
    if _is_number(operand):
        return operand  # the function gives it the dtype of the operand beside it, which need not be that of `rows`
    tensor = as_tensor(operand)
    if tensor is None:
        tensor = convert_to_tensor(operand)
    if tensor.shape.rank == 0:
        return tensor
    return _broadcast_dense(tensor, rows)


def _is_number(value: RaggedLike) -> bool:
    """Return whether the value is a Python number, not a bool."""
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _broadcast_dense(tensor: Tensor, rows: RaggedTensor) -> Any:
    """Return the element of a dense operand for each flat value of `rows`."""
    tensor_rank, inner_rank = tensor.shape.rank, rows.flat_values.shape.rank
    if tensor_rank is None or inner_rank is None:
        raise ValueError("operands beside ragged tensors have to have a known rank")
    total_rank = rows.ragged_rank + inner_rank
    if tensor_rank < inner_rank:
        return tensor  # within the uniform dimensions of the values
    if tensor_rank > total_rank:
        raise ValueError(f"a tensor of {tensor_rank} dimensions cannot be broadcast to the ragged shape {rows.shape}")
    outer_rank = tensor_rank - (inner_rank - 1)  # the number of leading dimensions that match those of the rows
    coordinates = value_coordinates(rows)
    row_coordinates = coordinates[len(coordinates) - outer_rank :]
    first_axis = rows.ragged_rank + 1 - outer_rank
    indices = []
    for axis, coordinate in enumerate(row_coordinates):
        size = tensor.shape[axis]
        _check_size(size, rows, first_axis + axis)
        indices.append(
            cast(coordinate, int64) if size is not None and size != 1 else _clip_positions(tensor, axis, coordinate)
        )
    return gather_nd(tensor, stack(indices, 1))


def _check_size(size: int | None, rows: RaggedTensor, axis: int) -> None:
    """Raise InvalidArgumentError, perhaps at run time, unless `size` is None, 1 or that of the axis of `rows`."""
    if size is None or size == 1:
        return
    if axis == 0:
        row_count = rows.shape[0]
        if row_count is not None and row_count != size:
            raise InvalidArgumentError(f"Unable to broadcast: {size} rows beside {row_count}")
        return
    nested_rows: Any = rows
    for _ in range(axis - 1):
        nested_rows = nested_rows.values
    partitions.require_lengths(nested_rows, size)


def _clip_positions(tensor: Tensor, axis: int, coordinates: Tensor) -> Tensor:
    """Return the coordinates as positions along `axis` of the tensor: all 0 if this dimension has one element."""
    positions = cast(coordinates, int64)
    if tensor.shape[axis] == 1:
        return apply("zeros_like", positions)
    size = get_item(shape(tensor, int64), axis)
    return where(apply("equal", size, 1), apply("zeros_like", positions), positions)


def _broadcast_unit_rows(operand: RaggedTensor, rows: RaggedTensor) -> Any:
    """Return the elements of a ragged operand whose rows have one element each, for each value of the rows."""
    if operand.ragged_rank > 1 or operand._uniform_row_length != 1:
        raise ValueError(f"ragged shapes {operand.shape} and {rows.shape} cannot be broadcast to each other")
    return gather(operand.values, value_coordinates(rows)[0])


def select(condition: RaggedLike, x: RaggedLike, y: RaggedLike) -> Any:
    """Return `where(condition, x, y)` element by element."""
    return elementwise(where, condition, x, y)
