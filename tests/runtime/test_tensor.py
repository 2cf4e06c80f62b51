"""Tensors: values, reprs, Python's protocols, and refusals of symbolic tensors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autoconv as tf


def test_reprs() -> None:
    scalar, matrix = tf.constant(2), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert repr(scalar) == "<autoconv.Tensor: shape=(), dtype=int32, numpy=2>"
    assert str(scalar) == "autoconv.Tensor(2, shape=(), dtype=int32)"
    assert str(matrix) == "autoconv.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)"
    assert repr(tf.constant("a")) == "<autoconv.Tensor: shape=(), dtype=string, numpy=b'a'>"


def test_python_protocols() -> None:
    vector = tf.constant([1, 2, 3])
    assert len(vector) == 3 and [int(x) for x in vector] == [1, 2, 3]
    assert 2 in vector and 7 not in vector
    assert bool(tf.constant(True)) and float(tf.constant(1.5)) == 1.5 and [10, 20][tf.constant(1)] == 20
    assert vector.ndim == 1 and vector.shape == (3,) and vector.dtype == "int32"
    assert f"{tf.constant(1.25):.1f}" == "1.2"


def test_scalars_have_no_length_and_no_items() -> None:
    with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
        len(tf.constant(1))
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(tf.constant(1))


def test_arrays_of_tensors_cannot_be_changed() -> None:
    tensor = tf.constant([1, 2])
    tensor.numpy()[0] = 5  # a copy
    assert tensor.numpy().tolist() == [1, 2]
    with pytest.raises(ValueError):
        np.asarray(tensor)[0] = 5
    with pytest.raises(TypeError, match="does not support item assignment"):
        tensor[0] = 5  # type: ignore[index]


def test_tensors_are_keys_by_reference_only() -> None:
    tensor = tf.constant(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(tensor)
    assert {tensor.ref(): 1}[tensor.ref()] == 1 and tensor.ref().deref() is tensor


def test_comparison_with_none() -> None:
    assert (tf.constant(1) == None) is False  # noqa: E711
    assert (tf.constant(1) != None) is True  # noqa: E711


def test_tensors_are_copied_and_pickled() -> None:
    tensor = tf.constant([1.5, 2.5])
    assert copy.copy(tensor) is tensor
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tensor)), tensor.numpy())


def test_dtypes_of_different_tensors_do_not_mix() -> None:
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"cannot compute AddV2 as input #1\(zero-based\)"
    ):
        tf.constant(1) + tf.constant(1.0)


def trace(body: object) -> None:
    tf.function(body, autograph=False).get_concrete_function(tf.TensorSpec([None], tf.float32))  # type: ignore[attr-defined]


def test_a_symbolic_tensor_is_no_bool() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        return x if tf.reduce_sum(x) > 0 else -x

    with pytest.raises(
        TypeError, match=r"Using a symbolic `autoconv\.Tensor` as a Python `bool` is not allowed"
    ):
        trace(body)


def test_a_symbolic_tensor_is_not_iterable() -> None:
    with pytest.raises(TypeError, match=r"Iterating over a symbolic `autoconv\.Tensor` is not allowed"):
        trace(lambda x: list(x))


def test_a_symbolic_tensor_of_unknown_length_has_no_len() -> None:
    with pytest.raises(TypeError, match=r"len is not well defined for a symbolic Tensor \(x:0\)"):
        trace(lambda x: len(x))


def test_a_symbolic_tensor_is_no_array() -> None:
    with pytest.raises(
        NotImplementedError, match=r"Cannot convert a symbolic autoconv.Tensor \(x:0\) to a numpy array"
    ):
        trace(lambda x: np.array(x))
    with pytest.raises(AttributeError, match="'SymbolicTensor' object has no attribute 'numpy'"):
        trace(lambda x: x.numpy())


def test_a_symbolic_tensor_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        trace(lambda x: {x: 1})
    trace(lambda x: tf.constant({x.ref(): 1}[x.ref()]))


def test_symbolic_tensors_print_by_name() -> None:
    texts = []

    def body(x: tf.Tensor) -> tf.Tensor:
        texts.extend([str(x), repr(x), str(x + x)])
        return x

    trace(body)
    assert texts == [
        'Tensor("x:0", shape=(None,), dtype=float32)',
        "<autoconv.Tensor 'x:0' shape=(None,) dtype=float32>",
        'Tensor("add:0", shape=(None,), dtype=float32)',
    ]


def test_set_shape_adds_what_is_known() -> None:
    def body(x: tf.Tensor) -> tf.Tensor:
        x.set_shape([3])
        assert x.shape.as_list() == [3]
        with pytest.raises(ValueError, match="not compatible"):
            x.set_shape([4])
        return x

    trace(body)


def test_empty_lists_take_any_dtype():
    for dtype in (tf.int32, tf.bool, tf.string, tf.float64, tf.complex64):
        assert tf.constant([], dtype).dtype is dtype and tf.constant([[], []], dtype).shape == (2, 0)
    assert tf.constant([]).dtype is tf.float32
    assert tf.function(lambda x: tf.concat([x, tf.constant([], tf.int32)], 0))(tf.constant([7])).numpy().tolist() == [7]


def test_the_device_of_a_tensor():
    assert tf.constant(1).backing_device == tf.constant(1).device


def test_constants_of_python_numbers_wrap_as_in_tensorflow() -> None:
    """Ints beyond a dtype keep their low bits; those beyond 64 bits, and bools for most dtypes, are refused."""
    assert tf.constant([300, -1], tf.uint8).numpy().tolist() == [44, 255]
    assert tf.constant(1 << 40, tf.int32).numpy() == 0
    assert (tf.constant([1, 2], tf.uint8) - 300).numpy().tolist() == [213, 214]
    assert tf.Variable(3, dtype=tf.uint8).assign(300).numpy() == 44
    assert tf.constant(1 << 64, tf.float32).numpy() == np.float32(1 << 64)
    assert tf.constant(1 << 63, tf.uint64).numpy() == 1 << 63
    for value, dtype in ((1 << 64, tf.int64), (1 << 63, None), (-1, tf.uint64), ([1 << 70], tf.bfloat16)):
        with pytest.raises(ValueError, match="out-of-range integer"):
            tf.constant(value, dtype)
    assert tf.constant(True, tf.int32).numpy() == 1
    for dtype in (tf.uint8, tf.int16, tf.bfloat16, tf.complex64):
        with pytest.raises(TypeError, match="Cannot convert True to EagerTensor of dtype"):
            tf.constant(True, dtype)


def test_operands_of_python_that_do_not_fit() -> None:
    """The names of errors' classes are TensorFlow's; `+` alone converts its second operand without regard to the first.

    A TypeError of an operator is an InvalidArgumentError as well, which the function of the same op raises.
    """
    text, ints, truth = tf.constant("a"), tf.constant([1, 2]), tf.constant(True)
    for compute in (
        lambda: text * 2, lambda: 2 * text, lambda: ints - "q", lambda: ints == "q", lambda: ints - [1.5, 2.5],
        lambda: "q" + ints, lambda: text < 1,
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"Cannot convert .* to EagerTensor of dtype") as raised:
            compute()
        assert type(raised.value).__name__ == "TypeError"
    for compute in (lambda: text + 2, lambda: text - "q", lambda: text * text, lambda: truth - truth, lambda: -truth):
        with pytest.raises(tf.errors.InvalidArgumentError):
            compute()
    assert (text + "b").numpy() == b"ab" and (tf.constant(1j) + True).numpy() == 1 + 1j


def test_variables_are_no_keys() -> None:
    variable = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"Variable is unhashable. Instead, use variable.ref\(\) as the key. \(V"):
        hash(variable)
    assert {variable.ref(): 1}[variable.ref()] == 1


def test_empty_tensors_are_false() -> None:
    assert not tf.constant([]) and not tf.zeros([0, 2], tf.int32)
    with pytest.raises(ValueError, match="truth value of an array with more than one element is ambiguous"):
        bool(tf.constant([1, 2]))


def test_tensors_of_shapes_that_do_not_broadcast_are_unequal():
    pair, triple = tf.constant([1, 2]), tf.constant([1, 2, 3])
    for compare in (lambda x, y: (x == y, x != y), tf.function(lambda x, y: (x == y, x != y))):
        is_equal, is_unequal = compare(pair, triple)
        assert (is_equal.numpy(), is_unequal.numpy()) == (False, True)
        assert compare(pair, pair)[0].numpy().tolist() == [True, True]
    assert pair != [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.equal(pair, triple)
    with pytest.raises(ValueError, match="broadcast"):
        tf.compile(lambda x, y: x == y)(pair.numpy(), triple.numpy())
