"""Polynomials, whose coefficients are arrays with the highest power first, and phases without jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.numpy.diagonals import vander
from autoconv.numpy.kernels import call_numpy, register_kernels
from autoconv.numpy.linalg import MAX_SHORT_SIDE, lstsq
from autoconv.numpy.operands import (
    axis_of,
    cast,
    common_dtype,
    computes,
    has_known_shape,
    integer,
    rank_of,
    refuse,
    require_known_shape,
    rerun_plain_unless,
    tensor,
)
from autoconv.numpy.statistics import convolve
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.ops.index_spec import At, Slice
from autoconv.runtime.annotations import AxisLike, IntLike, TensorLike
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MAX_ZEROS = 32  # zeros whose polynomial is computed by ops


def _coefficients(p: Any) -> Tensor:
    """Return coefficients as a vector; refuse other ranks, and `np.poly1d`."""
    if isinstance(p, np.poly1d):
        refuse("is given a polynomial")
    x = tensor(p)
    if rank_of(x) == 0:
        x = apply("reshape", x, shape=(1,))
    if rank_of(x) != 1:
        refuse("is given coefficients of several dimensions")
    return x


def _has_coefficients(*operands: Tensor) -> bool:
    """Return whether the operands are known to have coefficients."""
    return all(has_known_shape(x) and require_known_shape(x)[0] > 0 for x in operands)


def _sum_function(name: str, ufunc: np.ufunc) -> Callable[..., Any]:
    """Return NumPy's `polyadd` or `polysub`, by its name; the shorter operand begins with zeros."""

    def compute(a1: TensorLike, a2: TensorLike) -> Any:
        operands = [_coefficients(a1), _coefficients(a2)]
        if not _has_coefficients(*operands):
            return call_numpy(name, *operands)
        counts = [require_known_shape(x)[0] for x in operands]
        padded = [
            apply("pad", x, paddings=((max(counts) - count, 0),)) if count < max(counts) else x
            for x, count in zip(operands, counts, strict=True)
        ]
        return call_ufunc(ufunc, *padded)

    return compute


computes("polyadd")(_sum_function("polyadd", np.add))
computes("polysub")(_sum_function("polysub", np.subtract))


@computes("polymul")
def polymul(a1: TensorLike, a2: TensorLike) -> Any:
    """Convolve the coefficients; NumPy first drops leading zeros, for which the call runs again as plain Python."""
    operands = [_coefficients(a1), _coefficients(a2)]
    if not _has_coefficients(*operands):
        return call_numpy("polymul", *operands, by_values=True)
    for x in operands:
        is_trimmed = require_known_shape(x)[0] > 1
        if is_trimmed:
            has_power = call_ufunc(np.not_equal, apply("get_item", x, spec=(At(0),)), tensor(0, x.dtype.numpy))
            rerun_plain_unless(has_power, "the highest power of a polynomial has the coefficient 0")
    return convolve(*operands)


@computes("polyder")
def polyder(p: TensorLike, m: IntLike = 1) -> Any:
    x, count = _coefficients(p), integer(m)
    if count < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    if not _has_coefficients(x):
        return call_numpy("polyder", x, count)
    for _ in range(count):
        size = require_known_shape(x)[0]
        powers = np.arange(size - 1, 0, -1)
        x = call_ufunc(np.multiply, apply("get_item", x, spec=(Slice(None, -1, None),)), powers) if size else x
    return x


@computes("polyint")
def polyint(p: TensorLike, m: IntLike = 1, k: Any = None) -> Any:
    x, count = _coefficients(p), integer(m)
    if count < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    if k is not None or not _has_coefficients(x):
        return call_numpy("polyint", x, count, k)
    for _ in range(count):
        quotient = call_ufunc(np.true_divide, x, np.arange(require_known_shape(x)[0], 0, -1))
        x = apply("pad", cast(quotient, common_dtype(quotient, np.zeros(1))), paddings=((0, 1),))
    return x


@computes("poly")
def poly(seq_of_zeros: Any) -> Any:
    """Multiply the factors of a few real zeros; NumPy computes other polynomials as a whole."""
    x = tensor(seq_of_zeros)
    if 0 in require_known_shape(x):
        refuse("is given no zeros, for which it returns a Python float")
    if x.dtype.is_complex:
        refuse("is given complex zeros, whose polynomial is real if they are pairs of conjugates")
    if rank_of(x) != 1 or require_known_shape(x)[0] > _MAX_ZEROS:
        return call_numpy("poly", x)
    zeros = cast(x, np.float32 if x.dtype.numpy == np.float32 else np.float64)
    result: Any = tensor(np.ones(1, zeros.dtype.numpy))
    for i in range(require_known_shape(x)[0]):
        zero = apply("get_item", zeros, spec=(At(i),))
        lower_terms = apply("pad", apply("multiply", result, zero), paddings=((1, 0),))
        result = apply("subtract", apply("pad", result, paddings=((0, 1),)), lower_terms)
    return result


register_kernels("roots", by_values=True)


@computes("unwrap")
def unwrap(p: TensorLike, discont: Any = None, axis: AxisLike = -1, *, period: Any = 2 * np.pi) -> Any:
    """Add multiples of the period to phases, so that neighbours differ by at most half of it."""
    x = tensor(p)
    are_numbers = type(period) in (int, float) and (discont is None or type(discont) in (int, float))
    if not are_numbers or rank_of(x) == 0 or not x.dtype.is_floating:
        return call_numpy("unwrap", x, discont, axis, period=period)
    axis_index = axis_of(axis, rank_of(x))
    differences = FUNCTIONS[np.diff](x, axis=axis_index)
    half = period / 2
    wrapped = call_ufunc(
        np.add, call_ufunc(np.remainder, call_ufunc(np.subtract, differences, -half), period), -half
    )
    is_at_end = apply(
        "logical_and", call_ufunc(np.equal, wrapped, -half), call_ufunc(np.greater, differences, 0)
    )
    wrapped = FUNCTIONS[np.where](is_at_end, half, wrapped)
    is_small = call_ufunc(np.less, call_ufunc(np.absolute, differences), half if discont is None else discont)
    corrections = FUNCTIONS[np.where](is_small, 0, call_ufunc(np.subtract, wrapped, differences))
    whole_axes = [Slice()] * axis_index
    first, later = (
        apply("get_item", x, spec=(*whole_axes, entry)) for entry in (Slice(None, 1, None), Slice(1, None, None))
    )
    later = call_ufunc(np.add, later, FUNCTIONS[np.cumsum](corrections, axis=axis_index))
    return apply("concat", cast(first, later.dtype), later, axis=axis_index)


@computes("polyval")
def polyval(p: Any, x: TensorLike) -> Any:
    if isinstance(x, np.poly1d):
        refuse("is given a polynomial")
    if as_tensor(p) is not None:
        count = require_known_shape(p)[0]
        coefficients: Any = [apply("get_item", p, spec=(At(i),)) for i in range(count)]
    else:
        coefficients = list(np.asarray(p) if not isinstance(p, (list, tuple)) else p)
        if isinstance(p, (list, tuple)):
            coefficient_dtype = common_dtype(*map(tensor, p))
            coefficients = [tensor(coefficient, coefficient_dtype) for coefficient in p]
    x_tensor = tensor(x)
    result: Any = apply("zeros_like", x_tensor)
    for coefficient in coefficients:
        result = call_ufunc(np.add, call_ufunc(np.multiply, result, x_tensor), coefficient)
    return result


@computes("polyfit")
def polyfit(
    x: TensorLike, y: TensorLike, deg: IntLike, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """Fit a polynomial by least squares; call NumPy for other results, and where the fit may be poorly conditioned."""
    points, values, term_count = tensor(x), tensor(y), integer(deg) + 1
    has_equal_lengths = points.type.shape == (values.type.shape or ())[:1]
    are_real = not any(operand.dtype.is_complex or operand.dtype.is_bool for operand in (points, values))
    is_supported = are_real and not full and not cov and w is None and rcond is None
    if not is_supported or not has_equal_lengths or not has_known_shape(points) or rank_of(values) > 2:
        return call_numpy("polyfit", points, values, deg, rcond, full, w, cov)
    row_count = require_known_shape(points)[0]
    if not 1 <= term_count <= min(row_count, MAX_SHORT_SIDE):
        return call_numpy("polyfit", points, values, deg, rcond, full, w, cov)
    points, values = (call_ufunc(np.add, operand, 0.0) for operand in (points, values))
    powers = vander(points, term_count)
    scale = apply("sqrt", apply("numpy_sum", apply("multiply", powers, powers), axis=0))
    epsilon = float(np.finfo(points.dtype.numpy).eps)  # type: ignore[arg-type]
    solution, _, rank, _ = lstsq(call_ufunc(np.true_divide, powers, scale), values, row_count * epsilon)
    rerun_plain_unless(apply("equal", rank, tensor(term_count, np.int32)), "the fit is poorly conditioned")
    return call_ufunc(np.true_divide, solution, scale if rank_of(values) == 1 else apply("expand_dims", scale, axis=1))
