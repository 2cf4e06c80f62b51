"""Random programs over graphs of objects, compiled and compared with plain Python.

    python tests/fuzz/object_graphs.py --programs 5000 [--seed 0]

Linked lists, trees, cycles, lists that hold themselves, and shared parts, of 0 to some 60 objects: dataclasses and
plain classes with and without slots, subclasses of list and dict, named tuples. Each program is called several times,
with equal arguments and globals or once more with those that it changed. Compared are results and arguments as one
graph: which object is which, of what class, and what it holds; and exceptions. A value of the trace anywhere in it is
wrong, and so is a call that takes longer than 10 s.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from differential.compare import TooLongError, limited, load
from graphs.classes import SIZES, arguments, give_globals
from graphs.programs import Writer

import autoconv as ac

CALLS = 4
LONGEST = 10.0  # seconds a call
_LISTS = (list, tuple, collections.deque)
_TEXTS = (bool, int, float, complex, str, bytes, type(None))


def form(*roots):
    """What is reached from the roots, as rows that are equal for graphs of the same shape; and what is of a trace."""
    numbers: dict[int, int] = {}
    kept, rows, leaks = [], [], []
    pending = list(reversed(roots))
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in _TEXTS:
            rows.append((kind.__name__, repr(value)))
            continue
        if isinstance(value, tuple):  # one that equals it is as good
            rows.append((kind.__name__, len(value)))
            pending.extend(reversed(value))
            continue
        if id(value) in numbers:
            rows.append(("again", numbers[id(value)]))
            continue
        numbers[id(value)] = len(numbers)
        kept.append(value)
        if kind.__module__.startswith("autoconv"):
            leaks.append(kind.__name__)
        parts = _parts(value)
        rows.append((kind.__name__, tuple(name for name, _ in parts)))
        pending.extend(part for _, part in reversed(parts))
    return rows, leaks


def _parts(value):
    found = []
    if isinstance(value, dict):
        for key, item in dict.items(value):
            found += [("key", key), ("item", item)]
    elif isinstance(value, _LISTS):
        base = next(kind for kind in _LISTS if isinstance(value, kind))
        found += [("item", item) for item in base.__iter__(value)]
    elif isinstance(value, (set, frozenset)):
        found += [("item", item) for item in sorted(value, key=repr)]
    elif isinstance(value, BaseException):
        found += [("argument", argument) for argument in value.args]
    for base in type(value).__mro__:
        for name in vars(base).get("__slots__", ()):
            if hasattr(value, name):
                found.append((name, getattr(value, name)))
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict):
        found += [(name, held[name]) for name in sorted(held) if not name.startswith("_autoconv")]
    return found


def outcome(function, given, most, names):
    """(what a call came to, together with its arguments and globals; what is of a trace; the seconds)."""
    start = time.process_time()
    try:
        with limited(most):
            found = ("returns", function(*given))
    except TooLongError:
        return "too long", [], most
    except Exception as error:
        found = ("raises", error)
    seconds = time.process_time() - start
    return *form(*found, *given, names["FIRST"], names["MANY"]), seconds


def check(seed: int) -> tuple[str, str, float]:
    """("traced" | "plain" | "WRONG", details, the seconds of the longest call) for one program."""
    writer = Writer(seed)
    source = writer.source()
    modules = [load(source, f"<object program {seed}>") for _ in range(2)]  # each with globals of its own
    plain, compiled = modules[0]["program"], ac.compile(modules[1]["program"])
    goes_on, globals_stay = writer.random.random() < 0.4, writer.random.random() < 0.5
    size = writer.random.choice(SIZES)
    longest, given = 0.0, []
    for turn in range(CALLS):
        if not given or not goes_on:
            given = [arguments(names, seed + (turn == CALLS - 1), size, writer.few) for names in modules]
        if writer.outside and (turn == 0 or not globals_stay):
            for names in modules:
                give_globals(names, seed + turn, size)
        expected, _, _ = outcome(plain, given[0], 2, modules[0])
        if expected == "too long":
            return "skipped", "", 0.0
        found, leaks, seconds = outcome(compiled, given[1], 40, modules[1])
        longest = max(longest, seconds)
        told = f"{writer.style}, {size} objects, call {turn + 1}"
        if leaks:
            return "WRONG", f"{told}: a {leaks[0]} comes out\n{compiled.explain()}", longest
        if expected != found:
            return "WRONG", f"{told}\nexpected {_short(expected, found)}\n{compiled.explain()}", longest
        if seconds > LONGEST:
            return "WRONG", f"{told}: {seconds:.1f} s\n{compiled.explain()}", longest
    return ("plain" if not compiled.concrete_functions else "traced"), compiled.explain(), longest


def _short(expected, found) -> str:
    """The first rows in which they differ."""
    if isinstance(found, str) or isinstance(expected, str):
        return f"{str(expected)[:200]}\nfound    {found[:200]}"
    pairs = enumerate(zip(expected, found, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(expected), len(found)))
    return f"{at}: {expected[at : at + 6]}\nfound    {at}: {found[at : at + 6]}\nrows {expected[:3]} / {found[:3]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="why programs were not traced")
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
