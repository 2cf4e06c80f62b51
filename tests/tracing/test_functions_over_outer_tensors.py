"""Functions made or called in a trace that capture its tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac


def test_a_function_that_captures_a_tensor_of_the_enclosing_trace() -> None:
    @ac.function
    def outer(x: Any) -> Any:
        y = x * 2

        @ac.function
        def inner(z: Any) -> Any:
            @ac.function
            def innermost(w: Any) -> Any:
                return w * y + z

            return innermost(z) + y if z > 0 else z

        return inner(x) + inner(y)

    def plain(x: float) -> float:
        y = x * 2
        return (x * y + x + y) + (y * y + y + y)

    assert float(outer(ac.constant(3.0))) == plain(3.0)
    assert float(outer(ac.constant(4.0))) == plain(4.0)


def test_in_loops_and_under_tapes() -> None:
    @ac.function
    def outer(x: Any) -> Any:
        y = x * 2

        @ac.function
        def inner(z: Any) -> Any:
            return z * y

        total = ac.constant(0.0)
        for i in ac.range(3):
            total += inner(ac.cast(i, ac.float32))
        with ac.GradientTape() as tape:
            tape.watch(y)
            product = inner(x)
        return total, tape.gradient(product, y)

    np.testing.assert_array_equal(outer(ac.constant(3.0)), [18.0, 3.0])


def test_a_function_whose_argument_is_such_a_closure() -> None:
    @ac.function
    def applied(function: Any, x: Any) -> Any:
        return function(x)

    @ac.function
    def outer(x: Any) -> Any:
        total = ac.reduce_sum(x)
        return applied(lambda value: value + total, x)

    np.testing.assert_array_equal(outer(ac.constant([1.0, 2.0])), [4.0, 5.0])
    np.testing.assert_array_equal(applied(lambda value: value * 2, ac.constant([1.0])), [2.0])


def test_tensors_of_ended_traces_are_refused() -> None:
    leaked = []

    @ac.function
    def first(x: Any) -> Any:
        leaked.append(x * 2)
        return x

    @ac.function
    def inner(x: Any) -> Any:
        return x + leaked[0]

    @ac.function
    def second(x: Any) -> Any:
        return inner(x)

    first(ac.constant(1.0))
    with pytest.raises(TypeError, match="out of scope"):
        second(ac.constant(1.0))
