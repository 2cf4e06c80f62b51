"""Loops, for runtimes without memory: what is state, and arrays that change places in each turn.

An array of the loop's state may be another one after a turn, as in `old, new = new, old`. Where it can be, its contents
are then state. If one of such arrays is an argument that a turn writes, its memory has to be found again after the
loop: where all of them are exchanged among themselves, a number beside each, its tag, follows the memory. In other
cases the state is the tag alone, of a choice among the arrays that exist before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.portable.cells import Cell, Choice, Item, View, cells_of, options_of, stored_cells
from autoconv.backends.portable.memory import Memory
from autoconv.backends.portable.terms import ListTerm, Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import int32
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges, state_size
from autoconv.graph.types import TensorType


def contents(item: Item) -> list[Term]:
    """Return the terms of a value or a list."""
    return [item.buffer, item.length] if isinstance(item, ListTerm) else [item]


def rebuilt(item: Item, terms: list[Term]) -> Item:
    """Take the terms of a value or list like `item` from the front of `terms`."""
    return ListTerm(terms.pop(0), terms.pop(0)) if isinstance(item, ListTerm) else terms.pop(0)


class LoopState:
    """The state of a loop: values and lists, then the cells that it writes, then tags."""

    def __init__(self, memory: Memory, node: Node, operands: Sequence[Item]) -> None:
        self._memory = memory
        self._node = node
        self._operands = list(operands)
        body = node.regions[1]
        self.count = state_size(node)
        stored = stored_cells(node, operands)
        self._options: list[View] = []  # arrays that a choice of the state is one of
        self._chosen: list[int] = []
        self._turned: dict[int, int] = {}
        self.exchanged = _exchanged_arrays(body, operands, self.count)
        if not _have_own_contents(self.exchanged, operands):
            self._choose()
        elif any(
            cell.argument is not None and (cell in stored or self._are_exchanged(body))
            for cell in _cells(self.exchanged, operands)
        ):
            turned = _exchange_permutation(body, operands, self.exchanged)
            if turned is None:
                self._choose()
            else:
                self._turned = turned
        self.items = [self._first(i, body) for i in range(self.count)]
        for i in self.exchanged:
            stored = (stored - set(cells_of(operands[i]))) | {self.items[i].cell}
        self.cells = [cell for cell in memory.cells if cell in stored and not cell.moved]
        self.known = len(memory.cells)
        self._moving = [i for i, item in enumerate(self.items) if isinstance(item, (Term, ListTerm))]
        self._written: set[int] = set()  # arrays that a turn writes before it gives the state others

    def _are_exchanged(self, body: Graph) -> bool:
        """Return whether a turn only exchanges the arrays: none of them becomes a new one."""
        origins = [_origins(body, body.outputs[i]) for i in self.exchanged]
        own = {body.parameters[i] for i in self.exchanged}
        return all(one is not None and one <= own for one in origins)

    def _choose(self) -> None:
        """Hold the arrays that change in the loop as choices among those before it."""
        self._chosen, self.exchanged = sorted(self.exchanged), set()
        for i in self._chosen:
            self._options += [
                one for one in options_of(self._operands[i]) if _index_of_view(one, self._options) is None
            ]

    def _first(self, position: int, body: Graph) -> Item:
        item, type_ = self._operands[position], body.parameters[position].type
        if position in self.exchanged:
            cell = self._memory.new_cell(self._memory.load(item))
            own = cells_of(item)
            cell.frozen, cell.twins = any(one.frozen for one in own), [twin for one in own for twin in one.twins]
            return View(cell)
        if isinstance(item, Term) and isinstance(type_, TensorType):
            return self._memory.w.cast(item, type_.dtype)
        return item

    def terms(self) -> list[Term]:
        """Return the terms of the state before the loop."""
        found = [term for i in self._moving for term in contents(self.items[i])]
        tags = [self._memory.w.constant(place, int32) for place in range(len(self._turned))]
        tags += [self._tag(self._operands[i]) for i in self._chosen]
        return [*found, *(cell.term for cell in self.cells), *tags]

    def _tag(self, view: View) -> Term:
        """Return the position of an array among those that a choice is one of."""
        w = self._memory.w
        places = [_index_of_view(one, self._options) for one in options_of(view)]
        if None in places:
            raise GraphUnfit("while", "an array of the loop becomes another one", self._node.span)
        tag = w.constant(places[-1], int32)
        for i, place in enumerate(places[:-1]):
            assert isinstance(view.cell, Choice)
            tag = w.select(view.cell.tag.same(i), w.constant(place, int32), tag)
        return tag

    def enter(self, terms: Sequence[Term], word: Term) -> list[Item]:
        """Return what the parameters of a region are at the beginning of a turn."""
        terms_left, items = list(terms), list(self.items)
        for i in self._moving:
            items[i] = rebuilt(self.items[i], terms_left)
        for cell in self.cells:
            cell.term = terms_left.pop(0)
        for i, tag in zip(self._chosen, terms_left[len(self._turned) :], strict=True):
            items[i] = self._choice(tag)
        self._memory.w.word = word
        return [*items, *self._operands[self.count :]]

    def _choice(self, tag: Term) -> View:
        return View(Choice(tuple(self._options), tag)) if len(self._options) > 1 else self._options[0]

    def leave(
        self, items: Sequence[Item], firsts: dict[int, Term], outputs: Sequence[Item], terms: Sequence[Term]
    ) -> list[Term]:
        """Return the state after a turn; `firsts` are the contents of exchanged arrays at its beginning."""
        body = self._node.regions[1]
        self._written.update(i for i in self.exchanged if items[i].cell.term is not firsts[i])
        terms_of_moving: list[Term] = []
        for i in self._moving:
            item, type_ = outputs[i], body.parameters[i].type
            if isinstance(item, Term) and isinstance(type_, TensorType):
                item = self._memory.w.cast(item, type_.dtype)
            terms_of_moving += contents(item)
        contents_by_cell: dict[Cell, Term] = {}
        for i, item in enumerate(outputs):
            if i in self.exchanged:
                contents_by_cell[self.items[i].cell] = self._memory.load(item)
            elif i not in self._chosen and i not in self._moving and item is not self.items[i]:
                raise GraphUnfit("while", "an array of the loop becomes another one", self._node.span)
        tags_of_outputs = [self._tag(outputs[i]) for i in self._chosen]
        terms_of_moving += [contents_by_cell.get(cell, cell.term) for cell in self.cells]
        tags = terms[len(terms_of_moving) :]
        return [
            *terms_of_moving,
            *(tags[list(self._turned).index(source)] for source in self._turned.values()),
            *tags_of_outputs,
        ]

    def results(self, terms: list[Term]) -> list[Item]:
        """Return the loop's results, and give the cells their contents after it."""
        del self._memory.cells[self.known :]
        items = list(self.items)
        for i in self._moving:
            items[i] = rebuilt(self.items[i], terms)
        for cell in self.cells:
            cell.term = terms.pop(0)
        for i, tag in zip(self._chosen, terms[len(self._turned) :], strict=True):
            items[i] = self._choice(tag)
        if self._turned:
            self._return_memory(items, terms)
        for i in self.exchanged - set(self._turned):
            new = self.items[i].cell
            for old in cells_of(self._operands[i]):
                old.moved = i in self._written
                old.twins.append(new)
                new.twins.append(old)
        return items

    def _return_memory(self, items: list[Item], tags: Sequence[Term]) -> None:
        """Give each array's cell the contents of the array that has its memory in the end."""
        w = self._memory.w
        ends = [(self.items[j].cell, tag) for j, tag in zip(self._turned, tags, strict=False)]
        options = tuple(View(self._operands[i].cell) for i in self._turned)
        for place, option in enumerate(options):
            for cell, tag in ends:
                option.cell.term = w.select(tag.same(place), cell.term, option.cell.term)  # type: ignore[union-attr]
        for i, (_, tag) in zip(self._turned, ends, strict=True):
            items[i] = View(Choice(options, tag))


def _exchanged_arrays(body: Graph, operands: Sequence[Item], count: int) -> set[int]:
    """Return which arrays of a loop's state may be others after a turn."""
    return {i for i in range(count) if isinstance(operands[i], View) and body.outputs[i] is not body.parameters[i]}


def _origins(graph: Graph, value: Value) -> set[Value] | None:
    """Return the parameters that an array may be, by way of control flow; None where it may be a new one."""
    sources: dict[Value, list[Value | None]] = {}
    for node in graph.walk():
        for source, target in flow_edges(node):
            sources.setdefault(target, []).append(source)
    result: set[Value] = set()
    seen: set[Value] = set()
    left: list[Value | None] = [value]
    while left:
        one = left.pop()
        if one is None or (one not in sources and one not in graph.parameters):
            return None
        if one in graph.parameters:
            result.add(one)
        elif one not in seen:
            seen.add(one)
            left += sources[one]
    return result


def _cells(positions: set[int], operands: Sequence[Item]) -> list[Cell]:
    return [cell for i in positions for cell in cells_of(operands[i])]


def _have_own_contents(exchanged: set[int], operands: Sequence[Item]) -> bool:
    """Return whether each of the arrays is whole, and no other operand is one of them."""
    cells: list[Cell | Choice] = [cell for item in operands if isinstance(item, View) for cell in cells_of(item)]
    return not any(
        option.chain or cells.count(option.cell) > 1 for i in exchanged for option in options_of(operands[i])
    )  # fmt: skip


def _exchange_permutation(body: Graph, operands: Sequence[Item], exchanged: set[int]) -> dict[int, int] | None:
    """Return the permutation of the arrays that a turn exchanges, None where it is none.

    The position of an array leads to that of the one whose memory it gets.
    """
    parameters = {}
    for i in sorted(exchanged):
        output = body.outputs[i]
        if output not in body.parameters or body.parameters.index(output) not in exchanged:
            return None
        parameters[i] = body.parameters.index(output)
    is_simple = all(isinstance(operands[i].cell, Cell) for i in exchanged)
    return parameters if is_simple and len(set(parameters.values())) == len(parameters) else None


def _index_of_view(view: View, options: Sequence[View]) -> int | None:
    return next((i for i, one in enumerate(options) if one.cell is view.cell and one.chain == view.chain), None)


__all__ = ["LoopState", "contents", "rebuilt"]
