"""fixtures/graphs/legalize/<pass>/<case>.txt: a graph, `=>`, the graph after. `pytest --update` rewrites."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.legalize.pipeline import LEGALISATIONS, Legalisation, legalize_graph
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.verify import verify
from autoconv.ops import OPS

FOLDER = Path(__file__).parents[2] / "fixtures" / "graphs" / "legalize"
ROWS = {row.name: row for row in LEGALISATIONS}
# Graphs with exception handlers refer to Python functions, which have no text: see test_native_tries.
WITHOUT_TEXT = {"promote_handler_cells"}
OF_SYMBOLS = {"computed_sizes", "lent_loads"}  # no type rule covers the symbols in these graphs
CASES = [
    pytest.param(ROWS[path.parent.name], path, id=f"{path.parent.name}-{path.stem}")
    for path in sorted(FOLDER.glob("*/*.txt"))
]


@pytest.mark.parametrize(("row", "path"), CASES)
def test_golden(row: Legalisation, path: Path, update: bool) -> None:
    source, _, expected = path.read_text("utf-8").partition("\n=>\n")
    before = from_text(source, OPS)
    untouched = to_text(before)
    after = row.transform(before)
    if row.name not in OF_SYMBOLS:
        verify(after)
    assert to_text(before) == untouched
    if update:
        path.write_text(f"{source}\n=>\n{to_text(after)}", "utf-8")
    else:
        assert to_text(after) == expected


def test_every_pass_has_a_golden() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/*.txt")} | WITHOUT_TEXT == ROWS.keys()


def test_stages_are_dumped() -> None:
    source, _, _ = (FOLDER / "decompose" / "softmax.txt").read_text("utf-8").partition("\n=>\n")
    seen: list[str] = []
    legalize_graph(from_text(source, OPS), lambda name, graph: seen.append(name))
    assert seen == [row.name for row in LEGALISATIONS]


def test_effects_are_exact_behind_promoted_cells() -> None:
    """A try that stored numbers in a dict for its handlers writes nothing once these are in registers."""

    @autoconv.compile
    def program(a: int) -> int:
        i = a
        try:
            k = i % 32
        finally:
            i = i + 1
        return k + i

    assert program(5) == 11
    graph = legalize_graph(program.get_concrete_function(5).optimised)
    verify(graph)  # checks effects of nodes with regions as well
    assert any(node.op.name == "try" for node in graph.nodes)


def test_loops_make_no_objects_for_handlers_that_read_numbers() -> None:
    @autoconv.compile
    def partial_sum(a: np.ndarray, total: float) -> float:
        try:
            for i in range(len(a)):
                total += a[i] * 0.5
                if total > 100:
                    raise ValueError
        except ValueError:
            return -total
        return total

    for count in (5, 50):
        assert partial_sum(np.arange(float(count)), 0.0) == partial_sum.python_function(np.arange(float(count)), 0.0)
    for trace in partial_sum.concrete_functions:
        graph = legalize_graph(trace.optimised)
        (loop,) = (node for node in graph.walk() if node.op.name == "while")
        assert not [node for region in loop.regions for node in region.walk() if node.op.name == "object_box"]
