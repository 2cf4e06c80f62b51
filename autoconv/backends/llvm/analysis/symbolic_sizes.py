"""Find the open dimensions of a graph, and write the code that computes derived ones, such as n + 1 from n."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_open, register_of
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import ComputedSizeRegister, Position, Size, minimum, plus, product
from autoconv.backends.protocol import UnknownSize
from autoconv.graph.dimensions import (
    ComputedSize,
    Minimum,
    Quotient,
    Sum,
    atomic_symbols,
    evaluate_dimension,
    is_computed,
)
from autoconv.graph.graph import Graph, Node
from autoconv.graph.linear_form import Range
from autoconv.graph.types import ArrayType, Dimension, Symbol, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.analysis.value_range import SIZE_RANGE

MIN_OPEN_SIZE = 2  # sizes 0 and 1 change the meaning (empty, broadcast), so that they have graphs of their own


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The open dimensions in the types of a graph.

    `symbols` are at least MIN_OPEN_SIZE; those of the parameters come first. `nonnegative_sizes` are
    further ones, at least 0.
    """

    symbols: tuple[Symbol, ...] = ()
    nonnegative_sizes: tuple[Symbol, ...] = ()

    def accepts_values(self, values: Mapping[str, int]) -> bool:
        """Return whether the code is valid for these values of the atomic symbols, by name."""
        return all(evaluate_dimension(symbol, values) >= MIN_OPEN_SIZE for symbol in self.symbols) and all(
            evaluate_dimension(size, values) >= 0 for size in self.nonnegative_sizes
        )


def size_range(size: Position) -> Range:
    """Return the range of a size: the dimensions of arguments are at least MIN_OPEN_SIZE, others at least 0."""
    is_bound_at_call = isinstance(size, Size) and not isinstance(size, ComputedSizeRegister)
    return MIN_OPEN_SIZE if is_bound_at_call else SIZE_RANGE[0], SIZE_RANGE[1]


def open_sizes(graph: Graph, nonnegative_sizes: Sequence[Symbol] = ()) -> OpenSizes:
    """Return the open sizes of a graph and its regions.

    Raises UnknownSize if the parameters do not determine a dimension.
    """
    symbols: dict[Symbol, None] = {}
    for type_ in _types(graph):
        symbols.update((size, None) for size in _sizes_of(type_) if isinstance(size, Symbol) and not is_computed(size))
    argument_sizes = {size for value in graph.parameters for size in _sizes_of(value.type)}
    for symbol in (*symbols, *nonnegative_sizes):
        if not argument_sizes.issuperset(atomic_symbols(symbol)):
            raise UnknownSize(f"no argument has the dimension {symbol}")
    return OpenSizes(tuple(symbols), tuple(nonnegative_sizes))


def _sizes_of(type_: Type) -> Sequence[Dimension]:
    """Return the dimensions of an array in memory, or of a tensor with open dimensions; empty for other types."""
    if isinstance(type_, ArrayType):
        return type_.shape
    return type_.shape or () if is_open(type_) else ()


def _types(graph: Graph) -> Iterator[Type]:
    """Yield the types of all values in a graph."""
    for value in graph.parameters:
        yield value.type
    for node in graph.walk():
        for value in node.results:
            yield value.type
        for region in node.regions:
            for value in region.parameters:
                yield value.type


def defined_sizes(node: Node) -> Sequence[ComputedSize]:
    """Return the sizes that the node computes."""
    result: Sequence[ComputedSize] = node.attributes.get("defines", ())
    return result


def computed_sizes(node: Node) -> Iterator[ComputedSize]:
    """Yield the computed sizes that a node and its regions read in types, slice bounds and broadcast factors."""
    yield from _computed_sizes_of_node(node)
    for region in node.regions:
        for value in region.parameters:
            yield from _computed_sizes_among(_sizes_of(value.type))
        for inner in region.walk():
            yield from _computed_sizes_of_node(inner)


def _computed_sizes_of_node(node: Node) -> Iterator[ComputedSize]:
    """Yield the computed sizes in a node's types and attributes."""
    for value in (*node.inputs, *node.results):
        yield from _computed_sizes_among(_sizes_of(value.type))
    for entry in node.attributes.get("spec", ()) if node.op.name == "get_item" else ():
        yield from _computed_sizes_among(entry.parts)
    yield from _computed_sizes_among(node.attributes.get("reads", ()))


def _computed_sizes_among(dimensions: Sequence[Any]) -> Iterator[ComputedSize]:
    """Yield the computed sizes in the expressions of symbolic dimensions."""
    for size in dimensions:
        if isinstance(size, Symbol):
            yield from (symbol for symbol in atomic_symbols(size) if isinstance(symbol, ComputedSize))


def define_dimension(out: FunctionText, symbol: Symbol) -> None:
    """Compute a derived dimension into its register."""
    out.define(register_of(symbol), write_dimension(out, symbol))


def write_dimension(out: FunctionText, size: Dimension) -> Position:
    """Return a dimension as a constant or a register; write the computation of a derived dimension."""
    return write_position(out, size, register_of)


def write_position(out: FunctionText, size: Dimension, write_symbol: Callable[[Symbol], Position]) -> Position:
    """Return a dimension or a position as a constant or a register; `write_symbol` gives a symbol's register."""
    return _write_expression(out, size, write_symbol) if isinstance(size, Symbol) else size or 0


def _write_expression(out: FunctionText, symbol: Symbol, write_symbol: Callable[[Symbol], Position]) -> Position:
    """Write a symbolic size: an expression of symbols that `write_symbol` loads."""
    if isinstance(symbol, Quotient):
        dividend, divisor = (write_position(out, size, write_symbol) for size in (symbol.dividend, symbol.divisor))
        operands = f"{dividend}, {divisor}"
        towards_zero, remainder = out.new(f"sdiv i64 {operands}"), out.new(f"srem i64 {operands}")
        # Floor: subtract 1 if the remainder is negative.
        return out.new(f"add i64 {towards_zero}, {out.new(f'ashr i64 {remainder}, 63')}")
    if isinstance(symbol, Minimum):
        return minimum(out, *(write_position(out, size, write_symbol) for size in (symbol.first, symbol.second)))
    if not isinstance(symbol, Sum):
        return write_symbol(symbol)
    total: Position = 0
    for monomial, coefficient in symbol.terms:
        term: Position = coefficient
        for factor in monomial:
            term = product(out, term, write_position(out, factor, write_symbol))
        total = plus(out, total, term)
    return total
