"""`autoconv show-code`: forms of targets, the printed part of the code, and its layout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autoconv.passes import PASSES


def names(text: str) -> list[str]:
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("newton.py:solve", ["solve"]),
        ("newton:solve", ["solve"]),
        ("solve", ["solve"]),
        ("newton.py:Solver", ["Solver"]),
        ("newton.py:Solver.step", ["step"]),
        ("Solver.step", ["step"]),
        ("step", ["step"]),
        ("newton.py", ["solve", "Solver"]),
        ("newton", ["solve", "Solver"]),
    ],
)
def test_targets(program_folder, cli, target, expected):
    result = cli("show-code", target)
    assert result.exit_code == 0, result.output
    assert names(result.stdout) == expected
    assert "\x1b[" not in result.stdout


def test_a_module_along_pythons_path(program_folder, cli):
    assert names(cli("show-code", "json.decoder:py_scanstring").stdout) == ["py_scanstring"]


def test_a_module_in_a_package_here_is_never_imported(program_folder, cli):
    Path("pkg").mkdir()
    Path("pkg/__init__.py").write_text("raise SystemExit('imported')\n")
    Path("pkg/mod.py").write_text("def inside():\n    return 1\n\n\nraise SystemExit('imported')\n")
    assert names(cli("show-code", "pkg.mod:inside").stdout) == ["inside"]
    assert names(cli("show-code", "inside").stdout) == ["inside"]


def test_several_candidates_are_listed(program_folder, cli):
    Path("other.py").write_text("\n\ndef solve():\n    pass\n")
    result = cli("show-code", "solve")
    assert result.exit_code == 2
    assert "newton.py:solve  (line 6)" in result.stderr and "other.py:solve  (line 3)" in result.stderr


def test_converted_files_are_no_candidates(program_folder, cli):
    cli("convert", "newton.py")
    assert cli("show-code", "solve").exit_code == 0


def test_nested_and_decorated_functions_and_their_comments(program_folder, cli):
    source = """
import functools


# about outer
@functools.cache
def outer(x):
    # about inner
    def inner(y):
        if y:
            return 1
        return 2
    return inner(x)
"""
    Path("nested.py").write_text(source)
    whole = cli("show-code", "nested.py:outer").stdout
    assert whole.startswith("# about outer\n@functools.cache\ndef outer(x):\n")
    inner = cli("show-code", "nested.py:outer.inner").stdout
    assert names(inner) == ["inner"] and inner.startswith("# about inner\ndef inner(y):")


def test_only_the_target_has_to_be_convertible(program_folder, cli):
    assert names(cli("show-code", "newton.py:solve", "--compile").stdout) == ["solve"]
    assert "compile" in cli("show-code", "newton.py:solve", "--compile").stdout
    assert cli("show-code", "newton.py:Solver", "--compile").exit_code == 2


def test_after_each_pass(program_folder, cli):
    for item in PASSES:
        result = cli("show-code", "newton.py:solve", "--after", item.name)
        assert result.exit_code == 0 and names(result.stdout) == ["solve"]
    unknown = cli("show-code", "newton.py:solve", "--after", "nonsense")
    assert unknown.exit_code == 2 and PASSES[0].name in unknown.stderr


def test_side_by_side_fits_and_keeps_every_line(program_folder, cli):
    result = cli("show-code", "newton.py:solve", "--side-by-side")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 160 and "original" in lines[0] and "converted" in lines[0]
    original = Path("newton.py").read_text().splitlines()
    left = {}
    for line in lines[2:]:
        number, _, text = line[:78].strip().partition("  ")
        if number.isdigit():
            left[int(number)] = text.strip()
    assert sorted(left) == list(range(5, 13))
    for number, text in left.items():
        assert original[number - 1].strip() == text


def test_side_by_side_puts_equal_lines_beside_each_other(program_folder, cli):
    lines = cli("show-code", "newton.py:solve", "--side-by-side").stdout.splitlines()
    (line,) = [line for line in lines if '"""The root of a."""' in line]
    assert line.count('"""The root of a."""') == 2
    (line,) = [line for line in lines if "return x" in line[:78] and line.lstrip().startswith("12")]
    assert "return" in line[78:]


def test_long_lines_are_wrapped(program_folder, cli):
    Path("long.py").write_text(f"def f():\n    return {'1 + ' * 80}1\n")
    lines = cli("show-code", "long.py:f", "--side-by-side").stdout.splitlines()
    assert max(map(len, lines)) <= 160
