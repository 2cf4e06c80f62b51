"""A closed pipe and ctrl-C: quiet, and never a half-written output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from autoconv.cli.output import Staging


def test_a_closed_pipe_is_quiet(here):
    Path("big.py").write_text(
        "".join(f"def f{n}(x):\n    if x:\n        return {n}\n\n\n" for n in range(3000))
    )
    for arguments in (
        ["convert", "big.py", "-o", "-"],
        ["show-code", "big.py"],
        ["convert", "big.py", "--diff"],
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "autoconv", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(here, jobs, number):
    source = Path("many")
    source.mkdir()
    text = "".join(
        f"def f{n}(x):\n    while x > {n}:\n        x = x / 2\n    return x\n\n\n" for n in range(300)
    )
    for n in range(200):
        (source / f"m{n}.py").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "autoconv", "convert", "many", "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(2)
    if process.poll() is not None:
        pytest.skip("it was done before it could be interrupted")
    os.killpg(process.pid, number)  # as a terminal does: to the whole group
    _, stderr = process.communicate(timeout=60)
    if number == signal.SIGINT:
        assert process.returncode == 130 and b"interrupted" in stderr
    else:
        assert process.returncode in (143, -signal.SIGTERM)
    assert b"Traceback" not in stderr
    assert sorted(os.listdir()) == ["many", "newton.py"]
    assert len(os.listdir("many")) == 200


def test_what_was_staged_goes_away_on_an_error(here):
    with pytest.raises(KeyboardInterrupt), Staging() as staging:
        staging.text(Path("one.py"), "x")
        staging.text(Path("new/two.py"), "x")
        folder = staging.folder(Path("three"))
        staging.text(folder / "sub/four.py", "x")
        raise KeyboardInterrupt
    assert os.listdir() == ["newton.py"]


def test_an_output_is_private_until_it_is_there(here):
    with Staging() as staging:
        staging.text(Path("one.py"), "new", mode_of=Path("newton.py"))
        assert not Path("one.py").exists() and len(os.listdir()) == 2
        staging.commit()
    assert Path("one.py").read_text() == "new"
    assert os.stat("one.py").st_mode == os.stat("newton.py").st_mode
