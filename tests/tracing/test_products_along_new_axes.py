"""Products of parts of arrays along new dimensions, written into the same array, against NumPy."""

import numpy as np
import pytest

import autoconv


def eliminated(a):
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def of_columns_that_overlap(a):
    for k in range(1, len(a) - 1):
        a[k:, k:] -= 0.1 * a[k - 1 : -1, k, None] * a[k, None, k - 1 : -1]


def of_the_column_itself(a):
    for k in range(1, len(a)):
        a[:k, k - 1 : k] = np.expand_dims(a[:k, k - 1], 1) * 0.5 + a[:k, k - 1][:, None]


def other_columns(a):
    for k in range(1, len(a) // 2):
        a[:k, len(a) // 2 :] += np.expand_dims(a[:k, k - 1], 1) * 2


def backwards(a):
    for k in range(1, len(a) - 1):
        a[:k, k:] += np.expand_dims(a[:k, 0][::-1], 1)


def through_a_flat_view(a):
    flat = a.reshape(-1)
    for k in range(2, len(a)):
        flat[: k * k] += np.expand_dims(flat[k - 1 : k * k + k - 1], 0)[0]


def transposed(a):
    eliminated(a.T)


def written_between(a):
    total = 0.0
    for k in range(1, len(a)):
        part = a[:k, 0]
        before = np.array(part)
        a[:k, 0] = 1.0
        total += (np.expand_dims(before, 1) * np.expand_dims(part, 0)).sum()
    return total


def with_incompatible_sizes(a):
    for k in range(1, len(a)):
        a[:k, :k] += np.expand_dims(a[: k + (k == 4), 0], 1)


FUNCTIONS = [
    eliminated, of_columns_that_overlap, of_the_column_itself, other_columns, backwards, through_a_flat_view,
    transposed, written_between, with_incompatible_sizes,
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.search
def test_as_numpy(function, dtype):
    compiled = autoconv.compile(function)
    for order in ("C", "F"):
        compiled_array, plain_array = (np.array(_matrix(dtype), order=order) for _ in range(2))
        assert _outcome(compiled, compiled_array) == pytest.approx(_outcome(function, plain_array))
        np.testing.assert_allclose(compiled_array, plain_array, rtol=1e-4)


def test_no_kernels():
    compiled = autoconv.compile(eliminated)
    compiled(_matrix("float64"))
    assert "kernels" not in compiled.explain()


def _matrix(dtype):
    return (np.random.default_rng(0).random((8, 8)) + 3 * np.eye(8)).astype(dtype)


def _outcome(function, a):
    try:
        return function(a)
    except Exception as error:
        return f"{type(error)}: {error}"
