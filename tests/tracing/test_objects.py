"""Under `compile`: lists, dicts, text and objects from before the call, as parts of one graph."""

import contextlib
import copy
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autoconv as ac

LOG = []
COUNT = 0


def outcome(function, arguments):
    """Return the result or exception, the printed text, and the arguments afterwards."""
    arguments = copy.deepcopy(arguments)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = "value", repr(function(*arguments))
        except Exception as error:
            result = type(error).__name__, repr(error.args)
    return result, printed.getvalue(), repr(arguments)


def check_calls(function, *calls, traces=1):
    compiled = ac.compile(function)
    for arguments in calls:
        assert outcome(compiled, arguments) == outcome(function, arguments)
    assert compiled.experimental_get_tracing_count() == traces, compiled.explain()
    assert "plain Python" not in compiled.explain()


def test_lists_that_grow():
    def f(n):
        xs = []
        ys = []
        for i in range(n):
            if i % 2 == 0:
                xs.append(i)
            ys = ys + [i, "odd" if i % 2 else None]  # noqa: RUF005
        return xs, ys, len(xs), sum(xs), 4 in xs, xs[-1] if xs else "none"

    check_calls(f, (0,), (1,), (7,), (40,))


def test_dicts_with_computed_keys():
    def f(n):
        counts = {}
        while n > 0:
            counts[n % 3] = counts.get(n % 3, 0) + n
            n -= 1
        total = 0
        for key, value in counts.items():
            total += key * value
        return counts, total, sorted(counts), 2 in counts

    check_calls(f, (0,), (1,), (8,))


def test_a_name_for_one_of_two_lists():
    def f(c):
        a, b = [1], [2]
        v = a if c > 0 else b
        v.append(c)
        return a, b, v

    check_calls(f, (1,), (-1,))


def test_numbers_keep_their_kind():
    def f(c, x):
        y = 1 if c > 0 else 2.5
        s = 0
        for _ in range(c):
            s += 0.5
        return y, y * 2 + x, s, max(0, 2.5 * c), min(c, x), True if c > 1 else 2

    check_calls(f, (1, 2.0), (-1, 3.0), (3, 1.0))


def test_values_of_several_kinds():
    def f(c):
        r = None
        if c > 1:
            r = "a"
        elif c < -1:
            r = (1, c)
        else:
            r = 2.5
        return r, isinstance(r, str), r is None, r if c > 1 else [r]

    check_calls(f, (1,), (-5,), (7,))


def test_text():
    def f(c, x):
        t = f"{c:>5}|{x!r}" + "%d-%s" % (c, x) + str(c)  # noqa: UP031
        if c > 2:
            t += "big"
        print(t, c, [x])
        return t, len(t), t.upper().split("|")

    check_calls(f, (1, 2.5), (3, 0.5))


def test_arguments_are_changed():
    def f(n, log, table):
        log.append("start")
        for i in range(n):
            log.append(i)
            if i % 2:
                log.append(("odd", i))
            table[i] = log[-1]
        if n > 3:
            raise ValueError(f"n={n}")
        return len(log)

    check_calls(f, (1, [], {}), (3, ["x"], {0: "old"}), (5, [], {}))


def test_a_returned_argument_is_the_argument():
    def f(items, n):
        items.append(n)
        return items

    compiled, items = ac.compile(f), []
    assert compiled(items, 1) is items
    assert compiled(items, 2) is items
    assert items == [1, 2]


def test_globals_are_written_on_every_call():
    global COUNT

    def f(n):
        global COUNT
        for i in range(n):
            COUNT += i
        LOG.append(COUNT)
        if n == 3:
            COUNT = -1
            raise KeyError(n)
        return COUNT

    COUNT, compiled = 0, ac.compile(f)
    LOG.clear()
    assert compiled(2) == 1
    with pytest.raises(KeyError):
        compiled(3)
    assert COUNT == -1
    assert compiled(4) == 5
    assert LOG == [1, 4, 5]
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()


def test_outer_names_are_written_on_every_call():
    def make():
        k = 0

        def bump(n):
            nonlocal k
            while n > 0:
                k += 1
                n -= 1
            return k

        return bump

    compiled = ac.compile(make())
    assert [compiled(2), compiled(3), compiled(0)] == [2, 5, 5]
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()


def test_a_counter_of_an_inner_function():
    def f(n):
        c = 0

        def inc():
            nonlocal c
            c += 1
            return c

        for _ in range(n):
            inc()
            inc()
        return c

    check_calls(f, (0,), (3,))


def test_attributes_are_written_on_every_call():
    class Account:
        def __init__(self):
            self.total = 0
            self.history = []

        def add(self, k):
            for i in range(k):
                self.total += i
                if self.total > 3:
                    self.history.append(self.total)
            return self.total

    account, plain = Account(), Account()
    compiled = ac.compile(account.add)
    for k in (3, 4, 0, 2):
        assert compiled(k) == plain.add(k)
        assert vars(account) == vars(plain)
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()


def test_array_arguments_are_changed_in_place():
    def f(v, n):
        w = v
        v[0] = n
        for i in range(n):
            v[i] = v[i - 1] + i
            if v[i] > 10:
                break
        w += 1
        return v

    compiled, plain = ac.compile(f), np.arange(5)
    array = np.arange(5)
    for n in (0, 3, 5):
        assert compiled(array, n) is array
        f(plain, n)
        np.testing.assert_array_equal(array, plain)
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()


def test_an_abandoned_trace_leaves_no_changes():
    def f(a):
        LOG.append(1)
        while True:
            if a:
                break
            if a > (1, 2):
                pass
        return len(LOG)

    LOG.clear()
    compiled = ac.compile(f)
    assert [compiled(1), compiled(2)] == [1, 2]
    assert LOG == [1, 1]


def test_known_lists_that_are_extended_at_run_time():
    def f(a):
        grown = [1]
        if a > 0:
            grown.append(a)
        chosen = [5, a] if a > 1 else (6,)
        first, second, third = [1], [2], [3]
        first += grown
        second.extend(grown)
        third.extend(chosen)
        try:
            joined = [0] + chosen  # noqa: RUF005 - a tuple cannot be added
        except TypeError as error:
            joined = str(error)
        repeated = [1] + [0] * a
        return [1, 2] + grown, grown + [4], first, second, third, joined, [7] + [a for _ in range(a)], repeated  # noqa: RUF005

    check_calls(f, (-1,), (1,), (3,))


def test_known_lists_joined_with_lists_of_the_graph():
    def f(a, b, items):
        seen = set(items)  # `set` makes the argument an object of the graph
        grown = [a for i in range(4) if b > i]
        either = [a] if b > 0 else [a, b, 3]
        sums = [1, 2] + grown, [a] + items, [1] + either, [len(seen)] + [i for i in grown]  # noqa: C416, RUF005
        extended = [1]
        extended.extend(grown)
        extended.extend(either)
        extended += items
        extended += grown
        replaced = [1, 2, 3, 4]
        replaced[1:3] = grown
        grown_list = replaced
        replaced[0:1] = items
        if a > 0:
            grown_list = grown_list + grown
            replaced.append(4)
        return sums, extended, replaced, grown_list

    check_calls(f, (7, 2, [1, 2]), (-3, 1, [2, 3]), (4, -1, [0, 5]))


def test_slices_of_a_list_that_the_graph_holds():
    def f(n):
        xs = [n, 2, 3]
        xs.insert(n, 5)
        ys = xs[n:]
        xs[:n] = [7]
        del xs[n : n + 1]
        return ys, xs, xs[-n::2]

    check_calls(f, (1,), (-1,), (2,), (3,))


@dataclass
class Named:
    name: Any


@dataclass(slots=True)
class Slotted:
    name: Any
    number: Any


def test_objects_of_dataclasses_that_lack_fields():
    def has(named, n):
        return [hasattr(item, "name") for item in named], n + 1

    lacking = object.__new__(Named)
    compiled = ac.compile(has)
    for named in ([Named(1)], [lacking], [Named(2), lacking], [Named(3)]):
        assert compiled(named, 1) == has(named, 1)
    for kind, arguments in ((Named, ("a",)), (Slotted, ("a", 1)), (Slotted, (2.0, 3))):
        instance = object.__new__(kind)
        ac.compile(kind.__init__)(instance, *arguments)
        assert instance == kind(*arguments)
    with pytest.raises(AttributeError, match="no attribute 'name'"):
        ac.compile(lambda lacking_object: lacking_object.name)(lacking)


def test_keyword_arguments_with_names_of_positional_parameters():
    def both(x, /, *args, **more):
        return x, args, more

    compiled = ac.compile(both)
    for args, more in (((1,), {"x": 2}), ((1, 2), {"args_0": 3}), ((1, 2), {"y": 3}), ((4,), {"x": 5})):
        assert compiled(*args, **more) == both(*args, **more)


class ListOfItems(list):
    def push(self, item):
        super().append(item)
        return len(self)


class DictOfLists(dict):
    def add(self, key):
        return super(DictOfLists, self).setdefault(key, [])  # noqa: UP008

    def empty(self):
        super().clear()
        return len(self)


class SetOfNumbers(set):
    def put(self, number):
        super().add(number)
        return sorted(self)


def test_methods_of_subclasses_of_containers_that_call_their_base():
    cases = [
        (ListOfItems.push, ListOfItems([1]), (2,)),
        (DictOfLists.add, DictOfLists({1: []}), (2,)),
        (DictOfLists.empty, DictOfLists({1: []}), ()),
        (SetOfNumbers.put, SetOfNumbers([3]), (2,)),
    ]
    for method, plain_object, arguments in cases:
        compiled, compiled_object = ac.compile(method), copy.deepcopy(plain_object)
        for _ in range(2):
            assert compiled(compiled_object, *arguments) == method(plain_object, *arguments)
            assert compiled_object == plain_object


@pytest.mark.parametrize("value", [[1, 2], (1, 2), {1: 2}, [1, "a"], {1, 2}, "ab", 3])
def test_hasattr_of_containers(value):
    def asked(value):
        found = []
        for name in ("items", "append", "index", "add", "shape", "real", "_items"):
            found.append(1 if hasattr(value, name) else 0)
        return found

    assert ac.compile(asked)(value) == asked(value)
