"""`compile` beside plain Python, where outer objects change between calls or have more than one name."""

import functools

import pytest

import autoconv as ac


class Base:
    offset = 1


class Settings(Base):
    rate = 2
    names = {"a": 1}  # noqa: RUF012

    def scaled(self, x):
        return x * self.rate


OUTER = 1


def helper(x, weights=(2,)):
    return x * weights[0] + OUTER


def test_changed_classes_are_noticed(monkeypatch):
    settings = Settings()

    def f(x):
        return x * Settings.rate + Settings.offset + Settings.names["a"] + settings.scaled(x)

    compiled = ac.compile(f)
    assert compiled(2) == f(2)
    monkeypatch.setattr(Settings, "rate", 5)
    assert compiled(2) == f(2)
    monkeypatch.setattr(Base, "offset", 7)
    assert compiled(2) == f(2)
    monkeypatch.setitem(Settings.names, "a", 9)
    assert compiled(2) == f(2)
    monkeypatch.setattr(Settings, "scaled", lambda self, x: -x)
    assert compiled(2) == f(2)


def test_changes_of_names_that_called_functions_read_are_noticed(monkeypatch):
    part = functools.partial(helper, weights=[3])

    def f(x):
        return helper(x) + part(x)

    compiled = ac.compile(f)
    assert compiled(2) == f(2)
    monkeypatch.setattr(f"{__name__}.OUTER", 5)
    assert compiled(2) == f(2)
    monkeypatch.setattr(helper, "__defaults__", ((11,),))
    assert compiled(2) == f(2)
    part.keywords["weights"][0] = 50
    assert compiled(2) == f(2)


def test_equal_objects_are_not_one_object():
    class Point:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    compiled = ac.compile(lambda point, x: point.x + x)
    assert [compiled(Point(1), 1), compiled(Point(100), 1)] == [2, 101]
    assert ac.compile(lambda value: str(value))(frozenset({1})) == "frozenset({1})"


def test_list_arguments_are_returned_as_themselves():
    @ac.compile
    def f(a, b, x):
        if x > 0:
            return a
        return b

    first, second = [1], [1]
    assert f(first, second, 1) is first
    assert f(first, second, -1) is second

    @ac.compile
    def twice(x):
        items = [x]
        return items, items

    one, other = twice(1)
    assert one is other

    @ac.compile
    def same(a, b):
        return a is b

    assert same(first, first)
    assert not same(first, [1])


def test_names_of_one_list_chosen_by_a_value():
    def f(x):
        a, b = [x], [0]
        chosen = a if x > 0 else b
        chosen.append(5)
        return a + b

    compiled = ac.compile(f)
    assert [compiled(1), compiled(-1)] == [f(1), f(-1)]


def test_lists_augmented_in_one_branch():
    def f(x):
        items = [3]
        if x > 0:
            items += [5]
        return items

    compiled = ac.compile(f)
    assert [compiled(1), compiled(0)] == [[3, 5], [3]]


def test_dicts_keep_their_order():
    result = ac.compile(lambda x: {"b": x, "a": x + 1})(1)
    assert list(result.items()) == [("b", 1), ("a", 2)]
    keys = ac.compile(lambda d: list(d))
    assert [keys({"a": 1, "b": 2}), keys({"b": 2, "a": 1}), keys({True: 1})] == [["a", "b"], ["b", "a"], [True]]


def test_wrong_arguments_raise_what_python_raises():
    def f(x, *, k=1):
        return x

    for call in (lambda g: g(), lambda g: g(1, 2), lambda g: g(1, z=2)):
        with pytest.raises(TypeError) as expected:
            call(f)
        with pytest.raises(TypeError) as found:
            call(ac.compile(f))
        assert str(found.value) == str(expected.value)
    assert ac.compile(lambda s: len(s))({1, 2}) == 2


def test_iterators_from_outside_are_not_advanced_by_tracing():
    class Source:
        pass

    source = Source()
    source.items, numbers = iter([1, 2, 3]), iter([1, 2, 3])

    @ac.compile
    def f(x):
        for item in numbers:
            return item + x
        return -1

    @ac.compile
    def g(x):
        for item in source.items:
            return item + x
        return -1

    assert [f(1), f(1), f(1), f(1)] == [2, 3, 4, -1]
    assert [g(1), g(1), g(1), g(1)] == [2, 3, 4, -1]


def test_a_return_inside_try_is_inside_it():
    @ac.compile
    def f(x):
        try:
            return 10 // x
        except ZeroDivisionError:
            return "zero"

    assert [f(2), f(0)] == [5, "zero"]

    @ac.function
    def g(x):
        try:
            ac.debugging.assert_positive(x)
            return x
        except ac.errors.InvalidArgumentError:
            return -x

    assert [g(ac.constant(1)).numpy(), g(ac.constant(-2)).numpy()] == [1, 2]


def test_exceptions_with_their_own_constructor():
    class Failed(Exception):
        def __init__(self, value):
            self.value = value
            super().__init__("failed", value)

    @ac.compile
    def f(x):
        if x > 0:
            raise Failed(x)
        return x

    for value in (1, 2.5):
        with pytest.raises(Failed) as caught:
            f(value)
        assert (caught.value.value, caught.value.args) == (value, ("failed", value))


def test_indices_that_are_bools_and_items_of_several_kinds():
    def f(x):
        return (1, 2)[x > 0], [1.5, 2, True][x]

    compiled = ac.compile(f)
    for x in (0, 1, 2, True):
        assert repr(compiled(x)) == repr(f(x))


def test_membership_is_a_python_bool_and_numbers_have_their_attributes():
    compiled = ac.compile(lambda x: (x in (1, "a"), x not in {2: 3}, hasattr(x, "shape"), hasattr(x, "real")))
    assert repr(compiled(1)) == "(True, True, False, True)"
    assert repr(compiled(2)) == "(False, False, False, True)"
