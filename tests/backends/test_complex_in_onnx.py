"""Complex numbers in ONNX models, which hold pairs of their parts, beside NumPy."""

import numpy as np
import pytest

import autoconv

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

RANDOM = np.random.default_rng(0)


def complex_numbers(*shape):
    return RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape)


def escape_counts(c, steps):
    """Return the numbers of steps of the Mandelbrot iteration, a complex loop variable, and its last numbers."""
    z, counts = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for _ in range(steps):
        z = np.where(np.abs(z) <= 2.0, z * z + c, z)
        counts += np.abs(z) <= 2.0
    return counts, z


def spectrum(x):
    f = np.fft.fft(x)
    return f, np.abs(f), np.angle(f), np.fft.ifft(f * f.conj()).real


def real_spectrum(x):
    f = np.fft.rfft(x)
    return f, np.fft.irfft(f), np.fft.irfft(f, x.shape[-1]), np.fft.irfft(f[..., :3], 9), np.fft.fft2(x)


def written(z):
    w = np.zeros(z.shape, z.dtype)
    w[1:] = z[:-1] * 1j
    w[0] = w[2].real
    return w, w.sum(axis=1), w[:, ::2].T, z.T @ z


def functions(z):
    powers = z**2, z**-1, z**1.5, z / (z + 1j), np.exp(z), np.log(z), np.sqrt(z)
    return (*powers, np.sin(z), np.cosh(z), np.tanh(z), np.conj(z), np.sign(z))


CASES = {
    "a loop": (escape_counts, complex_numbers(4, 5), 6),
    "Fourier transforms": (spectrum, complex_numbers(3, 12)),
    "of real numbers, of even sizes": (real_spectrum, RANDOM.normal(size=(2, 10))),
    "of real numbers, of odd sizes": (real_spectrum, RANDOM.normal(size=(2, 15))),
    "arrays in memory": (written, complex_numbers(4, 3)),
    "functions": (functions, complex_numbers(7)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_numpy_programs(name, dtype):
    function, x, *numbers = CASES[name]
    x = x.astype(np.result_type(dtype, np.complex64) if np.iscomplexobj(x) else dtype)
    spec = f"{x.dtype}[{','.join(map(str, x.shape))}]{' int64[]' * len(numbers)}"
    model = autoconv.onnx.load(autoconv.onnx.export(function, spec, contract="compile"))
    tolerance = 3e-5 if dtype == "float32" else 1e-13
    for found, expected in zip(model(x, *numbers), function(x, *numbers), strict=True):
        assert found.shape == expected.shape
        assert np.iscomplexobj(found) == np.iscomplexobj(expected)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_sizes_stay_open():
    def moved(z, w):
        return np.concatenate([z * w, z[::-1]]), np.abs(z).sum(), z.mean()

    model = autoconv.onnx.load(autoconv.onnx.export(moved, "complex128[n] complex128[n]", contract="compile"))
    for size in (1, 4):
        z, w = complex_numbers(size), complex_numbers(size)
        for found, expected in zip(model(z, w), moved(z, w), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_branches_and_arguments_that_are_written():
    def doubled(z, flag):
        if flag > 0:
            z[1:] *= 2.0
            result = z[0]
        else:
            result = z[1] + 1j
        return result * 1j

    exported = autoconv.onnx.export(doubled, "complex128[3] int64[]", contract="compile")
    assert [output.name for output in exported.graph.output] == ["result_0", "new_z", "autoconv_error"]
    for flag in (0, 1):
        z = complex_numbers(3)
        found, contents = autoconv.onnx.load(exported)(z, flag)
        assert found == doubled(z, flag)
        np.testing.assert_array_equal(contents, z)


def test_tensors_of_complex_numbers():
    @autoconv.function
    def halved(z):
        while autoconv.reduce_max(autoconv.abs(z)) > 1.0:
            z = z / 2.0
        return autoconv.signal.ifft(autoconv.signal.fft(z)) + autoconv.complex(1.0, 2.0)

    z = complex_numbers(8).astype(np.complex64) * 5
    found = autoconv.onnx.load(autoconv.onnx.export(halved, autoconv.TensorSpec([8], autoconv.complex64)))(z)
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, halved(z).numpy(), rtol=1e-5)
