"""Element-by-element functions of ragged tensors, with dense operands broadcast to the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.ragged import partitions
from autoconv.api.ragged.rows import coordinates, of_one_splits_dtype
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
    """Return function(…) element by element; operands that are not ragged are broadcast to the rows.

    Ragged operands have to have the same rows, or rows of one element. Raises InvalidArgumentError otherwise.
    """
    converted_operands = of_one_splits_dtype(*operands)
    ragged = [one for one in converted_operands if isinstance(one, RaggedTensor)]
    deepest = max(ragged, key=lambda one: (one.ragged_rank, not _has_single_rows(one)))
    return deepest.with_flat_values(function(*(_flat(one, deepest) for one in converted_operands)))


def _has_single_rows(rows: RaggedTensor) -> bool:
    return rows._uniform == 1


def _flat(operand: RaggedLike, rows: RaggedTensor) -> Any:
    """Return the elements of an operand for each flat value of the rows."""
    if isinstance(operand, RaggedTensor):
        if operand.ragged_rank == rows.ragged_rank and not _differs_by_ones(operand, rows):
            partitions.require_same(operand, rows)
            return operand.flat_values
        return _of_ragged(operand, rows)
    tensor = as_tensor(operand)
    if tensor is None:
        tensor = convert_to_tensor(operand, rows.dtype) if _is_number(operand) else convert_to_tensor(operand)
    if tensor.shape.rank == 0:
        return tensor
    return _of_dense(tensor, rows)


def _is_number(value: RaggedLike) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _differs_by_ones(operand: RaggedTensor, rows: RaggedTensor) -> bool:
    return operand._uniform == 1 and rows._uniform != 1


def _of_dense(tensor: Tensor, rows: RaggedTensor) -> Any:
    rank, inner = tensor.shape.rank, rows.flat_values.shape.rank
    if rank is None or inner is None:
        raise ValueError("operands beside ragged tensors have to have a known rank")
    whole = rows.ragged_rank + inner
    if rank < inner:
        return tensor  # within the uniform dimensions of the values
    if rank > whole:
        raise ValueError(f"a tensor of {rank} dimensions cannot be broadcast to the ragged shape {rows.shape}")
    leading = rank - (inner - 1)  # its dimensions among those of the rows
    places = coordinates(rows)[len(coordinates(rows)) - leading :]
    first = rows.ragged_rank + 1 - leading
    at = []
    for axis, place in enumerate(places):
        size = tensor.shape[axis]
        _check_size(size, rows, first + axis)
        at.append(cast(place, int64) if size is not None and size != 1 else _clip_positions(tensor, axis, place))
    return gather_nd(tensor, stack(at, 1))


def _check_size(size: int | None, rows: RaggedTensor, axis: int) -> None:
    """Check that a dimension of a dense operand is that of the rows, or 1."""
    if size is None or size == 1:
        return
    if axis == 0:
        row_count = rows.shape[0]
        if row_count is not None and row_count != size:
            raise InvalidArgumentError(f"Unable to broadcast: {size} rows beside {row_count}")
        return
    inner: Any = rows
    for _ in range(axis - 1):
        inner = inner.values
    partitions.require_lengths(inner, size)


def _clip_positions(tensor: Tensor, axis: int, place: Tensor) -> Tensor:
    """Return the positions, all 0 where the dimension has one element."""
    number = cast(place, int64)
    if tensor.shape[axis] == 1:
        return apply("zeros_like", number)
    size = get_item(shape(tensor, int64), axis)
    return where(apply("equal", size, 1), apply("zeros_like", number), number)


def _of_ragged(operand: RaggedTensor, rows: RaggedTensor) -> Any:
    """Return the elements of a ragged operand whose rows have one element each, for each value of the rows."""
    if operand.ragged_rank > 1 or operand._uniform != 1:
        raise ValueError(f"ragged shapes {operand.shape} and {rows.shape} cannot be broadcast to each other")
    return gather(operand.values, coordinates(rows)[0])


def select(condition: RaggedLike, x: RaggedLike, y: RaggedLike) -> Any:
    return elementwise(where, condition, x, y)
