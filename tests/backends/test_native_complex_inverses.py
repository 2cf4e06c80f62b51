"""Inverse functions of complex numbers in native code, against exact ones, on either side of the branch cuts.

Each part is within 4 of its own units in the last place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv
from tests.backends.test_native_complex import assert_same_parts, native, op, special

mpmath = pytest.importorskip("mpmath")

NUMPY = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
}  # fmt: skip
KINDS = [np.complex128, np.complex64]
LIMIT = 4.0


def arguments(dtype: Any) -> np.ndarray:
    """Return numbers of random bits, of all magnitudes, and close to 1, to i and to the unit circle."""
    kind, random, count = np.finfo(dtype).dtype, np.random.default_rng(11), 25
    word = np.uint32 if kind.itemsize == 4 else np.uint64
    least = -37 if kind.itemsize == 4 else -300

    def sign() -> Any:
        return random.choice([-1.0, 1.0], count)

    def near_one(digits: float) -> Any:
        return 1 + random.standard_normal(count) * 10.0 ** random.uniform(-digits, 0, count)

    def tiny() -> Any:
        return sign() * 10.0 ** random.uniform(least, 0, count)

    angle, size = random.uniform(0, 7, count), near_one(17)
    parts = [
        tuple(random.integers(0, np.iinfo(word).max, (2, count), dtype=word).view(kind)),
        (sign() * 10.0 ** random.uniform(-20, 20, count), sign() * 10.0 ** random.uniform(-20, 20, count)),
        (2 * random.standard_normal(count), 2 * random.standard_normal(count)),
        (sign() * near_one(17), tiny()), (tiny(), sign() * near_one(17)), (sign(), tiny()), (tiny(), sign()),
        (size * np.cos(angle), size * np.sin(angle)), (sign() * near_one(9), 0.0 * sign()),
    ]  # fmt: skip
    found = np.empty((len(parts), count), dtype)
    for row, (real, imag) in zip(found, parts, strict=True):
        row.real, row.imag = real, imag
    return found[np.isfinite(found)]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", sorted(NUMPY))
@pytest.mark.search
def test_each_part_is_within_four_units(name: str, dtype: Any) -> None:
    x = arguments(dtype)
    found, kind = native(op(name), x), np.finfo(dtype).dtype.type
    with np.errstate(all="ignore"):
        rough = NUMPY[name](x)
    worst: tuple[float, complex] = 0.0, 0j
    with mpmath.workprec(2400 if dtype is np.complex128 else 400):
        for z, actual in zip(x, found, strict=True):
            exact = getattr(mpmath, name)(mpmath.mpc(float(z.real), float(z.imag)))
            for part, true in ((actual.real, exact.real), (actual.imag, exact.imag)):
                # On a branch cut the sign is ambiguous: it is compared with NumPy's.
                unit = float(np.spacing(max(kind(abs(float(true))), np.finfo(kind).tiny)))
                error = float(abs(abs(mpmath.mpf(float(part))) - abs(true)) / unit)
                worst = max(worst, (error, complex(z)), key=_first)
    assert worst[0] <= LIMIT, f"{name}({worst[1]!r}) is {worst[0]:.1f} units off"
    np.testing.assert_array_equal(np.signbit(found.real), np.signbit(rough.real))
    np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(rough.imag))


def _first(pair: tuple[float, complex]) -> float:
    return pair[0]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", sorted(NUMPY))
def test_special_numbers_are_numpys(name: str, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        assert_same_parts(native(op(name), special(dtype)), NUMPY[name](special(dtype)), 8.0)


@pytest.mark.parametrize(
    ("name", "z", "expected"),
    [
        ("asin", 2 + 0j, complex(np.pi / 2, 1.3169578969248166)), ("acos", 0j, complex(np.pi / 2, -0.0)),
        ("asin", complex(2, -0.0), complex(np.pi / 2, -1.3169578969248166)), ("atanh", 1 + 0j, complex(np.inf, 0)),
        ("acos", complex(-2, -0.0), complex(np.pi, 1.3169578969248166)),
        ("acosh", complex(-2, -0.0), complex(1.3169578969248166, -np.pi)),
        ("asinh", 2j, complex(1.3169578969248166, np.pi / 2)),
        ("atan", complex(0, 2), complex(np.pi / 2, 0.5493061443340549)),
    ],
)  # fmt: skip
def test_values_on_branch_cuts(name: str, z: complex, expected: complex) -> None:
    """The values of C's standard: continuous with the quadrant of the signed zero."""
    assert_same_parts(native(op(name), np.full(3, z)), np.full(3, expected), 2.0)


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"])
@pytest.mark.parametrize("side", [0.0, -0.0, 0.3])
def test_derivatives_also_beside_branch_cuts(name: str, side: float) -> None:
    """The derivative along the real axis, on either side of a cut that lies there."""
    function: Callable[[Any], Any] = getattr(np, name)
    points = np.array([-2.5, -0.4, 0.3, 1.75])
    z = np.array([complex(x, side) for x in points])
    step = 1e-6
    ahead, behind = (np.array([complex(x + h, side) for x in points]) for h in (step, -step))
    expected = (function(ahead) - function(behind)) / (2 * step)
    real = autoconv.compile(autoconv.grad(lambda z: np.sum(np.real(function(z)))))(z)
    # A real part's cotangent is the conjugate of the derivative.
    np.testing.assert_allclose(np.conj(np.asarray(real)), expected, rtol=1e-8, atol=1e-8)
