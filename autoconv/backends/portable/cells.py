"""Variables and arrays in memory, for runtimes without memory: cells, views of them, and the cells that nodes write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autoconv.backends.portable.terms import Term
from autoconv.graph.graph import Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, ResourceType
from autoconv.lazy_dataclass import dataclass, field


@dataclass(eq=False)
class Cell:
    """Mutable contents: of a variable, or the memory of an array.

    argument_position  the position among the graph's parameters; None for memory of the graph itself
    is_moved        the contents belong to another cell now, as after a loop that exchanges two arrays
    is_frozen       another name may read the contents: they must not be written
    possible_aliases  cells of arrays that may be this one: they are out of date once this one is written
    """

    term: Term
    argument_position: int | None = None
    is_moved: bool = False
    is_frozen: bool = False
    possible_aliases: list[Cell] = field(default_factory=list)


@dataclass(eq=False)
class HandlerCell(Cell):
    """A number that the body of a `try` stores for its handlers; the cell `is_filled` holds whether it has done so."""

    is_filled: Cell = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Choice:
    """An array that a branch or loop has chosen among several: `tag` (an int32) is its position in `options`."""

    options: tuple[View, ...]
    tag: Term


class ViewStep(NamedTuple):
    """A node with a view op, and the operands that it has besides the array, such as positions."""

    node: Node
    operands: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class View:
    """An array in memory: a cell or a choice, and the view ops to apply to its contents, in order."""

    cell: Cell | Choice
    chain: tuple[ViewStep, ...] = ()


def options_of(view: View) -> list[View]:
    """Return the views of single cells that a view may stand for."""
    if isinstance(view.cell, Cell):
        return [view]
    return [View(option.cell, (*option.chain, *view.chain)) for option in view.cell.options]


def cells_of(view: View) -> list[Cell]:
    """Return the cells whose contents a view may show."""
    return [option.cell for option in options_of(view) if isinstance(option.cell, Cell)]


# The writer's representation of a value of the graph: a Term, ListTerm, Progression or View, a Cell for a variable, a
# HandlerCell, or a CaughtError.
Item = Any


def stored_cells(node: Node, operands: Sequence[Item]) -> set[Cell]:
    """Return the cells that a control node may write."""
    cells = [frozenset(_cells_of_item(item)) for item in operands]
    result: set[Cell] = set()
    _collect_stored_cells(node, cells, result)
    return result


def _cells_of_item(item: Item) -> list[Cell]:
    """Return the cells that an item of the state holds."""
    if isinstance(item, View):
        return cells_of(item)
    if isinstance(item, HandlerCell):
        return [item, item.is_filled]
    return [item] if isinstance(item, Cell) else []


def _collect_stored_cells(node: Node, cells: Sequence[frozenset[Cell]], stored: set[Cell]) -> None:
    """Add the cells that a node may write to `stored`; `cells` has, for each input, the cells that it may stand for."""
    op = node.op
    if op.traits.stores_into is not None:
        stored |= cells[op.traits.stores_into]
    elif op.name.startswith("assign_") or op.name == "cell_set":
        stored |= cells[0]
    # Iterations may exchange the arrays of the state: each may be any of them.
    state_cells = frozenset[Cell]().union(*cells[: state_size(node)])
    for region in node.regions:
        cells_by_value: dict[Value, frozenset[Cell]] = {}
        region_cells = cells[len(node.inputs) - len(region.parameters) :]
        for i, (parameter, cells_of_input) in enumerate(zip(region.parameters, region_cells, strict=False)):
            cells_by_value[parameter] = state_cells if i < state_size(node) and cells_of_input else cells_of_input
        for region_node in region.nodes:
            input_cells = [cells_by_value.get(value, frozenset()) for value in region_node.inputs]
            _collect_stored_cells(region_node, input_cells, stored)
            all_cells = frozenset[Cell]().union(*input_cells)
            cells_by_value.update(
                (value, all_cells) for value in region_node.results if isinstance(value.type, (ArrayType, ResourceType))
            )
