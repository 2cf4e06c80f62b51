"""Rounds of measurements: all peers of a workload run at once and take turns, under the same conditions."""

from __future__ import annotations

import ast
import compileall
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autoconv.bench.peers import PEERS, Peer, Worker
from autoconv.errors import TargetError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a run.

    `python` is the interpreter that runs the other libraries. A round of one peer takes about `seconds`. `tiny` selects
    small inputs, for tests.
    """

    peers: tuple[Peer, ...] = PEERS
    python: str = sys.executable
    rounds: int = 3
    seconds: float = 0.2
    tiny: bool = False


@dataclass(slots=True, kw_only=True)
class Measurement:
    """The figures of one peer for one workload.

    `warm` is the best time of a call in all rounds, `first` the time of the first call, in seconds. `memory` is the
    peak of the process in bytes, including its library, and `memory_growth` the part that the calls added. `kernels`
    are the ops that ran by their kernels, and `note` is the reason for missing figures.
    """

    peer: str
    warm: float | None = None
    first: float | None = None
    cached: float | None = None  # autoconv's first call in a process that finds the machine code in the cache
    memory: int | None = None
    memory_growth: int | None = None
    import_seconds: float | None = None
    version: str = ""
    note: str = ""
    kernels: list[str] = field(default_factory=list)


def workloads(folder: Path, suites: Sequence[str] = (), only: Sequence[str] = ()) -> dict[str, Path]:
    """Return the files of the workloads in a folder, by name: only of the suites and names that are given, if any are.

    Raises TargetError for an unknown suite or name, and for a folder without workloads.
    """
    files = {path.stem: path for path in sorted(folder.glob("*.py"))}
    if not files:
        raise TargetError(f"{folder} holds no workloads; --folder names the folder of workloads")
    suite_of = {name: _suite_name(path) for name, path in files.items()}
    requests = ((suites, set(suite_of.values()), "suite"), (only, set(files), "workload"))
    for requested, available, kind in requests:
        unknown_names = sorted(set(requested) - available)
        if unknown_names:
            raise TargetError(f"no {kind} {', '.join(unknown_names)}; there are: {', '.join(sorted(available))}")
    return {
        name: path
        for name, path in files.items()
        if (not suites or suite_of[name] in suites) and (not only or name in only)
    }


def prepare(file: Path, settings: Settings) -> None:
    """Run every peer once on a workload with small inputs, so that libraries are in the file system's cache.

    Also compiles this package's modules to bytecode, as pip has done for the peers.
    """
    compileall.compile_dir(Path(__file__).parents[1], quiet=2)
    for peer in settings.peers:
        with Worker(peer, settings.python, {}) as worker:
            if "absent" not in worker.ask("load", peer=peer.name, file=str(file), tiny=True):
                worker.ask("first", seed=0)


def measure(file: Path, settings: Settings, absent: dict[str, str]) -> list[Measurement]:
    """Measure one workload under all peers.

    Peers that are not installed are added to `absent`, with the reason, and skipped from then on.
    """
    peers = [peer for peer in settings.peers if peer.name not in absent]
    measurements = {peer.name: Measurement(peer=peer.name) for peer in peers}
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="autoconv-bench-") as cache:
        start: Callable[[Peer], Worker] = lambda peer: stack.enter_context(
            Worker(peer, settings.python, {"AUTOCONV_CACHE": cache})
        )
        load_options = {"file": str(file), "tiny": settings.tiny}
        running_workers: dict[str, Worker] = {}
        for peer in peers:
            measurement, worker = measurements[peer.name], start(peer)
            answer = worker.ask("load", peer=peer.name, **load_options)
            if "absent" in answer:
                absent[peer.name] = answer["absent"]
                del measurements[peer.name]
                continue
            if _check_answer(answer, measurement):
                measurement.version, measurement.import_seconds = answer["version"], answer["import"]
                answer = worker.ask("first", seed=0)
            if _check_answer(answer, measurement):
                measurement.first = answer["seconds"]
                measurement.memory, measurement.memory_growth = answer["memory"], answer["memory_growth"]
                measurement.kernels = answer["kernels"]
                running_workers[peer.name] = worker
        if "autoconv" in running_workers:
            second_worker = start(next(peer for peer in peers if peer.name == "autoconv"))
            second_worker.ask("load", peer="autoconv", **load_options)
            measurements["autoconv"].cached = second_worker.ask("first", seed=0).get("seconds")
        for round_number in range(settings.rounds):
            for name in _rotate(list(running_workers), round_number):
                answer = running_workers[name].ask("round", seed=round_number + 1, seconds=settings.seconds)
                if not _check_answer(answer, measurements[name]):
                    del running_workers[name]
                    continue
                best = measurements[name].warm
                measurements[name].warm = answer["seconds"] if best is None else min(best, answer["seconds"])
    return list(measurements.values())


def best_peer_ratio(row: Sequence[Measurement], peers_by_name: dict[str, Peer]) -> tuple[float, str] | None:
    """Return the ratio of the best compiler's time to autoconv's, and its name; None without these times."""
    times = {measurement.peer: measurement.warm for measurement in row if measurement.warm is not None}
    peer_times = {name: seconds for name, seconds in times.items() if peers_by_name[name].is_compiler}
    if "autoconv" not in times or not peer_times:
        return None
    best_peer = min(peer_times, key=peer_times.__getitem__)
    return peer_times[best_peer] / times["autoconv"], best_peer


def _check_answer(answer: dict[str, Any], measurement: Measurement) -> bool:
    """Return whether an answer contains figures; if not, note the reason and discard the time of a warm call."""
    if "failed" not in answer and "left_out" not in answer:
        return True
    # "left_out" is "", so that nothing is noted, if the workload has no version for the peer.
    measurement.note = answer["left_out"] if "left_out" in answer else answer["failed"]
    measurement.warm = None
    return False


def _rotate(names: list[str], round_number: int) -> Iterator[str]:
    """Yield the names from a different start in each round."""
    offset = round_number % len(names) if names else 0
    yield from names[offset:] + names[:offset]


def _suite_name(path: Path) -> str:
    """Return the SUITE of a workload, read without running it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if names == ["SUITE"]:
                return str(node.value.value)
    return ""
