"""Open dimensions of a graph: which ones it has, and the code that computes derived ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    out.line(f"{register_of(symbol)} = add i64 {_computed(out, symbol)}, 0")


def dimension(out: FunctionText, size: Dimension) -> Position:
    """Return a dimension as a constant or a register; a derived dimension is computed again."""
    return _computed(out, size) if isinstance(size, Symbol) else size or 0


def _computed(out: FunctionText, symbol: Symbol) -> Position:
    if isinstance(symbol, Quotient):
        x, y = dimension(out, symbol.dividend), dimension(out, symbol.divisor)
        towards_zero, rest = out.new(f"sdiv i64 {x}, {y}"), out.new(f"srem i64 {x}, {y}")
        # Floor: subtract 1 if the remainder is negative.
        return out.new(f"add i64 {towards_zero}, {out.new(f'ashr i64 {rest}, 63')}")
    if isinstance(symbol, Minimum):
        low = out.module.declare("llvm.smin.i64", "i64", "i64, i64")
        return out.new(f"call i64 {low}(i64 {dimension(out, symbol.first)}, i64 {dimension(out, symbol.second)})")
    if not isinstance(symbol, Sum):
        return register_of(symbol)
    total: Position = 0
    for monomial, count in symbol.terms:
        term: Position = count
        for factor in monomial:
            term = product(out, term, dimension(out, factor))
        total = plus(out, total, term)
    return total
