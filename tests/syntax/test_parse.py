"""Trees from text and back equal gast's own conversions, and every node has a position."""

from __future__ import annotations

import ast
from pathlib import Path

import gast
import pytest

from autoconv.errors import SourceError
from autoconv.passes import run_passes
from autoconv.passes.base import Context
from autoconv.syntax.names import Namer
from autoconv.syntax.parse import check_source, parse_ast, to_ast, to_gast

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SOURCES = [*sorted((FIXTURES / "programs").glob("*.py")), Path(ast.__file__), Path(gast.__file__)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_trees_are_those_of_gast(path: Path) -> None:
    tree = parse_ast(path.read_text(), path.name)
    found, expected = to_gast(tree), gast.ast_to_gast(tree)
    assert gast.dump(found, include_attributes=True) == gast.dump(expected, include_attributes=True)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_converted_trees_have_the_positions_that_python_would_fill_in(path: Path) -> None:
    source = path.read_text()
    tree = to_gast(parse_ast(source, path.name))
    tree = run_passes(tree, Context(path.name, source.splitlines(), Namer(tree)))
    expected = ast.fix_missing_locations(gast.gast_to_ast(tree))
    assert ast.dump(to_ast(tree), include_attributes=True) == ast.dump(expected, include_attributes=True)


def test_nodes_without_fields_are_shared() -> None:
    tree = to_gast(parse_ast("a + b + c", "f.py"))
    outer = tree.body[0].value
    assert outer.op is outer.left.op and outer.right.ctx is outer.left.left.ctx


def test_long_texts_are_compiled_in_parts():
    """Python's own compilation of many functions of one name takes time quadratic in their number."""
    functions = "def f(x):\n    return x\n" * 3_000
    assert check_source(f'"""Text."""\nfrom __future__ import annotations\n{functions}', "long.py") is not None
    assert check_source("x = 1\n", "short.py") is None


@pytest.mark.parametrize(
    "line", ["break", "return 1", "x = = 2", "from __future__ import annotations", "def g(é): x = é; global x"]
)
def test_errors_of_long_texts_are_those_of_short_ones(line):
    few, many = "x = 1\n" * 3, "x = 1\n" * 6_000
    found = []
    for before in (few, many):
        with pytest.raises(SourceError) as error:
            check_source(before + line + "\n", "some.py")
        place = error.value.place
        found.append((error.value.message, place.line - before.count("\n"), place.column, place.end_column, place.text))
    assert found[0] == found[1]


@pytest.mark.parametrize("depth", [500, 1_500, 50_000])
def test_long_texts_may_be_as_deep_as_short_ones(depth):
    found = []
    for before in ("x = 1\n", "x = 1\n" * 6_000):
        try:
            check_source(f"{before}y = x{' + x' * depth}\n", "deep.py")
            found.append("")
        except SourceError as error:
            found.append(error.message)
    assert found[0] == found[1]
