"""Errors and conversions of map_fn, scan, folds, while_loop and TensorArray are those of TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autoconv as tf

X = [1.0, 2.0, 3.0]
ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: tf.map_fn(lambda v: tf.cast(v, tf.int32), x), tf.errors.InvalidArgumentError, "dtype is float32 but Op"),
    (lambda x: tf.map_fn(lambda v: 1.5, tf.cast(x, tf.int32)), tf.errors.InvalidArgumentError, "write dtype float32"),
    (lambda x: tf.map_fn(lambda v: (v, v), x), ValueError, "same nested structure"),
    (lambda x: tf.map_fn(lambda v: v[0], (x, x)), ValueError, "same nested structure"),
    (lambda x: tf.map_fn(lambda v: [v, v], x, fn_output_signature=(tf.float32, tf.float32)), TypeError, "types differ"),
    (lambda x: tf.map_fn(lambda v: {"b": v["a"]}, {"a": x}), ValueError, "same set of keys"),
    (
        lambda x: tf.map_fn(lambda v: v, x, fn_output_signature=tf.TensorSpec([2], tf.float32)),
        ValueError,
        r"(Incompatible|Inconsistent) shape",
    ),
    (lambda x: tf.map_fn(lambda v: v[0], (x, x[:2]), tf.float32), ValueError, "Dimensions 3 and 2 are not compatible"),
    (lambda x: tf.map_fn(lambda v: v, ()), ValueError, r"Got \(\), which does not contain any Tensors"),
    (lambda x: tf.map_fn(lambda v: v, x[0]), ValueError, r"Elements in elems must be 1\+ dimensional Tensors"),
    (lambda x: tf.scan(lambda a, v: (a, v), x), ValueError, "same nested structure"),
    (lambda x: tf.scan(lambda a, v: [a[0], v], x, initializer=(1.0, 2.0)), TypeError, "types differ"),
    (lambda x: tf.scan(lambda a, v: v, x, initializer=1), tf.errors.InvalidArgumentError, "dtype is int32 but Op"),
    (lambda x: tf.foldl(lambda a, v: (a, v), x), ValueError, "same nested structure"),
    (lambda x: tf.while_loop(lambda: True, lambda: (), []), ValueError, "'loop_vars' must be provided"),
]


@pytest.mark.parametrize("staged", [False, True])
def test_errors_of_maps_and_folds(staged: bool) -> None:
    x = tf.constant(X)
    for program, error, message in ERRORS:
        with pytest.raises(error, match=message):
            (tf.function(program) if staged else program)(x)


def test_maps_convert_numbers_to_the_dtype_of_the_elements() -> None:
    def program(x: Any) -> Any:
        return tf.map_fn(lambda v: 1, x), tf.map_fn(lambda v: {"a": v["a"]}, {"a": x})["a"]

    for run in (program, tf.function(program)):
        ones, items = run(tf.constant(X))
        assert (ones.dtype, ones.numpy().tolist(), items.numpy().tolist()) == (tf.float32, [1.0, 1.0, 1.0], X)


def test_maps_keep_the_known_length() -> None:
    @tf.function
    def shape(x: Any) -> Any:
        mapped = tf.map_fn(lambda v: tf.cast(v, tf.int32), x, fn_output_signature=tf.int32)
        assert mapped.shape == (3,)
        return mapped

    assert shape(tf.constant(X)).shape == (3,)


def test_folds_without_rows() -> None:
    for fold in (tf.scan, tf.foldl):
        with pytest.raises(tf.errors.OutOfRangeError, match="Tried to read from index 0 but array size is: 0 "):
            fold(lambda a, v: a + v, tf.zeros([0]))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"Reading from negative indices \(index -1\)"):
        tf.foldr(lambda a, v: a + v, tf.zeros([0]))
    assert tf.scan(lambda a, v: a + v, tf.zeros([0]), initializer=1.0).shape == (0,)


def _doubled(invariants: Any = None) -> Any:
    def program(n: Any) -> Any:
        loop_vars = [tf.constant(0), tf.zeros([1, 2])]
        return tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a], 0)), loop_vars, shape_invariants=invariants
        )[1]

    return program


def test_shapes_of_loop_variables_follow_the_invariants_in_graphs() -> None:
    scalar = tf.TensorShape([])
    growing = [scalar, tf.TensorShape([None, 2])]
    assert tf.function(_doubled(growing))(tf.constant(2)).shape == (4, 2)
    for invariants in (None, [scalar, tf.TensorShape([3, 2])], [scalar, tf.TensorShape([1, None])]):
        with pytest.raises(ValueError, match=r"after one iteration. To allow the shape to vary"):
            tf.function(_doubled(invariants))(tf.constant(2))
        assert _doubled(invariants)(tf.constant(2)).shape == (4, 2)
    for invariants in ([scalar], [scalar, [None, 2]]):
        with pytest.raises(ValueError, match="same nested structure"):
            tf.function(_doubled(invariants))(tf.constant(2))
    with pytest.raises(TypeError, match=r"enters the loop with type autoconv.int32 but has type autoconv.float32"):
        tf.function(lambda n: tf.while_loop(lambda i: i < n, lambda i: tf.cast(i, tf.float32), [tf.constant(0)]))(2)


def test_positions_out_of_range_of_a_tensor_array() -> None:
    def read(index: Any) -> Any:
        return tf.TensorArray(tf.float32, 3).write(0, 1.0).read(index)

    def write(index: Any) -> Any:
        return tf.TensorArray(tf.float32, 3).write(index, 1.0).stack()

    for index in (5, -1):
        with pytest.raises(tf.errors.OutOfRangeError):
            read(index)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"access element {index} in a list") as raised:
            tf.function(read)(tf.constant(index))
        assert not isinstance(raised.value, tf.errors.OutOfRangeError)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"modify element {index} in a list with 3 elements"):
            tf.function(write)(tf.constant(index))


def test_segments_are_sorted() -> None:
    for name in ("sum", "mean", "max", "min", "prod"):
        reduce = getattr(tf.math, f"segment_{name}")
        for run in (reduce, tf.function(reduce)):
            assert run(tf.constant(X), tf.constant([0, 1, 1])).shape == (2,)
            for ids, message in (([0, 2, 1], "segment ids are not increasing"), ([-1, 0, 1], "out of range")):
                with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                    run(tf.constant(X), tf.constant(ids))
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment ids are not increasing"):
        tf.sparse.segment_sum(tf.constant(X), [0, 1, 2], [0, 2, 1])


def test_eager_loops_return_the_container_of_the_body() -> None:
    """The classes are TensorFlow 2.21's."""
    test, start = (lambda i, total: i < 3), (tf.constant(0), tf.constant(0))
    for vars_class, body_class in ((list, tuple), (tuple, list)):
        def step(i: Any, total: Any, body_class: Any = body_class) -> Any:
            return body_class((i + 1, total + i))

        found = tf.while_loop(test, step, vars_class(start))
        staged = tf.function(lambda: tf.while_loop(test, step, vars_class(start)))()  # noqa: B023 - called at once
        unchanged = tf.while_loop(lambda i, total: i < 0, step, vars_class(start))
        assert (type(found), type(staged), type(unchanged)) == (body_class, vars_class, vars_class)
        assert [int(x) for x in found] == [int(x) for x in staged] == [3, 3]
