"""Ops on variables and on arrays in memory, written as ops on values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.portable.cells import Cell, Choice, HandlerCell, Item, View, ViewStep, options_of
from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules import RULES
from autoconv.backends.portable.rules.subscripts import assign, check_positions, positions_of, subscript, write_at
from autoconv.backends.portable.terms import Progression, Term, static_shape
from autoconv.backends.portable.unfit import SIZE_DEPENDS_ON_VALUE, GraphUnfit
from autoconv.graph.dtypes import bool_
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.ops import OPS


class Memory:
    """The memory of a graph that is being written: its cells, and ops on them."""

    def __init__(self, writer: Control) -> None:
        self.writer = writer
        self.cells: list[Cell] = []
        self.try_depth = 0  # the number of tries around the body that is being written

    def new_cell(self, term: Term, argument_position: int | None = None) -> Cell:
        """Add a cell with these contents; return it."""
        cell = Cell(term, argument_position)
        self.cells.append(cell)
        return cell

    def write(self, cell: Cell, term: Term) -> None:
        """Replace the contents of a cell; after a failure in the body of a `try`, they stay as handlers read them."""
        word = self.writer.error_word
        if self.try_depth and word is not None and word.constant_value != 0:
            term = self.writer.select(word.same(0), term, cell.term)
        cell.term = term

    def read(self, node: Node, cell: Cell) -> Term:
        """Return the contents of a variable."""
        return cell.term

    def assign(self, node: Node, cell: Cell, value: Term) -> Term:
        """Write to a variable, and return its new contents."""
        value = self.writer.cast(value, cell.term.dtype)
        match node.op.name:
            case "assign_add_variable":
                value = cell.term + value
            case "assign_sub_variable":
                value = cell.term - value
        self.write(cell, self.writer.expand(value, cell.term.shape, self.writer.sizes(cell.term)))
        return cell.term

    def without_ranges(self, items: Sequence[Item]) -> list[Item]:
        """Return the items, with ranges as arrays where the runtime has arrays of their length."""
        return [x.as_array(self.writer) or x if isinstance(x, Progression) else x for x in items]

    def load(self, view: View) -> Any:
        """Return the current elements of an array."""
        if isinstance(view.cell, Choice):
            *earlier_arrays, result = (self.load(option) for option in options_of(view))
            for i, array in reversed(list(enumerate(earlier_arrays))):
                result = self._select_array(view.cell.tag.same(i), array, result)
            return result
        if view.cell.is_moved:
            raise GraphUnfit("array", "an array is used by an old name after a loop or branch gave it another")
        return self._apply_views(view, view.cell.term)

    def _select_array(self, condition: Term, x: Term, y: Term) -> Any:
        """Select one of two arrays of the same shape; `x` may be a number."""
        return self.writer.select(condition, self.writer.expand(x, y.shape, self.writer.sizes(y)), y)

    def _apply_views(self, view: View, term: Any) -> Any:
        """Apply the ops of a view to the contents of its cell, or to an array of positions in them."""
        for node, operands in view.chain:
            if node.op.name == "array_strided":
                term = self._take_strided(node, term)
                continue
            if node.op.name == "array_part":
                term = self.writer.emit_unary(node.attributes["part_name"], term)
                continue
            name = OPS[node.op.name].traits.op_on_tensors
            rule = RULES.get(name)
            if name == "get_item":
                result = subscript(self.writer, term, node.attributes["spec"], operands)
            else:
                result = rule(self.writer, node, term) if rule is not None else None
            if result is None:
                raise GraphUnfit(node.op.name, f"{self.writer.runtime} has no form for {types_of(node)}", node.span)
            term = result
        return term

    def _take_strided(self, node: Node, term: Term) -> Term:
        """Gather the elements of a view by strides: the elements of its source at the same addresses."""
        source_type, shape = node.inputs[0].type, static_shape(node.attributes["shape"])
        source_shape, strides = static_shape(term.shape), static_shape(getattr(source_type, "strides", (None,)))
        if shape is None or source_shape is None or strides is None:
            raise GraphUnfit(node.op.name, "a view by strides of an array whose layout is not known", node.span)
        addresses = _addresses(source_shape, strides)
        view_addresses = node.attributes["offset"] + _addresses(shape, node.attributes["strides"])
        order = np.argsort(addresses, kind="stable")
        positions = order[np.searchsorted(addresses, view_addresses, sorter=order)]
        return self.writer.reshape(self.writer.take(self.writer.flatten(term), 0, positions), shape)

    def store(self, view: View, value: Term) -> None:
        """Write to all elements of an array."""
        if isinstance(view.cell, Choice):
            for i, option in enumerate(options_of(view)):
                current_contents = self.load(option)
                new_value = self.writer.cast(value, current_contents.dtype)
                self.store(option, self._select_array(view.cell.tag.same(i), new_value, current_contents))
            return
        cell, writer = view.cell, self.writer
        may_alias_argument = any(alias.argument_position is not None for alias in cell.possible_aliases)
        if cell.is_frozen or cell.is_moved or may_alias_argument:
            raise GraphUnfit("array_store", "an array that has two names is written")
        for alias in cell.possible_aliases:
            alias.is_moved = True
        if view.chain and view.chain[0].node.op.name == "array_part":
            first_step, *later_steps = view.chain
            cell_of_part = {name: Cell(writer.emit_unary(name, cell.term)) for name in ("real", "imag")}
            self.store(View(cell_of_part[first_step.node.attributes["part_name"]], tuple(later_steps)), value)
            self.write(cell, writer.pair(cell_of_part["real"].term, cell_of_part["imag"].term))
            return
        value = writer.cast(value, cell.term.dtype)
        if not view.chain:
            self.write(cell, writer.expand(value, cell.term.shape, writer.sizes(cell.term)))
            return
        (node, operands), *later_steps = view.chain
        if not later_steps and node.op.name == "array_view":
            new_contents = assign(writer, cell.term, value, node.attributes["spec"], operands)
            if new_contents is not None:
                self.write(cell, new_contents)
                return
        positions = self._apply_views(view, positions_of(writer, cell.term))
        self.write(cell, write_at(writer, cell.term, value, positions, combine=None))

    def view(self, node: Node, base: View, *operands: Term) -> View:
        """Return a view of a view, with the view op `node` as its last step.

        An op that takes the real or imaginary parts is the first step instead, where `store` looks for it.
        """
        is_part = node.op.name == "array_part"
        step = ViewStep(node, operands)
        result = View(base.cell, (step, *base.chain) if is_part else (*base.chain, step))
        if node.effects & Effects.RAISE:  # an index out of range is an error, also where nothing is read
            check_positions(self.writer, self.load(base), node.attributes["spec"], operands)
        return result

    def array_load(self, node: Node, view: View) -> Term:
        """Return the elements of an array."""
        return self.load(view)

    def array_store(self, node: Node, view: View, value: Term) -> list[Item]:
        """Write to all elements of an array."""
        self.store(view, value)
        return []

    def array_set(self, node: Node, view: View, value: Term, *operands: Term) -> list[Item] | None:
        """Write a slice of an array: the cell gets the new contents. None for indices without a rule."""
        if isinstance(view.cell, Choice):
            return self._set_in_choice(view, view.cell.tag, value, node, operands)
        current = self.load(view)
        new_value = self.writer.cast(value, current.dtype)
        new_contents = assign(self.writer, current, new_value, node.attributes["spec"], operands)
        if new_contents is None:
            return None
        self.store(view, new_contents)
        return []

    def _set_in_choice(
        self, view: View, tag: Term, value: Term, node: Node, operands: tuple[Term, ...]
    ) -> list[Item] | None:
        """Write to the chosen array, and to each other option the elements that it has; None if there is no form."""
        for i, option in enumerate(options_of(view)):
            current_part = subscript(self.writer, self.load(option), node.attributes["spec"], operands)
            if current_part is None:  # the elements of a mask, for example: whole arrays are written
                base = self.load(view)
                new_contents = assign(self.writer, base, value, node.attributes["spec"], operands)
                if new_contents is None:
                    return None
                self.store(view, new_contents)
                return []
            chosen_value = self.writer.select(tag.same(i), self.writer.cast(value, current_part.dtype), current_part)
            if self.array_set(node, option, chosen_value, *operands) is None:
                return None
        return []

    def array_of(self, node: Node, term: Term) -> View:
        """Make an array of these elements."""
        return View(self.new_cell(term))

    def array_new(self, node: Node, *sizes: Term) -> View:
        """Make an array of static or given sizes, filled with a number; negative constant sizes are 0."""
        sizes_left = iter(sizes)
        shape, size_values = [], []
        for size in node.attributes["shape"]:
            term = size if isinstance(size, int) else next(sizes_left)
            if isinstance(term, Term) and term.constant_value is not None:
                term = max(term.constant_value, 0)
            elif isinstance(term, Term) and not self.writer.can_be_sizes(term):
                raise GraphUnfit("array_new", SIZE_DEPENDS_ON_VALUE, node.span)
            shape.append(term if isinstance(term, int) else None)
            size_values.append(term if isinstance(term, int) else self.writer.as_size(term))
        dtype = node.attributes["dtype"]
        fill = node.attributes.get("fill")
        number = self.writer.constant(0 if fill is None else fill, dtype)
        return View(self.new_cell(self.writer.expand(number, shape, size_values)))

    def new_handler_cell(self, node: Node) -> HandlerCell:
        """Make a cell for a number that the body of a `try` may store for its handlers."""
        type_: Any = node.attributes["type"]
        is_filled = self.new_cell(self.writer.constant(False, bool_))
        shape = static_shape(type_.shape)
        if shape is None:
            raise GraphUnfit("try", "a handler reads an array of unknown size that the body assigns", node.span)
        cell = HandlerCell(self.writer.expand(self.writer.constant(0, type_.dtype), shape), is_filled=is_filled)
        self.cells.append(cell)
        return cell

    def set_handler_cell(self, node: Node, cell: HandlerCell, value: Term) -> list[Item]:
        """Store a number for handlers."""
        self.write(cell, self.writer.cast(value, cell.term.dtype))
        self.write(cell.is_filled, self.writer.constant(True, bool_))
        return []

    def get_handler_cell(self, node: Node, cell: HandlerCell, default: Term) -> Term:
        """Return the number that the body stored, or `default` if it stored none."""
        return self.writer.select(cell.is_filled.term, cell.term, self.writer.cast(default, cell.term.dtype))

    def array_size(self, node: Node, view: View) -> Term:
        """Return the size of an array along an axis."""
        term = self.load(view)
        return self.writer.size_term(term, node.attributes["axis"] % term.rank, node.results[0].dtype)


def _addresses(shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Return the distances in bytes of an array's elements, in row-major order, from its first one."""
    result = np.zeros((), np.int64)
    for size, stride in zip(shape, strides, strict=True):
        result = np.add.outer(result, np.arange(size) * stride)
    return result.reshape(-1)


def types_of(node: Node) -> str:
    """Return the types of a node's inputs, "this" for none, to complete the message "… has no form for"."""
    return ", ".join(str(value.type) for value in node.inputs) or "this"


# By the name of the op: the method of `Memory` that writes it.
MEMORY_RULES: dict[str, Callable[..., Any]] = {
    "read_variable": Memory.read, "assign_variable": Memory.assign, "assign_add_variable": Memory.assign,
    "assign_sub_variable": Memory.assign, "array_load": Memory.array_load, "array_store": Memory.array_store,
    "array_set": Memory.array_set, "array_of": Memory.array_of, "array_new": Memory.array_new,
    "array_size": Memory.array_size, "array_view": Memory.view, "array_transpose": Memory.view,
    "cell": Memory.new_handler_cell, "cell_set": Memory.set_handler_cell, "cell_get": Memory.get_handler_cell,
    "array_part": Memory.view, "array_diagonal": Memory.view, "array_strided": Memory.view,
    "array_windows": Memory.view,
}  # fmt: skip
