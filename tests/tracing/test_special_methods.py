"""Operators and properties of the user's own classes under `compile` are part of the graph and run on every call."""

import numpy
import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls


def test_operators_that_decide_and_write():
    log = []

    class Money:
        def __init__(self, cents):
            self.cents = cents

        def __add__(self, other):
            log.append(("add", other.cents))
            if other.cents > 100:
                return Money(self.cents)
            return Money(self.cents + other.cents)

        def __lt__(self, other):
            return self.cents < other.cents

        @property
        def whole(self):
            log.append("whole")
            return self.cents // 100 if self.cents > 0 else -1

    def f(n):
        total = Money(0)
        for i in range(n):
            total = total + Money(i * 60)
        return total.cents, total.whole, total < Money(61), len(log)

    compiled = ac.compile(f)
    found = [compiled(n) for n in (0, 2, 4)]
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()
    seen = list(log)
    log.clear()
    assert [f(n) for n in (0, 2, 4)] == found
    assert log == seen


def test_classes_are_unchanged_after_a_trace():
    class Box:
        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            return Box(self.n + other)

        @property
        def double(self):
            return self.n * 2

    before = dict(vars(Box))
    compiled = ac.compile(lambda n: (Box(n) + n).double)
    assert compiled(3) == 12
    assert dict(vars(Box)) == before


def test_items_and_calls():
    class Table:
        def __init__(self):
            self.rows = {}

        def __getitem__(self, key):
            return self.rows.get(key, 0)

        def __setitem__(self, key, value):
            if value > 3:
                self.rows[key] = value

        def __call__(self, key):
            return -self[key] if key > 1 else key

    def f(n):
        table = Table()
        for i in range(n):
            table[i] = i * 2
        return table[2], table(2), table(1), table.rows

    check_calls(f, (0,), (3,), (5,))


def test_inequality_by_the_equality_of_a_class():
    class Version:
        scale = 2

        def __init__(self, number):
            self.number = number

        def __eq__(self, other):
            return self.number == (other.number if isinstance(other, Version) else other)

        __hash__ = None

    class Silent:
        def __eq__(self, other):
            return NotImplemented

        __hash__ = None

    def f(a, b):
        x, silent = Version(a), Silent()
        found = [x != b, b != x, x != Version(b), x != 1, x != silent, silent != x, silent != a]
        if x != b:
            found.append("differs")
        return found, [x] != [Version(b)], (x, 1) != (b, 1)

    check_calls(f, (1, 2), (2, 2), (0, 1))
    assert Version.__ne__ is object.__ne__

    def written(a):
        Version.scale = a
        return Version.scale + 1

    check_calls(written, (0,), (3,), (5,))


class Reading:
    """An object whose special methods all read a value known only at run time."""

    def __init__(self, n):
        self.value = None
        if n > 0:
            self.value = n

    def __str__(self):
        return "nothing" if self.value is None else "something"

    __repr__ = __str__

    def __format__(self, spec):
        return f"{self.value is None}"

    def __hash__(self):
        return 1 if self.value is None else 2

    def __index__(self):
        return 0 if self.value is None else 1

    __int__ = __index__

    def __float__(self):
        return 0.0 if self.value is None else 1.0

    def __iter__(self):
        return iter([1]) if self.value is None else iter([2, 3])

    def __reversed__(self):
        return iter([1]) if self.value is None else iter([3, 2])

    def __getattr__(self, name):
        if name.startswith("__") or self.value is None:
            raise AttributeError(name)
        return 2


CALLS_OF_SPECIAL_METHODS = {
    "str": str, "repr": repr, "format": "{}".format, "f-string": lambda x: f"{x}", "hash": hash, "int": int,
    "float": float, "index": lambda x: [5, 6][x], "list": list, "reversed": lambda x: list(reversed(x)),
    "in": lambda x: 2 in x, "unpacked": lambda x: [*x], "in a list": lambda x: str([x]), "sum": sum,
    "getattr": lambda x: getattr(x, "other", 9), "hasattr": lambda x: hasattr(x, "other"),
    "for": lambda x: [item + 1 for item in x], "range": lambda x: list(range(x)),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS_OF_SPECIAL_METHODS.values(), ids=CALLS_OF_SPECIAL_METHODS)
def test_special_methods_called_by_python_read_values_of_the_run(call):
    compiled = ac.compile(lambda n: call(Reading(n)))
    for n in (1, -1, 3):
        assert compiled(n) == call(Reading(n))


class Chain:
    def __init__(self, value):
        self.value, self.next = value, None

    def __iter__(self):
        link = self
        while link is not None:
            yield link.value
            link = link.next


def test_a_generator_for_iter_is_part_of_the_graph():
    def program(n):
        chain = Chain(n)
        if n > 0:
            chain.next = Chain(3)
        found = []
        for value in chain:
            found.append(value)
        return found

    check_calls(program, (1,), (-1,), (3,))


class Ends:
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return self

    def __next__(self):
        if self.count > 0:
            raise StopIteration
        raise ValueError("no count")


def test_an_iterator_that_only_raises_may_end():
    def total(x):
        result = 0
        for item in Ends(x.sum()):
            result += item
        return result

    compiled = ac.compile(total)
    assert compiled(numpy.arange(3)) == 0
    with pytest.raises(ValueError, match="no count"):
        compiled(-numpy.arange(3))
