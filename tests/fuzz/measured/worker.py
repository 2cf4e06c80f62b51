"""A worker that measures random programs by number: NumPy, the compiled function, and for some other compilers."""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import warnings
from typing import Any

import numpy as np
import shrink
from differential.compare import TooLongError, limit_time

import autoconv as ac
from autoconv.config import SETTINGS
from measured import peers
from measured.cases import Case, best_times, clock, execution_kind, load_function, random_case, results_agree
from measured.gradients import measure_gradient

_MAX_PLAIN_SECONDS = 1.0  # of a plain call; above, the arrays become smaller
_MEMORY_LIMIT = 8 << 30
_CHOICE_CALLS = 40  # number of calls that decide between the graph and plain Python
_CANDIDATES, _SHRINK_SECONDS = 150, 100.0  # limits of the search for a smaller program


def serve(kind: str, tiers: str, peer_period: int) -> None:
    """Answer requests from standard input, one a line."""
    SETTINGS.tiers = tiers
    peers.PERIODS.update(dict.fromkeys(("numba", "jax", "clang"), peer_period))
    if hasattr(os, "sched_setaffinity"):  # one thread, also for JAX
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    for line in sys.stdin:
        number, shrinks = json.loads(line)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer = shrink_slow_program(number, kind) if shrinks else measure_program(number, kind)
        print(json.dumps(answer), flush=True)


def measure_program(number: int, kind: str) -> dict[str, Any]:
    """Measure a program, and return its times, status and details."""
    if kind == "gradients":
        return measure_gradient(number)
    case = random_case(number, kind)
    measurement: dict[str, Any] = {"number": number, "class": case.size, "dtype": case.dtype, "source": case.source}
    plain = load_function(case.source, f"<peers {kind} {number}>")
    for _ in range(6):
        try:
            with limit_time(_MAX_PLAIN_SECONDS):
                plain(*case.arguments())
            break
        except (MemoryError, TooLongError):
            pass
        except Exception as error:
            return measurement | {"status": "left out", "details": f"NumPy: {type(error).__name__}: {error}"}
        case.sizes = tuple(max(size // 4, 4) for size in case.sizes)  # type: ignore[assignment]
    else:
        return measurement | {"status": "left out", "details": "too long"}
    measurement["shapes"] = [np.shape(array) for array in case.arguments()[:-1]]
    arguments = case.arguments()
    compiled = ac.compile(load_function(case.source, f"<peers {kind} {number}>"))
    start = clock()
    result = compiled(*arguments)
    measurement["first"] = clock() - start
    plain_arguments = case.arguments()
    expected = plain(*plain_arguments)
    if not results_agree((expected, plain_arguments), (result, arguments)):
        return measurement | {"status": "WRONG", "details": case.source}
    if SETTINGS.tiers == "auto":
        for _ in range(_CHOICE_CALLS):
            compiled(*case.arguments())
    plain_seconds, compiled_seconds = best_times([plain, compiled], case)
    ratio = plain_seconds / compiled_seconds
    if ratio < 0.95:
        ratio = statistics.median(
            [ratio, *(plain_ / compiled_ for plain_, compiled_ in (best_times([plain, compiled], case) for _ in "12"))]
        )
    measurement |= {
        "status": "measured",
        "ratio": ratio,
        "theirs": plain_seconds,
        "ours": compiled_seconds,
        "way": execution_kind(compiled),
    }
    return measurement | {"peers": peers.peer_ratios(case, compiled, (expected, plain_arguments))}


def shrink_slow_program(number: int, kind: str) -> dict[str, Any]:
    """Return the measurement of a program with a reduced text that is still about as slow compared with NumPy."""
    case = random_case(number, kind)
    measurement = measure_program(number, kind)
    if "ratio" not in measurement or kind == "gradients":
        return measurement
    case.sizes = actual_sizes(measurement, case)
    limit, end = min(max(measurement["ratio"] * 1.3, 0.7), 0.93), clock() + _SHRINK_SECONDS

    def is_slow(text: str) -> bool:
        if clock() > end:
            return False
        try:
            plain, compiled = load_function(text, "<smaller>"), ac.compile(load_function(text, "<smaller>"))
            if plain(*case.arguments()) is None:
                return False
            compiled(*case.arguments())
            plain_seconds, compiled_seconds = best_times([plain, compiled], case)
        except Exception:
            return False
        return plain_seconds / compiled_seconds < limit and compiled_seconds - plain_seconds > 5e-7

    return measurement | {"source": shrink.reduce_source(case.source, is_slow, _CANDIDATES)}


def actual_sizes(measurement: dict[str, Any], case: Case) -> tuple[int, int]:
    names = dict(zip(("n", "m"), case.sizes, strict=True))
    for dimensions, shape in zip(case.shapes, measurement["shapes"], strict=False):
        names |= dict(zip(dimensions, shape, strict=True))
    return names["n"], names["m"]
