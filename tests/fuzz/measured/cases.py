"""Random programs with their arguments, and functions that time and compare their calls."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from grammar import element_loops, whole_arrays

SIZE_CLASSES = (10**3, 10**5, 10**6)
ROUNDS, _MAX_ROUNDS = 7, 280
_ROUNDS_SECONDS = 0.25  # seconds that the rounds of one measurement may take
_MIN_PROCESSOR_SECONDS = 1e-3  # longer calls are measured in processor time: it has a resolution of a microsecond

clock = time.perf_counter
Arrays = list[Any]


@dataclass
class Case:
    """A program and the shapes of its arguments."""

    number: int
    source: str
    dtype: str
    size: int  # of SIZE_CLASSES
    sizes: tuple[int, int]
    shapes: list[tuple[str, ...]]  # of the arrays of numbers, in names of sizes
    kind: str

    def arguments(self) -> Arrays:
        """Return fresh arguments, the same each time."""
        draw = np.random.default_rng(self.number)
        sizes = dict(zip(("n", "m"), self.sizes, strict=True))
        arguments: Arrays = [
            _with_random_layout(_random_array(draw, [sizes[d] for d in shape], self.dtype), draw)
            for shape in self.shapes
        ]
        if self.kind == "loops":
            n = sizes["n"]
            arguments += [draw.integers(0, n, n), draw.integers(0, 1 << 20, n)]
        return [*arguments, 2]


def random_case(number: int, kind: str) -> Case:
    """Return the program of that number, with its sizes."""
    generator: Any = (whole_arrays if kind == "arrays" else element_loops).Generator(number)
    source = generator.program()
    size = SIZE_CLASSES[number % 3]
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


def _random_array(draw: np.random.Generator, shape: list[int], dtype: str) -> Any:
    if dtype == "bool":
        return draw.random(shape) < 0.5
    if "int" in dtype:
        return draw.integers(-30, 50, shape).astype(dtype)
    floats = np.round(draw.normal(0, 2, shape) * 1024) / 1024  # sums are exact in most orders
    return (floats + 1j * np.round(draw.normal(0, 2, shape) * 64) / 64 if "complex" in dtype else floats).astype(dtype)


def _with_random_layout(array: Any, draw: np.random.Generator) -> Any:
    """Return the array in one of several layouts."""
    layout = draw.integers(0, 12)
    if layout == 0:
        return np.asfortranarray(array)
    if layout == 1:
        return np.repeat(array, 2, axis=0)[::2]
    if layout == 2 and array.ndim == 2:
        return np.ascontiguousarray(array.T).T
    return array


def load_function(source: str, name: str, module: Any = np, function: str = "program") -> Callable[..., Any]:
    """Return a function of a source text, with `np` bound to that module."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"np": module}
    exec(compile(source, name, "exec"), namespace)
    return namespace[function]  # type: ignore[no-any-return]


def best_times(functions: list[Callable[..., Any]], case: Case) -> list[float]:
    """Return the best time of a call of each function; the arguments have the same values before each call."""
    initial, arguments = case.arguments(), case.arguments()
    best = [float("inf")] * len(functions)
    start, round_number = clock(), 0
    while round_number < _MAX_ROUNDS and (round_number < ROUNDS or clock() - start < _ROUNDS_SECONDS):
        if round_number == 1:
            start = clock()  # the first round may compile, for the memory order of the arguments
        if round_number == 2 and clock() - start > _ROUNDS_SECONDS and max(best) > 4 * min(best):
            break  # two rounds are enough if the times are long and far apart
        for position in range(len(functions)) if round_number % 2 else reversed(range(len(functions))):
            for source, target in zip(initial[:-1], arguments[:-1], strict=True):
                np.copyto(target, source)
            function = functions[position]
            processor_start, call_start = time.process_time(), clock()
            result = function(*arguments)
            seconds = clock() - call_start
            if seconds > _MIN_PROCESSOR_SECONDS:  # others may have run meanwhile
                seconds = min(seconds, time.process_time() - processor_start)
            best[position] = min(best[position], seconds)
            del result
        round_number += 1
    return best


def results_agree(left: Any, right: Any) -> bool:
    """Return whether two results are equal, except that the order of sums may change floats."""
    if isinstance(left, (tuple, list)):
        return len(left) == len(right) and all(map(results_agree, left, right))
    if isinstance(left, (np.ndarray, np.generic, float, complex)):
        left, right = np.asarray(left), np.asarray(right)
        if (left.dtype, left.shape) != (right.dtype, right.shape):
            return False
        if left.dtype.kind not in "fc" or not left.size:
            return bool((left == right).all())
        scale = np.nanmax(np.where(np.isfinite(left), np.abs(left), 0), initial=1.0)
        tolerance = (1e-3 if left.dtype.itemsize // (1 + (left.dtype.kind == "c")) < 8 else 1e-8) * scale
        return bool(np.isclose(left, right, rtol=1e-3, atol=tolerance, equal_nan=True).all())
    return type(left) is type(right) and left == right


def execution_kind(compiled: Any) -> str:
    """Return how the calls run: "graph", "kernels" (a graph that calls NumPy's functions) or "plain"."""
    explanation = compiled.explain()
    if "plain Python:" in explanation or "by plain Python" in explanation:
        return "plain"
    return "kernels" if "by kernels" in explanation else "graph"
