"""`autoconv convert` on folders: structure, imports between siblings, all or nothing, several processes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autoconv.emit.conversion import Conversion, Diagnostic
from autoconv.errors import Place


@pytest.fixture
def package(program_folder: Path) -> Path:
    """Return a package with a sub-package, data, all kinds of imports of itself, and leftovers of tools."""
    files = {
        "pkg/__init__.py": "from .core import double\nfrom pkg.sub.more import triple\n",
        "pkg/core.py": "def double(x):\n    if x > 0:\n        return 2 * x\n    return x\n",
        "pkg/sub/__init__.py": "",
        "pkg/sub/more.py": "import pkg.core\n\n\ndef triple(x):\n    return pkg.core.double(x) + x\n",
        "pkg/data/table.txt": "1 2 3\n",
        "pkg/__pycache__/core.cpython-311.pyc": "x",
        "pkg/.git/config": "x",
        "pkg/env/pyvenv.cfg": "x",
        "pkg/env/lib/module.py": "x = 1\n",
    }
    for name, text in files.items():
        path = program_folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return program_folder / "pkg"


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


EXPECTED = ["__init__.py", "core.py", "data/table.txt", "sub/__init__.py", "sub/more.py"]


def test_a_folder_is_converted_to_a_sibling_with_its_data(package, cli):
    result = cli("convert", "pkg/")
    assert result.exit_code == 0, result.output
    assert "wrote pkg_graph (5 files)" in result.stderr
    assert names(package.parent / "pkg_graph") == EXPECTED
    assert sorted(path.name for path in package.parent.iterdir()) == ["newton.py", "pkg", "pkg_graph"]


def test_imports_between_siblings_stay_in_the_converted_package(package, cli):
    assert cli("convert", "pkg", "-q").exit_code == 0
    for path in package.rglob("*.py"):
        if "env" not in path.parts:
            path.write_text("raise ImportError('the original was imported')\n")
    program = "import pkg_graph; print(pkg_graph.triple(2), pkg_graph.double(-1))"
    completed = subprocess.run([sys.executable, "-c", program], cwd=package.parent, capture_output=True, text=True)
    assert completed.stdout.split() == ["6", "-1"], completed.stderr


def test_check_of_a_folder(package, cli):
    assert cli("convert", "pkg", "--check").exit_code == 1
    cli("convert", "pkg")
    assert cli("convert", "pkg", "--check").exit_code == 0
    (package / "data/table.txt").write_text("new\n")
    result = cli("convert", "pkg", "--check")
    assert result.exit_code == 1 and "table.txt" in result.stderr


def test_an_existing_folder_needs_force_unless_it_is_empty(package, cli):
    (package.parent / "out").mkdir()
    assert cli("convert", "pkg", "-o", "out").exit_code == 0
    again = cli("convert", "pkg", "-o", "out")
    assert again.exit_code == 2 and "out exists already" in again.stderr
    (package.parent / "out/mine.txt").write_text("mine")
    assert cli("convert", "pkg", "-o", "out", "--force").exit_code == 0
    assert names(package.parent / "out") == sorted([*EXPECTED, "mine.txt"])


def test_several_processes_give_the_same(package, cli):
    for out, jobs in ("one", 1), ("two", 2):
        result = cli("convert", "pkg", "-o", out, "--jobs", jobs)
        assert result.exit_code == 0, result.output
    one, two = package.parent / "one", package.parent / "two"
    assert names(one) == names(two)
    for name in EXPECTED:
        assert (one / name).read_text().replace("one", "X") == (two / name).read_text().replace("two", "X")


def test_one_bad_file_stops_the_folder_unless_told_to_keep_going(package, cli):
    (package / "bad.py").write_text("def f(:\n")
    (package / "worse.py").write_bytes(b"s = '\xe9'\n")
    result = cli("convert", "pkg")
    assert result.exit_code == 3 and not (package.parent / "pkg_graph").exists()
    assert "pkg/bad.py:1:7:" in result.stderr and "pkg/worse.py:1:6:" in result.stderr
    going = cli("convert", "pkg", "--keep-going")
    assert going.exit_code == 3
    assert (package.parent / "pkg_graph/bad.py").read_text() == "def f(:\n"
    assert "pkg/bad.py:1:7:" in going.stderr and (package.parent / "pkg_graph/core.py").exists()


@pytest.fixture
def unsupported(monkeypatch):
    """Replace the converter by one that refuses `double` at two places."""
    outcomes = sys.modules["autoconv.cli.outcomes"]
    real = outcomes.convert_source

    def convert(source, filename, options):
        result: Conversion = real(source, filename, options)
        if "def double" not in source:
            return result
        place = Place(filename, 2, 5, 7, "    if x > 0:")
        return replace(result, diagnostics=(Diagnostic("cannot do this", place, "double", "do that"),) * 2)

    monkeypatch.setattr(outcomes, "convert_source", convert)


def test_unsupported_constructs_are_all_named_and_nothing_is_written(package, cli, unsupported):
    result = cli("convert", "pkg")
    assert result.exit_code == 1 and not (package.parent / "pkg_graph").exists()
    assert result.stderr.count("pkg/core.py:2:5: cannot do this (in double)\n    if x > 0:\n    ^^\n") == 2
    assert "Write instead: do that" in result.stderr
    assert cli("convert", "pkg", "--keep-going").exit_code == 1
    assert names(package.parent / "pkg_graph") == EXPECTED


def test_an_unsupported_file_does_not_stop_other_files(package, cli, unsupported):
    result = cli("convert", "newton.py", "pkg/core.py")
    assert result.exit_code == 1 and "1 of 2 files were not written" in result.stderr
    assert Path("newton_graph.py").exists() and not Path("pkg/core_graph.py").exists()


def test_an_internal_error_is_one_line_with_exit_code_4(program_folder, cli, monkeypatch):
    def broken(source, filename, options):
        raise KeyError("oops")

    monkeypatch.setattr(sys.modules["autoconv.cli.outcomes"], "convert_source", broken)
    result = cli("convert", "newton.py")
    assert result.exit_code == 4 and not Path("newton_graph.py").exists()
    (line,) = result.stderr.splitlines()
    assert "newton.py" in line and "KeyError: 'oops'" in line and "AUTOCONV_TRACEBACK=1" in line


def test_names_to_compile_are_searched_in_all_files(package, cli):
    assert cli("convert", "pkg", "--compile", "triple").exit_code == 0
    assert "compile" in Path("pkg_graph/sub/more.py").read_text()
    result = cli("convert", "pkg", "--compile", "tripel", "--force")
    assert result.exit_code == 2 and "did you mean triple?" in result.stderr


def test_links_in_a_folder(package, cli):
    (package / "linked.py").symlink_to("core.py")
    (package / "loop").symlink_to(".")
    (package / "dangling").symlink_to("nowhere")
    (package / "far").symlink_to(package.parent.parent)
    assert cli("convert", "pkg").exit_code == 0
    assert cli("convert", "pkg", "--force").exit_code == 0
    out = package.parent / "pkg_graph"
    assert (out / "linked.py").read_text() == (out / "core.py").read_text()
    assert (out / "loop").is_symlink() and (out / "dangling").is_symlink()


def test_outputs_in_or_over_the_input_are_refused(package, cli):
    inside = cli("convert", "pkg", "-o", "pkg/out")
    assert inside.exit_code == 2 and "inside" in inside.stderr
    same = cli("convert", "pkg", "-o", "pkg", "--force")
    assert same.exit_code == 2 and "is an input" in same.stderr
    Path("alias").symlink_to("pkg")
    assert cli("convert", "pkg", "-o", "alias", "--force").exit_code == 2
    twice = cli("convert", "pkg/core.py", "pkg/sub/../core.py", "-o", "out")
    assert twice.exit_code == 2 and "written twice" in twice.stderr


def test_a_folder_without_python(program_folder, cli):
    Path("empty").mkdir()
    result = cli("convert", "empty")
    assert result.exit_code == 2 and "there is no Python file" in result.stderr
    assert cli("convert", "newton.py", "empty", "-o", "-").exit_code == 2


@pytest.fixture
def project(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the package's folder the current one, in a project with builds, under git."""
    files = {
        "pyproject.toml": "",
        "build/lib/core.py": "x = 1\n",
        "pkg.egg-info/PKG-INFO": "x",
        "scratch/draft.py": "x = 1\n",
        "notes.tmp": "x",
        ".gitignore": "scratch/\n*.tmp\n",
        "sub/build/kept.py": "x = 1\n",
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    shutil.rmtree(package / ".git")
    subprocess.run(["git", "init", "-q", str(package)], check=True)
    monkeypatch.chdir(package)
    return package


OF_PROJECT = sorted([*EXPECTED, ".gitignore", "pyproject.toml", "sub/build/kept.py"])


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_current_folder_is_converted_into_itself(project, cli):
    around = names(project.parent)
    result = cli("convert", ".")
    assert result.exit_code == 0 and "wrote pkg_graph (8 files)" in result.stderr, result.output
    assert names(project / "pkg_graph") == OF_PROJECT
    assert {name for name in names(project.parent) if not name.startswith("pkg/pkg_graph/")} == set(around)
    assert cli("convert", ".", "--check").exit_code == 0
    assert cli("convert", ".", "--force").exit_code == 0  # its own output is not an input
    assert names(project / "pkg_graph") == OF_PROJECT


def test_an_enclosing_folder_is_converted_into_the_current_one(package, cli, monkeypatch):
    monkeypatch.chdir(package / "sub")
    assert cli("convert", "..").exit_code == 0
    assert names(package / "sub" / "pkg_graph") == EXPECTED
    assert sorted(path.name for path in package.parent.iterdir()) == ["newton.py", "pkg"]


def test_files_converted_from_others_of_the_folder_are_left_out(package, cli):
    """A file that was converted from another folder is a source."""
    assert cli("convert", "newton.py", "-o", "pkg/sub/made.py").exit_code == 0
    assert cli("convert", "pkg/core.py").exit_code == 0
    assert cli("convert", "pkg/core.py", "-o", "pkg/out/other.py").exit_code == 0
    assert cli("convert", "pkg").exit_code == 0
    assert names(package.parent / "pkg_graph") == sorted([*EXPECTED, "sub/made.py"])
    assert Path("pkg_graph/sub/made.py").read_text() == Path("pkg/sub/made.py").read_text()


def test_no_file_is_written_through_links_of_the_output(package, cli):
    outside = package.parent / "outside"
    outside.mkdir()
    (package.parent / "out").mkdir()
    (package.parent / "out" / "sub").symlink_to(outside)
    result = cli("convert", "pkg", "-o", "out", "--force")
    assert result.exit_code == 2 and "a link to outside of the output out" in result.stderr
    assert names(outside) == []
