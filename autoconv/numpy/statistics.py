"""Statistics, signals, and numerical tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype, float32, float64, uint64
from autoconv.numpy.element_loops import apply_by_parts
from autoconv.numpy.kernels import call_numpy, register_kernels
from autoconv.numpy.operands import (
    cast,
    check,
    computed_integer,
    computes,
    has_known_shape,
    integer,
    is_weak,
    rank_of,
    refuse,
    refuse_deprecated,
    require_known_shape,
    rerun_plain_unless,
    rerun_with_warning_unless,
    sizes_of,
    tensor,
    tensors,
)
from autoconv.numpy.products import matrix_product
from autoconv.numpy.selection import searchsorted
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.index_spec import At, Slice
from autoconv.runtime.annotations import DTypeLike, IntLike, OutLike, TensorLike
from autoconv.runtime.arrays.read_only import mark_read_only
from autoconv.runtime.objects.number_methods import number_attribute
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_INT64 = as_dtype(np.int64)


# ---- numerical tests


def weak_or_tensor(x: TensorLike) -> Any:
    """Return a Python number, also one in a graph, unchanged, and anything else as a tensor."""
    return x if is_weak(x) else tensor(x)


def _infinity_predicate(infinity: float) -> Any:
    """Return NumPy's `isposinf` or `isneginf`, by the infinity."""
    def compute(x: TensorLike, out: OutLike | None = None) -> Any:
        x_tensor = tensor(x)
        if x_tensor.dtype.is_complex:
            dtype_name = x_tensor.dtype.name
            raise TypeError(f"This operation is not supported for {dtype_name} values because it would be ambiguous.")
        no_infinity = apply("zeros_like", x_tensor, dtype=as_dtype(bool))
        result = call_ufunc(np.equal, x_tensor, infinity) if x_tensor.dtype.is_floating else no_infinity
        return result if out is None else write_into(out, result)

    return compute


computes("isposinf")(_infinity_predicate(np.inf))
computes("isneginf")(_infinity_predicate(-np.inf))


@computes("real")
def real(val: Any) -> Any:
    if is_weak(val):  # NumPy reads the number's own attribute
        return val.real if as_tensor(val) is None else number_attribute(val, "real")
    x = tensor(val)
    return apply("real", x) if x.dtype.is_complex else x


@computes("imag")
def imag(val: TensorLike) -> Any:
    part = _imaginary_part(val)
    return part if is_weak(val) or tensor(val).dtype.is_complex else mark_read_only(part)


def _imaginary_part(val: Any) -> Any:
    """Return the imaginary part of a number or of the elements, zero for real ones."""
    if is_weak(val):
        return val.imag if as_tensor(val) is None else number_attribute(val, "imag")
    x = tensor(val)
    return apply("imag" if x.dtype.is_complex else "zeros_like", x)


@computes("real_if_close")
def real_if_close(a: TensorLike, tol: TensorLike = 100) -> Any:
    x = tensor(a)
    if x.dtype.is_complex:
        refuse("returns a dtype that depends on the values")
    return x


@computes("angle")
def angle(z: TensorLike, deg: bool = False) -> Tensor:
    x = tensor(z)
    if not x.dtype.is_complex:
        result = call_ufunc(np.arctan2, 0, x)
    else:
        result = call_ufunc(np.arctan2, apply("imag", x), apply("real", x))
    return call_ufunc(np.multiply, result, 180 / np.pi) if deg else result


@computes("isreal")
def isreal(x: TensorLike) -> Any:
    return _imaginary_part(x) == 0 if is_weak(x) else call_ufunc(np.equal, _imaginary_part(x), 0)


@computes("iscomplex")
def iscomplex(x: TensorLike) -> Any:
    return call_ufunc(np.not_equal, tensor(_imaginary_part(x)), 0)


@computes("round", "around")
def around(a: TensorLike, decimals: IntLike = 0, out: OutLike | None = None) -> Any:
    x = tensor(a)
    decimal_places = integer(decimals)
    if x.dtype.is_bool:
        return call_numpy("round", x, decimal_places)
    if x.dtype.is_complex:
        result = apply_by_parts(lambda part: apply("numpy_round", part, decimals=decimal_places), x)
    else:
        result = apply("numpy_round", x, decimals=decimal_places)
    return result if out is None else write_into(out, result)


@computes("fix")
def fix(x: TensorLike, out: OutLike | None = None) -> Any:
    refuse_deprecated("fix", 1.0)
    return call_ufunc(np.trunc, tensor(x), out=out)


@computes("sinc")
def sinc(x: TensorLike) -> Any:
    x_tensor = tensor(x)
    x_tensor = x_tensor if x_tensor.dtype.is_floating or x_tensor.dtype.is_complex else cast(x_tensor, np.float64)
    epsilon = np.finfo(x_tensor.dtype.numpy).eps  # type: ignore[arg-type]
    angles = call_ufunc(np.multiply, np.pi, x_tensor)
    is_zero = apply("equal", angles, tensor(0, x_tensor.dtype))
    nonzero_angles = apply("select", is_zero, tensor(float(epsilon), x_tensor.dtype), angles)
    return apply("divide", apply("sin", nonzero_angles), nonzero_angles)


@computes("i0")
def i0(x: TensorLike) -> Any:
    operand = tensor(x)
    operand = operand if operand.dtype.is_floating or operand.dtype.is_complex else cast(operand, np.float64)
    return apply("bessel_i0", operand) if operand.dtype in (float32, float64) else call_numpy("i0", operand)


# ---- statistics


@computes("cov")
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    if fweights is not None or aweights is not None or dtype is not None:
        refuse("is given weights or a dtype")
    if isinstance(ddof, float):
        np.cov(np.ones((2, 9)), ddof=ddof)  # raises for a fraction
    samples = [tensor(m)] if y is None else [tensor(m), tensor(y)]
    result_dtype = np.result_type(*(sample.dtype.numpy for sample in samples), np.float64)
    if any(rank_of(sample) > 2 for sample in samples):
        return call_numpy("cov", samples[0], samples[1] if y is not None else None, rowvar, bias, ddof)
    rows = [_variables_in_rows(cast(sample, result_dtype), rowvar) for sample in samples]
    count, *later_counts = (sizes_of(sample)[1] for sample in rows)  # of the observations
    lost_degrees = (0 if bias else 1) if ddof is None else ddof
    if isinstance(count, int) and all(isinstance(later_count, int) for later_count in later_counts):
        if 0 in sizes_of(rows[0]) or any(later_count != count for later_count in later_counts):
            return call_numpy("cov", samples[0], samples[1] if y is not None else None, rowvar, bias, ddof)
        degrees = tensor(max(float(count - lost_degrees), 0.0), result_dtype)
    else:
        for later_count in later_counts:
            is_equal = apply("equal", tensor(count, np.int64), tensor(later_count, np.int64))
            rerun_plain_unless(is_equal, "sample sizes differ")
        rerun_with_warning_unless(tensor(count, np.int64) > lost_degrees, "no degrees of freedom")
        degrees = cast(apply("maximum", tensor(count - lost_degrees), tensor(0)), result_dtype)
    x = apply("concat", *rows, axis=0) if y is not None else rows[0]
    centred_x = apply("subtract", x, apply("numpy_mean", x, axis=1, keepdims=True))
    adjoint = apply("transpose", apply("conjugate", centred_x) if x.dtype.is_complex else centred_x)
    result = apply("divide", matrix_product(centred_x, adjoint), degrees)
    return apply("reshape", result, shape=()) if result.type.shape == (1, 1) else result


def _variables_in_rows(x: Tensor, rowvar: bool) -> Any:
    """Return the observations of each variable as a row of a matrix."""
    if rank_of(x) < 2:
        return apply("reshape", x, shape=(1, -1))
    return x if rowvar else apply("transpose", x)


@computes("corrcoef")
def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> Any:
    samples = [tensor(x)] if y is None else [tensor(x), tensor(y)]
    covariance = cov(x, y, rowvar, dtype=dtype)
    if not has_known_shape(covariance):
        return call_numpy("corrcoef", samples[0], samples[1] if y is not None else None, rowvar)
    if not rank_of(covariance):
        return apply("divide", covariance, covariance)
    shape = require_known_shape(covariance)
    flat_covariance = apply("reshape", covariance, shape=(-1,))
    deviations = apply("sqrt", real(apply("gather", flat_covariance, np.arange(shape[0]) * (shape[0] + 1), axis=0)))
    deviations = cast(deviations, covariance.dtype.numpy)
    covariance = apply("divide", covariance, apply("expand_dims", deviations, axis=1))
    covariance = apply("divide", covariance, apply("expand_dims", deviations, axis=0))
    return apply_by_parts(_clip_to_one, covariance) if covariance.dtype.is_complex else _clip_to_one(covariance)


def _clip_to_one(x: Tensor) -> Any:
    """Return the elements limited to the range from -1 to 1."""
    return apply("minimum", apply("maximum", x, tensor(-1.0)), tensor(1.0))


@computes("bincount")
def bincount(x: TensorLike, /, weights: TensorLike | None = None, minlength: Any = 0) -> Any:
    """Count whole numbers, or add their weights; the least length may be computed unless NumPy itself counts."""
    values, min_length = tensor(x), computed_integer(minlength)
    operands = [values] if weights is None else [values, tensor(weights)]
    is_supported = (values.dtype.is_integer or values.dtype.is_bool) and values.dtype is not uint64
    is_supported = is_supported and values.type.shape != (0,)  # there NumPy returns ints in spite of weights
    if is_supported and all(rank_of(operand) == 1 for operand in operands) and not operands[-1].dtype.is_complex:
        return apply("numpy_bincount", values, tensor(min_length, np.int64), *operands[1:])
    return call_numpy("bincount", values, None if weights is None else operands[1], integer(min_length), by_values=True)


@computes("interp")
def interp(x: TensorLike, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Interpolate by binary search of the points; NumPy itself computes other cases, such as with a period."""
    values = tensor(fp)
    if tensor(x).dtype.is_complex or tensor(xp).dtype.is_complex:
        raise TypeError("Cannot cast array data from complex to float64 according to the rule 'safe'")
    has_default_options = period is None and left is None and right is None
    if values.dtype.is_complex and has_default_options:
        return apply_by_parts(lambda part: interp(x, xp, part), values)
    if period is not None or values.dtype.is_complex:
        return call_numpy("interp", tensor(x), tensor(xp), values, left, right, period)
    queries, points, values = (tensor(operand, np.float64) for operand in (x, xp, fp))
    count, value_count = sizes_of(points)[0], sizes_of(values)[0]
    if isinstance(count, int) and isinstance(value_count, int):
        if count != value_count:
            raise ValueError("fp and xp are not of the same length.")
        if not count:
            raise ValueError("array of sample points is empty")
        if count == 1:
            return call_numpy("interp", queries, points, values, left, right)
    else:
        check(count == value_count, "fp and xp are not of the same length.")
        rerun_plain_unless(tensor(count, np.int64) > 1, "fewer than two sample points")
    last = tensor(count - 2, np.int64)
    upper = searchsorted(points, queries, "right")
    lower = apply("minimum", apply("maximum", apply("subtract", upper, tensor(1)), tensor(0)), last)
    x0, y0 = (apply("gather", row, lower, axis=0) for row in (points, values))
    x1, y1 = (apply("gather", row, apply("add", lower, tensor(1)), axis=0) for row in (points, values))
    slope = apply("divide", apply("subtract", y1, y0), apply("subtract", x1, x0))
    result = apply("add", apply("multiply", slope, apply("subtract", queries, x0)), y0)
    # NumPy's handling of a NaN result: interpolate from the other end; if that is NaN too, take the value that both
    # ends share. A point equal to an end always takes that end's value.
    from_upper = apply("add", apply("multiply", slope, apply("subtract", queries, x1)), y1)
    result = apply("select", apply("is_nan", result), from_upper, result)
    is_constant = apply("logical_and", apply("is_nan", result), apply("equal", y0, y1))
    result = apply("select", apply("logical_or", is_constant, apply("equal", queries, x0)), y0, result)
    result = apply("select", apply("is_nan", queries), queries, result)
    first_value, final_value = (apply("gather", values, tensor(i, np.int64), axis=0) for i in (0, count - 1))
    first_point, last_point = (apply("gather", points, tensor(i, np.int64), axis=0) for i in (0, count - 1))
    result = apply("select", apply("equal", queries, last_point), final_value, result)
    value_below = first_value if left is None else tensor(left, np.float64)
    result = apply("select", apply("less", queries, first_point), value_below, result)
    value_above = final_value if right is None else tensor(right, np.float64)
    return apply("select", apply("greater", queries, last_point), value_above, result)


# ---- signals

_MAX_TERMS = 128  # largest number of terms of an element of a convolution that ops add; NumPy itself adds more


@computes("convolve")
def convolve(a: TensorLike, v: TensorLike, mode: str = "full") -> Tensor:
    x, y = tensors(tensor(a), tensor(v))
    x, y = (operand if rank_of(operand) else apply("reshape", operand, shape=(1,)) for operand in (x, y))
    if rank_of(x) != 1 or rank_of(y) != 1:
        raise ValueError("object too deep for desired array")
    is_swapped = isinstance(sizes_of(x)[0], int) and not isinstance(sizes_of(y)[0], int)
    if is_swapped:
        rerun_plain_unless(tensor(sizes_of(y)[0], np.int64) >= 1, "the second operand has no elements")
    if mode not in (("full",) if is_swapped else ("full", "same", "valid")):
        return call_numpy("convolve", x, y, mode)
    if is_swapped:
        x, y = y, x  # the loop runs over the operand of known size
    sizes = sizes_of(x)[0], require_known_shape(y)[0]
    if not all(size for size in sizes if isinstance(size, int)):
        raise ValueError(f"{'a' if not sizes[0] else 'v'} cannot be empty")
    if not isinstance(sizes[0], int):
        min_size = 1 if mode == "full" else sizes[1]
        rerun_plain_unless(tensor(sizes[0], np.int64) >= min_size, "the first operand is too short")
    elif sizes[0] < sizes[1]:
        x, y, sizes = y, x, sizes[::-1]
    if sizes[1] > _MAX_TERMS:
        return call_numpy("convolve", x, y, mode)
    reach = sizes[1] - 1  # "same" gives the middle part of the full result
    low, high = {"full": (reach, reach), "same": (reach - reach // 2, reach // 2), "valid": (0, 0)}[mode]
    padded_x = apply("pad", x, paddings=((low, high),)) if low or high else x
    total: Any = None
    multiply, add = ("logical_and", "logical_or") if x.dtype.is_bool else ("multiply", "add")
    for i in range(sizes[1]):
        window = apply("get_item", padded_x, spec=(Slice(sizes[1] - 1 - i, -i or None, None),))
        term = apply(multiply, window, apply("get_item", y, spec=(At(i),)))
        total = term if total is None else apply(add, total, term)
    return total


@computes("correlate")
def correlate(a: TensorLike, v: TensorLike, mode: str = "valid") -> Tensor:
    x, y = tensor(a), tensor(v)
    is_static = has_known_shape(x) and has_known_shape(y)
    is_supported = rank_of(x) == rank_of(y) == 1 and mode in ("full", "same", "valid")
    has_longer_kernel = is_static and require_known_shape(x)[0] < require_known_shape(y)[0]
    if not is_supported or (has_longer_kernel and mode == "same"):  # NumPy's middle of such rows is one further
        return call_numpy("correlate", x, y, mode)
    reversed_kernel = apply("reverse", y, axis=(0,))
    return convolve(x, apply("conjugate", reversed_kernel) if y.dtype.is_complex else reversed_kernel, mode)


register_kernels("histogram_bin_edges", "packbits", "unpackbits")


@computes("histogramdd")
def histogramdd(*args: Any, **kwargs: Any) -> Any:
    refuse("returns edges whose number depends on the values of its bins")
