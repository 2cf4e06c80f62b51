"""Find the tensor lists that can be stacks: only pushed and popped, with one live version at a time.

Such a list is one growing buffer, an array of bytes: the number of elements, the capacity, the address of the elements,
and the elements. The tape that a loop keeps for its backward pass is of this kind. A list that is a parameter or an
output of the graph qualifies as well; `entry/list_stacks.py` converts it from and to the caller's Python list.
"""

from __future__ import annotations

from collections.abc import Iterator

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ListType

HEADER_BYTES = 32  # bytes before the first element
INITIAL_CAPACITY = 16  # capacity of a new stack, in elements
INITIAL_BYTES_LIMIT = 1 << 16  # limit of that capacity in bytes
LEARNED_BYTES_LIMIT = 1 << 26  # a new stack begins with the capacity that earlier ones reached, up to this many bytes
SMALL_STACK_BYTES = 1 << 20  # a full stack of at most this many bytes grows by half, a larger one by an eighth

_EMPTY, _PUSH, _POP = "list_empty", "list_push", "list_pop"


def stack_versions(graph: Graph) -> frozenset[Value]:
    """Return the values of the graph and its regions that are sure to be versions of stacks."""
    versions = _ListVersions()
    if any(is_recursive(node) for node in graph.walk()):
        return frozenset()
    versions.visit(graph)
    return versions.stack_values()


class _ListVersions:
    """Equivalence classes (union-find) of values that may be versions of one list.

    A class is excluded if one of its values is used in another way than as a stack.
    """

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}
        self._excluded_values: set[Value] = set()

    def _root(self, value: Value) -> Value:
        """Return the representative of the class of a value, which is new if no other value has joined it."""
        self._parent.setdefault(value, value)
        while self._parent[value] is not value:
            self._parent[value] = self._parent[self._parent[value]]
            value = self._parent[value]
        return value

    def join(self, first: Value, second: Value) -> None:
        """Make two lists one stack; it is excluded if either is, or if their types differ. Other values are skipped."""
        if not isinstance(first.type, ListType):
            return
        first_root, second_root = self._root(first), self._root(second)
        if first.type != second.type:
            self.exclude(first)
            self.exclude(second)
        if first_root is not second_root:
            self._parent[first_root] = second_root
            if first_root in self._excluded_values:
                self._excluded_values.add(second_root)

    def exclude(self, value: Value) -> None:
        """Exclude the class of a value."""
        self._excluded_values.add(self._root(value))

    def stack_values(self) -> frozenset[Value]:
        """Return the values of all classes that are not excluded and have native elements."""
        excluded_roots = {self._root(value) for value in self._excluded_values}
        candidates = [value for value in list(self._parent) if self._root(value) not in excluded_roots]
        return frozenset(filter(_has_native_elements, candidates))

    def visit(self, graph: Graph) -> None:
        """Record how a graph and its regions use lists."""
        uses: dict[Value, int] = {}
        for value in graph.parameters:
            if isinstance(value.type, ListType):
                self._root(value)
        for value in graph.outputs:
            if isinstance(value.type, ListType):
                uses[value] = uses.get(value, 0) + 1
        for node in graph.nodes:
            for value in node.inputs:
                if isinstance(value.type, ListType):
                    uses[value] = uses.get(value, 0) + 1
            self._visit_node(node)
            for region in node.regions:
                self.visit(region)
        for value, count in uses.items():
            if count > 1:  # two uses of one version would need two copies of the buffer
                self.exclude(value)

    def _visit_node(self, node: Node) -> None:
        """Join the lists that are one stack in the node, and exclude those that the node uses in another way."""
        name = node.op.name
        if name == _EMPTY:
            self._root(node.results[0])
        elif name in (_PUSH, _POP):
            self.join(node.inputs[0], node.results[0])
            item = node.inputs[1] if name == _PUSH else node.results[1]
            if item.type != node.inputs[0].type.element:  # type: ignore[union-attr]
                self.exclude(node.inputs[0])
            for value in (*node.inputs[1:], *node.results[1:]):
                if isinstance(value.type, ListType):
                    self.exclude(value)
        elif node.regions and lowering_class(node) == "kernel":  # regions of kernels take lists as Python lists
            for value in self._list_values(node):
                self.exclude(value)
        elif name in ("cond", "call"):
            captures = node.inputs[1:] if name == "cond" else node.inputs
            for region in node.regions:
                for outer, parameter in zip(captures, region.parameters, strict=True):
                    self.join(outer, parameter)
                for output, result in zip(region.outputs, node.results, strict=True):
                    self.join(output, result)
        elif name == "while":
            self._visit_loop(node)
        else:
            for value in self._list_values(node):
                self.exclude(value)

    def _visit_loop(self, node: Node) -> None:
        """Join the versions of each list of the loop's state; exclude captured lists and those that the test reads."""
        state_count = state_size(node)
        test, body = node.regions
        for position, operand in enumerate(node.inputs):
            for region in (test, body):
                self.join(operand, region.parameters[position])
            if not isinstance(operand.type, ListType):
                continue
            if position >= state_count:
                self.exclude(operand)  # each iteration would start with the same version
                continue
            self.join(body.outputs[position], operand)
            self.join(node.results[position], operand)
            if any(test.parameters[position] in inner.inputs for inner in test.nodes):
                self.exclude(operand)  # the body uses the same version

    @staticmethod
    def _list_values(node: Node) -> Iterator[Value]:
        """Yield the lists among operands and results, and among the parameters and outputs of regions."""
        for value in (*node.inputs, *node.results):
            if isinstance(value.type, ListType):
                yield value
        for region in node.regions:
            for value in (*region.parameters, *region.outputs):
                if isinstance(value.type, ListType):
                    yield value


def _has_native_elements(value: Value) -> bool:
    """Return whether the elements of a list are scalars or dense arrays."""
    element = value.type.element  # type: ignore[union-attr]
    return is_scalar(element) or is_dense(element)
