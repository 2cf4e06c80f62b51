"""Lists with two names, of which a branch or a loop makes, replaces or changes one, under `@autoconv.function`."""

from __future__ import annotations

from typing import Any

import pytest

import autoconv


class Holder:
    items: Any


def named_in_one_arm(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = [0]
    if a > b:
        items = [*items]
        other = items
    items.append(b)
    return (len(other), len(items))


def named_in_both_arms(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = [0]
    if a > b:
        items = [a, b]
        other = items
    else:
        items = [b, a]
        other = items
    items[0] = 50
    return (other[0], items[0])


def named_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = 1
    if a > b:
        items = [a]
    for _ in range(a):
        other = items
    if a > 0:
        other[0] = 10
    return items[0]


def captured_and_changed_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    for _ in range(a):
        items[b % 3] = 8
        items = [*items]
    return other[0], other[1], other[2], (lambda: len(items))()


def swapped_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    n = 0
    while n < a % 5:
        n += 1
        items = [v + 1 for v in items]
        items, other = (other, items)
    other[0] = b
    return (lambda: (items[0], other[0]))()


def named_again_in_an_arm(a: Any, b: Any) -> Any:
    x = [a]
    y = x
    if a > b:
        y = [b]
        x = y
    x[0] = 9
    return y[0]


def one_of_two_named_again(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = [0, 0, 0]
    if a > 0:
        items = [a, a, a]
        if b > 2:
            items = [b, b, b, b]
        other = items
    other[0] = 70
    return (items[0], other[0], len(items))


def attribute_replaced_in_a_loop(a: Any, b: Any) -> Any:
    h = Holder()
    h.items = [a, b]
    alias = h.items
    n = 0
    while n < a:
        n += 1
        h.items[0] += 1
        h.items = [v + 1 for v in h.items]
    return (alias[0], h.items[0])


def changed_in_a_loop_that_names_it(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = [0, 0]
    for p in range(b):
        items[1] = items[p % 3] + 1
        other = items
    return (items, other[1])


def two_names_swapped_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    n = 0
    while n < b:
        n += 1
        items[0] = b - n
        items, other = (other, items)
    return (items, other[0])


def grown_and_replaced_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    if a > b:
        items.insert(0, 1)
    for _ in range(b):
        items = [*items]
    other[0] = 8
    return items[0], other[0], len(other)


def grown_and_swapped_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    if 0 < b <= 1:
        items.insert(0, 1)
    for _ in range(a):
        items = [v + 1 for v in items]
        items, other = other, items
    other[0] = b
    return items[0], other[0]


def grown_and_replaced_where_the_test_assigns(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    if 0 < b <= 1:
        items.insert(0, 1)
    n = 0
    while (n := n + 1) < a % 5:
        items = [v + 1 for v in items]
    other[0] = b
    return items[0], other[0], len(items)


FUNCTIONS = [
    grown_and_replaced_where_the_test_assigns,
    grown_and_swapped_in_a_loop,
    grown_and_replaced_in_a_loop,
    named_in_one_arm,
    named_in_both_arms,
    named_in_a_loop,
    captured_and_changed_in_a_loop,
    swapped_in_a_loop,
    named_again_in_an_arm,
    one_of_two_named_again,
    attribute_replaced_in_a_loop,
    changed_in_a_loop_that_names_it,
    two_names_swapped_in_a_loop,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_change_shows_under_both_names(function: Any) -> None:
    traced = autoconv.function(function)
    for call in ((3, 2), (0, 5), (7, 4), (4, 4), (1, 0)):
        found = traced(*map(autoconv.constant, call))
        assert autoconv.nest.map_structure(int, found) == autoconv.nest.map_structure(int, function(*call)), call


def held_twice(a: Any, b: Any) -> Any:
    named = {"x": [a]}
    if a > b:
        named["x"] = [b]
        named["y"] = named["x"]
    else:
        named["y"] = [1]
    named["x"][0] = 5
    return named["y"][0]


def replaced_and_named_again(a: Any, b: Any) -> Any:
    items = [1, a, b]
    other = items
    for i in range(b):
        items = [v + 1 for v in items]
        if i > 1:
            other[0] = i
            other = items
    return items[0]


@pytest.mark.parametrize("function", [held_twice, replaced_and_named_again])
def test_a_change_that_might_show_under_one_name_only_is_refused(function: Any) -> None:
    with pytest.raises(autoconv.errors.StagingError, match="a list is changed"):
        autoconv.function(function)(autoconv.constant(3), autoconv.constant(2))
