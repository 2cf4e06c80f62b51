"""Programs of every day that are called with new arguments each time: none may be much slower than plain Python.

    python tests/fuzz/traps.py [--calls 300] [--only TEXT] [--seed 0] [--show]

Each of the programs in `everyday/` is called with arguments of changing sizes and kinds, in turns plain and under
`@autoconv.compile`. Results have to be equal. Printed are those whose last third of calls took 1.5 times the
processor time of the plain ones and more, those with a call of more than 3 s, and those with more than 8 traces.
"""

from __future__ import annotations

import argparse
import copy
import logging
import math
import random
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import autoconv

sys.path.insert(0, str(Path(__file__).resolve().parent))

import everyday.numbers
import everyday.structures
import everyday.texts  # noqa: F401 - registers its programs
from everyday import PROGRAMS

SLOWER, NOISE = 1.5, 2e-6  # factor, and seconds a call, by which calls have to be slower to count
LONG, MOST_TRACES = 3.0, 8


class Found(NamedTuple):
    """The seconds of all calls, and what is wrong with the results."""

    plain: list[float]
    compiled: list[float]
    traces: int
    wrong: str
    told: str

    def faults(self) -> list[str]:
        late = slice(2 * len(self.plain) // 3, None)
        plain, compiled = sum(self.plain[late]), sum(self.compiled[late])
        calls = len(self.plain[late])
        found = [self.wrong] if self.wrong else []
        if compiled > plain * SLOWER + NOISE * calls:
            found.append(f"{compiled / plain:.1f} times plain ({plain / calls * 1e6:.3g} µs a call)")
        if max(self.compiled) > LONG:
            found.append(f"a call of {max(self.compiled):.1f} s")
        if self.traces > MOST_TRACES:
            found.append(f"{self.traces} traces")
        return found


def measure(name: str, calls: int, seed: int) -> Found:
    function, arguments = PROGRAMS[name]
    compiled: Any = autoconv.compile(function)
    draws = random.Random(f"{name} {seed}")
    times: tuple[list[float], list[float]] = ([], [])
    wrong = ""
    for call in range(calls):
        given = arguments(draws, draws.choice([3, 8, 20, 50, 20 + call % 30]))
        results = []
        for form, run in enumerate((function, compiled)):
            own = copy.deepcopy(given)
            begin = time.process_time()
            result = run(*own)
            times[form].append(time.process_time() - begin)
            results.append((result, own))
        if not wrong and not same(*results):
            wrong = f"WRONG in call {call}: {results[0]!r:.300} is {results[1]!r:.300}"
    told = compiled.explain()
    return Found(*times, len(compiled.concrete_functions), wrong, told)


def same(a: Any, b: Any) -> bool:
    """Whether values are equal; floats up to rounding."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-5, equal_nan=True)
    if isinstance(a, (float, np.floating)):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a).__module__.startswith("everyday") and hasattr(a, "__dict__") and not hasattr(a, "value"):
        return same(vars(a), vars(b))
    return bool(a == b)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--only", default="", help="programs whose names hold this text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="each program, and what explain() says of faults")
    options = parser.parse_args()
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    start, faulty, ratios, longest, names = time.monotonic(), 0, [], 0.0, [n for n in PROGRAMS if options.only in n]
    for name in names:
        found = measure(name, options.calls, options.seed)
        faults = found.faults()
        late = slice(2 * len(found.plain) // 3, None)
        ratios.append(sum(found.compiled[late]) / sum(found.plain[late]))
        longest = max(longest, *found.compiled)
        faulty += bool(faults)
        if faults or options.show:
            print(f"{name}: {ratios[-1]:.2f}, {found.traces} traces, longest {max(found.compiled):.2f} s"
                  f"{'; ' * bool(faults)}{'; '.join(faults)}", flush=True)  # fmt: skip
        if faults and options.show:
            print("\n".join(f"    {line[:300]}" for line in found.told.splitlines()))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(names)} programs in {time.monotonic() - start:.0f} s: {faulty} with faults, in geometric mean "
          f"{mean:.2f} times plain, longest call {longest:.2f} s")  # fmt: skip
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
