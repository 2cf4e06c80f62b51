"""Common-subexpression elimination.

    before   graph f(%x: float32[], %y: float32[]) {
               %add = add(%x, %y): float32[]
               %add_1 = add(%x, %y): float32[]
               %multiply = multiply(%add, %add_1): float32[]
               return %multiply
             }
    after    graph f(%x: float32[], %y: float32[]) {
               %add = add(%x, %y): float32[]
               %multiply = multiply(%add, %add): float32[]
               return %multiply
             }
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, copy_node
from autoconv.graph.rewrite import attributes_key
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.escape import escaping_arrays

_COMPARED_BY_IDENTITY = (np.ndarray, list, tuple, dict)  # classes of constants


def merge_common_subexpressions(graph: Graph, contract: str = "function") -> Graph:
    """Merge equal nodes into the first of them, separately in each region.

    Nodes that may raise merge too: the first raises before the second could. Reads of a resource merge if no write lies
    between them; any write counts, as two resources may alias at run time. Nodes that print, write or draw never merge,
    nor do nodes with regions, or of different devices. Under `compile`, arrays that leave the graph do not merge: the
    caller may change one of them in place.
    """
    return _Merger(graph, contract).run()


class _Merger(Rewriter[str]):
    """The pass over one graph or region; reads are forgotten at a write."""

    def __init__(self, graph: Graph, contract: str, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, contract, copies)
        self._escaping = escaping_arrays(graph) if contract == "compile" else set()
        self._numbers, self._numbers_of_reads = _ValueNumbers(), _ValueNumbers()

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Return earlier results of the same operation on the same values; a write discards those of reads."""
        if node.effects & Effects.WRITE:
            self._numbers_of_reads = _ValueNumbers()
        if node.effects.must_run or node.regions or not self._escaping.isdisjoint(node.results):
            return None
        numbers = self._numbers_of_reads if node.effects & Effects.READ else self._numbers
        results = numbers.equal_results(node, inputs)
        if results is None:
            results = copy_node(self.copy, node, inputs).results
            numbers.add(node, inputs, results)
        return results


class _ValueNumbers:
    """Results of nodes by the keys of value numbering.

    Few nodes share all their operands. Only when a second node has the same operands are the whole keys computed.
    """

    def __init__(self) -> None:
        self._results_by_key: dict[Hashable, Sequence[Value]] = {}
        # By operands: the only such node with its operands and results; None if the key is in `_results_by_key`.
        self._only_nodes: dict[Hashable, tuple[Node, Sequence[Value], Sequence[Value]] | None] = {}

    def equal_results(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        """Return the results of an equal node that was added, or None."""
        operands = _operands_key(node, inputs)
        if operands not in self._only_nodes:
            return None
        if (only_node := self._only_nodes[operands]) is not None:
            other, other_inputs, results = only_node
            self._results_by_key[_key(other, other_inputs)] = results
            self._only_nodes[operands] = None
        return self._results_by_key.get(_key(node, inputs))

    def add(self, node: Node, inputs: Sequence[Value], results: Sequence[Value]) -> None:
        """Add a node, to which no node that was added before is equal."""
        operands = _operands_key(node, inputs)
        if operands in self._only_nodes:
            self._results_by_key[_key(node, inputs)] = results
        else:
            self._only_nodes[operands] = node, inputs, results


def _operands_key(node: Node, inputs: Sequence[Value]) -> Hashable:
    """Return a key that equal nodes share."""
    operand_ids = [id(value) for value in inputs]
    if node.op.traits.commutative:
        operand_ids.sort()
    return node.op.name, *operand_ids


def _key(node: Node, inputs: Sequence[Value]) -> Hashable:
    """Return the key of value numbering: nodes with equal keys compute equal results, if no write lies between them.

    The key of a commutative op is independent of the operand order.
    """
    operand_ids = tuple(map(id, inputs))
    if _may_swap(node):
        operand_ids = tuple(sorted(operand_ids))
    types = tuple(value.type for value in node.results)
    return node.op.name, node.device, operand_ids, attributes_key_of(node), types


def attributes_key_of(node: Node) -> Hashable:
    """Return a key of a node's attributes. Arrays and containers of the program are compared by identity, not value."""
    if node.op.name == "object_constant" and isinstance(node.attributes["value"], _COMPARED_BY_IDENTITY):
        return id(node.attributes["value"])
    return attributes_key(node.attributes)


def _may_swap(node: Node) -> bool:
    """Return whether swapping the operands gives the same bits.

    The bits differ for strings, which concatenate, for products of complex numbers, which round differently, and for
    the maximum of zeros of different sign. Sums and products of floats, the ops with an identity, have equal bits.
    """
    if not node.op.traits.commutative or len(node.inputs) != 2:
        return False
    types = [value.type for value in (*node.inputs, *node.results)]
    dtypes = [type_.dtype for type_ in types if isinstance(type_, TensorType)]
    if len(dtypes) < len(types) or any(dtype.is_string or dtype.is_complex for dtype in dtypes):
        return False
    return node.op.traits.identity is not None or not dtypes[-1].is_floating
