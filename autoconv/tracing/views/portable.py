"""Preparation of recorded graphs for other runtimes, and their text as StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autoconv.backends.stablehlo import Module, to_stablehlo
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, Symbol, TensorType, Type
from autoconv.optimise import optimise
from autoconv.optimise.specialise import CannotSpecialise, generalise, is_static, specialise


def prepare(graph: Graph, types: Sequence[Type] | None = None) -> Graph:
    """Return an optimised graph for a writer: without calls of other graphs, with as many known sizes as possible.

    Nodes that may raise stay. `types` are types of the parameters, perhaps with more known sizes. Sizes that stay open
    are symbols; equal sizes have the same symbol.
    """
    requested_types = types if types is not None else [value.type for value in graph.parameters]
    types = [_with_symbols(type_, i) for i, type_ in enumerate(requested_types)]
    for _ in range(2):  # optimised by the sizes that the first round found
        graph = optimise(_narrow(graph, types), contract="compile")
    return _narrow(graph, types)


def _narrow(graph: Graph, types: Sequence[Type]) -> Graph:
    """Return the graph with parameters of these types, or the graph itself if an op refuses them."""
    try:
        if all(map(is_static, types)):
            return specialise(graph, types)
        # The preconditions, that bounds of slices lie within arrays of open size, are not checked: writers clamp the
        # bounds at run time, and only lengths used as numbers depend on them (see docs/guides/other-runtimes.md).
        general_graph, _ = generalise(graph, types)
    except CannotSpecialise:
        return graph
    return general_graph


def _with_symbols(type_: Type, position: int) -> Type:
    """Return the type with a symbol for each open size, named by parameter and axis."""
    if not isinstance(type_, (TensorType, ArrayType)) or type_.shape is None:
        return type_
    shape = tuple(
        Symbol(f"d{position}_{axis}") if size is None else size for axis, size in enumerate(type_.shape)
    )
    return replace(type_, shape=shape)


def as_stablehlo(graph: Graph, capacity: int = 64, types: Sequence[Type] | None = None) -> Module:
    """Return a recorded graph as a StableHLO module, with parameters of these types.

    `capacity` is the number of items that lists of unknown length can hold.
    """
    return to_stablehlo(prepare(graph, types), capacity)
