"""Random programs over graphs of objects, compiled and compared with plain Python.

    python tests/fuzz/object_graphs.py --programs 5000 [--seed 0]

Linked lists, trees, cycles, lists that contain themselves, and shared parts, of 0 to about 60 objects: dataclasses and
plain classes with and without slots, subclasses of list and dict, named tuples. Each program is called several times,
with equal arguments and globals, or with those that the last call changed. Results and arguments are compared as one
graph: the identities, the classes and the contents of its objects; and exceptions. A value of the trace anywhere in the
graph is wrong, and so is a call that takes longer than 10 s.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time

from differential.compare import TooLongError, limit_time, load
from graphs.classes import SIZES, arguments, set_globals
from graphs.programs import Writer

import autoconv as ac

CALLS = 4
MAX_SECONDS = 10.0  # of a call
_SEQUENCES = (list, tuple, collections.deque)
_ATOMS = (bool, int, float, complex, str, bytes, type(None))


def graph_rows(*roots):
    """Return rows for the objects that the roots reach, equal for equal graphs, and the classes of a trace in them."""
    numbers: dict[int, int] = {}
    visited, rows, leaks = [], [], []
    pending = list(reversed(roots))
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in _ATOMS:
            rows.append((kind.__name__, repr(value)))
            continue
        if isinstance(value, tuple):  # whose identity does not matter
            rows.append((kind.__name__, len(value)))
            pending.extend(reversed(value))
            continue
        if id(value) in numbers:
            rows.append(("again", numbers[id(value)]))
            continue
        numbers[id(value)] = len(numbers)
        visited.append(value)
        if kind.__module__.startswith("autoconv"):
            leaks.append(kind.__name__)
        parts = _labelled_parts(value)
        rows.append((kind.__name__, tuple(name for name, _ in parts)))
        pending.extend(part for _, part in reversed(parts))
    return rows, leaks


def _labelled_parts(value):
    parts = []
    if isinstance(value, dict):
        for key, item in dict.items(value):
            parts += [("key", key), ("item", item)]
    elif isinstance(value, _SEQUENCES):
        base = next(kind for kind in _SEQUENCES if isinstance(value, kind))
        parts += [("item", item) for item in base.__iter__(value)]
    elif isinstance(value, (set, frozenset)):
        parts += [("item", item) for item in sorted(value, key=repr)]
    elif isinstance(value, BaseException):
        parts += [("argument", argument) for argument in value.args]
    for base in type(value).__mro__:
        for name in vars(base).get("__slots__", ()):
            if hasattr(value, name):
                parts.append((name, getattr(value, name)))
    attributes = getattr(value, "__dict__", None)
    if isinstance(attributes, dict):
        parts += [(name, attributes[name]) for name in sorted(attributes) if not name.startswith("_autoconv")]
    return parts


def outcome(function, arguments, limit, names):
    """Return the rows of a call's result, arguments and globals, the classes of a trace in them, and the seconds."""
    start = time.process_time()
    try:
        with limit_time(limit):
            result = ("returns", function(*arguments))
    except TooLongError:
        return "too long", [], limit
    except Exception as error:
        result = ("raises", error)
    seconds = time.process_time() - start
    return *graph_rows(*result, *arguments, names["FIRST"], names["MANY"]), seconds


def check(seed: int) -> tuple[str, str, float]:
    """Compare the calls; return "traced", "plain", "skipped" or "WRONG", details, and the seconds of the longest."""
    writer = Writer(seed)
    source = writer.source()
    modules = [load(source, f"<object program {seed}>") for _ in range(2)]  # with separate globals
    plain, compiled = modules[0]["program"], ac.compile(modules[1]["program"])
    keeps_arguments, keeps_globals = writer.random.random() < 0.4, writer.random.random() < 0.5
    size = writer.random.choice(SIZES)
    longest, call_arguments = 0.0, []
    for call in range(CALLS):
        if not call_arguments or not keeps_arguments:
            call_arguments = [arguments(names, seed + (call == CALLS - 1), size, writer.is_simple) for names in modules]
        if writer.uses_globals and (call == 0 or not keeps_globals):
            for names in modules:
                set_globals(names, seed + call, size)
        expected, _, _ = outcome(plain, call_arguments[0], 2, modules[0])
        if expected == "too long":
            return "skipped", "", 0.0
        actual, leaks, seconds = outcome(compiled, call_arguments[1], 40, modules[1])
        longest = max(longest, seconds)
        description = f"{writer.style}, {size} objects, call {call + 1}"
        if leaks:
            return "WRONG", f"{description}: a {leaks[0]} leaks\n{compiled.explain()}", longest
        if expected != actual:
            difference = _first_difference(expected, actual)
            return "WRONG", f"{description}\nexpected {difference}\n{compiled.explain()}", longest
        if seconds > MAX_SECONDS:
            return "WRONG", f"{description}: {seconds:.1f} s\n{compiled.explain()}", longest
    return ("plain" if not compiled.concrete_functions else "traced"), compiled.explain(), longest


def _first_difference(expected, actual) -> str:
    """The first rows that differ."""
    if isinstance(actual, str) or isinstance(expected, str):
        return f"{str(expected)[:200]}\nfound    {actual[:200]}"
    pairs = enumerate(zip(expected, actual, strict=False))
    start = next((i for i, (a, b) in pairs if a != b), min(len(expected), len(actual)))
    rows = f"rows {expected[:3]} / {actual[:3]}"
    return f"{start}: {expected[start : start + 6]}\nfound    {start}: {actual[start : start + 6]}\n{rows}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the reasons of programs that were not traced")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    longest = 0.0
    for seed in range(options.seed, options.seed + options.programs):
        try:
            kind, details, seconds = check(seed)
        except Exception as error:
            kind, details, seconds = "WRONG", f"{type(error).__name__}: {error}", 0.0
        counts[kind] += 1
        longest = max(longest, seconds)
        if kind == "WRONG" or (options.show and kind == "plain"):
            text = Writer(seed).source().partition("def program")[2]
            print(f"--- program {seed}: {details}\ndef program{text}", flush=True)
    figures = ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items()))
    print(f"{options.programs} programs, {figures}, longest call {longest:.1f} s")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
