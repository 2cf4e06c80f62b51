"""Open dimensions of a graph: which ones it has, and the code that computes derived ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autoconv.backends.llvm.analysis.representation import is_open, register_of
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus, product
from autoconv.graph.dimensions import Minimum, Quotient, Sum, plain_symbols, value_of
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, Dimension, Symbol, Type

SMALLEST = 2  # least value of an open dimension: 0 and 1 change the meaning (empty, broadcast)


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The open dimensions in the types of a graph.

    `symbols` are at least SMALLEST, those of the parameters first. `needs` are further symbols, which are at least 0.
    """

    symbols: tuple[Symbol, ...] = ()
    needs: tuple[Symbol, ...] = ()

    def allow(self, values: Mapping[str, int]) -> bool:
        """Return whether the graph's code is valid for these values of plain symbols."""
        return all(value_of(symbol, values) >= SMALLEST for symbol in self.symbols) and all(
            value_of(need, values) >= 0 for need in self.needs
        )


def open_sizes(graph: Graph, needs: Sequence[Symbol] = ()) -> OpenSizes:
    """Return the open sizes of a graph and its regions.

    Raises ValueError if the parameters do not determine a dimension.
    """
    found: dict[Symbol, None] = {}
    for type_ in _types(graph):
        found.update((size, None) for size in _sizes_of(type_) if isinstance(size, Symbol))
    said = {size for value in graph.parameters for size in _sizes_of(value.type)}
    for symbol in (*found, *needs):
        if not said.issuperset(plain_symbols(symbol)):
            raise ValueError(f"no argument has the dimension {symbol}")
    return OpenSizes(tuple(found), tuple(needs))


def _sizes_of(type_: Type) -> Sequence[Dimension]:
    """Return the dimensions of an array in memory, or of a tensor with open dimensions; empty for other types."""
    if isinstance(type_, ArrayType):
        return type_.shape
    return type_.shape or () if is_open(type_) else ()


def _types(graph: Graph) -> Iterator[Type]:
    for value in graph.parameters:
        yield value.type
    for node in graph.walk():
        for value in node.results:
            yield value.type
        for region in node.regions:
            for value in region.parameters:
                yield value.type


def write_dimension(out: FunctionText, symbol: Symbol) -> None:
    """Compute a derived dimension into its register."""
    out.line(f"{register_of(symbol)} = add i64 {dimension(out, symbol)}, 0")


def dimension(out: FunctionText, size: Dimension) -> Position:
    """Return a dimension as a constant or a register; a derived dimension is computed again."""
    return write_position(out, size, register_of)


def write_position(out: FunctionText, size: Dimension, held: Callable[[Symbol], Position]) -> Position:
    """Return a dimension or a position as a constant or a register; `held` gives the registers of its symbols."""
    return _computed(out, size, held) if isinstance(size, Symbol) else size or 0


def _computed(out: FunctionText, symbol: Symbol, held: Callable[[Symbol], Position]) -> Position:
    if isinstance(symbol, Quotient):
        x, y = (write_position(out, size, held) for size in (symbol.dividend, symbol.divisor))
        towards_zero, rest = out.new(f"sdiv i64 {x}, {y}"), out.new(f"srem i64 {x}, {y}")
        # Floor: subtract 1 if the remainder is negative.
        return out.new(f"add i64 {towards_zero}, {out.new(f'ashr i64 {rest}, 63')}")
    if isinstance(symbol, Minimum):
        low = out.module.declare("llvm.smin.i64", "i64", "i64, i64")
        x, y = (write_position(out, size, held) for size in (symbol.first, symbol.second))
        return out.new(f"call i64 {low}(i64 {x}, i64 {y})")
    if not isinstance(symbol, Sum):
        return held(symbol)
    total: Position = 0
    for monomial, count in symbol.terms:
        term: Position = count
        for factor in monomial:
            term = product(out, term, write_position(out, factor, held))
        total = plus(out, total, term)
    return total
