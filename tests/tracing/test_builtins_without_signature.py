"""Builtins without a signature: calls under `compile` have Python's results and errors."""

import functools
import operator

import pytest

import autoconv


@pytest.mark.parametrize(
    "function, args, kwargs",
    [
        (max, (3, 4), {}),
        (max, ([3, 1],), {"key": operator.neg}),
        (min, ([],), {"default": 5}),
        (dict, ([("a", 1)],), {"b": 2}),
        (int, ("12",), {}),
        (functools.partial(max, 1), (7,), {}),
        (getattr, (3, "real"), {}),
    ],
)
def test_calls_of_builtins(function, args, kwargs):
    compiled = autoconv.compile(function)
    assert [compiled(*args, **kwargs) for _ in range(3)] == [function(*args, **kwargs)] * 3


def test_errors_of_builtins():
    for args in ((), (3,), ([],)):
        with pytest.raises((TypeError, ValueError)) as plain:
            max(*args)
        with pytest.raises(plain.type) as compiled:
            autoconv.compile(max)(*args)
        assert str(compiled.value) == str(plain.value)
