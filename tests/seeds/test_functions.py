"""Snippets of guides to tf.function, with only the import line changed, have the same output."""

import contextlib

import numpy as np
import pytest

import autoconv as tf


@contextlib.contextmanager
def assert_raises(error):
    with pytest.raises(error):
        yield


def test_functions_are_polymorphic(capsys):
    @tf.function
    def double(a):
        print("Tracing with", a)
        return a + a

    print(double(tf.constant(1)))
    print()
    print(double(tf.constant(1.1)))
    print()
    print(double(tf.constant("a")))
    print()
    assert capsys.readouterr().out == (
        'Tracing with Tensor("a:0", shape=(), dtype=int32)\n'
        "autoconv.Tensor(2, shape=(), dtype=int32)\n\n"
        'Tracing with Tensor("a:0", shape=(), dtype=float32)\n'
        "autoconv.Tensor(2.2, shape=(), dtype=float32)\n\n"
        'Tracing with Tensor("a:0", shape=(), dtype=string)\n'
        "autoconv.Tensor(b'aa', shape=(), dtype=string)\n\n"
    )


def test_python_side_effects_happen_once_a_trace(capfd):
    @tf.function
    def f(x):
        print("Traced with", x)
        tf.print("Executed with", x)

    f(1)
    f(1)
    f(2)
    out, err = capfd.readouterr()
    assert out == "Traced with 1\nTraced with 2\n"
    assert err == "Executed with 1\nExecuted with 1\nExecuted with 2\n"


def test_python_arguments_retrace_and_tensors_do_not(capsys):
    def train_one_step():
        pass

    @tf.function
    def train(num_steps):
        print(f"Tracing with num_steps = {num_steps}")
        for _ in tf.range(num_steps):
            train_one_step()

    train(num_steps=10)
    train(num_steps=20)
    assert capsys.readouterr().out == "Tracing with num_steps = 10\nTracing with num_steps = 20\n"
    train(num_steps=tf.constant(10))
    train(num_steps=tf.constant(20))
    assert capsys.readouterr().out.count("Tracing") == 1


def test_python_iterators_advance_once_a_trace(capfd):
    external_var = tf.Variable(0)

    @tf.function
    def buggy_consume_next(iterator):
        external_var.assign_add(next(iterator))
        tf.print("Value of external_var:", external_var)

    iterator = iter([0, 1, 2, 3])
    buggy_consume_next(iterator)
    buggy_consume_next(iterator)
    buggy_consume_next(iterator)
    assert capfd.readouterr().err == "Value of external_var: 0\n" * 3


def test_variables_are_created_once():
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        v.assign_add(x)
        return v

    with assert_raises(ValueError):
        f(1.0)

    v = tf.Variable(1.0)

    @tf.function
    def g(x):
        return v.assign_add(x)

    assert g(1.0).numpy() == 2.0
    assert g(2.0).numpy() == 4.0


def test_variable_held_by_an_object():
    class C:
        pass

    obj = C()
    obj.v = None

    @tf.function
    def g(x):
        if obj.v is None:
            obj.v = tf.Variable(1.0)
        return obj.v.assign_add(x)

    assert g(1.0).numpy() == 2.0
    assert g(2.0).numpy() == 4.0


def test_a_function_that_creates_a_variable_prints_once_and_fails(capsys):
    def f():
        a = tf.constant([[10, 10], [11.0, 1.0]])
        x = tf.constant([[1.0, 0.0], [0.0, 1.0]])
        b = tf.Variable(12.0)
        y = tf.matmul(a, x) + b
        print("PRINT: ", y)
        tf.print("TF-PRINT: ", y)
        return y

    np.testing.assert_array_equal(f().numpy(), [[22.0, 22.0], [23.0, 13.0]])
    capsys.readouterr()
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        tf.function(f)()
    out, err = capsys.readouterr()
    assert out == 'PRINT:  Tensor("add:0", shape=(2, 2), dtype=float32)\n'
    assert err == ""


def test_variable_as_an_argument():
    @tf.function
    def f(b):
        a = tf.constant([[10, 10], [11.0, 1.0]])
        x = tf.constant([[1.0, 0.0], [0.0, 1.0]])
        return tf.matmul(a, x) + b

    np.testing.assert_array_equal(f(tf.Variable(12.0)).numpy(), [[22.0, 22.0], [23.0, 13.0]])


def test_variable_in_a_class():
    class F:
        def __init__(self):
            self._b = None

        @tf.function
        def __call__(self):
            a = tf.constant([[10, 10], [11.0, 1.0]])
            x = tf.constant([[1.0, 0.0], [0.0, 1.0]])
            if self._b is None:
                self._b = tf.Variable(12.0)
            return tf.matmul(a, x) + self._b

    f = F()
    np.testing.assert_array_equal(f().numpy(), [[22.0, 22.0], [23.0, 13.0]])
    np.testing.assert_array_equal(f().numpy(), [[22.0, 22.0], [23.0, 13.0]])


def test_input_signature(capsys):
    @tf.function(input_signature=[tf.TensorSpec(shape=(None, 4), dtype=tf.int32)])
    def py_function(x):
        return x + 1

    for shape in ((2, 4), (5, 4)):
        assert py_function(tf.zeros(shape, tf.int32)).shape == shape
    assert py_function([[1, 2, 3, 4]]).numpy().tolist() == [[2, 3, 4, 5]]
    assert py_function.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="Can not cast"):
        py_function(tf.zeros((2, 5), tf.int32))


def test_graph_of_a_concrete_function():
    def my_function(x):
        print("Running eagerly or tracing!")
        if tf.reduce_sum(x) <= 1:
            return x * x
        else:
            return x - 1

    a_function = tf.function(my_function)
    a_concrete_function = a_function.get_concrete_function(tf.TensorSpec([2], tf.int32))
    assert a_concrete_function(tf.constant([1, 0])).numpy().tolist() == [1, 0]
    assert a_concrete_function(tf.constant([2, 3])).numpy().tolist() == [1, 2]
    graph = a_concrete_function.graph
    names = [node.name for node in graph.as_graph_def().node]
    assert names[0] == "x"
    assert {"Sum", "LessEqual", "cond", "Identity"} <= set(names)
    lines = [f"{node.input} -> {node.name}" for node in graph.as_graph_def().node]
    assert "[] -> x" in lines


def test_graph_nodes_of_double():
    @tf.function
    def double(a):
        return a + a

    concrete = double.get_concrete_function(tf.TensorSpec([], tf.string))
    lines = [f"{node.input} -> {node.name}" for node in concrete.graph.as_graph_def().node]
    assert lines == ["[] -> a", "['a', 'a'] -> add", "['add'] -> Identity"]
    assert concrete(tf.constant("a")).numpy() == b"aa"
    assert concrete(a=tf.constant("a")).numpy() == b"aa"


def test_input_modification_is_an_error():
    @tf.function
    def dict_op(d):
        d["new"] = tf.constant(1)
        return d["a"]

    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        dict_op({"a": tf.constant(0)})

    @tf.function
    def copy_op(d):
        d = dict(d)
        d["new"] = tf.constant(1)
        return d["a"]

    assert copy_op({"a": tf.constant(7)}).numpy() == 7


def test_retracing_with_dicts():
    @tf.function
    def f(d):
        return d["a"] + d["b"]

    one, two = tf.constant(1), tf.constant(2)
    f({"a": one, "b": two})
    f({"b": two, "a": one})
    assert f.experimental_get_tracing_count() == 1
    f({"a": one, "b": two, "c": two})
    assert f.experimental_get_tracing_count() == 2


def test_matmul_function_as_wrapper():
    def function_to_get_faster(x, y, b):
        x = tf.matmul(x, y)
        x = x + b
        return x  # noqa: RET504 - as printed

    wrapped = tf.function(function_to_get_faster)
    a = tf.constant([[1.0, 2.0]])
    b = tf.constant([[2.0], [3.0]])
    c = tf.constant(4.0)
    assert wrapped(a, b, c).numpy().tolist() == [[12.0]]
    assert wrapped.python_function is function_to_get_faster


def test_run_functions_eagerly():
    seen = []

    @tf.function
    def py_function(x, y: int):
        seen.append(x)
        return x + y

    tf.config.run_functions_eagerly(True)
    try:
        assert py_function(tf.constant(1), 2).numpy() == 3
        assert py_function(tf.constant(1), 2).numpy() == 3
    finally:
        tf.config.run_functions_eagerly(False)
    assert [x.numpy() for x in seen] == [1, 1]


def test_add_function():
    @tf.function
    def add(a, b):
        return a + b

    assert repr(add(tf.ones([2, 2]), tf.ones([2, 2]))) == (
        "<autoconv.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[2., 2.],\n       [2., 2.]], dtype=float32)>"
    )


def test_dynamic_rnn_over_plain_ops():
    class DynamicRNN:
        def __init__(self, rnn_cell):
            self.cell = rnn_cell

        def call(self, input_data):
            # [batch, time, features] -> [time, batch, features]
            input_data = tf.transpose(input_data, [1, 0, 2])
            outputs = tf.TensorArray(tf.float32, input_data.shape[0])
            state = self.cell.zero_state(input_data.shape[1], dtype=tf.float32)
            for i in tf.range(input_data.shape[0]):
                output, state = self.cell(input_data[i], state)
                outputs = outputs.write(i, output)
            return tf.transpose(outputs.stack(), [1, 0, 2]), state

    class Cell:
        def zero_state(self, batch, dtype):
            return tf.zeros([batch, 3], dtype)

        def __call__(self, x, state):
            state = tf.tanh(x + state)
            return state, state

    model = DynamicRNN(Cell())
    data = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    state = np.zeros((2, 3), np.float32)
    expected = []
    for step in range(5):
        state = np.tanh(data[:, step] + state)
        expected.append(state)
    for run in (model.call, tf.function(model.call)):
        output, last = run(tf.constant(data))
        np.testing.assert_allclose(output.numpy(), np.stack(expected, 1), rtol=1e-6, atol=2e-7)
        np.testing.assert_allclose(last.numpy(), state, rtol=1e-6, atol=2e-7)
