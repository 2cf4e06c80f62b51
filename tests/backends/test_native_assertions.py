"""Assertions about numbers are native: messages of failures, and earlier effects."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv


def test_a_failing_assertion_in_a_loop_shows_its_numbers():
    @autoconv.function
    def f(x, n):
        autoconv.debugging.assert_greater(n, 0, message="no turns")
        for i in range(n):
            autoconv.Assert(i < 6, ["turn", i, x[0]])
            x = x + 1.0
        return x

    x = autoconv.constant(np.array([1.0, 2.0], np.float32))
    assert f(x, autoconv.constant(5)).numpy().tolist() == [6, 7]
    with pytest.raises(AssertionError, match=r"\[turn\] \[6\] \[7\]"):
        f(x, autoconv.constant(9))
    with pytest.raises(autoconv.errors.InvalidArgumentError, match=r"\[no turns\]"):
        f(x, autoconv.constant(0))
    assert not f.get_concrete_function(x, autoconv.constant(5)).kernels


def test_effects_before_a_failing_assertion_stay():
    state = autoconv.Variable(1.0)

    @autoconv.function
    def f(n):
        state.assign_add(1.0)
        autoconv.Assert(n > 0, ["found", n])
        state.assign_add(10.0)
        return n

    f(autoconv.constant(3))
    assert state.numpy() == 12
    with pytest.raises(AssertionError, match=r"\[found\] \[-1\]"):
        f(autoconv.constant(-1))
    assert state.numpy() == 13


def test_arrays_in_messages_keep_their_values():
    @autoconv.function
    def f(x):
        autoconv.Assert(autoconv.reduce_all(x > 0), [x[1:] * 2.0, x[::-1]], summarize=-1)
        return x

    assert f(autoconv.constant([1.0, 2.0])).numpy().tolist() == [1, 2]
    with pytest.raises(AssertionError, match=r"\[4 6\] \[3 2 -1\]"):
        f(autoconv.constant([-1.0, 2.0, 3.0]))
