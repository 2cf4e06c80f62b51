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
    """The pass over one graph or region. Keys are those of `_key`; reads are forgotten at a write."""

    def __init__(self, graph: Graph, contract: str, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, contract, copies)
        self._escaping = escaping_arrays(graph) if contract == "compile" else set()
        self._results_by_key: dict[Hashable, Sequence[Value]] = {}
        self._reads_by_key: dict[Hashable, Sequence[Value]] = {}

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        if node.effects & Effects.WRITE:
            self._reads_by_key.clear()
        if node.effects.must_run or node.regions or not self._escaping.isdisjoint(node.results):
            return None
        results_by_key = self._reads_by_key if node.effects & Effects.READ else self._results_by_key
        key = _key(node, inputs)
        if key not in results_by_key:
            results_by_key[key] = copy_node(self.copy, node, inputs).results
        return results_by_key[key]


def _key(node: Node, inputs: Sequence[Value]) -> Hashable:
    """Return the key of value numbering: nodes with equal keys compute equal results, if no write lies between them.

    The key of a commutative op is independent of the operand order.
    """
    operand_ids = tuple(map(id, inputs))
    if _may_swap(node):
        operand_ids = tuple(sorted(operand_ids))
    types = tuple(value.type for value in node.results)
    return node.op.name, node.device, operand_ids, _attributes_key(node), types


def _attributes_key(node: Node) -> Hashable:
    """Return a key of a node's attributes. Arrays and containers of the program are compared by identity, not value."""
    if node.op.name == "object_constant" and isinstance(node.attributes["value"], _COMPARED_BY_IDENTITY):
        return id(node.attributes["value"])
    return attributes_key(node.attributes)


def _may_swap(node: Node) -> bool:
    """Return whether swapping the operands gives the same bits.

    They differ for strings, which concatenate, for products of complex numbers, which round differently, and for the
    maximum of zeros of different sign. Sums and products of floats, the ops with an identity, have equal bits.
    """
    if not node.op.traits.commutative or len(node.inputs) != 2:
        return False
    types = [value.type for value in (*node.inputs, *node.results)]
    dtypes = [type_.dtype for type_ in types if isinstance(type_, TensorType)]
    if len(dtypes) < len(types) or any(dtype.is_string or dtype.is_complex for dtype in dtypes):
        return False
    return node.op.traits.identity is not None or not dtypes[-1].is_floating
