"""Measure the memory that retracing takes: the growth of a live function, and what stays after functions are dropped.

    python tests/tracing/retrace_memory.py [--retraces 1000]

The growth is that of Python's allocations (tracemalloc), from the second trace of a function on, which takes minutes;
and that of a fresh process's resident memory (/proc/self/statm), machine code included, after five calls, which bring
in the compiler. `--resident` measures the latter alone.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import resource
import subprocess
import sys
import tempfile
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import autoconv


def step(x: Any, number: Any) -> Any:
    """A condition, a loop and some arithmetic: not a trivial graph."""
    total = x * 0
    if autoconv.reduce_sum(x) > number:
        total = total + x * number
    for i in autoconv.range(3):
        total = total + autoconv.cast(i, x.dtype)
    return total


def live_growth(retraces: int) -> int:
    """Return the bytes by which a live function grows in so many traces, each for a new Python number."""
    function, x = autoconv.function(step), autoconv.constant([1.0, 2.0])
    function(x, -1)
    return _allocated_growth(lambda: [function(x, number) for number in range(retraces)])


def shape_growth(retraces: int) -> int:
    """Return the bytes by which a live function grows in so many traces, each for a new shape."""
    function = autoconv.function(step)
    function(autoconv.zeros([1]), 1.0)
    return _allocated_growth(lambda: [function(autoconv.zeros([number + 2]), 1.0) for number in range(retraces)])


def dropped_growth(functions: int) -> int:
    """Return the bytes that stay after so many functions were made, traced and dropped."""

    def make_and_drop() -> None:
        for number in range(functions):
            autoconv.function(lambda x: step(x, number))(autoconv.constant([1.0, 2.0]))  # noqa: B023 - called at once

    make_and_drop()
    # A table that serves all functions may grow in one of the rounds.
    return min(_allocated_growth(make_and_drop) for _ in range(2))


def resident_growth(retraces: int, traces_before: int, rounds: int = 1) -> int:
    """Return the bytes by which this process grows, machine code included, in further traces of a live function.

    It has `traces_before` traces then. The result is the least of several rounds: the allocator adds whole pages.
    """
    function, x = autoconv.function(step), autoconv.constant([1.0, 2.0])
    for number in range(1, traces_before + 1):
        function(x, -number)
    growths = []
    for begin in range(0, rounds * retraces, retraces):
        gc.collect()
        before = _resident()
        for number in range(begin, begin + retraces):
            function(x, number)
        gc.collect()
        growths.append(_resident() - before)
    return min(growths)


def resident_growth_of_fresh_process(retraces: int, first: int = 5, rounds: int = 1) -> int:
    """Measure `resident_growth` in a new process without compiled code, in memory or on disk."""
    options = {"--retraces": retraces, "--first": first, "--rounds": rounds}
    command = [sys.executable, __file__, "--resident", *(str(part) for option in options.items() for part in option)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def are_dropped_objects_freed() -> bool:
    """Return whether a dropped function, its trace and its captured tensors are all freed."""
    left = _trace_and_capture()
    gc.collect()
    return all(reference() is None for reference in left)


def _trace_and_capture() -> list[Callable[[], Any]]:
    captured, variable = autoconv.constant([1.0, 2.0]), autoconv.Variable(1.0)
    function = autoconv.function(lambda x: x + captured * variable)
    concrete = function.get_concrete_function(captured)
    function(captured)
    return [weakref.ref(v) for v in (function, concrete, concrete.recorded, captured, variable, variable.storage)]


def _allocated_growth(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        gc.collect()  # each collection makes references of ephemerons anew: they count before as well
        before = tracemalloc.get_traced_memory()[0]
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--retraces", type=int, default=1000)
    parser.add_argument("--resident", action="store_true", help="print the bytes by which this process grows")
    parser.add_argument("--first", type=int, default=5, help="traces before that, for --resident")
    parser.add_argument("--rounds", type=int, default=1, help="rounds of which the least counts, for --resident")
    options = parser.parse_args()
    retraces = options.retraces
    # Many traces, of which autoconv warns, are made on purpose here.
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    if options.resident:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["AUTOCONV_CACHE"] = folder
            print(resident_growth(retraces, options.first, options.rounds))
        return 0
    if sys.platform == "linux":
        grown = resident_growth_of_fresh_process(retraces)
        print(f"{'a live function, resident memory':40} {retraces} traces: {grown / 1e6:7.3f} MB", flush=True)
    for name, grown in (
        ("a live function, by a Python number", live_growth(retraces)),
        ("a live function, by a shape", shape_growth(retraces)),
        ("functions that were dropped", dropped_growth(retraces)),
    ):
        print(f"{name:40} {retraces} traces: {grown / 1e6:7.3f} MB, {grown / retraces:9.1f} bytes each")
    freed = are_dropped_objects_freed()
    print(f"a dropped function frees its traces, captured tensors and variables: {'yes' if freed else 'NO'}")
    return 0 if freed else 1


if __name__ == "__main__":
    sys.exit(main())
