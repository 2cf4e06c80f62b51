"""Pooling against its definition, and its gradients."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autoconv as tf

DRAW = np.random.default_rng(0)


def pool_by_definition(image, kernel, steps, around, pool):
    """Pool by the definition: apply `pool` to the elements of the image under each window."""
    sides = image.shape[1:-1]
    counts = [
        (side + sum(pair) - k) // step + 1 for side, pair, k, step in zip(sides, around, kernel, steps, strict=True)
    ]
    found = np.zeros((image.shape[0], *counts, image.shape[-1]), image.dtype)
    for position in itertools.product(*map(range, counts)):
        starts = [i * step - pair[0] for i, step, pair in zip(position, steps, around, strict=True)]
        under = [slice(max(start, 0), start + k) for start, k in zip(starts, kernel, strict=True)]
        window = image[(slice(None), *under)]
        found[(slice(None), *position)] = pool(window, axis=tuple(range(1, image.ndim - 1)))
    return found


CASES = [
    ((6, 7), 2, 2, "VALID", [(0, 0), (0, 0)]),
    ((6, 7), 3, 2, "SAME", [(0, 1), (1, 1)]),
    ((6, 7), (1, 3), (3, 1), "SAME", [(0, 0), (1, 1)]),
    ((6, 7), [1, 2, 3, 1], [1, 1, 2, 1], [(0, 0), (1, 0), (0, 2), (0, 0)], [(1, 0), (0, 2)]),
    ((7,), 3, 2, "SAME", [(1, 1)]),
    ((3, 4, 5), 2, (1, 2, 2), "VALID", [(0, 0)] * 3),
]


@pytest.mark.parametrize(("sides", "ksize", "strides", "padding", "around"), CASES)
def test_pooling_of_one_to_three_dimensions(sides, ksize, strides, padding, around):
    image = DRAW.normal(size=(2, *sides, 3))
    kernel, steps = ((n[1:-1] if isinstance(n, list) else n) for n in (ksize, strides))
    kernel, steps = ((n,) * len(sides) if isinstance(n, int) else n for n in (kernel, steps))
    for find, pool in ((tf.nn.max_pool, np.max), (tf.nn.avg_pool, np.mean)):
        expected = pool_by_definition(image, kernel, steps, around, pool)

        @tf.function
        def f(x):
            return find(x, ksize, strides, padding)  # noqa: B023

        np.testing.assert_allclose(find(image, ksize, strides, padding).numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(f(tf.constant(image)).numpy(), expected, rtol=1e-12)
        if isinstance(padding, str):
            first = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[len(sides)]
            arguments = [[1, *n[:0:-1][::-1]] if isinstance(n, list) else n for n in (ksize, strides)]
            found = find(np.moveaxis(image, -1, 1), *arguments, padding, data_format=first)
            np.testing.assert_allclose(found.numpy(), np.moveaxis(expected, -1, 1), rtol=1e-12)


def test_values_of_known_examples():
    x = np.array([[1, 3, 2, 4], [5, 6, 8, 7], [4, 2, 1, 0], [1, 2, 3, 4]], np.float32)[None, :, :, None]
    assert tf.nn.max_pool2d(x, 2, 2, "VALID").numpy().ravel().tolist() == [6, 8, 4, 4]
    assert tf.nn.avg_pool2d(x, 2, 2, "VALID").numpy().ravel().tolist() == [3.75, 5.25, 2.25, 2]
    # The window in the corner has four elements, without the padding.
    assert tf.nn.avg_pool2d(-x, 3, 2, "SAME").numpy().ravel().tolist() == pytest.approx([-32 / 9, -22 / 6, -13 / 6, -2])
    assert tf.nn.max_pool2d(-x, 3, 2, "SAME").numpy().ravel().tolist() == [-1, 0, -1, 0]
    assert tf.nn.max_pool1d(x[:, 0].astype(np.int32), 3, 1, "SAME").numpy().ravel().tolist() == [3, 3, 4, 4]
    assert tf.nn.avg_pool1d(x[:, 0], 2, 2, "VALID").numpy().ravel().tolist() == [2, 3]


def test_the_gradient_of_max_pooling_goes_to_the_first_maximum():
    x = tf.constant(np.array([2, 2, 1, 3, 3, 3], np.float32)[None, :, None])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool1d(x, 3, 3, "VALID")
    assert tape.gradient(y, x).numpy().ravel().tolist() == [1, 0, 0, 1, 0, 0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.avg_pool1d(x, 4, 4, "SAME")
    assert tape.gradient(y, x).numpy().ravel().tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.nn.max_pool(tf.zeros([4, 4]), 2, 2, "VALID"), "of 3 to 5 dimensions"),
        (lambda: tf.nn.max_pool2d(tf.zeros([1, 4, 4, 2]), 2, 2, "VALID", "NCW"), "NHWC or NCHW"),
        (lambda: tf.nn.max_pool2d(tf.zeros([1, 4, 4, 2]), 5, 2, "VALID"), "do not fit into"),
        (lambda: tf.nn.avg_pool2d(tf.zeros([1, 4, 4, 2]), 2, 2, "full"), "`padding` must be"),
        (lambda: tf.nn.avg_pool2d(tf.zeros([1, 4, 4, 2]), [1, 2, 2], 2, "SAME"), "`ksize` must be"),
        (lambda: tf.nn.avg_pool2d(tf.zeros([1, 4, 4, 2]), 2, 0, "SAME"), "`strides` must be"),
    ],
)
def test_invalid_pooling(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_attributes_of_windows_may_be_numbers_of_any_kind():
    """TensorFlow drops the fractions of attributes."""
    x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    pooled = tf.nn.max_pool2d(x, 2, 2, "SAME")
    for number in (2.0, np.float64(2.5), np.float32(2), np.int64(2), [2.0, 2], np.array([1, 2, 2, 1])):
        np.testing.assert_array_equal(tf.nn.max_pool2d(x, number, number, "SAME"), pooled)
    patches = tf.image.extract_patches(x, (1, np.float64(2), 2.0, 1), (1, 1, 1, 1), (1, 1.0, 1, 1), "VALID")
    assert patches.shape == (1, 3, 3, 4)
