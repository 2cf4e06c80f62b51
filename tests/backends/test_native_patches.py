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
