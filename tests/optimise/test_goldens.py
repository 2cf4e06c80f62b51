"""fixtures/graphs/<optimisation>/<case>.txt: a graph, `=>`, the graph after. `pytest --update` rewrites.

A case may have a line `# contract: compile`, and lines `# call: …` with the arguments of a run. Its results, printed
text and exception have to be the same before and after, bit by bit.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autoconv.backends.interpreter import compile_graph
from autoconv.graph.graph import Graph
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.graph.types import ResourceType
from autoconv.graph.verify import verify
from autoconv.ops import OPS
from autoconv.ops.control.resources import VariableCell
from autoconv.optimise import OPTIMISATIONS, Optimisation

FOLDER = Path(__file__).parents[2] / "fixtures" / "graphs"
ROWS = {row.name: row for row in OPTIMISATIONS}


def cases() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*/*.txt")):
        if path.parent.name in ROWS:
            yield pytest.param(ROWS[path.parent.name], path, id=f"{path.parent.name}-{path.stem}")


@pytest.mark.parametrize(("row", "path"), list(cases()))
def test_golden(row: Optimisation, path: Path, update: bool) -> None:
    text = path.read_text("utf-8")
    source, _, expected = text.partition("\n=>\n")
    contract = next(iter(re.findall("^# contract: (.*)$", text, re.MULTILINE)), "function")
    before = from_text(source, OPS)
    untouched = to_text(before)
    verify(before)
    after = row.transform(before, contract)
    verify(after)
    assert to_text(before) == untouched
    if update:
        path.write_text(f"{source}\n=>\n{to_text(after)}", "utf-8")
    else:
        assert to_text(after) == expected
    assert to_text(row.transform(after, contract)) == to_text(after), "once more changes it again"
    for call in re.findall("^# call:(.*)$", source, re.MULTILINE):
        values = ast.literal_eval(f"({call},)") if call.strip() else ()
        assert outcome(before, values) == outcome(after, values)


def outcome(graph: Graph, values: Any) -> Any:
    """Return the bits of the results, or the exception, and the printed text."""
    arguments = [argument(v.type, x) for v, x in zip(graph.parameters, values, strict=True)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            results = compile_graph(graph)(arguments)
            found: Any = [(np.asarray(x).dtype, np.shape(x), bits(x)) for x in results]
        except (ArithmeticError, AssertionError) as error:
            found = type(error), str(error)
    held = [bits(a.value) for a in arguments if isinstance(a, VariableCell)]
    return repr(found), printed.getvalue(), held


def argument(type_: Any, value: Any) -> Any:
    if isinstance(type_, ResourceType):
        return VariableCell(np.array(value, type_.value.dtype.numpy))  # type: ignore[union-attr]
    return np.array(value, type_.dtype.numpy)


def bits(value: Any) -> bytes:
    array = np.asarray(value)
    return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in OPTIMISATIONS])
def test_docstring_example(row: Optimisation) -> None:
    """Run the optimisation on the graph in the docstring of its module."""
    shown = importlib.import_module(row.transform.__module__).__doc__
    assert shown is not None
    before, after = (textwrap.dedent(" " * 13 + part) for part in re.split("before   |after    ", shown)[1:])
    contract = "compile" if row.name == "unbox" else "function"
    assert to_text(row.transform(from_text(before, OPS), contract)) == to_text(from_text(after, OPS))


def test_every_optimisation_has_cases() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} >= set(ROWS)
