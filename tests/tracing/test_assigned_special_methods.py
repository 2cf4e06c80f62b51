"""Special methods that a program assigns to its classes while it is traced."""

import contextlib

import pytest

import autoconv


class Box:
    def __len__(self):
        return 1

    def __call__(self, x):
        return x

    @property
    def size(self):
        return 1


LENGTH, CALL, SIZE = Box.__len__, Box.__call__, Box.size


def other_length(self):
    return 2


@pytest.fixture(autouse=True)
def restored_class():
    yield
    Box.__len__, Box.__call__, Box.size = LENGTH, CALL, SIZE


@contextlib.contextmanager
def called_twice():
    call = Box.__call__

    def call_twice(self, x):
        return call(self, call(self, x)) + 1

    Box.__call__ = call_twice
    try:
        yield
    finally:
        Box.__call__ = call


def for_a_while(x):
    with called_twice():
        return Box()(x)


def before_the_first_use(x):
    length = Box.__len__
    Box.__len__ = other_length
    x = x * len(Box())
    Box.__len__ = length
    return x


def after_the_first_use(x):
    box = Box()
    length = Box.__len__
    x = x * len(box)
    Box.__len__ = other_length
    x = x * len(box)
    Box.__len__ = length
    return x


@pytest.mark.parametrize("decorate", [autoconv.function, autoconv.compile])
@pytest.mark.parametrize("program", [for_a_while, before_the_first_use, after_the_first_use])
def test_methods_are_as_before_once_the_program_restored_them(program, decorate):
    expected = program(3.0)
    result = decorate(program)(autoconv.constant(3.0) if decorate is autoconv.function else 3.0)
    assert float(result) == expected and Box.__len__ is LENGTH and Box.__call__ is CALL


def keep_length(x):
    x = x * len(Box())
    Box.__len__ = other_length
    return x * len(Box())


def keep_property(x):
    x = x * Box().size
    Box.size = property(lambda box: 5)
    return x * Box().size


@pytest.mark.parametrize(("program", "name"), [(keep_length, "__len__"), (keep_property, "size")])
def test_an_assigned_method_stays(program, name):
    expected = program(3.0)
    assigned = vars(Box)[name]
    Box.__len__, Box.size = LENGTH, SIZE
    assert float(autoconv.function(program)(autoconv.constant(3.0))) == expected
    if name == "__len__":
        assert Box.__len__ is assigned is other_length
    else:
        assert Box.size is not SIZE and Box().size == 5
