"""Methods and attributes of arrays under `compile` that NumPy's functions compute."""

import warnings

import numpy as np
import pytest

import autoconv as ac


def check(function, *arguments):
    """Compare results, types and dtypes with plain Python's, in one graph."""
    compiled = ac.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = compiled(*arguments), function(*arguments)
    assert "plain Python" not in compiled.explain(), compiled.explain()
    for actual_part, expected_part in zip(found, expected, strict=True):
        assert type(actual_part) is type(expected_part), (actual_part, expected_part)
        if isinstance(expected_part, (np.ndarray, np.generic)):
            assert actual_part.dtype == expected_part.dtype
            np.testing.assert_allclose(actual_part, expected_part, rtol=1e-12)
        else:
            assert actual_part == expected_part
    return compiled


X = np.array([[0.5, -1.25, 2.0], [3.5, 0.75, -0.25]])


def test_methods_of_arrays():
    def f(x, i):
        y = x + 1
        turned = y.swapaxes(0, 1) + 0, y.T + 0
        chosen = y.take(i), y.take([0, 1], axis=1), y.repeat(2, axis=0), y.compress([True, False], axis=0)
        return *turned, *chosen, y.argsort(axis=1, kind="stable"), y.diagonal() + 0, y.trace(), y.conj() + 0, y.itemsize

    check(f, X, np.array([3, 0]))


def test_attributes_that_only_arrays_of_calls_have():
    def f(x):
        y = x + 1
        y[0] = 2
        try:
            return y.__array_interface__["shape"], y.__array_priority__
        except AttributeError:
            return "caught"

    compiled = ac.compile(f)
    assert compiled(X) == ((2, 3), 0.0)
    assert "is known only when the graph runs" in compiled.explain()


def test_parts_of_complex_numbers():
    def f(z):
        return (z * 2).real + 0, (z * 2).imag + 0, abs(z), z.conjugate() * z, z.dtype, z.shape

    check(f, np.array([1 + 2j, -0.5j]))


def test_parts_of_complex_arrays_that_are_written():
    def f(x):
        z = np.fft.fft(x)
        z[0] = 1j
        real = np.real(z * 2)
        real[1] = 7
        np.imag(z)[2] = 9
        return real, z, np.imag(z) + np.real(z)

    check(f, np.arange(5.0))


def test_shapes_and_dtypes_are_numpys():
    def f(x):
        rows, columns = x.shape
        return x.shape, rows * columns, x.dtype, np.zeros(x.shape, x.dtype) + 1, x.ndim, x.dtype == np.float64, x.size

    check(f, X)


PAIRS = [
    ("int8", "int8"), ("int8", "uint8"), ("int32", "float32"), ("bool", "bool"), ("float32", "float64"),
    ("uint8", "int64"),
    ("float16", "int8"), ("int64", "float32"), ("complex64", "float64"), ("bool", "float32"),
]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_operators_promote_as_numpy_does(pair):
    def f(x, y):
        return x + y, x * y, x / (y + y), x == y, x != y, x + 1, x * 2.5, 1 - (y + y), x / 2

    x, y = (np.array([1, 0, 3]).astype(name) for name in pair)
    check(f, x, y)


def test_constants_and_contexts():
    def f(x, n):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.log(x) * np.pi
        return y[np.newaxis, :] + np.float32(n), np.where(np.isnan(y), np.inf, y), np.e + n

    compiled = check(f, np.array([1.0, -2.0]), 3)
    compiled(np.array([1.0, 2.0]), 4)
    assert compiled.experimental_get_tracing_count() == 1


def test_computed_sizes():
    def f(n, step):
        x = np.arange(n) * step
        return x, np.zeros(n), np.sum(x), np.full((n, 2), step), x.shape[0] + 1, np.ones(n, dtype=np.int8) + 1

    compiled = check(f, 3, 0.5)
    compiled(5, 1.5)
    assert compiled.experimental_get_tracing_count() == 1
    np.testing.assert_array_equal(compiled(4, 2.0)[0], [0.0, 2.0, 4.0, 6.0])


def test_new_arrays_on_every_call():
    @ac.compile
    def f(n):
        return np.zeros(n), np.arange(3)

    first, second = f(2), f(2)
    first[0][0] = first[1][0] = 7
    assert second[0][0] == 0 and second[1][0] == 0


def test_arguments_that_numpy_refuses():
    def f(x, y):
        return np.concatenate([x, y]) + np.ones(2)

    compiled = ac.compile(f)
    with pytest.raises(ValueError):
        compiled(X, X[0])


def test_functions_that_only_eager_tensors_have():
    x = ac.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(np.apply_along_axis(sum, 0, x), [4.0, 6.0])
    assert np.linalg.eig(np.asarray(x))[0].shape == np.linalg.eig(x)[0].shape == (2,)


def test_numpys_functions_of_eager_tensors_return_arrays():
    x = ac.constant([[1.0, np.nan], [3.0, 4.0]])
    for found in (np.isnan(x), np.stack([x, x]), np.exp(x), np.add.reduce(x), np.where(np.isnan(x), 0, x)):
        assert type(found) is np.ndarray
    assert np.isnan(x).any() and np.stack([x, x]).sum(axis=0)[1, 0] == 6.0
    assert isinstance(np.ones(2, np.float32) + x, ac.Tensor)  # operators follow the rules of tensors
    with ac.GradientTape() as tape:
        tape.watch(x)
        watched, unwatched = np.exp(x), np.exp(ac.constant(1.0))
    assert isinstance(watched, ac.Tensor) and not isinstance(unwatched, ac.Tensor)
    assert tape.gradient(watched, x).numpy()[1, 1] == pytest.approx(np.exp(4.0), rel=1e-6)


def test_gradients_through_numpys_functions():
    def f(x):
        y = np.sin(x) * np.exp(x)
        return np.sum(np.where(y > 0, y, 2 * y)) + np.linalg.norm(y) + np.mean(np.concatenate([x, y])) + np.dot(x, y)

    x = np.array([0.5, -1.25, 2.0])
    found = ac.grad(ac.compile(f))(x)
    steps = np.eye(3) * 1e-6
    np.testing.assert_allclose(found, [(f(x + h) - f(x - h)) / 2e-6 for h in steps], rtol=1e-6)
    with ac.GradientTape() as tape:
        t = ac.constant(x)
        tape.watch(t)
        value = f(t)
    np.testing.assert_allclose(tape.gradient(value, t), found, rtol=1e-12)
