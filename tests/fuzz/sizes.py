"""Random programs over the sizes of NumPy arrays, compiled and called with many shapes, against plain NumPy.

    python tests/fuzz/sizes.py --programs 500 [--seed 0] [--show]

A program is called with some eight sets of shapes of one pattern, sizes 0, 1 and equal ones among them, and some that
do not go together. Compared are the results with their dtypes and Python's types, exceptions with their texts, what the
arguments hold afterwards, and which results share memory with which arguments. The summary counts programs by what
became of them: "open" has a trace that serves several shapes, and code for any size; "each" a trace for every shape,
"plain" ran as plain Python. With --show, why sizes did not stay open, by kinds.
"""

from __future__ import annotations

import argparse
import collections
import linecache
import logging
import re
import sys
import warnings
from pathlib import Path

import numpy as np

import autoconv as ac
from autoconv.config import SETTINGS

sys.path.insert(0, str(Path(__file__).resolve().parent))

from grammar.sizes import Generator

SETTINGS.tiers = "native"  # graphs are what is compared, however quick they are
SETTINGS.strict = True  # what this package does wrong is no reason to run as plain Python


def arguments(generator: Generator, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    found = []
    for number, shape in enumerate(generator.pattern.values()):
        odd = sizes.get("odd") == number
        known = tuple(sizes[d] + (odd and axis == len(shape) - 1) for axis, d in enumerate(shape))
        found.append(draw.integers(-3, 5, known).astype(generator.dtype))
    return found


def outcome(function, arrays, number):
    """(what the call gave in a form that compares, what the arguments hold, which argument a result is or shares)."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*arrays, number)
        except Exception as error:
            return type(error).__name__, str(error), [described(array) for array in arrays]
    parts = value if isinstance(value, tuple) else (value,)
    results = [part for part in parts if isinstance(part, np.ndarray)]
    shared = [[np.shares_memory(part, a) for a in arrays] for part in results]
    same = [[part is a for a in arrays] for part in results]
    among = [[_lie_alike(one, other) for other in results] for one in results]
    return described(value), [described(array) for array in arrays], shared, same, among


def _lie_alike(one, other):
    """Whether these are one array, or views of one that lie alike."""
    mine, its = one.__array_interface__, other.__array_interface__
    alike = (mine["data"], one.shape, one.strides) == (its["data"], other.shape, other.strides)
    return alike and bool(one.size)


def described(value):
    """The value in a form that compares; floats as far as the order of sums does not change them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__, value.dtype.name, value.shape, str(_rounded(value.tolist(), value.dtype.itemsize))
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [described(part) for part in value]
    if isinstance(value, dict):
        return "dict", [(described(key), described(part)) for key, part in value.items()]
    return type(value).__name__, str(_rounded(value, 8))


def _rounded(value, size):
    if isinstance(value, list):
        return [_rounded(part, size) for part in value]
    if not isinstance(value, float):
        return value
    found = float(f"{value:.{10 if size == 8 else 4}g}")
    return 0.0 if found == 0.0 or abs(found) < 1e-7 else found


def check(number: int) -> tuple[str, str, list[str]]:
    """("open" | "open, code by shape" | "each" | "plain" | "WRONG", details, why sizes did not stay open)."""
    generator = Generator(number)
    source, name = generator.program(), f"<sizes program {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    plain, compiled = _made(source, name), ac.compile(_made(source, name))
    for turn, sizes in enumerate(generator.calls()):
        k = (2, 1, 0, 3)[turn % 4]
        expected = outcome(plain, arguments(generator, sizes, turn), k)
        found = outcome(compiled, arguments(generator, sizes, turn), k)
        if expected != found:
            shapes = [array.shape for array in arguments(generator, sizes, turn)]
            call = f"{source}{generator.dtype} call {turn} {shapes} k={k}\n"
            return "WRONG", f"{call}expected {expected}\nfound    {found}", []
    told = compiled.explain()
    kinds = "plain Python:|own trace:|no compilation for all|as Python objects"
    reasons = [line.strip() for line in told.splitlines() if re.search(kinds, line)]
    if re.search(r"shape=\([^)]*None", told):
        return ("open, code by shape" if "no code for any" in told else "open"), source, reasons
    if "plain Python:" in told and "plain Python: one call" not in told:
        return "plain", source, reasons
    return "each", source, reasons or ["each (no reason given)"]


def _made(program, name):
    namespace = {"np": np}
    exec(compile(program, name, "exec"), namespace)
    return namespace["program"]


def kind_of(reason: str) -> str:
    """A reason without the place and the names in it."""
    text = re.sub(r"<sizes program \d+>:\d+(:\d+)?: ?", "", reason)
    text = re.sub(r"line \d+", "line N", text)
    return re.sub(r"\(n\d[^:]*\)|\((\d+, ?)*\d*\)", "(…)", text)[:150]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="why sizes did not stay open, by kinds")
    options = parser.parse_args()
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    counts: collections.Counter[str] = collections.Counter()
    kinds: collections.Counter[str] = collections.Counter()
    examples: dict[str, int] = {}
    for number in range(options.seed, options.seed + options.programs):
        kind, details, reasons = check(number)
        counts[kind] += 1
        if kind == "WRONG":
            print(f"--- program {number}\n{details}\n", flush=True)
        for reason in set(map(kind_of, reasons)):
            kinds[reason] += 1
            examples.setdefault(reason, number)
    if options.show:
        for reason, count in kinds.most_common(40):
            print(f"{count:4} {reason} (program {examples[reason]})")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
