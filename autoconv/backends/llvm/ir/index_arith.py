"""Arithmetic on the positions of an index: constants where known, else registers.

The linear form of a register in a loop counter (factor · counter + offset) is recorded. `is_below` then decides bounds
for whole ranges of the counter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.protocol import UnknownSize
from autoconv.graph.linear_form import INT64_RANGE, LinearForm, of_atom

Position = int | str  # a constant, or the name of an i64 register
Index = tuple[Position, ...]
_Entry = TypeVar("_Entry")


class Size(str):
    """An open dimension, bound at the call and always 2 or more; the register of that name holds it in every function.

    Arithmetic on it as a number raises at compile time, instead of producing wrong code.
    """

    __slots__ = ()

    def _refuse(self, *_: object) -> Any:
        raise UnknownSize(f"{self} is a dimension without a value before the call")

    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __int__ = __index__ = _refuse


class ComputedSizeRegister(Size):
    """The register of a computed size (see `graph.dimensions.ComputedSize`): it may be 0 or 1, and has its value from
    the node on that computes it.
    """

    __slots__ = ()


def is_known(shape: Iterable[Position]) -> bool:
    """Return whether all sizes are constants."""
    return all(isinstance(size, int) for size in shape)


def element_count(out: FunctionText, shape: Iterable[Position]) -> Position:
    """Return the number of elements."""
    result: Position = 1
    for size in shape:
        result = product(out, result, size)
    return result


def plus(out: FunctionText, x: Position, y: Position) -> Position:
    """Return x + y; a constant if both are constants."""
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    if x == 0:
        return y
    if y == 0:
        return x
    result = out.new(f"add nsw i64 {x}, {y}")
    form, addend = (out.linear_forms.get(x), y) if isinstance(x, str) else (out.linear_forms.get(str(y)), x)
    if form is not None and isinstance(addend, int):
        out.linear_forms[result] = form.plus(LinearForm(addend))
    return result


def times(out: FunctionText, x: Position, factor: int) -> Position:
    """Return x * factor; a constant if x is a constant."""
    if isinstance(x, int):
        return x * factor
    if factor in (0, 1):
        return x if factor else 0
    result = out.new(f"mul nsw i64 {x}, {factor}")
    out.has_descending_index |= factor < 0
    form = out.linear_forms.get(x)
    if form is not None:
        out.linear_forms[result] = form.times(factor)
    return result


def record_counter_range(out: FunctionText, counter: str, low: int, high: int) -> None:
    """Record that a loop counter goes from `low` up to, but not including, `high`."""
    out.linear_forms[counter] = of_atom(counter)
    out.counter_ranges[counter] = (low, high - 1)


def record_open_counter(out: FunctionText, counter: str, low: int, limits: Mapping[str, int]) -> None:
    """Record that a loop counter is at least `low`, and below the sizes in registers plus the numbers in `limits`."""
    record_counter_range(out, counter, low, INT64_RANGE[1] // 2)  # any bound that a constant added does not overflow
    out.counter_limits.update({(counter, register): excess for register, excess in limits.items()})


def is_below(out: FunctionText, position: Position, limit: Position) -> bool | None:
    """Return whether the position is below the limit; None if that differs between iterations, or is unknown."""
    if isinstance(position, int):
        return position < limit if isinstance(limit, int) else None
    form = out.linear_forms.get(position)
    if form is None:
        return None
    if not isinstance(limit, int):
        counter, factor = next(iter(form.terms.items()), (None, 0))
        # Only the counter itself plus a constant is compared with an open size.
        excess = out.counter_limits.get((counter, str(limit))) if factor == len(form.terms) == 1 else None
        return True if excess is not None and form.constant + excess <= 0 else None
    low, high = form.range(out.counter_ranges)
    return True if high < limit else False if low >= limit else None


def product(out: FunctionText, x: Position, y: Position) -> Position:
    """Return x * y; a constant if both are constants."""
    if isinstance(x, int):
        return times(out, y, x)
    return times(out, x, y) if isinstance(y, int) else out.new(f"mul nsw i64 {x}, {y}")


def linear_offset(out: FunctionText, index: Index, shape: Sequence[Position]) -> Position:
    """Return the row-major offset of an element, in elements."""
    result: Position = 0
    for position, size in zip(index, shape, strict=True):
        result = plus(out, product(out, result, size), position)
    return result


def byte_offset(out: FunctionText, index: Index, strides: Sequence[Position]) -> Position:
    """Return the offset of an element in bytes."""
    result: Position = 0
    for position, stride in zip(index, strides, strict=True):
        result = plus(out, result, product(out, position, stride))
    return result


def row_major_strides(out: FunctionText, shape: Sequence[Position], width: Position = 1) -> tuple[Position, ...]:
    """Return the strides of a dense array whose elements have that width."""
    strides = [width]
    for size in reversed(shape[1:]):
        strides.append(product(out, strides[-1], size))
    return tuple(reversed(strides[: len(shape)]))


def broadcast_index(index: Sequence[_Entry], shape: Sequence[Any]) -> tuple[_Entry | int, ...]:
    """Return the index into an operand of this shape that broadcasts to the loops whose counters are `index`."""
    missing_rank = len(shape) - len(index)
    aligned_index: tuple[_Entry | int, ...] = (*[0] * missing_rank, *index[max(-missing_rank, 0) :])
    return tuple(0 if size == 1 else i for size, i in zip(shape, aligned_index, strict=True))


def block_offset(out: FunctionText, index: Sequence[Position], shape: Sequence[Position], rank: int) -> Position:
    """Return the offset of a block of the last `rank` dimensions; `index` is its index in the broadcast batch."""
    batch_shape = shape[: len(shape) - rank]
    offset = linear_offset(out, broadcast_index(index, batch_shape), batch_shape)
    return product(out, offset, element_count(out, shape[len(shape) - rank :]))


def minimum(out: FunctionText, x: Position, y: Position) -> Position:
    """Return the smaller position; a constant if both are constants."""
    if isinstance(x, int) and isinstance(y, int):
        return min(x, y)
    return x if x == y else out.call_c("llvm.smin.i64", "i64", "i64, i64", x, y)


def maximum(out: FunctionText, x: Position, y: Position) -> Position:
    """Return the larger position; a constant if both are constants."""
    if isinstance(x, int) and isinstance(y, int):
        return max(x, y)
    return x if x == y else out.call_c("llvm.smax.i64", "i64", "i64, i64", x, y)


def unravel(out: FunctionText, offset: Position, shape: Sequence[Position]) -> Index:
    """Return the index of the element at a row-major offset."""
    index: list[Position] = []
    for size in reversed(shape[1:]):
        if isinstance(offset, int) and isinstance(size, int):
            index.append(offset % size if size else 0)
            offset = offset // size if size else 0
        elif isinstance(size, str) or size > 1:
            index.append(out.new(f"urem i64 {offset}, {size}"))
            offset = out.new(f"udiv i64 {offset}, {size}")
        else:
            index.append(0)
    return (offset, *reversed(index)) if len(shape) else ()


def wrap_position(out: FunctionText, position: Position, size: Position) -> Position:
    """Reduce a position that is below twice the size to one below the size."""
    if isinstance(size, str):
        is_outside = out.new(f"icmp sge i64 {position}, {size}")
        return out.new(f"select i1 {is_outside}, i64 {out.new(f'sub nsw i64 {position}, {size}')}, i64 {position}")
    if isinstance(position, int) or not size:
        return position % size if size and isinstance(position, int) else position
    is_inside = is_below(out, position, size)
    if is_inside is not None:
        return position if is_inside else plus(out, position, -size)
    is_outside = out.new(f"icmp sge i64 {position}, {size}")
    return out.new(f"select i1 {is_outside}, i64 {plus(out, position, -size)}, i64 {position}")


def remainder(out: FunctionText, position: Position, size: Position) -> Position:
    """Return the remainder of a position by a size, which is not negative."""
    if isinstance(position, int) and isinstance(size, int):
        return position % size
    result = out.new(f"srem i64 {position}, {size}")
    return out.new(f"select i1 {out.new(f'icmp slt i64 {result}, 0')}, i64 {plus(out, result, size)}, i64 {result}")
