"""Deques in graphs: their methods and items are native code; results, errors and undone changes are plain Python's."""

from __future__ import annotations

import copy
from collections import deque

import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def window_maxima(xs, k):
    window, maxima = deque(), []
    for i, x in enumerate(xs):
        while window and xs[window[-1]] <= x:
            window.pop()
        window.append(i)
        if window[0] <= i - k:
            window.popleft()
        if i >= k - 1:
            maxima.append(xs[window[0]])
    return maxima


def turns(items, n):
    queue = deque(items)
    for i in range(n):
        queue.appendleft(i)
        queue.rotate(1)
        if queue[0] > 3:
            queue.pop()
        if len(queue) > 10:
            queue.popleft()
    return queue.count(2), 7 in queue, list(queue)


def empties(n):
    queue = deque()
    for i in range(n):
        queue.append(i)
    for _ in range(n + 1):
        queue.popleft()


def bounded(n):
    latest = deque([0], 3)
    for i in range(n):
        latest.append(i)
    return list(latest), latest.maxlen


def outgrows(items, n):
    queue = deque(items)
    product = 1
    for i in range(1, n):
        queue.append(i)
        queue[0] = queue.pop()
        product *= i
    return product, queue


CASES = [
    (window_maxima, ([i * 7 % 11 for i in range(40)], 5)), (turns, ([*range(5)], 40)), (turns, ([], 40)),
    (empties, (40,)), (bounded, (40,)), (outgrows, ([5], 15)), (outgrows, ([5], 40)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_calls_leave_what_plain_calls_leave(case):
    function, arguments = case
    compiled = autoconv.compile(function)
    for _ in range(3):
        outcomes = []
        for callee in (function, compiled):
            own_arguments = copy.deepcopy(arguments)
            try:
                result = callee(*own_arguments)
            except IndexError as error:
                result = repr(error)
            outcomes.append((result, own_arguments))
        assert outcomes[0] == outcomes[1]
    assert "1 trace" in compiled.explain()
