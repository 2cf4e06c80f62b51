"""Index maps as data: from the index of an element of a result to the index of that element in its source.

The entries are dimensions (`graph/dimensions`) over `Variable`s, the positions of the result's index. Maps are composed
and compared as data; `write` lowers one to instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import write_position
from autoconv.backends.llvm.ir.index_arith import Index, Position, Size, linear_offset, remainder, unravel, wrap
from autoconv.graph.dimensions import floor_quotient, product, substitute, times
from autoconv.graph.dimensions import plus as sum_of
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension, Symbol

Point = tuple[Dimension, ...]  # an index as data


@dataclass(frozen=True, slots=True)
class Variable(Symbol):
    """A position of the result's index."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class Pick(Symbol):
    """A single dynamic index, normalised to count from the start."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class Loaded(Symbol):
    """An element of an array of positions; with `wraps`, negative ones count from the end of that size."""

    value: Any = None
    index: Point = ()
    wraps: Dimension = None


@dataclass(frozen=True, slots=True)
class _Reduced(Symbol):
    position: Dimension = 0
    size: Dimension = 1

    @classmethod
    def of(cls, position: Dimension, size: Dimension) -> Self:
        return cls(f"({position}){cls.__name__}({size})", position, size)


class Wrapped(_Reduced):
    """A position below twice the size, reduced to below it: rotations."""

    __slots__ = ()


class Nearest(_Reduced):
    """A position if it lies inside of the dimension: padding."""

    __slots__ = ()


class Remainder(_Reduced):
    """The remainder of a position by the size, which is not negative."""

    __slots__ = ()


def variables(rank: int) -> Point:
    return tuple(variable(number) for number in range(rank))


def variable(number: int) -> Variable:
    return Variable(f"%{number}", number)


def pick(number: int) -> Pick:
    return Pick(f"%pick{number}", number)


def load(value: Value, index: Point, wraps: Dimension = None) -> Loaded:
    return Loaded(f"%at[{','.join(map(str, index))}]", value, index, wraps)


@dataclass(slots=True)
class Span:
    """A range of a loop counter, and the counts inside of it at which maps over it change."""

    counter: Symbol
    low: int
    high: int
    cuts: set[int] = field(default_factory=set)

    def below(self, position: Dimension, limit: int) -> bool | None:
        """Return whether a position is below the limit throughout; None if that changes, or is unknown."""
        start, end = (substitute_nested(position, {self.counter: count}) for count in (self.low, self.high - 1))
        offset, after = (substitute_nested(position, {self.counter: count}) for count in (0, 1))
        if not (isinstance(start, int) and isinstance(end, int) and isinstance(offset, int) and isinstance(after, int)):
            return None
        factor = after - offset
        if position != sum_of(times(self.counter, factor), offset):
            return None
        if max(start, end) < limit:
            return True
        if min(start, end) >= limit:
            return False
        if factor in (1, -1):
            self.cuts.add(limit - offset if factor == 1 else offset - limit + 1)
        return None


def substitute_nested(position: Dimension, values: Mapping[Symbol, Dimension]) -> Dimension:
    """Return a position with values in the place of symbols, inside of loaded and wrapped positions too."""

    def replacement(symbol: Symbol) -> Dimension:
        if symbol in values:
            return values[symbol]
        if isinstance(symbol, Loaded):
            return load(symbol.value, tuple(substitute_nested(one, values) for one in symbol.index), symbol.wraps)
        if isinstance(symbol, (Wrapped, Nearest)):
            return type(symbol).of(substitute_nested(symbol.position, values), symbol.size)
        if isinstance(symbol, Remainder):
            return Remainder.of(substitute_nested(symbol.position, values), symbol.size)
        return symbol

    return substitute(position, replacement)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """The index in the source, one expression of the variables per dimension."""

    source: Point

    def apply(self, index: Point, span: Span | None = None) -> Point | None:
        """Return the index in the source; None where no element of it is read in the whole of the span."""
        values: dict[Symbol, Dimension] = {variable(number): position for number, position in enumerate(index)}
        sizes: list[Dimension] = []
        for position in self.source:
            moved = substitute_nested(position, values)
            if isinstance(moved, Nearest):
                ends = _is_below(moved.position, 0, span), _is_below(moved.position, moved.size, span)
                if ends[0] is True or ends[1] is False:
                    return None
                moved = moved.position if ends == (False, True) else moved
            elif isinstance(moved, Wrapped):
                moved = _resolve_rotation(moved, span)
            sizes.append(moved)
        return tuple(sizes)

    def write(self, b: Any, index: Index, picks: Sequence[Position]) -> Index:
        """Write the index in the source of the element at `index`."""

        def held(symbol: Symbol) -> Position:
            if isinstance(symbol, Variable):
                return index[symbol.number]
            if isinstance(symbol, Pick):
                return picks[symbol.number]
            if isinstance(symbol, Loaded):
                return _load(b, symbol, held)
            if isinstance(symbol, Wrapped):
                return wrap(b.out, write_position(b.out, symbol.position, held), _register(symbol.size))
            if isinstance(symbol, Remainder):
                return remainder(b.out, write_position(b.out, symbol.position, held), _register(symbol.size))
            return register_of(symbol)

        return tuple(write_position(b.out, position, held) for position in self.source)


@dataclass(frozen=True, slots=True)
class Reshape(IndexMap):
    """The map of a reshape that divides the row-major offset anew."""

    shape: tuple[Position, ...] = ()  # of the result
    own: tuple[Position, ...] = ()  # of the source

    def write(self, b: Any, index: Index, picks: Sequence[Position]) -> Index:
        return unravel(b.out, linear_offset(b.out, index, self.shape), self.own)


def reshape(shape: Point, own: Point, registers: tuple[tuple[Position, ...], tuple[Position, ...]]) -> IndexMap:
    """Return the map of a reshape from `own` to `shape`; dimensions of size 1 may come and go anywhere."""
    if [size for size in own if size != 1] == [size for size in shape if size != 1]:
        left = iter([variable(number) for number, size in enumerate(shape) if size != 1])
        return IndexMap(tuple(0 if size == 1 else next(left) for size in own))
    offset: Dimension = 0
    for number, size in enumerate(shape):
        offset = sum_of(times(offset, size), variable(number))
    source: list[Dimension] = []
    for axis, size in enumerate(own):
        later = product(own[axis + 1 :])
        part = offset if later == 1 else floor_quotient(offset, later)
        source.append(part if axis == 0 or part is None else Remainder.of(part, size))
    return Reshape(tuple(source), *registers)


def _is_below(position: Dimension, limit: Dimension, span: Span | None) -> bool | None:
    if not isinstance(limit, int):
        return None
    if isinstance(position, int):
        return position < limit
    return span.below(position, limit) if span is not None else None


def _resolve_rotation(moved: Wrapped, span: Span | None) -> Dimension:
    """Decide a rotation whose position stays on one side within the span."""
    position, size = moved.position, moved.size
    if not isinstance(size, int) or not size:
        return moved if size else 0
    if isinstance(position, int):
        return position % size
    verdict = _is_below(position, size, span)
    return moved if verdict is None else position if verdict else sum_of(position, -size)


def _load(b: Any, symbol: Loaded, position_of: Any) -> Position:
    where = tuple(write_position(b.out, position, position_of) for position in symbol.index)
    position = b.cast(b.at(symbol.value, where), int64)
    if symbol.wraps is None:
        return position.ir  # type: ignore[no-any-return]
    size = b.wrap(int64, str(_register(symbol.wraps)))
    return b.select(position < 0, position + size, position).ir  # type: ignore[no-any-return]


def _register(size: Dimension) -> Position:
    """Return a dimension that occurs in a type as a constant or its register."""
    return Size(register_of(size)) if isinstance(size, Symbol) else size or 0
