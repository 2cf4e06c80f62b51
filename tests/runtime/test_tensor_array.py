"""TensorArray eagerly, in graphs, and across the borders of loops and branches."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf


def test_writes_and_reads_eagerly() -> None:
    array = tf.TensorArray(tf.float32, size=3)
    array = array.write(0, 10.0).write(1, 20.0).write(2, 30.0)
    assert array.read(1).numpy() == 20.0
    assert array.size().numpy() == 3
    assert array.dtype is tf.float32 and array.element_shape == () and not array.dynamic_size


def test_stack_gather_concat_split_unstack_scatter() -> None:
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(rows.stack(), [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(rows.gather([2, 0]), [[5, 6], [1, 2]])
    np.testing.assert_array_equal(rows.concat(), [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(
        rows.scatter([3, 1], [[7.0, 8.0], [9.0, 9.0]]).stack()[1:], [[9, 9], [5, 6], [7, 8]]
    )
    parts = tf.TensorArray(tf.int32, size=0, dynamic_size=True, infer_shape=False).split([1, 2, 3], [1, 2])
    np.testing.assert_array_equal(parts.read(1), [2, 3])
    np.testing.assert_array_equal(parts.read(0), [1])


def test_unwritten_elements_are_zeros() -> None:
    np.testing.assert_array_equal(tf.TensorArray(tf.int32, size=3).write(1, 5).stack(), [0, 5, 0])


def test_a_second_read_raises_with_a_remedy() -> None:
    array = tf.TensorArray(tf.float32, size=1).write(0, 1.0)
    array.read(0)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Could not read index 0 twice because it was cleared"
    ):
        array.read(0)
    kept_array = tf.TensorArray(tf.float32, size=1, clear_after_read=False).write(0, 1.0)
    assert kept_array.read(0).numpy() == kept_array.read(0).numpy() == 1.0


def test_indices_out_of_range() -> None:
    array = tf.TensorArray(tf.float32, size=3)
    with pytest.raises(tf.errors.OutOfRangeError, match="Tried to read from index 7 but array size is: 3 "):
        array.read(7)
    with pytest.raises(
        tf.errors.OutOfRangeError,
        match="Tried to write to index 9 but array is not resizeable and size is: 3 ",
    ):
        array.write(9, 1.0)
    with pytest.raises(IndexError):
        array.read(-1)


def test_elements_have_to_fit() -> None:
    array = tf.TensorArray(tf.float32, size=2).write(0, [1.0, 2.0])
    with pytest.raises(ValueError, match="Incompatible shape"):
        array.write(1, [1.0, 2.0, 3.0])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="dtype is float32 but Op is trying to write dtype int32"
    ):
        array.write(1, tf.constant(1))
    with pytest.raises(ValueError, match="static size 2"):
        array.unstack([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


@tf.function
def cumulative_sums(x: tf.Tensor) -> tf.Tensor:
    states = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    state = tf.zeros(x.shape[1:])
    for i in tf.range(tf.shape(x)[0]):
        state = state + x[i]
        states = states.write(i, state)
    stacked = states.stack()
    assert stacked.shape.as_list() == [None, 2]  # the first write determines the shape of elements
    return stacked


def test_an_array_grows_in_a_staged_loop() -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(cumulative_sums(tf.constant(x)), np.cumsum(x, 0))


@tf.function
def written_in_a_branch(flag: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.int32, size=2)
    if flag:
        array = array.write(0, 7)
    else:
        array = array.write(1, 9)
    return array.stack()


def test_an_array_in_branches() -> None:
    assert written_in_a_branch(tf.constant(True)).numpy().tolist() == [7, 0]
    assert written_in_a_branch(tf.constant(False)).numpy().tolist() == [0, 9]


@tf.function
def ignores_the_result_of_write(n: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.int32, size=3)
    for i in tf.range(n):
        array.write(i, i + 1)
    return array.stack()


def test_the_result_of_write_has_to_be_used_in_a_graph() -> None:
    assert ignores_the_result_of_write(tf.constant(3)).numpy().tolist() == [0, 0, 0]


@tf.function
def writes_past_the_end(n: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.int32, size=2)
    for i in tf.range(n):
        array = array.write(i, i)
    return array.stack()


def test_writing_past_the_end_in_a_graph() -> None:
    assert writes_past_the_end(tf.constant(2)).numpy().tolist() == [0, 1]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Trying to modify element 2 in a list with 2 elements"
    ):
        writes_past_the_end(tf.constant(5))


@tf.function
def several_shapes(n: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True, infer_shape=False)
    for i in tf.range(n):
        array = array.write(i, tf.range(i + 1))
    return array.concat()


def test_elements_of_several_shapes_are_joined() -> None:
    assert several_shapes(tf.constant(3)).numpy().tolist() == [0, 0, 1, 0, 1, 2]


@tf.function
def all_methods(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack(x)
    more = array.scatter([3], [[9.0, 9.0]])
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
    return (
        array.size(),
        array.gather([2, 0]),
        array.concat(),
        more.stack(),
        parts.read(1),
        array.identity().read(0),
    )


def test_every_method_in_a_graph() -> None:
    x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    size, gathered, joined, more, part, first = all_methods(tf.constant(x))
    assert size.numpy() == 3
    np.testing.assert_array_equal(gathered, x[[2, 0]])
    np.testing.assert_array_equal(joined, x.ravel())
    np.testing.assert_array_equal(more, [*x.tolist(), [9, 9]])
    np.testing.assert_array_equal(part, x[1:])
    np.testing.assert_array_equal(first, x[0])


def test_an_array_made_outside_is_read_inside() -> None:
    array = tf.TensorArray(tf.float32, size=2, clear_after_read=False).write(0, 3.0)

    @tf.function
    def doubled() -> tf.Tensor:
        return array.stack() * 2

    assert doubled().numpy().tolist() == [6.0, 0.0]


@tf.function
def returned(n: tf.Tensor) -> tf.TensorArray:
    array = tf.TensorArray(tf.int32, size=n)
    for i in tf.range(n):
        array = array.write(i, i * i)
    return array


def test_an_array_can_be_returned() -> None:
    array = returned(tf.constant(4))
    assert isinstance(array, tf.TensorArray)
    assert array.stack().numpy().tolist() == [0, 1, 4, 9]


def test_stacks_of_arrays_of_fixed_size_have_that_size() -> None:
    shapes = {}

    @tf.function
    def stacks(n, rows):
        written = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(3):
            written = written.write(i, [1.0, 2.0])
        shapes["loop"] = written.stack().shape.as_list()
        shapes["scatter"] = tf.TensorArray(tf.float32, 2).scatter([1, 0], [1.0, 2.0]).stack().shape.as_list()
        shapes["fewer rows"] = tf.TensorArray(tf.float32, 5).unstack([1.0, 2.0]).stack().shape.as_list()
        shapes["open rows"] = tf.TensorArray(tf.float32, 5).unstack(rows).stack().shape.as_list()
        shapes["of a value"] = tf.TensorArray(tf.float32, n).unstack([1.0, 2.0]).stack().shape.as_list()
        shapes["dynamic"] = tf.TensorArray(tf.float32, 1, True).write(0, 1.0).write(1, 1.0).stack().shape.as_list()
        if n > 1:
            either = tf.TensorArray(tf.float32, size=4).write(0, 1.0)
        else:
            either = tf.TensorArray(tf.float32, size=5).write(0, 2.0)
        shapes["branches"] = either.stack().shape.as_list()
        return written.stack(), either.stack()

    concrete = stacks.get_concrete_function(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
    assert shapes == {
        "loop": [3, 2], "scatter": [2], "fewer rows": [None], "open rows": [None], "of a value": [None],
        "dynamic": [None], "branches": [None],
    }  # fmt: skip
    for n, size in ((1, 5), (2, 4)):
        rows, either = concrete(tf.constant(n), tf.zeros(7))
        assert rows.shape == (3, 2) and either.shape == (size,)


def test_a_part_of_a_loop_may_have_arrays_of_another_size() -> None:
    @tf.function
    def last(n):
        array = tf.TensorArray(tf.float32, size=3)
        for i in tf.range(n):
            array = array.unstack(tf.fill([i + 1], 1.0))
        return array.stack()

    assert [len(last(tf.constant(n))) for n in (0, 1, 5)] == [3, 1, 5]
