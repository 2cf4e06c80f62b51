"""Section A: calls of functions, their results, functions in functions, and threads."""

import collections
import inspect
import sys
import threading

import numpy as np

import autoconv as tf
from tests.behaviours.facts import raises


def test_line_001_decorating_does_not_run_the_body():
    ran = []

    def py():
        ran.append(1)

    f = tf.function(py)
    assert ran == []
    assert f.python_function is py
    f()
    assert ran == [1]


def test_line_002_the_wrapper_looks_like_the_function():
    def py(a, b=2, *, c: int = 3):
        """The docstring of py."""
        return a

    f = tf.function(py)
    assert (f.__name__, f.__doc__) == ("py", "The docstring of py.")
    assert inspect.signature(f) == inspect.signature(py)
    assert f.__wrapped__ is f.python_function
    assert isinstance(f, tf.types.experimental.PolymorphicFunction)
    assert isinstance(f, tf.types.experimental.GenericFunction)
    assert type(f).__name__ == "Function"


def test_line_003_python_prints_once_a_trace_and_graphs_every_time(capfd):
    @tf.function
    def f(x):
        print("Traced with", x, flush=True)
        tf.print("Executed with", x)

    f(1)
    f(1)
    f(2)
    out, err = capfd.readouterr()
    assert out == "Traced with 1\nTraced with 2\n"
    assert err == "Executed with 1\nExecuted with 1\nExecuted with 2\n"


def test_line_003_in_that_order(capfd):
    @tf.function
    def f(x):
        print("Traced with", x)
        tf.print("Executed with", x, output_stream=sys.stdout)

    f(1)
    f(1)
    f(2)
    assert capfd.readouterr().out.splitlines() == [
        "Traced with 1", "Executed with 1", "Executed with 1", "Traced with 2", "Executed with 2",
    ]  # fmt: skip


def _double():
    @tf.function
    def double(a):
        print("Tracing with", a)
        return a + a

    return double


def test_line_004_one_trace_a_dtype(capsys):
    double = _double()
    results = [double(tf.constant(1)), double(tf.constant(1.1)), double(tf.constant("a"))]
    assert capsys.readouterr().out == (
        'Tracing with Tensor("a:0", shape=(), dtype=int32)\n'
        'Tracing with Tensor("a:0", shape=(), dtype=float32)\n'
        'Tracing with Tensor("a:0", shape=(), dtype=string)\n'
    )
    assert [r.numpy() for r in results] == [2, np.float32(2.2), b"aa"]
    assert double(tf.constant("b")).numpy() == b"bb"
    assert capsys.readouterr().out == ""


def test_line_005_traces_are_counted():
    double = _double()
    for value in (1, 1.1, "a"):
        double(tf.constant(value))
    assert double.experimental_get_tracing_count() == 3


def test_line_005_failed_traces_are_not():
    calls = []

    @tf.function
    def f(x):
        calls.append(x)
        if len(calls) == 1:
            raise RuntimeError("the first call")
        return x

    with raises(RuntimeError, "the first call"):
        f(tf.constant(1))
    assert f.experimental_get_tracing_count() == 0
    assert f(tf.constant(1)).numpy() == 1
    assert f.experimental_get_tracing_count() == 1


def test_line_006_signatures_in_the_order_of_tracing():
    double = _double()
    for value in (1, 1.1, "a"):
        double(tf.constant(value))
    double(tf.constant(1))
    blocks = [
        f"Input Parameters:\n  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=autoconv.{dtype}, name=None)\n"
        f"Output Type:\n  TensorSpec(shape=(), dtype=autoconv.{dtype}, name=None)\nCaptures:\n  None"
        for dtype in ("int32", "float32", "string")
    ]
    assert double.pretty_printed_concrete_signatures() == "\n\n".join(blocks)


def test_line_013_defaults_and_keywords_share_a_trace():
    @tf.function
    def f(a, b=2):
        return a + b

    t = tf.constant(1)
    assert [f(t).numpy(), f(t, 2).numpy(), f(a=t, b=2).numpy(), f(b=2, a=t).numpy()] == [3, 3, 3, 3]
    assert f.experimental_get_tracing_count() == 1
    assert f(t, b=3).numpy() == 4
    assert f.experimental_get_tracing_count() == 2


def test_line_014_a_tensor_default_is_used_and_a_changed_closure_list_is_noticed():
    @tf.function
    def with_default(x, t=tf.constant(5)):  # noqa: B008 - what the line is about
        return x + t

    assert with_default(tf.constant(1)).numpy() == 6

    k = [1]

    @tf.function
    def f(x):
        return x + k[0]

    assert f(tf.constant(1)).numpy() == 2
    k[0] = 10
    assert f(tf.constant(1)).numpy() == 11


def test_line_015_star_arguments():
    @tf.function
    def f(*args, **kw):
        return args[0] + kw["k"]

    t = tf.constant(1)
    f(t, k=t)
    text = f.pretty_printed_concrete_signatures()
    assert "args_0 (POSITIONAL_ONLY): TensorSpec(shape=(), dtype=autoconv.int32, name=None)" in text
    assert "k (KEYWORD_ONLY): TensorSpec(shape=(), dtype=autoconv.int32, name=None)" in text
    f(t, t, k=t)
    assert f.experimental_get_tracing_count() == 2


def test_line_016_arguments_that_do_not_bind():
    @tf.function
    def f(a, b=2):
        return a

    signature = "(a, b=<captured_default_value>)"
    with raises(TypeError, "missing a required argument: 'a'", "Received args: () and kwargs: {}", signature):
        f()
    with raises(TypeError, "too many positional arguments", "Received args: (1, 2, 3)", signature):
        f(1, 2, 3)
    with raises(TypeError, "got an unexpected keyword argument 'c'", "kwargs: {'c': 3}", signature):
        f(1, c=3)


def test_line_017_functions_of_one_python_function_share_nothing(capsys):
    def f():
        print("Tracing!")
        tf.print("Executing")

    tf.function(f)()
    tf.function(f)()
    assert capsys.readouterr().out == "Tracing!\nTracing!\n"


def test_line_018_methods_have_a_cache_an_instance():
    class M:
        def __init__(self, n):
            self.n = n

        @tf.function
        def m(self, x):
            return x * self.n

    a, b = M(2), M(3)
    t = tf.constant(5)
    assert [a.m(t).numpy(), b.m(t).numpy(), a.m(t).numpy()] == [10, 15, 10]
    assert a.m.experimental_get_tracing_count() == 1
    assert b.m.experimental_get_tracing_count() == 1
    assert a.m is a.m
    assert "self" not in a.m.pretty_printed_concrete_signatures()
    assert M.m(a, t).numpy() == 10
    assert M.m.experimental_get_tracing_count() == 1
    assert a.m.experimental_get_tracing_count() == 1


def test_line_033_functions_in_functions(capsys):
    @tf.function
    def inner(x):
        print("inner trace", x.shape)
        return x + 1

    @tf.function
    def outer(x):
        return inner(x) * inner(x)

    @tf.function
    def another(x):
        return inner(x)

    t = tf.constant(2)
    assert outer(t).numpy() == 9
    assert another(t).numpy() == 3
    assert capsys.readouterr().out == "inner trace ()\n"
    ops = [node.op for node in outer.get_concrete_function(t).graph.as_graph_def().node]
    assert ops.count("PartitionedCall") == 2

    v = tf.Variable(1)

    @tf.function
    def stateful(x):
        return v.assign_add(x)

    @tf.function
    def calls_stateful(x):
        return stateful(x)

    assert calls_stateful(t).numpy() == 3
    ops = [node.op for node in calls_stateful.get_concrete_function(t).graph.as_graph_def().node]
    assert ops.count("StatefulPartitionedCall") == 1


def test_line_034_concurrent_first_calls_trace_once():
    traces = []

    @tf.function
    def f(x):
        traces.append(1)
        return x + 1

    barrier, results = threading.Barrier(8), []

    def call():
        barrier.wait()
        results.append(int(f(tf.constant(1)).numpy()))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2] * 8
    assert traces == [1]
    assert f.experimental_get_tracing_count() == 1


def test_line_035_results_are_tensors_in_their_structure():
    Pair = collections.namedtuple("Pair", "x y")

    @tf.function
    def f():
        return 1, 1.5, True, "a", None, np.float64(2), [1, {"k": 2.0}], Pair(1, (2, None))

    one, half, true, text, none, double, nested, pair = f()
    assert [t.dtype for t in (one, half, true, text, double)] == [
        tf.int32, tf.float32, tf.bool, tf.string, tf.float64,
    ]  # fmt: skip
    assert [t.numpy() for t in (one, half, true, text, double)] == [1, 1.5, True, b"a", 2.0]
    assert none is None
    assert type(nested) is list and tf.is_tensor(nested[0]) and nested[1]["k"].dtype == tf.float32
    assert type(pair) is Pair and type(pair.y) is tuple and pair.y[0].numpy() == 2 and pair.y[1] is None


def test_line_036_arguments_that_are_returned():
    @tf.function
    def f(t):
        return t

    t = tf.constant(1)
    assert f(t) is not t
    assert f(t).numpy() == 1

    @tf.function
    def twice(t):
        return t, t

    first, second = twice(t)
    assert first is not second

    v = tf.Variable(3.0)

    @tf.function
    def variable():
        return v

    assert not isinstance(variable(), tf.Variable)
    assert type(variable()).__name__ == "EagerTensor"
    assert variable().numpy() == 3.0


def test_line_037_results_that_are_no_tensors():
    @tf.function
    def f():
        return (i for i in range(3))

    with raises(
        TypeError, "Python functions must return zero or more Tensors or ExtensionTypes or None values",
        "in compilation of <function", "found return value of type generator, which is not a Tensor or ExtensionType",
    ):  # fmt: skip
        f()


def test_line_038_what_cannot_be_called():
    with raises(TypeError, "3 is not a callable object"):
        tf.function(3)
