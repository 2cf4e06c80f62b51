"""Assertions, and Python functions called from graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv as tf
from autoconv.api.control import checks, shape_checks
from autoconv.api.gradients import callbacks
from autoconv.errors import AssertionFailedError, InvalidArgumentError
from autoconv.graph.dtypes import float32, int32
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.tensor import EagerTensor

X = np.array([1.0, 2.0, 3.0], np.float32)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (checks.assert_equal, (X, X), (X, X + 1)),
        (checks.assert_none_equal, (X, X + 1), (X, X)),
        (checks.assert_less, (X, X + 1), (X, X)),
        (checks.assert_less_equal, (X, X), (X + 1, X)),
        (checks.assert_greater, (X + 1, X), (X, X)),
        (checks.assert_greater_equal, (X, X), (X, X + 1)),
        (checks.assert_positive, (X,), (X - 1,)),
        (checks.assert_negative, (-X,), (X,)),
        (checks.assert_non_negative, (X - 1,), (X - 2,)),
        (checks.assert_non_positive, (1 - X,), (2 - X,)),
        (checks.assert_near, (X, X + 1e-7), (X, X + 0.1)),
    ],
)
def test_elementwise(run_and_trace: Callable[..., Any], check: Callable[..., Any], good: Any, bad: Any) -> None:
    def run(*inputs: Any) -> Any:
        check(*inputs)
        return inputs[0]

    run_and_trace(run, *good)
    with pytest.raises(AssertionFailedError, match="assertion failed: "):
        check(*bad)


def test_text() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        checks.assert_equal(constant([1, 2]), [1, 3], message="not the same")
    assert caught.value.message == (
        "assertion failed: [not the same] [Condition x == y did not hold element-wise:] "
        "[x = ] [1 2] [y = ] [1 3]"
    )
    with pytest.raises(AssertionFailedError, match=r"assertion failed: \[too small\] \[1 2 3\]"):
        checks.Assert(constant(False), ["too small", constant(X)])


def test_ranks_and_shapes() -> None:
    x = constant(np.zeros((2, 3)))
    shape_checks.assert_rank(x, 2)
    shape_checks.assert_rank_at_least(x, 1)
    shape_checks.assert_shapes([(x, ("N", "D")), (constant(X), ("D",))])
    shape_checks.assert_shapes([(x, ("...", 3)), (x, (2, None))])
    shape_checks.assert_type(x, "float64")
    shape_checks.assert_scalar(1)
    shape_checks.assert_integer(1)
    assert shape_checks.assert_same_float_dtype([constant(X)]) is float32
    for function in (
        lambda: shape_checks.assert_rank(x, 1),
        lambda: shape_checks.assert_rank_at_least(x, 3),
        lambda: shape_checks.assert_shapes([(x, ("N", "N"))]),
        lambda: shape_checks.assert_shapes([(x, (2,))]),
        lambda: shape_checks.assert_scalar(x),
        lambda: shape_checks.assert_same_float_dtype([x, constant(X)]),
    ):
        with pytest.raises(ValueError):
            function()
    for function in (lambda: shape_checks.assert_type(x, int32), lambda: shape_checks.assert_integer(x)):
        with pytest.raises(TypeError):
            function()


def test_ranks_that_are_unknown(run_and_trace: Callable[..., Any]) -> None:
    def run(x: Any) -> Any:
        shape_checks.assert_rank(x, 1)
        shape_checks.assert_rank_at_least(x, 1)
        return x

    run_and_trace(run, X)


def test_finite() -> None:
    assert checks.assert_all_finite(X, "fine").shape == (3,)
    with pytest.raises(InvalidArgumentError, match="bad"):
        checks.assert_all_finite([1.0, float("nan")], "bad")


def test_numpy_function(run_and_trace: Callable[..., Any]) -> None:
    seen = []

    def halve(x: Any) -> Any:
        seen.append(type(x))
        return x / 2

    found = run_and_trace(lambda x: callbacks.numpy_function(halve, [x], float32), X)
    np.testing.assert_array_equal(found.numpy(), X / 2)
    assert len(seen) == 4 and set(seen) == {np.ndarray}
    two = run_and_trace(lambda x: callbacks.numpy_function(lambda a: (a, a.size), [x], [float32, int32]), X)
    assert isinstance(two, list) and int(two[1]) == 3
    assert callbacks.numpy_function(lambda: None, [], None) is None
    assert callbacks.numpy_function(lambda: "text", [], "string").numpy() == b"text"


def test_py_function(run_and_trace: Callable[..., Any]) -> None:
    seen = []

    def double(x: Any) -> Any:
        seen.append(type(x))
        return x * 2

    found = run_and_trace(lambda x: callbacks.py_function(double, [x], TensorSpec((3,), float32)), X)
    np.testing.assert_array_equal(found.numpy(), X * 2)
    assert set(seen) == {EagerTensor}


def test_wrong_results() -> None:
    with pytest.raises(InvalidArgumentError, match="is float64, but expects float32"):
        callbacks.numpy_function(lambda: np.zeros(2), [], float32)
    with pytest.raises(InvalidArgumentError, match="returned 1 values, but expects to see 2"):
        callbacks.numpy_function(lambda: 1, [], [int32, int32])
    with pytest.raises(ValueError, match="callable"):
        callbacks.numpy_function(3, [], int32)  # type: ignore[arg-type]


def test_assert_rank_in() -> None:
    shape_checks.assert_rank_in(X, [0, 1])
    with pytest.raises(ValueError, match=r"must have rank in \(0, 2\). Received rank 1, shape \(3,\)"):
        shape_checks.assert_rank_in(X, (0, 2))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def unknown(x: Any) -> Any:
        shape_checks.assert_rank_in(x, [1, 2], message="rows or a table")
        return x

    assert unknown(X).shape == (3,)
    with pytest.raises(AssertionFailedError, match="rows or a table"):
        unknown(1.0)


def test_assert_proper_iterable() -> None:
    for values in ([1], (), {"a": 1}, range(3)):
        checks.assert_proper_iterable(values)
    for values in (3, "text", X, constant([1, 2])):
        with pytest.raises(TypeError, match="'proper' iterable"):
            checks.assert_proper_iterable(values)


def test_predicates() -> None:
    assert shape_checks.is_numeric_tensor(constant(1)) and not shape_checks.is_numeric_tensor(constant("a"))
    assert not shape_checks.is_numeric_tensor(constant(True)) and not shape_checks.is_numeric_tensor(X)
    for values, rises, strictly in (
        ([1, 2, 2], True, False), ([[1, 2], [3, 4]], True, True), ([3, 2], False, False), ([], True, True),
        (5, True, True),
    ):  # fmt: skip
        assert bool(checks.is_non_decreasing(values)) is rises
        assert bool(tf.function(checks.is_strictly_increasing)(constant(values))) is strictly


def test_integers_divided_by_zero_raise() -> None:
    zero, six = constant(0), constant(6)
    for divide in (lambda x: 7 // x, lambda x: six % x, lambda x: tf.math.floormod([7, 8], x), lambda x: six // [1, x]):
        for run in (divide, tf.function(divide)):
            with pytest.raises(InvalidArgumentError, match="Integer division by zero"):
                run(zero)
    assert [int(tf.function(lambda x: 7 // x + 7 % x)(constant(n))) for n in (2, -2)] == [4, -5]
    branch = tf.function(lambda x: tf.cond(x > 0, lambda: 7 // x, lambda: x))
    assert int(branch(zero)) == 0 and int(branch(six)) == 1
    assert tf.math.floordiv(1.0, 0.0).numpy() == np.inf
    variable = tf.Variable([3, 2])
    for run in (lambda: [7, 7] // variable + variable % variable, lambda: tf.math.floordiv([7, 7], variable)):
        assert run().numpy().tolist() == tf.function(run)().numpy().tolist() == [2, 3]
    rows = tf.vectorized_map(lambda pair: pair[0] // pair[1], (constant([5, 6]), constant([2, 3])))
    assert rows.numpy().tolist() == [2, 2]
    with np.errstate(divide="ignore"):
        assert tf.compile(lambda a, b: a // b)(np.array([1, 2]), np.array([0, 1])).tolist() == [0, 2]


def test_results_of_py_function_are_converted(run_and_trace: Callable[..., Any]) -> None:
    dtypes = [int32, float32, float32]
    results = (np.float64(2.5), np.array([1.5, 2]), 3)
    found = run_and_trace(lambda x: callbacks.py_function(lambda _: results, [x], dtypes), X)
    assert [value.dtype for value in found] == dtypes
    assert [np.asarray(value).tolist() for value in found] == [2, [1.5, 2], 3]
    for result, dtype in ((None, float32), (2.5, int32), (constant(2.5), int32), (np.array([1.0]), "string")):
        with pytest.raises(tf.errors.InvalidArgumentError):
            callbacks.py_function(lambda: result, [], dtype)  # noqa: B023
    with pytest.raises(tf.errors.InvalidArgumentError, match="returned 0 values, but expects to see 1"):
        callbacks.numpy_function(lambda: None, [], float32)


def test_arrays_of_numbers_are_no_strings() -> None:
    with pytest.raises(ValueError, match="Failed to convert a NumPy array to a Tensor"):
        tf.constant(np.array([1.5]), tf.string)


def test_an_unused_check_of_numbers_runs_in_a_function() -> None:
    @tf.function
    def increment(x: Any) -> Any:
        tf.debugging.check_numerics(x, "bad")
        return x + 1.0

    assert increment(constant(1.0)).numpy() == 2
    with pytest.raises(InvalidArgumentError, match="bad : Tensor had NaN values"):
        increment(constant(np.nan, float32))
