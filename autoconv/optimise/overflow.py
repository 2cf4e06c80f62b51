"""Ints that may exceed 64 bits, and the points of a graph from which a call may have to rerun as plain Python.

A call reruns where a run meets a value or an operation that graphs cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.errors import OtherKindError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ObjectType, TensorType
from autoconv.ops.analysis.integer_ranges import RangeAnalysis
from autoconv.ops.analysis.value_range import is_inside, result_range
from autoconv.ops.numpy.list_arrays import is_guess

_KNOWN = tuple(map(ObjectType, ("bool", "int", "float")))
# Operations that run code of a user's class, which a graph cannot, if their operand is an object of such a class.
_RUNNING = frozenset(f"object_{name}" for name in ("method", "get_attribute", "set_attribute", "delete_attribute"))
_OF_PYTHON = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "ndarray", "range", "set", "slice", "str",
     "tuple"}
)  # fmt: skip


def may_exceed(graph: Graph) -> bool:
    """Return whether an int of the graph may exceed 64 bits, judged by the ranges of the ints.

    Also true if an array made of a list may be another one than the graph was traced for.
    """
    return _ReachedNodes(graph).exceeds


def rerun_point(graph: Graph, lasts: Callable[[Node], bool]) -> tuple[Node | None, str]:
    """Return the first irreversible node (`lasts`) after which the call may have to rerun as plain Python, and why.

    The reasons are an int beyond 64 bits, a Python number of another kind than traced, and a method or property that a
    graph cannot run. The node is None if there is none.
    """
    found = _ReachedNodes(graph, lasts)
    return found.behind, found.what


def may_be_another(node: Node) -> bool:
    """Return whether the node may meet a Python number of another kind than the graph was traced for."""
    if node.op.name == "raise":
        return isinstance(node.attributes["exception"], OtherKindError)
    if node.op.name == "assert_true":
        return node.attributes.get("kind") == "another"
    if node.op.name == "python_power":
        return not any(_is_complex(value) for value in node.inputs)
    if node.op.name == "object_unbox":
        return node.attributes["type"].weak and node.inputs[0].type not in _KNOWN
    if node.op.name == "object_box":
        return node.attributes["how"] == "identified"
    return node.op.name.startswith("typed_list_total") or is_guess(node)


def may_run_code(node: Node) -> bool:
    """Return whether a node may need a method or property of a user's class, which a graph cannot run."""
    if node.op.name == "object_apply":
        return node.attributes["function"] in ("hasattr", "not_called")
    first = node.inputs[0].type if node.op.name in _RUNNING else None
    return isinstance(first, ObjectType) and first.kind not in _OF_PYTHON


class _ReachedNodes:
    """Irreversible nodes, and those where a call may have to rerun, in the order of a run and by an interval analysis.

    `last` is the first irreversible node passed. `behind` is that node once the call may have to rerun after it, for
    the reason `what`.
    """

    def __init__(self, graph: Graph, lasts: Callable[[Node], bool] = lambda _: False) -> None:
        self.exceeds = False
        self.behind: Node | None = None
        self.what = ""
        self._lasts = lasts
        is_recursive = any(node.attributes.get("recursive") for node in graph.walk())
        self._last = self._first_of(graph) if is_recursive else None
        self._ranges = RangeAnalysis(self._meet, assumes_slow_growth=True)
        self._ranges.run(graph)

    def _meet(self, node: Node) -> None:
        if self._last is None:
            if node.op.traits.repeats:  # what an iteration does precedes the next one
                self._last = self._first_of(*node.regions)
            elif not node.regions and self._lasts(node):
                self._last = node
        if is_guess(node) or self._may_exceed(node):
            self.exceeds = True
            self._may_end("an int may outgrow 64 bits")
        if may_be_another(node):
            self._may_end("a number may be of another kind")
        elif may_run_code(node):
            self._may_end("a class may have code of its own for an object")

    def _may_exceed(self, node: Node) -> bool:
        """Return whether a number that the node computes of numbers may be an int beyond 64 bits."""
        values = (*node.inputs, *node.results)
        if not node.op.traits.limited or not all(map(_is_number, values)) or _is_floating(node):
            return False
        given = [self._ranges.of(value) for value in node.inputs]
        known = [each for each in given if each is not None]
        found = result_range(node.op.name, known) if len(known) == len(given) else None
        return found is None or not is_inside(found)

    def _may_end(self, what: str) -> None:
        if self.behind is None and self._last is not None:
            self.behind, self.what = self._last, what

    def _first_of(self, *graphs: Graph) -> Node | None:
        """Return the first irreversible node of the graphs."""
        nodes = (node for graph in graphs for node in graph.walk())
        return next((node for node in nodes if not node.regions and self._lasts(node)), None)


def _is_number(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.shape == ()


def _is_complex(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.dtype.is_complex


def _is_floating(node: Node) -> bool:
    """Return whether the result is not an int, and so has no limit of 64 bits."""
    type_ = node.results[0].type
    return isinstance(type_, TensorType) and not type_.dtype.is_integer


__all__ = ["may_be_another", "may_exceed", "may_run_code", "rerun_point"]
