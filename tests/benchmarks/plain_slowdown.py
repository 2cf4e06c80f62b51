"""Measure how much slower converted code is than the original on plain values.

    python tests/benchmarks/plain_slowdown.py [--only NAME] [--rounds N] [--json] [--through-operators]

Each workload runs on the modules as they are and converted, in turns, and the best of the rounds counts. The table has
the processor times and the ratio of each workload, the geometric mean and the worst. With --through-operators the
converted code runs as inside of a trace, every statement through its operator. The exit code is 1 when the worst ratio
is above --bar (3 by default), or when results differ."""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from loading import load, load_file
from rich.console import Console
from rich.table import Table
from workloads import LOOPS, WORKLOADS, Workload

from autoconv.runtime.recording.activity import as_if_traced

SAMPLE = 0.01  # the least seconds of one sample of the original


def prepare(workload: Workload, converted: bool) -> Callable[[], Any]:
    if workload.modules == (LOOPS.stem,):
        return workload.prepare({LOOPS.stem: load_file(LOOPS, converted)})
    return workload.prepare(load(workload.modules, converted))


def measure(workload: Workload, rounds: int) -> tuple[float, float]:
    """Return the seconds of the original and of the converted code for one run, the best of alternating rounds."""
    plain, converted = prepare(workload, False), prepare(workload, True)
    expected, actual = plain(), converted()
    if repr(expected) != repr(actual):
        raise SystemExit(f"{workload.name}: the original gives {expected!r}, converted {actual!r}")
    repeat = max(1, math.ceil(SAMPLE / _seconds(plain, 1)))
    best = [math.inf, math.inf]
    for _ in range(rounds):
        for position, function in enumerate((plain, converted)):
            best[position] = min(best[position], _seconds(function, repeat))
    return best[0] / repeat, best[1] / repeat


def _seconds(function: Callable[[], Any], repeat: int) -> float:
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(repeat):
            function()
        return time.process_time() - start
    finally:
        gc.enable()


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the names of the workloads to run")
    parser.add_argument("--rounds", type=int, default=9, help="how many samples of each (default 9)")
    parser.add_argument("--bar", type=float, default=3.0, help="the worst ratio that passes (default 3)")
    parser.add_argument("--through-operators", action="store_true", help="as inside of a trace")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    with as_if_traced() if options.through_operators else nullcontext():
        seconds_by_name = {w.name: measure(w, options.rounds) for w in WORKLOADS if options.only in w.name}
    ratios = {name: converted / plain for name, (plain, converted) in seconds_by_name.items()}
    mean, worst = geometric_mean(list(ratios.values())), max(ratios, key=ratios.__getitem__)
    if options.json:
        print(json.dumps({"ratios": ratios, "geometric mean": mean, "worst": [worst, ratios[worst]]}, indent=1))
    else:
        table = Table("workload", *("original ms", "converted ms", "ratio"))
        for name, (plain, converted) in seconds_by_name.items():
            table.add_row(name, f"{plain * 1e3:.3f}", f"{converted * 1e3:.3f}", f"{ratios[name]:.2f}")
        table.add_section()
        table.add_row("geometric mean", "", "", f"{mean:.2f}")
        table.add_row(f"worst: {worst}", "", "", f"{ratios[worst]:.2f}")
        Console().print(table)
    return int(ratios[worst] > options.bar)


if __name__ == "__main__":
    sys.exit(main())
