"""The graphs of a library: a general one, and others for small sizes that its code excludes.

The code of the general graph accepts sizes of at least 2, and in many graphs only larger ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from autoconv.backends import symbolic_code
from autoconv.backends.library_form import Argument
from autoconv.clibrary.interface import Interface
from autoconv.errors import UnsupportedError
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type
from autoconv.optimise import optimise
from autoconv.optimise.specialise import CannotSpecialise, generalise, is_static, specialise
from autoconv.optimise.symbolic.bounds import fold_symbolic_bounds
from autoconv.tracing.api.declared_arguments import ExportedTrace

_SPECIAL_SIZES = range(12)  # sizes that get graphs of their own if the general graph excludes them
_MAX_SPECIAL_VARIANTS = 26  # as many as there are for three sizes, each of them 0, 1 or any: 3³ - 1
_GENERAL_SIZE = 1000  # an example of a size that the general graph takes


def make_variants(trace: ExportedTrace, interface: Interface) -> list[Graph]:
    """Return the graphs in the order in which a call tries them; raises UnsupportedError if there is no general one."""
    graph, contract = trace.graph, trace.contract
    parameters = interface.form.parameters
    declared_shapes = [parameter.shape if isinstance(parameter, Argument) else None for parameter in parameters]
    symbols = list(dict.fromkeys(size for shape in declared_shapes for size in shape or () if isinstance(size, Symbol)))
    if not symbols:
        if graph is trace.concrete.recorded:
            return [trace.concrete.optimised]
        with suppress(CannotSpecialise):  # the graph was rewritten: compute the sizes that follow from known ones
            graph = specialise(graph, [value.type for value in graph.parameters])
        return [optimise(graph, contract=contract)]
    try:
        general_graph = _make_variant(graph, _parameter_types(graph, declared_shapes, {}), contract)
    except (CannotSpecialise, ValueError, TypeError) as error:
        raise UnsupportedError(
            f"{interface.form.name} cannot be compiled for arbitrary sizes {', '.join(map(str, symbols))}"
            + (f": {error}" if str(error) else ""),
            remedy="one name for sizes that have to be equal, as in 'float64[n,3] float64[n]', or numbers",
        ) from None
    result = [general_graph]
    for sizes in itertools.islice(_special_sizes(general_graph, symbols), _MAX_SPECIAL_VARIANTS):
        try:
            result.append(_make_variant(graph, _parameter_types(graph, declared_shapes, sizes), contract))
        except (CannotSpecialise, ValueError, TypeError, IndexError):  # the program refuses these sizes
            continue
    return result


def _special_sizes(general_graph: Graph, symbols: Sequence[Symbol]) -> Iterator[dict[Symbol, int]]:
    """Yield choices of small sizes that need a separate graph, by symbol; choices for a single symbol come first."""
    is_general = symbolic_code().sizes(general_graph, general_graph.nonnegative_sizes).accepts_values
    example_sizes = {symbol.name: _GENERAL_SIZE for symbol in symbols}
    special_sizes = [
        [None, *(size for size in _SPECIAL_SIZES if not is_general({**example_sizes, symbol.name: size}))]
        for symbol in symbols
    ]
    choices = sorted(itertools.product(*special_sizes), key=lambda choice: sum(size is not None for size in choice))
    for choice in choices[1:]:  # the first has no special size
        yield {symbol: size for symbol, size in zip(symbols, choice, strict=True) if size is not None}


def _parameter_types(
    graph: Graph, declared_shapes: Sequence[tuple[Dimension, ...] | None], sizes: dict[Symbol, int]
) -> list[Type]:
    """Return the types of the parameters with the declared shapes, in which symbols have these sizes."""
    result: list[Type] = []
    for value, shape in zip(graph.parameters, declared_shapes, strict=True):
        type_ = value.type
        if shape is not None and isinstance(type_, (TensorType, ArrayType)):
            shape_with_sizes = tuple(sizes.get(size, size) if isinstance(size, Symbol) else size for size in shape)
            type_ = replace(type_, shape=shape_with_sizes)
        result.append(type_)
    return result


def _make_variant(graph: Graph, types: list[Type], contract: str) -> Graph:
    """Return the optimised graph for parameters of these types, whose sizes may be symbols."""
    if all(map(is_static, types)):
        return optimise(specialise(graph, types), contract=contract)
    general_graph, nonnegative_sizes = generalise(graph, types)
    general_graph = optimise(general_graph, contract=contract)
    general_graph.nonnegative_sizes = tuple(nonnegative_sizes)
    code = symbolic_code()
    code.sizes(general_graph, nonnegative_sizes)  # raises ValueError if the parameters do not determine a size
    result = fold_symbolic_bounds(general_graph, code.accepts_symbolic_attributes)
    return result if result is not None and not code.has_kernels_with_symbolic_attributes(result) else general_graph
