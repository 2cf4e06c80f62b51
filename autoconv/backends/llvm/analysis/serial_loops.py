"""Loops that LLVM does not vectorise: an iteration may read what earlier ones wrote, at positions that it computes.

    counts[places[i]] += 1                  a write at a position that the iteration computes
    d[i, j] = min(d[i, j], d[i, k] + …)     a read, at a fixed position, of the array that is written
    d[i, j] = min(d[i - 1, j], d[i, j - 1]) a read of the element that the iteration before wrote
    while x[i] > x[stack[top]]: …           a number of iterations that only the loop finds

In such a loop a test for overflow is a branch, one instruction. In other loops the tests are joined as bits, which
vectorises.
"""

from __future__ import annotations

from autoconv.backends.llvm.analysis.loop_dependence import LoopDependence
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType
from autoconv.ops.analysis.alias import base_of
from autoconv.ops.analysis.induction import constant_of, counter_of

_INVARIANT, _LINEAR, _OTHER = range(3)  # how a position depends on the iteration's number


def is_serial(loop: Node, dependence: LoopDependence) -> bool:
    """Return whether a loop without loops in it is sure to run element by element."""
    body, counter = loop.regions[1], counter_of(loop)
    if any(node.op.traits.repeats for node in body.walk()):
        return False
    if counter is None or not counter.is_only_exit or dependence.reads_previous_element(loop):
        return True
    dependences = _IterationDependence(loop, body)
    written_arrays = [node.inputs[0] for node in body.nodes if node.op.traits.stores_into is not None]
    if any(dependences.of_element(array) == _OTHER for array in written_arrays):
        return True
    bases = {base_of(array) for array in written_arrays}
    read_arrays = [node.inputs[0] for node in body.nodes if node.op.name == "array_load"]
    return any(base_of(array) in bases and dependences.of_element(array) == _INVARIANT for array in read_arrays)


class _IterationDependence:
    """The dependence of positions on the iteration, as far as additions and subtractions show it."""

    def __init__(self, loop: Node, body: Graph) -> None:
        self._known_dependences = dict.fromkeys(body.parameters[state_size(loop) :], _INVARIANT)
        counter = counter_of(loop)
        if counter is not None:
            self._known_dependences[body.parameters[counter.position]] = _LINEAR

    def of_element(self, view: Value) -> int:
        """Return the dependence of an element's position in an array; `_LINEAR` for a view with axes."""
        if isinstance(view.type, ArrayType) and view.type.shape:
            return _LINEAR
        result = _INVARIANT
        while view.node is not None and view.node.op.traits.view:
            result = max((result, *map(self._of_number, view.node.inputs[1:])))
            view = view.node.inputs[0]
        return result

    def _of_number(self, value: Value) -> int:
        """Return the dependence of a number, which is computed once."""
        if value not in self._known_dependences:
            self._known_dependences[value] = self._of_result(value)
        return self._known_dependences[value]

    def _of_result(self, value: Value) -> int:
        """Return the dependence of a computed number: known for linear ops, and for elementwise ops of invariants.
        """
        node = value.node
        if constant_of(value) is not None:
            return _INVARIANT
        if node is None:
            return _OTHER
        is_linear = node.op.name in ("python_add", "python_subtract", "range_item", "python_cast")
        dependence = max(map(self._of_number, node.inputs), default=_INVARIANT)
        is_known = is_linear or (dependence == _INVARIANT and node.op.traits.elementwise)
        return dependence if is_known else _OTHER
