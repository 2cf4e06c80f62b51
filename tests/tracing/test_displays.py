"""Stars and double stars in displays, and assignments to starred names, of a value known only at run time."""

# ruff: noqa: E741, RUF059 - what people write is what is tested

import numpy as np

import autoconv as ac
from tests.tracing.test_objects import check_calls, outcome

CALLS = (1, 2), (-1, 3), (0, 0)


def test_starred_parts():
    def f(a, b):
        known, grown, table = (1, a), [1, 2], {1: 2}
        if a > 0:
            grown.append(b)
            table[b] = 4
        return (
            [a, *range(b), b], (a, *range(b)), {a, *range(b)}, [*grown], [*grown, *grown, 5], (*grown, a), [*known, a],
            {*known, a}, [*(i * a for i in grown)], [*"ab", a], [*table, *table.values()], [*[a, b], *(b,)],
            {**table, 5: a}, {a: 1, **table, 7: b}, {**table}, {"x": 1, **table}, {a: b},
        )  # fmt: skip

    check_calls(f, *CALLS)


def test_parts_are_evaluated_in_order():
    def f(a, b):
        grown = [1]
        if a > 0:
            grown.append(b)

        def change():
            grown.append(7)
            return a

        return [*grown, change(), *grown]

    check_calls(f, *CALLS)


def test_starred_parts_of_iterables_and_objects_with_items():
    def f(a, b):
        total = 0
        for k in [b, *[i for i in range(4) if i < a]]:
            total = total * 3 + k
        p, *q = [b, *[i for i in range(4) if i > a]]
        try:
            x, y = [4, *[i for i in range(2) if i == a]]
        except ValueError as error:
            x = y = str(error)
        found = [i for k in [b, *[2 for j in range(3) if a]] for i in range(k)]
        nested = [0, *[*[i * b for i in range(a)], 5]]
        return total, p, q, x, y, found, b in [3, *[i for i in range(9) if i > a]], nested

    check_calls(f, *CALLS)


def test_starred_names():
    def f(a, b):
        grown = [1, 2]
        if a > 0:
            grown.append(b)
        chosen = grown if b > 2 else (3, a)
        first, *rest = grown
        *most, last = chosen
        x, *y, z = range(b + 3)
        by_number = {}
        p, *by_number["rest"] = grown
        found = []
        for u, *v in [(a, b), grown, "ab"]:
            found.append((u, v))
        try:
            k, l, *m, n = grown
        except ValueError as error:
            m = str(error)
        q, r, *s = (i for i in [a, b])
        return first, rest, most, last, x, y, z, p, by_number, found, m, q, r, s

    check_calls(f, *CALLS)


def test_as_many_names_as_items():
    def f(a, b):
        grown = [1]
        if a > 0:
            grown.append(b)
        try:
            p, q = grown
        except ValueError as error:
            return str(error)
        return p, q

    check_calls(f, *CALLS)


def test_objects_without_items():
    def f(a, b):
        found = []
        try:
            if a > 0:
                p, q = a
            elif b > 0:
                p, *q = b
        except TypeError as error:
            found.append(str(error))
        try:
            found.append([*found, *b])
        except TypeError as error:
            found.append(str(error))
        for act in (lambda: list(a), lambda: len(a), lambda: 1 in a, lambda: a[0], lambda: max(a), lambda: sum(b)):
            try:
                act()
            except TypeError as error:
                found.append(str(error))
        return found

    check_calls(f, *CALLS)


def test_displays_that_are_only_iterated_or_searched():
    def f(a, items):
        seen, total = set(items), 0  # `set` makes the argument an object of the graph
        for item in [*items, a]:
            total = total + item
        first, second, third = [*items, a]
        x, *rest = [*items, len(seen)]
        return (
            total, first, second, third, x, rest, a in [*items, 1], a not in [*items], 3 in [*[*items, a], 3],
            [i * 2 for i in [*items, a]],
        )  # fmt: skip

    check_calls(f, (7, [-2, -3]), (-3, [4, -3]), (4, [4, 4]))


def test_plain_values():
    def f(a, b):
        first, *rest = a
        return [*a, *b], {*a, 1}, {**dict.fromkeys(b), 1: 2}, (*a,), first, rest

    converted = ac.autograph.to_graph(f)
    for arguments in (([1, 2], "ab"), ("x", (3,)), ("", ""), (3, [1])):
        assert outcome(converted, arguments) == outcome(f, arguments)


def test_only_mappings_are_spread_in_dicts():
    def f(n):
        items = []
        for i in range(n):
            items.append([("a", i)])
        chosen = {"a": n} if n > 3 else items[n - 1]
        return {**chosen, "b": 1}

    check_calls(f, (4,), (3,), (2,))


class Grid:
    """Record the indices of items."""

    def __init__(self):
        self.indices = []

    def __getitem__(self, index):
        self.indices.append(index)
        return (7,)

    def __setitem__(self, index, value):
        self.indices.append((index, value))

    def __delitem__(self, index):
        self.indices.append(index)


def test_slices_beside_stars_in_indices():
    def f(a, b):
        grid, steps = Grid(), iter((a, b))
        grid[1:a, *(a, b)] = grid[*(b, a), :, ::-1]
        grid[1:2, *steps, :] += (a,)
        del grid[*(a, b), ::2]
        return grid.indices, grid[*[a], (1, *[b])]

    compiled, converted = ac.compile(f), ac.autograph.to_graph(f)
    for call in CALLS:
        assert compiled(*call) == converted(*call) == f(*call)

    def read(x, i):
        return x[*i, 1:3], x[1:, *i]

    array = np.arange(60).reshape(3, 4, 5)
    compiled = ac.compile(read)
    for index in ((0, 1), (1, 2)):
        assert all(map(np.array_equal, compiled(array, index), read(array, index)))
