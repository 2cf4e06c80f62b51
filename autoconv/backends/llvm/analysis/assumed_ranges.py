"""Ranges that native code assumes of the ints that are given to a call, so that loops need fewer checks.

    def total(n: int, k: int): ... for i in range(n): s += i * k        i * k fits 64 bits if n and k fit 32

The entries test the assumption before any side effect. Other calls run code that is compiled without it.
"""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import is_int64_scalar
from autoconv.graph.graph import Graph, Value
from autoconv.graph.linear_form import Range

ASSUMED_RANGE: Range = (-(1 << 31), (1 << 31) - 1)


def assumed_ranges(graph: Graph) -> dict[Value, Range]:
    """Return the ranges to assume of parameters of a graph; none if the graph has no loop."""
    if not any(node.op.traits.repeats for node in graph.walk()):
        return {}
    return {value: ASSUMED_RANGE for value in graph.parameters if is_int64_scalar(value.type)}
