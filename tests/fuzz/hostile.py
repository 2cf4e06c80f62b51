"""Random programs of NumPy over hostile arrays, plain against `@autoconv.compile`.

    python tests/fuzz/hostile.py --programs 20000 [--seed 0] [--processes 1] [--warnings]

The arrays have strides that are negative, zero or overlap, bytes in another order, no elements or one, no dimensions,
unaligned places, bools of other bytes than 0 and 1, elements that are no numbers, and classes of their own; some are
read-only, or larger than memory. A program is called four times. Compared are the results with their classes, dtypes
and memory, the classes of exceptions, what the arguments hold afterwards, and which results share memory with which
arguments. Programs run in child processes: "ENDED" ended its process, "HANG" computed for more than 10 seconds;
`--warnings` compares the texts of RuntimeWarnings as well, for programs that are right otherwise: "lost" and "added".
Of those that are "endless" NumPy itself does not come to an end, and by "NumPy ended" it ended the process itself.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))

from grammar.hostile import Arguments, Programs

SECONDS = 10  # that a compiled program may compute
STARTING_SECONDS = SECONDS  # from the start of a program to its first call
PLAIN_SECONDS = 1  # that NumPy itself may take: what it sums up may be larger than memory
_SOME = 200  # programs of one child
_CALLS = 4
_WARNINGS = "AUTOCONV_HOSTILE_WARNINGS"
_LARGE = 1 << 16  # elements of an array that is not looked at one by one
_CLOSE = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}


def text_of(number: int) -> str:
    return Programs(number).program()


def arguments_of(number: int, call: int) -> list[Any]:
    """Those of a call: two of the same ones, then others of the kind, then others altogether."""
    return Arguments(number * 16 + (0, 0, 1, 2)[call]).make()


def described(value: Any) -> Any:
    """A value in a form that compares."""
    if isinstance(value, memoryview):
        return "memoryview", value.format, value.shape, value.tobytes()
    if isinstance(value, np.ndarray):
        facts = type(value).__name__, str(value.dtype), value.shape, getattr(value, "tag", None)
        if value.size > _LARGE:
            return *facts, value.strides
        mask = np.ma.getmaskarray(value).tolist() if isinstance(value, np.ma.MaskedArray) else None
        return *facts, mask, Numbers(np.asarray(value))
    if isinstance(value, np.generic):
        return type(value).__name__, str(value.dtype), Numbers(np.asarray(value))
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(item) for item in value]
    if isinstance(value, (float, complex)):
        return type(value).__name__, Numbers(np.asarray(value))
    return type(value).__name__, str(value)


class Numbers:
    """Elements, of which floats are equal where they are within what rounding in another order makes of them."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array.copy()

    def __eq__(self, other: Any) -> bool:
        mine, its = self.array, other.array
        if mine.shape != its.shape or mine.dtype != its.dtype:
            return False
        if mine.dtype.kind not in "fc":
            if mine.dtype.kind == "b":  # any byte but 0 is true
                return bool((mine.astype(bool) == its.astype(bool)).all())
            return str(mine.tolist()) == str(its.tolist())
        close = _CLOSE.get(mine.dtype.newbyteorder("=").name, 1e-10)
        with np.errstate(all="ignore"):
            return bool(np.allclose(mine, its, rtol=close, atol=close * 10, equal_nan=True))

    def __repr__(self) -> str:
        return str(self.array.tolist())


def told(function: Any, arguments: list[Any]) -> set[str]:
    """Return the texts of the RuntimeWarnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):
            function(*arguments)
    return {str(one.message) for one in found if issubclass(one.category, RuntimeWarning)}


def outcome(function: Any, arguments: list[Any]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*arguments)
        except Exception as error:
            return type(error).__name__, str(error), [described(a) for a in arguments], None
        parts = value if isinstance(value, (tuple, list)) else (value,)
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        owners = [a for a in arguments if isinstance(a, np.ndarray)]
        shares = [[part is a or np.may_share_memory(part, a) for a in owners] for part in arrays]
        same = [[part is a for a in owners] for part in arrays]
        return described(value), [described(a) for a in arguments], shares, same


def differs(expected: Any, found: Any) -> bool:
    if isinstance(expected[0], str) and isinstance(found[0], str):
        return expected[0] != found[0] or expected[2] != found[2]  # the words of errors are no part of this
    return bool(expected != found)


def check(number: int) -> tuple[str, str]:
    """What became of a program, and what is wrong with it."""
    import autoconv

    text = text_of(number)
    name = f"<hostile {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    function = space["program"]
    compiled = autoconv.compile(function)
    for call in range(_CALLS):
        print("PLAIN", flush=True)
        expected = outcome(function, arguments_of(number, call))
        print("COMPILED", flush=True)
        found = outcome(compiled, arguments_of(number, call))
        if differs(expected, found):
            return "WRONG", f"{text}call {call}\nexpected {expected}\nfound    {found}\n{compiled.explain()}"
    shown = compiled.explain()
    kind = "plain" if shown.startswith("program: 0 traces") else "part" if "plain Python" in shown else "graph"
    for call in range(_CALLS) if os.environ.get(_WARNINGS) else ():
        expected, found = (told(one, arguments_of(number, call)) for one in (function, compiled))
        if expected != found:
            kind = "lost" if expected > found else "added"
            return kind, f"{text}call {call}\nexpected {sorted(expected)}\nfound    {sorted(found)}\n{shown}"
    return kind, ""


def work(numbers: list[int]) -> None:
    """In a child: a line before each program and one behind it."""
    from autoconv.config import SETTINGS

    SETTINGS.strict, SETTINGS.tiers = True, "native"
    for number in numbers:
        print(f"BEGIN {number}", flush=True)
        if os.environ.get("AUTOCONV_HOSTILE_TEST"):  # what the test of this file has children do
            _misbehave(number)
        kind, wrong = check(number)
        print(f"END {kind} {wrong!r}", flush=True)


def _misbehave(number: int) -> None:
    if number == 1:
        os.abort()
    while number == 2:
        pass


class Child:
    """A process that runs programs; `found` is what became of each."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.found: dict[int, tuple[str, str]] = {}

    def run(self) -> None:
        waiting = list(self.numbers)
        while waiting:
            self._once(waiting)
            waiting = [number for number in waiting if number not in self.found]

    def _once(self, numbers: list[int]) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), "--numbers", ",".join(map(str, numbers))]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        words: list[str] = []
        threading.Thread(target=lambda: words.append(child.stderr.read()), daemon=True).start()
        current, late = None, threading.Event()
        watch = _Watch(child, late)
        for line in child.stdout:
            kind, _, rest = line.partition(" ")
            if kind == "BEGIN":
                current = int(rest)
                watch.begins(STARTING_SECONDS)
            elif kind.strip() in ("PLAIN", "COMPILED"):
                watch.begins(PLAIN_SECONDS if kind.startswith("PLAIN") else SECONDS)
            elif kind == "END":
                what, _, wrong = rest.partition(" ")
                self.found[current], current = (what, eval(wrong)), None
        watch.ends()
        code = child.wait()
        if current is not None or (code and not self.found):
            number = numbers[0] if current is None else current
            kind = "HANG" if late.is_set() else "ENDED"
            if watch.limit == PLAIN_SECONDS:
                self.found[number] = "endless" if late.is_set() else "NumPy ended", ""
                return
            self.found[number] = kind, f"{text_of(number)}the process ended with {code}\n{''.join(words)[-2000:]}"


class _Watch:
    """Ends a child that computes one program for too long."""

    def __init__(self, child: subprocess.Popen[str], late: threading.Event) -> None:
        self._child, self._late = child, late
        self._over = threading.Event()
        self.begins()
        threading.Thread(target=self._look, daemon=True).start()

    def begins(self, limit: float = SECONDS) -> None:
        self.limit = limit
        self._since = time.monotonic(), self._computed()

    def ends(self) -> None:
        self._over.set()

    def _computed(self) -> float:
        try:
            fields = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            return time.monotonic()

    def _look(self) -> None:
        while not self._over.wait(0.5):
            passed, computed = time.monotonic() - self._since[0], self._computed() - self._since[1]
            if computed > self.limit or passed > 12 * SECONDS:
                self._late.set()
                self._child.kill()


def run(programs: int, seed: int, processes: int = 1) -> collections.Counter[str]:
    numbers = [seed * 1_000_003 + i for i in range(programs)]
    children = [Child(numbers[i : i + _SOME]) for i in range(0, programs, _SOME)]
    counts: collections.Counter[str] = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        for child, _ in zip(children, pool.map(Child.run, children), strict=True):
            for number, (kind, wrong) in child.found.items():
                counts[kind] += 1
                if wrong:
                    print(f"--- program {number}: {kind}\n{wrong}\n", flush=True)
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
        os.environ[_WARNINGS] = "1"  # which the children inherit
    if options.numbers:
        work([int(number) for number in options.numbers.split(",")])
        return 0
    counts = run(options.programs, options.seed, options.processes)
    print(f"{options.programs} programs: " + ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["WRONG"] + counts["HANG"] + counts["ENDED"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
