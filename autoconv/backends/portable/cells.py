"""Variables and arrays in memory, for runtimes without memory: cells with contents, views of them, who writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autoconv.backends.portable.terms import Term
from autoconv.graph.graph import Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, ResourceType


@dataclass(eq=False)
class Cell:
    """Mutable contents: of a variable, or the memory of an array.

    argument        the position among the graph's parameters; None for memory of the graph itself
    moved           the contents belong to another cell now, as after a loop that exchanges two arrays
    frozen          may be read under another name: it must not be written
    twins           cells of arrays that may be the same one: once this is written, they are not up to date
    """

    term: Term
    argument: int | None = None
    moved: bool = False
    frozen: bool = False
    twins: list[Cell] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Choice:
    """One of several arrays, which a branch or loop has chosen: the one whose position is the tag, an int32."""

    options: tuple[View, ...]
    tag: Term


@dataclass(frozen=True, eq=False)
class View:
    """An array in memory: the cell, or a choice, and the ops that lead from its contents to the array's."""

    cell: Cell | Choice
    chain: tuple[tuple[Node, tuple[Term, ...]], ...] = ()


def options_of(view: View) -> list[View]:
    """Return the arrays in cells that an array may be."""
    if isinstance(view.cell, Cell):
        return [view]
    return [View(option.cell, (*option.chain, *view.chain)) for option in view.cell.options]


def cells_of(view: View) -> list[Cell]:
    return [option.cell for option in options_of(view) if isinstance(option.cell, Cell)]


Item = Any  # a Term, a ListTerm, a View, or a Cell for a variable


SIZE_OF_A_VALUE = "a size depends on a value"


def stored_cells(node: Node, operands: Sequence[Item]) -> set[Cell]:
    """Return the cells that a control node may write."""
    cells = [
        frozenset(cells_of(item) if isinstance(item, View) else [item] if isinstance(item, Cell) else [])
        for item in operands
    ]
    result: set[Cell] = set()
    _note_stored(node, cells, result)
    return result


def _note_stored(node: Node, cells: Sequence[frozenset[Cell]], stored: set[Cell]) -> None:
    """Add the cells that a node writes; `cells` are those that each of its inputs may stand for."""
    op = node.op
    if op.traits.stores_into is not None:
        stored |= cells[op.traits.stores_into]
    elif op.name.startswith("assign_"):
        stored |= cells[0]
    state = frozenset[Cell]().union(*cells[: state_size(node)])
    for region in node.regions:
        inside: dict[Value, frozenset[Cell]] = {}
        captures_of_region = cells[len(node.inputs) - len(region.parameters) :]
        for i, (parameter, own) in enumerate(zip(region.parameters, captures_of_region, strict=False)):
            inside[parameter] = state if i < state_size(node) and own else own
        for inner in region.nodes:
            of_inputs = [inside.get(value, frozenset()) for value in inner.inputs]
            _note_stored(inner, of_inputs, stored)
            together = frozenset[Cell]().union(*of_inputs)
            inside.update(
                (value, together) for value in inner.results if isinstance(value.type, (ArrayType, ResourceType))
            )


__all__ = ["Cell", "Choice", "Item", "View", "cells_of", "options_of", "stored_cells"]
