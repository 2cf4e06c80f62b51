"""Large lists, tuples and dicts as arguments: results and changes are plain Python's."""

import copy

import pytest

import autoconv

INTS = [i * 7 % 31 - 5 for i in range(40)]
FLOATS = [i * 0.5 - 3 for i in range(40)]
GRID = [[(i * 3 + j) % 7 for j in range(6)] for i in range(6)]


def check(function, *calls):
    """Compare results, exceptions and changed arguments of successive calls; return the compiled function."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        compiled_arguments, plain_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
        assert _outcome(compiled, compiled_arguments) == _outcome(function, plain_arguments)
        assert repr(compiled_arguments) == repr(plain_arguments)
    return compiled


def _outcome(function, arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def total(xs):
    s = 0
    for x in xs:
        s += x
    return s


def largest(xs):
    best = xs[0]
    for x in xs[1:]:
        if x > best:
            best = x
    return best


def test_numbers_of_each_kind_and_mixed_ones():
    mixed = ([*INTS, 0.5],), (INTS + FLOATS,)
    calls = [(INTS,), (FLOATS,), ([True, False] * 12,), *mixed, (tuple(INTS),), ([],), ([1],)]
    check(total, *calls, (INTS,))
    check(largest, *calls, (INTS,))


def test_ints_beyond_64_bits():
    check(total, (INTS,), ([*INTS, 2**70],), ([2**62] * 20,), (INTS,))


def test_one_trace_for_every_length():
    compiled = check(total, (INTS,), (INTS + INTS,), (INTS[:20],))
    assert compiled.explain().startswith("total: 1 trace")


def test_changes_between_calls_are_noticed():
    compiled, xs = autoconv.compile(total), list(INTS)
    assert compiled(xs) == total(xs)
    xs[3] = 1000
    assert compiled(xs) == total(xs)
    xs.append(2.5)
    assert compiled(xs) == total(xs)


def test_a_returned_list_is_the_argument():
    def longest(xs, ys):
        return xs if len(xs) >= len(ys) else ys

    compiled, second = autoconv.compile(longest), INTS + INTS
    assert compiled(INTS, second) is second and compiled(second, INTS) is second

    def cut(xs, n):
        if n >= len(xs):
            return xs
        return xs[:n]

    compiled = autoconv.compile(cut)
    assert compiled(INTS, 100) is INTS
    assert compiled(INTS, 3) == INTS[:3]


def test_a_returned_row_is_the_row_of_the_argument():
    compiled = autoconv.compile(lambda rows, i: rows[i])
    assert compiled(GRID, 2) is GRID[2] and compiled(GRID, 4) is GRID[4]
    (row_of_result, *_), row = autoconv.compile(lambda rows, xs: ([xs, [1]], rows[0]))(GRID, INTS)
    assert row_of_result is INTS and row is GRID[0]
    assert autoconv.compile(lambda rows: [rows[1], [2]])(GRID)[0] is GRID[1]


def test_writes_change_the_callers_list():
    def smooth(xs):
        for i in range(1, len(xs)):
            xs[i] += xs[i - 1]
        return len(xs)

    def fails_in_between(xs):
        for i in range(len(xs)):
            xs[i] = 100 // xs[i]

    check(smooth, (INTS,), (FLOATS,))
    check(fails_in_between, ([5, 4, 3, 0, 2] * 5,))


def test_two_names_of_one_list():
    def spread(xs, ys):
        s = 0
        for i in range(len(xs)):
            ys[i] = s
            s += xs[i]
        return s

    compiled = autoconv.compile(spread)
    compiled_xs, plain_xs = list(INTS), list(INTS)
    assert compiled(compiled_xs, compiled_xs) == spread(plain_xs, plain_xs) and compiled_xs == plain_xs
    compiled_xs, plain_xs, compiled_ys, plain_ys = list(INTS), list(INTS), [0] * 40, [0] * 40
    assert compiled(compiled_xs, compiled_ys) == spread(plain_xs, plain_ys)
    assert (compiled_xs, compiled_ys) == (plain_xs, plain_ys)

    def dot(xs, ys):
        return sum(x * y for x, y in zip(xs, ys, strict=True))

    assert autoconv.compile(dot)(INTS, INTS) == dot(INTS, INTS)


def test_a_list_within_another_argument():
    def append(xs, pair):
        pair[0].append(1)
        return len(xs)

    compiled = autoconv.compile(append)
    for _ in range(2):
        xs = list(INTS)
        assert compiled(xs, (xs, 2)) == 41 and len(xs) == 41


def test_small_lists_that_are_given_twice():
    def count(rows):
        rows[0][0] += 1
        return sum(row[0] for row in rows)

    row = [1, 2]
    rows = [row, row, [5, 6]]
    assert autoconv.compile(count)(rows) == 9 and row == [2, 2]


def test_rows():
    def through(rows):
        return sum(rows[i][j] * rows[j][i] for i in range(len(rows)) for j in range(len(rows)))

    def sums(rows):
        return [sum(row) for row in rows]

    ragged = [[1, 2, 3], [4], [], [5, 6]] * 5
    check(through, (GRID,), ([[0.5] * 6] * 6,), (ragged,), (GRID[:3] + [[1, 2.5, 3]] * 3,), (GRID,))
    check(sums, (GRID,), (ragged,), ([[True] * 5] * 5,), ([1] * 20,), ([[1], "ab"] * 10,))


def test_errors_are_pythons():
    def item(xs, i):
        return xs[i]

    check(item, (INTS, 3), (INTS, -40), (INTS, 40), (INTS, -41), (INTS, 2.0), (GRID, 9))
    check(lambda xs: 1 // xs[5], ([1, 2, 3, 4, 5, 0] * 5,))


def test_dicts_and_texts():
    def look(table, key):
        return table[key] + len(table)

    table = {i: i * i for i in range(40)}
    check(look, (table, 3), (table, 50), ({str(i): i for i in range(30)}, "7"))
    check(lambda words: [w.upper() for w in words if len(w) > 2], (["a", "abc", "abcd"] * 10,))


def test_lists_of_objects_of_any_class():
    class Item:
        def __init__(self, value):
            self.value = value

    items = [Item(i) for i in range(20)]
    assert autoconv.compile(lambda xs: sum(x.value for x in xs))(items) == 190
    check(lambda xs: [x for x in xs if x is not None], ([None, 1, "a", 2.5] * 6,))


class Numbers(list):
    pass


def test_a_subclass_of_list():
    assert autoconv.compile(total)(Numbers(INTS)) == total(INTS)


@pytest.mark.parametrize("values", [(2, 3), (1, 40)])
def test_sums_that_may_exceed_64_bits(values):
    def product(xs, times):
        p = 1
        for x in xs:
            p *= x * times
        return p

    check(product, ([values[0]] * values[1] + [1] * 20, 3), ([7] * 40, 3))


def test_sorting_and_searching():
    def quicksort(xs):
        if len(xs) <= 1:
            return xs
        p = xs[0]
        left = [x for x in xs[1:] if x < p]
        right = [x for x in xs[1:] if x >= p]
        return quicksort(left) + [p] + quicksort(right)  # noqa: RUF005

    compiled = check(quicksort, (INTS,), (FLOATS,), (INTS[::-1],), ([*INTS, 0.5],))
    few = [3]
    assert compiled(few) is few
