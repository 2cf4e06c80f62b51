"""Functions defined in the cells of a real notebook shell, where IPython is installed."""

import math
import re

import pytest

InteractiveShell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell


@pytest.fixture
def shell(tmp_path, monkeypatch):
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    return InteractiveShell(config=settings)


def run(shell, capsys, *cells):
    for cell in cells:
        result = shell.run_cell(cell, store_history=True)
    return result, re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


CELL = """\
import autoconv

@autoconv.function
def f(x):
    while x > 3:
        x = x - 1
        if x > 100:
            raise ValueError(f"{x} is too much")
    return x
"""


def test_a_function_of_a_cell_is_converted(shell, capsys):
    result, _ = run(shell, capsys, CELL, "f(autoconv.constant(9)).numpy()")
    assert result.success and result.result == 3


def test_an_error_of_the_graph_shows_the_cells(shell, capsys):
    result, out = run(shell, capsys, CELL, "f(autoconv.constant(200))")
    assert isinstance(result.error_in_exec, ValueError)
    assert "----> 1 f(autoconv.constant(200))\n" in out
    assert re.search(r"8, in f\(.*\n( +\d .*\n)+----> 8 +raise ValueError\(f\"\{x\} is too much\"\)\n", out)
    assert out.rstrip().endswith("ValueError: 199 is too much") and "autoconv/" not in out


def test_a_cell_that_is_run_again_is_converted_anew(shell, capsys):
    result, _ = run(shell, capsys, CELL, CELL.replace("x > 3", "x > 5"), "f(autoconv.constant(9)).numpy()")
    assert result.result == 5


def test_a_refusal_shows_the_line_of_the_cell(shell, capsys):
    cell = CELL.replace('raise ValueError(f"{x} is too much")', "x = {1: 2}[x]")
    result, out = run(shell, capsys, cell, "f(autoconv.constant(200))")
    error = result.error_in_exec
    assert error.place.line == 8 and error.place.text.strip() == "x = {1: 2}[x]" and error.place.column == 17
    assert "a tensor cannot be looked up in a dict" in out and "Write instead: an if for each key" in out


MAGIC = """\
%%autoconv step
import numpy as np

def step(x, n):
    for _ in range(n):
        x = np.sin(x) + x
    return x

def plain(x):
    return x

results = step(np.ones(2), 3), step(np.ones(2), 4)
"""


def test_the_cell_magic_compiles_functions(shell, capsys):
    run(shell, capsys, "%load_ext autoconv", MAGIC)
    names = shell.user_ns
    assert type(names["step"]).__name__ == "Function" and type(names["plain"]).__name__ == "function"
    assert names["step"].experimental_get_tracing_count() == 1, names["step"].explain()
    assert [len(result) for result in names["results"]] == [2, 2]
    expected = 1.0
    for _ in range(3):
        expected = math.sin(expected) + expected
    assert names["results"][0][0] == pytest.approx(expected)


def test_the_cell_magic_says_what_is_missing(shell, capsys):
    _, out = run(shell, capsys, "%load_ext autoconv", "%%autoconv nothing\nx = 1\n")
    assert "the cell defines no function nothing" in out


def test_all_functions_without_names_and_decorated_ones_once(shell, capsys):
    cell = "%%autoconv\nimport autoconv\ndef f(x): return x + 1\n"
    cell += "@autoconv.function\ndef g(x): return x + 1\ny = f(2), f(3)\n"
    run(shell, capsys, "%load_ext autoconv", cell)
    assert shell.user_ns["y"] == (3, 4)
    assert "autoconv.Function" in repr(shell.user_ns["f"]) and "Tensor" in repr(shell.user_ns["g"](1))
