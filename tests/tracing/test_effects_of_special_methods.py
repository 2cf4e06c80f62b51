"""Special methods that Python calls on items of lists, and writes of nested functions, have effects on every call."""

from __future__ import annotations

import collections
import dataclasses
import linecache
import random

import pytest

import autoconv
from autoconv.operators.support.read_only_methods import may_write

N = 0


def bump(*_):
    global N
    N += 1
    return N


class Adds:
    def __init__(self):
        self.count = 0

    def __radd__(self, other):
        bump()
        return N + other

    def __lt__(self, other):
        bump()
        return self.count < other.count

    def __repr__(self):
        bump()
        return f"<{N}>"

    def __hash__(self):
        bump()
        return 7

    def __iter__(self):
        self.count = self.count + 1
        return iter(("a", str(self.count)))


ADDING = [Adds(), Adds()]


@pytest.mark.parametrize(
    "value",
    ["sum([q])", "sum((q, ))", "sorted([q, q]) and 1", "max([q, q]) and 1", "str([q])", "f'{[q]}'", "len({q})",
     "len({q: 1})", "repr((q,))", "[q, q].sort()", "len(set([q]))", "print(q)", "print([q])"],
)  # fmt: skip
def test_special_methods_of_items_of_a_new_list_write_on_every_call(value, capsys):
    global N
    source = "def f(x, o=None):\n    y = [x]\n    for i in range(3):\n        q = next(q for q in ADDING)\n"
    source += f"        y.append({value})\n    return y\n"
    name = f"<special methods: {value}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), globals())
    compiled, found = autoconv.compile(f), []  # noqa: F821
    for _ in range(2):
        for function in (f, compiled):  # noqa: F821
            N = 0
            found.append((function(1.5, Adds()), N, capsys.readouterr().out))
        ADDING.append(ADDING[0])
    assert found[0] == found[1] and found[2] == found[3]


def test_a_refusal_does_not_become_an_error_of_python():
    def in_a_generator(x, o=None):
        return tuple((",".join(ADDING[0]), x) for _ in range(2))

    def in_a_handler(x, o=None):
        try:
            return ",".join(ADDING[0]), x
        except TypeError:
            return "", x

    for function in (in_a_generator, in_a_handler):
        compiled = autoconv.compile(function)
        for _ in range(3):
            ADDING[0].count = 0
            expected = function(1.5, Adds()), ADDING[0].count
            ADDING[0].count = 0
            assert (compiled(1.5, Adds()), ADDING[0].count) == expected
        assert "the __iter__ of an Adds writes" in compiled.explain()


def test_writes_of_nested_functions_are_writes():
    class Counted:
        def __eq__(self, other):
            def note():
                self.count = 1

            note()
            return True

        __hash__ = None

        def __lt__(self, other):
            return [x + 1 for x in (1, 2)] < [other]

        def __len__(self):
            setattr(self, "count", 1)  # noqa: B010
            return 1

        def __add__(self, other):
            return random.randint(1, other)

        def __bool__(self):
            self.log.append(1)
            return True

    assert may_write(Counted.__eq__, (Counted,))
    assert may_write(Counted.__len__, (Counted,))
    assert may_write(Counted.__add__, (Counted,))
    assert may_write(Counted.__bool__, (Counted,))
    assert not may_write(Counted.__lt__, (Counted,))


@pytest.mark.parametrize(
    ("statement", "is_write"),
    [("self.value = value", False), ("self.value = self.count = value", False), ("value.count = 1", True),
     ("value[0] = self", True), ("value.append(self)", True), ("self = value; self.count = 1", True),
     ("del value.count", True), ("self.value.count = 1", True)],
)  # fmt: skip
def test_a_new_object_writes_to_others_while_it_is_initialised(statement, is_write):
    names = {}
    exec(f"class Made:\n def __init__(self, value):\n  {statement}\ndef make(self, other):\n return Made(other)", names)
    assert may_write(names["make"], ()) == is_write


def test_a_write_to_an_item_of_a_sorted_list_changes_the_present_object():
    def count(x, counter):
        counter["a"] += 1
        found = sorted(counters, key=lambda item: 1)[1]
        found["a"] += 1
        return len(found) + x

    compiled = autoconv.compile(count)
    counters, counter = [collections.Counter("aab"), collections.Counter("aab")], collections.Counter("a")
    for turn in range(6):
        if turn in (2, 4):
            counters[1] = collections.Counter("aab")
        before = counters[1]["a"]
        assert compiled(1.5, counter) == 3.5
        assert (counters[1]["a"], counter["a"]) == (before + 1, turn + 2)


def test_a_try_that_changes_an_object_that_refers_to_itself():
    class Node:
        pass

    @dataclasses.dataclass(eq=False)
    class Linked:
        value: int
        next: object = None
        plain_list: object = None

    def change(head, items, k):
        head.next.next = head
        head.other = head
        try:
            items[k] = head.next
            found = head.other
            head.value += 1
            head.other = Node()
        except IndexError:
            found = head.next
        return found.value

    compiled = autoconv.compile(change)
    for k in (0, 1, 3, 0):
        compiled_list, plain_list = Linked(1, Linked(5)), Linked(1, Linked(5))
        assert compiled(plain_list, [0], k) == change(compiled_list, [0], k)
        assert (plain_list.value, plain_list.next.next is plain_list) == (compiled_list.value, True)


@pytest.mark.parametrize("kind", [collections.OrderedDict, collections.Counter, dict])
def test_another_order_of_the_keys_of_an_argument_is_a_change(kind):
    def reordered(x, table):
        if kind is collections.OrderedDict:
            table.move_to_end("a")
        else:
            table["a"] = table.pop("a")
        return list(table), x

    compiled = autoconv.compile(reordered)
    found, wanted = kind(a=1, b=2, c=3), kind(a=1, b=2, c=3)
    for x in (1.5, 2.5, 3):
        assert compiled(x, found) == reordered(x, wanted)
        assert list(found) == list(wanted)
        found["b"] = wanted["b"] = found.pop("b") and wanted.pop("b")


class CountsKeys:
    def keys(self):
        bump()
        return ["a"]

    def __getitem__(self, name):
        return 5


MAPPINGS = {"k": CountsKeys()}


@pytest.mark.parametrize("make", [dict, collections.OrderedDict, lambda found: {**found}])
def test_keys_that_write_are_called_for_mappings_under_a_condition(make):
    global N

    def program(x):
        found = {"a": 0}
        if x < 2:
            found = make(MAPPINGS["k"])
        return found["a"], x

    counts = []
    for function in (program, autoconv.compile(program)):
        N = 0
        counts.append([(function(x), N) for x in (1.5, 2.5, -1.0)])
    assert counts[0] == counts[1]


class Multiplies:
    def __mul__(self, other):
        return other * bump()


def count_and_multiply(items, position, x):
    global N
    items.append(1)
    N += 1
    return items[position] * x + N


def test_special_method_of_an_item_of_a_list_argument_writes_a_name_that_the_function_writes():
    global N
    compiled = autoconv.compile(count_and_multiply)
    results = []
    for function in (count_and_multiply, compiled):
        N = 0
        results.append([function([Multiplies(), Multiplies()], i, 3.0) for i in (0, 0, 1)] + [N])
    assert results[0] == results[1] == [8.0, 16.0, 24.0, 6]
