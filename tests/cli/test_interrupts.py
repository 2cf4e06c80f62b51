"""Closed pipes and ctrl-C end the command without messages and without partial output."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from autoconv.cli.output import OutputTransaction


def test_a_closed_pipe_is_quiet(program_folder):
    Path("big.py").write_text(
        "".join(f"def f{n}(x):\n    if x:\n        return {n}\n\n\n" for n in range(250))
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


def wait_for_a_reader(pipe: Path, process: subprocess.Popen[bytes]) -> int:
    """Return the writing end of a named pipe, as soon as a process reads it."""
    while process.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO
            time.sleep(0.01)
    pytest.fail(f"it ended first: {process.communicate()}")


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(program_folder, jobs, number):
    """One process waits for the text of `fed.py`; of two, the other one still starts, or converts."""
    source = Path("many")
    source.mkdir()
    text = "".join(
        f"def f{n}(x):\n    while x > {n}:\n        x = x / 2\n    return x\n\n\n" for n in range(300)
    )
    for n in range(200):
        (source / f"m{n}.py").write_text(text)
    os.mkfifo("fed.py")
    process = subprocess.Popen(
        [sys.executable, "-m", "autoconv", "convert", "fed.py", "many", "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    feeding = wait_for_a_reader(Path("fed.py"), process)
    os.killpg(process.pid, number)  # to the whole process group, as a terminal does
    os.close(feeding)  # Python sees no signal that comes just before a read until the read has ended
    _, stderr = process.communicate(timeout=60)  # until nobody has its error output any more
    if number == signal.SIGINT:
        assert process.returncode == 130 and stderr.strip() == b"autoconv: interrupted; nothing was written"
    else:
        assert process.returncode in (143, -signal.SIGTERM) and stderr == b""
    assert sorted(os.listdir()) == ["fed.py", "many", "newton.py"]
    assert len(os.listdir("many")) == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_processes_that_convert_end_with_the_one_that_started_them(program_folder, number):
    os.mkfifo("fed.py")
    process = subprocess.Popen(
        [sys.executable, "-m", "autoconv", "convert", "fed.py", "newton.py", "--jobs", "2"],
        stderr=subprocess.PIPE,
    )
    feeding = wait_for_a_reader(Path("fed.py"), process)
    process.send_signal(number)
    process.wait(60)
    os.close(feeding)  # the file was empty: its outcome is for nobody
    assert process.communicate(timeout=60)[1] == b""
    assert sorted(os.listdir()) == ["fed.py", "newton.py"]


def test_uncommitted_output_is_removed_after_an_error(program_folder):
    with pytest.raises(KeyboardInterrupt), OutputTransaction() as transaction:
        transaction.add_text(Path("one.py"), "x")
        transaction.add_text(Path("new/two.py"), "x")
        folder = transaction.add_folder(Path("three"))
        transaction.add_text(folder / "sub/four.py", "x")
        raise KeyboardInterrupt
    assert os.listdir() == ["newton.py"]


def test_an_output_is_private_until_it_is_complete(program_folder):
    with OutputTransaction() as transaction:
        transaction.add_text(Path("one.py"), "new", mode_of=Path("newton.py"))
        assert not Path("one.py").exists() and len(os.listdir()) == 2
        transaction.commit()
    assert Path("one.py").read_text() == "new"
    assert os.stat("one.py").st_mode == os.stat("newton.py").st_mode


def test_an_interrupt_while_the_command_loads_ends_it_without_a_message(program_folder):
    """The interrupt comes at the import of click, which no module of Python imports."""
    Path("start").mkdir()
    Path("start/sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *others):\n"
        "        if name == 'click':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
    )
    completed = subprocess.run(
        [sys.executable, "-m", "autoconv", "info"],
        env={**os.environ, "PYTHONPATH": "start"},
        capture_output=True,
        timeout=60,
    )
    assert (completed.returncode, completed.stdout, completed.stderr) == (-signal.SIGINT, b"", b"")
