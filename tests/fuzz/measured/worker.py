"""Measures a random program by its number: NumPy and the compiled function in turns, some beside other compilers."""

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
from differential.compare import TooLongError, limited

import autoconv as ac
from autoconv.config import SETTINGS
from measured import peers
from measured.cases import Case, alike, clock, drawn_case, in_turns, made, way
from measured.gradients import measured_gradient

_LONGEST = 1.0  # seconds of a plain call, above which the arrays become smaller
_MEMORY = 8 << 30
_CHOOSING = 40  # calls after which the choice between the graph and plain Python is made
_CANDIDATES, _SHRINKING = 150, 100.0  # of smaller programs, and the seconds for them


def serve(kind: str, tiers: str) -> None:
    """Answer requests on standard input, a line each."""
    SETTINGS.tiers = tiers
    if hasattr(os, "sched_setaffinity"):  # one thread for all, JAX included
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin:
        number, small = json.loads(line)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer = smaller(number, kind) if small else measured(number, kind)
        print(json.dumps(answer), flush=True)


def measured(number: int, kind: str) -> dict[str, Any]:
    """Return what is known about a program after its measurement."""
    if kind == "gradients":
        return measured_gradient(number)
    case = drawn_case(number, kind)
    told: dict[str, Any] = {"number": number, "class": case.size, "dtype": case.dtype, "source": case.source}
    plain = made(case.source, f"<peers {kind} {number}>")
    for _ in range(6):
        try:
            with limited(_LONGEST):
                plain(*case.arguments())
            break
        except (MemoryError, TooLongError):
            pass
        except Exception as error:
            return told | {"status": "left out", "details": f"NumPy: {type(error).__name__}: {error}"}
        case.sizes = tuple(max(size // 4, 4) for size in case.sizes)  # type: ignore[assignment]
    else:
        return told | {"status": "left out", "details": "too long"}
    told["shapes"] = [np.shape(array) for array in case.arguments()[:-1]]
    given = case.arguments()
    compiled = ac.compile(made(case.source, f"<peers {kind} {number}>"))
    start = clock()
    found = compiled(*given)
    told["first"] = clock() - start
    mine = case.arguments()
    expected = plain(*mine)
    if not alike((expected, mine), (found, given)):
        return told | {"status": "WRONG", "details": case.source}
    if SETTINGS.tiers == "auto":
        for _ in range(_CHOOSING):
            compiled(*case.arguments())
    theirs, ours = in_turns([plain, compiled], case)
    ratio = theirs / ours
    if ratio < 0.95:
        ratio = statistics.median(
            [ratio, *(theirs / ours for theirs, ours in (in_turns([plain, compiled], case) for _ in "12"))]
        )
    told |= {"status": "measured", "ratio": ratio, "theirs": theirs, "ours": ours, "way": way(compiled)}
    return told | {"peers": peers.ratios(case, compiled, (expected, mine))}


def smaller(number: int, kind: str) -> dict[str, Any]:
    """Return the program with as little in it as leaves it as slow beside NumPy, or slower."""
    case = drawn_case(number, kind)
    before = measured(number, kind)
    if "ratio" not in before or kind == "gradients":
        return before
    case.sizes = sizes_of(before, case)
    limit, end = min(max(before["ratio"] * 1.3, 0.7), 0.93), clock() + _SHRINKING

    def is_slow(text: str) -> bool:
        if clock() > end:
            return False
        try:
            plain, compiled = made(text, "<smaller>"), ac.compile(made(text, "<smaller>"))
            if plain(*case.arguments()) is None:
                return False
            compiled(*case.arguments())
            theirs, ours = in_turns([plain, compiled], case)
        except Exception:
            return False
        return theirs / ours < limit and ours - theirs > 5e-7

    return before | {"source": shrink.smallest(case.source, is_slow, _CANDIDATES)}


def sizes_of(told: dict[str, Any], case: Case) -> tuple[int, int]:
    names = dict(zip(("n", "m"), case.sizes, strict=True))
    for dimensions, shape in zip(case.shapes, told["shapes"], strict=False):
        names |= dict(zip(dimensions, shape, strict=True))
    return names["n"], names["m"]
