"""Lists of the public functions that compute element by element: UNARY of one operand, BINARY of two."""

from __future__ import annotations

from autoconv.api import bitwise, strings
from autoconv.api.nn import layers
from autoconv.api.tensors import arithmetic, casts, comparison, constants, maths, trigonometry

UNARY = (
    maths.abs, trigonometry.acos, trigonometry.acosh, maths.angle, strings.as_string, trigonometry.asin,
    trigonometry.asinh, trigonometry.atan, trigonometry.atanh, casts.bitcast, casts.cast, maths.ceil,
    casts.check_numerics, maths.conj, trigonometry.cos, trigonometry.cosh, maths.digamma, layers.elu, maths.erf,
    maths.erfc, maths.exp, maths.expm1, maths.floor, layers.gelu, casts.identity, maths.imag, bitwise.invert,
    maths.is_finite, maths.is_inf, maths.is_nan, layers.leaky_relu, maths.lgamma, maths.log, maths.log1p,
    maths.log_sigmoid, comparison.logical_not, arithmetic.negative, constants.ones_like, maths.real, maths.reciprocal,
    arithmetic.reciprocal_no_nan, layers.relu, layers.relu6, maths.rint, maths.round, maths.rsqrt, casts.saturate_cast,
    layers.selu, maths.sigmoid, maths.sign, layers.silu, trigonometry.sin, trigonometry.sinh, maths.softplus,
    layers.softsign, maths.sqrt, maths.square, casts.stop_gradient, trigonometry.tan, trigonometry.tanh,
    constants.zeros_like, strings.length, strings.lower, strings.upper, strings.strip, strings.regex_full_match,
    strings.regex_replace, strings.to_hash_bucket_fast,
    strings.to_hash_bucket_strong, strings.to_number, strings.substr, strings.unicode_transcode,
    comparison.clip_by_value,
)  # fmt: skip

BINARY = (
    arithmetic.add, trigonometry.atan2, bitwise.bitwise_and, bitwise.bitwise_or, bitwise.bitwise_xor,
    maths.complex, arithmetic.divide, arithmetic.divide_no_nan, comparison.equal, arithmetic.floordiv,
    arithmetic.floormod, comparison.greater, comparison.greater_equal, bitwise.left_shift, comparison.less,
    comparison.less_equal, comparison.logical_and, comparison.logical_or, comparison.logical_xor, comparison.maximum,
    comparison.minimum, arithmetic.multiply, arithmetic.multiply_no_nan, maths.nextafter, comparison.not_equal,
    arithmetic.pow, bitwise.right_shift, arithmetic.squared_difference, arithmetic.subtract, maths.xdivy,
    maths.xlog1py, maths.xlogy,
)  # fmt: skip
