"""Products of parts of matrices that are read in place, and of batches of open sizes."""

import numpy as np
import pytest

import autoconv


def by_a_column(x, v):
    x[0, 0] = 1.0
    return np.outer(v, v @ x[1:, 1:])


def by_a_column_of_one(x, v):
    x[0, 0] = 1.0
    return 2.0 * (v[None, :] @ x[1:, -1:])


def transposed_column(x, v):
    x[0, 0] = 1.0
    return np.outer(x[1:, 1:].T @ v, v)


def by_a_row(x, v):
    x[0, 0] = 1.0
    return np.outer(x[1:2, 1:] @ v[: x.shape[1] - 1], v)


def column_and_row(x, v):
    x[0, 0] = 1.0
    return np.outer(v, (x[1:, :1].T @ x[1:, 1:]).ravel())


def householder(x, v):
    for k in range(x.shape[1]):
        part = x[k:, k]
        u = part + np.linalg.norm(part) * (np.arange(len(part)) == 0)
        u /= np.linalg.norm(u)
        x[k:, k:] -= 2 * np.outer(u, u @ x[k:, k:])
    return x


@pytest.mark.parametrize("width", [2, 3, 5, 9])
@pytest.mark.parametrize(
    "program", [by_a_column, by_a_column_of_one, transposed_column, by_a_row, column_and_row, householder]
)
def test_parts_have_the_distance_of_their_matrix(program, width):
    compiled = autoconv.compile(program)
    for rows in (10, 10, 12, 13, 17):
        values = np.random.default_rng(rows).normal(size=(rows, width + 1))
        x, v = values[:, 1:].copy(), values[1:, 0].copy()
        expected = program(x.copy(), v)
        np.testing.assert_allclose(compiled(x, v), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("flips", [(False, False), (True, False)])
@pytest.mark.parametrize("batch", [3, None])
def test_batches_of_products_have_rows_or_an_inner_dimension_of_open_size(batch, flips):
    random = np.random.default_rng(6)
    x = random.standard_normal((3, 7, 5))
    y = random.standard_normal((3, 7 if flips[0] else 5, 6))
    signature = [autoconv.TensorSpec([batch, None, 5], "float64")]
    signature.append(autoconv.TensorSpec([batch, None if flips[0] else 5, 6], "float64"))
    compute = autoconv.function(
        lambda a, b: autoconv.matmul(a, b, transpose_a=flips[0], transpose_b=flips[1]), input_signature=signature
    )
    np.testing.assert_allclose(compute(x, y), (x.transpose(0, 2, 1) if flips[0] else x) @ y, rtol=1e-12, atol=1e-12)
