"""Random programs of NumPy over hostile arrays, plain against `@autoconv.compile`.

    python tests/fuzz/hostile.py --programs 20000 [--seed 0] [--processes 1] [--warnings]

The arrays have negative, zero or overlapping strides, another byte order, no elements or one, no dimensions, unaligned
addresses, bools of other bytes than 0 and 1, elements that are no numbers, and subclasses; some are read-only, or
larger than memory. A program is called four times. Its results with their classes, dtypes and memory are compared, the
classes of exceptions, the arguments after the call, and the arguments with which each result shares memory. Programs
run in child processes: "ENDED" ended its process, "HANG" computed for more than 10 seconds. With `--warnings` the texts
of RuntimeWarnings are compared as well, if all else agrees: "lost" and "added". "endless" are programs that NumPy
itself does not finish, "NumPy ended" those for which NumPy itself ended the process.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import contextlib
import linecache
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from grammar.hostile import Arguments, Programs

COMPILED_SECONDS = 10  # limit of the time that a compiled program computes
START_SECONDS = COMPILED_SECONDS  # from the start of a program to its first call
PLAIN_SECONDS = 1  # limit of the time of NumPy itself, which may add up more elements than memory holds
_CHILD_PROGRAMS = 200  # number of programs of one child
_CALL_COUNT = 4
_WARNINGS_VARIABLE = "AUTOCONV_HOSTILE_WARNINGS"
_LARGE_SIZE = 1 << 16  # number of elements above which the elements of an array are not compared
_TOLERANCES = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}


def program_text(number: int) -> str:
    return Programs(number).program()


def call_arguments(number: int, call: int) -> list[Any]:
    """Return the arguments of a call: the same for the first two calls, then others of the same kinds, then any."""
    return Arguments(number * 16 + (0, 0, 1, 2)[call]).make()


def comparable(value: Any) -> Any:
    """Convert a value to a form that compares."""
    if isinstance(value, memoryview):
        return "memoryview", value.format, value.shape, value.tobytes()
    if isinstance(value, np.ndarray):
        facts = type(value).__name__, str(value.dtype), value.shape, getattr(value, "tag", None)
        if value.size > _LARGE_SIZE:
            return *facts, value.strides
        mask = np.ma.getmaskarray(value).tolist() if isinstance(value, np.ma.MaskedArray) else None
        return *facts, mask, Numbers(np.asarray(value))
    if isinstance(value, np.generic):
        return type(value).__name__, str(value.dtype), Numbers(np.asarray(value))
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [comparable(item) for item in value]
    if isinstance(value, (float, complex)):
        return type(value).__name__, Numbers(np.asarray(value))
    return type(value).__name__, str(value)


class Numbers:
    """The elements of an array. Floats are equal if they differ no more than rounding in another order causes."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array.copy()

    def __eq__(self, other: Any) -> bool:
        array, other_array = self.array, other.array
        if array.shape != other_array.shape or array.dtype != other_array.dtype:
            return False
        if array.dtype.kind not in "fc":
            if array.dtype.kind == "b":  # any byte but 0 is true
                return bool((array.astype(bool) == other_array.astype(bool)).all())
            return str(array.tolist()) == str(other_array.tolist())
        tolerance = _TOLERANCES.get(array.dtype.newbyteorder("=").name, 1e-10)
        with np.errstate(all="ignore"):
            return bool(np.allclose(array, other_array, rtol=tolerance, atol=tolerance * 10, equal_nan=True))

    def __repr__(self) -> str:
        return str(self.array.tolist())


def warning_texts(function: Any, arguments: list[Any]) -> set[str]:
    """Return the texts of the RuntimeWarnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):
            function(*arguments)
    return {str(warning.message) for warning in caught if issubclass(warning.category, RuntimeWarning)}


def outcome(function: Any, arguments: list[Any]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*arguments)
        except Exception as error:
            return type(error).__name__, str(error), [comparable(a) for a in arguments], None
        parts = value if isinstance(value, (tuple, list)) else (value,)
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        owners = [a for a in arguments if isinstance(a, np.ndarray)]
        shares = [[part is a or np.may_share_memory(part, a) for a in owners] for part in arrays]
        identical = [[part is a for a in owners] for part in arrays]
        return comparable(value), [comparable(a) for a in arguments], shares, identical


def outcomes_differ(expected: Any, actual: Any) -> bool:
    if isinstance(expected[0], str) and isinstance(actual[0], str):
        return expected[0] != actual[0] or expected[2] != actual[2]  # the texts of errors are not compared
    return bool(expected != actual)


def check(number: int) -> tuple[str, str]:
    """Compare the calls of a program; return the kind of its outcome, and details if it is wrong."""
    import autoconv

    text = program_text(number)
    name = f"<hostile {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    function = namespace["program"]
    compiled = autoconv.compile(function)
    for call in range(_CALL_COUNT):
        print("PLAIN", flush=True)
        expected = outcome(function, call_arguments(number, call))
        print("COMPILED", flush=True)
        actual = outcome(compiled, call_arguments(number, call))
        if outcomes_differ(expected, actual):
            return "WRONG", f"{text}call {call}\nexpected {expected}\nfound    {actual}\n{compiled.explain()}"
    explanation = compiled.explain()
    if explanation.startswith("program: 0 traces"):
        kind = "plain"
    else:
        kind = "part" if "plain Python" in explanation else "graph"
    for call in range(_CALL_COUNT) if os.environ.get(_WARNINGS_VARIABLE) else ():
        expected, actual = (warning_texts(run, call_arguments(number, call)) for run in (function, compiled))
        if expected != actual:
            kind = "lost" if expected > actual else "added"
            return kind, f"{text}call {call}\nexpected {sorted(expected)}\nfound    {sorted(actual)}\n{explanation}"
    return kind, ""


def run_programs(numbers: list[int]) -> None:
    """Run programs in a child process, and print a line before and after each."""
    from autoconv.config import SETTINGS

    SETTINGS.strict, SETTINGS.tiers = True, "native"
    for number in numbers:
        print(f"BEGIN {number}", flush=True)
        if os.environ.get("AUTOCONV_HOSTILE_TEST"):  # set by the test of this file
            _fail_on_purpose(number)
        kind, details = check(number)
        print(f"END {kind} {details!r}", flush=True)


def _fail_on_purpose(number: int) -> None:
    if number == 1:
        os.abort()
    while number == 2:
        pass


class Child:
    """A process that runs programs; `results` are their outcomes by number."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.results: dict[int, tuple[str, str]] = {}

    def run(self) -> None:
        waiting = list(self.numbers)
        while waiting:
            self._run_process(waiting)
            waiting = [number for number in waiting if number not in self.results]

    def _run_process(self, numbers: list[int]) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), "--numbers", ",".join(map(str, numbers))]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        error_output: list[str] = []
        threading.Thread(target=lambda: error_output.append(child.stderr.read()), daemon=True).start()
        current, timed_out = None, threading.Event()
        watchdog = _Watchdog(child, timed_out)
        for line in child.stdout:
            keyword, _, rest = line.partition(" ")
            if keyword == "BEGIN":
                current = int(rest)
                watchdog.start(START_SECONDS)
            elif keyword.strip() in ("PLAIN", "COMPILED"):
                watchdog.start(PLAIN_SECONDS if keyword.startswith("PLAIN") else COMPILED_SECONDS)
            elif keyword == "END":
                outcome_kind, _, details = rest.partition(" ")
                self.results[current], current = (outcome_kind, eval(details)), None
        watchdog.stop()
        code = child.wait()
        if current is not None or (code and not self.results):
            number = numbers[0] if current is None else current
            keyword = "HANG" if timed_out.is_set() else "ENDED"
            if watchdog.limit == PLAIN_SECONDS:
                self.results[number] = "endless" if timed_out.is_set() else "NumPy ended", ""
                return
            details = f"the process ended with {code}\n{''.join(error_output)[-2000:]}"
            self.results[number] = keyword, program_text(number) + details


class _Watchdog:
    """A thread that ends a child if one program computes for too long."""

    def __init__(self, child: subprocess.Popen[str], timed_out: threading.Event) -> None:
        self._child, self._timed_out = child, timed_out
        self._stopped = threading.Event()
        self.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def start(self, limit: float = COMPILED_SECONDS) -> None:
        self.limit = limit
        self._start = time.monotonic(), self._cpu_seconds()

    def stop(self) -> None:
        self._stopped.set()

    def _cpu_seconds(self) -> float:
        try:
            fields = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            return time.monotonic()

    def _watch(self) -> None:
        while not self._stopped.wait(0.5):
            elapsed, cpu_seconds = time.monotonic() - self._start[0], self._cpu_seconds() - self._start[1]
            if cpu_seconds > self.limit or elapsed > 12 * COMPILED_SECONDS:
                self._timed_out.set()
                self._child.kill()


def run(programs: int, seed: int, processes: int = 1) -> collections.Counter[str]:
    numbers = [seed * 1_000_003 + i for i in range(programs)]
    children = [Child(numbers[i : i + _CHILD_PROGRAMS]) for i in range(0, programs, _CHILD_PROGRAMS)]
    counts: collections.Counter[str] = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        for child, _ in zip(children, pool.map(Child.run, children), strict=True):
            for number, (kind, details) in child.results.items():
                counts[kind] += 1
                if details:
                    print(f"--- program {number}: {kind}\n{details}\n", flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--numbers", help="run these programs in this process, as the children do")
    parser.add_argument("--warnings", action="store_true", help="compare the texts of RuntimeWarnings as well")
    options = parser.parse_args()
    if options.warnings:
        os.environ[_WARNINGS_VARIABLE] = "1"  # the children inherit it
    if options.numbers:
        run_programs([int(number) for number in options.numbers.split(",")])
        return 0
    counts = run(options.programs, options.seed, options.processes)
    print(f"{options.programs} programs: " + ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["WRONG"] + counts["HANG"] + counts["ENDED"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
