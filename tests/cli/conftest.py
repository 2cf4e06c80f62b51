"""Fixtures of the command's tests, which run it in this process by click's runner or in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autoconv.cli import main
from click.testing import CliRunner, Result

NEWTON = '''"""Newton's method."""
import math


# the root
def solve(a, n=50):
    """The root of a."""
    x = a
    while abs(x * x - a) > 1e-12 and n:
        x = (x + a / x) / 2
        n -= 1
    return x


class Solver:
    def step(self, x):
        if x > 0:
            return x - 1
        return x
'''


@pytest.fixture
def program_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with newton.py the current one, and return it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "newton.py").write_text(NEWTON)
    return tmp_path


@pytest.fixture
def cli() -> Callable[..., Result]:
    """Return a function that runs a command line in this process; an escaping exception fails the test."""

    def invoke(*arguments: object, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, [str(item) for item in arguments], input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback (most recent" not in result.output
        return result

    return invoke


@pytest.fixture
def command(tmp_path: Path, forker: Any) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python -m autoconv` in the temporary folder as a process of its own.

    It is a new one where the environment changes what Python reads at its start.
    """

    def invoke(
        *arguments: object, cwd: Path = tmp_path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        program = ["-m", "autoconv", *map(str, arguments)]
        if not any(name.startswith("PYTHON") for name in environment):
            return forker.run(program, cwd=cwd, env=os.environ | environment)
        return subprocess.run(
            [sys.executable, *program],
            cwd=cwd,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return invoke
