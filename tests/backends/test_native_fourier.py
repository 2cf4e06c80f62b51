"""Fourier transforms in native code, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends import llvm
from tests.backends.native import graph_of, op

SIZES = [*range(1, 51), 60, 64, 97, 128, 243, 254, 1000, 1009, 1024, 2017, 2049, 2062, 4096, 5003, 10007, 16384,
         30000, 65537]  # fmt: skip
WITHOUT = {65537}  # long, and a prime factor above 13


def numbers(*shape: int, dtype: Any = np.complex128) -> np.ndarray:
    draws = np.random.default_rng(sum(shape))
    return (draws.standard_normal(shape) + 1j * draws.standard_normal(shape)).astype(dtype)


def assert_close(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    precision = np.finfo(found.dtype).eps
    assert np.abs(found - expected).max() <= 6 * precision * max(np.abs(expected).max(), precision)


def check(build: Any, inputs: list[np.ndarray], expected: list[Any], kernels: tuple[str, ...] = ()) -> None:
    """Compare results, which run by these kernels alone."""
    run = llvm.compile_graph(graph_of(build, *inputs))
    if isinstance(run, llvm.NativeGraph):
        assert sorted(run.kernels) == sorted(kernels)
    else:
        assert kernels
    for actual_part, expected_part in zip(run(inputs), expected, strict=True):
        assert_close(actual_part, expected_part)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.search
def test_sizes(size: int) -> None:
    x, real, half = numbers(size), numbers(2, size).real.copy(), numbers(size // 2 + 1)

    def build(b: Any, x: Any, real: Any, half: Any) -> Any:
        return b.fft(x), b.ifft(x, norm="ortho"), b.rfft(real), b.irfft(half, length=size)

    expected = [np.fft.fft(x), np.fft.ifft(x, norm="ortho"), np.fft.rfft(real), np.fft.irfft(half, size)]
    kernels = ["fft", "ifft"] if size in WITHOUT else []
    if size in WITHOUT and size % 2:
        kernels += ["ifft", "rfft"]  # a real result of an odd length is transformed as complex numbers
    check(build, [x, real, half], expected, tuple(kernels))


@pytest.mark.parametrize("shape", [(6, 16384), (5, 9973), (16384, 3)], ids=str)
def test_rows_with_buffers_in_an_array(shape: tuple[int, ...]) -> None:
    """Threads that transform rows of one array use different parts of the array of buffers."""
    x, axis = numbers(*shape), int(shape[0] < shape[1])
    check(lambda b, x: (b.fft(x, axes=(axis,)), b.ifft(x, axes=(axis,))), [x],
          [np.fft.fft(x, axis=axis), np.fft.ifft(x, axis=axis)])  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((3, 8), (0,)), ((3, 8), (0, 1)), ((5, 16, 12), (1,)), ((5, 16, 12), (0, 1, 2)), ((20, 100), (0,)),
        ((6, 1, 4), (0, 1)), ((1,), (0,)), ((30, 7), (0,)), ((2, 300, 70), (1,)), ((64, 64), (0, 1)),
        ((3, 17), (0, 1)), ((19, 5), (0,)), ((2, 23, 3), (1, 2)), ((300, 31), (1,)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_axes(shape: tuple[int, ...], axes: tuple[int, ...], dtype: Any) -> None:
    x = numbers(*shape, dtype=dtype)
    expected = [np.fft.fftn(x, axes=axes), np.fft.ifftn(x, axes=axes, norm="forward")]
    check(lambda b, x: (b.fft(x, axes=axes), b.ifft(x, axes=axes, norm="forward")), [x], expected)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_lengths_of_real_results(norm: Any) -> None:
    x, lengths = numbers(3, 6), (4, 5, 6, 12, 15)
    expected = [np.fft.irfft(x, length, norm=norm) for length in lengths]
    check(lambda b, x: tuple(b.irfft(x, length=length, norm=norm) for length in lengths), [x], expected)


def test_nan_and_infinity_spread() -> None:
    x = np.array([1.0, np.nan, 2.0, 3.0], complex)
    run = llvm.compile_graph(graph_of(op("fft"), x))
    assert np.isnan(run([x])[0]).all()


@autoconv.compile
def filtered(u: Any, image: Any, steps: int) -> Any:
    frequencies = np.fft.rfftfreq(len(u))
    for _ in range(steps):
        u = np.fft.irfft(np.fft.rfft(u) * np.exp(-frequencies**2), len(u))
    spectrum = np.fft.fftshift(np.fft.fft2(image))
    return u, np.abs(np.fft.ifft2(np.fft.ifftshift(spectrum)))


def test_programs_of_transforms_need_no_kernel() -> None:
    u, image = numbers(48).real.copy(), numbers(12, 20).real.copy()
    found, expected = filtered(u, image, 3), filtered.__wrapped__(u, image, 3)
    for actual_part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual_part, expected_part, rtol=1e-13, atol=1e-14)
    assert "by kernels" not in filtered.explain()


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft", "hfft", "rfft", "ihfft", "fft2", "irfftn", "ifftn"])
def test_numbers_that_are_not_finite(name):
    """Nan and infinite elements are at NumPy's positions, which depend on the order of its computation."""
    function = getattr(np.fft, name)

    def f(x):
        return function(x + 0)

    for size in (2, 4, 5, 8, 12, 19):
        compiled = autoconv.compile(f)
        for value in (np.nan, np.inf, complex(0, np.nan), complex(1, -np.inf)):
            for position in (0, 1, -1):
                x = (np.arange(3.0 * size).reshape(3, size) + 1) * (1 + 0.5j)
                x[1, position] = value
                if name in ("rfft", "ihfft"):
                    x = x.real.copy()
                with np.errstate(all="ignore"):
                    expected, found = function(x), compiled(x)
                np.testing.assert_array_equal(np.isnan(found.real), np.isnan(expected.real))
                np.testing.assert_array_equal(np.isnan(found.imag), np.isnan(expected.imag))
                np.testing.assert_allclose(found, expected, atol=1e-14)
