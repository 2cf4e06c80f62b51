"""Loops, for runtimes without memory: what is state, and arrays that change places in each turn.

An array of the loop's state may be given other memory in a turn, as in `old, new = new, old`. Its contents are then
state. Where one of such arrays is an argument that a turn writes, its memory has to be found again after the loop: the
arrays must be exchanged among themselves, and a number beside each of them, its tag, follows the memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.portable.cells import Cell, Item, View, stored_cells
from autoconv.backends.portable.memory import Memory
from autoconv.backends.portable.terms import ListTerm, Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import int32
from autoconv.graph.graph import Graph, Node
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType


def contents(item: Item) -> list[Term]:
    """Return the terms of a value, a list, or of the memory of an array."""
    if isinstance(item, ListTerm):
        return [item.buffer, item.length]
    return [item.cell.term if isinstance(item, View) else item]


def rebuilt(item: Item, found: list[Term]) -> Item:
    """Take the terms of a value or list like `item` from the front of `found`."""
    return ListTerm(found.pop(0), found.pop(0)) if isinstance(item, ListTerm) else found.pop(0)


class LoopState:
    """The state of a loop: values and lists, then the cells that it writes, then tags."""

    def __init__(self, memory: Memory, node: Node, operands: Sequence[Item]) -> None:
        self._memory = memory
        self._node = node
        self._operands = list(operands)
        body = node.regions[1]
        self.count = state_size(node)
        self.exchanged = _exchanged(body, operands, self.count)
        stored = stored_cells(node, operands)
        self._turned = _turned(body, operands, self.exchanged, stored)
        self.items = [self._first(i, body) for i in range(self.count)]
        for i in self.exchanged:
            stored = (stored - {operands[i].cell}) | {self.items[i].cell}
        self.cells = [cell for cell in memory.cells if cell in stored and not cell.moved]
        self.known = len(memory.cells)
        self._moving = [i for i, item in enumerate(self.items) if isinstance(item, (Term, ListTerm))]
        self._written: set[int] = set()  # arrays that a turn writes before it gives the state others

    def _first(self, position: int, body: Graph) -> Item:
        item, type_ = self._operands[position], body.parameters[position].type
        if position in self.exchanged:
            cell = self._memory.new_cell(item.cell.term)
            cell.frozen, cell.twins = item.cell.frozen, list(item.cell.twins)
            return View(cell)
        if isinstance(item, Term) and isinstance(type_, TensorType):
            return self._memory.w.cast(item, type_.dtype)
        return item

    def terms(self) -> list[Term]:
        """Return the terms of the state before the loop."""
        found = [term for i in self._moving for term in contents(self.items[i])]
        return [*found, *(cell.term for cell in self.cells), *(self._memory.w.constant(i, int32) for i in self._turned)]

    def enter(self, terms: Sequence[Term], word: Term) -> list[Item]:
        """Return what the parameters of a region are at the beginning of a turn."""
        given, items = list(terms), list(self.items)
        for i in self._moving:
            items[i] = rebuilt(self.items[i], given)
        for cell, term in zip(self.cells, given, strict=False):
            cell.term = term
        self._memory.w.word = word
        return [*items, *self._operands[self.count :]]

    def leave(
        self, items: Sequence[Item], firsts: dict[int, Term], outputs: Sequence[Item], terms: Sequence[Term]
    ) -> list[Term]:
        """Return the state after a turn; `firsts` are the contents of exchanged arrays at its beginning."""
        body = self._node.regions[1]
        self._written.update(i for i in self.exchanged if items[i].cell.term is not firsts[i])
        found: list[Term] = []
        for i in self._moving:
            item, type_ = outputs[i], body.parameters[i].type
            if isinstance(item, Term) and isinstance(type_, TensorType):
                item = self._memory.w.cast(item, type_.dtype)
            found += contents(item)
        given: dict[Cell, Term] = {}
        for i, item in enumerate(outputs):
            if i in self.exchanged:
                given[self.items[i].cell] = item.cell.term
            elif isinstance(self.items[i], (View, Cell)) and item is not self.items[i]:
                raise GraphUnfit("while", "an array of the loop becomes another one", self._node.span)
        found += [given.get(cell, cell.term) for cell in self.cells]
        tags = terms[len(terms) - len(self._turned) :]
        return found + [tags[list(self._turned).index(source)] for source in self._turned.values()]

    def results(self, found: list[Term]) -> list[Item]:
        """Return the loop's results, and give the cells their contents after it."""
        del self._memory.cells[self.known :]
        items = list(self.items)
        for i in self._moving:
            items[i] = rebuilt(self.items[i], found)
        for cell in self.cells:
            cell.term = found.pop(0)
        self._return_memory(found)
        for i in self.exchanged - set(self._turned):
            old, new = self._operands[i].cell, self.items[i].cell
            old.moved = i in self._written
            old.twins.append(new)
            new.twins.append(old)
        return items

    def _return_memory(self, tags: Sequence[Term]) -> None:
        """Give the cell of an argument the contents of the array that has its memory in the end."""
        for i in self._turned:
            operand = self._operands[i].cell
            for j, tag in zip(self._turned, tags, strict=False):
                operand.term = self._memory.w.select(tag.same(i), self.items[j].cell.term, operand.term)
            operand.moved = operand.argument is None
            self.items[i].cell.frozen = True
            for j in self._turned:  # the array has the memory of one of them
                self.items[i].cell.twins.append(self._operands[j].cell)
                self._operands[j].cell.twins.append(self.items[i].cell)


def _exchanged(body: Graph, operands: Sequence[Item], count: int) -> set[int]:
    """Return which arrays of a loop's state it gives other memory: their contents move."""
    found = {i for i in range(count) if isinstance(operands[i], View) and body.outputs[i] is not body.parameters[i]}
    cells = [item.cell for item in operands if isinstance(item, View)]
    for i in found:
        if operands[i].chain or cells.count(operands[i].cell) > 1:
            raise GraphUnfit("while", "an array of the loop becomes another one")
    return found


def _turned(body: Graph, operands: Sequence[Item], exchanged: set[int], stored: set[Cell]) -> dict[int, int]:
    """Return the permutation of the arrays that a turn exchanges, if one of them is an argument that it writes.

    The position of an array leads to that of the one whose memory it gets.
    """
    if not any(operands[i].cell.argument is not None and operands[i].cell in stored for i in exchanged):
        return {}
    found = {}
    for i in sorted(exchanged):
        output = body.outputs[i]
        if output not in body.parameters or body.parameters.index(output) not in exchanged:
            raise GraphUnfit("while", "an array of the loop becomes another one")
        found[i] = body.parameters.index(output)
    if len(set(found.values())) < len(found):
        raise GraphUnfit("while", "two arrays of the loop become one")
    return found


__all__ = ["LoopState", "contents", "rebuilt"]
