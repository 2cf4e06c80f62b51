"""Objects that a trace under `function` read from outside: changes are noticed, and `explain` names them."""

import sys

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS

LIMIT = 2
TABLE = np.array([1.0, 2.0], np.float32)
LARGE = np.ones(1 << 19, np.float32)


class Settings:
    scale = 3


class Model:
    def __init__(self):
        self.weights = [ac.constant(2.0), {"bias": ac.constant(1.0)}]
        self.table = np.array([5.0, 6.0], np.float32)
        self.rate = 1.0

    def applied(self, x):
        return x * self.weights[0] + self.weights[1]["bias"] + self.rate


def helper(x):
    return x + LIMIT


@pytest.fixture
def x():
    return ac.constant([1.0, 1.0])


def values(tensor):
    return tensor.numpy().tolist()


def test_globals_read_by_called_functions(x, monkeypatch):
    f = ac.function(lambda x: helper(x) * Settings.scale)
    assert values(f(x)) == [9.0, 9.0]
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 4)
    assert values(f(x)) == [15.0, 15.0]
    assert "LIMIT changed" in f.explain()
    monkeypatch.setattr(Settings, "scale", 1)
    assert values(f(x)) == [5.0, 5.0]
    assert f.experimental_get_tracing_count() == 3
    monkeypatch.setattr(Settings, "scale", 3)
    assert values(f(x)) == [15.0, 15.0]
    assert f.experimental_get_tracing_count() == 3  # an older trace is right again


def test_cells_and_their_contents(x):
    offset, names = 1.0, {"a": [1.0, 2.0]}

    @ac.function
    def f(x):
        return x + offset + names["a"][1]

    assert values(f(x)) == [4.0, 4.0]
    offset = 2.0
    assert values(f(x)) == [5.0, 5.0]
    names["a"][1] = 10.0
    assert values(f(x)) == [13.0, 13.0]
    assert "offset changed" in f.explain()
    assert "names['a'][1] changed" in f.explain()


def test_attributes_of_arguments_and_of_self(x):
    model = Model()

    @ac.function
    def of_argument(model, x):
        return model.applied(x)

    method = ac.function(model.applied)
    for change in (
        lambda: None,
        lambda: setattr(model, "rate", 5.0),
        lambda: model.weights.__setitem__(0, ac.constant(7.0)),
        lambda: model.weights[1].update(bias=ac.constant(0.5)),
    ):
        change()
        expected = values(model.applied(x))
        assert values(of_argument(model, x)) == expected
        assert values(method(x)) == expected
    assert "self.rate changed" in method.explain()
    assert "self.weights[0] changed" in method.explain()
    assert of_argument.experimental_get_tracing_count() == 4


def test_arrays_that_change_in_place(x):
    model = Model()

    @ac.function
    def f(x):
        return x * TABLE + TABLE[0] + model.table + ac.reduce_sum(LARGE)

    def plain():
        return (x.numpy() * TABLE + TABLE[0] + model.table + LARGE.sum()).tolist()

    try:
        assert values(f(x)) == plain()
        TABLE[0] = 10.0
        assert values(f(x)) == plain()
        model.table[1] = -1.0
        assert values(f(x)) == plain()
        traces = f.experimental_get_tracing_count()
        LARGE[7] = 100.0  # an input of the graph: no other trace is needed
        assert values(f(x)) == plain()
        assert f.experimental_get_tracing_count() == traces
        assert "not guarded: LARGE" in f.explain()
    finally:
        TABLE[0], LARGE[7] = 1.0, 1.0


def test_equal_arrays_are_told_apart(x):
    first, second = np.ones(1 << 19, np.float32), np.ones(1 << 19, np.float32)

    @ac.function
    def f(x):
        return ac.reduce_sum(first) - ac.reduce_sum(second)

    assert f(x).numpy() == 0.0
    second[0] = 5.0
    assert f(x).numpy() == -4.0
    assert f.experimental_get_tracing_count() == 1


def test_results_do_not_share_memory_with_arrays_of_the_program():
    table = np.array([1.0, 2.0])
    f = ac.function(lambda: ac.constant(table))
    result = f()
    table[0] = 9.0
    assert values(result) == [1.0, 2.0]
    assert values(f()) == [9.0, 2.0]


def test_arrays_made_and_changed_while_tracing(x):
    @ac.function
    def f(x):
        mask = np.zeros(2, np.float32)
        before = x + mask
        mask[1:] = 5
        return before, before + mask, np.sum(mask)

    before, after, total = f(x)
    assert values(before) == [1.0, 1.0]
    assert values(after) == [1.0, 6.0]
    assert total.numpy() == 5.0


def test_an_array_with_a_tensor_as_item(x):
    @ac.function
    def f(x):
        row = np.zeros(2, np.float32)
        row[0] = x[0] * 3.0
        for i in ac.range(2):
            row[1] = x[1] + ac.cast(i, ac.float32)
        return row

    assert values(f(x)) == [3.0, 2.0]


def test_changes_that_traces_make_do_not_count(x):
    seen, count = [], [0]

    @ac.function
    def f(x, n):
        seen.append(n)
        count[0] += 1
        return x + n

    for n in (1, 2, 1, 2, 3, 1):
        f(x, n)
    assert seen == [1, 2, 3]
    assert count == [3]


def test_a_list_that_is_only_written_is_not_read(x):
    seen = []
    first = ac.function(lambda x: seen.append("first") or x)

    @ac.function
    def second(x):
        seen.append("second")
        return x

    second(x)
    first(x)
    seen.clear()
    second(x)
    assert seen == []


def test_explain_names_iterators_as_not_guarded(x):
    numbers = iter([1.0, 2.0])
    f = ac.function(lambda x: x + next(numbers))
    assert values(f(x)) == values(f(x)) == [2.0, 2.0]
    assert "not guarded: numbers" in f.explain()


def test_names_that_called_functions_read_are_guarded(x, monkeypatch):
    inner = ac.function(lambda x: x * LIMIT + LARGE[:2])

    @ac.function
    def outer(x):
        return inner(x) + 1

    assert values(outer(x)) == [4.0, 4.0]
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 5)
    assert values(outer(x)) == [7.0, 7.0]
    assert "LIMIT changed" in outer.explain()


def test_arrays_in_branches_and_loops(x):
    first, second = np.ones(1 << 19, np.float32), np.full(1 << 19, 2.0, np.float32)

    @ac.function
    def f(x, flag):
        total = ac.reduce_sum(x)
        for _i in ac.range(2):
            if flag:
                total = total + ac.reduce_max(first)
            else:
                total = total + ac.reduce_max(second)
            total = total + ac.reduce_max(first)
        return total

    @ac.function
    def g(x, flag):
        return f(x, flag) * 2.0

    flags = ac.constant(True), ac.constant(False)
    assert [f(x, flag).numpy() for flag in flags] == [6.0, 8.0]
    assert [g(x, flag).numpy() for flag in flags] == [12.0, 16.0]
    first[5], second[6] = 10.0, 100.0
    assert [f(x, flag).numpy() for flag in flags] == [42.0, 222.0]
    assert [g(x, flag).numpy() for flag in flags] == [84.0, 444.0]
    assert (f.experimental_get_tracing_count(), g.experimental_get_tracing_count()) == (1, 1)


def test_deep_objects_and_cycles(x):
    class Node:
        def __init__(self, parent):
            self.parent, self.children, self.value = parent, [], 1.0
            if parent is not None:
                parent.children += [self, self]

    root = last = Node(None)
    for _ in range(8):
        last = Node(last)

    @ac.function
    def f(x):
        node = root
        for _ in range(8):
            node = node.children[1]
        return x + node.value + node.parent.value

    assert values(f(x)) == [3.0, 3.0]
    assert values(f(x)) == [3.0, 3.0]
    last.value = 5.0
    assert values(f(x)) == [7.0, 7.0]
    last.parent.value = 0.0
    assert values(f(x)) == [6.0, 6.0]
    assert f.experimental_get_tracing_count() == 3


@pytest.mark.parametrize("decorator", [ac.function, ac.compile])
def test_objects_that_names_reach_in_every_way(decorator):
    class Holder:
        scale = 1

        def __init__(self):
            self._value = 2

        @property
        def value(self):
            return self._value * self.scale

        def method(self, x):
            return x * self.value

    holder, table = Holder(), {"f": lambda x: x + 1}

    def with_default(x, a=(1, 2)):
        return x + a[1]

    def f(x):
        return table["f"](holder.method(x)) + with_default(x)

    g = decorator(f)
    for change in (
        lambda: None,
        lambda: setattr(holder, "_value", 3),
        lambda: setattr(Holder, "scale", 5),
        lambda: table.update(f=lambda x: x - 1),
        lambda: setattr(with_default, "__defaults__", ((1, 20),)),
        lambda: setattr(Holder, "method", lambda self, x: x),
    ):
        change()
        assert int(g(4)) == f(4)


def test_contents_of_sets_and_keys_are_compared(x):
    class Holder:
        pass

    holder = Holder()
    holder.met, holder.table = {((1, 2), (3,))}, {((1,), 2): 1.0}

    @ac.function
    def f(x):
        return x + len(holder.met) + holder.table[((1,), 2)]

    assert values(f(x)) == values(x + 2.0)
    assert "nested too deeply" not in f.explain()
    holder.met.add(((1, 2), (4,)))
    assert values(f(x)) == values(x + 3.0)


@pytest.mark.parametrize("tiers", ["native", "measured"])
@pytest.mark.parametrize("decorator", [ac.compile, ac.function])
def test_replaced_defaults_and_code(decorator, tiers, monkeypatch):
    """Defaults and code assigned to a compiled function, or to its plain function, take effect."""
    monkeypatch.setattr(SETTINGS, "tiers", tiers)

    def replacement(x, y=2, *, z=3):
        return 1000 * x + y + z

    for of_plain in (False, True):

        def plain(x, y=2, *, z=3):
            return x + y + z

        compiled = decorator(plain)
        target = plain if of_plain else compiled
        assert [int(compiled(1)) for _ in range(3)] == [6] * 3
        target.__defaults__ = (10,)
        assert [int(compiled(1)) for _ in range(3)] == [14] * 3 and compiled.__defaults__ == (10,)
        target.__kwdefaults__ = {"z": 100}
        assert [int(compiled(1)) for _ in range(3)] == [111] * 3
        target.__kwdefaults__["z"] = 50
        assert [int(compiled(1)) for _ in range(3)] == [61] * 3
        target.__kwdefaults__["z"] = 100
        target.__code__ = replacement.__code__
        assert [int(compiled(1)) for _ in range(3)] == [1110] * 3 and plain.__code__ is replacement.__code__
