"""Typed lists as operands, lists of typed lists, and objects that are assigned to elements of arrays."""

# ruff: noqa: B007, C416, RUF005 - the programs are meant as they are written

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import case_name, check_case, outcome

INF, NAN = math.inf, math.nan


def numbers_of(array):
    xs = []
    for i in range(len(array)):
        xs.append(float(array[i]))
    return xs


def sorts(array):
    xs = numbers_of(array)
    ys = sorted(xs)
    xs.sort()
    return xs, ys, min(ys), max(ys), sum(ys)


def many_sorted(n):
    xs = [i * 7919 % 1009 for i in range(n)]
    xs.sort()
    return xs


def slices_of_list(n):
    xs = list(range(n))
    return xs[1:-1], xs[:2], xs[-3:], xs[::2], xs[5:2], xs[:], xs[100:], xs[n // 2 :], list(range(n, 0, -2)), xs[::-1]


def joined(n):
    xs = [i for i in range(n)]
    ys = xs + [7]
    xs += ys
    xs.extend(xs)
    zs = xs.copy()
    zs.reverse()
    ys.clear()
    return xs, ys, zs, len(zs), bool(ys)


def searched(n, x):
    xs = [i * i % 11 for i in range(n)]
    found = x in xs, xs.count(x)
    xs.insert(1, x)
    xs.remove(x)
    del xs[-1]
    return found, xs, xs.index(x)


def summed(n):
    xs = [i % 2 == 0 for i in range(n)]
    ys = [x * 0.1 for x in range(n)]
    return sum(xs), any(xs), all(xs), sum(ys), min(xs), max(ys)


def empty_sums(n):
    xs = [0.5] * n
    return sum(xs)


def empty_minimum(n):
    xs = [1] * n
    return min(xs)


def as_text(n):
    xs = []
    for i in range(n):
        xs.append(i / 2)
    return str(xs), tuple(xs), repr(xs)


def grid(n):
    g = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            g[i][j] = i * j % 7
    for k in range(n):
        for i in range(n):
            g[i][k] = min(g[i][k], g[k][i] + 1)
    return g


def one_shared_row(n):
    g = [[0] * n] * n
    g[0][1] = 5
    rows = []
    for r in g:
        r[0] += 1
        rows.append(r)
    rows[1].append(9)
    return rows, sum(rows[0])


def separate_rows(n):
    g = [[i] for i in range(n)]
    r = g[1]
    r.append(7)
    return g, r


def rows_moved(n):
    g = [[i] for i in range(n)]
    g[0] = g[1]
    g[0].append(3)
    if g:
        g.reverse()
    x = g.pop()
    g.insert(0, x)
    return g


def row_out_of_range(n):
    g = [[0] * n for _ in range(n)]
    for i in range(n):
        g[i + 1][i] = 1
    return g


def empty_rows(n):
    g = []
    for i in range(n):
        g.append([])
    return g


def in_order(n):
    xs = []
    for i in range(n):
        bisect.insort(xs, i * 37 % 11)
    return xs


def medians(image, k):
    out = np.zeros(image.shape)
    for i in range(image.shape[0]):
        window = []
        for j in range(-k, k + 1):
            if 0 <= i + j < image.shape[0]:
                window.append(image[i + j])
        window.sort()
        out[i] = window[len(window) // 2]
    return out


def stored_into_bytes(n):
    out = np.zeros(n, np.uint8)
    xs = [1]
    for i in range(n):
        out[i] = xs[i]
        xs.append(xs[i] * 4)
    return out


FLOATS = np.array([2.0, 0.0, -0.0, 1.5, -0.0, 0.0, -INF])
WITH_NAN = np.array([2.0, NAN, 1.0, NAN, 0.5, 3.0, -1.0])
CASES = [
    (sorts, (FLOATS,), True), (sorts, (WITH_NAN,), True),
    (many_sorted, (3,), True), (many_sorted, (100,), True), (slices_of_list, (9,), True), (slices_of_list, (0,), True),
    (joined, (4,), True), (joined, (0,), True), (searched, (9, 5), True), (searched, (9, 6), True),
    (searched, (0, 1), True), (summed, (5,), True), (empty_sums, (2,), True), (empty_sums, (0,), True),
    (empty_minimum, (0,), True), (as_text, (3,), False), (grid, (5,), False), (one_shared_row, (4,), False),
    (separate_rows, (3,), False), (rows_moved, (4,), False), (row_out_of_range, (4,), False),
    (empty_rows, (3,), False), (in_order, (12,), False), (medians, (FLOATS, 2), True),
    (stored_into_bytes, (3,), True), (stored_into_bytes, (5,), True),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)


def test_rows_are_typed_lists() -> None:
    compiled = autoconv.compile(grid)
    compiled(3)
    (concrete,) = compiled.concrete_functions
    used = {node.op.name for node in concrete.optimised.walk()}
    assert {"typed_list_get", "typed_list_set"} <= used


@pytest.mark.parametrize("dtype", ["float64", "uint8", "bool"])
def test_an_object_becomes_an_element_as_in_numpy(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The item comes from a dict of the graph, so that it stays an object."""
    monkeypatch.setattr(SETTINGS, "backend", "reference")

    def f(n, value):
        out = np.zeros(2, dtype)
        items = {}
        for i in range(n):
            items[i] = value
        out[1] = items[n - 1]
        return out

    for value in (3, 2.7, -1, 300, 2**70, NAN, None, "4", "x", 1e300):
        assert outcome(autoconv.compile(f), (2, value)) == outcome(f, (2, value)), value
