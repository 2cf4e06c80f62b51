"""Wrong input gives one message with a position, the right exit code, and no output file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BAD = {
    "syntax": (b"def f():\n    return (1 +\n", 2),
    "indent": (b"if x:\ny = 1\n", 2),
    "not_utf8": (b"x = 1\ns = 'caf\xe9'\n", 2),
    "null": (b"x = 1\ny = \0\n", 2),
    "unknown_encoding": (b"# coding: klingon\nx = 1\n", 1),
    "top_level_return": (b"x = 1\nreturn x\n", 2),
}

REFUSED_BY_THE_COMPILER = {
    "break": ("def f(x):\n    break\n", 2, "'break' outside loop"),
    "continue": ("def f(x):\n    continue\n", 2, "'continue' not properly in loop"),
    "inner_break": ("def f(x):\n    for y in x:\n        def g(): break\n", 3, "'break' outside loop"),
    "late_global": ("def f(x):\n    print(x)\n    global x\n", 3, "global"),
    "global_after_assignment": ("def f():\n    x = 1\n    global x\n", 3, "assigned to before global"),
    "nonlocal": (
        "def f():\n    x = 1\n    def g():\n        x = 2\n        nonlocal x\n    return g\n", 5, "before nonlocal"
    ),
    "two_stars": ("def f(c):\n    (*a, *b) = c\n", 2, "multiple starred"),
    "other_names": ("def f(x):\n    match x:\n        case (a, 1) | (1, b):\n            pass\n", 3, "alternative"),
    "unreachable": ("def f(x):\n    match x:\n        case a|b:\n            pass\n", 3, "unreachable"),
    "two_star_patterns": ("def f(x):\n    match x:\n        case [*a, *b]:\n            pass\n", 3, "starred"),
    "await": ("import app\nawait app.main()\n", 2, "'await' outside function"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_not_python(program_folder, cli, name):
    data, line = BAD[name]
    Path("bad.py").write_bytes(data)
    result = cli("convert", "bad.py")
    assert result.exit_code == 3, result.output
    assert result.stderr.startswith(f"bad.py:{line}:")
    assert "^" in result.stderr and result.stdout == ""
    assert not Path("bad_graph.py").exists()


@pytest.mark.parametrize("name", REFUSED_BY_THE_COMPILER)
def test_errors_that_only_the_compiler_finds(program_folder, cli, name):
    text, line, words = REFUSED_BY_THE_COMPILER[name]
    Path("bad.py").write_text(text)
    for result in (cli("convert", "bad.py"), cli("show-code", "bad.py"), cli("convert", "-", stdin=text)):
        assert result.exit_code == 3, result.output
        assert f".py:{line}:" in result.stderr or f"<stdin>:{line}:" in result.stderr
        assert words in result.stderr and "^" in result.stderr and result.stdout == ""
    assert not Path("bad_graph.py").exists()


def test_the_caret_of_the_compiler_counts_characters(program_folder, cli):
    Path("bad.py").write_text("def f(ä):\n    'äöü'; break\n")
    head, source, caret = cli("convert", "bad.py").stderr.splitlines()
    assert head.startswith("bad.py:2:12: ") and source[caret.index("^") :][: caret.count("^")] == "break"


def test_the_caret_is_under_the_byte(program_folder, cli):
    Path("bad.py").write_bytes("é = 1; s = '".encode() + b"\xff'\n")
    stderr = cli("convert", "bad.py").stderr
    head, source, caret = stderr.splitlines()[:3]
    assert head.startswith("bad.py:1:13: not utf-8: byte 0xff")
    assert source[len(caret) - 1] == "\ufffd"


def test_a_multibyte_encoding_that_is_broken(program_folder, cli):
    Path("bad.py").write_bytes(b"# coding: shift-jis\ns = '\x81'\n")
    result = cli("convert", "bad.py")
    assert result.exit_code == 3 and result.stderr.startswith("bad.py:2:6: not shift")


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.py"],
        ["newton.py", "missing.py"],
        ["-", "newton.py"],
        [],
        ["newton.py", "--jobs", "x"],
        ["-o"],
    ],
)
def test_wrong_usage(program_folder, cli, arguments):
    result = cli("convert", *arguments)
    assert result.exit_code == 2 and not Path("newton_graph.py").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is readable for this user")
def test_an_unreadable_file(program_folder, cli):
    os.chmod("newton.py", 0)
    result = cli("convert", "newton.py")
    assert result.exit_code == 3 and "newton.py" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is writable for this user")
def test_an_unwritable_folder(program_folder, cli):
    Path("closed").mkdir(0o500)
    result = cli("convert", "newton.py", "-o", "closed/out.py")
    assert result.exit_code == 2 and "cannot write" in result.stderr


def test_an_output_that_cannot_be_written(program_folder, cli):
    result = cli("convert", "newton.py", "-o", "newton.py/out.py")
    assert result.exit_code == 2 and "cannot write the output" in result.stderr


@pytest.mark.parametrize("make", [os.symlink, os.link, lambda old, new: None])
def test_output_equal_to_input(program_folder, cli, make):
    make("newton.py", "same.py")
    name = "same.py" if Path("same.py").exists() else "./newton.py"
    before = Path("newton.py").read_text()
    result = cli("convert", "newton.py", "-o", name, "--force")
    assert result.exit_code == 2 and "is an input" in result.stderr
    assert Path("newton.py").read_text() == before


def test_an_output_that_is_another_input(program_folder, cli):
    Path("newton_graph.py").write_text("x = 1\n")
    assert cli("convert", "newton.py", "newton_graph.py", "--force").exit_code == 2
    assert Path("newton_graph.py").read_text() == "x = 1\n"


def test_names_cannot_control_the_terminal(program_folder, cli):
    Path("bad\x1b[31m.py").write_text("x = (\n")
    assert "\x1b" not in cli("convert", "bad\x1b[31m.py").stderr


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("newton.py:solv", "did you mean solve or Solver?"),
        ("newton.py:step", "did you mean Solver.step?"),
        ("missing.py:f", "missing.py: no such file"),
        ("missing.py", "missing.py: no such file"),
        ("no_such_module:f", "no module no_such_module"),
        ("sys:exit", "the module sys has no source in Python"),
        ("nothing_of_that_name", "no function or class nothing_of_that_name"),
        (".", "is a folder"),
        ("1+1", "neither a file nor"),
    ],
)
def test_missing_targets(program_folder, cli, target, message):
    result = cli("show-code", target)
    assert result.exit_code == 2 and message in result.stderr and result.stdout == ""


def test_a_target_that_cannot_be_parsed(program_folder, cli):
    Path("bad.py").write_text("def f(:\n")
    for target in ("bad.py", "bad.py:f", "bad:f"):
        result = cli("show-code", target)
        assert result.exit_code == 3 and result.stderr.startswith("bad.py:1:7:")
