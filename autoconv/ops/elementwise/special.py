"""The error function and its inverse, the normal quantile, the log-gamma function and its derivatives.

Formulas: NIST Digital Library of Mathematical Functions, 5.5 (recurrence, reflection), 5.11 (asymptotic
series) and 5.15 (polygamma functions as sums).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.ops.elements import special
from autoconv.ops.elements.arrays import BLOCK, kernel_of
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.elementwise.maths import SMALL, floating_rule, unary
from autoconv.ops.record import Builder, define, sample

_GAMMA_SAMPLES = np.array([0.75, 1.5, 3.25, 12.0, -0.75])
# B(2j) for j = 1 …: the even Bernoulli numbers
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
ASYMPTOTIC_FROM = 12.0  # arguments from which the asymptotic series is exact
RECURRENCE_LIMIT = 10_000.0  # polygamma is nan for arguments below minus this


def _polygamma(x: Any, *, order: int) -> Any:
    """(-1)^(n+1)·n!·Σ 1/(x+k)^(n+1), the tail by the Euler-Maclaurin formula; nan below -10,000."""
    array = np.asarray(x)
    flat, results_flat = array.reshape(-1), np.empty(array.size, array.dtype)
    for start in range(0, flat.size, BLOCK):
        results_flat[start : start + BLOCK] = _polygamma_block(np.array(flat[start : start + BLOCK], np.float64), order)
    return results_flat.reshape(array.shape)


def _polygamma_block(z: Any, order: int) -> Any:
    power = order + 1
    z[z < -RECURRENCE_LIMIT] = np.nan
    total = np.zeros_like(z)
    start = ASYMPTOTIC_FROM + order
    while True:
        small = z < start
        if not small.any():
            break
        total = np.where(small, total + _inverse_power(z, power), total)
        z = np.where(small, z + 1.0, z)
    first_power = _inverse_power(z, power)
    total = total + first_power * z / order + 0.5 * first_power
    factor, inverse_square, scaled = float(power), 1.0 / (z * z), first_power / z
    for j, bernoulli in enumerate(BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * j) * factor * scaled
        factor *= (power + 2 * j - 1) * (power + 2 * j)
        scaled = scaled * inverse_square
    sign = 1.0 if order % 2 else -1.0
    return sign * math.factorial(order) * total


def _inverse_power(z: Any, power: int) -> Any:
    """Return 1 / z^power by squaring: NumPy's power takes ten times as long."""
    product, factor = np.ones_like(z), z
    while power:
        if power % 2:
            product = product * factor
        power //= 2
        factor = factor * factor if power else factor
    return 1.0 / product


def _polygamma_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.multiply(cotangents[0], b.polygamma(inputs[0], order=attributes["order"] + 1)),)


def _gaussian(b: Builder, x: Any, factor: float) -> Any:
    return b.multiply(b.exp(b.negative(b.square(x))), factor)


def _inverse_density(b: Builder, y: Any) -> Any:
    """1 over the normal distribution's density at y."""
    return b.multiply(b.exp(b.multiply(b.square(y), 0.5)), math.sqrt(2.0 * math.pi))


_PROBABILITIES = np.array([0.1, 0.25, 0.5, 0.875])
_SLOPE = 2.0 / math.sqrt(math.pi)

erf = unary(
    "erf", "Erf", kernel_of(special.erf), lambda b, x, y: _gaussian(b, x, _SLOPE), SMALL,
    rule=floating_rule("erf", complex_too=False), native_eagerly=True,
)  # fmt: skip
erfc = unary(
    "erfc", "Erfc", kernel_of(special.erfc), lambda b, x, y: _gaussian(b, x, -_SLOPE), SMALL,
    rule=floating_rule("erfc", complex_too=False), native_eagerly=True,
)  # fmt: skip
lgamma = unary(
    "lgamma", "Lgamma", kernel_of(special.lgamma), lambda b, x, y: b.digamma(x), _GAMMA_SAMPLES,
    rule=floating_rule("lgamma", complex_too=False), native_eagerly=True,
)  # fmt: skip
digamma = unary(
    "digamma", "Digamma", kernel_of(special.digamma), lambda b, x, y: b.polygamma(x, order=1), _GAMMA_SAMPLES,
    rule=floating_rule("digamma", complex_too=False), native_eagerly=True,
)  # fmt: skip
erfinv = unary(
    "erfinv", "Erfinv", kernel_of(special.erfinv), lambda b, x, y: b.reciprocal(_gaussian(b, y, _SLOPE)), SMALL,
    rule=floating_rule("erfinv", complex_too=False), native_eagerly=True,
)  # fmt: skip
ndtri = unary(
    "ndtri", "Ndtri", kernel_of(special.ndtri), lambda b, x, y: _inverse_density(b, y), _PROBABILITIES,
    rule=floating_rule("ndtri", complex_too=False), native_eagerly=True,
)  # fmt: skip
polygamma = define(
    name="polygamma", graphdef="Polygamma", result=floating_rule("polygamma", complex_too=False),
    kernel=quiet(_polygamma), gradient=_polygamma_gradient, elementwise=True,
    samples=(sample(_GAMMA_SAMPLES, order=1), sample(_GAMMA_SAMPLES, order=2)),
)  # fmt: skip
