"""`autoconv show-graph`: the stages of a graph, and its native plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from autoconv.graph.text_parser import from_text
from autoconv.graph.verify import verify
from autoconv.ops import OPS

PROGRAM = """
import autoconv
import doubling


def chain(x, n):
    y = autoconv.exp(x) * 2.0 + x * (1.0 + 1.0)
    unused = autoconv.sin(x)
    while n > 0:
        y = autoconv.sort(y)
        n = n - 1
    return y


def root(a, steps):
    x = a
    for _ in range(steps):
        x = 0.5 * (x + a / x)
    return x


class Layer:
    @autoconv.function
    def call(x):
        return doubling.double(x)


NUMBER = 3
"""


@pytest.fixture
def program(program_folder: Path) -> Path:
    (program_folder / "program.py").write_text(PROGRAM)
    (program_folder / "doubling.py").write_text("def double(x):\n    return x * 2.0\n")
    return program_folder


def test_every_stage_is_a_graph(program, cli):
    for stage in ("before", "fold", "common", "dead"):
        result = cli("show-graph", "program.py:chain", "--spec", "float32[8] int32[]", "--stage", stage)
        assert result.exit_code == 0, result.output
        verify(from_text(result.stdout, OPS))
        assert ("sin(" in result.stdout) == (stage != "dead")


def test_fused_loops_and_kernels_are_listed(program, cli):
    text = cli("show-graph", "program.py:chain", "--spec", "float32[8] int32[]", "--stage", "native").stdout
    first = text.splitlines()[0]
    assert first.startswith("loop over 8: ") and all(op in first for op in ("exp", "multiply", "add"))
    assert "while, while_body:" in text
    kernels = text.splitlines()[-1].partition("by kernels: ")[2]
    assert kernels in ("sort", "nothing")


def test_unchanged_stages_are_marked(program, cli):
    text = cli("show-graph", "program.py:chain", "--spec", "float32[8] int32[]").stdout
    headings = [line.partition(":")[0] for line in text.splitlines() if line.startswith("# ")]
    assert headings[0] == "# before" and headings[-1] == "# native"
    assert "# dead\n" in text and "# fold: no change" in text


def test_python_numbers_under_compile(program, cli):
    text = cli("show-graph", "root", "--spec", "2.0 50", "--compile", "--stage", "before").stdout
    assert text.startswith("graph root(%a: weak float64[], %steps: weak int64[])")


def test_types_stand_for_arrays_of_numpy_under_compile(program_folder, cli):
    text = "import numpy as np\n\n\ndef both(x):\n    return np.concatenate([x, x]).astype(np.float32)\n"
    (program_folder / "arrays.py").write_text(text)
    known = cli("show-graph", "arrays.py:both", "--spec", "float64[4]", "--compile", "--stage", "dead").stdout
    assert "%x: float64[4]" in known and "float32[8]" in known
    opened = cli("show-graph", "arrays.py:both", "--spec", "float64[?]", "--compile", "--stage", "dead").stdout
    assert "%x: float64[?]" in opened and "float32[?]" in opened


def test_decorated_functions_and_sibling_modules(program, cli):
    text = cli("show-graph", "program.py:Layer.call", "--spec", "float32[?,2]", "--stage", "dead").stdout
    assert "%x: float32[?,2]" in text and "multiply" in text


def test_spans(program, cli):
    text = cli("show-graph", "program.py:chain", "--spec", "float32[8] int32[]", "--stage", "dead", "--spans").stdout
    assert "program.py:7" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("program.py:chain", "--stage", "after"), "there is no stage 'after'; the stages in order are: before"),
        (("program.py:chain", "--spec", "float32[2"), "'float32[2' is neither a type, such as float32[2,3]"),
        (("program.py:chain", "--spec", "string"), "'string' is neither a type"),
        (("program.py",), "program.py is a file; name a function in it"),
        (("program.py:Layer",), "program.py:Layer is a class; name a method"),
        (("program.py:missing",), "no function or class missing"),
    ],
)
def test_messages_for_wrong_arguments(program, cli, arguments, message):
    result = cli("show-graph", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_stages_and_passes_are_listed_without_a_target(cli):
    assert cli("show-graph", "--stage", "help").stdout.split()[:2] == ["before", "inline"]
    assert cli("show-code", "--after", "help").stdout.split()[0] == "matches"


def test_a_module_that_cannot_be_imported(program_folder, cli):
    (program_folder / "bad.py").write_text("def f(x):\n    return x\n\n\nraise ValueError('not today')\n")
    result = cli("show-graph", "bad.py:f", "--spec", "1")
    assert result.exit_code == 2 and "bad.py:5: the import fails: ValueError: not today" in result.stderr


def test_a_function_without_a_graph_has_a_reason(program_folder, cli):
    (program_folder / "effects.py").write_text("import time\n\n\ndef f(x):\n    return x, time.time()\n")
    result = cli("show-graph", "effects.py:f", "--spec", "1.0", "--compile")
    assert result.exit_code == 1 and "has no graph" in result.stderr


MISTAKES = """import autoconv

def vector(x):
    if x > 0:
        return x
    return -x


def attribute(x):
    return missing_of(x)


def missing_of(x):
    return object().missing + x


def reads(x):
    with open("no_such_file") as file:
        return x + float(file.read())


def asserts(x):
    assert 1 > 2, "never"
    return x


@autoconv.function(input_signature=[autoconv.TensorSpec((2,), autoconv.float32)])
def pair(x):
    return x
"""


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("vector", 4, "ValueError: condition of if statement expected to be `autoconv.bool` scalar"),
        ("attribute", 14, "AttributeError: 'object' object has no attribute 'missing'"),
        ("reads", 18, "FileNotFoundError: "),
        ("asserts", 23, "AssertionError: never"),
    ],
)
def test_errors_of_the_program_have_their_line(program_folder, cli, name, line, message):
    (program_folder / "mistakes.py").write_text(MISTAKES)
    result = cli("show-graph", f"mistakes.py:{name}", "--spec", "float32[2]")
    assert result.exit_code == 1 and "bug" not in result.stderr
    head, _, caret = result.stderr.splitlines()
    assert f"mistakes.py:{line}:" in head and message in head and "^" in caret


@pytest.mark.parametrize(
    ("name", "specs", "message"),
    [
        ("pair", "float32[3]", "Can not cast TensorSpec(shape=(3,)"),
        ("vector", "", "takes (x), and --spec names no arguments: missing a required argument: 'x'"),
        ("vector", "1.0 2.0", "takes (x), and --spec names 2: too many positional arguments"),
    ],
)
def test_specs_that_do_not_fit(program_folder, cli, name, specs, message):
    (program_folder / "mistakes.py").write_text(MISTAKES)
    result = cli("show-graph", f"mistakes.py:{name}", "--spec", specs)
    assert result.exit_code == 2 and message in result.stderr


def test_an_internal_error_is_not_presented_as_an_error_of_the_program(program_folder, cli, monkeypatch):
    import autoconv.tracing.api.stages as stages

    monkeypatch.setattr(stages, "get_backend", [].index)  # the error has no frame of the program
    result = cli("show-graph", "solve", "--spec", "2.0")
    assert result.exit_code == 4 and "this is a bug in autoconv" in result.stderr
