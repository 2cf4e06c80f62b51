"""Fail each allocation of calls, one by one: the call returns its result or raises MemoryError, and works afterwards.

    python tests/fuzz/allocations.py [--warm 300] [--first 20] [--cold 5] [--program NAME] [--show]

The options limit the number of failing allocations of warm calls, first calls (a trace) and cold calls (conversion and
trace). They are spread evenly over the call. Each call runs in a process of its own, which may crash. The last line has
the figures.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from grammar.allocations import PROGRAMS, make_program

os.environ.setdefault("AUTOCONV_TIERS", "native")  # no call is to run as plain Python because that is quicker

import autoconv as ac
import autoconv.emit.function  # which is loaded late: Python's own compiler of modules may crash

try:
    import _testcapi
except ImportError:  # not every Python has it
    _testcapi = None  # type: ignore[assignment]

_MAX_ALLOCATIONS = 2_000_000  # more allocations than a call makes
_LARGE = 1 << 20  # no int of Python's own store
# Python 3.11 loses an exception where there is no memory for the frame that its traceback wants; NumPy's functions
# lose theirs as well.
_PYTHON_ERRORS = re.compile(
    r"SystemError: (<(function|built-in|ufunc|class) .*> returned (NULL without setting an exception|a result with an "
    r"exception set)|error return without exception)"
)
_PYTHON_ERROR = "an error of Python's own"
_ACCEPTED = ("right", "MemoryError", _PYTHON_ERROR)
LIMIT = 20  # seconds that a call may take


def describe(value: Any) -> str:
    """Return the text of a result, with the classes of its parts."""
    if isinstance(value, np.ndarray):
        content = describe(value.ravel()[:: 1 + value.size // 100].tolist())
        return f"array({value.dtype}, {value.shape}, {content})"
    if isinstance(value, ac.Tensor):
        return f"tensor({value.dtype.name}, {value.numpy().tolist()})"
    if isinstance(value, list | tuple | set):
        return f"{type(value).__name__}[{', '.join(map(describe, sorted(value) if isinstance(value, set) else value))}]"
    if isinstance(value, dict):
        return f"dict[{', '.join(f'{describe(k)}: {describe(v)}' for k, v in value.items())}]"
    if hasattr(value, "__dict__"):
        return f"{type(value).__name__}{describe(vars(value))}"
    if isinstance(value, float):  # native code may differ in the last bits
        return f"{type(value).__name__}({round(value, 12) + 0.0:.9g})"
    if isinstance(value, complex):
        return f"complex({describe(value.real)}, {describe(value.imag)})"
    return f"{type(value).__name__}({value!r})"


class Case:
    """A program with a kind of call: "warm", "first" or "cold"."""

    def __init__(self, name: str, call_kind: str) -> None:
        self.name, self.call_kind = name, call_kind
        self.plain, self.arguments = make_program(name)
        self.contract = ac.function if name == "tensors" else ac.compile
        with discard_output():
            self.warm = self.contract(self.plain)
            for _ in range(6):
                self.expected = self.describe_call(self.warm)

    def describe_call(self, function: Callable[..., Any]) -> str:
        arguments = self.arguments()
        result = function(*arguments)
        return describe(result) + describe(arguments)

    def function(self, number: int) -> Callable[..., Any]:
        if self.call_kind == "warm":
            return self.warm
        return self.contract(self.plain if self.call_kind == "first" else make_program(self.name, number + 1)[0])

    def run_in_process(self, start: int, stop: int) -> str:
        """Run a call in a child process in which the allocations `start` to `stop` - 1 fail; return the outcome:
        "right", "MemoryError", or what is wrong."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            try:
                outcome = self._run_in_child(start, stop)
            except BaseException as error:
                outcome = f"afterwards {type(error).__name__}: {error}"
            os.write(writing, pickle.dumps(outcome))
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(child, 0)
        if status or not data:
            trace = Case.log.read_text("utf-8", "replace") if Case.log.stat().st_size else ""
            Case.log.write_bytes(b"")
            return f"CRASH {os.waitstatus_to_exitcode(status)}\n{trace[:3000]}"
        return str(pickle.loads(data))

    log: Any = None

    def _run_in_child(self, start: int, stop: int) -> str:
        discard_output().__enter__()
        with open(Case.log, "wb") as log:
            faulthandler.enable(log)
            faulthandler.dump_traceback_later(LIMIT, exit=True, file=log)
            function = self.function(start)
            arguments, held = self.arguments(), exhaust_free_lists()
            error: BaseException | None = None
            result: Any = None
            _testcapi.set_nomemory(start, stop)
            try:
                result = function(*arguments)
            except BaseException as exception:
                error = exception
            finally:
                remaining = _count_until_failure(_LARGE) if start == _MAX_ALLOCATIONS and error is None else 0
                _testcapi.remove_mem_hooks()
            del held
            if remaining:
                return f"{_MAX_ALLOCATIONS - remaining}: made"
            if error is None:
                description = describe(result) + describe(arguments)
                del result
                if description != self.expected:
                    return f"{description} in place of {self.expected}"
            elif not isinstance(error, MemoryError):
                return f"{type(error).__name__}: {error}"
            for _ in range(3):
                later_outcome = self.describe_call(function)
                if later_outcome != self.expected:
                    return f"afterwards {later_outcome} in place of {self.expected}"
            return "right" if error is None else "MemoryError"

    def count(self) -> int:
        """Return the number of allocations of a call."""
        return int(self.run_in_process(_MAX_ALLOCATIONS, _MAX_ALLOCATIONS + 1).partition(":")[0])


def _count_until_failure(number: int) -> int:
    """Return the number of ints that can be made until an allocation fails."""
    start = number
    try:
        while True:
            number += 1
    except MemoryError:
        return number - start


def exhaust_free_lists() -> list[Any]:
    """Use up the lists of free objects of Python and NumPy; the caller holds the returned objects meanwhile."""
    held: list[Any] = [[np.empty((1,) * (size % 5) + (size,), np.uint8) for size in range(64)] for _ in range(8)]
    held += [[float(i) for i in range(300)], [[] for _ in range(200)], [{} for _ in range(200)]]
    held += [[tuple(zeros) for _ in range(4000 if size < 5 else 300)] for size in range(1, 21) if (zeros := [0] * size)]
    return held


class discard_output:
    """A context that discards standard output and errors."""

    def __enter__(self) -> None:
        self.previous_streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = open(os.devnull, "w")

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self.previous_streams


def choose_allocations(count: int, max_count: int) -> list[int]:
    """Return the numbers of the allocations to fail: all, or `max_count`, spread evenly."""
    if count <= max_count:
        return list(range(count))
    return sorted({round((i + 0.5) * count / max_count) for i in range(max_count)})


def check_program(name: str, call_kind: str, max_count: int) -> Iterator[tuple[int, str]]:
    """Yield the outcome of each failed allocation."""
    case = Case(name, call_kind)
    for start in choose_allocations(case.count() + 2, max_count):
        outcome = case.run_in_process(start, start + 1)
        if _PYTHON_ERRORS.match(outcome):
            outcome = _PYTHON_ERROR
        yield start, outcome


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--warm", type=int, default=300)
    parser.add_argument("--first", type=int, default=20)
    parser.add_argument("--cold", type=int, default=5)
    parser.add_argument("--program")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if _testcapi is None:
        sys.exit("this Python has no _testcapi")
    counts: collections.Counter[str] = collections.Counter()
    failed = 0
    for name in [options.program] if options.program else PROGRAMS:
        for call_kind, max_count in (("warm", options.warm), ("first", options.first), ("cold", options.cold)):
            if max_count == 0:
                continue
            for start, outcome in check_program(name, call_kind, max_count):
                counts[outcome] += 1
                failed += 1
                if outcome not in _ACCEPTED or options.show:
                    print(f"{name}, {call_kind}, allocation {start}: {outcome}", flush=True)
    wrong = sum(counts.values()) - sum(counts[kind] for kind in _ACCEPTED)
    print(f"{failed} allocations failed one by one: {counts['MemoryError']} MemoryErrors, {counts['right']} results, "
          f"{counts[_PYTHON_ERROR]} errors of Python's own, {wrong} wrong or crashes")  # fmt: skip
    sys.exit(bool(wrong))


if _testcapi is not None:
    from pathlib import Path

    Case.log = Path(tempfile.mkdtemp(prefix="allocations-")) / "trace"
    Case.log.touch()

if __name__ == "__main__":
    main()
