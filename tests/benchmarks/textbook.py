"""Programs as textbooks of scientific computing have them, by NumPy and compiled in turns, in three sizes each.

    python tests/benchmarks/textbook.py [--only NAME] [--rounds 7] [--tiers auto] [--peers-python PYTHON]

A program's name is followed, for each size, by NumPy's time of a call over ours, and by the first call. Results are
compared. At the end: the geometric mean, the share below 0.95, and what runs by kernels or as plain Python.

With `--peers-python`, NumPy, Numba, JAX and autoconv run in processes of their own, on one processor, in turns. Numba
gets each program as it is. JAX gets the same source with `np` bound to jax.numpy, and with arrays on its device; it
takes programs of whole arrays. Rows are kept in a file, so that a run continues where it was stopped.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("AUTOCONV_NUM_THREADS", "1")

import numpy as np
import textbook_peers
from textbook_workload import ALL_PROGRAMS

import autoconv
from autoconv.config import SETTINGS


def measure(function: Callable[..., Any], arguments: tuple[Any, ...], rounds: int) -> tuple[float, float, str]:
    """Return the ratio of warm calls, the seconds of the first one, and how calls run."""
    compiled = autoconv.compile(function)
    clock = time.perf_counter
    start = clock()
    result = compiled(*arguments)
    first = clock() - start
    expected = function(*arguments)
    pairs = zip(*(v if isinstance(v, tuple) else (v,) for v in (result, expected)), strict=True)
    for compiled_arguments, plain_arguments in pairs:
        np.testing.assert_allclose(compiled_arguments, plain_arguments, rtol=1e-6, atol=1e-9)
    for _ in range(30 if SETTINGS.tiers == "auto" else 0):
        compiled(*arguments)
    best = [math.inf, math.inf]
    start, turn = clock(), 0
    while turn < rounds or (turn < 50 * rounds and clock() - start < 0.2):
        for position, call in enumerate((function, compiled) if turn % 2 else (compiled, function)):
            index = position ^ (turn % 2 == 0)
            before = clock()
            call(*arguments)
            best[index] = min(best[index], clock() - before)
        turn += 1
    report = compiled.explain()
    runs_as = "plain" if "plain Python:" in report else "kernels" if "by kernels" in report else ""
    return best[0] / best[1], first, runs_as


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a program (repeatable)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tiers", choices=("native", "auto"), default="native")
    parser.add_argument("--peers-python", metavar="PYTHON", help="the interpreter that has Numba and JAX")
    parser.add_argument("--results", type=Path, default=Path("out/textbook.jsonl"), help="the file of rows with peers")
    options = parser.parse_args()
    names = [name for name in ALL_PROGRAMS if not options.only or name in options.only]
    if options.peers_python:
        rows = textbook_peers.measure_all(names, options.peers_python, options.rounds, options.tiers, options.results)
        textbook_peers.print_report(rows)
        return 0
    SETTINGS.tiers = options.tiers
    warnings.simplefilter("ignore")
    ratios: list[float] = []
    for name in names:
        function, make, sizes = ALL_PROGRAMS[name]
        cells = []
        for size in sizes:
            try:
                ratio, first, runs_as = measure(function, make(np.random.default_rng(size), size), options.rounds)
            except AssertionError as error:
                print(f"--- {name}, size {size}: {str(error)[:300]}")
                return 1
            ratios.append(ratio)
            cells.append(f"{ratio:8.2f} ({first:5.2f} s){'!' if ratio < 0.95 else ' '}{runs_as:8}")
        print(f"{name:28}{''.join(cells)}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(ratios)} measured: geometric mean {mean:.2f}, below 0.95: {sum(ratio < 0.95 for ratio in ratios)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
