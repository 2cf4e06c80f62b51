"""Preparation of recorded graphs for other runtimes, and their text as StableHLO."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.stablehlo import Module, to_stablehlo
from autoconv.graph.dimensions import ComputedSize, Minimum, Quotient, monomials
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import ArrayType, ListType, Symbol, TensorType, Type
from autoconv.ops import OPS
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.optimise import optimise
from autoconv.optimise.specialise import CannotSpecialise, generalise, is_static, specialise


def prepare(graph: Graph, types: Sequence[Type] | None = None) -> Graph:
    """Return an optimised graph for a writer: without calls of other graphs, with as many known sizes as possible.

    Nodes that may raise stay. `types` are types of the parameters, perhaps with more known sizes. Sizes that stay open
    are symbols; equal sizes have the same symbol.
    """
    requested_types = types if types is not None else [value.type for value in graph.parameters]
    types = [_with_symbols(type_, i) for i, type_ in enumerate(requested_types)]
    conditions: dict[Symbol, None] = {}
    uses_lengths = any(map(_uses_length, graph.walk()))
    for _ in range(2):  # the second repetition uses the sizes that the first one found
        graph = optimise(_narrow(graph, types, conditions), contract="compile")
    graph = _narrow(graph, types, conditions)
    return _add_checks(graph, conditions) if uses_lengths or any(map(_makes_sizes, graph.walk())) else graph


def _uses_length(node: Node) -> bool:
    """Return whether a node uses the size of a computed tensor as a number, which its type may decide.

    Sizes of arrays in memory are read from the arrays.
    """
    return reads_only_shapes(node) and any(
        value.node is not None and isinstance(value.type, TensorType) and not is_static(value.type)
        for value in node.inputs
    )


def _makes_sizes(node: Node) -> bool:
    """Return whether a node has symbolic sizes in an attribute, or in the type of a list that is a result."""
    lists = [value.type for value in node.results if isinstance(value.type, ListType)]
    shapes = [getattr(list_.element, "shape", None) for list_ in lists]
    return any(map(_has_symbol, (*shapes, node.attributes.get("shape"), node.attributes.get("paddings"))))


def _has_symbol(sizes: Any) -> bool:
    """Return whether a size, or one of nested tuples of sizes, is a symbol."""
    return any(map(_has_symbol, sizes)) if isinstance(sizes, tuple) else isinstance(sizes, Symbol)


def _narrow(graph: Graph, types: Sequence[Type], conditions: dict[Symbol, None]) -> Graph:
    """Return the graph with parameters of these types, or the graph itself if an op refuses them.

    `conditions` gets the sizes that must not be negative, or lengths that the graph uses as numbers are wrong.
    """
    try:
        if all(map(is_static, types)):
            return specialise(graph, types)
        general_graph, preconditions = generalise(graph, types)
    except CannotSpecialise:
        return graph
    conditions |= dict.fromkeys(preconditions)
    return general_graph


def _add_checks(graph: Graph, conditions: Iterable[Symbol]) -> Graph:
    """Return the graph with checks at its start that these sizes are not negative.

    Sizes that a node computes are not checked.
    """
    checked = [size for size in conditions if any(coefficient < 0 for _, coefficient in monomials(size))]

    def add_checks(copy: Graph, value: Value, position: int) -> Value:
        """Add the checks after the last parameter, in `copy`; return the value unchanged."""
        sizes: dict[str, Value] = {}
        if position == len(graph.parameters) - 1:
            for parameter in copy.parameters:
                is_tensor = isinstance(parameter.type, TensorType)
                op, dtype = ("dimension", {"dtype": int64}) if is_tensor else ("array_size", {})
                for axis, size in enumerate(getattr(parameter.type, "shape", None) or ()):
                    if isinstance(size, Symbol) and str(size) not in sizes:
                        sizes[str(size)] = copy.add(OPS[op], [parameter], {"axis": axis, **dtype}).results[0]
            for condition in checked:
                number = _size_value(copy, condition, sizes)
                if number is not None:
                    holds = copy.add(OPS["greater_equal"], [number, _constant(copy, 0)]).results[0]
                    message = f"the code holds for sizes with {condition} >= 0"
                    copy.add(OPS["assert_true"], [holds], {"message": (message,), "failure": "check"})
        return value

    return clone(graph, lambda copy, node, inputs: None, add_checks) if checked else graph


def _size_value(graph: Graph, size: int | Symbol, sizes: Mapping[str, Value]) -> Value | None:
    """Add nodes that compute a size from those of the parameters, by name; return it, or None if that is impossible."""

    def combine(op: str, *parts: Value | None) -> Value | None:
        """Return the result of the op on the parts; None if one of them is None."""
        values = [part for part in parts if part is not None]
        return graph.add(OPS[op], values).results[0] if len(values) == len(parts) else None

    if isinstance(size, (Quotient, Minimum)):
        op = "floor_divide" if isinstance(size, Quotient) else "minimum"
        pair = (size.dividend, size.divisor) if isinstance(size, Quotient) else (size.first, size.second)
        return combine(op, *(_size_value(graph, part, sizes) for part in pair))
    if type(size) is Symbol or isinstance(size, ComputedSize):
        return sizes.get(str(size))
    total: Value | None = _constant(graph, 0)
    for symbols, coefficient in monomials(size):
        term: Value | None = _constant(graph, coefficient)
        for symbol in symbols:
            term = combine("multiply", term, _size_value(graph, symbol, sizes))
        total = combine("add", total, term)
    return total


def _constant(graph: Graph, number: int) -> Value:
    """Add an int64 constant and return it."""
    return graph.add(OPS["constant"], [], {"value": np.array(number, np.int64)}).results[0]


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
