"""How conversion grows with the length of a function.

    python tests/benchmarks/conversion_cost.py [--only NAME] [--rounds N]

Functions of n, 2n, 4n and 8n parts: straight-line ifs, an elif chain, loops in a row, guards that return, guards in
a loop, tries that write items, and the largest fixture's longest function with its body repeated. Prints the time and
the size of the converted text of each, and by how much doubling the length multiplied them at most. The exit code is 1
when that is more than --bar (2.2 by default, for what a timing varies)."""

from __future__ import annotations

import argparse
import ast
import gc
import itertools
import sys
import time
from collections.abc import Callable
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
    """The fixture with the longest function, the body of that function n times over."""
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
    "largest fixture": (3, largest_fixture),
}


def measure(text: str, rounds: int) -> tuple[float, int]:
    """(seconds of processor time, characters of the converted text): the best of the rounds."""
    best, size = float("inf"), 0
    for _ in range(rounds):
        gc.collect()
        gc.disable()  # a full collection falls on one length or on another
        start = time.process_time()
        size = len(convert_source(text, "f.py").text)
        best = min(best, time.process_time() - start)
        gc.enable()
    return best, size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the shapes whose names hold this")
    parser.add_argument("--rounds", type=int, default=3, help="how many times each is converted (default 3)")
    parser.add_argument("--bar", type=float, default=2.2, help="the growth by doubling that is let through")
    options = parser.parse_args()
    headings = ("function", *(f"{k}n ms" for k in DOUBLINGS), "time x2", *(f"{k}n kB" for k in DOUBLINGS), "size x2")
    table = Table(*headings)
    worst = 0.0
    for name, (n, make) in SHAPES.items():
        if options.only not in name:
            continue
        found = [measure(make(n * k), options.rounds) for k in DOUBLINGS]
        growth = [max(later[i] / earlier[i] for earlier, later in itertools.pairwise(found)) for i in (0, 1)]
        worst = max(worst, *growth)
        times, sizes = ([f"{pair[i] * scale:.0f}" for pair in found] for i, scale in ((0, 1e3), (1, 1e-3)))
        table.add_row(f"{name} (n={n})", *times, f"{growth[0]:.2f}", *sizes, f"{growth[1]:.2f}")
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return int(worst > options.bar)


if __name__ == "__main__":
    sys.exit(main())
