"""Modified Bessel functions of the first kind of orders 0 and 1; those whose names end in e are scaled by e^-|x|."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.ops.elements import bessel
from autoconv.ops.elements.arrays import kernel_of
from autoconv.ops.elements.registry import Rule
from autoconv.ops.elementwise.maths import Derivative, define_unary, floating_rule
from autoconv.ops.record import Builder, Op

_SAMPLES = np.array([0.25, -1.5, 4.0, 25.0])


def _define(name: str, graphdef: str, rule: Rule, derivative: Derivative, *samples: Any) -> Op:
    """Define an op whose kernel evaluates an element rule."""
    return define_unary(
        name, graphdef, kernel_of(rule), derivative, *samples,
        rule=floating_rule(name, allows_complex=False), compiles_eager_calls=True,
    )  # fmt: skip


def _quotient_by_x(b: Builder, x: Any, y: Any) -> Any:
    """Return y / x for y = I1(x), scaled or not; 1/2 at 0, since y is about x/2 there."""
    is_zero = b.equal(x, b.zeros_like(x))
    half = b.multiply(b.ones_like(x), 0.5)
    return b.select(is_zero, half, b.divide(y, b.select(is_zero, half, x)))


def _i1_slope(b: Builder, x: Any, y: Any) -> Any:
    return b.subtract(b.bessel_i0(x), _quotient_by_x(b, x, y))


def _i0e_slope(b: Builder, x: Any, y: Any) -> Any:
    return b.subtract(b.bessel_i1e(x), b.multiply(b.sign(x), y))


def _i1e_slope(b: Builder, x: Any, y: Any) -> Any:
    return b.subtract(b.bessel_i0e(x), b.add(b.multiply(b.sign(x), y), _quotient_by_x(b, x, y)))


i0 = _define("bessel_i0", "BesselI0", bessel.i0, lambda b, x, y: b.bessel_i1(x), _SAMPLES[:3])
i1 = _define("bessel_i1", "BesselI1", bessel.i1, _i1_slope, _SAMPLES[:3])
i0e = _define("bessel_i0e", "BesselI0e", bessel.i0e, _i0e_slope, _SAMPLES)
i1e = _define("bessel_i1e", "BesselI1e", bessel.i1e, _i1e_slope, _SAMPLES)
