"""Sums of objects with `__add__` and `__radd__` in lists known only at run time: loops of the graph."""

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


class Box:
    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        return Box(self.n + (other.n if isinstance(other, Box) else other))

    def __radd__(self, other):
        return Box(self.n + other * 2)

    def __bool__(self):
        self.n += 1
        return self.n > 3


class Refusing:
    """A number that is added to its own class only; for others `__add__` returns NotImplemented."""

    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        if not isinstance(other, Refusing):
            return NotImplemented
        return Refusing(self.n + other.n)

    def __radd__(self, other):
        if other == 0:
            return self
        return NotImplemented


def boxes(a, b):
    numbers = [3, a]
    items = []
    while b > 0:
        b -= 1
        numbers.append(b)
        items.append(Box(b))
    return sum(numbers), sum(numbers[1:], a), sum(items).n if items else 0


def among_numbers(a, b):
    numbers = [0]
    box = Box(a)
    while b > 0:
        b -= 1
        if b == 2:
            return numbers[:], sum(numbers), box.n
        numbers.append(sum([a, 2, b]))
    numbers[0] = box
    return numbers[1:], sum(numbers, 1).n, box.n


def quantified(a, b):
    items = []
    while b > 0:
        b -= 1
        items.append(Box(b))
    found = any(items), all(items)
    return found, [box.n for box in items]


def with_text(a, b):
    items = []
    while b > 0:
        b -= 1
        items.append(Box(b))
        items.append("x")
    return sum(items)


def left_to_the_reflected_method(a, b):
    items = []
    while b > 0:
        b -= 1
        items.append(Refusing(b))
        if b == a:
            items.append(a)
    return sum(items).n if items else -1


@pytest.mark.parametrize("program", [boxes, among_numbers, quantified, with_text, left_to_the_reflected_method])
def test_items_with_operators_of_their_own(program):
    compiled = autoconv.compile(program)
    for arguments in [(1, 2), (5, 1), (0, 3), (0, 0), (3, 0), (6, 6), (-1, 1)]:
        assert result_or_error(compiled, *arguments) == result_or_error(program, *arguments), arguments
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()
