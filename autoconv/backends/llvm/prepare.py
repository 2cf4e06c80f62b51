"""Legalise a graph before its loops are planned: graph-to-graph passes, in this order."""

from __future__ import annotations

from autoconv.backends.llvm.complex_parts import split_complex
from autoconv.backends.llvm.components import split_components
from autoconv.backends.llvm.expand import expand
from autoconv.backends.llvm.kept_numbers import with_cells
from autoconv.backends.llvm.rotation import rotate
from autoconv.backends.llvm.sinking import sink
from autoconv.backends.llvm.statements import with_statements
from autoconv.graph.graph import Graph


def prepared(graph: Graph) -> Graph:
    """Return an equivalent graph of nodes that the loop planner lowers."""
    return with_cells(split_components(sink(rotate(with_statements(expand(split_complex(graph)))))))
