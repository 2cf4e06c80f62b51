"""Lists of which a tensor decides the length, or which of several a name refers to, under `@autoconv.function`."""

from __future__ import annotations

from typing import Any

import pytest

import autoconv


def shortened(a: Any, b: Any) -> Any:
    items = [1, a, b]
    for j in range(a):
        if b < j:
            items = items[1:]
    return len(items)


def turned(a: Any, b: Any) -> Any:
    items = [1, a, b]
    for j in range(a):
        if b < j:
            items = [*items[1:], j, *items]
            items.pop()
    return items[0] * 100 + items[-1]


def contains(a: Any, b: Any) -> Any:
    items = [1, a]
    if a > 2:
        items = [*items[1:], b, 7]
    return 7 in items, b in items, 3 not in items


def one_of_two(a: Any, b: Any) -> Any:
    items = [1, a, b]
    if b > 0:
        items = [1, b, a]
    if a > 1:
        items[1] = 9
        if b < 4:
            items[1] += a
    else:
        items = [a, b, b]
    return items[0], items[1], items[2]


@pytest.mark.parametrize("function", [shortened, turned, contains, one_of_two])
@pytest.mark.parametrize("call", [(3, 0), (0, 5), (2, 1), (4, 2)])
def test_agrees_with_python(function: Any, call: tuple[int, int]) -> None:
    found = autoconv.function(function)(*map(autoconv.constant, call))
    assert autoconv.nest.map_structure(int, found) == autoconv.nest.map_structure(int, function(*call))
