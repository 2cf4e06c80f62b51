"""Refusals and warnings of tapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as tf


def test_a_higher_derivative_of_ops_with_effects_is_refused() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        v.assign_add(1.0)
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        slope = tape.gradient(y, x)
        curve = tape.gradient(slope, x)
    with pytest.raises(TypeError, match="a higher derivative of"):
        tape.gradient(curve, x)


def test_watching_objects_that_are_no_tensors() -> None:
    with tf.GradientTape() as tape:
        for value in (3.0, "text", np.ones(2)):
            with pytest.raises(ValueError, match=r"not autoconv\.Tensor or autoconv\.Variable") as caught:
                tape.watch(value)
            assert repr(value) in str(caught.value) and type(value).__name__ in str(caught.value)


@pytest.mark.parametrize(("target", "source"), [(3.0, None), (None, 3.0), ("y", None), (None, [1.0])])
def test_gradients_of_objects_that_are_no_tensors(target: Any, source: Any) -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    wrong = target if target is not None else source[0] if isinstance(source, list) else source
    with pytest.raises(ValueError, match="Passed in object") as caught:
        tape.gradient(y if target is None else target, x if source is None else source)
    assert repr(wrong) in str(caught.value)


def test_integers_have_no_gradient(caplog: Any) -> None:
    x, n = tf.constant(2.0), tf.constant(3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, n])
        y = x * tf.cast(n, tf.float32)
        integers = tf.cast(y, tf.int32)
    assert tape.gradient(y, n) is None
    assert tape.gradient(integers, x) is None
    texts = [record.getMessage() for record in caplog.records]
    assert texts == [
        f"The dtype of the {what} tensor must be floating (e.g. autoconv.float32){when}, got autoconv.int32"
        for what, when in (
            ("watched", ""),
            ("source", " when calling GradientTape.gradient"),
            ("target", " when calling GradientTape.gradient"),
        )
    ]


def test_misuse_of_the_block() -> None:
    tape = tf.GradientTape()
    with pytest.raises(ValueError, match="Tape is not recording"), tape.stop_recording():
        pass
    with tape, pytest.raises(ValueError, match="Tape is still recording"):
        tape.__enter__()
    with pytest.raises(ValueError, match="recompute_every is a number of iterations, at least 1, found 0"):
        tf.GradientTape(recompute_every=0)
    with pytest.raises(ValueError, match="'sometimes' is not a valid UnconnectedGradients"):
        tf.GradientTape().gradient(tf.constant(1.0), tf.constant(1.0), unconnected_gradients="sometimes")


def test_an_op_without_a_gradient_is_named() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.random.shuffle(x)
    with pytest.raises(TypeError, match="the op 'random_shuffle' has no gradient"):
        tape.gradient(y, x)
    first_root = tf.compile(lambda x: np.roots(x)[0])
    with pytest.raises(TypeError, match="the op 'numpy_call' has no gradient: NumPy computes it"):
        tf.grad(first_root)(np.array([2.0, 1.0]))


@pytest.mark.parametrize("persistent", [False, True])
def test_a_tape_that_was_never_entered_has_no_gradients(persistent: bool) -> None:
    with pytest.raises(RuntimeError, match="entered first"):
        tf.GradientTape(persistent).gradient(tf.constant(1.0), tf.constant(2.0))
