"""Element rules of elementary functions: vectorisable polynomials in loops, the C library for single numbers.

A rule that is not exact enough for some operands (arguments of sin beyond its range reduction) calls
`b.mark_rare(condition)`. If such an operand appears, the loop runs again with the C library's function. Coefficients of
sin and cos in float64 are those published with fdlibm (Sun Microsystems, 1993), and those of sin and cos in
float32 are from FreeBSD. Those of exp in float32, and of tanh, ERF and ERFC, are from Cephes (Moshier, 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autoconv.graph.dtypes import float32, float64, int32, int64
from autoconv.ops.elements.registry import Elements, element

LIBM = {  # by op: the C library's function
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "cbrt": "cbrt", "erf": "erf", "erfc": "erfc",
    "atan2": "atan2", "hypot": "hypot", "power": "pow", "exp2": "exp2", "log2": "log2", "log10": "log10",
}  # fmt: skip


def apply(b: Any, name: str, *operands: Any) -> Any:
    """Return the result of the op `name`, a function of floats; None for other dtypes.

    In code for loops it is computed by a polynomial if there is one, otherwise by the C library.
    """
    if operands[0].dtype not in (float32, float64):
        return None
    vectorised = VECTORISED.get(name)
    if vectorised is None or not b.avoids_library_calls:
        return b.libm(LIBM[name], *operands)
    return vectorised(b, *operands)


for _name in LIBM:
    element(_name)(lambda b, *operands, name=_name: apply(b, name, *operands))


@element("sqrt")
def sqrt(b: Elements, x: Any) -> Any:
    return b.intrinsic("sqrt", x)


@element("rsqrt")
def rsqrt(b: Elements, x: Any) -> Any:
    return 1 / b.intrinsic("sqrt", x)


@element("sigmoid")
def sigmoid(b: Elements, x: Any) -> Any:
    return 1 / (1 + apply(b, "exp", -x))


@element("softplus")
def softplus(b: Elements, x: Any) -> Any:
    return b.select(x > 0, x, b.constant(0.0, x.dtype)) + apply(b, "log1p", apply(b, "exp", -b.intrinsic("fabs", x)))


@element("elu")
def elu(b: Elements, x: Any) -> Any:
    return b.select(x > 0, x, apply(b, "expm1", x))


@element("selu")
def selu(b: Elements, x: Any) -> Any:
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return b.select(x > 0, x, apply(b, "expm1", x) * alpha) * scale


@element("leaky_relu")
def leaky_relu(b: Elements, x: Any, *, alpha: float) -> Any:
    return b.select(x > 0, x, x * alpha)


# ---- loops: range reduction and polynomials


def horner(b: Elements, x: Any, coefficients: Sequence[float]) -> Any:
    """Return the value of a polynomial at x, by Horner's scheme; the highest power's coefficient comes first."""
    total = b.constant(coefficients[0], x.dtype)
    for coefficient in coefficients[1:]:
        total = b.fma(total, x, b.constant(coefficient, x.dtype))
    return total


def rational(b: Elements, x: Any, quotient: tuple[Sequence[float], Sequence[float]]) -> Any:
    """Return the value at x of a quotient of two polynomials: (numerator, denominator), as coefficients."""
    numerator, denominator = quotient
    return horner(b, x, numerator) / horner(b, x, denominator)


def round_multiple(b: Elements, x: Any, factor: float) -> tuple[Any, Any]:
    """Return the integer nearest to x times the factor, as a float and as an integer.

    Adding 1.5·2^p, p being the number of mantissa bits, rounds to an integer, in the low bits of the sum.
    """
    shift, integer_dtype = (1.5 * 2**23, int32) if x.dtype is float32 else (1.5 * 2**52, int64)
    shifted = b.fma(x, b.constant(factor, x.dtype), b.constant(shift, x.dtype))
    return shifted - shift, b.bitcast(shifted, integer_dtype) - b.bitcast(b.constant(shift, x.dtype), integer_dtype)


def power_of_two(b: Elements, n: Any) -> Any:
    """Return 2^n for an n in the exponent range of normal numbers: n plus the bias is the exponent's bit field."""
    if n.dtype is int32:
        return b.bitcast(b.bits("shl", n + 127, 23), float32)
    return b.bitcast(b.bits("shl", n + 1023, 52), float64)


# ln 2 as the sum of two numbers; the first one has few digits, so that its products with integers are exact.
_LN2 = {float32: (0.693359375, -2.12194440e-4), float64: (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
# For x below the range, e^x (2^x) rounds to 0, above it to inf.
_EXP_RANGE = {float32: (-104.0, 89.0), float64: (-746.0, 710.0)}
_EXP2_RANGE = {float32: (-151.0, 129.0), float64: (-1076.0, 1025.0)}
# ln 2 as the nearest number and the rounding error.
_LN2_ROUNDED = {
    float32: (0.6931471824645996, -1.904654299957768e-09),
    float64: (0.6931471805599453, 2.319046813846299e-17),
}
# (e^r - 1 - r) / r² for |r| up to ln(2)/2; for float64 interpolated in Chebyshev's points, within 0.15 ulp.
EXPM1 = {
    float32: (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1),
    float64: (
        2.510045767666778e-08, 2.762020155310931e-07, 2.7557268317703783e-06, 2.4801521058030915e-05,
        1.9841269863133746e-04, 1.3888888917366847e-03, 8.333333333330051e-03, 4.1666666666623824e-02,
        1.6666666666666669e-01, 0.5),
}  # fmt: skip


def _clamp_exponent(b: Elements, x: Any) -> Any:
    """Return x, limited to _EXP_RANGE."""
    return _clamp(b, x, *_EXP_RANGE[x.dtype])


def _clamp(b: Elements, x: Any, low: float, high: float) -> Any:
    """Return x, limited to [low, high]; nan stays nan."""
    at_most_high = b.select(x > high, high, x)
    return b.select(at_most_high < low, low, at_most_high)


def reduce_by_ln2(b: Elements, x: Any) -> tuple[Any, Any]:
    """Return an integer n and r, such that x = n·ln 2 + r, and |r| is at most ln(2)/2."""
    n, integer_n = round_multiple(b, x, 1.4426950408889634)
    upper, lower = _LN2[x.dtype]
    return integer_n, b.fma(n, b.constant(-lower, x.dtype), b.fma(n, b.constant(-upper, x.dtype), x))


def _reduce_argument(b: Elements, x: Any) -> tuple[Any, Any]:
    """Return an integer n and e^r - 1, such that x = n·ln 2 + r."""
    integer_n, reduced_x = reduce_by_ln2(b, x)
    return integer_n, b.fma(horner(b, reduced_x, EXPM1[x.dtype]), reduced_x * reduced_x, reduced_x)


def _exp(b: Elements, x: Any) -> Any:
    """Return e^x; where it rounds to 0, no subnormal number is computed: processors take long for those."""
    low, high = _EXP_RANGE[x.dtype]
    is_zero = x < low
    bounded_x = b.select(is_zero, 0.0, b.select(x > high, high, x))
    integer_n, reduced_expm1 = _reduce_argument(b, bounded_x)
    return b.select(is_zero, 0.0, b.scale_by_power_of_two(reduced_expm1 + 1.0, integer_n))


def _exp2(b: Elements, x: Any) -> Any:
    """Return 2^x, as e^(r·ln 2) times 2^n for the integer n nearest to x and r = x - n."""
    low, high = _EXP2_RANGE[x.dtype]
    is_zero = x < low
    bounded_x = b.select(is_zero, 0.0, b.select(x > high, high, x))
    n, integer_n = round_multiple(b, bounded_x, 1.0)
    fraction = bounded_x - n
    upper, lower = _LN2_ROUNDED[x.dtype]
    product = fraction * upper
    error = b.fma(fraction, b.constant(lower, x.dtype), b.fma(fraction, b.constant(upper, x.dtype), -product))
    reduced_expm1 = b.fma(horner(b, product, EXPM1[x.dtype]), product * product, error) + product
    return b.select(is_zero, 0.0, b.scale_by_power_of_two(reduced_expm1 + 1.0, integer_n))


def _exp_of_moderate(b: Elements, x: Any) -> Any:
    """Return e^x for x within ±80, where 2^n and e^x are normal numbers in float32 too."""
    integer_n, reduced_expm1 = _reduce_argument(b, x)
    scale = power_of_two(b, integer_n)
    return b.fma(scale, reduced_expm1, scale)


def _expm1(b: Elements, x: Any) -> Any:
    """Return 2·(s·(e^r - 1) + (s - 1/2)) with s = 2^(n-1); it rounds to -1 for very negative x."""
    low = -20.0 if x.dtype is float32 else -45.0  # below it e^x - 1 rounds to -1
    integer_n, reduced_expm1 = _reduce_argument(b, _clamp_exponent(b, b.select(x < low, low, x)))
    scale = power_of_two(b, integer_n - 1)
    value = b.fma(scale, reduced_expm1, scale - 0.5) * 2.0
    return b.select(x.same(0.0), x, value)


# π/2 as a sum: reduction subtracts n times each summand, which loses too many bits for |x| above the limit.
_HALF_PI_SUMMANDS = {
    float32: (1.57079637050628662109375, -4.37113900018624283e-8, 0.0),
    float64: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
}
_REDUCTION_LIMIT = {float32: 2.0**13, float64: 2.0**20}
# (sin(r) - r) / r³ and (cos(r) - 1 + r²/2) / r⁴ as polynomials in r², for |r| up to π/4.
_SIN = {
    float32: (2.718311493989822e-6, -1.9839334836096632e-4, 8.333329385889463e-3, -1.6666666641626524e-1),
    float64: (
        1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
        -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01),
}  # fmt: skip
_COS = {
    float32: (2.439044879627741e-5, -1.388676377460993e-3, 4.166662332837231e-2),
    float64: (
        -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
        2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02),
}  # fmt: skip


class _ReducedAngle(NamedTuple):
    """The quadrant n of an angle x, and the sine and cosine of x - n·π/2."""

    quadrant: Any
    sine: Any
    cosine: Any


def _reduce_angle(b: Any, x: Any) -> _ReducedAngle:
    """Reduce an angle by multiples of π/2; angles beyond the limit are rare elements."""
    b.mark_rare(~(b.intrinsic("fabs", x) < _REDUCTION_LIMIT[x.dtype]))
    n, integer_n = round_multiple(b, x, 0.6366197723675814)
    reduced_x = x
    for summand in _HALF_PI_SUMMANDS[x.dtype]:
        if summand:
            reduced_x = b.fma(n, b.constant(-summand, x.dtype), reduced_x)
    square = reduced_x * reduced_x
    sine = b.fma(horner(b, square, _SIN[x.dtype]) * square, reduced_x, reduced_x)
    first_terms = b.fma(square, b.constant(-0.5, x.dtype), b.constant(1.0, x.dtype))
    cosine = b.fma(horner(b, square, _COS[x.dtype]) * square, square, first_terms)
    return _ReducedAngle(integer_n, sine, cosine)


def _select_by_quadrant(b: Any, quadrant: Any, even: Any, odd: Any) -> Any:
    """Return `even` in quadrants 0 and 2, `odd` in 1 and 3; negated in 2 and 3."""
    value = b.select((quadrant & 1).same(0), even, odd)
    return b.select((quadrant & 2).same(0), value, -value)


def _sin(b: Any, x: Any) -> Any:
    quadrant, sine, cosine = _reduce_angle(b, x)
    return b.select(x.same(0.0), x, _select_by_quadrant(b, quadrant, sine, cosine))


def _cos(b: Any, x: Any) -> Any:
    quadrant, sine, cosine = _reduce_angle(b, x)
    return _select_by_quadrant(b, quadrant + 1, sine, cosine)


def _tan(b: Any, x: Any) -> Any:
    quadrant, sine, cosine = _reduce_angle(b, x)
    is_odd = (quadrant & 1).differs(0)
    tangent = b.select(is_odd, -cosine, sine) / b.select(is_odd, sine, cosine)
    return b.select(x.same(0.0), x, tangent)


# (tanh(x) - x) / x³ as a polynomial, or as a quotient, in x².
_TANH_32 = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
_TANH = (  # numerator and denominator
    (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3),
    (1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3),
)


def _tanh(b: Elements, x: Any) -> Any:
    """Return tanh(x): a rational function near 0, and 1 - 2/(e^2x + 1) elsewhere."""
    magnitude = b.intrinsic("fabs", x)
    square = x * x
    correction = horner(b, square, _TANH_32) if x.dtype is float32 else rational(b, square, _TANH)
    near = b.fma(correction * square, x, x)
    bounded_magnitude = b.select(magnitude > 20.0, 20.0, magnitude)  # beyond, tanh rounds to 1
    far = 1.0 - 2.0 / (_exp_of_moderate(b, bounded_magnitude * 2.0) + 1.0)
    return b.intrinsic("copysign", b.select(magnitude < 0.625, near, far), x)


# Quotients (numerator, denominator): erf(x)/x in x² for x up to 1, erfc(x)·e^x² in x for x up to 8.
ERF = (
    (9.60497373987051638749, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3,
     5.55923013010394962768e4),
    (1.0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4,
     4.92673942608635921086e4),
)  # fmt: skip
ERFC = (
    (2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687, 4.86371970985681366614e1,
     1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
     5.57535335369399327526e2),
    (1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
     1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2),
)  # fmt: skip


# Fitted by iteratively reweighted least squares: erf(x)/x - 1/4 as a quotient in x², up to where erf rounds to 1, so
# that x·(1/4 + quotient) is within 3.8e-8 of erf, relatively, in exact arithmetic. Evaluated in float32 it is within
# 1.9e-7, or 2.9 units in the last place (3,000,000 arguments against math.erf). Without the 1/4, rounding errors of the
# polynomials would count in full for large x; with it the quotient is nearly 0 there.
_ERF_32 = (
    (-7.47282684e-06, -5.75285367e-06, 2.33319588e-05, 2.42214669e-02, 6.48882017e-02, 8.78379166e-01),
    (3.80916063e-05, 1.16254413e-03, 1.49692958e-02, 1.14109509e-01, 5.02076924e-01, 1.00000000e+00),
)
_ERF_32_END = 3.92  # from here on erf rounds to 1 in float32


def _erf(b: Elements, x: Any) -> Any:
    """Return the error function, by a rational function.

    In float64 it is used for |x| below 1. Elsewhere erf is 1 - erfc(|x|), with the sign of x; erfc needs no relative
    accuracy there.
    """
    if x.dtype is float32:
        bounded_x = _clamp(b, x, -_ERF_32_END, _ERF_32_END)
        return b.fma(bounded_x, rational(b, bounded_x * bounded_x, _ERF_32), bounded_x * 0.25)
    magnitude = b.intrinsic("fabs", x)
    near = x * rational(b, x * x, ERF)
    bounded_x = b.select(magnitude > 7.0, 7.0, magnitude)
    scaled_erfc = rational(b, bounded_x, ERFC)
    far = b.intrinsic("copysign", 1.0 - _exp_of_moderate(b, -(bounded_x * bounded_x)) * scaled_erfc, x)
    return b.select(magnitude >= 1.0, far, near)  # nan selects `near`, which is nan


# (bound, factor): magnitudes beyond the bound are scaled by the factor, so that their squares are normal numbers.
_SHRINKING = {float32: (2.0**60, 2.0**-80), float64: (2.0**500, 2.0**-600)}
_GROWING = {float32: (2.0**-40, 2.0**80), float64: (2.0**-400, 2.0**600)}


def scale_of(b: Elements, magnitude: Any) -> tuple[Any, Any]:
    """Return a power of two and its inverse; the magnitude times the power of two has a normal number as its square."""
    (high, shrink), (low, grow) = _SHRINKING[magnitude.dtype], _GROWING[magnitude.dtype]
    is_large, is_small = magnitude > high, magnitude < low
    one = b.constant(1.0, magnitude.dtype)
    return (
        b.select(is_large, shrink, b.select(is_small, grow, one)),
        b.select(is_large, 1.0 / shrink, b.select(is_small, 1.0 / grow, one)),
    )


def _hypot(b: Elements, x: Any, y: Any) -> Any:
    """Return √(x² + y²); infinite where either operand is, even if the other is nan."""
    x, y = b.intrinsic("fabs", x), b.intrinsic("fabs", y)
    scale, inverse_scale = scale_of(b, b.select(x > y, x, y))
    scaled_x, scaled_y = x * scale, y * scale
    modulus = b.intrinsic("sqrt", b.fma(scaled_x, scaled_x, scaled_y * scaled_y)) * inverse_scale
    is_infinite = x.same(float("inf")) | y.same(float("inf"))
    return b.select(is_infinite, float("inf"), modulus)


VECTORISED: dict[str, Callable[..., Any]] = {
    "exp": _exp, "exp2": _exp2, "expm1": _expm1, "sin": _sin, "cos": _cos, "tan": _tan, "tanh": _tanh, "erf": _erf,
    "hypot": _hypot,
}  # fmt: skip


def is_in_c_library(name: str) -> bool:
    """Return whether the C library has a function for the op."""
    return name in LIBM


def is_vectorised(name: str, dtype: Any) -> bool:
    """Return whether loops compute the function by a polynomial, not by a call per element."""
    return name in VECTORISED and dtype in (float32, float64)
