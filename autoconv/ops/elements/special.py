"""Element rules of special functions: normal quantiles, the inverse error function, log-gamma and its derivative.

The rational functions of the complementary error function are those of Cephes (Moshier, 1992). Those of the normal
quantile are from algorithm AS 241 (Wichura, 1988). The series are from NIST's Digital Library of Mathematical
Functions: 5.7.3 (around 2) and 5.11.1 (large arguments) for log-gamma, and 5.11.2 for its derivative.
"""

from __future__ import annotations

import math
from typing import Any

from autoconv.graph.dtypes import float32, float64
from autoconv.ops.elements.maths import ERF, ERFC, apply, horner, rational
from autoconv.ops.elements.registry import Elements, element

# Quotients (numerator, denominator) for the normal quantile, the highest power first: `_MIDDLE` for probabilities near
# 1/2, `_TAIL` for the tails, and `_FAR` for probabilities below e^-25.
_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
     687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


@element("ndtri")
def ndtri(b: Elements, x: Any) -> Any:
    """Return the number below which the normal distribution has the probability x."""
    if x.dtype not in (float32, float64):
        return None
    return _quantile(b, x - 0.5, b.select(x < 0.5, x, 1.0 - x))


@element("erfinv")
def erfinv(b: Elements, x: Any) -> Any:
    """Return the number whose error function is x: a normal quantile, scaled."""
    if x.dtype not in (float32, float64):
        return None
    return _quantile(b, x * 0.5, (1.0 - b.intrinsic("fabs", x)) * 0.5) * math.sqrt(0.5)


def _quantile(b: Elements, centred: Any, tail: Any) -> Any:
    """Return the quantile of p = 1/2 + `centred`; `tail` is the smaller of p and 1 - p."""
    middle_argument = b.constant(0.180625, centred.dtype) - centred * centred
    middle = centred * rational(b, middle_argument, _MIDDLE)
    root = b.intrinsic("sqrt", -apply(b, "log", tail))
    tail_quantile = b.select(root > 5.0, rational(b, root - 5.0, _FAR), rational(b, root - 1.6, _TAIL))
    tail_quantile = b.select(tail.same(0.0), float("inf"), tail_quantile)
    quantile = b.select(b.intrinsic("fabs", centred) > 0.425, b.intrinsic("copysign", tail_quantile, centred), middle)
    return b.select(tail < 0.0, float("nan"), quantile)


_EULER = 0.57721566490153286061
_ASYMPTOTIC_FROM = 12.0  # for arguments of lgamma from here on, Stirling's series is exact
_STEPS_DOWN = 10  # steps of the recurrence from below `_ASYMPTOTIC_FROM` into [1.5, 2.5)
STIRLING = tuple(  # B(2j) / (2j·(2j - 1)) with Bernoulli's numbers B, the highest j first
    bernoulli / (2 * j * (2 * j - 1))
    for j, bernoulli in reversed(list(enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1)))
)


def _zeta_less_one(k: int) -> float:
    """Return ζ(k) - 1: the sum of the terms 2^-k to 63^-k, and the tail by the Euler-Maclaurin formula."""
    n = 64
    tail = n ** (1 - k) / (k - 1) + 0.5 * n**-k + k * n ** (-k - 1) / 12
    tail -= k * (k + 1) * (k + 2) * n ** (-k - 3) / 720
    tail += k * (k + 1) * (k + 2) * (k + 3) * (k + 4) * n ** (-k - 5) / 30240
    return math.fsum([*(m**-k for m in range(2, n)), tail])


def _around_two(term_count: int) -> tuple[float, ...]:
    """Return the coefficients of the power series of lgamma(2 + z) / z, the highest power first."""
    higher_coefficients = [(-1) ** k * _zeta_less_one(k) / k for k in range(term_count, 1, -1)]
    return (*higher_coefficients, 1.0 - _EULER)


_AROUND_TWO = {float32: _around_two(12), float64: _around_two(27)}


def _around_two_of(b: Elements, y: Any) -> tuple[Any, ...]:
    """Move y > 0 by an integer to 2 + z in [1.5, 2.5); return log Γ(2 + z), a product, z and two conditions.

    For y from 1.5 on, Γ(y) is the product times Γ(2 + z). The conditions are y < 0.5, where z is y and Γ(2 + z) is
    y·(y + 1)·Γ(y); and y < 1.5, where z is y - 1 otherwise and Γ(2 + z) is y·Γ(y).
    """
    product, reduced_y = b.constant(1.0, y.dtype), y
    for _ in range(_STEPS_DOWN):
        is_above = reduced_y >= 2.5
        reduced_y = b.select(is_above, reduced_y - 1.0, reduced_y)
        product = b.select(is_above, product * reduced_y, product)
    is_tiny, is_small = y < 0.5, y < 1.5
    z = b.select(is_tiny, y, b.select(is_small, y - 1.0, reduced_y - 2.0))
    return horner(b, z, _AROUND_TWO[y.dtype]) * z, product, z, is_tiny, is_small


def gamma(b: Elements, x: Any) -> Any:
    """Return Γ(x) of float64: by the series of `lgamma`, and reflection for negative x; nan at the poles."""
    is_far_left = x <= -0.5
    y = b.select(is_far_left, -x, b.select(x < 0.0, 1.0 - x, x))  # -x is exact, but 1 / -x overflows near 0
    series, product, z, is_tiny, is_small = _around_two_of(b, y)
    moderate = apply(b, "exp", series) * product
    moderate = b.select(is_small, moderate / (z + 1.0), moderate)
    moderate = b.select(is_tiny, moderate / y, moderate)
    inverse = 1.0 / y
    # y^(y - 1/2) overflows before its product with e^-y does: multiply by its square root twice.
    root = b.libm("pow", y, y * 0.5 - 0.25)
    correction = horner(b, inverse * inverse, STIRLING) * inverse
    large = root * apply(b, "exp", -y) * root * (apply(b, "exp", correction) * math.sqrt(2 * math.pi))
    result = b.select(y >= _ASYMPTOTIC_FROM, b.select(y > 180.0, float("inf"), large), moderate)
    result = b.select(y.same(b.intrinsic("floor", y)), b.intrinsic("rint", result), result)  # Γ(n) is an integer
    nearest = b.intrinsic("floor", x + 0.5)
    sine = apply(b, "sin", (x - nearest) * math.pi)
    half = nearest * 0.5  # sin(π·x) is minus this sine if the nearest integer is odd
    sine = b.select(half.same(b.intrinsic("floor", half)), sine, -sine)
    reflection = b.constant(math.pi, x.dtype) / (sine * result)  # Γ(1 + y) is y·Γ(y)
    result = b.select(is_far_left, reflection / y, b.select(x < 0.0, reflection, result))
    is_pole = b.compare("le", x, 0.0) & x.same(b.intrinsic("floor", x))
    return b.select(is_pole, float("nan"), b.select(x.same(float("inf")), x, result))


@element("lgamma")
def lgamma(b: Elements, x: Any) -> Any:
    """Return log |Γ(x)|: by the series around 2 or, for large x, Stirling's series; by reflection for negative x."""
    if x.dtype not in (float32, float64):
        return None
    is_negative = x < 0.0
    y = b.select(is_negative, 1.0 - x, x)
    series, product, z, is_tiny, is_small = _around_two_of(b, y)
    moderate = series + apply(b, "log", product)
    moderate = b.select(is_small, series - apply(b, "log1p", z), moderate)
    moderate = b.select(is_tiny, moderate - apply(b, "log", y), moderate)
    inverse = 1.0 / y
    large = (y - 0.5) * apply(b, "log", y) - y + b.constant(0.5 * math.log(2 * math.pi), x.dtype)
    large = large + horner(b, inverse * inverse, STIRLING) * inverse
    result = b.select(y >= _ASYMPTOTIC_FROM, large, moderate)
    fraction = x - b.intrinsic("floor", x + 0.5)
    sine = b.intrinsic("fabs", apply(b, "sin", fraction * math.pi))
    result = b.select(is_negative, b.constant(math.log(math.pi), x.dtype) - apply(b, "log", sine) - result, result)
    is_pole = (is_negative & fraction.same(0.0)) | b.intrinsic("fabs", x).same(float("inf"))
    return b.select(is_pole, float("inf"), result)


_DIGAMMA = tuple(  # B(2j) / 2j with Bernoulli's numbers B, the highest j first
    bernoulli / (2 * j)
    for j, bernoulli in reversed(
        list(enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798), 1))
    )
)
_DIGAMMA_FROM = {float32: (4, 6), float64: (9, 12)}  # (number of terms, argument from which they suffice)


@element("digamma")
def digamma(b: Elements, x: Any) -> Any:
    """Return the derivative of lgamma: by recurrence and the asymptotic series, with reflection for negative x."""
    if x.dtype not in _DIGAMMA_FROM:
        return None
    term_count, start = _DIGAMMA_FROM[x.dtype]
    is_negative = x < 0.0
    raised_x = b.select(is_negative, 1.0 - x, x)
    shift = b.constant(0.0, x.dtype)
    for _ in range(start):
        is_below = raised_x < float(start)
        shift = b.select(is_below, shift - 1.0 / raised_x, shift)
        raised_x = b.select(is_below, raised_x + 1.0, raised_x)
    inverse = 1.0 / raised_x
    square = inverse * inverse
    series = horner(b, square, _DIGAMMA[-term_count:]) * square
    result = shift + apply(b, "log", raised_x) - inverse * 0.5 - series
    # π·cot(πx) from the fractional part, which is exact even for large |x|
    fraction = x - b.intrinsic("floor", x + 0.5)
    angle = fraction * math.pi
    reflection = result - math.pi * (apply(b, "cos", angle) / apply(b, "sin", angle))
    result = b.select(is_negative, reflection, result)
    return b.select(is_negative & (fraction.same(0.0) | x.same(float("-inf"))), float("nan"), result)


# (numerator, denominator) of erfc(x)·e^x² for x from 8 on
_ERFC_FAR = (
    (5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414, 6.16021097993053585195,
     7.40974269950448939160, 2.97886665372100240670),
    (1.0, 2.26052863220117276590, 9.39603524938001434673, 1.20489539808096656605e1, 1.70814450747565897222e1,
     9.60896809063285878198, 3.36907645100081516050),
)  # fmt: skip


def erf(b: Elements, x: Any) -> Any:
    """Return the error function of float64: from magnitudes of 1 on as 1 - erfc."""
    magnitude = b.intrinsic("fabs", x)
    near = x * rational(b, x * x, ERF)
    return b.select(magnitude >= 1.0, b.intrinsic("copysign", 1.0 - _erfc_from_one(b, magnitude), x), near)


def erfc(b: Elements, x: Any) -> Any:
    """Return 1 - erf(x) of float64, with a small relative error where the result is next to 0."""
    magnitude = b.intrinsic("fabs", x)
    near = 1.0 - x * rational(b, x * x, ERF)
    far = _erfc_from_one(b, magnitude)
    return b.select(magnitude >= 1.0, b.select(x < 0.0, 2.0 - far, far), near)


def _erfc_from_one(b: Elements, x: Any) -> Any:
    """Return erfc(x) for x ≥ 1: exp(-x²) times a quotient.

    `upper` is x without its lower bits, so that upper² is exact; x² is upper² + (x - upper)·(x + upper).
    """
    x = b.select(x > 27.5, 27.5, x)  # from there on erfc rounds to 0
    upper = b.intrinsic("floor", x * 16.0) * 0.0625
    bell = apply(b, "exp", -(upper * upper)) * apply(b, "exp", -((x - upper) * (x + upper)))
    return bell * b.select(x < 8.0, rational(b, x, ERFC), rational(b, x, _ERFC_FAR))
