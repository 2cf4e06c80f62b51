"""Random programs with their arguments, and how a call of them is timed and compared."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from grammar import element_loops, whole_arrays

CLASSES = (10**3, 10**5, 10**6)
ROUNDS, _MOST_ROUNDS = 7, 280
_ENOUGH = 0.25  # seconds that the rounds of one measurement may take

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


def made(source: str, name: str, module: Any = np, function: str = "program") -> Callable[..., Any]:
    """Return a function of a source text in which `np` is that module."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"np": module}
    exec(compile(source, name, "exec"), namespace)
    return namespace[function]  # type: ignore[no-any-return]


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


def way(compiled: Any) -> str:
    """Return how the calls run: "graph", "kernels" (a graph with NumPy's functions in it) or "plain"."""
    told = compiled.explain()
    if "plain Python:" in told or "by plain Python" in told:
        return "plain"
    return "kernels" if "by kernels" in told else "graph"
