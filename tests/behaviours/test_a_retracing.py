"""Section A: the trace that a call uses, and the options and the warning about retracing."""

import logging

import autoconv as tf


def test_line_027_a_more_general_trace_is_used_again():
    @tf.function
    def f(x):
        return x + x

    f.get_concrete_function(tf.TensorSpec([None, None], tf.float32))
    f.get_concrete_function(tf.TensorSpec([1, None], tf.float32))
    f(tf.zeros([1, 2]))
    f(tf.zeros([2, 2]))
    assert f.experimental_get_tracing_count() == 1


def test_line_028_reduce_retracing(capsys):
    @tf.function(reduce_retracing=True)
    def f(x):
        print(x.shape)
        return x + x

    for length in (3, 5, 7, 9):
        assert f(tf.zeros([length])).shape == (length,)
    assert capsys.readouterr().out == "(3,)\n(None,)\n"

    @tf.function(reduce_retracing=True)
    def g(x):
        print(x)
        return x + x

    for shape in ((2, 2), (2, 3), (3, 3)):
        assert g(tf.zeros(shape)).shape == shape
    assert capsys.readouterr().out == "".join(
        f'Tensor("x:0", shape={shape}, dtype=float32)\n' for shape in ("(2, 2)", "(2, None)", "(None, None)")
    )
    assert g(tf.zeros([4])).shape == (4,)
    assert capsys.readouterr().out == 'Tensor("x:0", dtype=float32)\n'


def test_line_029_older_options():
    @tf.function(experimental_relax_shapes=True)
    def relaxed(x):
        return x + x

    for length in (3, 5, 7):
        relaxed(tf.zeros([length]))
    assert relaxed.experimental_get_tracing_count() == 2

    @tf.function(experimental_follow_type_hints=True)
    def f(x: tf.Tensor):
        return x + 1

    assert [f(1).numpy(), f(2).numpy()] == [2, 3]
    assert f.experimental_get_tracing_count() == 1


def test_line_030_the_warning_about_retracing(caplog):
    @tf.function
    def rw(x):
        return x + 1

    with caplog.at_level(logging.WARNING, "autoconv"):
        for number in range(10):
            rw(number)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert messages[0].startswith("5 out of the last 5 calls to <function ")
    assert "rw at 0x" in messages[0]
    assert messages[1].startswith("6 out of the last 6 calls to <function ")
    for message in messages:
        for fact in (
            "triggered autoconv.function retracing", "Tracing is expensive",
            "(1) creating @autoconv.function repeatedly in a loop", "(2) passing tensors with different shapes",
            "(3) passing Python objects instead of tensors", "reduce_retracing=True",
        ):  # fmt: skip
            assert fact in message
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_traces_without_calls_warn_of_nothing(caplog):
    @tf.function
    def traced(x):
        return x + 1

    with caplog.at_level(logging.WARNING, "autoconv"):
        for number in range(10):
            traced.get_concrete_function(number)
    assert not caplog.records
