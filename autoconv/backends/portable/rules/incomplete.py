"""Rules of the incomplete gamma and beta functions: series and continued fractions, as the kernels compute them.

An element that the series, or the fraction, does not serve is replaced by one for which it ends at once.
"""

from __future__ import annotations

import math
from typing import Any

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.iteration import iterate
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.graph.dtypes import DType, float64
from autoconv.graph.graph import Node
from autoconv.ops.elements.special import digamma, lgamma
from autoconv.ops.elementwise.incomplete import LARGE, MAX_TERMS, TINY


@lowers("igamma")
def igamma(w: Control, node: Node, a: Term, x: Term) -> Term:
    return w.cast(_gamma_parts(w, a, x, False)[0], node.results[0].dtype)


@lowers("igammac")
def igammac(w: Control, node: Node, a: Term, x: Term) -> Term:
    return w.cast(_gamma_parts(w, a, x, False)[1], node.results[0].dtype)


@lowers("igamma_slope")
def igamma_slope(w: Control, node: Node, a: Term, x: Term) -> Term:
    return w.cast(_gamma_parts(w, a, x, True)[2], node.results[0].dtype)


def _precision(dtype: DType) -> float:
    return 2.0**-52 if dtype is float64 else 2.0**-30


def _gamma_parts(w: Control, a: Term, x: Term, with_slope: bool) -> tuple[Term, Term, Term]:
    """Return the lower and the upper part, and the derivative of the lower one by `a`."""
    precision = _precision(a.dtype)
    a, x = w.broadcast(w.cast(a, float64), w.cast(x, float64))
    valid = (x >= 0.0) & (a >= 0.0) & ~(a.same(0.0) & x.same(0.0))
    ends = valid & (x.same(0.0) | a.same(0.0) | x.same(math.inf))
    inner = valid & ~ends & (a < math.inf)
    in_series, in_fraction = inner & (x <= a + 1.0), inner & (x > a + 1.0)
    lower = w.select(ends, w.select(x.differs(0.0), 1.0, w.fill_like(x, 0.0, float64)), math.nan)
    lower = w.select(valid & a.same(math.inf) & (x < math.inf), 0.0, lower)
    by_series, slope = _gamma_series(w, in_series, a, x, precision, with_slope)
    by_fraction, other_slope = _gamma_fraction(w, in_fraction, a, x, precision, with_slope)
    upper = w.select(in_series, 1.0 - by_series, w.select(in_fraction, by_fraction, 1.0 - lower))
    lower = w.select(in_series, by_series, w.select(in_fraction, 1.0 - by_fraction, lower))
    outside = w.select(ends, w.fill_like(x, 0.0, float64), math.nan)
    return lower, upper, w.select(in_series, slope, w.select(in_fraction, other_slope, outside))


def _scale(w: Control, a: Term, x: Term, gamma_of: Term) -> Term:
    """Return x^a · e^-x / Γ(gamma_of)."""
    return w.libm("exp", a * w.libm("log", x) - x - lgamma(w, gamma_of))


def _gamma_series(
    w: Control, served: Term, a: Term, x: Term, precision: float, with_slope: bool
) -> tuple[Term, Term]:
    a, x = w.select(served, a, 1.0), w.select(served, x, 1.0)

    def step(n: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        total, slope, term, log_slope = state
        term = term * (x / (a + n))
        total, remainder = total + term, term
        if with_slope:
            log_slope = log_slope - w.binary("divide", 1.0, a + n)
            slope = slope + term * log_slope
            remainder = term * w.binary("maximum", -log_slope, 1.0)
        return remainder > total * precision, [total, slope, term, log_slope]

    zero, one = (w.fill_like(x, number, float64) for number in (0.0, 1.0))
    total, slope, *_ = iterate(w, served, [one, zero, one, zero], step, MAX_TERMS)
    scale = _scale(w, a, x, a + 1.0)
    if with_slope:
        slope = scale * (slope + total * (w.libm("log", x) - digamma(w, a + 1.0)))
    return scale * total, slope


def _gamma_fraction(
    w: Control, served: Term, a: Term, x: Term, precision: float, with_slope: bool
) -> tuple[Term, Term]:
    a, x = w.select(served, a, 1.0), w.select(served, x, 3.0)

    def step(n: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        value, slope, *parts = state
        y = 1.0 - a + n
        z, factor = x + y + 1.0 + n, y * n
        before, last = parts[:2], parts[2:4]
        new = [q * z - p * factor for p, q in zip(before, last, strict=True)]
        found = new[0] / new[1]
        going = w.emit_unary("abs", found - value) > found * precision
        following = [*last, *new]
        if with_slope:
            before_slope, last_slope = parts[4:6], parts[6:]
            new_slope = [
                q * z - last[i] - p * factor + before[i] * n
                for i, (p, q) in enumerate(zip(before_slope, last_slope, strict=True))
            ]
            found_slope = (new_slope[0] - found * new_slope[1]) / new[1]
            change, size = (w.emit_unary("abs", x) for x in (found_slope - slope, found_slope))
            going = going | (change > size * (64 * precision))
            slope, following = found_slope, [*following, *last_slope, *new_slope]
        scale = w.select(w.emit_unary("abs", new[1]) > LARGE, 1.0 / LARGE, w.fill_like(x, 1.0, float64))
        return going, [found, slope, *(part * scale for part in following)]

    zero, one = (w.fill_like(x, number, float64) for number in (0.0, 1.0))
    first = [one, x, x + 1.0, (x + 2.0 - a) * x, *([zero, zero, zero, -x] if with_slope else [])]
    value, slope, *_ = iterate(w, served, [zero, zero, *first], step, MAX_TERMS)
    scale = _scale(w, a, x, a)
    if with_slope:
        slope = -scale * (slope + value * (w.libm("log", x) - digamma(w, a)))
    return scale * value, slope


@lowers("betainc")
def betainc(w: Control, node: Node, a: Term, b: Term, x: Term) -> Term:
    """Compute the continued fraction by Lentz' method, on the side where it converges."""
    precision = _precision(a.dtype)
    a, b, x = w.broadcast(*(w.cast(one, float64) for one in (a, b, x)))
    valid = (a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0)
    inner = valid & (x > 0.0) & (x < 1.0)
    outer = w.select(valid, w.select(x.same(1.0), 1.0, w.fill_like(x, 0.0, float64)), math.nan)
    a, b, x = w.select(inner, a, 1.0), w.select(inner, b, 1.0), w.select(inner, x, 0.5)
    turned = x > (a + 1.0) / (a + b + 2.0)
    first, second = w.select(turned, b, a), w.select(turned, a, b)
    fraction = _beta_fraction(w, inner, [first, second, w.select(turned, 1.0 - x, x)], precision)
    scale = lgamma(w, a + b) - lgamma(w, a) - lgamma(w, b) + a * w.libm("log", x) + b * w.libm("log1p", -x)
    part = w.libm("exp", scale) * fraction / first
    return w.cast(w.select(inner, w.select(turned, 1.0 - part, part), outer), node.results[0].dtype)


def _beta_fraction(w: Control, served: Term, operands: list[Term], precision: float) -> Term:
    a, b, x = operands

    def filled(value: Term) -> Term:
        return w.select(w.emit_unary("abs", value) < TINY, TINY, value)

    def inverse(value: Any) -> Term:
        return w.binary("divide", 1.0, filled(value))

    def step(m: Term, state: list[Term]) -> tuple[Term, list[Term]]:
        value, lower, upper = state
        twice = m + m
        change = value
        for factor in (
            m * (b - m) * x / ((a + twice - 1.0) * (a + twice)),
            -(a + m) * (a + b + m) * x / ((a + twice) * (a + twice + 1.0)),
        ):
            lower, upper = inverse(1.0 + factor * lower), filled(1.0 + factor / upper)
            change = lower * upper
            value = value * change
        return w.emit_unary("abs", change - 1.0) > precision, [value, lower, upper]

    start = inverse(1.0 - (a + b) * x / (a + 1.0))
    return iterate(w, served, [start, start, w.fill_like(x, 1.0, float64)], step, MAX_TERMS)[0]
