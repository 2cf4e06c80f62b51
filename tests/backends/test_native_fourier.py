"""Fourier transforms in native code, beside NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends import llvm
from tests.backends.native import graph_of, op

SIZES = [*range(1, 51), 60, 64, 128, 243, 1000, 1024, 4096]
WITHOUT = {17, 19, 23, 29, 31, 34, 37, 38, 41, 43, 46, 47}  # a prime factor above 13


def numbers(*shape: int, dtype: Any = np.complex128) -> np.ndarray:
    draws = np.random.default_rng(sum(shape))
    return (draws.standard_normal(shape) + 1j * draws.standard_normal(shape)).astype(dtype)


def check(name: str, x: np.ndarray, expected: np.ndarray, by_kernel: bool = False, **attributes: Any) -> None:
    run = llvm.compile_graph(graph_of(op(name, **attributes), x))
    if by_kernel:
        assert not isinstance(run, llvm.NativeGraph) or name in run.kernels
    else:
        assert isinstance(run, llvm.NativeGraph)
        assert run.kernels == []
    found = np.asarray(run([x])[0])
    assert found.shape == expected.shape
    assert found.dtype == x.dtype if name in ("fft", "ifft") else found.dtype.char.lower() == x.dtype.char.lower()
    precision = np.finfo(x.dtype).eps
    assert np.abs(found - expected).max() <= 6 * precision * max(np.abs(expected).max(), precision)


@pytest.mark.parametrize("size", SIZES)
def test_sizes(size: int) -> None:
    x, by_kernel = numbers(size), size in WITHOUT
    check("fft", x, np.fft.fft(x), by_kernel)
    check("ifft", x, np.fft.ifft(x, norm="ortho"), by_kernel, norm="ortho")
    real = numbers(2, size).real.copy()
    check("rfft", real, np.fft.rfft(real), by_kernel)
    half = numbers(size // 2 + 1)
    check("irfft", half, np.fft.irfft(half, size), by_kernel, length=size)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((3, 8), (0,)), ((3, 8), (0, 1)), ((5, 16, 12), (1,)), ((5, 16, 12), (0, 1, 2)), ((20, 100), (0,)),
        ((6, 1, 4), (0, 1)), ((1,), (0,)), ((30, 7), (0,)), ((2, 300, 70), (1,)), ((64, 64), (0, 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_axes(shape: tuple[int, ...], axes: tuple[int, ...], dtype: Any) -> None:
    x = numbers(*shape, dtype=dtype)
    check("fft", x, np.fft.fftn(x, axes=axes), axes=axes)
    check("ifft", x, np.fft.ifftn(x, axes=axes, norm="forward"), axes=axes, norm="forward")


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("length", [4, 5, 6, 12, 15])
def test_lengths_of_real_results(length: int, norm: str) -> None:
    x = numbers(3, 6)
    check("irfft", x, np.fft.irfft(x, length, norm=norm), length=length, norm=norm)  # type: ignore[arg-type]


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
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-14)
    assert "by kernels" not in filtered.explain()
