"""Gradients of a graph that is still being recorded: backward nodes are appended to that graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.autodiff.cotangents import accumulate, conform
from autoconv.autodiff.dependence import Heap, varied_values
from autoconv.autodiff.forward_backward import RootLevel
from autoconv.autodiff.reverse import backprop
from autoconv.errors import StagingError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.spans import current_place, current_span

NodeFilter = Callable[[Graph], list[Node] | None]


def symbolic_gradients(
    region: Region, targets: Sequence[Value], target_cotangents: Sequence[Value],
    sources: Sequence[Value], nodes_of: NodeFilter, recompute_every: int | None = None,
) -> list[Value | None]:  # fmt: skip
    """Return the cotangents of the sources as values of `region`; None for a source on which no target depends.

    Targets and sources belong to that region or to enclosing ones.
    `nodes_of` returns the nodes of a graph to differentiate, or None for all.
    """
    regions = _enclosing_regions(region)
    heap = Heap()
    varied_by_graph = _varied_values(regions, sources, nodes_of, heap)
    seeds = list(zip(targets, target_cotangents, strict=True))
    cotangents: dict[Value, Value] = {}
    for enclosing in regions:
        level = RootLevel(enclosing.graph, region.graph, transfer=region.lift)
        level.heap, level.recompute_every = heap, recompute_every
        level.builder.span = current_span()
        for value, cotangent in seeds:
            if value.graph is enclosing.graph and value in varied_by_graph[enclosing.graph]:
                accumulate(level.builder, level.cotangents, value, conform(level.builder, cotangent, value.type))
        backprop(level, varied_by_graph[enclosing.graph], nodes_of(enclosing.graph))
        cotangents.update(level.cotangents)
        if enclosing.parent is not None:
            captures = enclosing.parent_captures().items()
            seeds += [(outer, level.cotangents[inner]) for outer, inner in captures if inner in level.cotangents]
    return [cotangents.get(source) for source in sources]


def connected_values(region: Region, sources: Sequence[Value], nodes_of: NodeFilter) -> set[Value]:
    """Return the values that depend on one of the sources, sources included.

    Raises StagingError if such a value is stored in an array in memory.
    """
    heap = Heap()
    connected = set().union(*_varied_values(_enclosing_regions(region), sources, nodes_of, heap).values())
    if heap.holds_varied_arrays:
        raise StagingError(
            "a value that is differentiated is written into an array", current_place(),
            "a new array of the parts, by np.array, np.stack or np.concatenate",
        )  # fmt: skip
    return connected


def _enclosing_regions(region: Region) -> list[Region]:
    """Return a region and the enclosing ones, the innermost first."""
    regions = [region]
    while regions[-1].parent is not None:
        regions.append(regions[-1].parent)
    return regions


def _varied_values(
    regions: Sequence[Region], sources: Sequence[Value], nodes_of: NodeFilter, heap: Heap
) -> dict[Graph, set[Value]]:
    """Return, for the graph of each region, the values that depend on the sources."""
    varied_by_graph: dict[Graph, set[Value]] = {}
    outer_values: set[Value] = set()
    for region in reversed(regions):
        inner_sources = [source for source in sources if source.graph is region.graph]
        if region.parent is not None:
            inner_sources += [inner for value, inner in region.parent_captures().items() if value in outer_values]
        outer_values = varied_values(region.graph, inner_sources, heap, nodes_of(region.graph))
        varied_by_graph[region.graph] = outer_values
    return varied_by_graph
