"""Narrow the element types of lists that only their graph writes, such as those that save values for gradients.

    before   %list_empty = list_empty(shape=(None,)): list<float32[?]>
    after    %list_empty = list_empty(shape=(None,)): list<float32[5]>       if only values of float32[5] are pushed

If a list keeps the constant length with which it is reserved, as a TensorArray does, the size of its stack is known:

    before   %list_stack = list_stack(%list): float32[?,5]
    after    %list_stack = list_stack(%list): float32[6,5]                   if %list comes from list_reserve(6), and
                                                                             only list_set writes to it
"""

from __future__ import annotations

from typing import Any

from autoconv.graph.dimensions import is_computed
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.region_flow import captured_operands, flow_edges
from autoconv.graph.types import (
    Dimension,
    ListType,
    NoCommonType,
    Shape,
    Symbol,
    TensorType,
    Type,
    has_all_sizes,
    is_subtype,
    join,
)
from autoconv.optimise.symbolic.driver import derive_numbers
from autoconv.optimise.symbolic.sizes import Sizes


def narrow_lists(graph: Graph) -> bool:
    """Narrow, in place, the types of lists that are no parameters or outputs; return whether any type changed."""
    return _collect_lists(graph).narrow()


def array_types(graph: Graph) -> dict[Value, TensorType]:
    """Return, for each list of the graph that keeps its length, the type of an array that may stand for it.

    The first size is the length, None if it is known only at run time; the others are numbers or symbols of the graph's
    types. Lists that change their length, or have unknown uses, have no entry.
    """
    return _collect_lists(graph).array_types()


def _collect_lists(graph: Graph) -> _Lists:
    """Return the facts about the lists of a graph; the types of parameters and outputs stay as they are."""
    lists = _Lists()
    for value in (*graph.parameters, *graph.outputs):
        lists.exclude(value)
    lists.visit(graph)
    return lists


class _Lists:
    """Union-find over values that may be versions of one list; the element type is the join of all written types.

    Conservative: a list that is used by an op without a case in `_visit_node` is excluded, and keeps its type. Elements
    that were never written are read as zeros, in the shape of the reader's attribute `shape`, or else of the written
    elements. A reader without a known shape therefore excludes a list that may have no written element: the kernel
    would raise. Reserved lists of a constant length are taken to have a written element. A shape is known if its sizes
    are numbers, or symbols of the graph's types.
    """

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}
        self._excluded: set[Value] = set()
        self._written_types: list[tuple[Value, Type]] = []  # (list, type of an element written into it)
        self._length_facts: list[tuple[Value, Dimension]] = []  # (list, its length; None if unknown or changed)
        self._equal_lengths: list[tuple[Value, Value]] = []  # (list, another list, with whose length it is reserved)
        self._resized_lists: list[Value] = []  # lists that grow or shrink
        self._stack_nodes: list[Node] = []  # nodes of list_stack
        self._reserved_lists: list[Value] = []
        self._lists_of_open_readers: list[Value] = []  # lists whose readers have no known shape
        self._sizes = Sizes()  # the numbers that nodes compute from sizes

    def _root(self, value: Value) -> Value:
        """Return the value that represents the list; the first call adds the list to the analysis."""
        self._parent.setdefault(value, value)
        while self._parent[value] is not value:
            value = self._parent[value]
        return value

    def exclude(self, value: Value) -> None:
        """Let the list keep its type."""
        if isinstance(value.type, ListType):
            self._excluded.add(self._root(value))

    def _unify(self, first: Value, second: Value) -> None:
        """Note that two values may be versions of one list."""
        if not isinstance(first.type, ListType) or not isinstance(second.type, ListType):
            self.exclude(first)
            self.exclude(second)
            return
        first_root, second_root = self._root(first), self._root(second)
        self._parent[first_root] = second_root
        if first_root in self._excluded:
            self._excluded.add(second_root)

    def visit(self, graph: Graph) -> None:
        """Collect the facts about the lists of a graph and its regions."""
        for node in graph.nodes:
            self._visit_node(node)
            derive_numbers(self._sizes, node)
            if not is_recursive(node):
                for region in node.regions:
                    captures = captured_operands(node)
                    self._sizes.copy_facts(region.parameters[len(region.parameters) - len(captures) :], captures)
                    self.visit(region)

    def _visit_node(self, node: Node) -> None:
        """Record which values are one list, lengths, and types of written elements; an unknown use excludes lists."""
        name, inputs = node.op.name, node.inputs
        if name == "list_reserve":
            self._reserved_lists += node.results
        if name == "list_empty":
            self._note_resizing(node.results[0])
        elif name == "list_reserve" and _is_length(inputs[0]):
            self._equal_lengths.append((node.results[0], inputs[0].node.inputs[0]))  # type: ignore[union-attr]
        elif name == "list_reserve":
            self._length_facts.append((node.results[0], _reserved_length(self._sizes.numbers.get(inputs[0]))))
        elif name == "list_from_tensor" and _is_known_shape(getattr(inputs[0].type, "shape", None)):
            length, *item_shape = inputs[0].shape or ()
            self._length_facts.append((node.results[0], length))
            self._written_types.append((node.results[0], inputs[0].type.with_shape(tuple(item_shape))))  # type: ignore[union-attr]
        elif name in ("list_zeros_like", "list_add"):
            for value in inputs:
                self._unify(value, node.results[0])
        elif name in ("list_push", "list_pop"):
            self._unify(inputs[0], node.results[0])
            self._note_resizing(inputs[0])
            self._written_types += [(inputs[0], value.type) for value in inputs[1:]]
        elif name == "list_set":
            self._unify(inputs[0], node.results[0])
            self._written_types.append((inputs[0], inputs[2].type))
            if node.attributes.get("resize"):
                self._note_resizing(inputs[0])
        elif name in ("list_get", "list_stack"):
            self._root(inputs[0])
            if name == "list_stack":
                self._stack_nodes.append(node)
            if not _is_known_shape(_item_shape(node)):
                self._lists_of_open_readers.append(inputs[0])
        elif name in ("while", "cond", "call") and not is_recursive(node):
            for source, target in flow_edges(node):
                assert source is not None  # only the exception that a `try` catches has no source
                self._unify(source, target)
        elif name != "list_length":
            values = [*inputs, *node.results]
            for region in node.regions:
                values += [*region.parameters, *region.outputs]
            for value in values:
                self.exclude(value)

    def _note_resizing(self, value: Value) -> None:
        """Note that the list has no constant length."""
        self._length_facts.append((value, None))
        self._resized_lists.append(value)

    def _excluded_roots(self, type_by_root: dict[Value, Type | None], length_by_root: dict[Value, Any]) -> set[Value]:
        """Return the roots of the lists that keep their types."""
        result = {self._root(value) for value in self._excluded}
        reserved_roots = {self._root(value) for value in self._reserved_lists}
        for root in {self._root(value) for value in self._lists_of_open_readers}:
            is_written = root not in reserved_roots or bool(length_by_root.get(root))
            element = type_by_root.get(root)
            if not (is_written and isinstance(element, TensorType) and _is_known_shape(element.shape)):
                result.add(root)
        return result

    def array_types(self) -> dict[Value, TensorType]:
        """Return the types of arrays for lists that keep their length, and whose elements are arrays of one size."""
        type_by_root, length_by_root = self._element_types(), self._known_lengths()
        excluded = self._excluded_roots(type_by_root, length_by_root) | {*map(self._root, self._resized_lists)}
        roots_with_length = {self._root(value) for value, _ in (*self._length_facts, *self._equal_lengths)} - excluded
        result: dict[Value, TensorType] = {}
        for value in self._parent:
            root = self._root(value)
            item = _array_element_type(value, type_by_root.get(root))
            if root in roots_with_length and item is not None:
                result[value] = TensorType(item.dtype, (length_by_root[root], *(item.shape or ())))
            else:
                excluded.add(root)
        return {value: type_ for value, type_ in result.items() if self._root(value) not in excluded}

    def _element_types(self) -> dict[Value, Type | None]:
        """Return the join of the types of each list's elements, by its root; None for types without a join."""
        type_by_root: dict[Value, Type | None] = {}
        for value, type_ in self._written_types:
            root = self._root(value)
            try:
                type_before = type_by_root.get(root, type_)
                type_by_root[root] = None if type_before is None else join(type_before, type_)
            except NoCommonType:
                type_by_root[root] = None
        return type_by_root

    def _known_lengths(self) -> dict[Value, Dimension]:
        """Return the length of each list, by its root; None if the length is unknown or changes."""
        length_by_root: dict[Value, Dimension] = {}
        for value, length in self._length_facts:
            root = self._root(value)
            length_by_root[root] = length if length_by_root.get(root, length) == length else None
        excluded = {self._root(value) for value in self._excluded}
        for value, other in self._equal_lengths:
            root, other_root = self._root(value), self._root(other)
            length = None if other_root in excluded else length_by_root.get(other_root)
            length_by_root[root] = length if length_by_root.get(root, length) == length else None
        return length_by_root

    def narrow(self) -> bool:
        """Narrow the types of lists and of their stacks, in place; return whether any type changed."""
        type_by_root, length_by_root = self._element_types(), self._known_lengths()
        excluded = self._excluded_roots(type_by_root, length_by_root)
        has_changed = False
        for value in list(self._parent):
            root = self._root(value)
            element = type_by_root.get(root)
            if element is None or root in excluded or not isinstance(value.type, ListType):
                continue
            old_element = value.type.element
            if element != old_element and isinstance(element, TensorType) and _is_narrower(element, old_element):
                value.type = ListType(element)
                has_changed = True
        return self._narrow_stacks(excluded, length_by_root) or has_changed

    def _narrow_stacks(self, excluded: set[Value], length_by_root: dict[Value, Dimension]) -> bool:
        """Set the sizes of stacks of lists with a known length; return whether any type changed."""
        has_changed = False
        for node in self._stack_nodes:
            root, (result,) = self._root(node.inputs[0]), node.results
            length = None if root in excluded else length_by_root.get(root)
            if length is not None and isinstance(result.type, TensorType) and not _is_known_shape(result.type.shape):
                result.type = result.type.with_shape((length, *(_item_shape(node) or ())))
                has_changed |= _is_known_shape(result.type.shape)
        return has_changed


def _is_length(value: Value) -> bool:
    """Return whether the value is the length of a list."""
    return value.node is not None and value.node.op.name == "list_length"


def _reserved_length(number: Any) -> Dimension:
    """Return a number as the length of a list; None for one that may be negative, as n - 3 may."""
    return number if isinstance(number, int) or type(number) is Symbol else None


def _is_known_shape(shape: Shape) -> bool:
    """Return whether all sizes are numbers, or symbols of the types of parameters."""
    return has_all_sizes(shape) and not any(map(is_computed, shape))  # type: ignore[arg-type]


def _array_element_type(list_: Value, element: Type | None) -> TensorType | None:
    """Return the type of the elements of an array that stands for the list; None where no array can.

    `element` is the join of the types of the elements that are written into the list.
    """
    declared = list_.type.element if isinstance(list_.type, ListType) else None
    if not isinstance(element, TensorType) or not isinstance(declared, TensorType) or declared.weak:
        return None
    return element if element.dtype is declared.dtype and _is_known_shape(element.shape) else None


def _item_shape(node: Node) -> Shape:
    """Return the shape in which a node reads the elements of a list.

    It is that of the list's element type if it is known, or if the node has no attribute `shape`; else the attribute.
    """
    list_type = node.inputs[0].type
    element_shape = getattr(list_type.element, "shape", None) if isinstance(list_type, ListType) else None
    shape = node.attributes.get("shape")
    return element_shape if shape is None or _is_known_shape(element_shape) else shape


def _is_narrower(new: TensorType, old: Type) -> bool:
    """Return whether `new` is a subtype of `old` with the same dtype."""
    have_equal_dtypes = isinstance(old, TensorType) and (new.dtype, new.weak) == (old.dtype, old.weak)
    return have_equal_dtypes and is_subtype(new, old)
