"""A graph as a StableHLO module: one function, its results, what it writes, and the error word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autoconv.backends.portable.lower import Lowering
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.types import contents
from autoconv.backends.stablehlo.types import tensor_type
from autoconv.backends.stablehlo.writer import Writer
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType


@dataclass(frozen=True, slots=True)
class Module:
    """A StableHLO module with one public function, `main`.

    text            the module
    results         how many of the function's results are the graph's; the written ones follow, then the error word
    written         positions of the parameters (variables, arrays) whose new contents are results
    places          what the error word counts from 1: an op and its place in the program
    shares          whether a result is, or is part of, an argument or another result: here it is a copy
    types           of the results and the written ones

    >>> module = autoconv.stablehlo.export(lambda x: x * 2.0, autoconv.TensorSpec([4], autoconv.float32))
    >>> module.results, module.written, module.places
    (1, (), ())
    """

    text: str
    results: int
    written: tuple[int, ...]
    places: tuple[str, ...]
    shares: bool = False
    types: tuple[TensorType, ...] = ()


def to_stablehlo(graph: Graph, capacity: int = 64, numbers: Mapping[int, int] | None = None) -> Module:
    """Return a graph as a StableHLO module; `capacity` bounds the lists of the graph.

    `numbers` are values of integer parameters, by position: the module is for them, as sizes may depend on them.

    Raises GraphUnfit, which names the op and its place, for what has no form.
    """
    writer = Writer(capacity)
    parameters = []
    for i, value in enumerate(graph.parameters):
        kind = contents(value.type)
        parameters.append(Term(writer, f"%arg{i}", kind.dtype, _shape(kind)))
        if numbers and i in numbers:
            parameters[-1].known = numbers[i]
    lowered = Lowering(writer).graph(graph, parameters)
    outputs = [*lowered.results, *(term for _, term in lowered.written), writer.sure(writer.word)]
    return Module(
        _text(graph, parameters, outputs, writer.lines),
        len(lowered.results),
        tuple(position for position, _ in lowered.written),
        tuple(writer.places),
        lowered.shares,
        tuple(TensorType(term.dtype, term.shape) for term in outputs[:-1]),
    )


def _shape(kind: TensorType) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in kind.shape or ())


def _text(graph: Graph, parameters: Sequence[Term], outputs: Sequence[Term], lines: Sequence[str]) -> str:
    heads = ", ".join(f"{p.name}: {tensor_type(p.dtype, p.shape)}" for p in parameters)
    types = ", ".join(tensor_type(x.dtype, x.shape) for x in outputs)
    names = ", ".join(x.name for x in outputs)
    return "\n".join([
        "module {",
        f"  func.func public @main({heads}) -> ({types}) {{",
        *lines,
        f"    func.return {names} : {types}",
        "  }",
        "}",
        "",
    ])  # fmt: skip

