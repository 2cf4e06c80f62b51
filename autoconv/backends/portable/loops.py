"""Loops, for runtimes without memory: the state of a loop, and arrays that iterations exchange.

A name in the loop's state may refer to another array after an iteration, as in `old, new = new, old`. There are three
representations of such exchanged arrays:

contents           The state has the contents of the arrays. It is used if no memory has to be found after the loop.
contents and tags  If the loop writes an argument, it must be known after the loop which array has its memory. Where
                   iterations only permute the arrays, the state also has a tag for each: a number that moves with
                   the contents.
tags alone         In other cases, the state has the array's position among those that exist before the loop.
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

_ARRAY_IS_REPLACED = "an array of the loop becomes another one"


def item_terms(item: Item) -> list[Term]:
    """Return the terms of an item: one, or a list's buffer and length."""
    return [item.buffer, item.length] if isinstance(item, ListTerm) else [item]


def take_item(item: Item, terms: list[Term]) -> Item:
    """Take the terms of a value or list like `item` from the front of `terms`, and return them as an item."""
    return ListTerm(terms.pop(0), terms.pop(0)) if isinstance(item, ListTerm) else terms.pop(0)


class LoopState:
    """The state of a loop: values and lists, then the contents of the cells that the loop writes, then tags.

    An item stands for a name of the program, by its position in the state. Items are represented by terms, which the
    runtime's loop passes from one iteration to the next; `begin_iteration` and `end_iteration` convert between both.
    """

    def __init__(self, memory: Memory, node: Node, operands: Sequence[Item]) -> None:
        self._memory = memory
        self._node = node
        self._operands = list(operands)
        body = node.regions[1]
        self.state_size = state_size(node)
        written_cells = stored_cells(node, operands)
        self._options: list[View] = []  # the arrays among which a choice of the state selects
        self._choice_positions: list[int] = []
        # The result of `_exchange_permutation`; empty unless the state has contents and tags.
        self._exchange_sources: dict[int, int] = {}
        self.exchanged_positions = _exchanged_arrays(body, operands, self.state_size)  # positions in the loop's state
        if not _have_own_contents(self.exchanged_positions, operands):
            self._make_choices()
        elif any(
            cell.argument_position is not None and (cell in written_cells or self._only_exchanges_arrays(body))
            for cell in _cells_at(self.exchanged_positions, operands)
        ):
            permutation = _exchange_permutation(body, operands, self.exchanged_positions)
            if permutation is None:
                self._make_choices()
            else:
                self._exchange_sources = permutation
        self.items = [self._initial_item(i, body) for i in range(self.state_size)]
        for i in self.exchanged_positions:
            written_cells = (written_cells - set(cells_of(operands[i]))) | {self.items[i].cell}
        self.cells = [cell for cell in memory.cells if cell in written_cells and not cell.is_moved]
        self.outer_cell_count = len(memory.cells)
        self._value_positions = [i for i, item in enumerate(self.items) if isinstance(item, (Term, ListTerm))]
        self._written_arrays: set[int] = set()  # positions of arrays that an iteration writes before it exchanges them

    def _only_exchanges_arrays(self, body: Graph) -> bool:
        """Return whether an iteration only exchanges arrays of the state, and puts no new array into it."""
        origins = [_possible_origins(body, body.outputs[i]) for i in self.exchanged_positions]
        parameters = {body.parameters[i] for i in self.exchanged_positions}
        return all(sources is not None and sources <= parameters for sources in origins)

    def _make_choices(self) -> None:
        """Represent the arrays that change in the loop as choices among the arrays that exist before it."""
        self._choice_positions, self.exchanged_positions = sorted(self.exchanged_positions), set()
        for i in self._choice_positions:
            self._options += [
                view for view in options_of(self._operands[i]) if _index_of_view(view, self._options) is None
            ]

    def _initial_item(self, position: int, body: Graph) -> Item:
        """Return the item of the state at a position, before the loop."""
        item, type_ = self._operands[position], body.parameters[position].type
        if position in self.exchanged_positions:
            cell = self._memory.new_cell(self._memory.load(item))
            cells = cells_of(item)
            cell.is_frozen = any(outer_cell.is_frozen for outer_cell in cells)
            cell.possible_aliases = [alias for outer_cell in cells for alias in outer_cell.possible_aliases]
            return View(cell)
        if body.outputs[position] is not body.parameters[position]:
            (item,) = self._memory.without_ranges([item])
        if isinstance(item, Term) and isinstance(type_, TensorType):
            return self._memory.writer.cast(item, type_.dtype)
        return item

    def initial_terms(self) -> list[Term]:
        """Return the terms of the state before the loop."""
        values = [term for i in self._value_positions for term in item_terms(self.items[i])]
        tags = [self._memory.writer.constant(position, int32) for position in range(len(self._exchange_sources))]
        tags += [self._tag(self._operands[i]) for i in self._choice_positions]
        return [*values, *(cell.term for cell in self.cells), *tags]

    def _tag(self, view: View) -> Term:
        """Return the position of an array among the options of the loop's choices."""
        writer = self._memory.writer
        positions = [_index_of_view(option, self._options) for option in options_of(view)]
        if None in positions:
            raise GraphUnfit("while", _ARRAY_IS_REPLACED, self._node.span)
        tag = writer.constant(positions[-1], int32)
        for i, position in enumerate(positions[:-1]):
            assert isinstance(view.cell, Choice)
            tag = writer.select(view.cell.tag.same(i), writer.constant(position, int32), tag)
        return tag

    def begin_iteration(self, terms: Sequence[Term]) -> list[Item]:
        """Return the items of a region's parameters, with the state's `terms` at the beginning of an iteration."""
        return [*self._take_items(list(terms)), *self._operands[self.state_size :]]

    def _take_items(self, terms: list[Term]) -> list[Item]:
        """Take the items and the contents of the cells from the state's `terms`; return the items."""
        items = list(self.items)
        for i in self._value_positions:
            items[i] = take_item(self.items[i], terms)
        for cell in self.cells:
            cell.term = terms.pop(0)
        for i, tag in zip(self._choice_positions, terms[len(self._exchange_sources) :], strict=True):
            items[i] = self._choice(tag)
        return items

    def _choice(self, tag: Term) -> View:
        """Return the array of the state that a tag chooses."""
        return View(Choice(tuple(self._options), tag)) if len(self._options) > 1 else self._options[0]

    def end_iteration(
        self, items: Sequence[Item], initial_contents: dict[int, Term], outputs: Sequence[Item], terms: Sequence[Term]
    ) -> list[Term]:
        """Return the terms of the state after an iteration whose body has the results `outputs`.

        At its beginning, the state's terms are `terms`, its items `items`, and `initial_contents` has the contents of
        exchanged arrays by their positions.
        """
        body = self._node.regions[1]
        self._written_arrays.update(i for i, contents in initial_contents.items() if items[i].cell.term is not contents)
        state_terms: list[Term] = []
        for i in self._value_positions:
            (item,), type_ = self._memory.without_ranges([outputs[i]]), body.parameters[i].type
            if isinstance(item, Term) and isinstance(type_, TensorType):
                item = self._memory.writer.cast(item, type_.dtype)
            state_terms += item_terms(item)
        contents_by_cell: dict[Cell, Term] = {}
        for i, item in enumerate(outputs):
            if i in self.exchanged_positions:
                contents_by_cell[self.items[i].cell] = self._memory.load(item)
            elif i not in self._choice_positions and i not in self._value_positions and item is not self.items[i]:
                raise GraphUnfit("while", _ARRAY_IS_REPLACED, self._node.span)
        choice_tags = [self._tag(outputs[i]) for i in self._choice_positions]
        state_terms += [contents_by_cell.get(cell, cell.term) for cell in self.cells]
        tags = terms[len(state_terms) :]
        return [
            *state_terms,
            *(tags[list(self._exchange_sources).index(source)] for source in self._exchange_sources.values()),
            *choice_tags,
        ]

    def take_results(self, terms: list[Term]) -> list[Item]:
        """Take the final state from `terms`: return the loop's results, and set the cells to their final contents."""
        del self._memory.cells[self.outer_cell_count :]
        items = self._take_items(terms)
        if self._exchange_sources:
            self._restore_memory(items, terms)
        for i in self.exchanged_positions - set(self._exchange_sources):
            new_cell = self.items[i].cell
            for old_cell in cells_of(self._operands[i]):
                old_cell.is_moved = i in self._written_arrays
                old_cell.possible_aliases.append(new_cell)
                new_cell.possible_aliases.append(old_cell)
        return items

    def _restore_memory(self, items: list[Item], tags: Sequence[Term]) -> None:
        """Set each cell to the contents of the array that has the cell's memory after the loop."""
        writer = self._memory.writer
        final_cells = [(self.items[j].cell, tag) for j, tag in zip(self._exchange_sources, tags, strict=False)]
        options = tuple(View(self._operands[i].cell) for i in self._exchange_sources)
        for position, option in enumerate(options):
            for cell, tag in final_cells:
                option.cell.term = writer.select(tag.same(position), cell.term, option.cell.term)  # type: ignore[union-attr]
        for i, (_, tag) in zip(self._exchange_sources, final_cells, strict=True):
            items[i] = View(Choice(options, tag))


def _exchanged_arrays(body: Graph, operands: Sequence[Item], state_count: int) -> set[int]:
    """Return the positions, in a loop's state, of names that may refer to another array after an iteration."""
    arrays = (i for i in range(state_count) if isinstance(operands[i], View))
    return {i for i in arrays if body.outputs[i] is not body.parameters[i]}


def _possible_origins(graph: Graph, value: Value) -> set[Value] | None:
    """Return the parameters of the graph from which an array may come by control flow; None if it may be a new array.
    """
    sources: dict[Value, list[Value | None]] = {}
    for node in graph.walk():
        for source, target in flow_edges(node):
            sources.setdefault(target, []).append(source)
    result: set[Value] = set()
    visited: set[Value] = set()
    worklist: list[Value | None] = [value]
    while worklist:
        current = worklist.pop()
        if current is None or (current not in sources and current not in graph.parameters):
            return None
        if current in graph.parameters:
            result.add(current)
        elif current not in visited:
            visited.add(current)
            worklist += sources[current]
    return result


def _cells_at(positions: set[int], operands: Sequence[Item]) -> list[Cell]:
    """Return the cells of the arrays at some positions of the state."""
    return [cell for i in positions for cell in cells_of(operands[i])]


def _have_own_contents(exchanged_positions: set[int], operands: Sequence[Item]) -> bool:
    """Return whether each exchanged array is the whole of a cell to which no other operand refers."""
    cells: list[Cell | Choice] = [cell for item in operands if isinstance(item, View) for cell in cells_of(item)]
    return not any(
        option.chain or cells.count(option.cell) > 1 for i in exchanged_positions for option in options_of(operands[i])
    )  # fmt: skip


def _exchange_permutation(
    body: Graph, operands: Sequence[Item], exchanged_positions: set[int]
) -> dict[int, int] | None:
    """Return the permutation that an iteration applies to the exchanged arrays; None if it applies none.

    It maps the position of a name to that of the name whose array it has after the iteration.
    """
    sources = {}
    for i in sorted(exchanged_positions):
        output = body.outputs[i]
        if output not in body.parameters or body.parameters.index(output) not in exchanged_positions:
            return None
        sources[i] = body.parameters.index(output)
    are_cells = all(isinstance(operands[i].cell, Cell) for i in exchanged_positions)
    return sources if are_cells and len(set(sources.values())) == len(sources) else None


def _index_of_view(view: View, options: Sequence[View]) -> int | None:
    """Return the position of an equal view among `options`, or None."""
    for i, option in enumerate(options):
        if option.cell is view.cell and option.chain == view.chain:
            return i
    return None
