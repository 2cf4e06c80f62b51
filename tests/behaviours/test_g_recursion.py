"""Line 126 of the catalogue, with its improvement: recursion on a tensor condition works."""

import autoconv as tf


def test_line_126_recursion_on_a_python_condition(capsys):
    @tf.function
    def recursive_fn(n):
        if n > 0:
            print("tracing")
            return recursive_fn(n - 1)
        else:
            return 1

    assert recursive_fn(5).numpy() == 1
    assert capsys.readouterr().out == "tracing\n" * 5


def test_line_126_recursion_on_a_tensor_condition(capsys):
    @tf.function
    def recursive_fn(n):
        if n > 0:
            print("tracing")
            return recursive_fn(n - 1)
        else:
            return 1

    assert recursive_fn(tf.constant(5)).numpy() == 1
    assert recursive_fn(tf.constant(800)).numpy() == 1
    assert capsys.readouterr().out == "tracing\n"
    assert recursive_fn.experimental_get_tracing_count() == 1
