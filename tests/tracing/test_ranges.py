"""Under `compile`, ranges with a computed end have the results of Python's ranges, and numbers are no containers."""

import collections.abc
import itertools
import typing

import numpy as np
import pytest

import autoconv


def outcome(function, arguments):
    try:
        found = function(*arguments)
    except Exception as error:
        return repr(error)
    return repr(found)


def truth(n):
    return "some" if range(n) else "none", not range(n), bool(range(n))


def equality(n):
    return range(n) == range(0, n, 1), range(n) != range(3), range(3) == range(n), range(n) in [range(3)]


def inside_of_tuples(n):
    return (range(n), 1) == (range(3), 1)


def kind(n):
    numbers = range(n)
    return (
        isinstance(numbers, range),
        isinstance(numbers, collections.abc.Sequence),
        isinstance(numbers, (int, list)),
        type(numbers) is range,
        type(zip(numbers)) is zip,
        type(enumerate(numbers)) is enumerate,
    )


def text(n):
    return f"{range(n)}", str(range(1, n)), repr(range(n, 0, -1)), f"{range(n)!r:>20}"


def items(n):
    numbers = range(n)
    return numbers[-1], numbers[0], numbers.index(n - 1), range(0, n, 2).count(2), numbers[1:3]


def slices(n):
    numbers, total = range(n), 0
    for i in numbers[1:]:
        total += i
    return total, [*zip(numbers[::-1], "ab", strict=False)], len(numbers), numbers.start, numbers.stop


def windows(xs, k):
    starts = range(len(xs) - k + 1)
    if not starts:
        return None
    return max(sum(xs[i : i + k]) for i in starts)


@pytest.mark.parametrize("function", [truth, equality, inside_of_tuples, kind, text, items, slices])
def test_results_of_ranges(function):
    compiled = autoconv.compile(function)
    for n in (3, 0, 5, 1, 3):
        assert outcome(compiled, (n,)) == outcome(function, (n,))
    assert "plain Python" not in compiled.explain()


def test_the_truth_of_a_range():
    compiled = autoconv.compile(windows)
    for xs, k in (([1, 2], 5), ([1, 2, 3, 4], 2), ([1, 2, 3, 4], 5)):
        assert compiled(xs, k) == windows(xs, k)


def test_membership_in_a_range():
    def inside(n, x):
        numbers = range(n)
        return (
            2 in numbers, n - 1 in numbers, x in numbers, x in range(1, n, 3), x in range(n, -2, -2),
            x in range(3, 40, 7), x in range(10, 0, -3), x in range(10**5), 2.0 in numbers,
        )  # fmt: skip

    compiled = autoconv.compile(inside)
    numbers = (0, 3, -1, 10, 2.0, 2.5, float("inf"), float("nan"), True, 1j, "a", None)
    for arguments in itertools.product((0, 2, 7, 11), numbers):
        assert outcome(compiled, arguments) == outcome(inside, arguments)


def as_list(x):
    return list(x) if isinstance(x, collections.abc.Iterable) else [x]


def total(xs):
    found = 0
    for x in xs:
        found += sum(x) if isinstance(x, collections.abc.Collection) else x
    return found


def size(x):
    return len(x) if isinstance(x, collections.abc.Sized) else 1


def protocols(x):
    kinds = typing.SupportsIndex, typing.SupportsFloat, typing.SupportsInt, typing.SupportsComplex
    return *(isinstance(x, kind) for kind in kinds), isinstance(x, int | str), isinstance(x, object)


@pytest.mark.parametrize("function", [as_list, size, protocols])
@pytest.mark.parametrize("values", [(3, 4), (2.5, 1.0), (1j, 2j), (True, False), ([1, 2], [3])])
def test_protocols_of_numbers(function, values):
    compiled = autoconv.compile(function)
    for value in (*values, *values):
        assert outcome(compiled, (value,)) == outcome(function, (value,))


def test_numbers_in_a_list_are_no_collections():
    compiled = autoconv.compile(total)
    for xs in ([1, 2], [3.5, 4.0], [1, 2, 3]):
        assert compiled(xs) == total(xs)


@pytest.mark.parametrize("xs", [[1, 2, 3], (1, 2, 3), [1.0, 2.0], [1, 2.0], [np.float64(1), 2.0], range(3), "abc"])
def test_errors_of_positions_are_those_of_the_sequence(xs):
    def item(xs, i):
        return xs[i]

    def caught(xs, i):
        try:
            return xs[i]
        except (IndexError, TypeError) as error:
            return str(error)

    for function in (item, caught):
        compiled = autoconv.compile(function)
        for i in (1, -1, 5, -4, True, 1.0):
            assert outcome(compiled, (xs, i)) == outcome(function, (xs, i))
