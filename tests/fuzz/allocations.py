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
import linecache
import os
import pickle
import re
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

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
PRELUDE = """
import math
from dataclasses import dataclass
from collections import namedtuple
import numpy as np
import autoconv as ac

Pair = namedtuple("Pair", "first second")

@dataclass
class Point:
    x: float
    y: float

class Counter:
    def __init__(self, count):
        self.count = count
        self.seen = []

counter = Counter(0)
table = {"a": 1.0, "b": 2.0}
vector = np.arange(4.0)
"""
# Each program begins with a comment: its name, its parameters and their arguments. The lines below are its body.
TEXT = """
# scalars: x, n = 2.5, 70000
return x * n + 1.5, n // 3, x > n, n
# one float: x = 2.5
return x * 0.5
# complex: z = 1.5 + 2j
return z * z + 1, abs(z)
# loop: x, n = 1.5, 30
t = 0.0
for i in range(n):
    t += x * i
return t, n * 1000
# branches: x = 0.5
if x > 1:
    return x, 'large'
if x < 0:
    return None
return [x, -x]
# several arms: x = 0.5
if x > 1:
    return {'large': x}
return (x, [x * 2], {'small': x})
# arrays: a, b = np.arange(5.0), np.ones(5)
c = a * b + 1
return c, c.sum(), a[0]
# large arrays: a = np.arange(20000.0)
b = a * 2
return b, b[::2] + 1, b.sum()
# pooled arrays in a loop: a, n = np.arange(20000.0), 4
for i in range(n):
    a = np.sin(a) + i
return a
# an argument is written: a = np.arange(6.0)
a[1:3] += 1
for i in range(3):
    a[i] = a[i + 1] * 2
return a, a[1:]
# an argument is given back: a = np.arange(6.0)
return a, a
# views: a = np.arange(6.0).reshape(2, 3)
b = a.T
b[0] = 3
return b, a[::-1], b.reshape(-1)
# a constant array: x = 2.5
return vector, vector * x
# linear algebra: a = np.eye(3) * 2 + 1
return np.linalg.inv(a), a @ a, np.linalg.solve(a, a[0])
# fourier: a = np.arange(8.0)
return np.fft.fft(a), np.fft.irfft(np.fft.rfft(a))
# sorts: a = np.array([3.0, 1, 2, 1])
return np.sort(a), np.unique(a), np.argsort(a), np.cumsum(a)
# masks: a = np.arange(4.0)
return a[a > 1], np.nonzero(a), np.where(a > 1, a, -a)
# new arrays: n, x = 5, 2.0
a = np.zeros(n)
for i in range(n):
    a[i] = x * i
return a, np.linspace(0, x, n)
# numbers of arrays: a = np.arange(4, dtype=np.int32)
return a[1], a.max(), a.argmax(), float(a[0]), int(a[2])
# complex arrays: a = np.arange(3) + 1j
return a * 2j, a.real, np.abs(a)
# a list of numbers: q, x = [1.0, 2.0, 3.0], 2.0
q2 = []
for v in q:
    q2.append(v * x)
return q2, len(q2), max(q2)
# a list that grows: n, x = 40, 0.5
q = []
for i in range(n):
    q.append(x + i)
return q, q[-1]
# a list is changed: q, x = [1.0, 2.0], 3.0
q.append(x)
q[0] = q[1] + x
return q
# rows: q = [[1, 2], [3, 4], [5, 6]]
t = 0
for row in q:
    for v in row:
        t += v
return t, [sum(row) for row in q]
# lists of objects: q = ['b', '', 'a']
return [v for v in q if v], q[::-1], sorted(q)
# tuples: q, x = (1.0, (2.0, 3)), 1.5
a, (b, c) = q
return (a + x, b), (c, q)
# named tuples: p, x = Pair(1.0, 2.0), 3.0
return Pair(p.first + x, p), p.second * 2
# dicts: d, x = {'a': 1.0, 'b': 2.0}, 3.0
d2 = dict(d)
d2['c'] = x
for k in d:
    x += d[k]
return d2, x
# a dict is filled: n = 6
d = {}
for i in range(n):
    d[i] = i * i
return d, sum(d.values())
# sets: n = 9
s = set()
for i in range(n):
    s.add(i % 3)
return s, len(s), 2 in s
# objects: p, x = Point(1.0, 2.0), 3.0
p.x += x
q = Point(p.y, x)
return q, p.x
# objects from outside: x = 3.0
counter.count = counter.count + 1
return counter.count * 0 + x
# text: s, n = 'abc', 3
t = ''
for i in range(n):
    t += s
return t, s.upper(), len(s), f'{n}: {s}'
# formatted numbers: x, n = 2.5, 7
return f'{x:.2f} {n}', str(n), repr(x)
# prints: x, n = 2.5, 2
print('x', x)
for i in range(n):
    print(i, x)
return x
# raises: x = 2.5
try:
    if x > 1:
        raise ValueError(f'large {x}')
except ValueError as e:
    return str(e), x
return 0
# handles: q, i = [1.0, 2.0], 5
try:
    return q[i]
except IndexError:
    return -1.0
# big integers: n = 25
t = 1
for i in range(1, n):
    t *= i
return t
# recursion: n, x = 7, 0.5
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
return fib(n) + x
# recursion over objects: q, n = [1, [2, [3]]], 4
def flat(q):
    return [q] if isinstance(q, int) else [v for p in q for v in flat(p)]
return flat(q), n + 1
# generators: n = 5
def squares(n):
    for i in range(n):
        yield i * i
return sum(squares(n)), list(squares(3))
# closures: x = 2.0
def add(y):
    return x + y
return add(1.0), list(map(add, [1.0, 2.0]))
# random: x = 2.0
ac.random.set_seed(3)
return x + float(ac.random.stateless_uniform([2], seed=[1, 2])[0]) * 0
# math: x = 2.75
return math.sqrt(x), math.floor(x), math.hypot(x, 2.0), round(x, 1)
# strings and arrays: a, s = np.arange(3.0), 'key'
return {s: a * 2, 'n': len(a)}
# many results: x = 2.5
return x, x + 1, [x, (x, {'a': x, 'b': [x, x]})], (x,), {}
# nothing: x = 2.5
x + 1
# tensors: x = ac.constant(2.0)
return ac.constant([1.0, 2.0]) * x, {'a': x + 1}
"""
PROGRAMS: dict[str, tuple[str, str, str]] = {}  # parameters, body, arguments
for _part in TEXT.strip().removeprefix("# ").split("\n# "):
    _head, _, _body = _part.partition("\n")
    _name, _, _call = _head.partition(": ")
    _parameters, _, _arguments = _call.partition(" = ")
    PROGRAMS[_name] = _parameters, _body, _arguments


def make_program(name: str, number: int = 0) -> tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]:
    """Return a new function of a program, and a function that makes its arguments; each number gives another file."""
    parameters, body, arguments = PROGRAMS[name]
    lines = "\n".join("    " + line for line in body.split("\n"))
    source = f"{PRELUDE}\ndef program({parameters}):\n{lines}\n\ndef arguments():\n    return ({arguments},)\n"
    file = f"<allocations {name} {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = sys.modules["allocations_program"] = types.ModuleType("allocations_program")
    exec(compile(source, file, "exec"), vars(module))
    return module.program, module.arguments


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
