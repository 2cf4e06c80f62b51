"""Programs in forked processes behave as in new ones: arguments, folder, environment, streams, and how they end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys, __main__
from autoconv.config import SETTINGS

class Local: pass
print(__name__, sys.argv[1:], os.getcwd(), os.environ["NAMED"], SETTINGS.backend, __main__.Local is Local)
print(sys.stdin.read())
print("warned", file=sys.stderr)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("form", ["file", "text", "module"])
def test_programs_get_their_arguments_and_streams(forker, program, form):
    start = {"file": [program], "text": ["-c", PROGRAM], "module": ["-m", "program"]}[form]
    environment = {"PATH": "", "NAMED": "a b", "AUTOCONV_BACKEND": "reference"}
    options = {"cwd": program.parent, "env": environment, "input": "typed"}
    forked = forker.run([*start, "-x", "1 2"], **options)
    new = subprocess.run([sys.executable, *start, "-x", "1 2"], capture_output=True, text=True, check=True, **options)
    assert forked.stdout == new.stdout == f"__main__ ['-x', '1 2'] {program.parent} a b reference True\ntyped\n"
    assert forked.stderr == new.stderr == "warned\n"


@pytest.mark.parametrize(
    "end",
    ["1 / 0", "raise SystemExit(3)", "raise KeyboardInterrupt", "import os; os.kill(os.getpid(), 9)", "exit('x')"],
)
def test_programs_end_as_in_a_new_process(forker, program, end):
    program.write_text(f"print('here', flush=True)\n{end}\n")
    forked = forker.run([program])
    new = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (forked.stdout, forked.stderr) == (new.stdout, new.stderr)
    assert forked.returncode == (new.returncode if end != "raise KeyboardInterrupt" else 130)


def test_a_program_that_takes_too_long_is_killed(forker):
    with pytest.raises(subprocess.TimeoutExpired):
        forker.run(["-c", "import time; time.sleep(100)"], timeout=0.1)


def test_lines_of_a_running_program(forker):
    running = forker.start(["-c", "print(1, flush=True); print(2, flush=True); print(3)"])
    assert [running.read_line(), running.read_line()] == ["1\n", "2\n"]
    assert running.communicate() == ("3\n", "")
