"""Gradients of a graph that is still being recorded: the backward nodes are appended to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.autodiff.cotangents import accumulate, conform
from autoconv.autodiff.dependence import Heap, varied_values
from autoconv.autodiff.forward_backward import Root
from autoconv.autodiff.reverse import backprop
from autoconv.errors import StagingError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.spans import current_place, current_span

Within = Callable[[Graph], list[Node] | None]


def symbolic_gradients(
    region: Region, targets: Sequence[Value], values: Sequence[Value], sources: Sequence[Value],
    within: Within, recompute_every: int | None = None,
) -> list[Value | None]:  # fmt: skip
    """Return the cotangents of the sources, None where nothing connects, as values of `region`.

    Targets and sources belong to that region or to enclosing ones; `values` are the cotangents of the targets. `within`
    returns the nodes of a graph to differentiate, or None for all.
    """
    regions = _outwards(region)
    heap = Heap()
    varied = _varied_values(regions, sources, within, heap)
    seeds = list(zip(targets, values, strict=True))
    cotangents: dict[Value, Value] = {}
    for each in regions:
        level = Root(each.graph, region.graph, bring=region.lift)
        level.heap, level.recompute_every = heap, recompute_every
        level.builder.span = current_span()
        for value, cotangent in seeds:
            if value.graph is each.graph and value in varied[each.graph]:
                accumulate(level.builder, level.cotangents, value, conform(level.builder, cotangent, value.type))
        backprop(level, varied[each.graph], within(each.graph))
        cotangents.update(level.cotangents)
        if each.parent is not None:
            inner = each.captured().items()
            seeds += [(outer, level.cotangents[v]) for outer, v in inner if v in level.cotangents]
    return [cotangents.get(source) for source in sources]


def connected_values(region: Region, sources: Sequence[Value], within: Within) -> set[Value]:
    """Return the values that depend on one of the sources, sources included.

    Raises StagingError if one of them is stored in an array in memory.
    """
    heap = Heap()
    found = set().union(*_varied_values(_outwards(region), sources, within, heap).values())
    if heap.has_arrays:
        raise StagingError(
            "a value that is differentiated is written into an array", current_place(),
            "a new array of the parts, by np.array, np.stack or np.concatenate",
        )  # fmt: skip
    return found


def _outwards(region: Region) -> list[Region]:
    regions = [region]
    while regions[-1].parent is not None:
        regions.append(regions[-1].parent)
    return regions


def _varied_values(
    regions: Sequence[Region], sources: Sequence[Value], within: Within, heap: Heap
) -> dict[Graph, set[Value]]:
    varied: dict[Graph, set[Value]] = {}
    outer: set[Value] = set()
    for region in reversed(regions):
        inner_sources = [source for source in sources if source.graph is region.graph]
        if region.parent is not None:
            inner_sources += [inner for value, inner in region.captured().items() if value in outer]
        outer = varied[region.graph] = varied_values(region.graph, inner_sources, heap, within(region.graph))
    return varied
