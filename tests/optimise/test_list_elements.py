"""Narrower types of lists: elements that are all known, and stacks of lists whose length is constant."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
from autoconv.graph.types import TensorType
from autoconv.optimise.specialise import specialise
from tests.backends import portable_samples as portable


def filled(x):
    rows, row = ac.TensorArray(ac.float32, size=ac.shape(x)[0] + 1), ac.constant([0.0, 1.0])
    rows = rows.write(0, row)
    for i in ac.range(ac.shape(x)[0]):
        row = row + x[i]
        rows = rows.write(i + 1, row)
    return rows.stack()


def appended(x):
    rows = ac.TensorArray(ac.float32, size=0, dynamic_size=True)
    for i in ac.range(ac.shape(x)[0]):
        rows = rows.write(i, x[i])
    return rows.stack()


def stack_shape(function, x):
    concrete = ac.function(function).get_concrete_function(ac.TensorSpec([None, 2]))
    graph = specialise(concrete.recorded, [TensorType(ac.float32, x.shape)])
    (stack,) = [node for node in graph.walk() if node.op.name == "list_stack"]
    return stack.results[0].type.shape


X = np.arange(10, dtype=np.float32).reshape(5, 2)


@pytest.mark.parametrize(("function", "shape"), [(filled, (6, 2)), (appended, (None, 2))])
def test_the_shape_of_a_stack(function, shape):
    assert stack_shape(function, X) == shape


def test_a_reserved_list_without_a_shape_of_elements_has_a_form():
    pytest.importorskip("jaxlib")
    module = ac.stablehlo.export(ac.function(filled), ac.TensorSpec(X.shape))
    (found,), word = portable.run_module(module, [X])
    assert not word
    np.testing.assert_array_equal(found, filled(ac.constant(X)))


def recurrent(n):
    terms = ac.TensorArray(ac.int64, size=n, clear_after_read=False, element_shape=[])
    terms = terms.write(0, ac.constant(1, ac.int64)).write(1, ac.constant(1, ac.int64))
    for i in ac.range(2, n):
        terms = terms.write(i, terms.read(i - 1) + terms.read(i - 2))
    return terms.stack()


def test_lists_that_keep_their_length_are_arrays():
    staged = ac.function(filled)
    np.testing.assert_array_equal(staged(ac.constant(X)), filled(ac.constant(X)))
    assert "by kernels" not in staged.explain()
    staged = ac.function(recurrent)
    np.testing.assert_array_equal(staged(ac.constant(6)), [1, 1, 2, 3, 5, 8])
    for n in (0, 1):
        message = f"Trying to modify element {n} in a list with {n} elements"
        with pytest.raises(ac.errors.IndexOutOfRangeError, match=message):
            staged(ac.constant(n))


def test_a_growing_list_without_a_shape_of_elements_has_a_form():
    pytest.importorskip("onnxruntime")
    model = ac.onnx.load(ac.onnx.export(ac.function(appended), ac.TensorSpec([None, 2])))
    for rows in (1, 5):
        np.testing.assert_array_equal(model(X[:rows]), X[:rows])


def decayed(x):
    """Return the sum of squares of the states of s = 0.5 s + x[i], from the last row to the first."""
    rows = ac.TensorArray(ac.float32, size=ac.shape(x)[0]).unstack(x)
    state, total = ac.zeros([2]), ac.constant(0.0)
    for i in ac.range(ac.shape(x)[0]):
        state = 0.5 * state + rows.read(ac.shape(x)[0] - 1 - i)
        total += ac.reduce_sum(state * state)
    return total


def test_lists_of_the_rows_of_a_tensor_and_their_cotangents_are_arrays():
    @ac.function
    def value_and_gradient(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            total = decayed(x)
        return total, tape.gradient(total, x)

    total, gradient = value_and_gradient(ac.constant(X))
    assert "by kernels" not in value_and_gradient.explain()
    states = [np.zeros(2, np.float32)]
    for row in X[::-1]:
        states.append(0.5 * states[-1] + row)
    np.testing.assert_allclose(total, np.square(states).sum(), rtol=1e-6)
    cotangents = [np.zeros(2, np.float32)]
    for state in states[:0:-1]:
        cotangents.append(0.5 * cotangents[-1] + 2 * state)
    np.testing.assert_allclose(gradient, cotangents[1:], rtol=1e-6)
