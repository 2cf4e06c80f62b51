"""Loops that run element by element: which ones they are, and that their sums warn where they overflow."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.analysis.loop_dependence import LoopDependence
from autoconv.backends.llvm.analysis.serial_loops import is_serial
from autoconv.ops.analysis.alias import Overlaps
from autoconv.ops.analysis.integer_ranges import integer_ranges

pytestmark = pytest.mark.optimised
MOST = 2**63 - 1


def counted(counts: Any, places: Any) -> Any:
    for i in range(len(places)):
        counts[places[i] % len(counts)] += places[i]
    return counts


def shortest(d: Any, _: Any) -> Any:
    n = len(d)
    for k in range(n):
        for i in range(n):
            d[i] = min(d[i], d[k] + d[i])
    return d


def subtracted(x: Any, places: Any) -> Any:
    for i in range(len(x)):
        x[places[i] % len(x)] -= x[i] * places[i]
    return x


def added(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] + y[i]
    return x


def passed_on(x: Any, y: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i - 1] + y[i]
    return x


def aligned(x: Any, y: Any) -> Any:
    h = np.zeros((len(x) + 1, len(y) + 1), x.dtype)
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            h[i, j] = max(h[i - 1, j - 1] + x[i - 1], h[i - 1, j] - y[j - 1], h[i, j - 1] - y[j - 1])
    return h


def summed_rows(x: Any, y: Any) -> Any:
    h = np.zeros((len(x) + 1, len(y) + 1), x.dtype)
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            h[i, j] = h[i - 1, j - 1] + y[j - 1]
    return h


def searched(x: Any, y: Any) -> Any:
    i, s = 0, x[0]
    while i < len(x) and s < 20:
        s = s + y[i]
        i += 1
    return s


PROGRAMS = [
    (counted, True), (shortest, True), (subtracted, True), (added, False), (passed_on, True), (aligned, True),
    (summed_rows, False), (searched, True),
]  # fmt: skip


@pytest.mark.parametrize(("program", "serial"), PROGRAMS)
def test_which_loops_are_serial(program: Any, serial: bool) -> None:
    graph = autoconv.compile(program).get_concrete_function(np.arange(9), np.arange(9)).optimised
    dependence = LoopDependence(graph, integer_ranges(graph), Overlaps(graph))
    innermost = [
        node for node in graph.walk()
        if node.op.traits.repeats and not any(inner.op.traits.repeats for inner in node.regions[1].walk())
    ]  # fmt: skip
    assert {is_serial(node, dependence) for node in innermost} == {serial}


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("program", [program for program, _ in PROGRAMS])
def test_sums_that_overflow_warn(program: Any, dtype: Any) -> None:
    compiled, largest = autoconv.compile(program), np.iinfo(dtype).max
    draws = np.random.default_rng(0)
    calls = [(draws.integers(0, 9, n).astype(dtype), draws.integers(0, 9, n).astype(dtype)) for n in (7, 7, 9, 5, 30)]
    calls += [(np.array([1, largest, -largest, largest - 2], dtype), np.array([1, 2, 3, largest], dtype))]
    calls += [(np.array([largest, largest, -largest - 1, 5], dtype), np.array([-1, largest, -largest, largest], dtype))]
    for arguments in calls:
        found, expected = _call_program(compiled, arguments), _call_program(program, arguments)
        np.testing.assert_equal(found, expected)


def _call_program(program: Any, arguments: Any) -> Any:
    plain_arguments = copy.deepcopy(arguments)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = program(*plain_arguments)
    return result, plain_arguments, sorted({str(item.message) for item in found})
