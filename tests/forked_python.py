"""Programs of tests in processes that are forked from one that has imported the package (`forking_server`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_SERVER = Path(__file__).with_name("forking_server.py")


class Forker:
    """Starts programs as `python *arguments` does, without the time that imports take."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def run(
        self,
        arguments: Sequence[object],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        input: str = "",
        timeout: float = 120,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, and return what it printed and its exit code.

        Raises subprocess.TimeoutExpired, and with `check` subprocess.CalledProcessError for another exit code than 0.
        """
        process = self.start(arguments, cwd=cwd, env=env, input=input)
        out, errors = process.communicate(timeout)
        completed = subprocess.CompletedProcess(process.arguments, process.returncode, out, errors)
        if check:
            completed.check_returncode()
        return completed

    def start(
        self,
        arguments: Sequence[object],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        input: str = "",
    ) -> ForkedProcess:
        """Start a program; its environment may not change what Python reads at its start."""
        environment = dict(os.environ if env is None else env)
        streams = tempfile.TemporaryDirectory(prefix="streams-")
        names = [os.path.join(streams.name, name) for name in ("input", "output", "errors")]
        Path(names[0]).write_text(input)
        request = {
            "arguments": list(map(str, arguments)),
            "folder": os.path.abspath(cwd or os.getcwd()),
            "environment": environment,
            "streams": names,
        }
        return ForkedProcess(self, request["arguments"], int(self.ask(request)), streams)

    def ask(self, request: Mapping[str, object]) -> str:
        """Send a request to the server, and return its answer."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return self._server.stdout.readline()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.communicate()


class ForkedProcess:
    """A running program, with the methods of `subprocess.Popen` that tests use."""

    def __init__(
        self, forker: Forker, arguments: list[str], pid: int, streams: tempfile.TemporaryDirectory[str]
    ) -> None:
        self.arguments, self.pid = arguments, pid
        self.returncode: int | None = None
        self._forker, self._streams = forker, streams
        self._printed: tuple[str, str] | None = None
        self._read_bytes = 0  # bytes of standard output that were read

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; return what is left of standard output, and what was written to standard error."""
        if self._printed is None:
            if not self._ends_within(timeout):
                self.kill()
                self._ends_within(None)
                raise subprocess.TimeoutExpired(self.arguments, timeout or 0, *self._read_rest())
            self._printed = self._read_rest()
            self._streams.cleanup()
        return self._printed

    def read_line(self) -> str:
        """Wait for a line on standard output; "" where the program ends without one."""
        path = Path(self._streams.name, "output")
        is_last = False
        while True:
            unread = path.read_bytes()[self._read_bytes :] if path.exists() else b""
            line, end, _ = unread.partition(b"\n")
            if end or is_last:
                self._read_bytes += len(line + end)
                return (line + end).decode()
            is_last = self._ends_within(0.01)

    def kill(self) -> None:
        """Kill the process, if it has not ended."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def _ends_within(self, timeout: float | None) -> bool:
        if self.returncode is None:
            answer = self._forker.ask({"wait": self.pid, "seconds": timeout}).strip()
            self.returncode = int(answer) if answer else None
        return self.returncode is not None

    def _read_rest(self) -> tuple[str, str]:
        """Read what was written since the last line that was read."""
        out, errors = (Path(self._streams.name, name).read_bytes() for name in ("output", "errors"))
        return out[self._read_bytes :].decode(), errors.decode()
