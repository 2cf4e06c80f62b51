"""Real and imaginary parts of complex arrays that the call changes: views, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv


def low_pass(signal: Any) -> Any:
    spectrum = np.fft.fft(signal)
    spectrum[np.abs(np.fft.fftfreq(len(signal))) > 0.2] = 0
    return np.fft.ifft(spectrum).real


def part_read_after_write(signal: Any) -> Any:
    spectrum = np.fft.fft(signal)
    spectrum[2:] = 0
    real = spectrum.real
    spectrum[0] = 5
    real[1] = 7
    return real, spectrum, spectrum.imag.sum(), np.abs(spectrum).sum()


def written_parts(signal: Any) -> Any:
    z = signal + 1j * signal
    z[0] = 1
    z.real[:] = 2
    z.imag *= 3
    return z, z.real.mean(), z.imag + 1


def of_an_argument(z: Any) -> Any:
    z[1] = 2
    real = z.real
    real += 1
    return z.imag.T, real


def part_taken_before_write(signal: Any) -> Any:
    z = signal + 1j * signal
    real = z.real
    z[0] = 9 + 2j
    real[1] = 4
    return real, z.imag, real.sum()


def beside_another_changed_array(signal: Any) -> Any:
    z = np.fft.fft(signal)
    filled = np.zeros(7)
    filled[:] = z.real[:7]
    return z.real, z.imag[::2], filled


@pytest.mark.parametrize(
    "program",
    [
        low_pass, part_read_after_write, written_parts, of_an_argument, part_taken_before_write,
        beside_another_changed_array,
    ],
)
def test_as_numpy(program: Callable[..., Any]) -> None:
    compiled = autoconv.compile(program)
    for size in (8, 20, 8):
        compiled_argument = np.random.default_rng(size).standard_normal(size) + (1j if program is of_an_argument else 0)
        plain_argument = compiled_argument.copy()
        found, expected = compiled(compiled_argument), program(plain_argument)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for actual, desired in pairs:
            np.testing.assert_allclose(actual, desired, rtol=1e-12, atol=1e-12)
            assert np.asarray(actual).strides == np.asarray(desired).strides
        np.testing.assert_allclose(compiled_argument, plain_argument, rtol=1e-12)
    assert "plain Python" not in compiled.explain()


def test_signs_are_native() -> None:
    x = np.array([-0.0, 0.0, np.nan, -np.nan, 3.0, -np.inf])
    for dtype in (np.float64, np.float32, np.float16):
        argument = x.astype(dtype)
        compiled = autoconv.compile(lambda x: (np.signbit(x), np.copysign(x[::-1], x), np.copysign(2.0, x[0])))
        for actual, desired in zip(compiled(argument), compiled.__wrapped__(argument), strict=True):
            np.testing.assert_array_equal(np.signbit(actual), np.signbit(desired))
            np.testing.assert_array_equal(actual, desired)
        assert "kernels" not in compiled.explain()
