"""Views of parts whose sizes the graph computes: reversed, transposed, with new dimensions."""

import numpy as np
import pytest

import autoconv

VIEWS = {
    "flip": np.flip,
    "flip of rows": lambda x: np.flip(x, 0),
    "fliplr": np.fliplr,
    "flipud": np.flipud,
    "rot90": np.rot90,
    "rot90 twice": lambda x: np.rot90(x, 2),
    "expand_dims": lambda x: np.expand_dims(x, 1)[:, 0],
    "expand_dims of two": lambda x: np.expand_dims(x, (0, 3))[0, :, :, 0],
    "atleast_3d": lambda x: np.atleast_3d(x)[:, :, 0],
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, -1),
    "transpose": lambda x: x.T,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128"])
@pytest.mark.search
def test_read_and_written(view, dtype):
    def program(a):
        total = a.sum() * 0
        for k in range(1, len(a)):
            part = view(a[:k, : k + 1])
            total = total + (part * 2).sum() * k
            part[0] += part[-1]
            part *= 2
        return total

    compiled = autoconv.compile(program)
    compiled_argument, plain_argument = (np.arange(49).reshape(7, 7).astype(dtype) for _ in range(2))
    found, wanted = compiled(compiled_argument), program(plain_argument)
    np.testing.assert_allclose(found, wanted)
    np.testing.assert_allclose(compiled_argument, plain_argument)
    assert "one NumPy operation at a time" not in compiled.explain()


def recursion(r):
    y = np.empty_like(r)
    alpha, beta, y[0] = -r[0], 1.0, -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def test_reversed_parts_in_fused_loops():
    compiled = autoconv.compile(recursion)
    r = np.random.default_rng(0).random(40) / 40
    np.testing.assert_allclose(compiled(r), recursion(r))
    assert "kernels" not in compiled.explain()


def test_squeezed_dimensions_depend_on_sizes():
    @autoconv.compile
    def squeezed(a, k):
        return np.squeeze(a[: int(a[0, 0]) + k]).shape

    for k in (0, 1):
        assert squeezed(np.ones((3, 4)), k) == np.ones((1 + k, 4)).squeeze().shape


def test_dimensions_that_are_dropped_by_their_size():
    """Whether `squeeze` drops a dimension is known only when the call runs."""

    def first(x, n):
        x[0] = 1.0
        return x[: int(x[n])].squeeze()

    compiled = autoconv.compile(first)
    for items, n in (([1.0, 3.0, 2.0], 1), ([1.0, 1.0, 2.0], 1), ([1.0, 1.0, 2.0], 2), ([1.0, 0.0, 2.0], 1)):
        expected, found = first(np.array(items), n), compiled(np.array(items), n)
        assert found.shape == expected.shape and found.tolist() == expected.tolist()
