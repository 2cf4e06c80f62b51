"""The error function and its inverse, the normal quantile, the log-gamma function and its derivatives.

Formulas: NIST Digital Library of Mathematical Functions, 5.5 (recurrence, reflection) and 5.11 (asymptotic series).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.ops.elements import special, zeta
from autoconv.ops.elements.arrays import kernel_in_own_precision, kernel_of
from autoconv.ops.elementwise.maths import SMALL, define_unary, floating_rule
from autoconv.ops.record import Builder, define, sample

_GAMMA_SAMPLES = np.array([0.75, 1.5, 3.25, 12.0, -0.75])


def _polygamma_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.multiply(cotangents[0], b.polygamma(inputs[0], order=attributes["order"] + 1)),)


def _gaussian(b: Builder, x: Any, factor: float) -> Any:
    """Return factor · exp(-x²)."""
    return b.multiply(b.exp(b.negative(b.square(x))), factor)


def _inverse_density(b: Builder, y: Any) -> Any:
    """Return 1 over the density of the normal distribution at y."""
    return b.multiply(b.exp(b.multiply(b.square(y), 0.5)), math.sqrt(2.0 * math.pi))


_PROBABILITIES = np.array([0.1, 0.25, 0.5, 0.875])
_ERF_SLOPE = 2.0 / math.sqrt(math.pi)

erf = define_unary(
    "erf", "Erf", kernel_of(special.erf), lambda b, x, y: _gaussian(b, x, _ERF_SLOPE), SMALL,
    rule=floating_rule("erf", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
erfc = define_unary(
    "erfc", "Erfc", kernel_of(special.erfc), lambda b, x, y: _gaussian(b, x, -_ERF_SLOPE), SMALL,
    rule=floating_rule("erfc", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
lgamma = define_unary(
    "lgamma", "Lgamma", kernel_of(special.lgamma), lambda b, x, y: b.digamma(x), _GAMMA_SAMPLES,
    rule=floating_rule("lgamma", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
digamma = define_unary(
    "digamma", "Digamma", kernel_of(special.digamma), lambda b, x, y: b.polygamma(x, order=1), _GAMMA_SAMPLES,
    rule=floating_rule("digamma", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
erfinv = define_unary(
    "erfinv", "Erfinv", kernel_of(special.erfinv), lambda b, x, y: b.reciprocal(_gaussian(b, y, _ERF_SLOPE)), SMALL,
    rule=floating_rule("erfinv", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
ndtri = define_unary(
    "ndtri", "Ndtri", kernel_of(special.ndtri), lambda b, x, y: _inverse_density(b, y), _PROBABILITIES,
    rule=floating_rule("ndtri", allows_complex=False), compiles_eager_calls=True,
)  # fmt: skip
polygamma = define(
    name="polygamma", graphdef="Polygamma", result=floating_rule("polygamma", allows_complex=False),
    kernel=kernel_in_own_precision(zeta.polygamma),
    gradient=_polygamma_gradient, elementwise=True, costly=True, compiles_eager_calls=True,
    samples=(sample(_GAMMA_SAMPLES, order=1), sample(_GAMMA_SAMPLES, order=2)),
)  # fmt: skip
