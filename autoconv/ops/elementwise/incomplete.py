"""The incomplete gamma and beta functions, and Hurwitz' zeta function."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.types import TensorType
from autoconv.ops.elements import incomplete_gamma_beta, zeta
from autoconv.ops.elements.arrays import kernel_in_own_precision
from autoconv.ops.elements.registry import Rule
from autoconv.ops.elementwise.maths import floating_rule
from autoconv.ops.gradients import unbroadcast
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import broadcast


def _density(b: Builder, a: Any, x: Any) -> Any:
    """Return x^(a-1)·e^-x / Γ(a), the derivative by x of the lower incomplete gamma function."""
    return b.exp(b.subtract(b.subtract(b.xlogy(b.subtract(a, b.ones_like(a)), x), x), b.lgamma(a)))


def _gamma_gradient(is_upper: bool) -> Any:
    """Return the gradient rule of the lower or the upper incomplete gamma function."""

    def gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        a, x = inputs
        cotangent = b.negative(cotangents[0]) if is_upper else cotangents[0]
        a_cotangent = b.multiply(cotangent, b.igamma_slope(a, x))
        return unbroadcast(b, a_cotangent, a), unbroadcast(b, b.multiply(cotangent, _density(b, a, x)), x)

    return gradient


def _beta_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the density of the beta distribution times the cotangent, for `x` alone."""
    first, second, x = inputs
    ones = b.ones_like(x)
    log_unscaled_density = b.add(b.xlogy(b.subtract(first, b.ones_like(first)), x),
                                 b.xlogy(b.subtract(second, b.ones_like(second)), b.subtract(ones, x)))  # fmt: skip
    log_scale = b.subtract(b.lgamma(b.add(first, second)), b.add(b.lgamma(first), b.lgamma(second)))
    return None, None, unbroadcast(b, b.multiply(cotangents[0], b.exp(b.add(log_unscaled_density, log_scale))), x)


def _zeta_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    x, q = inputs
    slope = b.negative(b.multiply(x, b.zeta(b.add(x, b.ones_like(x)), q)))
    return None, unbroadcast(b, b.multiply(cotangents[0], slope), q)


def _define(name: str, graphdef: str, rule: Rule, gradient: Any, *samples: Any) -> None:
    """Define an op on floating tensors whose kernel evaluates an element rule."""

    def result(*inputs: TensorType, **_: Any) -> TensorType:
        floating = floating_rule(name, allows_complex=False)
        return broadcast(*map(floating, inputs))

    define(
        name=name, graphdef=graphdef, result=result, kernel=kernel_in_own_precision(rule), gradient=gradient,
        unify="all", elementwise=True, costly=True, compiles_eager_calls=True, samples=samples,
    )  # fmt: skip


_A, _X = np.array([0.5, 2.0, 9.5]), np.array([0.75, 3.5, 8.0])
_FRACTIONS = np.array([0.25, 0.5, 0.875])
_GAMMA_SAMPLE = sample(_A, _X, differentiable=(1,))  # second derivatives by the parameter are refused
_define("igamma", "Igamma", incomplete_gamma_beta.igamma, _gamma_gradient(is_upper=False), _GAMMA_SAMPLE)
_define("igammac", "Igammac", incomplete_gamma_beta.igammac, _gamma_gradient(is_upper=True), _GAMMA_SAMPLE)
_define(
    "igamma_slope", "IgammaGradA", incomplete_gamma_beta.igamma_slope,
    no_gradient("the second derivative of igamma by its first operand is not written"), sample(_A, _X),
)  # fmt: skip
_define(
    "betainc", "Betainc", incomplete_gamma_beta.betainc, _beta_gradient,
    sample(np.array([0.5, 2.0, 9.5]), np.array([3.0, 0.75, 4.0]), _FRACTIONS, differentiable=(2,)),
)  # fmt: skip
_define("zeta", "Zeta", zeta.zeta, _zeta_gradient, sample(np.array([1.5, 2.0, 6.0]), _X, differentiable=(1,)))
