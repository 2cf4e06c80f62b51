"""Lists of numbers that are arguments and that a function changes: results, contents and errors are plain Python's."""

from __future__ import annotations

import copy
import heapq

import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def bubble_sort(xs):
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]


def appends_while_reading(xs):
    for x in xs:
        if x > 0:
            xs.append(x - 10)
    return len(xs)


def methods(xs):
    xs.sort()
    xs.reverse()
    del xs[0]
    xs.insert(3, 5)
    return xs.pop(), xs


def all_pairs(rows):
    n = len(rows)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if rows[i][k] + rows[k][j] < rows[i][j]:
                    rows[i][j] = rows[i][k] + rows[k][j]
    return sum(map(sum, rows))


def adds(xs, ys):
    for i in range(len(ys)):
        xs[i] += ys[i] + ys[0]
    return xs


def writes_row(rows, k):
    rows[k][0] += 1
    return rows[k]


def generations(rows, steps):
    for _ in range(steps):
        n = len(rows)
        new = [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                new[i][j] = rows[i - 1][j] + rows[i][j - 1]
        rows = new
    return rows


def swaps_rows(rows):
    for i in range(len(rows) // 2):
        rows[i], rows[-1 - i] = rows[-1 - i], rows[i]
    for i in range(len(rows)):
        rows[i][0] += i


def catches(xs, n):
    failures = 0
    for i in range(n):
        try:
            xs[i] = xs[i] * 2
        except IndexError:
            failures += 1
    return failures


def outgrows(xs):
    for i in range(len(xs)):
        xs[i] = xs[i] * 2**62


def fails(xs, n):
    for i in range(n):
        xs[i] = -1


def half_of_heap(xs):
    n = len(xs) // 2
    heapq.heapify(xs)
    while len(xs) > n:
        heapq.heappop(xs)
    heapq.heappush(xs, xs[-1])


def ints(n=30):
    return [i * 7 % 11 for i in range(n)]


def matrix():
    return [[(i * j) % 3 for j in range(6)] for i in range(6)]


def shared_list():
    xs = ints()
    return xs, xs


def shared_rows():
    return [[1.5, 2.5, 0.5, 4.0, 1.0]] * 5


def shared_row():
    row = ints()
    return [row, ints(), row], 0


def row_of_matrix():
    rows = matrix()
    return rows[2], rows[2]


CASES = [
    (bubble_sort, lambda: (ints(),)), (bubble_sort, lambda: ([x / 3 for x in ints()],)),
    (appends_while_reading, lambda: (ints(),)), (methods, lambda: (ints(),)),
    (all_pairs, lambda: (matrix(),)), (all_pairs, lambda: ([[x / 3 for x in row] for row in matrix()],)),
    (all_pairs, lambda: (shared_rows(),)),
    (adds, lambda: (ints(), ints(20))), (adds, shared_list), (adds, row_of_matrix),
    (writes_row, lambda: (matrix(), 2)), (writes_row, lambda: (matrix(), 6)),
    (writes_row, shared_row),
    (generations, lambda: (matrix(), 3)), (generations, lambda: (matrix(), 0)), (swaps_rows, lambda: (matrix(),)),
    (catches, lambda: (ints(), 40)), (outgrows, lambda: ([0, 1] * 10,)), (outgrows, lambda: ([0, 1, 3] * 10,)),
    (fails, lambda: (ints(), 20)), (fails, lambda: (ints(), 40)),
    (half_of_heap, lambda: (ints(),)), (half_of_heap, lambda: ([(x / 3, x) for x in ints()],)),
]  # fmt: skip


def outcome(function, arguments):
    """Return the result or error, and the arguments after the call, as one graph of objects."""
    try:
        result = function(*arguments)
    except Exception as error:
        result = repr(error)
    names = {}
    parts = [part for value in (*arguments, result) for part in ([value, *value] if type(value) is list else [value])]
    identities = [names.setdefault(id(part), len(names)) for part in parts if type(part) is list]
    return repr(result), repr(arguments), identities


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_calls_leave_what_plain_calls_leave(case):
    function, make_arguments = case
    compiled = autoconv.compile(function)
    for _ in range(3):
        assert outcome(compiled, make_arguments()) == outcome(function, make_arguments())
    assert "0 traces" not in compiled.explain()


def test_lists_of_numbers_are_changed_by_native_code():
    compiled = autoconv.compile(bubble_sort)
    compiled(ints())
    (line,) = [line for line in compiled.explain().splitlines() if "by kernels" in line]
    assert line.strip() == "1 by kernels: typed_list_store"


def test_numbers_that_stay_keep_their_objects():
    def halves(xs):
        for i in range(0, len(xs), 2):
            xs[i] = xs[i] / 2
        xs.append(0.25)

    xs = [float(i) for i in range(1000, 1100)]
    before = copy.copy(xs)
    autoconv.compile(halves)(xs)
    assert all(x is y for x, y in zip(xs[1::2], before[1::2], strict=False))
    assert (xs[0], xs[-1], len(xs)) == (500.0, 0.25, 101)
