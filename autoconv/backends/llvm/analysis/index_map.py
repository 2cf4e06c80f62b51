"""Index maps as data: from the index of an element of a result to the index of that element in its source.

The entries are dimensions (`graph/dimensions`) over `Variable`s, the positions of the result's index. Maps are composed
and compared as data; `write` lowers one to instructions.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Self

from autoconv.backends.llvm.analysis.representation import register_of, size_of
from autoconv.backends.llvm.analysis.symbolic_sizes import write_position
from autoconv.backends.llvm.ir.index_arith import Index, Position, linear_offset, remainder, unravel, wrap_position
from autoconv.graph.dimensions import floor_quotient, plus, product, substitute, times
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension, Symbol
from autoconv.lazy_dataclass import dataclass, field

Point = tuple[Dimension, ...]  # an index as data


@dataclass(frozen=True, slots=True)
class Variable(Symbol):
    """A position of the result's index."""

    axis: int = 0


@dataclass(frozen=True, slots=True)
class Pick(Symbol):
    """A scalar position that is computed at run time, and counts from the start. A map numbers its picks."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class Loaded(Symbol):
    """An element of an array of positions; negative ones count from the end of a dimension of `wrap_size`, if given."""

    value: Any = None
    index: Point = ()
    wrap_size: Dimension = None


@dataclass(frozen=True, slots=True)
class _SizedPosition(Symbol):
    """A position together with the size of the dimension that bounds it."""

    position: Dimension = 0
    size: Dimension = 1

    @classmethod
    def of(cls, position: Dimension, size: Dimension) -> Self:
        return cls(f"({position}){cls.__name__}({size})", position, size)


class Wrapped(_SizedPosition):
    """A position of a rotation, below twice the size. If the position reaches the size, the size is subtracted."""

    __slots__ = ()


class Padded(_SizedPosition):
    """A position in a padded source: outside [0, size) the element is padding."""

    __slots__ = ()


class Remainder(_SizedPosition):
    """The remainder of a position divided by the size, never negative."""

    __slots__ = ()


def variables(rank: int) -> Point:
    """Return the index of any element of a result of this rank: a variable for each dimension."""
    return tuple(variable(axis) for axis in range(rank))


def variable(axis: int) -> Variable:
    return Variable(f"%{axis}", axis)


def pick(number: int) -> Pick:
    return Pick(f"%pick{number}", number)


def loaded_position(value: Value, index: Point, wrap_size: Dimension = None) -> Loaded:
    return Loaded(f"%at[{','.join(map(str, index))}]", value, index, wrap_size)


@dataclass(slots=True)
class CounterRange:
    """The values `low` <= `counter` < `high` of a loop counter.

    `cuts` collects the values at which the maps that are applied over the range change from one piece to the next.
    """

    counter: Symbol
    low: int
    high: int
    cuts: set[int] = field(default_factory=set)

    def is_below(self, position: Dimension, limit: int) -> bool | None:
        """Return whether a position is below the limit for all counters of the range.

        Return None if that is unknown, or holds for some only. The counter's value at a change is added to the cuts.
        """
        first_position, last_position, position_at_0, position_at_1 = (
            substitute_nested(position, {self.counter: count}) for count in (self.low, self.high - 1, 0, 1)
        )
        if not (isinstance(first_position, int) and isinstance(last_position, int)):
            return None
        if not (isinstance(position_at_0, int) and isinstance(position_at_1, int)):
            return None
        factor = position_at_1 - position_at_0
        if position != plus(times(self.counter, factor), position_at_0):
            return None
        if max(first_position, last_position) < limit:
            return True
        if min(first_position, last_position) >= limit:
            return False
        if factor in (1, -1):  # the position moves by 1, so that a single cut separates the two sides of the limit
            self.cuts.add(limit - position_at_0 if factor == 1 else position_at_0 - limit + 1)
        return None


@dataclass(slots=True)
class OpenCounterRange:
    """All values of a loop counter that is below an open size.

    `padding_at_start` and `padding_at_end` count the iterations at either end that may read padding. `limits` are the
    sizes of the arrays that are padded.
    """

    counter: Symbol
    size: Dimension
    padding_at_start: int = 0
    padding_at_end: int = 0
    limits: set[Symbol] = field(default_factory=set)

    def record_limit(self, position: Dimension, limit: Dimension) -> None:
        """Record where a position that follows the counter crosses the limit, which may be an open size."""
        offset = plus(position, times(self.counter, -1))
        margin = plus(self.size, times(limit, -1))
        if isinstance(offset, int) and limit == 0:
            self.padding_at_start = max(self.padding_at_start, -offset)
        elif isinstance(offset, int) and isinstance(margin, int) and isinstance(limit, Symbol):
            self.padding_at_end = max(self.padding_at_end, margin + offset)
            self.limits.add(limit)

    def bounds(self) -> dict[str, int]:
        """Return an offset for each limit's register: from their sum on, iterations may read the padding at the end."""
        margins = {limit: plus(self.size, times(limit, -1)) for limit in self.limits}
        constant_margins = [(limit, margin) for limit, margin in margins.items() if isinstance(margin, int)]
        return {register_of(limit): margin - self.padding_at_end for limit, margin in constant_margins}


def substitute_nested(position: Dimension, values: Mapping[Symbol, Dimension]) -> Dimension:
    """Substitute values for the symbols of a position, inside of loaded and wrapped positions too."""

    def replacement(symbol: Symbol) -> Dimension:
        """Return the value of a symbol; in a loaded or sized position, substitute the values in the index."""
        if symbol in values:
            return values[symbol]
        if isinstance(symbol, Loaded):
            index = tuple(substitute_nested(entry, values) for entry in symbol.index)
            return loaded_position(symbol.value, index, symbol.wrap_size)
        if isinstance(symbol, _SizedPosition):
            return type(symbol).of(substitute_nested(symbol.position, values), symbol.size)
        return symbol

    return substitute(position, replacement)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """A map from an index of a result to an index of its source: an expression of the variables per dimension."""

    source: Point

    def apply(self, index: Point, counter_range: CounterRange | OpenCounterRange | None = None) -> Point | None:
        """Return the index in the source; None if no element of the source is read anywhere in the range."""
        values: dict[Symbol, Dimension] = {variable(axis): position for axis, position in enumerate(index)}
        result: list[Dimension] = []
        for position in self.source:
            source_position = substitute_nested(position, values)
            if isinstance(source_position, Padded):
                inner_position, size = source_position.position, source_position.size
                is_before_start = _is_below(inner_position, 0, counter_range)
                is_before_end = _is_below(inner_position, size, counter_range)
                if is_before_start is True or is_before_end is False:
                    return None
                is_inside = is_before_start is False and is_before_end is True
                source_position = inner_position if is_inside else source_position
            elif isinstance(source_position, Wrapped):
                source_position = _resolve_rotation(source_position, counter_range)
            result.append(source_position)
        return tuple(result)

    def write(self, b: Any, index: Index, picks: Sequence[Position]) -> Index:
        """Write instructions that compute the index in the source of the result's element at `index`.

        `picks` are the operands of the map's `Pick`s, in the order of their numbers.
        """
        write_symbol = functools.partial(_write_symbol, b, index, picks)
        return tuple(write_position(b.out, position, write_symbol) for position in self.source)


@dataclass(frozen=True, slots=True)
class Reshape(IndexMap):
    """The map of a reshape that computes the row-major offset in the result, and divides it by the source's sizes."""

    result_shape: tuple[Position, ...] = ()
    source_shape: tuple[Position, ...] = ()

    def write(self, b: Any, index: Index, picks: Sequence[Position]) -> Index:
        return unravel(b.out, linear_offset(b.out, index, self.result_shape), self.source_shape)


def reshape_map(
    result_shape: Point, source_shape: Point, registers: tuple[tuple[Position, ...], tuple[Position, ...]]
) -> IndexMap:
    """Return the map of a reshape; dimensions of size 1 may be inserted and dropped anywhere.

    `registers` has the shapes of the result and of the source as constants and registers.
    """
    if [size for size in source_shape if size != 1] == [size for size in result_shape if size != 1]:
        variables_left = iter([variable(axis) for axis, size in enumerate(result_shape) if size != 1])
        return IndexMap(tuple(0 if size == 1 else next(variables_left) for size in source_shape))
    offset: Dimension = 0
    for axis, size in enumerate(result_shape):
        offset = plus(times(offset, size), variable(axis))
    source: list[Dimension] = []
    for axis, size in enumerate(source_shape):
        inner_count = product(source_shape[axis + 1 :])
        quotient = offset if inner_count == 1 else floor_quotient(offset, inner_count)
        source.append(quotient if axis == 0 or quotient is None else Remainder.of(quotient, size))
    return Reshape(tuple(source), *registers)


def _write_symbol(b: Any, index: Index, picks: Sequence[Position], symbol: Symbol) -> Position:
    """Write the instructions that compute a symbol of an index map, as `IndexMap.write`."""
    if isinstance(symbol, Variable):
        return index[symbol.axis]
    if isinstance(symbol, Pick):
        return picks[symbol.number]
    write_symbol = functools.partial(_write_symbol, b, index, picks)
    if isinstance(symbol, Loaded):
        return _load(b, symbol, write_symbol)
    if isinstance(symbol, (Wrapped, Remainder)):
        position = write_position(b.out, symbol.position, write_symbol)
        write_operation = wrap_position if isinstance(symbol, Wrapped) else remainder
        return write_operation(b.out, position, _size_operand(symbol.size))
    return register_of(symbol)


def _is_below(
    position: Dimension, limit: Dimension, counter_range: CounterRange | OpenCounterRange | None
) -> bool | None:
    """Return whether a position is below a limit, None if that is unknown; an open counter range records the limit."""
    if isinstance(counter_range, OpenCounterRange):
        counter_range.record_limit(position, limit)
    if not isinstance(limit, int):
        return None
    if isinstance(position, int):
        return position < limit
    return counter_range.is_below(position, limit) if isinstance(counter_range, CounterRange) else None


def _resolve_rotation(rotation: Wrapped, counter_range: CounterRange | OpenCounterRange | None) -> Dimension:
    """Replace a rotation by its position, or by the position minus the size, if one is right in the whole range."""
    position, size = rotation.position, rotation.size
    if not isinstance(size, int) or not size:
        return rotation if size else 0  # in an empty dimension no position is read
    if isinstance(position, int):
        return position % size
    is_below_size = _is_below(position, size, counter_range)
    return rotation if is_below_size is None else position if is_below_size else plus(position, -size)


def _load(b: Any, symbol: Loaded, write_symbol: Any) -> Position:
    """Write instructions that load a position from an array of positions, and return it counted from the start."""
    index = tuple(write_position(b.out, position, write_symbol) for position in symbol.index)
    position = b.cast(b.at(symbol.value, index), int64)
    if symbol.wrap_size is None:
        return position.ir  # type: ignore[no-any-return]
    size = b.wrap(int64, str(_size_operand(symbol.wrap_size)))
    return b.select(position < 0, position + size, position).ir  # type: ignore[no-any-return]


def _size_operand(size: Dimension) -> Position:
    """Return a dimension of a type: as a constant if known, otherwise as its register."""
    return size_of(size) if isinstance(size, Symbol) else size or 0
