"""Kind inference by unification: find objects that are numbers of one kind, and lists of them that do not escape.

Values that may be one object share a cell (Steensgaard, Points-to Analysis in Almost Linear Time). The lattice of a
cell's kind is None (nothing known) < one kind < OTHER; kinds only rise, to a fixed point. Conservative: a list with a
use of unknown effect is banned, that is, it stays a Python list, and the analysis starts again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.graph.dtypes import bfloat16, bool_, float16, float64, int64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ObjectType, TensorType, number_type
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.irreversible import late_nodes

# CURSOR, ROW_CURSOR: iterators over a list of numbers, and over a list of lists; ENUMERATE: an `enumerate` of a list of
# numbers; PAIRS: an iterator over its pairs; PAIR: one of them, (index, number).
LIST, ENUMERATE, CURSOR, PAIRS, PAIR = "list", "enumerate", "cursor", "pairs", "pair"
SLICE, RANGE, ROW_CURSOR, OTHER = "slice", "range", "row cursor", "other"
INT, FLOAT, BOOL = (number_type(dtype) for dtype in (int64, float64, bool_))
Kind = TensorType | str | None  # None: no definition is known yet
ARGUMENT_LIST_OP = "object_numbers"  # marks an argument as a list of numbers, or a list of such lists

# A rule sets the kinds of a node's results. It returns whether the node's effect on objects of these kinds is known;
# None where that is not decided yet. Rules are found by `operation_key`.
Rule = Callable[["Kinds", Node], bool | None]
RULES: dict[str, Rule] = {}
NESTED_RULES: dict[str, Rule] = {}  # for nodes with a list of lists as an operand
RUN_CHECKS: list[Callable[[Kinds], object]] = []  # checks at the end of a run, which may ban lists


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for the nodes with these keys."""
    return _register_in(RULES, names)


def nested_rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule for these keys where an operand is a list of lists."""
    return _register_in(NESTED_RULES, names)


def _register_in(table: dict[str, Rule], names: Sequence[str]) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        for name in names:
            table[name] = function
        return function

    return register


def operation_key(node: Node) -> str:
    """Return the name of the op, with the function or method that it applies."""
    key_attribute = {"object_apply": "function", "object_method": "name"}.get(node.op.name)
    return node.op.name if key_attribute is None else f"{node.op.name}.{node.attributes[key_attribute]}"


class Cell:
    """An equivalence class of values that may be one object.

    `content`: the cell of a list's items, or of the list that an iterator traverses; `sites`: the nodes that allocate
    the lists.
    """

    __slots__ = ("content", "kind", "parent", "sites")

    def __init__(self) -> None:
        self.parent: Cell | None = None
        self.kind: Kind = None
        self.content: Cell | None = None
        self.sites: set[Node] = set()


class Kinds:
    """The analysis of a graph, and its result: the kind of each object.

    `nodes_with_known_effect`: nodes whose effect on objects of these kinds is known; `nested_nodes`: those of them with
    a list of lists as operand; `late_nodes`: nodes that may run after a side effect that cannot be undone;
    `used_values`: values that a node reads or a graph returns. `_banned`: nodes that allocate lists which stay Python
    lists. `_is_final_phase`: kinds that are not decided in the first phase of a run count as OTHER.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.late_nodes = late_nodes(graph)
        self.used_values = _used_values(graph)
        self._banned: set[Node] = set()
        while not self._reach_fixed_point():
            pass

    def kind(self, value: Value) -> Kind:
        """Return the kind of an object; in the final phase it is OTHER if nothing is known."""
        kind = self.cell(value).kind
        return OTHER if kind is None and self._is_final_phase else kind

    def number_kind(self, value: Value) -> Kind:
        """Return the kind of an object, or the number type of a tensor."""
        if not isinstance(value.type, ObjectType):
            type_ = value.type
            return type_ if isinstance(type_, TensorType) and is_number(type_) else OTHER
        return self.kind(value)

    def cell(self, value: Value) -> Cell:
        """Return the cell of a value, a new one at the first call."""
        cell = self._cells.get(value)
        if cell is None:
            cell = self._cells[value] = Cell()
        return find_root(cell)

    def content(self, value: Value) -> Cell:
        """Return the cell of a list's items, or the cell of the list that an iterator traverses."""
        content = self.cell(value).content
        assert content is not None
        return find_root(content)

    def has_lists(self) -> bool:
        """Return whether any list becomes a typed list."""
        return any(find_root(cell).kind == LIST for cell in self._cells.values())

    # ---- transfer functions used by rules

    def raise_kind(self, cell: Cell, kind: Kind) -> None:
        """Raise the cell's kind to the join with `kind`: OTHER if they differ."""
        cell = find_root(cell)
        if kind is None or cell.kind == kind or cell.kind == OTHER:
            return
        self._has_changed = True
        kind_before = cell.kind
        cell.kind = kind if kind_before is None else OTHER
        if cell.kind == OTHER:
            self._ban_lists_of(cell, kind_before)

    def widen_kind_of(self, value: Value, kind: Kind) -> None:
        """Raise the kind of the value's cell to the join with `kind`."""
        self.raise_kind(self.cell(value), kind)

    def unify(self, first: Cell, second: Cell) -> None:
        """Make one cell of two, and of the cells of their contents."""
        first, second = find_root(first), find_root(second)
        if first is second:
            return
        self._has_changed = True
        are_joinable = first.kind == second.kind or None in (first.kind, second.kind)
        joined_kind = first.kind or second.kind
        second.parent = first
        first.sites |= second.sites
        contents = [content for content in (first.content, second.content) if content is not None]
        first.content = contents[0] if contents else None
        if are_joinable:
            first.kind = joined_kind
            if len(contents) == 2:
                self.unify(*contents)
            if first.kind == OTHER:
                self._ban_lists_of(first, kind_before=None)
            return
        first.kind = OTHER
        for content in contents:
            self._ban_sites(content)
        self._ban_lists_of(first, kind_before=None)

    def mark_list(self, node: Node) -> Cell | None:
        """Mark a node as an allocation site of a list; return the cell of its items, or None for a banned list."""
        return None if node in self._banned else self.mark_inner_list(self.cell(node.results[0]), node)

    def mark_inner_list(self, cell: Cell, node: Node) -> Cell | None:
        """Mark a node as an allocation site of a cell's lists; return the cell of their items, or None if banned."""
        cell.sites.add(node)
        if cell.content is None:
            cell.content = Cell()
        self.raise_kind(cell, LIST)
        cell = find_root(cell)
        if cell.kind == OTHER:
            self._banned.add(node)
            return None
        return find_root(cell.content or cell)

    def cells(self) -> set[Cell]:
        """Return all distinct cells."""
        return set(map(find_root, self._cells.values()))

    def ban(self, sites: set[Node]) -> None:
        """Exclude the lists allocated by these nodes."""
        self._banned |= sites

    def add_item(self, target: Value, value: Value) -> None:
        """Note that the value becomes an item of the list `target`."""
        kind = self.number_kind(value)
        if kind == LIST:
            self.unify(self.content(target), self.cell(value))
            return
        self.raise_kind(self.content(target), OTHER if kind is not None and not is_number(kind) else kind)

    def mark_iterator(self, value: Value, kind: str, list_cell: Cell) -> None:
        """Mark the value as an iterator of the kind over the list of `list_cell`."""
        cell = self.cell(value)
        if cell.content is None:
            cell.content = list_cell
        else:
            self.unify(cell.content, list_cell)
        self.raise_kind(cell, kind)
        if find_root(cell).kind == OTHER:
            self._ban_sites(list_cell)

    def _ban_lists_of(self, cell: Cell, kind_before: Kind) -> None:
        """Ban the lists of a cell that rises to OTHER; for the cell of an iterator, the lists that it traverses too."""
        self._ban_sites(cell)
        if cell.content is not None and kind_before != LIST:
            self._ban_sites(cell.content)

    def _ban_sites(self, cell: Cell) -> None:
        self._banned |= find_root(cell).sites

    # ---- fixed point

    def _reach_fixed_point(self) -> bool:
        """Run the analysis to a fixed point; return False if another list was banned, which requires a new run."""
        banned_before = len(self._banned)
        self._cells: dict[Value, Cell] = {}
        for value in self.graph.parameters:
            self._escape(value)
        for self._is_final_phase in (False, True):  # in the final phase undecided kinds are OTHER
            self._has_changed = True
            while self._has_changed:
                self._has_changed = False
                self.nodes_with_known_effect: set[Node] = set()
                self.nested_nodes: set[Node] = set()
                self._visited: set[Graph] = set()
                self._apply_rules(self.graph)
                for value in self.graph.outputs:
                    if self.kind(value) not in (None, LIST) and not is_number(self.kind(value)):
                        self._escape(value)
        for cell in self.cells():
            if cell.kind == LIST and not _holds_numbers(cell):
                self._banned |= cell.sites
        self._ban_shared_outputs()
        for check in RUN_CHECKS:
            check(self)
        return len(self._banned) == banned_before

    def _ban_shared_outputs(self) -> None:
        """Ban lists that two results may share: each result becomes a new list, so the identity would be lost."""
        output_by_cell: dict[Cell, Value] = {}
        for value in self.graph.outputs:
            cell = self.cell(value)
            while isinstance(value.type, ObjectType) and cell.kind == LIST:
                if output_by_cell.setdefault(cell, value) is not value:
                    self._ban_sites(cell)
                cell = find_root(cell.content or cell)
                if output_by_cell.get(cell) is value:
                    break  # a list that contains itself: `_holds_numbers` is false, so it is banned

    def _apply_rules(self, graph: Graph) -> None:
        """Apply the rules to each node of a graph and its regions, once."""
        if graph in self._visited:  # a recursive function
            return
        self._visited.add(graph)
        for node in graph.nodes:
            if node.regions:
                self._propagate_through_regions(node)
                for region in node.regions:
                    self._apply_rules(region)
                continue
            if not any(isinstance(value.type, ObjectType) for value in (*node.inputs, *node.results)):
                continue
            is_nested = any(self.is_nested_list(value) for value in node.inputs)
            rules = NESTED_RULES if is_nested else RULES
            is_effect_known = rules.get(operation_key(node), lambda *_: False)(self, node)
            if is_effect_known:
                self.nodes_with_known_effect.add(node)
                if is_nested:
                    self.nested_nodes.add(node)
            elif is_effect_known is False or self._is_final_phase:
                for value in node.inputs:
                    if not is_number(self.number_kind(value)):
                        self._escape(value)
                for value in node.results:
                    self._escape(value)

    def is_nested_list(self, value: Value) -> bool:
        """Return whether the value is a list of lists."""
        if not isinstance(value.type, ObjectType) or self.kind(value) != LIST:
            return False
        return self.content(value).kind == LIST

    def _escape(self, value: Value) -> None:
        """Raise the kind of an escaping object to OTHER."""
        if isinstance(value.type, ObjectType):
            self.widen_kind_of(value, OTHER)

    def _propagate_through_regions(self, node: Node) -> None:
        """Unify the values that are passed into regions and out of them; for unknown nodes, these values escape."""
        if node.op.traits.control:
            for source, target in flow_edges(node):
                if source is None:  # an exception
                    self._escape(target)
                else:
                    self._propagate(source, target)
        else:
            region_values = (value for region in node.regions for value in (*region.parameters, *region.outputs))
            for value in (*node.inputs, *node.results, *region_values):
                self._escape(value)

    def _propagate(self, source: Value, target: Value) -> None:
        """Note that `source` is passed on as `target`."""
        are_objects = isinstance(source.type, ObjectType), isinstance(target.type, ObjectType)
        if all(are_objects):
            self.unify(self.cell(target), self.cell(source))
            # A use reads the bounds from the node that defines the slice, so a slice that is passed on stays an object.
            if self.kind(source) == SLICE:
                self._escape(source)
        elif any(are_objects):
            self._escape(source)
            self._escape(target)


def _holds_numbers(cell: Cell) -> bool:
    """Return whether the list's items are numbers of one kind, or lists of these."""
    list_cells: set[Cell] = set()
    while cell.kind == LIST and cell not in list_cells:
        list_cells.add(cell)
        cell = find_root(cell.content or cell)
    return is_number(cell.kind)


def _used_values(graph: Graph) -> set[Value]:
    """Return the values that are operands or outputs, in regions too."""
    result = set(graph.outputs)
    for node in graph.walk():
        result.update(node.inputs)
        for region in node.regions:
            result.update(region.outputs)
    return result


def find_root(cell: Cell) -> Cell:
    """Return the cell that represents the class to which a cell belongs."""
    while cell.parent is not None:
        cell = cell.parent
    return cell


def is_number(kind: Any) -> bool:
    """Return whether the kind is a number type that can be an item of a typed list."""
    if not isinstance(kind, TensorType) or kind.shape != ():
        return False
    if kind.weak:
        return kind in (INT, FLOAT, BOOL)
    dtype = kind.dtype
    return dtype.is_bool or dtype.is_integer or (dtype.is_floating and dtype not in (float16, bfloat16))


def is_none(value: Value) -> bool:
    """Return whether the value is the constant None."""
    return value.node is not None and value.node.op.name == "object_constant" and constant_of(value) is None


def is_index(kind: Any) -> bool:
    """Return whether a list accepts numbers of the kind as indices."""
    if not is_number(kind):
        return False
    return bool(kind.dtype.is_integer or kind == BOOL)


def is_python_number(kind: Any) -> bool:
    """Return whether the kind is that of a Python number."""
    return kind in (INT, FLOAT, BOOL)
