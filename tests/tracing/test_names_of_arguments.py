"""Keyword arguments whose names are parameters of this package's own functions."""

import pytest

import autoconv

NAMES = ("self", "function", "args", "kwargs", "call", "owner", "region", "value", "name", "key", "cls", "entry", "k")


def inner(*rest, **by_name):
    return rest, by_name


class Method:
    def go(this, *rest, **by_name):
        return rest, by_name

    @autoconv.compile
    def compiled(this, *rest, **by_name):
        return rest, by_name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.search
def test_names(name):
    thing = Method()
    functions = (
        lambda *a, **b: (a, b),
        lambda *a, **b: inner(*a, **b),
        lambda *a, **b: thing.go(*a, **b),
        lambda *a, **b: sorted(b),
    )
    for function in (*functions, thing.go):
        compute = autoconv.compile(function)
        for _ in range(3):
            assert compute(**{name: 1.0}) == function(**{name: 1.0})
            assert compute(2, **{name: 1.0}) == function(2, **{name: 1.0})
    for _ in range(3):
        assert thing.compiled(1, **{name: 1.0}) == ((1,), {name: 1.0})
