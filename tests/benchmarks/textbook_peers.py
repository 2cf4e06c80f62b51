"""The programs of `textbook.py` by NumPy, Numba, JAX and autoconv, each in a process of its own."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from textbook_workload import ALL_PROGRAMS

from autoconv.bench.peers import PEERS, Worker

MIN_EVEN_RATIO = 0.95
_NAMES = ("numpy", "numba", "jax", "autoconv")
_PEERS = {peer.name: peer for peer in PEERS if peer.name in _NAMES}
_FURTHER_ROUNDS = 4  # further rounds of rows that are behind, or nearly
_TIMEOUT = 30.0  # seconds to wait for an answer, such as for a first call of JAX that unrolls a long loop
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "AUTOCONV_NUM_THREADS")

Row = dict[str, Any]  # "name", "size"; "seconds" by peer; "notes" by peer that has no seconds


def measure_all(names: Sequence[str], python: str, rounds: int, tiers: str, results: Path) -> list[Row]:
    """Return a row for each program and size; rows in the file of results are not measured again."""
    results.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    rows = {(row["name"], row["size"]): row for row in known}
    environment = dict.fromkeys(_THREADS, "1") | {"AUTOCONV_TIERS": tiers}
    with _one_processor(), _Processes(python, environment) as processes, results.open("a") as file:
        for name in names:
            for position, size in enumerate(ALL_PROGRAMS[name][2]):
                if (name, size) in rows:
                    continue
                row = {"name": name, "size": size, **_measure(processes, name, position, rounds)}
                rows[name, size] = row
                print(_row_text(row), flush=True)
                file.write(json.dumps(row) + "\n")
                file.flush()
    return [rows[name, size] for name in names for size in ALL_PROGRAMS[name][2]]


def print_report(rows: Sequence[Row]) -> None:
    """Print a table of the peers' times over ours, then geometric means and the rows behind."""
    columns = _NAMES[:-1]
    print(f"\n{'program':30}{'size':>8}{'µs':>12}" + "".join(f"{name:>9}" for name in columns) + f"{'best':>9}")
    for row in rows:
        print(_row_text(row))
    for name in (*columns, "best"):
        ratios = [ratio for row in rows if (ratio := _ratios(row).get(name)) is not None]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            behind = sum(ratio < MIN_EVEN_RATIO for ratio in ratios)
            share = behind / len(ratios)
            print(f"{name}: {len(ratios)} rows, geometric mean {mean:.2f}, behind {behind} ({share:.1%})")
    for row in rows:
        if note := row["notes"].get("autoconv") or row["kernels"]:
            print(f"{row['name']}, size {row['size']}: {note}")


def _measure(processes: _Processes, name: str, position: int, rounds: int) -> Row:
    """Return the best seconds of each peer in rounds that take turns."""
    notes, seconds, kernels = {}, {}, []
    for peer in _NAMES:
        answer = processes.first(peer, name, position)
        note = answer.get("absent") or answer.get("left_out") or answer.get("failed")
        if note is None:
            seconds[peer], kernels = math.inf, answer["kernels"]
        else:
            notes[peer] = note
    row = {"seconds": seconds, "notes": notes, "kernels": kernels}
    done, order = 0, list(seconds)
    while done < rounds or (done < rounds + _FURTHER_ROUNDS and _ratios(row).get("best", 1.0) < 1.05):
        for peer in order:
            answer = processes.ask(peer, "round", seed=position, seconds=0.05, check=False)
            seconds[peer] = min(seconds[peer], answer.get("seconds", math.inf))
        order.append(order.pop(0))
        done += 1
    return row


class _Processes:
    """A process for each peer, which keeps its program until another one is requested."""

    def __init__(self, python: str, environment: dict[str, str]) -> None:
        self._python, self._environment = python, environment
        self._exits = ExitStack()
        self._workers: dict[str, Worker] = {}
        self._loaded: dict[str, str] = {}

    def __enter__(self) -> _Processes:
        self._folder = Path(self._exits.enter_context(tempfile.TemporaryDirectory(prefix="autoconv-textbook-")))
        return self

    def __exit__(self, *error: object) -> None:
        self._exits.close()

    def first(self, peer: str, name: str, position: int) -> dict[str, Any]:
        """Load a program if the process has another one, and return the answer to its first call, with its check.

        autoconv gets a new function for each size, which other compilers have as well.
        """
        if self._loaded.get(peer) != name or peer == "autoconv":
            self._loaded[peer] = name
            answer = self.ask(peer, "load", peer=peer, file=str(self._file(name)), tiny=False)
            if "version" not in answer:
                self._loaded.pop(peer, None)
                return answer
        return self.ask(peer, "first", seed=position)

    def ask(self, name: str, request: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer of the peer's process, which is a new one after a process that ended."""
        if name not in self._workers:
            worker = Worker(_PEERS[name], self._python, self._environment, timeout=_TIMEOUT)
            self._workers[name] = self._exits.enter_context(worker)
        answer = self._workers[name].ask(request, **parameters)
        if not self._workers[name].is_running:
            del self._workers[name]
            self._loaded.pop(name, None)
        return answer

    def _file(self, name: str) -> Path:
        """Return the file of a program as a workload."""
        file = self._folder / f"{name}.py"
        file.write_text(
            f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            f"from textbook_workload import Workload\nworkload = Workload({name!r})\n"
            "program, make, with_jax = workload.program, workload.make, workload.with_jax\n"
        )
        return file


@contextmanager
def _one_processor() -> Iterator[None]:
    """Restrict this process, and those that it starts, to one processor: peers then compare on one thread."""
    available = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(available)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, available)


def _ratios(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the time of each peer over ours, and that of the best."""
    seconds = {peer: value for peer, value in row["seconds"].items() if math.isfinite(value)}
    ours = seconds.pop("autoconv", None)
    if ours is None or not seconds:
        return {}
    ratios = {peer: value / ours for peer, value in seconds.items()}
    return ratios | {"best": min(ratios.values())}


def _row_text(row: Row) -> str:
    ratios = _ratios(row)
    cells = "".join(f"{ratios[peer]:9.2f}" if peer in ratios else " " * 9 for peer in (*_NAMES[:-1], "best"))
    ours = row["seconds"].get("autoconv")
    time = "failed" if ours is None else f"{ours * 1e6:.2f}"
    mark = "!" if ratios.get("best", 0.0) < MIN_EVEN_RATIO else ""
    return f"{row['name']:30}{row['size']:8}{time:>12}{cells}{mark}"
