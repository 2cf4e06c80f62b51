"""The compared libraries (peers), and the processes in which they are measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoconv.bench import worker

_ANSWER_TIMEOUT = 300.0  # seconds to wait for an answer, by default


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A compared library; ratios compare autoconv with the best peer for which `is_compiler` is true."""

    name: str
    title: str
    is_compiler: bool = True


PEERS = (
    Peer(name="numpy", title="NumPy", is_compiler=False),
    Peer(name="autoconv", title="autoconv", is_compiler=False),
    Peer(name="jax", title="JAX"),
    Peer(name="tensorflow", title="TensorFlow"),
    Peer(name="tensorflow-xla", title="TF XLA"),
    Peer(name="numba", title="Numba"),
    Peer(name="torch", title="torch.compile"),
)


class Worker:
    """A process that runs one peer on one workload; `ask` sends it a request. Use it in a `with` statement.

    It waits `timeout` seconds for an answer at most.
    """

    def __init__(
        self, peer: Peer, python: str, environment: dict[str, str], timeout: float = _ANSWER_TIMEOUT
    ) -> None:
        self._timeout = timeout
        default_environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
        # As in an installation, the modules of the peers are cached as bytecode too.
        default_environment["PYTHONDONTWRITEBYTECODE"] = ""
        # NumPy is measured in the environment of autoconv.
        is_local = peer.name in ("numpy", "autoconv")
        if is_local:  # the running package, installed or not
            root = str(Path(__file__).resolve().parents[2])
            default_environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable if is_local else python, "-P", worker.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, **default_environment, **environment},
        )

    def ask(self, request_name: str, **parameters: Any) -> dict[str, Any]:
        """Return the worker's answer; {"failed": …} if it ends without one, or takes too long."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        timer = threading.Timer(self._timeout, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps({"do": request_name, **parameters}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, OSError):
            line = ""
        finally:
            has_timed_out = not timer.is_alive()
            timer.cancel()
        if not line:
            exit_code = process.wait()
            if has_timed_out:
                return {"failed": f"no answer in {self._timeout:.0f} seconds"}
            return {"failed": f"its process ended with {exit_code}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def is_running(self) -> bool:
        """True unless the process has ended, by itself or after a timeout."""
        return self._process.poll() is None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        process = self._process
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unsent data
                    continue
