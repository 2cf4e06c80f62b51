"""Convolutions as products of patches of an image, beside NumPy."""

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm.describe import describe
from autoconv.backends.llvm.target.machine import this_machine


def convolve(x, w, step, gap):
    """Convolve by the definition, one element of the result at a time."""
    height, width = ((size - (k - 1) * gap - 1) // step + 1 for size, k in zip(x.shape[1:3], w.shape[:2], strict=True))
    found = np.zeros((x.shape[0], height, width, w.shape[3]))
    for i in range(height):
        for j in range(width):
            rows = slice(i * step, i * step + (w.shape[0] - 1) * gap + 1, gap)
            columns = slice(j * step, j * step + (w.shape[1] - 1) * gap + 1, gap)
            found[:, i, j] = np.einsum("bijc,ijco->bo", x[:, rows, columns], w)
    return found


@pytest.mark.parametrize("step, gap", [(1, 1), (2, 1), (1, 2), (3, 2)])
@pytest.mark.parametrize("image, kernel", [((2, 9, 17, 3), (3, 3, 3, 5)), ((1, 12, 30, 8), (5, 2, 8, 20))])
def test_patches_are_read_in_place(step, gap, image, kernel):
    random = np.random.default_rng(6)
    x, w = random.standard_normal(image), random.standard_normal(kernel)

    @autoconv.function
    def convolutions(x, w):
        found = autoconv.nn.conv2d(x, w, strides=step, padding="VALID", dilations=gap)
        return autoconv.nn.relu(found), autoconv.nn.conv2d(x, w, strides=step, padding="SAME", dilations=gap)

    valid, same = (np.asarray(item) for item in convolutions(x, w))
    np.testing.assert_allclose(valid, np.maximum(convolve(x, w, step, gap), 0), rtol=1e-11, atol=1e-11)
    extents = [(k - 1) * gap + 1 for k in kernel[:2]]
    missing = [max((-(-s // step) - 1) * step + e - s, 0) for s, e in zip(image[1:3], extents, strict=True)]
    padded = np.pad(x, ((0, 0), *((m // 2, m - m // 2) for m in missing), (0, 0)))
    np.testing.assert_allclose(same, convolve(padded, w, step, gap), rtol=1e-11, atol=1e-11)
    joined = "\n".join(describe(convolutions.get_concrete_function(x, w).optimised))
    assert this_machine().vector_registers is None or "joined" not in joined


def test_patches_with_other_uses_are_stored():
    random = np.random.default_rng(8)
    x, w = random.standard_normal((6, 40)), random.standard_normal((24, 5))

    @autoconv.function
    def products(x, w):
        patches = autoconv.concat([x[:, 0:8], x[:, 16:24], x[:, 4:12]], 1)
        return patches @ w, patches * 2.0

    joined = np.concatenate([x[:, 0:8], x[:, 16:24], x[:, 4:12]], 1)
    for actual, expected in zip(products(x, w), (joined @ w, joined * 2), strict=True):
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "image, kernel, gap", [((3, 30, 29, 24), (3, 3, 24, 40), 1), ((2, 40, 33, 17), (3, 2, 17, 97), 2)]
)
def test_gradients_of_filters_read_patches_in_place(dtype, image, kernel, gap):
    """Rows, columns and channels are no multiples of a tile's; the sums are those of NumPy in double precision."""
    random = np.random.default_rng(9)
    x, w = random.standard_normal(image).astype(dtype), random.standard_normal(kernel).astype(dtype)
    height, width = (image[i + 1] - (kernel[i] - 1) * gap for i in range(2))
    weights = random.standard_normal((image[0], height, width, kernel[3])).astype(dtype)

    @autoconv.function
    def gradients(x, w, weights):
        with autoconv.GradientTape() as tape:
            tape.watch([x, w])
            loss = autoconv.reduce_sum(autoconv.nn.conv2d(x, w, 1, "VALID", dilations=gap) * weights)
        return tape.gradient(loss, [x, w])

    x_gradient, w_gradient = (np.asarray(item) for item in gradients(*map(autoconv.constant, (x, w, weights))))
    x, w, weights = (array.astype(np.float64) for array in (x, w, weights))
    expected_x, expected_w = np.zeros(image), np.zeros(kernel)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = np.s_[:, i * gap : i * gap + height, j * gap : j * gap + width]
            expected_w[i, j] = np.einsum("bhwc,bhwf->cf", x[part], weights)
            expected_x[part] += weights @ w[i, j].T
    tolerance = 10_000 * np.finfo(dtype).eps
    np.testing.assert_allclose(w_gradient, expected_w, rtol=0, atol=tolerance)
    np.testing.assert_allclose(x_gradient, expected_x, rtol=0, atol=tolerance)
