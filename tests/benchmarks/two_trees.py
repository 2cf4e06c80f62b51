"""Warm and first calls of this tree beside those of another checkout, in turns in one run.

    python tests/benchmarks/two_trees.py OTHER [--rounds 20] [--processes 2] [--firsts 3]
        [--processor] [--only NAME] [--suite NAME]

For each workload of `fixtures/bench` and `fixtures/numpy` a process of each tree makes warm calls in turns, and fresh
processes with empty caches make first calls in turns. The warm rounds are divided among several pairs of processes:
where the system puts a process's memory changes the time of some workloads by a third. It prints the best times and
their ratio (this tree over the other; below 1 is quicker), a row each, then geometric means and the worst. OTHER needs
the same packages as this tree.
With --processor, processor time is measured, which other processes disturb less: of first calls that of the process and
of its helpers, in steps of 10 ms.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parents[2]


class Worker:
    """A process that runs one workload with the package of one tree."""

    def __init__(self, tree: Path, file: Path, cache: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(tree), "AUTOCONV_CACHE": cache, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, str(HERE / "autoconv" / "bench" / "worker.py")]
        self.process = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=tree,
        )  # fmt: skip
        self.ask("load", file=str(file), peer="autoconv", tiny=False)

    def ask(self, do: str, **options: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **options}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"failed": "the process ended"}')
        if "failed" in answer:
            raise RuntimeError(answer["failed"])
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def first_calls(trees: list[Path], file: Path, count: int, clock: str) -> list[float]:
    """Return the best time of a first call by tree."""
    best = [math.inf] * len(trees)
    for turn in range(count):
        for position in ((0, 1), (1, 0))[turn % 2]:
            with tempfile.TemporaryDirectory() as cache:
                worker = Worker(trees[position], file, cache)
                before = processor_seconds(cache)
                seconds = worker.ask("first", seed=0)["seconds"]
                seconds = processor_seconds(cache) - before if clock == "processor" else seconds
                best[position] = min(best[position], seconds)
                worker.close()
    return best


def processor_seconds(cache: str) -> float:
    """Return the processor time, so far, of all processes that were given this cache folder by their environment."""
    mark, ticks = f"AUTOCONV_CACHE={cache}\0".encode(), 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (process / "environ").read_bytes():
                ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def warm_calls(trees: list[Path], file: Path, rounds: int, processes: int, clock: str) -> list[float]:
    """Return the best time of a warm call by tree, of several processes of each."""
    best = [math.inf] * len(trees)
    with tempfile.TemporaryDirectory() as first_cache, tempfile.TemporaryDirectory() as second_cache:
        for _ in range(processes):
            caches = (first_cache, second_cache)
            workers = [Worker(tree, file, cache) for tree, cache in zip(trees, caches, strict=True)]
            for turn in range(-(-rounds // processes)):
                for position in ((0, 1), (1, 0))[turn % 2]:
                    answer = workers[position].ask("round", seed=0, seconds=0.05, clock=clock, check=not turn)
                    best[position] = min(best[position], answer["seconds"])
            for worker in workers:
                worker.close()
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=20, help="warm rounds of each tree")
    parser.add_argument("--processes", type=int, default=2, help="processes of each tree for the warm rounds")
    parser.add_argument("--firsts", type=int, default=3, help="first calls of each tree")
    parser.add_argument("--processor", action="store_true", help="measure processor time")
    parser.add_argument("--only", action="append", default=[], help="a workload (repeatable)")
    parser.add_argument("--suite", choices=("bench", "numpy"), action="append", default=[])
    options = parser.parse_args()
    trees = [HERE, options.other.resolve()]
    files = [file for suite in options.suite or ("bench", "numpy") for file in (HERE / "fixtures" / suite).glob("*.py")]
    clock = "processor" if options.processor else ""
    files = sorted(file for file in files if not options.only or file.stem in options.only)
    table = Table("workload", "warm", "other", "ratio", "first", "other", "ratio")
    for column in table.columns[1:]:
        column.justify = "right"
    ratios: dict[str, list[tuple[float, str]]] = {"warm": [], "first": []}
    for file in files:
        row = [f"{file.parent.name}/{file.stem}"]
        for kind, found in (
            ("warm", warm_calls(trees, file, options.rounds, options.processes, clock) if options.rounds else None),
            ("first", first_calls(trees, file, options.firsts, clock) if options.firsts else None),
        ):
            if found is None:
                row += ["-"] * 3
                continue
            ratios[kind].append((found[0] / found[1], row[0]))
            row += [f"{found[0] * 1e6:,.2f} µs", f"{found[1] * 1e6:,.2f} µs", f"{found[0] / found[1]:.3f}"]
        table.add_row(*row)
        print(" ".join(row), file=sys.stderr, flush=True)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    for kind, found in ratios.items():
        if found:
            mean = math.exp(sum(math.log(ratio) for ratio, _ in found) / len(found))
            worst, name = max(found)
            console.print(f"{kind}: geometric mean {mean:.3f}, worst {worst:.3f} ({name})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
