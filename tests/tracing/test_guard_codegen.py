"""Generated guard checks detect a changed value, however many calls found it unchanged before."""

import functools
import math
import types
from typing import ClassVar

import numpy as np
import pytest

import autoconv

WARM = 6  # calls before a change


class Wheel:
    spokes = 8
    sizes: ClassVar = [1.0, 2.0]

    def __init__(self):
        self.radius = 2.0

    def turned(self, x):
        return x * self.radius


class Car:
    def __init__(self):
        self.wheel = Wheel()
        self.weights = [1.0, [2, 3.0], (4, "five")]
        self.table = {"a": 1.0, "b": 2}
        self.grid = np.arange(3.0)
        self.cycle = self


def scaled(x, by=3.0):
    return x * by


def make_car():
    return types.SimpleNamespace(
        number=2.0, count=3, flag=True, text="x", nothing=None, z=1 + 2j, car=Car(), scaled=scaled, kind=Wheel,
        items=[1.0, 2.0], table={"a": 1.0, "b": 2.0}, grid=np.arange(4.0), several={1, 2},
        part=functools.partial(scaled, by=2.0), span=range(3), method=Wheel().turned,
    )  # fmt: skip


HELD = make_car()


def summed(x):
    objects = HELD
    found = x * objects.number + objects.count + (1 if objects.flag else 2) + len(objects.text) + objects.z.real
    found += 10 if objects.nothing is None else 20
    car = objects.car
    found += car.wheel.turned(x) + car.wheel.spokes + sum(car.wheel.sizes) + car.weights[1][1]
    found += car.table["a"] + list(car.table.values())[-2] + car.grid[1] + objects.scaled(x)
    found += objects.kind.spokes + sum(objects.items) + list(objects.table.values())[-2] * 7 + objects.grid[2]
    found += len(objects.several) + objects.part(x) + len(objects.span) + objects.method(x)
    return found, math.copysign(1.0, objects.number), type(objects.count).__name__, objects.car.cycle is objects.car


def _setter(path, value):
    def change():
        owner = HELD
        *way, last = path.split(".")
        for name in way:
            owner = getattr(owner, name)
        setattr(owner, last, value)

    return change


def _reordered():
    HELD.table["a"] = HELD.table.pop("a")


def _other_default():
    scaled.__defaults__ = (5.0,)


CHANGES = {
    "float": _setter("number", 2.5),
    "zero": _setter("number", 0.0),
    "negative zero": _setter("number", -0.0),
    "not a number": _setter("number", math.nan),
    "int": _setter("count", 4),
    "int to bool": _setter("count", True),
    "int to float": _setter("count", 3.0),
    "bool": _setter("flag", False),
    "text": _setter("text", "xyz"),
    "none": _setter("nothing", 0),
    "complex": _setter("z", 5 + 2j),
    "attribute of a part": _setter("car.wheel.radius", 7.0),
    "attribute before the class's": _setter("car.wheel.spokes", 9),
    "attribute of a class": lambda: setattr(Wheel, "spokes", 10),
    "list of a class": lambda: Wheel.sizes.append(5.0),
    "method": lambda: setattr(Wheel, "turned", lambda self, x: x - 1),
    "item of a list in a list": lambda: HELD.car.weights[1].__setitem__(1, 9.0),
    "longer list": lambda: HELD.items.append(4.0),
    "item": lambda: HELD.items.__setitem__(0, 4.0),
    "value of a dict": lambda: HELD.car.table.__setitem__("a", 8.0),
    "order of a dict": _reordered,
    "array": lambda: HELD.grid.__setitem__(2, 100.0),
    "array of a part": lambda: HELD.car.grid.__setitem__(1, 100.0),
    "set": lambda: HELD.several.add(9),
    "partial": lambda: setattr(HELD, "part", functools.partial(scaled, by=6.0)),
    "range": _setter("span", range(7)),
    "function": lambda: setattr(HELD, "scaled", lambda x: x - 2),
    "default": _other_default,
    "class": lambda: setattr(HELD, "kind", type("Other", (), {"spokes": 1})),
    "object of a method": lambda: setattr(HELD.method.__self__, "radius", 0.5),
    "another object": lambda: setattr(HELD.car, "wheel", types.SimpleNamespace(turned=abs, spokes=1, sizes=[])),
    "cycle removed": lambda: setattr(HELD.car, "cycle", None),
}


@pytest.fixture
def held():
    global HELD
    HELD = make_car()
    class_state = {name: value for name, value in vars(Wheel).items() if not name.startswith("__")}
    yield
    Wheel.sizes = [1.0, 2.0]
    Wheel.spokes, Wheel.turned = class_state["spokes"], class_state["turned"]
    scaled.__defaults__ = (3.0,)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_noticed_after_many_calls_without_one(held, change):
    compute = autoconv.compile(summed)
    for i in range(WARM):
        assert repr(compute(i + 0.5)) == repr(summed(i + 0.5))
    traces = len(compute.concrete_functions)
    change()
    for i in range(WARM):
        assert repr(compute(i + 0.5)) == repr(summed(i + 0.5))
    assert traces == 1


def test_equal_objects_need_no_trace(held):
    compute = autoconv.compile(summed)
    for i in range(4 * WARM):
        HELD.items, HELD.table, HELD.text = [1.0, 2.0], {"a": 1.0, "b": 2.0}, "".join(["x"])
        assert repr(compute(i + 0.5)) == repr(summed(i + 0.5))
    assert len(compute.concrete_functions) == 1


def test_guards_do_not_keep_objects_alive():
    import gc
    import weakref

    holder = types.SimpleNamespace(wheel=Wheel())

    @autoconv.compile
    def turned(x):
        return holder.wheel.turned(x)

    for i in range(WARM):
        assert turned(1.5 + i) == 3.0 + 2 * i
    reference = weakref.ref(holder.wheel)
    holder.wheel = Wheel()
    gc.collect()
    assert reference() is None
    assert turned(1.5) == 3.0


def test_large_outer_tables_notice_each_change_of_value_class_or_order():
    table, names = [i % 5 for i in range(1000)], {f"k{i}": i for i in range(200)}

    def sums():
        # Text of each item: it shows classes, and the order of keys.
        return "".join(map(str, table[:9])), [*names][:2], table[3] + names["k7"]

    compiled = autoconv.compile(sums)
    changes = [
        lambda: table.__setitem__(1, True), lambda: table.__setitem__(2, 2.0), lambda: table.__setitem__(0, -0.0),
        lambda: table.append(3), lambda: names.update(k7=10**30), lambda: names.update(k0=names.pop("k0")),
        lambda: table.__setitem__(3, int("3")), lambda: table.reverse(),
    ]  # fmt: skip
    for change in changes:
        for _ in range(3):
            assert repr(compiled()) == repr(sums())
        change()
        assert repr(compiled()) == repr(sums())
