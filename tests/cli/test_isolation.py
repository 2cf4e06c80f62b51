"""The user's code is never imported or run, neither converted files nor other files of the current folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autoconv._start import _find_module_option

HOSTILE = (
    *("gast", "numpy", "click", "rich", "pygments", "platformdirs", "astunparse", "typing_extensions"),
    *("json", "tokenize", "difflib", "multiprocessing", "pickle", "queue", "struct", "linecache", "inspect"),
)


@pytest.fixture
def hostile(program_folder: Path) -> Path:
    """Fill a folder with modules that leave a trace when they are run."""
    for name in HOSTILE:
        (program_folder / f"{name}.py").write_text(f"open({str(program_folder / 'EXECUTED')!r}, 'a').write({name!r})\n")
    (program_folder / "EVIL.py").write_text("import os\n\n\ndef evil(x):\n    return x\n\n\nos._exit(77)\n")
    return program_folder


COMMANDS = [
    ["convert", "newton.py", "EVIL.py"],
    ["convert", ".", "-o", "../out"],
    ["convert", ".", "-o", "../out2", "--jobs", "2"],
    ["convert", "newton.py", "--explain"],
    ["show-code", "evil", "--side-by-side"],
    ["show-code", "EVIL:evil"],
    ["info"],
    ["run", "newton.py"],
]


MODULE = [sys.executable, "-m", "autoconv"]


def script() -> list[str]:
    """Return the console script, where it is installed beside this interpreter."""
    path = Path(sys.executable).with_name("autoconv")
    return [str(path)] if path.exists() else []


def command_starts() -> list[tuple[list[str], list[str], str | None]]:
    """Yield every command, run in the folder itself, and by the console script with the folder on Python's path.

    The two other pairs differ before the command is read: one that converts in other processes, and one that runs code.
    """
    starts = [(arguments, *start) for arguments in COMMANDS for start in ((MODULE, None), (script(), "."))]
    return starts + [(COMMANDS[i], *start) for i in (2, -1) for start in ((MODULE, "."), (script(), None))]


@pytest.mark.parametrize(("arguments", "start", "python_path"), command_starts())
def test_nothing_of_the_folder_is_run(hostile, arguments, start, python_path):
    if not start:
        pytest.skip("the console script is not installed")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    inner = hostile / "inner"
    inner.mkdir()
    for path in hostile.glob("*.py"):
        path.rename(inner / path.name)
    completed = subprocess.run([*start, *arguments], cwd=inner, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    executed = hostile / "EXECUTED"
    assert not executed.exists(), executed.read_text()


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        (["-m", "autoconv", "convert"], "autoconv"),
        (["-Bm", "autoconv"], "autoconv"),
        (["-X", "dev", "-W", "error", "-mautoconv"], "autoconv"),
        (["-Xdev", "-Wm", "--check-hash-based-pycs", "always", "-Im", "pytest"], "pytest"),
    ],
)
def test_reading_the_interpreters_own_options(arguments, module):
    assert _find_module_option(arguments) == module


def test_a_program_that_imports_autoconv_keeps_its_path(program_folder):
    (program_folder / "program.py").write_text("import sys\nimport autoconv\nprint(sys.path[0])\n")
    completed = subprocess.run([sys.executable, "program.py"], cwd=program_folder, capture_output=True, text=True)
    assert os.path.realpath(completed.stdout.strip()) == os.path.realpath(program_folder), completed.stderr
    completed = subprocess.run([sys.executable, "-m", "program"], cwd=program_folder, capture_output=True, text=True)
    assert os.path.realpath(completed.stdout.strip()) == os.path.realpath(program_folder), completed.stderr


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_listing_ignored_files_runs_nothing_of_a_repository(hostile):
    subprocess.run(["git", "init", "-q", str(hostile)], check=True)
    script = hostile / "monitor.sh"
    script.write_text(f"#!/bin/sh\ntouch {hostile / 'EXECUTED'}\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "filter.x.clean"):
        subprocess.run(["git", "-C", str(hostile), "config", name, str(script)], check=True)
    (hostile / ".gitattributes").write_text("*.py filter=x\n")
    (hostile / ".gitignore").write_text("EVIL.py\n")
    command = [sys.executable, "-m", "autoconv", "convert", ".", "-q"]
    assert subprocess.run(command, cwd=hostile, capture_output=True).returncode == 0
    (output,) = hostile.glob("*_graph")
    assert (output / "newton.py").exists() and not (output / "EVIL.py").exists()
    assert not (hostile / "EXECUTED").exists()
