"""Code that Python runs for reads and writes of attributes: descriptors, cached properties, `__setattr__`."""

from __future__ import annotations

import functools

import pytest

import autoconv
from autoconv.errors import StagingError
from tests.tracing.plain_comparison import check_against_plain


class Counting:
    """A descriptor that counts its reads."""

    def __init__(self):
        self.reads = 0

    def __get__(self, owner, kind=None):
        self.reads += 1
        return self.reads

    def __set__(self, owner, value):
        self.reads = value


class Checked:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, kind=None):
        value = getattr(owner, self.name)
        return value * 2 if value > 2 else value

    def __set__(self, owner, value):
        if value < 0:
            raise ValueError("negative")
        setattr(owner, self.name, value)


class Shape:
    count = Counting()
    width = Checked()

    def __init__(self, width):
        self.width = width
        self.computed = 0

    @functools.cached_property
    def area(self):
        self.computed += 1
        return self.width * 3 if self.width > 2 else 0

    def __class_getitem__(cls, n):
        return n * 2 if n > 2 else -n


def descriptors(n):
    try:
        shape = Shape(n)
    except ValueError as error:
        return str(error)
    shape.width += 1
    shape.count = 0
    total = 0
    for _ in range(n):
        total += shape.count
    return shape.width, total, shape.count, Shape[n]


def read_in_loop(n):
    shape = Shape(1)
    shape.count = 0
    total = 0
    for _ in range(n):
        total += shape.count
    return total, shape.count


def cached_property(n):
    shape = Shape(n)
    first = shape.area
    shape.width = 100
    return first, shape.area, shape.computed


@pytest.mark.parametrize("program", [descriptors, read_in_loop, cached_property])
def test_program_is_converted(program):
    compiled = check_against_plain(program, (1,), (3,), (5,))
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()
    check_against_plain(descriptors, (-1,))


class Logging:
    writes = 0

    def __setattr__(self, name, value):
        Logging.writes += 1
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        Logging.writes += 100
        object.__delattr__(self, name)


class Doubling:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found * 2 if found > 2 else found


def written(n):
    Logging.writes = 0
    logging = Logging()
    for i in range(n):
        logging.x = i
    if n > 1:
        del logging.x
    return Logging.writes


def read(n):
    return Doubling(n).x


def cached_in_a_branch(n):
    shape = Shape(n)
    return (shape.area if n > 1 else 0), shape.computed


@pytest.mark.parametrize(("program", "words"), [
    (written, "Logging defines __setattr__"),
    (read, "Doubling defines __getattribute__"),
    (cached_in_a_branch, "the cached property 'area' of a Shape is read for the first time under a condition"),
])  # fmt: skip
def test_is_refused_with_the_reason(program, words):
    compiled = check_against_plain(program, (1,), (3,))
    assert words in compiled.explain()
    with pytest.raises(StagingError, match=words):
        autoconv.function(program)(autoconv.constant(3))


class Stored:
    """A descriptor whose compiled `__get__` reads the attribute of its own name."""

    def __set_name__(self, owner, name):
        self.name = name

    @autoconv.compile
    def __get__(self, owner, kind=None):
        return owner.__dict__.get(self.name, 4)

    def __set__(self, owner, value):
        owner.__dict__[self.name] = value
        owner.changes.append(value)

    def __delete__(self, owner):
        del owner.__dict__[self.name]


class Car:
    wheels = Stored()

    def __init__(self):
        self.changes = []


def test_compiled_get_of_a_deleted_attribute():
    car = Car()
    for count in (5, 6, 7, 8):
        car.wheels = count
        assert car.wheels == count
        car.wheels += 1
        assert car.wheels == count + 1
    del car.wheels
    assert car.wheels == 4


def even_class():
    class Even(type):
        checks = 0

        def __instancecheck__(cls, x):
            Even.checks += 1
            return isinstance(x, int) and x % 2 == 0

    return Even, Even("EvenNumber", (), {})


def test_instance_checks_of_the_program():
    def run(kind, x):
        match x:
            case kind.number():
                pattern = "even"
            case _:
                pattern = "other"
        is_of_any = isinstance(x, (str, kind.number)), isinstance(x, kind.number | float)
        return isinstance(x, kind.number), is_of_any, pattern

    kinds = []
    for decorate in (lambda f: f, autoconv.compile):
        metaclass, number = even_class()
        kind = type("Kind", (), {"number": number})
        checked = decorate(run)
        kinds.append(([checked(kind, x) for x in (2, 3, 2.0, "a", True, 8, 5, None)], metaclass.checks))
    assert kinds[0] == kinds[1]


class Circle:
    radius = 2.0


Circle.area = functools.cached_property(lambda circle: 3 * circle.radius**2)  # outside of the class: without a name


@pytest.mark.parametrize("decorator", [autoconv.compile, autoconv.function])
def test_a_cached_property_without_a_name_raises_as_in_python(decorator):
    def scaled_area(x):
        return Circle().area * x

    for run in (scaled_area, decorator(scaled_area)):
        with pytest.raises(TypeError, match="without calling __set_name__"):
            run(autoconv.constant(2.0))
