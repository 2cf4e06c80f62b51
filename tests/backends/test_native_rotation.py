"""Loop rotation: a condition over arrays is computed at the end of each iteration, in the loops of the body."""

from __future__ import annotations

import numpy as np

import autoconv as ac
from autoconv.backends.llvm.describe import describe
from autoconv.backends.llvm.legalize.rotate_loops import rotate_loops
from autoconv.graph.verify import verify


def test_conditions_and_bodies_run_as_often_as_before() -> None:
    @ac.function
    def halve(x: ac.Tensor, limit: ac.Tensor) -> tuple[ac.Tensor, ac.Tensor]:
        steps = ac.constant(0)
        while ac.reduce_max(ac.abs(x)) > limit:
            x = x * 0.5
            steps += 1
        return x, steps

    x = np.array([3.0, -40.0, 5.0], np.float32)
    for limit, expected in ((50.0, 0), (40.0, 0), (30.0, 1), (1.0, 6)):
        found, steps = halve(ac.constant(x), ac.constant(limit))
        assert int(steps) == expected
        np.testing.assert_array_equal(np.asarray(found), x * 0.5**expected)


def test_condition_and_body_share_a_loop() -> None:
    def newton(a: ac.Tensor) -> ac.Tensor:
        x = a
        while ac.reduce_max(ac.abs(x * x - a)) > 1e-4:
            x = 0.5 * (x + a / x)
        return x

    a = np.linspace(1, 2, 50, dtype=np.float32)
    function = ac.function(newton)
    np.testing.assert_allclose(np.asarray(function(ac.constant(a))), np.sqrt(a), rtol=1e-5)
    graph = function.get_concrete_function(ac.TensorSpec([50], ac.float32)).optimised
    verify(rotate_loops(graph))
    lines = describe(graph)
    assert sum("loop over 50" in line for line in lines) == 2  # the first condition, and the body with the others


def test_nested_loops_and_effects() -> None:
    @ac.function
    def nested(x: ac.Tensor, v: ac.Tensor) -> ac.Tensor:
        while ac.reduce_sum(x) < 100.0:
            y = x
            while ac.reduce_min(y) < 2.0:
                y = y + v
                if ac.reduce_max(y) > 5.0:
                    break
            x = x + y
        return x

    x, v = np.array([0.5, 1.0], np.float32), np.array([0.75, 1.25], np.float32)
    expected = x
    while expected.sum() < 100.0:
        y = expected
        while y.min() < 2.0:
            y = y + v
            if y.max() > 5.0:
                break
        expected = expected + y
    np.testing.assert_array_equal(np.asarray(nested(ac.constant(x), ac.constant(v))), expected)


def test_a_condition_that_raises_at_first() -> None:
    @ac.function
    def count(x: ac.Tensor, i: ac.Tensor) -> ac.Tensor:
        while ac.reduce_sum(x) > 0.0:
            x = x - 1.0
            ac.debugging.assert_greater(ac.reduce_sum(x), i)
        return x

    np.testing.assert_array_equal(np.asarray(count(ac.constant([2.0, 1.0]), ac.constant(-9.0))), [0.0, -1.0])
    try:
        count(ac.constant([2.0, 1.0]), ac.constant(0.5))
    except ac.errors.InvalidArgumentError as error:
        assert "assert" in str(error).lower() or "greater" in str(error).lower()
    else:
        raise AssertionError("it did not raise")
