"""Independent loops, checked by enumeration of all pairs of iterations; results against plain Python."""

from __future__ import annotations

import random
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.analysis.loop_dependence import LoopDependence
from autoconv.graph.graph import Node
from autoconv.ops.analysis.alias import Overlaps
from autoconv.ops.analysis.integer_ranges import integer_ranges

SIZE = 64
RUNS, TURNS = 7, 20  # sizes of the loops of a random program
PROGRAMS, COMPILED = 20, 2


def innermost_loops(function: Callable[..., Any], *arguments: Any) -> tuple[LoopDependence, list[Node]]:
    """Return the dependence tests of the graph of a function, and its loops that contain no others, in order."""
    graph = autoconv.compile(function).get_concrete_function(*arguments).optimised
    loops = [node for node in graph.walk() if node.op.traits.repeats]
    inner = [loop for loop in loops if not any(node.op.traits.repeats for node in loop.regions[1].walk())]
    return LoopDependence(graph, integer_ranges(graph), Overlaps(graph)), inner


def elimination(a: np.ndarray) -> None:
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] * 0.5
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j] * factor


def shortest_paths(d: np.ndarray) -> None:
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def backward_columns(a: np.ndarray) -> None:
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[0, j] -= a[1, j] * a[0, i]


def prefix_sums(a: np.ndarray) -> None:
    for i in range(1, a.shape[0]):
        a[i, 0] += a[i - 1, 0]


def swapped(a: np.ndarray) -> None:
    b = np.zeros_like(a)
    for i in range(a.shape[0] - 1):
        b[0, i] = a[0, i + 1]
        a, b = b, a


def moving_view(a: np.ndarray) -> None:
    v = a
    for _ in range(a.shape[0] - 1):
        v[0, 0] = v[1, 0] + 1
        v = v[1:]


def of_positions(a: np.ndarray, positions: np.ndarray) -> None:
    for i in range(a.shape[0]):
        a[0, positions[i]] = a[1, i]


@pytest.mark.parametrize(
    "program, independent",
    [(elimination, True), (shortest_paths, False), (backward_columns, True), (prefix_sums, False), (swapped, False),
     (moving_view, False), (of_positions, False)],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_known_loops(program: Callable[..., Any], independent: bool) -> None:
    a = np.random.default_rng(1).uniform(0.0, 0.01, (SIZE, SIZE))
    others = [np.arange(SIZE)[::-1] // 2] if program is of_positions else []
    dependence, loops = innermost_loops(program, a, *others)
    if program is not moving_view:  # its graph may be unrolled
        assert [dependence.has_independent_iterations(loop) for loop in loops] == [independent]
    results = [a.copy(), a.copy()]
    program(results[0], *others)
    autoconv.compile(program)(results[1], *others)
    np.testing.assert_array_equal(results[1], results[0])


def affine_program(numbers: random.Random) -> str:
    """Return a function of a nest of two loops, whose positions are affine in the counters and in range."""

    def position() -> str:
        shift = numbers.randrange(3)
        sums = f"i + {shift}", f"j + {shift}", f"2 * j + {shift}", f"i + j + {shift}"
        return numbers.choice([*sums, f"{SIZE - 1} - j", str(shift), f"j - i + {SIZE // 2}"])

    first = numbers.choice(["0", "i", "i + 1", "2"])
    last = numbers.choice([f"{TURNS}", "i + 1", "i"]) if first in ("0", "2") else f"{TURNS}"
    lines = []
    for _ in range(numbers.randrange(1, 3)):
        target, x, y = (f"a[{position()}, {position()}]" for _ in range(3))
        lines.append(f"            {target} = {x} + 2 * {y}")
    if numbers.random() < 0.3:
        lines[-1:] = ["            if a[i, j] > 0:", "    " + lines[-1]]
    loops = [f"    for i in range({RUNS}):", f"        for j in range({first}, {last}):"]
    return "\n".join(["def program(a):", *loops, *lines])


def has_conflicts(source: str) -> bool:
    """Return whether an iteration of the inner loop accesses an element that another one of the same run writes."""
    iterations: list[tuple[int, set[Any], set[Any]]] = []  # run of the inner loop, elements read, elements written

    class Recorder:
        def __getitem__(self, index: tuple[int, int]) -> float:
            iterations[-1][1].add(index)
            return 1.0

        def __setitem__(self, index: tuple[int, int], value: float) -> None:
            iterations[-1][2].add(index)

    lines = source.splitlines()
    namespace: dict[str, Any] = {"begin": lambda run: iterations.append((run, set(), set()))}
    exec("\n".join([*lines[:3], "            begin(i)", *lines[3:]]), namespace)
    namespace["program"](Recorder())
    return any(
        run == other_run and (written & (other_read | other_written) or read & other_written)
        for number, (run, read, written) in enumerate(iterations)
        for other_run, other_read, other_written in iterations[number + 1 :]
    )


def test_affine_loops(tmp_path: Path) -> None:
    sources = [affine_program(random.Random(seed)) for seed in range(PROGRAMS)]
    file = tmp_path / "affine.py"
    file.write_text("\n".join(source.replace("program", f"program_{i}") for i, source in enumerate(sources)))
    namespace = runpy.run_path(str(file))
    independent: list[int] = []
    for number, source in enumerate(sources):
        dependence, loops = innermost_loops(namespace[f"program_{number}"], np.ones((SIZE, SIZE)))
        if any(dependence.has_independent_iterations(loop) for loop in loops):
            independent.append(number)
            assert not has_conflicts(source), source
    assert len(independent) > PROGRAMS // 8
    for number in independent[:COMPILED]:
        a = np.random.default_rng(number).standard_normal((SIZE, SIZE))
        results = [a.copy(), a.copy()]
        namespace[f"program_{number}"](results[0])
        autoconv.compile(namespace[f"program_{number}"])(results[1])
        np.testing.assert_array_equal(results[1], results[0])
