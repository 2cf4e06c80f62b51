"""Texts of errors: fixtures/errors/NAME.py prints exactly the content of NAME.txt.

`pytest tests/errors --update` writes the found texts; read the difference as a user would. A first line `# run: PLACE`
names the place where the program runs (see conftest.py); without it, the program runs as a script."""

import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "errors"
PROGRAMS = sorted(FOLDER.glob("*.py"))

# The texts were recorded with this version of Python. Others put carets under other parts of some lines, show all lines
# of a statement, and word some messages otherwise.
RECORDED = (3, 11)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_text(program, run_program, update, tmp_path):
    expected = program.with_suffix(".txt")
    found = run_program(program, tmp_path)
    if update:
        expected.write_text(found)
    assert comparable(found) == comparable(expected.read_text())


def comparable(text):
    if sys.version_info[:2] == RECORDED:
        return text
    text = re.sub(r"^ *[~^]+\n", "", text, flags=re.MULTILINE)
    text = re.sub(r'^( *)(File "[^"]*", line \d+.*\n\1  .*\n)(?:\1  .*\n)*', r"\1\2", text, flags=re.MULTILINE)
    text = re.sub(r"\b\d+ nodes", "nodes", text)  # sums have more from Python 3.12 on
    text = re.sub(r"\. Did you mean:? '\w+'\?", "", text)
    return text.replace("required keyword-only argument", "required argument").replace("_io.open", "io.open")


def test_every_text_has_a_program():
    assert [path.stem for path in sorted(FOLDER.glob("*.txt"))] == [path.stem for path in PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_only_the_users_files_are_shown(program):
    """Tracebacks have no frame of this package, no generated function, and no frame without a file."""
    text = program.with_suffix(".txt").read_text()
    for file, function in re.findall(r'^ *File "([^"]*)", line \d+(?:, in (.*))?$', text, re.MULTILINE):
        assert file.startswith(("fixtures/errors/", "<stdin>", "<ipython-input-")), file
        assert not re.fullmatch(r"(if|else|loop|try|except|with)_(body|test)\w*", function), function
