"""Legalise a graph before its loops are planned: graph-to-graph passes, in this order."""

from __future__ import annotations

from autoconv.backends.llvm.legalize.array_statements import with_statements
from autoconv.backends.llvm.legalize.complex.split import split_complex
from autoconv.backends.llvm.legalize.decompose import expand
from autoconv.backends.llvm.legalize.interchange_loops import sink
from autoconv.backends.llvm.legalize.promote_handler_cells import with_cells
from autoconv.backends.llvm.legalize.rotate_loops import rotate
from autoconv.backends.llvm.legalize.unroll_short_axes import split_components
from autoconv.graph.graph import Graph


def prepared(graph: Graph) -> Graph:
    """Return an equivalent graph of nodes that the loop planner lowers."""
    return with_cells(split_components(sink(rotate(with_statements(expand(split_complex(graph)))))))
