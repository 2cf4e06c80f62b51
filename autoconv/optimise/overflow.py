"""Interval analysis of a graph's ints, and the points from which a call may have to rerun as plain Python.

A call reruns where a run meets a value or an operation that graphs cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from autoconv.errors import OtherKindError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ObjectType, TensorType
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.ops.analysis.value_range import SIZES, WHOLE, Range, is_inside, result_range
from autoconv.ops.numpy.list_arrays import is_guess

# Bound for a number that grows slowly in a loop: it is not reached in any feasible running time.
_SLOWLY: Range = (-(1 << 61), 1 << 61)
_SLOW_STEP = 1 << 10  # growth per iteration that counts as slow
_ROUNDS = 4  # iterations of a loop's analysis, the last two with widened ranges


_KNOWN = tuple(map(ObjectType, ("bool", "int", "float")))
# Operations that run code of a user's class, which a graph cannot, if their operand is an object of such a class.
_RUNNING = frozenset(f"object_{name}" for name in ("method", "get_attribute", "set_attribute", "delete_attribute"))
_OF_PYTHON = frozenset(
    {"bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "ndarray", "range", "set", "slice", "str",
     "tuple"}
)  # fmt: skip


def may_exceed(graph: Graph) -> bool:
    """Return whether an int of the graph may exceed 64 bits, judged by constants and loop counters.

    Also true if an array made of a list may be another one than the graph was traced for.
    """
    found = _Ranges()
    found.visit(graph, [None] * len(graph.parameters))
    return found.exceeds


def rerun_point(graph: Graph, lasts: Callable[[Node], bool]) -> tuple[Node | None, str]:
    """Return the first irreversible node (`lasts`) after which the call may have to rerun as plain Python, and why.

    The reasons are an int beyond 64 bits, a Python number of another kind than traced, and methods or properties of the
    user's classes, which a graph cannot run. The node is None if there is none.
    """
    found = _Ranges(lasts)
    if any(node.attributes.get("recursive") for node in graph.walk()):
        found.last = found.first_of(graph)
    found.visit(graph, [None] * len(graph.parameters))
    return found.behind, found.what


def _is_size(node: Node) -> bool:
    """Return whether the node gives a non-negative integer: a size, or a number that its inputs' shapes decide."""
    types = [value.type for value in node.results]
    integers = all(isinstance(t, TensorType) and t.dtype.is_integer and t.shape == () for t in types)
    return integers and reads_only_shapes(node)


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


class _Ranges:
    """Forward interval analysis; unknown ints have the range `WHOLE`, loop state is widened.

    `last` is the first irreversible node passed. `behind` is that node once the call may have to rerun after it, for
    the reason `what`.
    """

    def __init__(self, lasts: Callable[[Node], bool] = lambda _: False) -> None:
        self.exceeds = False
        self.behind: Node | None = None
        self.what = ""
        self.last: Node | None = None
        self._lasts = lasts
        self._known: dict[Value, Range] = {}
        self._entered: set[Graph] = set()  # bodies of recursive functions

    def of(self, value: Value) -> Range:
        return self._known.get(value, WHOLE)

    def visit(self, graph: Graph, given: Sequence[Range | None]) -> list[Range]:
        """Return the ranges of the outputs, given those of the parameters."""
        for value, range_ in zip(graph.parameters, given, strict=True):
            self._known[value] = WHOLE if range_ is None else range_
        for node in graph.nodes:
            if self.last is None and not node.regions and self._lasts(node):
                self.last = node
            self._node(node)
        return [self.of(value) for value in graph.outputs]

    def _node(self, node: Node) -> None:
        name = node.op.name
        given = [self.of(value) for value in node.inputs]
        if name == "constant":
            self._constant(node)
        elif _is_size(node):
            self._known.update(dict.fromkeys(node.results, SIZES))
        elif name == "cond":
            arms = [self.visit(region, given[1:]) for region in node.regions]
            for value, ranges in zip(node.results, zip(*arms, strict=True), strict=True):
                self._known[value] = min(low for low, _ in ranges), max(high for _, high in ranges)
        elif name == "while":
            self._loop(node, given)
        elif name == "call" and not node.attributes.get("recursive"):
            self._known.update(zip(node.results, self.visit(node.regions[0], given), strict=True))
        elif is_guess(node):
            self._exceeded()
        elif node.regions:
            for region in node.regions:
                if not node.attributes.get("recursive") or region not in self._entered:
                    self._entered.add(region)
                    self.visit(region, [None] * len(region.parameters))
        else:
            self._number(node, given)
        if may_be_another(node):
            self._ends("a number may be of another kind")
        elif may_run_code(node):
            self._ends("a class may have code of its own for an object")

    def _number(self, node: Node, given: Sequence[Range]) -> None:
        """Note the range of a number that is computed of numbers."""
        if not all(_is_number(value) for value in (*node.inputs, *node.results)):
            return
        found = None if _has_floats(node) else result_range(node.op.name, given)
        if found is not None and is_inside(found):
            self._known[node.results[0]] = found
        elif node.op.traits.limited and not _is_floating(node):
            self._exceeded()

    def _exceeded(self) -> None:
        self.exceeds = True
        self._ends("an int may outgrow 64 bits")

    def _ends(self, what: str) -> None:
        if self.behind is None and self.last is not None:
            self.behind, self.what = self.last, what

    def first_of(self, graph: Graph) -> Node | None:
        """Return the first irreversible node of the graph."""
        return next((node for node in graph.walk() if not node.regions and self._lasts(node)), None)

    def _constant(self, node: Node) -> None:
        array = np.asarray(node.attributes["value"])
        if array.shape == () and array.dtype.kind in "bi":
            self._known[node.results[0]] = int(array), int(array)

    def _loop(self, node: Node, given: Sequence[Range]) -> None:
        """Compute the ranges of loop state: iterate to a fixed point, widen to slow growth, and at last to `WHOLE`."""
        count = state_size(node)
        test, body = node.regions
        state = list(given[:count])
        self.last = self.last or self.first_of(test) or self.first_of(body)
        before = self.exceeds, self.behind
        for turn in range(_ROUNDS):
            self.exceeds, self.behind = before
            self.visit(test, [*state, *given[count:]])
            after = self.visit(body, [*self._inside(node, state, given), *given[count:]])
            wider = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(state, after, strict=True)]
            if wider == state:
                break
            last = turn == _ROUNDS - 2
            state = [_widened(a, b) if last else b for a, b in zip(state, wider, strict=True)]
            if turn == _ROUNDS - 1:
                grows = [not _is_slow(a, b) for a, b in zip(state, after, strict=True)]
                if any(grows):
                    state = [WHOLE if grown else a for grown, a in zip(grows, state, strict=True)]
                    self.visit(test, [*state, *given[count:]])
                    self.visit(body, [*state, *given[count:]])
        for value, range_ in zip(node.results, state, strict=True):
            self._known[value] = range_

    def _inside(self, node: Node, state: Sequence[Range], given: Sequence[Range]) -> list[Range]:
        """Return the state's ranges in the body, where a counter is less than its limit."""
        test = node.regions[0]
        decides = test.outputs[0].node
        result = list(state)
        if decides is None or decides.op.name != "python_less":
            return result
        first, limit = decides.inputs
        if first.node is None and first in test.parameters[: len(state)]:
            position = test.parameters.index(first)
            low, high = result[position]
            result[position] = low, max(low, min(high, self.of(limit)[1] - 1))
        return result


def _widened(before: Range, after: Range) -> Range:
    if before == after or not (_SLOWLY[0] <= before[0] and before[1] <= _SLOWLY[1]):
        return after
    return (before[0] if after[0] == before[0] else _SLOWLY[0], before[1] if after[1] == before[1] else _SLOWLY[1])


def _is_slow(state: Range, after: Range) -> bool:
    return state[0] - _SLOW_STEP <= after[0] and after[1] <= state[1] + _SLOW_STEP


def _is_number(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.shape == ()


def _is_complex(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.dtype.is_complex


def _has_floats(node: Node) -> bool:
    """Return whether an operand is a float; ranges of floats are unknown."""
    return any(isinstance(value.type, TensorType) and value.dtype.is_floating for value in node.inputs)


def _is_floating(node: Node) -> bool:
    """Return whether the result is not an int, and so has no limit of 64 bits."""
    type_ = node.results[0].type
    return isinstance(type_, TensorType) and not type_.dtype.is_integer


__all__ = ["may_be_another", "may_exceed", "may_run_code", "rerun_point"]
