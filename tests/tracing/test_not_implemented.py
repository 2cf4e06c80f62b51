"""Special methods that return NotImplemented where a tensor decides: the reflected method becomes an arm."""

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


class Vector:
    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.n + other.n)
        if isinstance(other, int) and other > 2:
            return Vector(self.n + 10 * other)
        return NotImplemented

    def __radd__(self, other):
        if other > 5:
            return NotImplemented
        return Vector(self.n + 100 * other)

    def __iadd__(self, other):
        if other == 3:
            return NotImplemented
        self.n += 1000
        return self

    def __eq__(self, other):
        if self.n > 3:
            return NotImplemented
        return self.n == other

    __hash__ = None

    def __mul__(self, other):
        return self.n * other if other < 4 else NotImplemented

    __rmul__ = __mul__


def sums(a, b):
    items = []
    for i in range(b):
        items.append(Vector(i))
    items.append(a)
    out = []
    for x in items:
        try:
            y = x + a
            out.append(y if isinstance(y, int) else y.n)
        except TypeError as e:
            out.append(str(e))
    return out


def sums_from_the_right(a, b):
    items = []
    for i in range(b):
        items.append(Vector(i))
    out = []
    for x in items:
        try:
            out.append((a + x).n)
        except TypeError as e:
            out.append(str(e))
    return out


def sums_in_place(a, b):
    items = []
    for i in range(b):
        items.append(Vector(i))
    out = []
    for x in items:
        try:
            y = x
            y += a
            out.append((x.n, y.n, x is y))
        except TypeError as e:
            out.append(str(e))
    return out


def equality(a, b):
    items = []
    for i in range(b):
        items.append(Vector(i))
    out = []
    for x in items:
        out.append((x == a, x != a))
    return out


def products_either_way(a, b):
    items = []
    for i in range(b):
        items.append(Vector(i))
    out = []
    for x in items:
        try:
            out.append((x * a, a * x))
        except TypeError as e:
            out.append(str(e))
    return out


def one_of_two_kinds(a, b):
    x = Vector(a) if a > 2 else a
    y = Vector(b)
    try:
        z = x + y
        return z.n
    except TypeError as e:
        return str(e)


def equality_of_one(a, b):
    v = Vector(a)
    return v == b, v != b, b == v, v * 3


def a_sum_of_one(a, b):
    v = Vector(a)
    try:
        w = v + b
        return w.n
    except TypeError as e:
        return str(e)


def a_sum_of_one_from_the_right(a, b):
    v = Vector(a)
    try:
        w = b + v
        return w.n
    except TypeError as e:
        return str(e)


PROGRAMS = [
    sums, sums_from_the_right, sums_in_place, equality, products_either_way, one_of_two_kinds,
    equality_of_one, a_sum_of_one, a_sum_of_one_from_the_right,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_reflected_method_is_called(program):
    compiled = autoconv.compile(program)
    for arguments in [(1, 2), (5, 1), (0, 3), (0, 0), (3, 0), (6, 6), (-1, 1), (2, 2)]:
        assert result_or_error(compiled, *arguments) == result_or_error(program, *arguments), arguments
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()
