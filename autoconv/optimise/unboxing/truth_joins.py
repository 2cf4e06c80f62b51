"""Truth of `and` and `or` in conditions: where only the truth of a `cond` is used, its branches return their truth.

The operands of `while waiting and waiting[-1] > x` are a list and a bool, which share no kind. Their truths do.

    before   %cond = cond(%test, %list, %x): object<any>       the branches return %list, %box
             %truth = object_truth(%cond): weak bool[]
    after    %truth = cond(%test, %list, %x): weak bool[]      they return object_truth(%list), object_truth(%box)

Conservative: between the `cond` and the uses of its truth, no node may write or raise.
"""

from __future__ import annotations

from collections import defaultdict

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import ObjectType
from autoconv.ops import OPS
from autoconv.optimise.unboxing.kinds import BOOL

_TRUTH = "object_truth"


def join_truths(graph: Graph) -> Graph:
    """Return the graph with conditions joined as bools; the graph itself if there is nothing to change."""
    if not any(node.op.name == _TRUTH and _is_cond(node.inputs[0].node) for node in graph.walk()):
        return graph
    copy = clone(graph, lambda *_: None)
    _Joins(copy).rewrite()
    return copy


def _is_cond(node: Node | None) -> bool:
    return node is not None and node.op.traits.selects


class _Joins:
    """The rewrite of a graph, in place. `_uses`: the nodes that use a value, None for an output of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graphs = {graph, *(region for node in graph.walk() for region in node.regions)}
        self._uses: dict[Value, list[Node | None]] = defaultdict(list)
        self._replacements: dict[Value, Value] = {}
        for region in self._graphs:
            for node in region.nodes:
                for value in node.inputs:
                    self._uses[value].append(node)
            for value in region.outputs:
                self._uses[value].append(None)
        self._graph = graph

    def rewrite(self) -> None:
        """Rewrite the outer conditions before the inner ones, whose values become truths by that."""
        for node in list(self._graph.walk()):
            for index, result in enumerate(node.results if _is_cond(node) else ()):
                if isinstance(result.type, ObjectType):
                    self._join(node, index)
        for region in self._graphs:
            region.nodes[:] = [node for node in region.nodes if not self._is_replaced(node)]
            region.outputs[:] = [self._replacements.get(value, value) for value in region.outputs]
            for node in region.nodes:
                node.inputs = tuple(self._replacements.get(value, value) for value in node.inputs)

    def _is_replaced(self, node: Node) -> bool:
        return node.op.name == _TRUTH and node.results[0] in self._replacements

    def _join(self, cond: Node, index: int) -> None:
        """Make the result the truth of its value, if nothing else of it is used."""
        result = cond.results[index]
        users = [user for user in self._uses[result] if user is not None and user.op.name == _TRUTH]
        if not users or len(users) < len(self._uses[result]) or not _follow_directly(cond, users):
            return
        for branch in cond.regions:
            value = branch.outputs[index]
            truth = branch.add(OPS[_TRUTH], [value], span=users[0].span)
            self._uses[value].remove(None)
            self._uses[value].append(truth)
            self._uses[truth.results[0]].append(None)
            branch.outputs[index] = truth.results[0]
        result.type = BOOL
        self._replacements |= {user.results[0]: result for user in users}


def _follow_directly(cond: Node, users: list[Node]) -> bool:
    """Return whether no node between the `cond` and the last of the users, which are in its graph, writes or raises."""
    nodes = cond.results[0].graph.nodes
    first, last = nodes.index(cond) + 1, max(map(nodes.index, users))
    return all(node.effects in (Effects.PURE, Effects.READ) or node in users for node in nodes[first:last])
