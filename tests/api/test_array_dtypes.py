"""NumPy's arrays for parameters whose op has a fixed or a default dtype: TensorFlow casts them, tensors not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv as ac

TWO = np.array([1 + 1j, 2], np.complex128)
CALLS: list[tuple[str, Callable[[], Any], str, Any]] = [  # results of TensorFlow 2.21
    ("fft", lambda: ac.signal.fft(TWO), "complex128", [3 + 1j, -1 + 1j]),
    ("ifft", lambda: ac.signal.ifft(TWO), "complex64", [1.5 + 0.5j, -0.5 + 0.5j]),
    ("fft2d", lambda: ac.signal.fft2d(np.array([[3.0, 1.0]])), "complex64", [[4, 2]]),
    ("irfft", lambda: ac.signal.irfft(TWO), "float32", [1.5, -0.5]),
    ("rfft", lambda: ac.signal.rfft(np.array([1.0, 2.0])), "complex64", [3, -1]),
    ("hsv_to_rgb", lambda: ac.image.hsv_to_rgb(np.array([1, 0, 1], np.int64)), "float32", [1, 1, 1]),
    ("in_top_k", lambda: ac.math.in_top_k(np.array([0.0, 1]), np.array([[1.0, 2], [3, 4]]), 1), "bool", [False, True]),
    ("dynamic_partition", lambda: ac.dynamic_partition([1, 2, 3], np.array([0, 1, 0]), 2)[0], "int32", [1, 3]),
    ("reshape", lambda: ac.reshape([1, 2], np.array([2.0, 1.0])), "int32", [[1], [2]]),
    ("tile", lambda: ac.tile([1, 2], np.array([2.0])), "int32", [1, 2, 1, 2]),
    ("broadcast_to", lambda: ac.broadcast_to([1, 2], np.array([2.0, 2])), "int32", [[1, 2], [1, 2]]),
    ("expand_dims", lambda: ac.expand_dims([1, 2], np.array(0.0)), "int32", [[1, 2]]),
    ("reduce_sum", lambda: ac.reduce_sum([1, 2], np.array(0.0)), "int32", 3),
    ("transpose", lambda: ac.transpose([[1, 2]], np.array([1.0, 0])), "int32", [[1], [2]]),
    ("reverse", lambda: ac.reverse([1, 2], np.array([0.0])), "int32", [2, 1]),
    ("zeros", lambda: ac.zeros(np.array([1.0])), "float32", [0]),
    ("one_hot", lambda: ac.one_hot(np.array([1.0]), 3), "float32", [[0, 1, 0]]),
    ("unravel_index", lambda: ac.unravel_index(np.array(2.0), [2, 3]), "int32", [0, 2]),
    ("matrix_rank", lambda: ac.linalg.matrix_rank(np.array([[1, 2]], np.int32)), "int32", 1),
    ("hann_window", lambda: ac.signal.hann_window(np.array(True)), "float32", [1]),
    ("row_splits", lambda: ac.ragged.row_splits_to_segment_ids(np.array([False, True, True])), "int64", [0]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "dtype", "values"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_arrays_take_the_default_dtype(call: Callable[[], Any], dtype: str, values: Any) -> None:
    result = call()
    assert result.dtype.name == dtype
    np.testing.assert_allclose(result.numpy(), values, rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ac.reshape([1, 2], ac.constant([2.0, 1.0])),
        lambda: ac.signal.fft(ac.constant([1.0, 2.0])),
        lambda: ac.gather([1, 2], np.array(1.0)),  # its op has no default
        lambda: ac.reduce_sum([1, 2], [0.0]),
    ],
)
def test_tensors_and_parameters_without_a_default_are_refused(call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ac.errors.InvalidArgumentError)):
        call()


def test_weights_that_add_up_to_zero_give_zeros() -> None:
    mean, variance = ac.nn.weighted_moments([1.5, -2.0, 0.5], [0], [1.5, -2.0, 0.5])
    assert mean.numpy() == variance.numpy() == 0
    assert ac.nn.compute_average_loss(ac.zeros([0])).numpy() == 0


def test_lengths_are_compared_in_the_dtype_of_the_maximum() -> None:
    mask = ac.sequence_mask(ac.constant([1.5, 0.5], ac.float16), maxlen=2)
    assert mask.numpy().tolist() == [[True, False], [False, False]]


def test_a_negative_number_of_batch_dimensions_is_the_axis_too() -> None:
    rows = ac.gather([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], [0, 1], batch_dims=-1)
    assert rows.numpy().tolist() == [[1.5, -2.0], [3.0, 0.25]]


def test_confusion_matrix_of_two_dimensions_pairs_along_axis_1() -> None:
    ids = ac.constant([[0, 1], [1, 0], [0, 0]])
    assert ac.math.confusion_matrix(ids, ids).numpy().tolist() == [[2, 2], [2, 0]]
