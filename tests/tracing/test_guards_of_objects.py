"""Changes of objects that a function reads: classes, special methods, attributes, orders of containers."""

import collections
import copy
import enum
import types

import numpy as np
import pytest

import autoconv
from tests.tracing.changes import WARM, check_after_changes


def test_the_class_of_an_object():
    class First:
        def go(self, x):
            return x + 1

    class Second(First):
        def go(self, x):
            return x * 10

    class Other:
        def go(self, x):
            return -x

    instance = First()
    check_after_changes(
        lambda x: instance.go(x),
        lambda: setattr(instance, "__class__", Second),
        lambda: setattr(instance, "__class__", First),
        lambda: setattr(instance, "__class__", Second),
        lambda: delattr(Second, "go"),
    )
    check_after_changes(lambda x: Second().go(x), lambda: setattr(Second, "__bases__", (Other,)))


SPECIAL = {
    "__call__": (lambda x, thing: thing(x), lambda self, x: x * 100),
    "__getitem__": (lambda x, thing: thing[1] * x, lambda self, i: i + 5),
    "__len__": (lambda x, thing: len(thing) * x, lambda self: 9),
    "__add__": (lambda x, thing: thing + x, lambda self, x: x - 9),
    "__bool__": (lambda x, thing: x if thing else -x, lambda self: False),
    "__iter__": (lambda x, thing: [v * x for v in thing], lambda self: iter([7])),
    "__contains__": (lambda x, thing: x if 3 in thing else -x, lambda self, v: False),
    "__repr__": (lambda x, thing: (repr(thing), x), lambda self: "another"),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_methods_of_a_class(name):
    class Thing:
        def __call__(self, x):
            return x + 1

        def __getitem__(self, i):
            return i

        def __len__(self):
            return 3

        def __add__(self, x):
            return x

        def __bool__(self):
            return True

        def __iter__(self):
            return iter([1, 2])

        def __contains__(self, v):
            return True

        def __repr__(self):
            return "one"

    instance = Thing()
    use, replacement = SPECIAL[name]
    before = vars(Thing)[name]
    check_after_changes(
        lambda x: use(x, instance), lambda: setattr(Thing, name, replacement), lambda: setattr(Thing, name, before),
        lambda: setattr(Thing, name, replacement),
    )  # fmt: skip


def test_attributes_of_classes_at_any_depth():
    class Settings:
        def __init__(self):
            self.scale = 2.0

    class Model:
        settings = Settings()
        table = [{"a": [1.0]}]  # noqa: RUF012

        def scaled(self, x, by=2.0):
            return x * by

        @staticmethod
        def moved(x, by=1.0):
            return x + by

        @property
        def attribute(self):
            return self.settings.scale

    model = Model()
    check_after_changes(lambda x: x * model.settings.scale, lambda: setattr(Model.settings, "scale", 5.0))
    check_after_changes(lambda x: x * model.held, lambda: setattr(Model.settings, "scale", 6.0))
    check_after_changes(lambda x: x * Model.table[0]["a"][0], lambda: Model.table[0]["a"].append(3.0))
    check_after_changes(lambda x: x * Model.table[0]["a"][0], lambda: Model.table[0]["a"].__setitem__(0, 6.0))
    check_after_changes(lambda x: model.scaled(x), lambda: setattr(Model.scaled, "__defaults__", (5.0,)))
    check_after_changes(lambda x: model.moved(x), lambda: setattr(Model.moved, "__defaults__", (5.0,)))


class Floats(list):
    pass


class Table(dict):
    pass


class Pair(tuple):
    pass


class Metres(float):
    pass


class Text(str):
    __slots__ = ("extra",)


class Kind(enum.Enum):
    A = 1
    B = 2


@pytest.mark.parametrize("instance", [Floats([1.0]), Table(a=1.0), Pair((1.0,)), Metres(1.0), Text("a"), Kind.A])
def test_attributes_of_objects_that_are_compared_by_value(instance):
    instance.extra = 2.0
    changes = (lambda: setattr(instance, "extra", 5.0), lambda: setattr(instance, "extra", "ab"))
    check_after_changes(lambda x: x * instance.extra, *changes, x=2)


def test_classes_and_orders_of_containers():
    global HELD
    HELD = {"a": 1.0, "b": 2.0}
    check_after_changes(
        lambda x: (type(HELD).__name__, [v * x for v in HELD.values()]),
        lambda: globals().update(HELD=collections.OrderedDict(a=1.0, b=2.0)),
        lambda: globals().update(HELD=Table(a=1.0, b=2.0)),
        lambda: HELD.__setitem__("a", HELD.pop("a")),
    )
    numbers = {0}
    numbers.add(8)

    def other_order():
        numbers.clear()
        numbers.add(8)
        numbers.add(0)

    check_after_changes(lambda x: [v * x for v in numbers], other_order)
    box = types.SimpleNamespace(a=1.0, b=2.0)

    def attribute_values():
        del box.a
        box.a = 1.0

    check_after_changes(lambda x: [v * x for v in vars(box).values()], attribute_values)


class Counted:
    unit = 2.0

    def __init__(self, k):
        self.k = k

    @autoconv.compile
    def go(self, x):
        return self.k * x

    @classmethod
    @autoconv.compile
    def of_class(cls, x):
        return cls.unit * x


class CountedTwice(Counted):
    unit = 4.0


def test_methods_of_copies_and_of_classes():
    counted = Counted(1.0)
    assert [counted.go(2.0) for _ in range(WARM)] == [2.0] * WARM
    for copied in (copy.copy(counted), copy.deepcopy(counted)):
        copied.k = 10.0
        assert (copied.go(2.0), counted.go(2.0)) == (20.0, 2.0)
    assert [kind.of_class(3.0) for kind in (Counted, CountedTwice) * 2] == [6.0, 12.0] * 2


class Cause:
    def __init__(self, k):
        self.k = k


def test_objects_that_exceptions_carry_are_new_ones():
    def caught(x):
        try:
            if x > 2:
                raise ValueError(Cause(x), (Cause(x + 1), x))
        except ValueError as error:
            return error.args
        return x

    def raised(x):
        if x > 2:
            raise ValueError(Cause(x))
        return x

    compute, leaves = autoconv.compile(caught), autoconv.compile(raised)
    for x in (1.0, 3.0, 4.0):
        found = compute(x)
        if x > 2:
            assert (found[0].k, found[1][0].k, found[1][1]) == (x, x + 1, x)
            with pytest.raises(ValueError) as error:
                leaves(x)
            assert error.value.args[0].k == x


def test_arguments_that_numpy_returns():
    def conjugated(a):
        b = a.conj()
        b *= 2
        return a, a.conjugate() is a

    def cleaned(a):
        np.nan_to_num(a, copy=False)
        return a

    def diagonal(a):
        d = np.diag(a)
        a += 1
        return d

    for function, array in (
        (conjugated, np.ones(2)), (conjugated, np.ones(2, complex)), (conjugated, np.ones(2, int)),
        (cleaned, np.array([np.nan, 1.0])), (diagonal, np.zeros((2, 2))), (diagonal, np.zeros(3)),
    ):  # fmt: skip
        compute = autoconv.compile(function)
        for _ in range(3):
            compiled_array, plain_array = array.copy(), array.copy()
            assert repr((compute(compiled_array), compiled_array)) == repr((function(plain_array), plain_array))


def test_the_message_for_a_missing_axis():
    compute = autoconv.compile(lambda a, k: np.expand_dims(a, k))
    assert compute(np.ones(2), 0).shape == (1, 2)
    for _ in range(3):
        with pytest.raises(np.exceptions.AxisError, match="axis 5 is out of bounds for array of dimension 2"):
            compute(np.ones(2), 5)


class Linked:
    def __init__(self, value):
        self.value, self.next = value, self


def test_cycles_that_begin_at_another_object():
    first, second = Linked(1.0), Linked(2.0)
    first.next, second.next = second, first
    check_after_changes(
        lambda x: x * first.next.next.value,
        lambda: setattr(second, "next", second),
        lambda: setattr(second, "next", first),
        lambda: setattr(first, "next", first),
    )


def test_repr_of_keys_is_not_called():
    class Key:
        def __init__(self, n):
            self.n = n

        def __repr__(self):
            raise AssertionError("asked")

        __str__ = __repr__

    key, equal_key = Key(1), Key(2)
    table = {key: {equal_key: 1}, (equal_key, 3): 2}

    @autoconv.compile
    def read(k):
        return table[key][equal_key] + table[equal_key, 3] + k

    assert [read(k) for k in (1, 2, 1)] == [4, 5, 4]
    table[key][equal_key] = 5
    assert read(1) == 8
    table[Key(3)] = 4
    assert read(1) == 8


class Counting(list):
    """A list that counts calls of `len`."""

    def __init__(self, items=()):
        super().__init__(items)
        self.length_calls = 0

    def __len__(self):
        self.length_calls += 1
        return self.length_calls


BOX = [Counting(), Counting([np.zeros(2)])]
HOLDER = types.SimpleNamespace(part=Counting())


def test_len_is_called_as_often_as_in_plain_python():
    def program(x):
        first = len(BOX[1])
        return x + first, len(HOLDER.part), len(HOLDER.part)

    def calls(function):
        found = []
        for turn in range(6):
            if turn == 2:
                BOX[0].part = turn
                BOX[1][0] = np.ones(2)
            if turn == 4:
                HOLDER.part = Counting()
            found.append((function(1.5 + turn), BOX[1].length_calls, HOLDER.part.length_calls))
        return found

    expected = calls(program)
    BOX[:], HOLDER.part = [Counting(), Counting([np.zeros(2)])], Counting()
    assert calls(autoconv.compile(program)) == expected


class Net:
    def __init__(self):
        self.rows, self.others = [np.ones(3), np.zeros(3)], [np.full(3, 5.0), np.ones(3)]
        self.steps, self.state = 0, {}


def test_another_list_in_the_place_of_one_whose_items_are_inputs():
    def outcomes(compiles):
        net = Net()

        def program(n):
            net.steps += 1
            net.state["c"] = net.rows[0] / net.steps
            return n

        function = autoconv.compile(program) if compiles else program
        found = []
        for call in range(9):
            if call == 4:
                net.rows = net.others
            elif call == 6:
                net.rows.append(np.ones(3))
            elif call == 7:
                net.rows = [np.full(3, 7.0), np.ones(3)]
            function(2)
            found.append(repr(vars(net)))
        return found

    assert outcomes(True) == outcomes(False)


@pytest.mark.parametrize("count", [200, 1100])
def test_many_containers_that_would_be_compared_on_every_call(count):
    pairs = [[[float(i), 1.0] for i in range(count)] for _ in range(2)]

    @autoconv.compile
    def total(scale):
        return sum(scale * x * y for group in pairs for x, y in group)

    for call in range(3):
        pairs[1][call][1] = 2.0
        assert total(2.0) == sum(2.0 * x * y for group in pairs for x, y in group)
    assert ("more than 2,000 objects would be compared" in total.explain()) == (count == 1100), total.explain()
