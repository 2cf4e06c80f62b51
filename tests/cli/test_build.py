"""`autoconv build`: a function as a C library."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
PROGRAM = """
import autoconv


def hypotenuse(x, y):
    return autoconv.sqrt(x * x + y * y)


def named(x):
    return autoconv.as_string(x)
"""


@pytest.fixture
def program(program_folder: Path) -> Path:
    (program_folder / "program.py").write_text(PROGRAM)
    return program_folder


def test_the_files_of_a_library_are_listed(program, cli):
    result = cli("build", "program.py:hypotenuse", "--spec", "float64[n] float64[n]", "-o", "made/sides", "--cpu", "v3")
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == ["made/sides.h", "made/sides.o", "made/libsides.so"]
    assert all((program / name).stat().st_size for name in result.stdout.split())
    header = (program / "made/sides.h").read_text()
    declared = "(const autoconv_float64_1 *x, const autoconv_float64_1 *y, hypotenuse_result *result);"
    assert f"int hypotenuse{declared}" in header
    assert "from program.py:5" in header


def test_another_machine_gets_an_object(program, cli):
    result = cli("build", "hypotenuse", "--spec", "float32[] float32[]", "--target", "aarch64-linux-gnu", "--name", "h")
    assert result.stdout.split() == ["h.h", "h.o"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("named", "--spec", "float64[3]"), "returns string[3], which has no form in C"),
        (("hypotenuse", "--spec", "float64[3]"), "--spec names 1"),
        (("hypotenuse", "--spec", "float64[3] float64[2]"), "do not broadcast"),
        (("hypotenuse", "--spec", "float64[3] float64[3]", "--cpu", "v9"), "v9 is no level of x86-64"),
        (("hypotenuse", "--spec", "float64[3] float64[3]", "--target", "abacus"), "abacus"),
    ],
)
def test_mistakes_are_one_message(program, cli, arguments, words):
    result = cli("build", f"program.py:{arguments[0]}", *arguments[1:])
    assert result.exit_code != 0
    assert words in result.output
    assert "Traceback" not in result.output
    assert [path.name for path in program.iterdir() if path.suffix in (".h", ".o", ".so")] == []


def test_an_output_that_cannot_be_written(program, cli, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autoconv.storage.files.os.fsync", full)
    spec = ("--spec", "float64[3] float64[3]")
    for output, words in (("h", r"h\.\w+: No space left"), ("program.py/h", "program.py: (File exists|Not a)")):
        result = cli("build", "program.py:hypotenuse", *spec, "-o", output)
        assert result.exit_code != 0 and re.search(f"cannot write .*{words}", result.output), result.output
