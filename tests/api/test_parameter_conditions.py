"""Conditions on arguments of public functions: what TensorFlow 2.21's ops take, and its classes of errors."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import autoconv as tf
from autoconv.runtime.recording.parameter_conditions import CONDITIONS, argument_check

REFUSED = {
    "lgamma has no kernel for bfloat16": (tf.errors.NotFoundError, lambda: tf.math.lgamma(tf.ones([1], tf.bfloat16))),
    "matmul has no kernel for uint8": (
        tf.errors.NotFoundError, lambda: tf.matmul(tf.ones([1, 1], tf.uint8), tf.ones([1, 1], tf.uint8))
    ),
    "of float64 is not in the list": (
        tf.errors.InvalidArgumentError, lambda: tf.linalg.logm(tf.ones([2, 2], tf.float64))
    ),
    "Cannot convert 1.0 to EagerTensor of dtype int32": (TypeError, lambda: tf.one_hot([1], 1.0)),
    "'on_value' of one_hot must have 0": (tf.errors.InvalidArgumentError, lambda: tf.one_hot([0], 2, on_value=[1])),
    "Expected bool for argument 'keepdims'": (
        TypeError, lambda: tf.sparse.reduce_sum(tf.sparse.from_dense([1.0]), keepdims=1)
    ),
    "must have 3 or 4 dimensions, found 2": (ValueError, lambda: tf.image.flip_up_down(tf.ones([2, 2]))),
    "must be > 0": (ValueError, lambda: tf.image.flip_left_right(tf.ones([2, 2, 0]))),
    "not ndarray": (TypeError, lambda: tf.shape_n(np.ones([2, 2]))),
    "needs the attribute 'get_shape'": (AttributeError, lambda: tf.image.sobel_edges(np.ones([1, 2, 2, 1]))),
    "cannot be a value of ndarray": (TypeError, lambda: tf.eye(np.array(2))),
    "'frame_length' and 'frame_step' of frame have different dtypes": (
        tf.errors.InvalidArgumentError, lambda: tf.signal.frame([1.0], 2, np.int64(1))
    ),
    "no kernel for uint16": (tf.errors.UnimplementedError, lambda: tf.tile(tf.ones([1], tf.uint16), [2])),
    "a bound must be a scalar": (tf.errors.InvalidArgumentError, lambda: tf.range([1, 2])),
    "must have length of at least 4 but got: 3": (
        tf.errors.InvalidArgumentError, lambda: tf.signal.rfft(tf.zeros([0, 3]), fft_length=[4])
    ),
    "expected to be a int32 tensor but is a float64": (
        tf.errors.InvalidArgumentError, lambda: tf.add(1, tf.ones([1], tf.float64))
    ),
    "does not cast tensors": (TypeError, lambda: tf.constant(tf.constant([1]), tf.float32)),
    "must be at least 2": (
        tf.errors.InvalidArgumentError, lambda: tf.nn.space_to_depth(tf.ones([1, 2, 2, 1]), 1)
    ),
    "'pattern' of regex_full_match takes strings": (ValueError, lambda: tf.strings.regex_full_match("a", np.array(1))),
    "'pattern' of regex_full_match takes strings, ": (TypeError, lambda: tf.strings.regex_full_match("a", 1)),
    "Expected string for argument 'input_encoding'": (TypeError, lambda: tf.strings.unicode_decode("a", 1)),
    "axis 2 is out of range": (tf.errors.InvalidArgumentError, lambda: tf.gather(tf.ones([3]), [0], axis=2)),
    "axis 100 is out of range": (tf.errors.InvalidArgumentError, lambda: tf.linspace(0, 4, 3, axis=100)),
    "float32 float64": (TypeError, lambda: tf.complex(tf.ones([1]), tf.ones([1], tf.float64))),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused_as_by_tensorflow(text: str) -> None:
    error, call = REFUSED[text]
    with pytest.raises(error, match=text):
        call()


REFUSED_IN_GRAPHS = {
    "cannot be a value of int": (TypeError, lambda x: tf.Assert(True, 1) or x),
    "axis 5 is out of range": (tf.errors.InvalidArgumentError, lambda x: tf.cumsum(x, axis=5)),
    "have different dtypes: float32 and int32": (ValueError, lambda x: tf.nn.bias_add(x, tf.constant([1]))),
}


@pytest.mark.parametrize("text", REFUSED_IN_GRAPHS)
def test_refused_inside_of_function(text: str) -> None:
    error, call = REFUSED_IN_GRAPHS[text]
    with pytest.raises(error, match=text):
        tf.function(call)(tf.ones([1, 1]))


def test_numbers_and_arrays_as_first_operands_take_the_dtype_of_a_tensor() -> None:
    x = tf.constant([1.0, 2.0])
    assert tf.function(lambda x: tf.maximum(np.array([3.0, 0.0]), tf.multiply(2, x)))(x).numpy().tolist() == [3.0, 4.0]
    assert tf.multiply(2, x).numpy().tolist() == [2.0, 4.0]
    assert tf.function(lambda x: 2 * x)(x).numpy().tolist() == [2.0, 4.0]
    assert tf.compile(lambda x: tf.multiply(2, x))(x).numpy().tolist() == [2.0, 4.0]


def test_sizes_of_frames_known_at_run_time() -> None:
    frames = tf.function(lambda x, length: tf.signal.frame(x, length, length))
    assert frames(tf.range(6), tf.constant(2)).numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    assert frames(tf.range(6), tf.constant(3)).numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    joined = tf.function(tf.signal.overlap_and_add)(tf.ones([2, 3]), tf.constant(2))
    assert joined.numpy().tolist() == [1.0, 1.0, 2.0, 1.0, 1.0]


def test_transforms_without_elements() -> None:
    assert tf.signal.rfft2d(tf.zeros([0, 3])).shape == [0, 2]
    assert tf.signal.irfft2d(tf.zeros([0, 3], tf.complex64)).shape == [0, 4]
    assert tf.signal.irfft(tf.zeros([0], tf.complex64), fft_length=[4]).numpy().tolist() == [0.0] * 4


def test_bounds_of_ranges_may_be_vectors_of_one_element() -> None:
    assert tf.range([1], tf.constant([3])).numpy().tolist() == [1, 2]
    assert tf.linspace(0.0, 1.0, [2]).numpy().tolist() == [0.0, 1.0]


def test_segments_beyond_the_number_of_rows_are_left_out() -> None:
    assert tf.ragged.segment_ids_to_row_splits([0, 1, 1], num_segments=1).numpy().tolist() == [0, 1]


def test_a_missing_kernel_is_an_error_of_dtypes_in_graphs() -> None:
    with pytest.raises(TypeError, match="no kernel"):
        tf.function(tf.math.erfinv)(tf.ones([1], tf.float16))


def test_tensors_of_composites_have_the_conditions() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="no kernel"):
        tf.math.lgamma(tf.ragged.constant([[1.0]], tf.bfloat16))


def test_functions_of_numpy_have_no_conditions() -> None:
    half = np.array([1.5, 2.5], np.float16)
    assert tf.compile(lambda x: np.rint(x))(half).tolist() == [2.0, 2.0]
    assert tf.xp.round(tf.xp.asarray(half)).numpy().tolist() == [2.0, 2.0]


def test_texts_and_widths_as_tensors() -> None:
    assert tf.strings.regex_replace("banana", tf.constant("a"), tf.constant("o")).numpy() == b"bonono"
    assert tf.strings.split("a,b", np.array(b",", object)).numpy().tolist() == [b"a", b"b"]
    assert tf.strings.ngrams(["a", "b", "c"], tf.constant(2)).numpy().tolist() == [b"a b", b"b c"]


def test_elements_of_strings_in_graphs_are_tensors() -> None:
    first, parts = tf.function(lambda x: (tf.gather(x, 0), tf.unstack(x)))(tf.constant(["a", "b"]))
    assert (first.dtype, first.shape.rank, [part.numpy() for part in parts]) == (tf.string, 0, [b"a", b"b"])


def test_ragged_ids_of_embeddings() -> None:
    rows = tf.nn.safe_embedding_lookup_sparse([[1.0, 2.0], [3.0, 4.0]], tf.ragged.constant([[0, 1], [], [1]]))
    assert rows.numpy().tolist() == [[2.0, 3.0], [0.0, 0.0], [3.0, 4.0]]


def test_hues_leave_the_extremes_of_a_pixel() -> None:
    image = np.array([[[2, 2, 3], [3, 0, 0]]], np.int32)
    assert tf.image.adjust_hue(image, 0.0).numpy().tolist() == image.tolist()


@pytest.mark.parametrize("key", CONDITIONS)
def test_the_table_names_functions_and_parameters(key: str) -> None:
    module, _, name = key.rpartition(".")
    package = "runtime." if module == "tensors.conversion" else "" if module.startswith("io.") else "api."
    function = getattr(importlib.import_module(f"autoconv.{package}{module}"), name)
    assert argument_check(function) is not None


def test_normalization_over_many_channels_is_one_product() -> None:
    image = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4) / 10
    expected = image / np.sqrt(1 + (image**2).sum(-1, keepdims=True))
    for run in (tf.nn.lrn, tf.function(tf.nn.lrn)):
        np.testing.assert_allclose(run(image, 100).numpy(), expected, rtol=1e-6)
