"""Section A: input signatures."""


import numpy as np

import autoconv as tf
from tests.behaviours.facts import raises


def test_line_039_one_trace_for_all(capsys):
    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.int32)])
    def f(x):
        print(x)
        return x + 1

    assert f(tf.zeros((2, 4), tf.int32)).shape == (2, 4)
    assert f(tf.zeros((5, 4), tf.int32)).shape == (5, 4)
    assert f(np.zeros((1, 4), np.int32)).shape == (1, 4)
    assert f([[1, 2, 3, 4]]).numpy().tolist() == [[2, 3, 4, 5]]
    assert capsys.readouterr().out == 'Tensor("x:0", shape=(None, 4), dtype=int32)\n'


def test_line_040_what_does_not_match():
    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.int32)])
    def f(x):
        return x + 1

    expected = "TensorSpec(shape=(None, 4), dtype=autoconv.int32, name=None)"
    with raises(
        TypeError, f"Can not cast TensorSpec(shape=(2, 5), dtype=autoconv.int32, name=None) to {expected}",
        "Received args: (<autoconv.Tensor: shape=(2, 5)", f"signature: (x: {expected})",
    ):  # fmt: skip
        f(tf.zeros((2, 5), tf.int32))
    with raises(TypeError, f"Can not cast TensorSpec(shape=(2, 4), dtype=autoconv.float32, name=None) to {expected}"):
        f(tf.zeros((2, 4)))


def test_line_041_signatures_that_do_not_fit_the_parameters():
    spec = tf.TensorSpec((), tf.int32)

    @tf.function(input_signature=[spec])
    def outer(x, y):
        return x

    with raises(TypeError, "input_signature missing type constraint for y"):
        outer(tf.constant(1), tf.constant(2))

    @tf.function(input_signature=[spec, spec])
    def two(x):
        return x

    with raises(TypeError, "input_signature contains 1 extra type constraints."):
        two(tf.constant(1))
    with raises(
        TypeError, "input_signature must be a possibly nested sequence of TensorSpec objects",
        "got invalid args [1] with types [<class 'int'>]",
    ):  # fmt: skip

        @tf.function(input_signature=(1,))
        def three(x):
            return x

    with raises(TypeError, "input_signature must be either a tuple or a list, got <class", "TensorSpec'>"):

        @tf.function(input_signature=spec)
        def four(x):
            return x


def test_line_042_arguments_without_a_spec_keep_their_default():
    @tf.function(input_signature=[tf.TensorSpec((), tf.int32)])
    def dflt(x, n=3):
        return x * n

    assert dflt(tf.constant(2)).numpy() == 6
    spec = "TensorSpec(shape=(), dtype=autoconv.int32, name=None)"
    with raises(
        TypeError, "Can not cast 4 to Literal[3]", f"(x: {spec}, n: Literal[3] = <captured_default_value>)"
    ):
        dflt(tf.constant(2), 4)
