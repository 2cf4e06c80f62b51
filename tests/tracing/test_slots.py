"""Objects whose attributes are in slots: read from outside, written, given, and made inside."""

import copy
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import autoconv


class Particle:
    __slots__ = ("inner", "n", "w")

    def __init__(self, w, n, inner=None):
        self.w, self.n, self.inner = w, n, inner

    def step(self, x):
        if x > 0:
            self.n += 1
        return x * self.n

    def push(self, x):
        self.w[0] += x
        self.w -= 0.5
        return self.w.sum()


class Labelled(Particle):
    __slots__ = ("extra",)


class Open(Particle):
    def __init__(self, w, n):
        super().__init__(w, n)
        self.other = 3


@dataclass(slots=True)
class Box:
    a: float
    b: int = 2

    def reached(self, k):
        total = 0.0
        while total < k:
            total += self.a * self.b
        return total


@dataclass(frozen=True, slots=True)
class Fixed:
    a: float


class Held:
    def __init__(self):
        self.particle = Particle(np.arange(4.0), 2, inner=Box(0.5))
        self.labelled = Labelled(np.ones(3), 1)
        self.open = Open(np.ones(3), 4)
        self.box = Box(1.5)
        self.fixed = Fixed(2.5)

    def state(self):
        p = self.particle
        return [p.w.tolist(), p.n, p.inner, self.labelled.n, self.open.n, self.open.other, self.box]


HELD = Held()
HALF = Fraction(1, 2)


def reads(x):
    return (HELD.particle.w * x).sum() * HELD.particle.n + HELD.fixed.a + HELD.particle.inner.a


def steps(x):
    return HELD.particle.step(x) + HELD.labelled.step(-x) + HELD.open.step(x) * HELD.open.other


def loops(x):
    return HELD.box.reached(10 * x) + HELD.particle.inner.reached(x)


def changes_arrays(x):
    return HELD.particle.push(x), HELD.open.push(x)


def makes(x):
    particle = Particle(x, 1)
    particle.n += 2
    for _ in range(3):
        particle.step(x)
    box = Box(x)
    if x > 2:
        box.a = 1.0
    return particle.n, particle.w, box


@pytest.mark.parametrize("function", [reads, steps, loops, changes_arrays, makes])
def test_results_and_changes_are_those_of_plain_python(function):
    global HELD
    calls = (1.5, -1.0, 3.0, 2.0, -2.0)
    HELD = Held()
    expected = [(copy.deepcopy(function(x)), copy.deepcopy(HELD.state())) for x in calls]
    HELD = Held()
    compute = autoconv.compile(function)
    assert [(copy.deepcopy(compute(x)), copy.deepcopy(HELD.state())) for x in calls] == expected
    assert "plain Python" not in compute.explain()


def test_an_object_argument():
    @autoconv.compile
    def raised(particle, x):
        particle.n = particle.n + x
        return particle.n

    particle = Particle(1.0, 1)
    assert [raised(particle, 2) for _ in range(4)] == [3, 5, 7, 9]
    assert particle.n == 9
    assert "plain Python" not in raised.explain()


def test_a_slot_that_is_set_or_deleted_is_noticed():
    labelled = Labelled(1.0, 1)

    @autoconv.compile
    def extra(x):
        return getattr(labelled, "extra", 10.0) * x

    for _ in range(4):
        assert extra(2.0) == 20.0
    labelled.extra = 3.0
    for _ in range(4):
        assert extra(2.0) == 6.0
    del labelled.extra
    assert extra(2.0) == 20.0


def test_fractions_from_outside():
    global HALF
    compute = autoconv.compile(lambda x: x * float(HALF) + HALF.denominator)
    assert [compute(3.0) for _ in range(4)] == [3.5] * 4
    HALF = Fraction(1, 4)
    assert compute(4.0) == 5.0
    HALF = Fraction(1, 2)


class Spot:
    __slots__ = ("k", "n")

    def __init__(self, k, n=1):
        self.k, self.n = k, n

    def __repr__(self):
        return f"Spot({self.k!r}, {self.n!r})"

    def __add__(self, other):
        return Spot(self.k + other.k)

    def bump(self):
        self.n += 1
        return self


class Wide(Spot):
    def __init__(self, k):
        super().__init__(k)
        self.extra = k * 2

    def __repr__(self):
        return f"Wide({self.k!r}, {self.extra!r})"


def in_containers(x):
    return [Spot(x), {"k": Spot(x + 1)}, (Spot(x),)]


def of_either_class(x):
    return Spot(x) if x > 2 else Wide(x)


def under_two_names(x):
    spot = Spot(x)
    alias = spot
    if x > 1:
        alias.bump()
    return spot, alias, spot is alias


def with_an_empty_slot(x):
    spot = object.__new__(Spot)
    spot.k = x
    return hasattr(spot, "n"), spot.k


def changed_in_a_loop(x):
    spot = Spot(0.0)
    for i in range(int(x)):
        spot.k += i * x
    return spot


def made_in_a_loop(x):
    spot = Spot(0.0)
    for i in range(int(x)):
        spot = Spot(spot.k + i)
    return spot


def in_a_list(x):
    found = []
    for i in range(int(x)):
        found.append(Spot(i))
    return found


def in_an_error(x):
    try:
        if x > 2:
            raise ValueError(Spot(x))
    except ValueError as error:
        return error.args[0]
    return x


def with_an_array(x):
    spot = Spot(np.arange(3.0) * x)
    spot.k += 1
    return spot


MAKING_FUNCTIONS = (
    lambda x: Spot(x * 2), lambda x: Spot(1.0), lambda x: Wide(x), lambda x: Spot(x) + Spot(1.0),
    lambda x: Spot(x) if x > 2 else None, in_containers, of_either_class, under_two_names, with_an_empty_slot,
    changed_in_a_loop, made_in_a_loop, in_a_list, in_an_error, with_an_array,
)  # fmt: skip


@pytest.mark.parametrize("function", MAKING_FUNCTIONS)
def test_each_call_makes_new_objects(function):
    compute = autoconv.compile(function)
    for x in (1.0, 3.0, 2.0, 4.0, 1.0):
        assert repr(compute(x)) == repr(function(x))
    first, second = compute(1.0), compute(1.0)
    assert first is not second or not isinstance(first, Spot)
