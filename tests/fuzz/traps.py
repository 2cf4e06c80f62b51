"""Everyday programs, called with new arguments each time: none may be much slower than plain Python.

    python tests/fuzz/traps.py [--calls 300] [--only TEXT] [--seed 0] [--show]

Each program in `everyday/` is called with arguments of changing sizes and kinds, plain and under `@autoconv.compile` in
turns. Results must be equal. The output lists programs whose last third of calls took at least 1.5 times the processor
time of the plain calls, those with a call of more than 3 s, and those with more than 8 traces.
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
from typing import Any, NamedTuple

import everyday.numbers
import everyday.objects
import everyday.structures
import everyday.texts  # noqa: F401 - registers its programs
import numpy as np
from everyday import PROGRAMS

import autoconv

SLOWDOWN, NOISE = 1.5, 2e-6  # a factor, and seconds a call: only slower calls than both together count
MAX_CALL_SECONDS, MAX_TRACES = 3.0, 8


class Measurement(NamedTuple):
    """The seconds of all calls, the number of traces, a wrong result, and the explanation."""

    plain: list[float]
    compiled: list[float]
    traces: int
    wrong: str
    explanation: str

    def faults(self) -> list[str]:
        last_third = slice(2 * len(self.plain) // 3, None)
        plain, compiled = sum(self.plain[last_third]), sum(self.compiled[last_third])
        calls = len(self.plain[last_third])
        faults = [self.wrong] if self.wrong else []
        if compiled > plain * SLOWDOWN + NOISE * calls:
            faults.append(f"{compiled / plain:.1f} times plain ({plain / calls * 1e6:.3g} µs a call)")
        if max(self.compiled) > MAX_CALL_SECONDS:
            faults.append(f"a call of {max(self.compiled):.1f} s")
        if self.traces > MAX_TRACES:
            faults.append(f"{self.traces} traces")
        return faults


def measure(name: str, calls: int, seed: int) -> Measurement:
    function, make_arguments = PROGRAMS[name]
    compiled: Any = autoconv.compile(function)
    draws = random.Random(f"{name} {seed}")
    times: tuple[list[float], list[float]] = ([], [])
    wrong = ""
    for call in range(calls):
        call_arguments = make_arguments(draws, draws.choice([3, 8, 20, 50, 20 + call % 30]))
        results = []
        for index, run in enumerate((function, compiled)):
            own_arguments = copy.deepcopy(call_arguments)
            start = time.process_time()
            result = run(*own_arguments)
            times[index].append(time.process_time() - start)
            results.append((result, own_arguments))
        if not wrong and not values_agree(*results):
            wrong = f"WRONG in call {call}: {results[0]!r:.300} is {results[1]!r:.300}"
    explanation = compiled.explain()
    return Measurement(*times, len(compiled.concrete_functions), wrong, explanation)


def values_agree(a: Any, b: Any) -> bool:
    """Return whether values are equal, except for the rounding of floats."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-5, equal_nan=True)
    if isinstance(a, (float, np.floating)):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(values_agree(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(values_agree, a, b))
    if type(a).__module__.startswith("everyday") and hasattr(a, "__dict__") and not hasattr(a, "value"):
        return values_agree(vars(a), vars(b))
    return bool(a == b)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--only", default="", help="run only programs whose names contain this text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print each program, and the explanations of faults")
    options = parser.parse_args()
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    start, faulty, ratios, longest, names = time.monotonic(), 0, [], 0.0, [n for n in PROGRAMS if options.only in n]
    for name in names:
        measurement = measure(name, options.calls, options.seed)
        faults = measurement.faults()
        last_third = slice(2 * len(measurement.plain) // 3, None)
        ratios.append(sum(measurement.compiled[last_third]) / sum(measurement.plain[last_third]))
        longest = max(longest, *measurement.compiled)
        faulty += bool(faults)
        if faults or options.show:
            print(f"{name}: {ratios[-1]:.2f}, {measurement.traces} traces, longest {max(measurement.compiled):.2f} s"
                  f"{'; ' * bool(faults)}{'; '.join(faults)}", flush=True)  # fmt: skip
        if faults and options.show:
            print("\n".join(f"    {line[:300]}" for line in measurement.explanation.splitlines()))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{len(names)} programs in {time.monotonic() - start:.0f} s: {faulty} with faults, in geometric mean "
          f"{mean:.2f} times plain, longest call {longest:.2f} s")  # fmt: skip
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
