"""Gradients through arrays that are changed in place, against central differences."""

import tracemalloc

import numpy as np
import pytest

import autoconv


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    product = 1.0
    for i in range(n):
        product = product * a[i, i]
    return product


def heat(u, v, steps):
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[:-2] + u[2:]) + u[1:-1] ** 2
        u, v = v, u
    return (u * u).sum()


def choice(a, b, c):
    v = a if c > 0 else b
    v[0] = a[1] * b[1]
    v += 1
    return (a * a + b).sum()


def views(a):
    turned = a.T
    turned[1] *= a[0]
    row = a.reshape(-1)
    row[3:5] = row[1:3] * 2
    a[a > 2] = 0.5
    sums = np.zeros(3)
    for i in range(3):
        sums[i] = a[i, 0] * a[i].sum()
    return sums[0] * sums[1] + sums[2]


def overwritten(a, k):
    if k > 0:
        a[0] = 3.0
    a[k : k + 2] = a[1] * a[2]
    return a.sum()


def differences(function, arguments, position, step=1e-6):
    found = np.zeros_like(arguments[position])
    for place in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            call_arguments = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            call_arguments[position][place] += sign * step
            ends.append(function(*call_arguments))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


NUMBERS = np.random.default_rng(3)
CASES = [
    (lu, (NUMBERS.random((4, 4)) + 4 * np.eye(4),)),
    (heat, (NUMBERS.random(6), NUMBERS.random(6), 3)),
    (heat, (NUMBERS.random(6), NUMBERS.random(6), 4)),
    (choice, (NUMBERS.random(4), NUMBERS.random(4), 1)),
    (choice, (NUMBERS.random(4), NUMBERS.random(4), -1)),
    (views, (NUMBERS.random((3, 3)) * 3,)),
    (overwritten, (NUMBERS.random(5), 0)),
    (overwritten, (NUMBERS.random(5), 2)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_gradients_through_writes(function, arguments):
    compiled = autoconv.compile(function)
    for position, argument in enumerate(arguments):
        if not isinstance(argument, np.ndarray):
            continue
        call_arguments = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        found = autoconv.grad(compiled, position)(*call_arguments)
        np.testing.assert_allclose(found, differences(function, arguments, position), rtol=1e-5, atol=1e-6)
        expected = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        function(*expected)
        # The function writes to its arguments once.
        for compiled_argument, plain_argument in zip(call_arguments, expected, strict=True):
            np.testing.assert_allclose(compiled_argument, plain_argument, rtol=1e-14)
    assert "plain Python" not in compiled.explain()


def test_the_gradient_of_an_lu_decomposition_keeps_few_bytes_a_step():
    size = 64
    matrix = NUMBERS.random((size, size)) / size + np.eye(size)
    gradient = autoconv.grad(autoconv.compile(lu))
    gradient(matrix.copy())
    tensor_argument = matrix.copy()
    tracemalloc.start()
    try:
        found = gradient(tensor_argument)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The gradient of a determinant is that times the transposed inverse.
    np.testing.assert_allclose(found, np.linalg.det(matrix) * np.linalg.inv(matrix).T, rtol=1e-9)
    assert peak < 10 * size**3  # of N³/3 steps two numbers of 8 bytes each are kept, with room for a half more


def test_calls_without_a_gradient_are_refused_with_the_reason():
    def fresh_each_turn(a, n):
        b = a
        for i in range(n):
            b = b * 2
            b[0] = i
        return b.sum()

    compiled = autoconv.compile(fresh_each_turn)
    assert compiled(np.ones(3), 2) == fresh_each_turn(np.ones(3), 2)
    with pytest.raises(TypeError):
        autoconv.grad(compiled)(np.ones(3), 2)
    assert "no gradient is defined where" in compiled.explain()
