"""Sessions run the part of a graph that the fetches need, with values in place of placeholders."""

from __future__ import annotations

import collections
import threading

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf
from autoconv.errors import FailedPreconditionError, InvalidArgumentError


@pytest.fixture(autouse=True)
def graph():
    with ac.Graph().as_default() as new_graph:
        yield new_graph


def test_structures_of_fetches():
    a, b = tf.constant(2.0), tf.constant([1, 2])
    Pair = collections.namedtuple("Pair", "first second")
    with tf.Session() as session:
        found = session.run({"list": [a, (b,)], "pair": Pair(a, tf.no_op()), "name": "Const:0"})
    assert found["list"][0] == 2.0 and type(found["list"][0]) is np.float32
    np.testing.assert_array_equal(found["list"][1][0], [1, 2])
    assert found["pair"] == Pair(np.float32(2.0), None) and found["name"] == 2.0


def test_only_fetched_ops_run():
    ran = []
    noted = tf.py_func(lambda x: ran.append(1) or x, [tf.constant(1)], tf.int32)
    other = tf.constant(5) + 1
    with tf.Session() as session:
        assert session.run(other) == 6 and not ran
        assert session.run(noted) == 1 and ran == [1]


def test_values_are_fed_in_place_of_any_tensor():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    double = x * 2.0
    total = tf.reduce_sum(double)
    with tf.Session() as session:
        assert session.run(total, {x: [[1, 2], [3, 4]]}) == 20.0
        assert session.run(total, {"x:0": np.ones([5, 2])}) == 20.0
        assert session.run(total, {double: [[7.0, 1.0]]}) == 8.0
        run = session.make_callable([total, double], [x])
        np.testing.assert_array_equal(run(np.eye(2))[1], np.eye(2) * 2)


@pytest.mark.parametrize(
    ("feeds", "error", "message"),
    [
        ({}, InvalidArgumentError, r"a value for placeholder tensor 'x' with dtype float32 and shape \[\?,2\]"),
        ({"x:0": [1.0, 2.0]}, ValueError, r"feed value of shape \(2,\) for Tensor x:0, which has shape \(None, 2\)"),
        ({"nothing:0": 1.0}, ValueError, "refers to an Operation not in the graph"),
        ({3: 1.0}, TypeError, "invalid type 'int'"),
    ],
)
def test_feeds_that_do_not_fit(feeds, error, message):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.Session() as session, pytest.raises(error, match=message):
        session.run(x + 1.0, feeds)


def test_fetches_that_do_not_fit():
    with ac.init_scope():
        eager = ac.constant(1)
    with ac.Graph().as_default():
        foreign = tf.constant(1)
    with tf.Session() as session:
        with pytest.raises(TypeError, match="ran at once"):
            session.run(eager)
        with pytest.raises(ValueError, match="not an element of this graph"):
            session.run(foreign)
        with pytest.raises(TypeError, match="Fetch argument None has invalid type"):
            session.run(None)
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(tf.constant(1))


def test_each_session_has_values_of_its_own():
    v = tf.Variable(1.0, name="v")
    step = v.assign_add(1.0)
    first, second = tf.Session(), tf.Session()
    for session in (first, second):
        session.run(tf.global_variables_initializer())
    assert [first.run(step) for _ in range(3)] == [2.0, 3.0, 4.0]
    assert second.run(v) == 1.0 and first.run("v:0") == 4.0
    v.load(9.0, second)
    assert v.eval(session=second) == 9.0 and first.run(v) == 4.0


def test_variables_without_a_value():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(FailedPreconditionError, match="uninitialized value w"):
            session.run(v + w)
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"w"]
        assert session.run([tf.is_variable_initialized(v), tf.is_variable_initialized(w)]) == [True, False]
        assert session.run([w.initializer, w.assign_add(1.0)]) == [None, 3.0]  # in the order of the program


def test_a_failed_run_initialises_nothing():
    v = tf.Variable(1.0)
    bad = tf.group(v.initializer, tf.Assert(tf.constant(False), ["no"]))
    with tf.Session() as session:
        with pytest.raises(InvalidArgumentError):
            session.run(bad)
        with pytest.raises(FailedPreconditionError):
            session.run(v)


def test_control_dependencies_order_effects():
    v = tf.Variable(0)
    with tf.control_dependencies([v.assign_add(1)]):
        after = v.read_value() * 10
        with tf.control_dependencies([v.assign_add(1)]):
            group = tf.no_op()
        with tf.control_dependencies(None):
            neither = tf.constant(7) + 0
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(after) == 10 and session.run(v) == 1
        session.run(group)
        assert session.run(v) == 3
        assert session.run(neither) == 7 and session.run(v) == 3


def test_assertions_and_prints_are_operations(capfd):
    x = tf.placeholder(tf.int32, [])
    with tf.control_dependencies([tf.assert_greater(x, 0, message="positive!")]):
        y = x + 1
    printed = tf.Print(y, [y], "y is ")
    with tf.Session() as session:
        assert session.run(printed, {x: 3}) == 4
        with pytest.raises(InvalidArgumentError, match="positive!"):
            session.run(y, {x: -3})
    assert "y is [4]" in capfd.readouterr().err


def test_branches_and_loops():
    v = tf.Variable(10)
    x = tf.placeholder(tf.int32, [])
    chosen = tf.cond(x > 0, lambda: v.assign_add(x), lambda: v.value())
    zeros = [tf.constant(0), tf.constant(0)]
    i, total = tf.while_loop(lambda i, total: i < x, lambda i, total: (i + 1, total + i), zeros)
    alone = tf.while_loop(lambda i: i < 100, lambda i: i * 2, [x])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(chosen, {x: -1}) == 10 and session.run(chosen, {x: 5}) == 15
        assert session.run([i, total], {x: 5}) == [5, 10]
        assert session.run(alone, {x: 3}) == 192


def test_random_numbers_are_drawn_in_each_run():
    drawn = tf.random_normal([3])
    sum_of_both = drawn - drawn
    with tf.Session() as session:
        assert not np.array_equal(session.run(drawn), session.run(drawn))
        assert not session.run(sum_of_both).any()


def test_strings_and_defaults():
    text = tf.placeholder(tf.string, [None])
    x = tf.placeholder_with_default([1.0], [None])
    with tf.Session() as session:
        assert session.run(tf.strings.join([text, "!"]), {text: ["a", b"b"]}).tolist() == [b"a!", b"b!"]
        assert session.run(tf.reduce_sum(x)) == 1.0 and session.run(tf.reduce_sum(x), {x: [2, 3]}) == 5.0


def test_default_sessions(graph):
    x = tf.constant(3)
    with pytest.raises(ValueError, match="No default session"):
        x.eval()
    outer = tf.InteractiveSession()
    assert x.eval() == 3 and tf.get_default_session() is outer
    with tf.Session() as inner:
        assert tf.get_default_session() is inner
        v = tf.Variable(x * 2)
        v.initializer.run()
        assert v.eval() == 6
    assert tf.get_default_session() is outer
    outer.close()
    assert tf.get_default_session() is None


def test_tensors_are_keys_and_have_identity(graph):
    x, y = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    assert {x: "x", y: "y"}[graph.get_tensor_by_name(x.name)] == "x"
    assert (x == y) is False and x.graph is graph and x.op.graph is graph


def test_another_thread_runs_the_graph():
    x = tf.placeholder(tf.float32)
    y = x * 2.0
    found = []
    with tf.Session() as session:
        session.run(y, {x: 0.0})
        thread = threading.Thread(target=lambda: found.append(session.run(y, {x: 4.0})))
        thread.start()
        thread.join(30)
    assert found == [8.0]


def test_a_finalized_graph_takes_no_ops(graph):
    x = tf.constant(1)
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        x + 1
    with tf.Session() as session:
        assert session.run(x) == 1


def test_gradients():
    x = tf.placeholder(tf.float32)
    w = tf.Variable(3.0)
    (to_x, to_w) = tf.gradients(w * w * x, [x, w])
    (second,) = tf.gradients(to_w, [w])
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run([to_x, to_w, second], {x: 2.0}) == [9.0, 12.0, 4.0]


def test_iterators_of_datasets():
    rows = ac.data.Dataset.from_tensor_slices({"x": np.arange(5.0, dtype="f"), "n": np.arange(5)}).batch(2)
    element = rows.make_one_shot_iterator().get_next()
    restartable = rows.make_initializable_iterator()
    restarted_element = restartable.get_next()
    assert element["x"].shape.as_list() == [None]
    with tf.Session() as first, tf.Session() as second:
        assert [first.run(element)["n"].tolist() for _ in range(3)] == [[0, 1], [2, 3], [4]]
        with pytest.raises(ac.errors.OutOfRangeError):
            first.run(element)
        assert second.run(element["x"]).tolist() == [0.0, 1.0]
        with pytest.raises(FailedPreconditionError, match="initializer"):
            second.run(restarted_element)
        for _ in range(2):
            second.run(restartable.initializer)
            assert second.run(tf.reduce_sum(restarted_element["x"])) == 1.0


def test_iterators_of_several_datasets():
    spec = ({"a": tf.int64}, tf.int64), ({"a": []}, [])
    iterator = tf.data.Iterator.from_structure(*spec)
    numbers = [tf.data.Dataset.range(n, n + 2).map(lambda i: ({"a": i}, i * i)) for n in (0, 5)]
    starts = [iterator.make_initializer(dataset) for dataset in numbers]
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, *spec).get_next()
    element = iterator.get_next()
    with pytest.raises(TypeError, match="Expected elements"):
        iterator.make_initializer(tf.data.Dataset.range(2).map(lambda i: ({"a": i}, tf.cast(i, tf.float32))))
    with pytest.raises(TypeError, match="Expected elements"):
        iterator.make_initializer(tf.data.Dataset.range(2))
    with tf.Session() as session:
        with pytest.raises(FailedPreconditionError, match="initializer"):
            session.run(element)
        session.run(starts[1])
        assert session.run(element) == ({"a": 5}, 25)
        assert session.run(fed, {handle: session.run(iterator.string_handle())}) == ({"a": 6}, 36)
        session.run(starts[0])
        assert session.run(element) == ({"a": 0}, 0)
        with pytest.raises(ac.errors.InvalidArgumentError, match="that of no iterator"):
            session.run(fed, {handle: "Other"})


def test_an_iterator_of_a_dataset_is_started_on_another():
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
    other_start, element = iterator.make_initializer(tf.data.Dataset.range(7, 9)), iterator.get_next()
    with tf.Session() as session:
        for start, expected in ((other_start, 7), (iterator.initializer, 0)):
            session.run(start)
            assert session.run(element) == expected


def test_feeds_and_fetches_in_parts():
    pair = tf.placeholder(tf.float32, []), (tf.placeholder(tf.float32, [2]),)
    sparse = tf.sparse_placeholder(tf.float32, [None, 3])
    with tf.Session() as session:
        assert session.run(pair[0] + pair[1][0], {pair: (1.0, ([2.0, 3.0],))}).tolist() == [3.0, 4.0]
        fed = tf.SparseTensorValue([[0, 1]], [5.0], [2, 3])
        found = session.run(sparse, {sparse: fed})
        assert isinstance(found, tf.SparseTensorValue) and found.dense_shape.tolist() == [2, 3]
        assert session.run(tf.sparse.to_dense(sparse), {sparse: tuple(fed)}).tolist() == [[0, 5, 0], [0, 0, 0]]


def test_names_differ_in_more_than_the_case_of_letters():
    names = [tf.constant(1, name=name).name for name in ("x", "X", "x", "X")]
    assert names == ["x:0", "X_1:0", "x_2:0", "X_3:0"]


def test_the_operation_of_a_variable_has_its_name():
    v = tf.Variable(1.0, name="v")
    assert v.op.name == "v" and v.op == v.op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(v.op)


def test_python_functions_get_scalars():
    with tf.Session() as session:
        upper = tf.py_func(lambda text: text.upper(), [tf.constant("ab")], tf.string)
        kinds = tf.py_func(lambda *values: ",".join(type(v).__name__ for v in values), [1.0, True, [1]], tf.string)
        assert session.run([upper, kinds]) == [b"AB", b"float32,bool,ndarray"]


def test_datasets_of_placeholders():
    array, size = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [])
    rows = ac.data.Dataset.from_tensor_slices(array * 2.0).map(lambda x: x + 1.0).batch(size)
    iterator = rows.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for n in (2, 3):
            session.run(iterator.initializer, {array: np.arange(5.0), size: n})
            assert session.run(element).tolist() == [1.0, 3.0, 5.0, 7.0, 9.0][:n]


def test_threads_are_coordinated():
    coordinator = tf.train.Coordinator()
    counted = []

    def work():
        with coordinator.stop_on_exception():
            while not coordinator.should_stop():
                counted.append(1)
                if len(counted) > 100:
                    raise KeyError("enough")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    with pytest.raises(KeyError, match="enough"):
        coordinator.join(threads, stop_grace_period_secs=20)
