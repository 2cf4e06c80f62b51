"""Measures a random program by its number: NumPy and the compiled function in turns, every fourth one beside JAX."""

from __future__ import annotations

import json
import linecache
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import shrink
from differential.compare import TooLongError, limited
from grammar import element_loops, whole_arrays

import autoconv as ac
from autoconv.config import SETTINGS

CLASSES = (10**3, 10**5, 10**6)
ROUNDS, _MOST_ROUNDS = 7, 280
_ENOUGH = 0.25  # seconds that the rounds of one measurement may take
_LONGEST = 1.0  # seconds of a plain call, above which the arrays become smaller
_MEMORY = 8 << 30
_CHOOSING = 40  # calls after which the choice between the graph and plain Python is made
_CANDIDATES, _SHRINKING = 150, 100.0  # of smaller programs, and the seconds for them

clock = time.perf_counter
Arrays = list[Any]


@dataclass
class Case:
    """A program with what it is called with."""

    number: int
    source: str
    dtype: str
    size: int  # the class
    sizes: tuple[int, int]
    shapes: list[tuple[str, ...]]  # of the arrays of numbers
    kind: str

    def arguments(self) -> Arrays:
        """Return fresh arguments, the same each time."""
        draw = np.random.default_rng(self.number)
        names = dict(zip(("n", "m"), self.sizes, strict=True))
        found: Arrays = [_laid(_drawn(draw, [names[d] for d in shape], self.dtype), draw) for shape in self.shapes]
        if self.kind == "loops":
            n = names["n"]
            found += [draw.integers(0, n, n), draw.integers(0, 1 << 20, n)]
        return [*found, 2]


def serve(kind: str, tiers: str) -> None:
    """Answer requests on standard input, a line each."""
    SETTINGS.tiers = tiers
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin:
        number, small = json.loads(line)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer = smaller(number, kind) if small else measured(number, kind)
        print(json.dumps(answer), flush=True)


def measured(number: int, kind: str) -> dict[str, Any]:
    """Return what is known about a program after its measurement."""
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
    told |= {"status": "measured", "ratio": ratio, "numpy": theirs, "ours": ours, "way": way(compiled), "jax": None}
    if kind == "arrays" and number % 4 == 0:
        told["jax"] = beside_jax(case, compiled, expected)
    return told


def smaller(number: int, kind: str) -> dict[str, Any]:
    """Return the program with as little in it as leaves it as slow beside NumPy, or slower."""
    case = drawn_case(number, kind)
    before = measured(number, kind)
    if "ratio" not in before:
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


def drawn_case(number: int, kind: str) -> Case:
    """Return the program of that number, with its sizes."""
    generator: Any = (whole_arrays if kind == "arrays" else element_loops).Generator(number)
    source = generator.program()
    size = CLASSES[number % 3]
    shapes = list(generator.pattern.values()) if kind == "arrays" else [("n",), ("n",), ("n", "m")]
    draw = np.random.default_rng(number)
    numbers = int(10 ** draw.uniform(np.log10(size) - 1.5, np.log10(size)))
    ratio = float(draw.choice([0.02, 1.0, 1.0, 50.0]))  # wide, square, tall
    is_matrix = any(len(shape) == 2 for shape in shapes)
    n = max(int((numbers * ratio) ** 0.5), 4) if is_matrix else max(numbers, 4)
    m = max(numbers // n, 4) if is_matrix else max(int(numbers * draw.choice([1.0, 0.1])), 4)
    if ("n", "n") in shapes:
        n = m = max(int(numbers**0.5), 4)
    return Case(number, source, generator.dtype, size, (n, m), shapes, kind)


def _drawn(draw: np.random.Generator, shape: list[int], dtype: str) -> Any:
    if dtype == "bool":
        return draw.random(shape) < 0.5
    if "int" in dtype:
        return draw.integers(-30, 50, shape).astype(dtype)
    found = np.round(draw.normal(0, 2, shape) * 1024) / 1024  # sums are exact in most orders
    return (found + 1j * np.round(draw.normal(0, 2, shape) * 64) / 64 if "complex" in dtype else found).astype(dtype)


def _laid(array: Any, draw: np.random.Generator) -> Any:
    """Return the array in one of several layouts."""
    layout = draw.integers(0, 12)
    if layout == 0:
        return np.asfortranarray(array)
    if layout == 1:
        return np.repeat(array, 2, axis=0)[::2]
    if layout == 2 and array.ndim == 2:
        return np.ascontiguousarray(array.T).T
    return array


def made(source: str, name: str) -> Callable[..., Any]:
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def in_turns(functions: list[Callable[..., Any]], case: Case) -> list[float]:
    """Return the best time of a call of each, on arguments that hold the same at the beginning of each call."""
    fresh, given = case.arguments(), case.arguments()
    best = [float("inf")] * len(functions)
    start, turn = clock(), 0
    while turn < _MOST_ROUNDS and (turn < ROUNDS or clock() - start < _ENOUGH):
        if turn == 2 and clock() - start > _ENOUGH and max(best) > 4 * min(best):
            break  # what is far apart needs no more of such long calls
        for position in range(len(functions)) if turn % 2 else reversed(range(len(functions))):
            for old, new in zip(fresh[:-1], given[:-1], strict=True):
                np.copyto(new, old)
            function = functions[position]
            before = clock()
            result = function(*given)
            best[position] = min(best[position], clock() - before)
            del result
        turn += 1
    return best


def way(compiled: Any) -> str:
    """Return how the calls run: "graph", "kernels" (a graph with NumPy's functions in it) or "plain"."""
    told = compiled.explain()
    if "plain Python:" in told or "by plain Python" in told:
        return "plain"
    return "kernels" if "by kernels" in told else "graph"


def alike(one: Any, other: Any) -> bool:
    """Return whether two results are equal, floats as far as the order of sums does not change them."""
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, (np.ndarray, np.generic, float, complex)):
        one, other = np.asarray(one), np.asarray(other)
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return False
        if one.dtype.kind not in "fc" or not one.size:
            return bool((one == other).all())
        scale = np.nanmax(np.where(np.isfinite(one), np.abs(one), 0), initial=1.0)
        tolerance = (1e-3 if one.dtype.itemsize // (1 + (one.dtype.kind == "c")) < 8 else 1e-8) * scale
        return bool(np.isclose(one, other, rtol=1e-3, atol=tolerance, equal_nan=True).all())
    return type(one) is type(other) and one == other


def beside_jax(case: Case, compiled: Callable[..., Any], expected: Any) -> float | None:
    """Return the time of JAX over ours; None where it is not installed, or does not take the program."""
    try:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        namespace: dict[str, Any] = {"np": jnp}
        exec(case.source, namespace)
        jitted = jax.jit(namespace["program"], static_argnums=len(case.shapes))
        given = [jnp.asarray(array) for array in case.arguments()[:-1]]
        ready = jax.block_until_ready
        found = ready(jitted(*given, 2))
        parts = zip(*(v if isinstance(v, tuple) else (v,) for v in (expected, found)), strict=True)
        if not all(np.allclose(np.asarray(b), np.asarray(a), rtol=1e-3, atol=1e-3, equal_nan=True) for a, b in parts):
            return None
        theirs, ours = in_turns([lambda *_: ready(jitted(*given, 2)), compiled], case)
    except Exception:
        return None
    return theirs / ours
