"""Constant folding: what can be known now is computed now, by the ops' kernels.

    before   graph f(%x: int32[]) {
               %constant = constant(value=array(int32[], 2)): int32[]
               %constant_1 = constant(value=array(int32[], 3)): int32[]
               %add = add(%constant, %constant_1): int32[]
               %multiply = multiply(%x, %add): int32[]
               return %multiply
             }
    after    graph f(%x: int32[]) {
               %constant = constant(value=array(int32[], 2)): int32[]
               %constant_1 = constant(value=array(int32[], 3)): int32[]
               %add = constant(value=array(int32[], 5)): int32[]
               %multiply = multiply(%x, %add): int32[]
               return %multiply
             }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, copy_node
from autoconv.graph.rewrite import begin_copy
from autoconv.graph.types import TensorType, is_subtype, leaves, shapes_compatible
from autoconv.ops import OPS

LIMIT = 1 << 16  # elements that the constants going into a folded node, and those coming out, may have


def fold(graph: Graph, contract: str = "function") -> Graph:
    """The graph with nodes over constants replaced by constants, and conds on constants by the arm they take.

    Only nodes that do nothing but compute are folded, and those that may raise where they do not: a kernel that
    fails leaves its node as it is, to fail when the graph runs. Captured constants are known in regions too.
    """
    return _fold_graph(graph, {})


Known = Mapping[int, np.ndarray]  # parameters of a graph whose values are constants, by position


def _fold_graph(graph: Graph, known: Known) -> Graph:
    copy, values = begin_copy(graph)
    constants = {copy.parameters[position]: array for position, array in known.items()}
    _fold_into(copy, graph, values, constants)
    copy.outputs = [values[value] for value in graph.outputs]
    return copy


def _fold_into(
    copy: Graph, graph: Graph, values: dict[Value, Value], constants: dict[Value, np.ndarray]
) -> None:
    """Appends the nodes of `graph` to `copy`, folded; `values` maps what they use, and what they make, to it."""
    for node in graph.nodes:
        inputs = [values[value] for value in node.inputs]
        arm = _arm_taken(node, inputs, constants)
        if arm is not None:
            inner = dict(zip(arm.parameters, inputs[1:], strict=True))
            _fold_into(copy, arm, inner, constants)
            values.update(zip(node.results, (inner[value] for value in arm.outputs), strict=True))
            continue
        arrays = _evaluated(node, inputs, constants)
        if arrays is None:
            regions = [_fold_graph(region, _known_in(node, inputs, constants)) for region in node.regions]
            results: Sequence[Value] = copy_node(copy, node, inputs, regions).results
            if node.op.name == "constant":
                constants[results[0]] = node.attributes["value"]
        else:
            results = [
                _constant(copy, node, value, array)
                for value, array in zip(node.results, arrays, strict=True)
            ]
            constants.update(zip(results, arrays, strict=True))
        values.update(zip(node.results, results, strict=True))


def _evaluated(
    node: Node, inputs: Sequence[Value], constants: Mapping[Value, np.ndarray]
) -> list[np.ndarray] | None:
    """The results as arrays, None where they cannot or should not be computed now."""
    kernel = node.op.kernel
    if kernel is None or node.regions or not node.results or node.op.name in ("constant", "absent"):
        return None
    if node.effects & ~Effects.RAISE or not all(value in constants for value in inputs):
        return None
    types = _precise_types(node, [constants[value] for value in inputs])
    if types is None:
        return None
    arrays = [constants[value] for value in inputs]
    if sum(array.size for array in arrays) > LIMIT or sum(map(_size, types)) > LIMIT:
        return None
    try:
        with np.errstate(all="ignore"):
            found = kernel(*arrays, **node.attributes)
    except Exception:  # whatever a kernel raises, it raises again when the graph runs
        return None
    results = found if isinstance(found, tuple) else (found,)
    if len(results) != len(node.results):
        return None
    folded = [_as_array(value, type_) for value, type_ in zip(results, types, strict=True)]
    return [array for array in folded if array is not None] if None not in map(type, ()) else None


def _constant(copy: Graph, node: Node, value: Value, array: np.ndarray) -> Value:
    return value
