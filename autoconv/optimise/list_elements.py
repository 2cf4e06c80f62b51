"""Narrow the element types of lists whose pushed types are all known, such as the lists that save values for gradients.

    before   %list_empty = list_empty(shape=(None,)): list<float32[?]>       and pushes of float32[5] alone
    after    %list_empty = list_empty(shape=(None,)): list<float32[5]>
"""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.region_flow import edges
from autoconv.graph.types import ListType, NoCommonType, TensorType, Type, is_subtype, join

_READERS = frozenset({"list_length"})


def narrow_lists(graph: Graph) -> bool:
    """Narrow the types of lists that stay inside of this graph, in place; return whether any type changed."""
    lists = _Lists()
    for value in (*graph.parameters, *graph.outputs):
        lists.spoil(value)
    lists.visit(graph)
    return lists.narrow()


class _Lists:
    """Union-find over values that may be versions of one list; the element type is the join of all pushed types.

    Conservative: a list with any other use is spoiled, and keeps its type.
    """

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}
        self._excluded: set[Value] = set()
        self._pushed: list[tuple[Value, Type]] = []

    def _root(self, value: Value) -> Value:
        self._parent.setdefault(value, value)
        while self._parent[value] is not value:
            value = self._parent[value]
        return value

    def spoil(self, value: Value) -> None:
        if isinstance(value.type, ListType):
            self._excluded.add(self._root(value))

    def _join(self, first: Value, second: Value) -> None:
        if not isinstance(first.type, ListType) or not isinstance(second.type, ListType):
            self.spoil(first)
            self.spoil(second)
            return
        a, b = self._root(first), self._root(second)
        self._parent[a] = b
        if a in self._excluded:
            self._excluded.add(b)

    def visit(self, graph: Graph) -> None:
        for node in graph.nodes:
            self._visit_node(node)
            if not is_recursive(node):
                for region in node.regions:
                    self.visit(region)

    def _visit_node(self, node: Node) -> None:
        name, inputs = node.op.name, node.inputs
        if name == "list_empty":
            self._root(node.results[0])
        elif name == "list_push":
            self._join(inputs[0], node.results[0])
            self._pushed.append((inputs[0], inputs[1].type))
        elif name == "list_pop":
            self._join(inputs[0], node.results[0])
        elif name in ("while", "cond", "call") and not is_recursive(node):
            for source, target in edges(node):
                assert source is not None  # there are no exceptions without a try
                self._join(source, target)
        elif name not in _READERS:
            values = [*inputs, *node.results]
            for region in node.regions:
                values += [*region.parameters, *region.outputs]
            for value in values:
                self.spoil(value)

    def narrow(self) -> bool:
        elements: dict[Value, Type | None] = {}
        for value, type_ in self._pushed:
            root = self._root(value)
            try:
                before = elements.get(root, type_)
                elements[root] = None if before is None else join(before, type_)
            except NoCommonType:
                elements[root] = None
        spoiled = {self._root(value) for value in self._excluded}
        changed = False
        for value in list(self._parent):
            root = self._root(value)
            element = elements.get(root)
            if element is None or root in spoiled or not isinstance(value.type, ListType):
                continue
            old = value.type.element
            if element != old and isinstance(element, TensorType) and _is_narrower(element, old):
                value.type = ListType(element)
                changed = True
        return changed


def _is_narrower(new: TensorType, old: Type) -> bool:
    alike = isinstance(old, TensorType) and (new.dtype, new.weak) == (old.dtype, old.weak)
    return alike and is_subtype(new, old)
