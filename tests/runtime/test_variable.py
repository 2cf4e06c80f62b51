"""Variables: assigning, reading, names, parts of them, and their creation."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf


def test_repr_and_attributes() -> None:
    variable = tf.Variable([1.0, 2.0], name="w", trainable=False)
    assert repr(variable) == (
        "<autoconv.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert variable.name == "w:0" and variable.shape == (2,) and variable.ndim == 1 and not variable.trainable
    assert bool(variable.is_initialized())
    assert variable.synchronization is tf.VariableSynchronization.AUTO
    assert variable.aggregation is tf.VariableAggregation.NONE


def test_assigning() -> None:
    variable = tf.Variable(1.0)
    assert variable.assign(5.0).numpy() == 5.0
    assert variable.assign_add(1.0).numpy() == 6.0
    assert variable.assign_sub(2.0).numpy() == 4.0
    assert variable.assign(9.0, read_value=False) is None
    assert variable.numpy() == variable.read_value().numpy() == variable.value().numpy() == 9.0


def test_a_value_read_before_an_assignment_stays() -> None:
    variable = tf.Variable([1, 2])
    before = variable.value()
    variable.assign([3, 4])
    assert before.numpy().tolist() == [1, 2]


def test_another_shape_or_dtype_is_refused() -> None:
    variable = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Cannot assign value to variable 'Variable:0': Shape mismatch"):
        variable.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="requested dtype float32"):
        variable.assign(tf.constant([1, 2]))
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()
    free = tf.Variable([1.0], shape=[None])
    assert free.assign([1.0, 2.0, 3.0]).shape == (3,)


def test_operators_read_the_variable() -> None:
    variable = tf.Variable([1.0, 2.0])
    np.testing.assert_array_equal((variable * 2 + 1)[1:], [5.0])
    assert float(tf.reduce_sum(variable)) == 3.0 and len(variable) == 2


def test_rows_and_elements_are_updated() -> None:
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = tf.IndexedSlices(tf.constant([[10.0, 20.0]]), tf.constant([1]))
    np.testing.assert_array_equal(variable.scatter_update(rows), [[1, 2], [10, 20], [5, 6]])
    np.testing.assert_array_equal(variable.scatter_add(rows)[1], [20, 40])
    np.testing.assert_array_equal(variable.scatter_sub(rows)[1], [10, 20])
    np.testing.assert_array_equal(variable.scatter_div(rows)[1], [1, 1])
    np.testing.assert_array_equal(variable.scatter_mul(rows)[1], [10, 20])
    np.testing.assert_array_equal(variable.scatter_min(tf.IndexedSlices([[0.0, 99.0]], [1]))[1], [0, 20])
    np.testing.assert_array_equal(variable.scatter_max(tf.IndexedSlices([[5.0, 5.0]], [1]))[1], [5, 20])
    variable.scatter_nd_update([[0, 1], [2, 0]], [-1.0, -2.0])
    np.testing.assert_array_equal(variable, [[1, -1], [5, 20], [-2, 6]])
    np.testing.assert_array_equal(variable.sparse_read([2, 0]), [[-2, 6], [1, -1]])
    np.testing.assert_array_equal(variable.gather_nd([[1, 1]]), [20])
    with pytest.raises(TypeError, match="not IndexedSlices"):
        variable.scatter_update({1: 2})


def test_updates_of_rows_in_a_function() -> None:
    variable = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def step(value: tf.Tensor) -> tf.Tensor:
        return variable.scatter_nd_add([[1]], [value])

    step(tf.constant(10.0))
    np.testing.assert_array_equal(step(tf.constant(10.0)), [1, 22, 3])
    np.testing.assert_array_equal(variable, [1, 22, 3])


def test_names_contain_the_name_scope() -> None:
    with tf.name_scope("outer"), tf.name_scope("inner"):
        assert tf.Variable(1, name="v").name == "outer/inner/v:0"
    assert tf.Variable(1, name="v").name == "v:0"


def test_creators_make_variables() -> None:
    seen = []

    def creator(following, **arguments):  # type: ignore[no-untyped-def]
        seen.append(arguments["name"])
        arguments["initial_value"] = arguments["initial_value"] + 1
        return following(**arguments)

    with tf.variable_creator_scope(creator), tf.variable_creator_scope(creator):
        variable = tf.Variable(1.0, name="made")
    assert seen == ["made", "made"] and variable.numpy() == 3.0
    assert tf.Variable(1.0).numpy() == 1.0


def test_order_of_reads_and_writes_in_a_function() -> None:
    variable = tf.Variable(1.0)

    @tf.function
    def run() -> tuple[tf.Tensor, ...]:
        first = variable.read_value()
        variable.assign(10.0)
        second = variable.read_value()
        if second > 5.0:
            variable.assign_add(1.0)
        for _ in tf.range(3):
            variable.assign_add(1.0)
        return first, second, variable.value()

    assert [float(x) for x in run()] == [1.0, 10.0, 14.0]
    assert variable.numpy() == 14.0


def test_init_scope_runs_once_a_trace() -> None:
    counter = tf.Variable(0)

    @tf.function
    def lifted() -> tf.Tensor:
        with tf.init_scope():
            assert tf.executing_eagerly()
            counter.assign_add(1)
        return counter.read_value()

    assert [int(lifted()) for _ in range(3)] == [1, 1, 1]


def test_assignments_follow_one_another() -> None:
    variable = tf.Variable(1.0)
    assert float(variable.assign(5.0).assign_add(1.0).assign_sub(2.0)) == 4.0
    assert float(variable) == 4.0

    @tf.function
    def step() -> tf.Tensor:
        return variable.assign_add(1.0).assign_add(1.0) * 2.0

    assert float(step()) == 12.0 and float(variable) == 6.0
    with pytest.raises(AttributeError, match="'EagerTensor' object has no attribute 'assign'"):
        tf.constant(1.0).assign(2.0)


def test_parts_are_assigned() -> None:
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(variable[0].assign([7.0, 8.0]), [[7, 8], [3, 4], [5, 6]])
    variable[1:, 0].assign(0.0)
    variable[2, 1].assign_add(10)
    variable[..., 1].assign_sub([1.0, 1.0, 1.0])
    np.testing.assert_array_equal(variable, [[7, 7], [0, 3], [0, 15]])
    before = variable[0]
    variable.assign(variable * 0)
    np.testing.assert_array_equal(before, [7, 7])

    @tf.function
    def fill(n: tf.Tensor) -> None:
        for i in tf.range(n):
            variable[i, 0].assign(tf.cast(i, tf.float32))

    fill(tf.constant(3))
    np.testing.assert_array_equal(variable, [[0, 0], [1, 0], [2, 0]])
    with pytest.raises(ValueError, match="requested dtype float32"):
        variable[0].assign(tf.constant([1, 2]))


def test_rows_of_batches_are_updated() -> None:
    variable = tf.Variable([[1, 2, 3], [4, 5, 6]])
    variable.batch_scatter_update(tf.IndexedSlices([[10, 20], [30, 40]], [[2, 0], [1, 1]]))
    np.testing.assert_array_equal(variable, [[20, 2, 10], [4, 40, 6]])


def test_a_variable_that_a_tensor_chooses_is_a_value() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def chosen(flag: tf.Tensor) -> tf.Tensor:
        variable = a if flag else b
        return variable * 10.0

    assert float(chosen(tf.constant(False))) == 20.0

    @tf.function
    def assigned(flag: tf.Tensor) -> tf.Tensor:
        variable = a if flag else b
        return variable.assign_add(1.0)

    with pytest.raises(AttributeError, match=r"has no attribute 'assign_add': .*assign in each branch"):
        assigned(tf.constant(True))
