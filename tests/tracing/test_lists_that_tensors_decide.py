"""Lists under `@autoconv.function` whose length, or whose choice among several, a tensor decides."""

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


def one_of_two_shared(a: Any, b: Any) -> Any:
    """The generator expression makes `items` a variable that arms write in place."""
    items = [1, a, b]
    if any(v > 3 for v in items):
        items = [*items, a]
    if a < 2:
        items = [v + 1 for v in items]
    else:
        items[0] += 4
    return items[0]


class Holder:
    def __init__(self, items: Any) -> None:
        self.items = items


def one_of_two_in_attribute(a: Any, b: Any) -> Any:
    holder = Holder([1, a, b])
    if b > 3:
        holder.items = [*holder.items, a]
    if a < 2:
        holder.items = [v + 1 for v in holder.items]
    else:
        holder.items[0] += 4
    return holder.items[0]


def changed_in_inner_arm(a: Any, b: Any) -> Any:
    """`items` leaves the outer arm as one of two kinds of values, one of which is a list made in that arm."""
    items, sums = [1, a, b], [0]
    if a <= b:
        items = [b, b]
        if b > 4:
            items = sums
        else:
            items[0] += 1
    return items[0]


def shortened_after_a_change(a: Any, b: Any) -> Any:
    """The list in the loop has items that the enclosing arm computes."""
    items = [1, a, b]
    if a > 0:
        items[1] = a * 2
        while items[0] < b:
            items = items[1:]
    return items[0]


def spread_and_searched(a: Any, b: Any) -> Any:
    items = [a, b]
    if a > b:
        items = [b, 4, a]
    spread = [0, *items, b]
    spread.remove(b)
    return spread[-2], len(spread), items.index(b), items.count(b), isinstance(items, list), isinstance(items, tuple)


def spread_of_one_length(a: Any, b: Any) -> Any:
    items = [a, b]
    if a > b:
        items = [b, 4]
    return max(*[a, b], *items), (lambda *values: len(values))(a, *[b, b])


def converted_to_tensors(a: Any, b: Any) -> Any:
    items = [a, b]
    if a > b:
        items = [b, 4, a]
    return [sum(items), sum(items), len(items)] if isinstance(a, int) else _by_tensors(items)


def _by_tensors(items: Any) -> Any:
    return [autoconv.reduce_sum(items), autoconv.add_n(items), autoconv.size(autoconv.stack(items))]


def extended_by_itself(a: Any, b: Any) -> Any:
    items = [a, b]
    if a > b:
        items += [2]
    items.extend(items)
    return len(items), items[0], items[-1]


def starred_targets(a: Any, b: Any) -> Any:
    items, named = [a, b], {}
    if a > b:
        items += [2]
    first, *rest = items
    *others, last = items
    named["c"], *named["d"] = a, b, a
    if a > 2:
        rest[0] = 100
        named["d"][0] = named["c"] + 1
    return first, rest[0], len(rest), len(others), last, named["d"][0]


def starred_target_of_a_loop(a: Any, b: Any) -> Any:
    items = []
    for i in range(b):
        items.append(i * a)
    try:
        first, *rest, last = items
    except ValueError:
        return -1, -1, -1
    return first, len(rest), last


def changes_in_loop_over_it(a: Any, b: Any) -> Any:
    items, total = [1, 2, 3], 0
    for item in items:
        if item > a:
            break
        items[2] = b
        total = total * 10 + item
    else:
        total += 1000
    return items, total


def changes_in_longer_loop_over_it(a: Any, b: Any) -> Any:
    items, total = [1, 2, 3, 4, 5, 6, 7], 0
    for item in items:
        if total > 100 * a:
            break
        items[3 - a % 2] = b
        total = total * 10 + item
    return items, total


def grows_in_loop_over_it(a: Any, b: Any) -> Any:
    items = [1, 2, a]
    for item in items:
        if item > 3:
            break
        if len(items) < 9:
            items.append(item + 2)
    return items


@pytest.mark.parametrize(
    "function",
    [
        extended_by_itself,
        starred_targets,
        starred_target_of_a_loop,
        spread_and_searched,
        spread_of_one_length,
        converted_to_tensors,
        shortened_after_a_change,
        changes_in_loop_over_it,
        changes_in_longer_loop_over_it,
        grows_in_loop_over_it,
        shortened,
        turned,
        contains,
        one_of_two,
        one_of_two_shared,
        one_of_two_in_attribute,
        changed_in_inner_arm,
    ],
)
@pytest.mark.parametrize("call", [(3, 0), (0, 5), (2, 1), (4, 2)])
@pytest.mark.search
def test_agrees_with_python(function: Any, call: tuple[int, int]) -> None:
    found = autoconv.function(function)(*map(autoconv.constant, call))
    assert autoconv.nest.map_structure(int, found) == autoconv.nest.map_structure(int, function(*call))


def rows_changed(a: Any, b: Any) -> Any:
    grid = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    total = 0
    for i in range(a % 4):
        for j in range(3):
            if grid[j][i % 3] > b:
                total += grid[i % 3][j]
                grid[j][i % 3] = total
    grid[b % 3] = [b, a, b]
    return total, grid


def reached(a: Any, b: Any) -> Any:
    after, seen, stack = [[1], [0, 2], [1]], [0, 0, 0], [a % 3]
    while len(stack) > 0:
        node = stack.pop()
        if seen[node] == 0:
            seen[node] = b
            for successor in after[node]:
                stack.append(successor)
    return seen


def of_other_kinds(a: Any, b: Any) -> Any:
    records, pairs = [{"v": a}, {"v": b}], [(1, a), (b, 2)]
    records[a % 2]["v"] += 5
    x, y = pairs[b % 2]
    return records, x, y, len(["x", "yy", "zzz"][a % 3])


@pytest.mark.parametrize("function", [rows_changed, reached, of_other_kinds])
@pytest.mark.parametrize("call", [(3, 1), (0, 5), (2, 1), (4, 2)])
@pytest.mark.search
def test_a_tensor_chooses_the_item(function: Any, call: tuple[int, int]) -> None:
    found = autoconv.function(function)(*map(autoconv.constant, call))
    assert autoconv.nest.map_structure(int, found) == autoconv.nest.map_structure(int, function(*call))
