"""Lists under two names that branches and loops make, replace or change, under `@autoconv.function`."""

from __future__ import annotations

from typing import Any

import pytest

import autoconv


class Holder:
    items: Any


def named_in_one_arm(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = [0]
    if a > b:
        items = [*items]
        alias = items
    items.append(b)
    return (len(alias), len(items))


def named_in_both_arms(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = [0]
    if a > b:
        items = [a, b]
        alias = items
    else:
        items = [b, a]
        alias = items
    items[0] = 50
    return (alias[0], items[0])


def named_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = 1
    if a > b:
        items = [a]
    for _ in range(a):
        alias = items
    if a > 0:
        alias[0] = 10
    return items[0]


def captured_and_changed_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    for _ in range(a):
        items[b % 3] = 8
        items = [*items]
    return alias[0], alias[1], alias[2], (lambda: len(items))()


def swapped_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    n = 0
    while n < a % 5:
        n += 1
        items = [v + 1 for v in items]
        items, alias = (alias, items)
    alias[0] = b
    return (lambda: (items[0], alias[0]))()


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
    alias = [0, 0, 0]
    if a > 0:
        items = [a, a, a]
        if b > 2:
            items = [b, b, b, b]
        alias = items
    alias[0] = 70
    return (items[0], alias[0], len(items))


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
    alias = [0, 0]
    for p in range(b):
        items[1] = items[p % 3] + 1
        alias = items
    return (items, alias[1])


def two_names_swapped_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    n = 0
    while n < b:
        n += 1
        items[0] = b - n
        items, alias = (alias, items)
    return (items, alias[0])


def grown_and_replaced_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    if a > b:
        items.insert(0, 1)
    for _ in range(b):
        items = [*items]
    alias[0] = 8
    return items[0], alias[0], len(alias)


def grown_and_swapped_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    if 0 < b <= 1:
        items.insert(0, 1)
    for _ in range(a):
        items = [v + 1 for v in items]
        items, alias = alias, items
    alias[0] = b
    return items[0], alias[0]


def grown_and_replaced_where_the_test_assigns(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    if 0 < b <= 1:
        items.insert(0, 1)
    n = 0
    while (n := n + 1) < a % 5:
        items = [v + 1 for v in items]
    alias[0] = b
    return items[0], alias[0], len(items)


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
    alias = items
    for i in range(b):
        items = [v + 1 for v in items]
        if i > 1:
            alias[0] = i
            alias = items
    return items[0]


def replaced_in_one_arm_and_changed_in_another(a: Any, b: Any) -> Any:
    rows, named = [[1, a], [b, 2]], {"q": [b, 1]}
    if a > 4:
        rows[b % 2][1] = a
    elif a > b:
        rows[1] = [a, b]
        named["q"] = rows[1]
    named["q"][0] = 60
    return rows[0][0], rows[1][0], named["q"][1]


def named_and_grown_in_a_loop(a: Any, b: Any) -> Any:
    items = [1, a, b]
    alias = items
    for p in range(b):
        if p > 1:
            alias = items
        if p % 2 == 0:
            items = [*items[1:], p]
        else:
            items[1] = 7 * p
    return items[0], items[1], alias[0], alias[1], alias[2]


def shared_under_a_key_in_a_loop(a: Any, b: Any) -> Any:
    named = {"x": [a], "y": [b]}
    for p in range(a):
        named["x"] = [p]
        if p > 1:
            named["y"] = named["x"]
        named["y"][0] += 10
    return named["x"][0], named["y"][0]


def one_of_several_lists_is_iterated(a: Any, b: Any) -> Any:
    items = [1, a, b]
    if a > b:
        items = [*items[1:], a, a]
    total = 0
    for v in items:
        total += v
    return total, any(v > b for v in items), b in items, sum(v * v for v in items)


def one_of_two_lists_is_searched(a: Any, b: Any) -> Any:
    items = [1, a, b]
    if a > b:
        items = [*items[1:], a]
    last = 0
    for v in items:
        last = v
        if last > b:
            break
    return any(v > b for v in items), last


def named_in_a_try(a: Any, b: Any) -> Any:
    x, y = [1], [2]
    try:
        if a > 5:
            raise ValueError("large")
        x = [a]
        y = x
    except ValueError:
        x = [9, 9]
    y[0] = b
    return x[0]


def one_of_two_dicts_gets_a_list_in_a_loop(a: Any, b: Any) -> Any:
    named = {"p": a, "q": [b, 1]}
    first = named["q"]
    for n in range(a):
        if n > b:
            named = {**named, "p": b}
        named["q"] = [n, a]
        if n == 4:
            named["q"][1] += 3
    return named["q"][0], named["q"][1], named["p"], first[0]


def a_dict_with_lists_named_in_a_loop(a: Any, b: Any) -> Any:
    named = {"x": [1]}
    alias = named
    for i in range(a):
        if i > 1:
            alias = {"x": [i]}
            named = alias
        if i > 2:
            named = {"x": [b + i]}
        alias["x"][0] += i
    return named["x"][0], alias["x"][0]


def a_tuple_with_a_named_list_in_a_loop(a: Any, b: Any) -> Any:
    known = [1]
    pair = known, 0
    for i in range(a):
        pair = ([b + i], i) if i > 1 else (pair[0], i)
        pair[0][0] += 1
    return known[0], pair[0][0], pair[1]


def replaced_by_a_list_of_constants_in_a_loop(a: Any, b: Any) -> Any:
    named = {"q": [b, 1]}
    first = named["q"]
    for j in (1, 2):
        for _ in range(a):
            named["q"] = [j, 0]
        named["q"][1] += b
    return named["q"][0], named["q"][1], first[1]


FUNCTIONS = [
    replaced_by_a_list_of_constants_in_a_loop,
    a_tuple_with_a_named_list_in_a_loop,
    named_in_a_try,
    a_dict_with_lists_named_in_a_loop,
    one_of_two_dicts_gets_a_list_in_a_loop,
    held_twice,
    replaced_and_named_again,
    replaced_in_one_arm_and_changed_in_another,
    named_and_grown_in_a_loop,
    shared_under_a_key_in_a_loop,
    one_of_several_lists_is_iterated,
    one_of_two_lists_is_searched,
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


