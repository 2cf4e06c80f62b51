"""Any subset of the optimisations gives the same results, bit by bit; and other promises of `optimise`."""

from __future__ import annotations

from pathlib import Path
from random import Random
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoconv.backends.interpreter import compile_graph
from autoconv.graph.dtypes import float32
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.types import TensorType
from autoconv.graph.verify import VerificationError
from autoconv.ops import OPS
from autoconv.ops.control.resources import VariableCell
from autoconv.optimise import OPTIMISATIONS, optimise

HELPERS = Path(__file__).parents[1] / "graph" / "random_graphs.py"
random_graph = run_path(str(HELPERS))["random_graph"]
NAMES = [row.name for row in OPTIMISATIONS]


@pytest.fixture(autouse=True, scope="module")
def verified() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOCONV_VERIFY", "1")
        yield


def results(graph: Graph, arguments: list[Any]) -> list[tuple[Any, ...]]:
    with np.errstate(all="ignore"):
        return [describe(value) for value in compile_graph(graph)(arguments)]


def describe(value: Any) -> tuple[Any, ...]:
    """Return the bits of a value, but for those of a nan: which of two nans a sum gives is not promised."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return type(value), [describe(item) for item in value]
    array = np.array(value)
    if array.dtype == object:
        return array.shape, array.tolist()
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    if array.dtype.kind == "c":
        return array.dtype, describe(array.real.copy()), describe(array.imag.copy())
    return array.dtype, array.shape, array.tobytes()


def graphs_of_subsets(graph: Graph, contract: str) -> dict[str, tuple[Graph, list[str]]]:
    """Return each graph that a subset of the optimisations gives, by its text, with one such subset.

    Optimisations run in order: subsets with a common beginning share its graphs, and equal graphs are kept once.
    """
    graphs_by_text: dict[str, tuple[Graph, list[str]]] = {to_text(graph): (graph, [])}
    for name in NAMES:
        for before, applied in list(graphs_by_text.values()):
            after = optimise(before, {other for other in NAMES if other != name}, contract)
            graphs_by_text.setdefault(to_text(after), (after, [*applied, name]))
    for text, (kept, _) in graphs_by_text.items():
        assert to_text(kept) == text, "an optimisation changed its input"
    return graphs_by_text


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 2**32), st.sampled_from(["function", "compile"]))
def test_every_subset_gives_the_same_bits(seed: int, contract: str) -> None:
    graph, arguments = random_graph(Random(seed), 16)
    expected = results(graph, arguments)
    for text, (optimised, applied) in graphs_of_subsets(graph, contract).items():
        shown = f"with {applied} alone:\n{to_text(graph)}\n{text}"
        assert results(optimised, arguments) == expected, shown
        assert [v.type for v in optimised.parameters] == [v.type for v in graph.parameters]


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32))
def test_optimise_is_idempotent(seed: int) -> None:
    graph, _ = random_graph(Random(seed), 16)
    once = optimise(graph)
    assert len(list(optimise(once).walk())) <= len(list(once.walk())) <= len(list(graph.walk()))


def line() -> Graph:
    return from_text(
        """
        graph f(%x: float32[]) {
          %a = constant(value=array(float32[], 1.5)): float32[]
          %b = constant(value=array(float32[], 1.5)): float32[]
          %sum = add(%a, %b): float32[]
          %result = multiply(%x, %sum): float32[]
          return %result
        }
        """,
        OPS,
    )


def names(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes]


def test_all_optimisations_together() -> None:
    assert names(optimise(line())) == ["sum", "result"]


@pytest.mark.parametrize(
    ("skip", "remaining"),
    [
        (["fold"], ["a", "sum", "result"]),
        (["dead"], ["a", "sum", "result"]),
        (["fold", "common"], ["a", "b", "sum", "result"]),
        (NAMES, ["a", "b", "sum", "result"]),
    ],
)
def test_each_optimisation_can_be_skipped(skip: list[str], remaining: list[str]) -> None:
    assert names(optimise(line(), skip=skip)) == remaining


def test_unknown_names_are_refused() -> None:
    names = "inline, unbox, forward, promote, payloads, fold, list_arrays, simplify, common, masked, extremes"
    with pytest.raises(ValueError, match=f"no optimisation 'foldd'; there are {names}, hoist, dead"):
        optimise(line(), skip={"foldd"})


def test_dump_sees_every_stage() -> None:
    stages: list[tuple[str, int]] = []
    optimise(line(), skip={"common"}, dump=lambda name, graph: stages.append((name, len(graph.nodes))))
    names = ["before", *(row.name for row in OPTIMISATIONS if row.name != "common")]
    assert stages == [(name, 2 if name == "dead" else 4) for name in names]


def test_verifier_runs_between() -> None:
    graph = Graph("f")
    x = graph.add_parameter(TensorType(float32), "x")
    graph.add(OPS["sin"], [x])
    graph.nodes[0].name = "x"
    with pytest.raises(VerificationError, match="has a name that another") as caught:
        optimise(graph)
    assert caught.value.__notes__ == ["found before the optimisations"]


def test_verifier_is_off_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOCONV_VERIFY")
    graph = line()
    graph.nodes[0].results[0].type = TensorType(float32, (3,))
    optimise(graph)


def test_two_parameters_may_be_one_variable() -> None:
    """A read after a write to the other name sees what was written."""
    graph = from_text(
        """
        graph f(%v: resource<float32[]>, %w: resource<float32[]>, %x: float32[]) {
          %before = read_variable(%v): float32[]
          %assign = assign_variable(%w, %x): float32[]
          %after = read_variable(%v): float32[]
          return %before, %after
        }
        """,
        OPS,
    )
    cell = VariableCell(np.float32(1.0))
    assert compile_graph(optimise(graph))([cell, cell, np.float32(5.0)]) == [1.0, 5.0]


def test_deep_nesting() -> None:
    graph = Graph("innermost")
    graph.outputs = [graph.add_parameter(TensorType(float32), "x")]
    for depth in range(60):
        outer = Graph(f"level_{depth}")
        x = outer.add_parameter(TensorType(float32), "x")
        outer.outputs = list(outer.add(OPS["call"], [x], regions=[graph]).results)
        graph = outer
    assert len(list(optimise(graph, skip={"inline"}).walk())) == 60
    assert not optimise(graph).nodes
