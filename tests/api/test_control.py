"""cond, case, loops and maps by functions: eager results are those of graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv as tf


def run_and_compare(function: Callable[..., Any], *inputs: Any) -> Any:
    """Return the eager result of function(*inputs), compared with graphs of known and unknown shapes."""
    tensors = [tf.constant(x) for x in inputs]
    eager = function(*tensors)
    loose = tf.function(
        function, input_signature=[tf.TensorSpec([None] * t.shape.rank, t.dtype) for t in tensors]
    )
    for staged in (tf.function(function), loose):
        found = staged(*tensors)
        tf.nest.assert_same_structure(eager, found)
        for a, b in zip(tf.nest.flatten(eager), tf.nest.flatten(found), strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    return eager


# ---- cond, case, switch_case


def test_cond() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x > 2, lambda: x * 10, lambda: x - 1)

    assert int(run_and_compare(f, 3)) == 30 and int(run_and_compare(f, 1)) == 0


def test_cond_runs_one_branch() -> None:
    count = tf.Variable(0)

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x, lambda: count.assign_add(1), lambda: count.assign_sub(10))

    assert [int(f(tf.constant(b))) for b in (True, False, True)] == [1, -9, -8]


def test_branches_of_cond_are_converted() -> None:
    def inner(x: tf.Tensor) -> tf.Tensor:
        if x > 5:
            return x
        return -x

    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x > 0, lambda: inner(x), lambda: x)

    assert [int(run_and_compare(f, v)) for v in (7, 3, -2)] == [7, -3, -2]


def test_cond_refuses_values() -> None:
    with pytest.raises(TypeError, match="'false_fn' must be callable"):
        tf.cond(True, lambda: 1, 2)  # type: ignore[arg-type]


def test_case() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.case([(x < 2, lambda: x), (x < 4, lambda: x * 10)], default=lambda: -x)

    assert [int(run_and_compare(f, v)) for v in (1, 3, 9)] == [1, 30, -9]


def test_case_without_a_branch_that_holds() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.case([(x < 2, lambda: x)])

    for function in (f, tf.function(f)):
        assert int(function(tf.constant(1))) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(tf.constant(5))


def test_exclusive_case() -> None:
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.case([(x < 2, lambda: x), (x < 4, lambda: -x)], default=lambda: x, exclusive=True)

    for function in (f, tf.function(f)):
        assert int(function(tf.constant(3))) == -3
        with pytest.raises(tf.errors.InvalidArgumentError, match="exclusive=True"):
            function(tf.constant(1))


def test_switch_case() -> None:
    def f(i: tf.Tensor) -> tf.Tensor:
        return tf.switch_case(i, [lambda: i + 10, lambda: i + 20, lambda: i + 30])

    assert [int(run_and_compare(f, i)) for i in (0, 1, 2, 7, -1)] == [10, 21, 32, 37, 29]

    def g(i: tf.Tensor) -> tf.Tensor:
        return tf.switch_case(i, {3: lambda: i * 2, 7: lambda: i * 3}, default=lambda: i * 0)

    assert [int(run_and_compare(g, i)) for i in (3, 7, 5)] == [6, 21, 0]


# ---- while_loop


def test_while_loop() -> None:
    def f(n: tf.Tensor) -> Any:
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))

    final, total = run_and_compare(f, 5)
    assert int(final) == 5 and int(total) == 10 and final.dtype is tf.int32
    assert isinstance(run_and_compare(lambda n: tf.while_loop(lambda i: i < n, lambda i: i + 1, [0]), 3), list)


def test_eager_loops_keep_python_numbers() -> None:
    seen = []

    def body(i: Any, y: Any) -> Any:
        seen.append((type(i), type(y)))
        return i + 1, y * 2

    found = tf.while_loop(lambda i, y: i < 3, body, [0, 1.0])
    assert seen == [(int, float)] * 3
    assert [(x.dtype, x.numpy()) for x in found] == [(tf.int32, 3), (tf.float32, 8.0)]


def test_while_loop_stops_at_maximum_iterations() -> None:
    def f(n: tf.Tensor) -> Any:
        return tf.while_loop(lambda i: i < n, lambda i: [i + 2], [0], maximum_iterations=3)

    assert int(run_and_compare(f, 100)[0]) == 6 and int(run_and_compare(f, 3)[0]) == 4


def test_while_loop_with_structures_and_growing_shapes() -> None:
    def f(n: tf.Tensor) -> Any:
        return tf.while_loop(
            lambda state, rows: state["i"] < n,
            lambda state, rows: ({"i": state["i"] + 1}, tf.concat([rows, rows[-1:] * 2], 0)),
            ({"i": 0}, tf.constant([[1, 1]])),
            shape_invariants=({"i": tf.TensorShape([])}, tf.TensorShape([None, 2])),
        )

    _, rows = run_and_compare(f, 3)
    assert rows.numpy().tolist() == [[1, 1], [2, 2], [4, 4], [8, 8]]


def test_while_loop_checks_its_arguments() -> None:
    with pytest.raises(ValueError, match="has to give 2 values"):
        tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, j, 1), (0, 0))
    with pytest.raises(ValueError, match="'loop_vars' must be provided"):
        tf.while_loop(lambda: True, lambda: (), [])


def test_while_loop_with_an_array() -> None:
    def f(n: tf.Tensor) -> tf.Tensor:
        squares = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        _, squares = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, i * i)), (0, squares))
        return squares.stack()

    assert run_and_compare(f, 4).numpy().tolist() == [0, 1, 4, 9]


# ---- map_fn, scan, folds


def test_map_fn() -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(run_and_compare(lambda t: tf.map_fn(lambda row: row * 2, t), x), x * 2)
    np.testing.assert_array_equal(run_and_compare(lambda t: tf.map_fn(tf.reduce_sum, t), x), x.sum(1))
    np.testing.assert_array_equal(run_and_compare(lambda t: tf.vectorized_map(tf.reduce_sum, t), x), x.sum(1))


def test_map_fn_with_structures_and_other_dtypes() -> None:
    def f(t: tf.Tensor) -> Any:
        return tf.map_fn(
            lambda pair: {"sum": pair[0] + pair[1], "positive": pair[0] > 0}, (t, t * 10),
            fn_output_signature={"sum": tf.int32, "positive": tf.bool},
        )  # fmt: skip

    found = run_and_compare(f, [1, -2])
    assert found["sum"].numpy().tolist() == [11, -22] and found["positive"].numpy().tolist() == [True, False]
    halves = run_and_compare(lambda t: tf.map_fn(lambda v: tf.cast(v, tf.float64) / 2, t, tf.float64), [1, 3])
    assert halves.numpy().tolist() == [0.5, 1.5]


def test_map_fn_converts_its_function() -> None:
    def size(v: tf.Tensor) -> tf.Tensor:
        if v < 0:
            return -v
        return v

    assert run_and_compare(lambda t: tf.map_fn(size, t), [3, -4]).numpy().tolist() == [3, 4]


def test_map_fn_takes_eager_rows_once() -> None:
    seen: list[int] = []
    found = tf.map_fn(lambda v: (seen.append(int(v)), v * 2)[1], tf.constant([3, -4]))
    assert (seen, found.numpy().tolist()) == ([3, -4], [6, -8])
    with pytest.raises(ValueError, match="same nested structure"):
        tf.map_fn(lambda v: (v, seen.pop()) if seen else v, tf.constant([3, -4, 5]))


def test_scans_whose_state_grows() -> None:
    for run in (lambda f: f, tf.function):
        with pytest.raises(ValueError, match=r"(Inconsistent|Incompatible) shape"):
            run(lambda x: tf.scan(lambda a, v: tf.concat([a, a[:1]], 0), x, tf.constant([1.0])))(tf.ones([3]))


def test_map_fn_over_no_rows() -> None:
    empty = tf.zeros([0, 2])
    doubled = tf.function(
        lambda t: tf.map_fn(lambda row: row * 2, t), input_signature=[tf.TensorSpec([None, 2], tf.float32)]
    )
    assert tf.map_fn(lambda row: row, empty).shape == doubled(empty).shape == (0, 2)


def test_scan() -> None:
    x = [1, 2, 3, 4]
    assert run_and_compare(lambda t: tf.scan(lambda a, v: a + v, t), x).numpy().tolist() == [1, 3, 6, 10]
    assert run_and_compare(lambda t: tf.scan(lambda a, v: a + v, t, reverse=True), x).numpy().tolist() == [10, 9, 7, 4]
    started = run_and_compare(lambda t: tf.scan(lambda a, v: a * v, t, initializer=tf.constant(10)), x)
    assert started.numpy().tolist() == [10, 20, 60, 240]
    first, second = run_and_compare(
        lambda t: tf.scan(lambda a, v: (a[1], a[0] + a[1]), t, initializer=(tf.constant(0), tf.constant(1))),
        x,
    )
    assert first.numpy().tolist() == [1, 1, 2, 3] and second.numpy().tolist() == [1, 2, 3, 5]


def test_folds() -> None:
    x = [1, 2, 3]
    assert int(run_and_compare(lambda t: tf.foldl(lambda a, v: a * 10 + v, t), x)) == 123
    assert int(run_and_compare(lambda t: tf.foldr(lambda a, v: a * 10 + v, t), x)) == 321
    assert int(run_and_compare(lambda t: tf.foldl(lambda a, v: a * 10 + v, t, initializer=tf.constant(9)), x)) == 9123


# ---- scopes


def test_name_scopes_are_prefixes() -> None:
    names = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("scope"):
            names.append((x + 1).name)
            names.append((x + 2).name)
        names.append((x + 3).name)
        return x

    f(tf.constant(1))
    assert names == ["scope/add:0", "scope/add_1:0", "add:0"]


def test_scopes_nest_and_end() -> None:
    with tf.name_scope("a") as a, tf.name_scope("b") as b:
        assert (a, b) == ("a/", "a/b/")
    with tf.name_scope("c") as c:
        assert c == "c/"
    with pytest.raises(ValueError, match="must be a string"):
        tf.name_scope(1)  # type: ignore[arg-type]


def test_where_code_runs() -> None:
    assert tf.executing_eagerly() and not tf.inside_function()
    seen = []

    @tf.function
    def f() -> None:
        seen.append((tf.executing_eagerly(), tf.inside_function()))

    f()
    assert seen[0] == (False, True)


def test_control_dependencies_device_and_group() -> None:
    value = tf.Variable(1.0)

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with (
            tf.control_dependencies(
                [tf.debugging.assert_greater(x, 0.0), tf.group(value.assign(x), tf.no_op())]
            ),
            tf.device("/CPU:0"),
        ):
            return value.read_value() + 1

    assert float(f(tf.constant(4.0))) == 5.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1.0))
    with pytest.raises(ValueError, match="device"), tf.device(3):  # type: ignore[arg-type]
        pass


def test_is_tensor() -> None:
    assert tf.is_tensor(tf.constant(1)) and tf.is_tensor(tf.Variable(1)) and not tf.is_tensor(1)


def test_timestamp_is_taken_on_every_call() -> None:
    clock = tf.function(lambda: tf.timestamp())
    first, second = clock(), clock()
    assert first.dtype is tf.float64 and float(second) >= float(first) > 1.6e9


# ---- checks of results


def test_check_numerics_can_be_turned_on() -> None:
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Infinity or NaN in output 0 of eagerly.* op \"Log\""
        ):
            tf.math.log(tf.constant(-1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Infinity or NaN"):
            tf.function(lambda x: tf.math.log(x))(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(tf.constant(-1.0)).numpy())


def test_lists_among_loop_variables_are_plain_lists():
    classes = set()

    @tf.autograph.experimental.do_not_convert
    def body(i, pair):
        classes.add(type(pair))
        return i + 1, [pair[1], pair[0] + pair[1]]

    found = tf.function(lambda x: tf.while_loop(lambda i, pair: i < 5, body, (0, [x, x]))[1])(tf.constant(1))
    assert [int(number) for number in found] == [8, 13] and classes == {list}


def test_indices_of_slices_are_wide_where_the_paths_differ():
    @tf.function
    def choose(condition, values):
        return tf.cond(
            condition,
            lambda: tf.IndexedSlices(values, tf.constant([0, 1], tf.int64), [3, 2]),
            lambda: tf.IndexedSlices(values[:1], tf.constant([2]), [3, 2]),
        )

    chosen = choose(tf.constant(False), tf.ones((2, 2)))
    assert chosen.indices.dtype is tf.int64
    assert tf.convert_to_tensor(chosen).numpy().tolist() == [[0, 0], [0, 0], [1, 1]]
