"""Legalisation passes: each is one file and one row of a table, and maps a graph to one nearer to native code.

The passes run in this order after the optimisations. Each returns an equivalent graph and leaves the given one
unchanged; the docstring of its file shows a graph before and after.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.legalize import (  # their imports register rules, as that of `paired_sizes` does
    array_sizes,  # noqa: F401
    computed_size_indexing,  # noqa: F401
    computed_size_movement,  # noqa: F401
)
from autoconv.backends.llvm.legalize.array_statements import fuse_statements
from autoconv.backends.llvm.legalize.complex import paired_sizes  # noqa: F401
from autoconv.backends.llvm.legalize.complex.split import split_complex
from autoconv.backends.llvm.legalize.computed_sizes import name_computed_sizes
from autoconv.backends.llvm.legalize.decompose import expand
from autoconv.backends.llvm.legalize.interchange_loops import interchange
from autoconv.backends.llvm.legalize.lent_loads import mark_lent_loads
from autoconv.backends.llvm.legalize.loads_of_views import add_dimensions_to_views
from autoconv.backends.llvm.legalize.order_statistics import select_order_statistics
from autoconv.backends.llvm.legalize.promote_handler_cells import promote_cells
from autoconv.backends.llvm.legalize.rotate_loops import rotate_loops
from autoconv.backends.llvm.legalize.sink_transposes import sink_transposes
from autoconv.backends.llvm.legalize.unroll_short_axes import unroll_components
from autoconv.graph.graph import Graph
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Legalisation:
    """A pass, with the name of its file (or folder) and of its folder of goldens in fixtures/graphs/legalize."""

    name: str
    transform: Callable[[Graph], Graph]


LEGALISATIONS = (
    Legalisation(name="complex", transform=split_complex),  # first: later passes take real numbers only
    Legalisation(name="decompose", transform=expand),
    Legalisation(name="sink_transposes", transform=sink_transposes),
    # Before statements, which read views in place.
    Legalisation(name="loads_of_views", transform=add_dimensions_to_views),
    Legalisation(name="array_statements", transform=fuse_statements),  # and reductions, see array_reductions
    Legalisation(name="rotate_loops", transform=rotate_loops),  # before interchange: tests become scalars
    Legalisation(name="interchange_loops", transform=interchange),
    Legalisation(name="order_statistics", transform=select_order_statistics),
    Legalisation(name="computed_sizes", transform=name_computed_sizes),
    Legalisation(name="unroll_short_axes", transform=unroll_components),
    Legalisation(name="lent_loads", transform=mark_lent_loads),  # late: the marks hold for this order of nodes
    Legalisation(name="promote_handler_cells", transform=promote_cells),  # last: no other pass meets cells
)


def legalize_graph(graph: Graph, dump: Callable[[str, Graph], None] | None = None) -> Graph:
    """Return an equivalent graph of nodes that have lowerings; `graph` itself is unchanged.

    `dump` is called with the name and the graph after each pass. It may verify only graphs without symbols in sizes and
    without ops of this backend, which type rules do not cover.
    """
    for legalisation in LEGALISATIONS:
        graph = legalisation.transform(graph)
        if dump is not None:
            dump(legalisation.name, graph)
    return graph
