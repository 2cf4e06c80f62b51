"""Random programs over the sizes of NumPy arrays, compiled and called with many shapes, against plain NumPy.

    python tests/fuzz/sizes.py --programs 500 [--seed 0] [--show]

A program is called with about eight sets of shapes of one pattern, including sizes 0 and 1, equal sizes, and sizes that
do not match. The results are compared with their dtypes and Python types, exceptions with their texts, the arguments
after the call, and the arguments with which each result shares memory. The summary counts programs by outcome: "open"
has a trace for several shapes and code for any size, "each" a trace for each shape, "plain" ran as plain Python. --show
prints the reasons why sizes did not stay open, by kind.
"""

from __future__ import annotations

import argparse
import collections
import linecache
import logging
import re
import sys
import warnings

import numpy as np
from grammar.sizes import Generator

import autoconv as ac
from autoconv.config import SETTINGS

SETTINGS.tiers = "native"  # run graphs even if they are slow
SETTINGS.strict = True  # raise internal errors instead of running plain Python


def random_arguments(generator: Generator, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    arrays = []
    for number, shape in enumerate(generator.pattern.values()):
        is_odd = sizes.get("odd") == number
        array_shape = tuple(sizes[d] + (is_odd and axis == len(shape) - 1) for axis, d in enumerate(shape))
        arrays.append(draw.integers(-3, 5, array_shape).astype(generator.dtype))
    return arrays


def outcome(function, arrays, number):
    """The result or the exception of a call, its arguments afterwards, and the memory that they share."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*arrays, number)
        except Exception as error:
            return type(error).__name__, str(error), [comparable(array) for array in arrays]
    parts = value if isinstance(value, tuple) else (value,)
    results = [part for part in parts if isinstance(part, np.ndarray)]
    shares_memory = [[np.shares_memory(part, a) for a in arrays] for part in results]
    identical = [[part is a for a in arrays] for part in results]
    same_memory = [[_have_same_memory(left, right) for right in results] for left in results]
    return comparable(value), [comparable(array) for array in arrays], shares_memory, identical, same_memory


def _have_same_memory(left, right):
    """Return whether two arrays are the same view of the same memory."""
    left_interface, right_interface = left.__array_interface__, right.__array_interface__
    is_same_view = (left.shape, left.strides) == (right.shape, right.strides)
    return is_same_view and left_interface["data"] == right_interface["data"] and bool(left.size)


def comparable(value):
    """Convert a value to a form that compares, with floats rounded because the order of sums may differ."""
    if isinstance(value, (np.ndarray, np.generic)):
        numbers = _round_floats(value.tolist(), value.dtype.itemsize)
        return type(value).__name__, value.dtype.name, value.shape, str(numbers)
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [comparable(part) for part in value]
    if isinstance(value, dict):
        return "dict", [(comparable(key), comparable(part)) for key, part in value.items()]
    return type(value).__name__, str(_round_floats(value, 8))


def _round_floats(value, size):
    if isinstance(value, list):
        return [_round_floats(part, size) for part in value]
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.{10 if size == 8 else 4}g}")
    return 0.0 if rounded == 0.0 or abs(rounded) < 1e-7 else rounded


def check(number: int) -> tuple[str, str, list[str]]:
    """Compare the calls of a program; return the kind of its outcome, details, and why sizes did not stay open."""
    generator = Generator(number)
    source, name = generator.program(), f"<sizes program {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    plain, compiled = _load_program(source, name), ac.compile(_load_program(source, name))
    for call_number, sizes in enumerate(generator.calls()):
        k = (2, 1, 0, 3)[call_number % 4]
        expected = outcome(plain, random_arguments(generator, sizes, call_number), k)
        actual = outcome(compiled, random_arguments(generator, sizes, call_number), k)
        if expected != actual:
            shapes = [array.shape for array in random_arguments(generator, sizes, call_number)]
            call = f"{source}{generator.dtype} call {call_number} {shapes} k={k}\n"
            return "WRONG", f"{call}expected {expected}\nfound    {actual}", []
    explanation = compiled.explain()
    kinds = "plain Python:|own trace:|no compilation for all|as Python objects"
    reasons = [line.strip() for line in explanation.splitlines() if re.search(kinds, line)]
    if re.search(r"shape=\([^)]*None", explanation):
        return ("open, code by shape" if "no code for any" in explanation else "open"), source, reasons
    if "plain Python:" in explanation and "plain Python: one call" not in explanation:
        return "plain", source, reasons
    return "each", source, reasons or ["each (no reason given)"]


def _load_program(program, name):
    namespace = {"np": np}
    exec(compile(program, name, "exec"), namespace)
    return namespace["program"]


def reason_kind(reason: str) -> str:
    """A reason without its location and its names."""
    text = re.sub(r"<sizes program \d+>:\d+(:\d+)?: ?", "", reason)
    text = re.sub(r"line \d+", "line N", text)
    return re.sub(r"\(n\d[^:]*\)|\((\d+, ?)*\d*\)", "(…)", text)[:150]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the reasons why sizes did not stay open, by kind")
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
        for reason in set(map(reason_kind, reasons)):
            kinds[reason] += 1
            examples.setdefault(reason, number)
    if options.show:
        for reason, count in kinds.most_common(40):
            print(f"{count:4} {reason} (program {examples[reason]})")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
