"""Partial functions, callable objects and bound methods under `compile`: each call reads their current state."""

import functools

import numpy as np
import pytest

import autoconv


class Scale:
    unit = 2.0

    def __init__(self):
        self.by = 1.0

    def __call__(self, x):
        return self.by * x * self.unit

    def moved(self, x):
        return self.by + x


def _added(items, x):
    return sum(items) * x


def _of_method(method, x):
    return method(x) * 2


def _of_object(scale, x):
    return scale.by * x


def _by_keyword(x, *, by):
    return by * x


SCALE, ITEMS, ARRAY = Scale(), [1.0, 2.0], np.ones(3)
CALLABLES = {
    "partial with a list": functools.partial(_added, ITEMS),
    "partial with an array": functools.partial(_added, ARRAY),
    "partial with a method": functools.partial(_of_method, SCALE.moved),
    "partial with an object": functools.partial(_of_object, SCALE),
    "partial of a method": functools.partial(SCALE.moved),
    "partial of a partial": functools.partial(functools.partial(_by_keyword, by=3.0)),
    "object": SCALE,
    "method": SCALE.moved,
}


@pytest.mark.parametrize("function", CALLABLES.values(), ids=CALLABLES)
def test_the_state_of_a_callable_may_change(function):
    compute = autoconv.compile(function)
    for _ in range(3):
        for x in (1.5, 2.5, 3.5, 4.5):
            assert compute(x) == pytest.approx(function(x))
        SCALE.by += 1.0
        ITEMS.append(SCALE.by)
        ARRAY[0] += 1.0
    Scale.unit += 1.0
    assert compute(1.0) == pytest.approx(function(1.0))
    assert "plain Python" not in compute.explain()
