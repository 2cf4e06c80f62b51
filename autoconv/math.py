"""Mathematical functions."""

from types import SimpleNamespace

from autoconv.api.control.checks import is_non_decreasing, is_strictly_increasing
from autoconv.api.counts import confusion_matrix
from autoconv.api.nn.layers import log_softmax, softmax, softsign
from autoconv.api.random.sobol import sobol_sample
from autoconv.api.special_integrals import (
    bessel_j0,
    bessel_j1,
    bessel_k0,
    bessel_k0e,
    bessel_k1,
    bessel_k1e,
    bessel_y0,
    bessel_y1,
    dawsn,
    expint,
    fresnel_cos,
    fresnel_sin,
    spence,
)
from autoconv.api.tensors.arithmetic import (
    accumulate_n,
    add,
    add_n,
    divide,
    divide_no_nan,
    floordiv,
    floormod,
    mod,
    multiply,
    multiply_no_nan,
    negative,
    pow,
    reciprocal_no_nan,
    squared_difference,
    subtract,
    truediv,
)
from autoconv.api.tensors.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    not_equal,
)
from autoconv.api.tensors.gather import segment_sum, unsorted_segment_sum
from autoconv.api.tensors.maths import (
    abs,
    angle,
    ceil,
    complex,
    conj,
    cumprod,
    cumsum,
    digamma,
    erf,
    erfc,
    exp,
    expm1,
    floor,
    imag,
    is_finite,
    is_inf,
    is_nan,
    lgamma,
    log,
    log1p,
    log_sigmoid,
    nextafter,
    polygamma,
    real,
    reciprocal,
    rint,
    round,
    rsqrt,
    sigmoid,
    sign,
    softplus,
    sqrt,
    square,
    xdivy,
    xlog1py,
    xlogy,
)
from autoconv.api.tensors.norms import l2_normalize
from autoconv.api.tensors.positions import cumulative_logsumexp, polyval, scalar_mul
from autoconv.api.tensors.reductions import (
    argmax,
    argmin,
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_euclidean_norm,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
    zero_fraction,
)
from autoconv.api.tensors.segments import (
    bincount,
    invert_permutation,
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
)
from autoconv.api.tensors.sorting import approx_max_k, approx_min_k, in_top_k, top_k
from autoconv.api.tensors.special import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
    betainc,
    erfcinv,
    erfinv,
    igamma,
    igammac,
    lbeta,
    ndtri,
    zeta,
)
from autoconv.api.tensors.trigonometry import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

special = SimpleNamespace(
    bessel_i0=bessel_i0, bessel_i0e=bessel_i0e, bessel_i1=bessel_i1, bessel_i1e=bessel_i1e, bessel_j0=bessel_j0,
    bessel_j1=bessel_j1, bessel_k0=bessel_k0, bessel_k0e=bessel_k0e, bessel_k1=bessel_k1, bessel_k1e=bessel_k1e,
    bessel_y0=bessel_y0, bessel_y1=bessel_y1, dawsn=dawsn, expint=expint, fresnel_cos=fresnel_cos,
    fresnel_sin=fresnel_sin, spence=spence,
)  # fmt: skip

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "approx_max_k", "approx_min_k", "argmax",
    "argmin", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e",
    "betainc", "bincount", "ceil", "complex", "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod",
    "cumsum", "cumulative_logsumexp", "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv",
    "erfinv", "exp", "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "igamma", "igammac",
    "imag", "in_top_k", "invert_permutation", "is_finite", "is_inf", "is_nan", "is_non_decreasing",
    "is_strictly_increasing", "l2_normalize", "lbeta", "less", "less_equal", "lgamma", "log", "log1p",
    "log_sigmoid", "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
    "mod", "multiply", "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal", "polygamma", "polyval",
    "pow", "real", "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any", "reduce_euclidean_norm",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum",
    "reduce_variance", "rint", "round", "rsqrt", "scalar_mul", "segment_max", "segment_mean", "segment_min",
    "segment_prod", "segment_sum", "sigmoid", "sign", "sin", "sinh", "sobol_sample", "softmax", "softplus",
    "softsign", "special", "sqrt", "square", "squared_difference", "subtract", "tan", "tanh", "top_k", "truediv",
    "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sqrt_n", "unsorted_segment_sum", "xdivy", "xlog1py", "xlogy", "zero_fraction", "zeta",
]  # fmt: skip

_wrap_public_functions(globals())
