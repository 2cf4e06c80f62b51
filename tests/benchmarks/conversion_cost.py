"""Measure how the cost of conversion grows with the length of a function.

    python tests/benchmarks/conversion_cost.py [--only NAME] [--rounds N]

Functions of n, 2n, 4n and 8n parts are converted: straight-line ifs, an elif chain, loops in a row, guards that return,
guards in a loop, tries that write items, and the largest fixture's longest function with its body repeated, from once
to 8 times and from 3 to 24 times. The table has the time, the number of calls that the interpreter made, the size of
the converted text, and the largest factor by which doubling the length multiplied each. The number of calls does not
vary between runs. The time also depends on the caches of the machine, which the trees of long functions exceed, so the
growth of Python's own `compile` of the same text stands beside it. The exit code is 1 when calls or size grew by more
than --bar (2.05 by default)."""

from __future__ import annotations

import argparse
import ast
import cProfile
import gc
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autoconv.emit.module import convert_source

PROGRAMS = Path(__file__).resolve().parents[2] / "fixtures" / "programs"
DOUBLINGS = (1, 2, 4, 8)


def straight_ifs(n: int) -> str:
    body = "".join(f"    if x > {i}:\n        y = y + x * {i}\n    z{i % 7} = y + {i}\n" for i in range(n))
    return f"def f(x, y):\n{body}    return y\n"


def elif_chain(n: int) -> str:
    body = "".join(f"    elif x == {i}:\n        y = y - {i}\n" for i in range(n))
    return f"def f(x, y):\n    if x < 0:\n        y = x\n{body}    return y\n"


def loops(n: int) -> str:
    part = (
        "    for i in range(x):\n        while y > i:\n            if y % 2:\n                y = y // 2\n"
        "            y -= {}\n"
    )
    return "def f(x, y):\n" + "".join(part.format(i) for i in range(n)) + "    return y\n"


def guards(n: int) -> str:
    body = "".join(f"    if x == {i}:\n        return y + {i}\n" for i in range(n))
    return f"def f(x, y):\n{body}    return y\n"


def guards_between(n: int) -> str:
    body = "".join(f"    y = y + {i}\n    if x == y:\n        return y\n" for i in range(n))
    return f"def f(x, y):\n{body}    return y\n"


def guards_in_loop(n: int) -> str:
    body = "".join(
        f"        if x == {i}:\n            continue\n        y += x\n        if y > {i * i}:\n            break\n"
        for i in range(n)
    )
    return f"def f(xs, y):\n    for x in xs:\n{body}    return y\n"


def tries(n: int) -> str:
    part = "    try:\n        y = y / x\n        xs[{0}] = y\n    except ZeroDivisionError:\n        y = {0}\n"
    return "def f(x, y, xs):\n" + "".join(part.format(i) for i in range(n)) + "    return y\n"


def largest_fixture(n: int) -> str:
    """Return the fixture with the longest function, whose body is repeated n times."""
    texts = [path.read_text() for path in sorted(PROGRAMS.glob("*.py"))]
    tree, longest = max(
        ((tree, node) for tree in map(ast.parse, texts) for node in tree.body if isinstance(node, ast.FunctionDef)),
        key=lambda pair: len(ast.unparse(pair[1])),
    )
    body = [s for s in longest.body if not isinstance(s, ast.Return)]
    longest.body = [*longest.body[:1], *body * n, longest.body[-1]]
    return ast.unparse(tree)


SHAPES: dict[str, tuple[int, Callable[[int], str]]] = {
    "straight-line ifs": (50, straight_ifs),
    "elif chain": (50, elif_chain),
    "loops in loops": (25, loops),
    "guards that return": (50, guards),
    "guards between statements": (50, guards_between),
    "guards in a loop": (25, guards_in_loop),
    "tries and item writes": (40, tries),
    "largest fixture": (1, largest_fixture),
    "its body many times": (3, largest_fixture),
}


def best_seconds(work: Callable[[str, str], object], texts: list[str], rounds: int) -> list[float]:
    """Return the processor time of `work` on each text and a name, the best of the rounds."""
    best = [float("inf")] * len(texts)
    for _ in range(rounds):  # The lengths take turns, so that a slow period of the machine does not affect one alone.
        for index, text in enumerate(texts):
            gc.collect()
            gc.disable()  # A full garbage collection would count for one of the lengths.
            start = time.process_time()
            work(text, "f.py")
            best[index] = min(best[index], time.process_time() - start)
            gc.enable()
    return best


def max_growth(measurements: Sequence[float]) -> float:
    """Return the largest ratio of consecutive measurements, whose lengths double."""
    return max(later / earlier for earlier, later in itertools.pairwise(measurements))


def _calls_and_size(text: str) -> tuple[int, int]:
    with cProfile.Profile() as profile:
        converted = convert_source(text, "f.py")
    return sum(entry.callcount for entry in profile.getstats()), len(converted.text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the names of the functions to convert")
    parser.add_argument("--rounds", type=int, default=3, help="how many times each is converted (default 3)")
    parser.add_argument("--bar", type=float, default=2.05, help="the largest growth by doubling that passes")
    options = parser.parse_args()
    ends = (DOUBLINGS[0], DOUBLINGS[-1])
    headings = ["function"]
    for unit in ("ms", "calls", "kB"):
        headings += [*(f"{k}n {unit}" for k in ends), "x2"]
    table = Table(*headings, "compile x2")
    worst = 0.0
    for name, (n, make) in SHAPES.items():
        if options.only not in name:
            continue
        texts = [make(n * k) for k in DOUBLINGS]
        calls, sizes = zip(*map(_calls_and_size, texts), strict=True)
        cells = [f"{name} (n={n})"]
        times = best_seconds(convert_source, texts, options.rounds)
        for measurements, scale in ((times, 1e3), (calls, 1), (sizes, 1e-3)):
            cells += [*(f"{measurements[end] * scale:,.0f}" for end in (0, -1)), f"{max_growth(measurements):.2f}"]
        compile_seconds = best_seconds(lambda text, file: compile(text, file, "exec"), texts, 3 * options.rounds)
        table.add_row(*cells, f"{max_growth(compile_seconds):.2f}")
        worst = max(worst, max_growth(calls), max_growth(sizes))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return int(worst > options.bar)


if __name__ == "__main__":
    sys.exit(main())
