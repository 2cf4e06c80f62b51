"""Section D: effects of Python and of ops, their order, and unused ops."""

import datetime
import random
import sys
import time
import warnings

import numpy as np
import pytest

import autoconv as tf
from tests.behaviours.facts import raises


def test_line_076_python_effects_happen_once_a_trace():
    external_list = []

    @tf.function
    def side_effect(x):
        print("Python side effect")
        external_list.append(x)

    side_effect(1)
    side_effect(1)
    side_effect(1)
    assert external_list == [1]
    side_effect(tf.constant(5))
    assert len(external_list) == 2
    assert str(external_list[1]) == 'Tensor("x:0", shape=(), dtype=int32)'


def test_line_077_effects_go_in_order_and_unused_ops_without_effects_go(capfd):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        tf.print("a", v)
        if x > 0:
            v.assign_add(1)
            tf.print("b", v)
        else:
            tf.print("c")
        tf.debugging.assert_equal(v, 1)
        v.assign(10)
        for i in tf.range(2):
            tf.print("d", i, v)
            v.assign_add(1)
        tf.print("e", v)

    f(tf.constant(1))
    assert capfd.readouterr().err == "a 0\nb 1\nd 0 10\nd 1 11\ne 12\n"

    def unused_return_eager(x):
        tf.gather(x, [1])
        return x

    with raises(tf.errors.InvalidArgumentError, "indices[0] = 1 is not in [0, 1)", "[Op:GatherV2]"):
        unused_return_eager(tf.constant([0.0]))
    assert tf.function(unused_return_eager)(tf.constant([0.0])).numpy().tolist() == [0.0]


def test_line_078_unused_ops_with_effects_stay(capfd):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        v.assign(7)
        tf.print("printed")
        tf.debugging.assert_positive(x)
        return x

    assert f(tf.constant(1)).numpy() == 1
    assert v.numpy() == 7
    assert capfd.readouterr().err == "printed\n"
    with raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1))


def test_line_079_python_iterators_advance_once_a_trace(capfd):
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
    assert next(iterator) == 1

    @tf.function
    def another(it):
        tf.print("Value:", next(it))

    numbers = iter([1, 2, 3])
    another(numbers)
    another(numbers)
    another(numbers)
    assert capfd.readouterr().err == "Value: 1\n" * 3


foo = 1


def test_line_081_globals_are_noticed():
    global foo
    foo = 1

    @tf.function
    def buggy_add():
        return 1 + foo

    @tf.function
    def recommended_add(foo):
        return 1 + foo

    assert buggy_add().numpy() == 2
    assert recommended_add(foo).numpy() == 2
    foo = 100
    assert buggy_add().numpy() == 101  # better than the line: a changed global is noticed
    assert recommended_add(foo).numpy() == 101


variable_global = None


def test_line_081_a_variable_follows_its_assignments():
    global variable_global
    variable_global = tf.Variable(1)

    @tf.function
    def variable_add():
        return 1 + variable_global

    assert variable_add().numpy() == 2
    variable_global.assign(100)
    assert variable_add().numpy() == 101
    assert variable_add.experimental_get_tracing_count() == 1


def test_line_082_python_random_numbers_and_times_are_constants():
    @tf.function
    def constants():
        return np.random.uniform(), time.time(), random.random(), datetime.datetime.now().timestamp()

    first, second = constants(), constants()
    assert [t.numpy() for t in first] == [t.numpy() for t in second]

    @tf.function
    def drawn():
        return tf.random.uniform([4]), tf.timestamp()

    (numbers, stamp), (others, later) = drawn(), drawn()
    assert numbers.numpy().tolist() != others.numpy().tolist()
    assert later.numpy() > stamp.numpy()
    assert drawn.experimental_get_tracing_count() == 1


x = None


def test_line_083_a_leaked_tensor_is_named_when_it_is_used(capsys):
    @tf.function
    def leaky_function(a):
        global x
        x = a + 1
        return a + 2

    correct_a = leaky_function(tf.constant(1))
    assert correct_a.numpy() == 3
    with raises(AttributeError, "'SymbolicTensor' object has no attribute 'numpy'"):
        x.numpy()
    print(x)
    assert capsys.readouterr().out == 'Tensor("add:0", shape=(), dtype=int32)\n'
    facts = (
        "<autoconv.Tensor 'add:0' shape=() dtype=int32> is out of scope and cannot be used here",
        "Use return values, explicit Python locals", "was defined here", "x = a + 1",
    )  # fmt: skip
    with raises(TypeError, *facts, "cannot be accessed from here"):
        x + 1

    @tf.function
    def captures_leaked_tensor(b):
        return b + x

    with raises(TypeError, *facts, "cannot be accessed from"):
        captures_leaked_tensor(tf.constant(2))


def test_line_085_a_nonlocal_updated_by_a_helper_becomes_state():
    @tf.function
    def f(n):
        total = 0

        def helper(i):
            nonlocal total
            total = total + i

        for i in tf.range(n):
            helper(i)
        return total

    assert f(tf.constant(4)).numpy() == 6
    assert f(tf.constant(5)).numpy() == 10
    assert f.experimental_get_tracing_count() == 1


def test_line_086_functions_of_python_run_every_time(capsys):
    def py(x):
        print("Executing eagerly.")
        return x * x

    @tf.function
    def f(x):
        print("Tracing.")
        return tf.py_function(py, [x], tf.float32)

    assert [f(tf.constant(2.0)).numpy(), f(tf.constant(3.0)).numpy()] == [4.0, 9.0]
    assert capsys.readouterr().out == "Tracing.\nExecuting eagerly.\nExecuting eagerly.\n"
    kinds = []

    @tf.function
    def g(x):
        found = tf.py_function(lambda t: kinds.append(type(t).__name__) or t, [x], tf.float32)
        sine = tf.numpy_function(np.sin, [x], tf.float32)
        print(found, sine)
        return sine

    assert g(tf.constant(0.0)).numpy() == 0.0
    assert kinds == ["EagerTensor"]
    assert capsys.readouterr().out == (
        'Tensor("EagerPyFunc:0", dtype=float32) Tensor("PyFunc:0", dtype=float32)\n'
    )
    assert "shape=<unknown>" in str(g.get_concrete_function(tf.constant(0.0)))


def test_line_087_functions_run_eagerly():
    seen = []

    @tf.function
    def f(x):
        seen.append(hasattr(x, "numpy"))
        return x + 1

    t = tf.constant(1)
    f(t)
    assert not tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        assert [f(t).numpy(), f(t).numpy()] == [2, 2]
        assert seen == [False, True, True]
        assert f.experimental_get_tracing_count() == 1
    finally:
        tf.config.run_functions_eagerly(False)
    assert f(t).numpy() == 2
    assert len(seen) == 3
    assert f.experimental_get_tracing_count() == 1
    with pytest.warns(DeprecationWarning, match="run_functions_eagerly"):
        tf.config.experimental_run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tf.config.experimental_run_functions_eagerly(False)


def test_line_088_inside_a_trace():
    found = []

    @tf.function
    def f():
        found.append((tf.executing_eagerly(), tf.inside_function()))
        return 1

    cf = f.get_concrete_function()
    assert found == [(False, True)]
    assert (tf.executing_eagerly(), tf.inside_function()) == (True, False)
    assert cf.graph.name == "f"


def _printed(capfd, *values, **options):
    tf.print(*values, **options)
    eager = capfd.readouterr()

    @tf.function
    def f():
        tf.print(*values, **options)

    f()
    traced = capfd.readouterr()
    assert eager == traced
    return traced.err


def test_line_089_formats_of_print(capfd):
    x = tf.constant(1)
    text = "1 [1, 1] {'a': (1, 'b'), 'k': 1} str 1.5 None True\n"
    assert _printed(capfd, x, [1, x], {"k": x, "a": (1, "b")}, "str", 1.5, None, True) == text
    assert _printed(capfd, tf.constant(["x", "y"])) == '["x" "y"]\n'
    assert _printed(capfd, tf.constant("bare")) == "bare\n"
    assert _printed(capfd, tf.range(20)) == "[0 1 2 ... 17 18 19]\n"
    assert _printed(capfd, tf.range(20), summarize=2) == "[0 1 ... 18 19]\n"
    assert _printed(capfd, tf.range(20), summarize=-1) == f"[{' '.join(map(str, range(20)))}]\n"
    assert _printed(capfd, tf.constant(1 / 3)) == "0.333333343\n"
    assert _printed(capfd, tf.constant(1e10)) == "1e+10\n"
    assert _printed(capfd, tf.constant([1, 2.5])) == "[1 2.5]\n"
    assert _printed(capfd, tf.constant(True)) == "1\n"
    assert _printed(capfd, x, x, end="!", sep="-") == "1-1!"


def test_line_089_streams(capfd):
    tf.print(tf.constant(1), output_stream=sys.stdout)
    tf.print(tf.constant(2), output_stream=sys.stderr)
    tf.print(tf.constant(3))
    assert capfd.readouterr() == ("1\n", "2\n3\n")
