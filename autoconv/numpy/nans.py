"""Reductions that ignore nans, and the replacement of nans and infinities."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.numpy.element_loops import apply_by_parts
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    MISSING,
    argument_or_default,
    as_new_array,
    axis_of,
    cast,
    check,
    computes,
    is_under_compile,
    is_weak,
    rank_of,
    refuse,
    refuse_options,
    rerun_plain_unless,
    rerun_with_warning_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.reductions import apply_reduction, mask_elements, total_function
from autoconv.numpy.writes import write_into
from autoconv.runtime.annotations import AxisLike, OutLike, TensorLike
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _without_nans(a: TensorLike, neutral_number: Any) -> tuple[Tensor, Tensor | None]:
    """Return the array with a neutral number for nans, and the mask of elements that are no nan.

    The mask is None if no element can be nan.
    """
    x = tensor(a)
    return _mask_nans(x, neutral_number) if x.dtype.is_floating or x.dtype.is_complex else (x, None)


def _mask_nans(x: Tensor, neutral_number: Any) -> tuple[Tensor, Tensor]:
    """Return the array with a neutral number for nans, and the mask of elements that are no nan."""
    is_present = apply("logical_not", apply("is_nan", x))
    return mask_elements(x, is_present, neutral_number), is_present


def _nan_total(name: str, neutral: int) -> Callable[..., Any]:
    """Return NumPy's `nansum` or `nanprod`, by the name of the function that does not ignore nans."""
    def compute(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        refuse_options(**{key: argument_or_default(value) for key, value in options.items()})
        x, _ = _without_nans(a, neutral)
        return total_function(name, neutral, combine=None)(x, axis, dtype, out, keepdims)

    return compute


computes("nansum")(_nan_total("sum", 0))
computes("nanprod")(_nan_total("prod", 1))


@computes("nanmean")
def _nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    refuse_options(dtype=dtype, **{key: argument_or_default(value) for key, value in options.items()})
    x, is_present = _without_nans(a, 0)
    if is_present is None:
        return apply_reduction("mean", x, axis, keepdims, out)
    total = apply_reduction("sum", x, axis, keepdims, out=None)
    result = apply("divide", total, cast(apply_reduction("sum", is_present, axis, keepdims, out=None), total.dtype))
    return result if out is None else write_into(out, result)


def _nan_extreme(name: str, neutral_number: float) -> Callable[..., Any]:
    """Return NumPy's `nanmax` or `nanmin`, by the name of the function that does not ignore nans."""
    def compute(a: Any, axis: Any = None, out: object = None, keepdims: Any = False, **options: Any) -> Any:
        refuse_options(**{key: argument_or_default(value) for key, value in options.items()})
        if 0 in (tensor(a).type.shape or ()):  # NumPy's error names fmax or fmin
            return call_numpy(f"nan{name}", tensor(a), axis, out=out, keepdims=keepdims)
        x, is_present = _without_nans(a, neutral_number)
        for size in sizes_of(x):
            if not isinstance(size, int):
                rerun_plain_unless(apply("greater", size, tensor(0)), "there are no elements")
        result = apply_reduction(name, x, axis, keepdims, out=None)
        if is_present is not None:
            has_number = apply_reduction("any", is_present, axis, keepdims, out=None)
            result = apply("select", has_number, result, tensor(np.nan, result.dtype.numpy))
            if is_under_compile():  # NumPy warns of a row of nans: there 0 / 0 sets the invalid flag
                count = cast(has_number, result.dtype)
                result = apply("multiply", result, apply("divide", count, count))
        return result if out is None else write_into(out, result)

    return compute


computes("nanmax")(_nan_extreme("max", -np.inf))
computes("nanmin")(_nan_extreme("min", np.inf))


@computes("nanmedian")
def _nanmedian(
    a: TensorLike, axis: AxisLike | None = None, out: OutLike | None = None, overwrite_input: Any = False,
    keepdims: bool = MISSING
) -> Any:
    """Take the middle of each sorted row, where nans are behind all numbers."""
    if overwrite_input is not False:
        refuse("may sort its argument")
    x, keeps_axes = tensor(a), keepdims is not MISSING and keepdims
    if x.dtype.numpy.kind in "biu" and 0 not in (x.type.shape or (0,)):
        return FUNCTIONS[np.median](x, axis, out=out, keepdims=keeps_axes)
    has_one_axis = (axis is None or isinstance(axis, int)) and 0 not in (x.type.shape or (0,))
    if x.dtype.numpy in (np.float64, np.float32) and has_one_axis and out is None and not keeps_axes:
        return _middle_of_rows(*((apply("reshape", x, shape=(-1,)), 0) if axis is None else (x, axis)))
    return call_numpy("nanmedian", x, axis, out=out, keepdims=keeps_axes)


def _middle_of_rows(x: Tensor, axis: int) -> Any:
    """Return the medians along an axis without nans; NumPy warns of rows without a number."""
    axis_index = axis_of(axis, rank_of(x))
    _, is_present = _mask_nans(x, 0)
    count = apply_reduction("sum", is_present, axis_index, keepdims=True, out=None)
    rerun_with_warning_unless(apply("numpy_all", apply("greater", count, tensor(0))), "a row consists of nans")
    sorted_x = apply("sort", x, axis=axis_index)
    middle_positions = [apply("floor_divide", n, tensor(2)) for n in (apply("subtract", count, tensor(1)), count)]
    low, high = (FUNCTIONS[np.take_along_axis](sorted_x, position, axis_index) for position in middle_positions)
    mean = apply("divide", apply("add", low, high), tensor(2.0, x.dtype.numpy))
    middle = apply("select", apply("equal", *middle_positions), low, mean)
    return apply("squeeze", middle, axis=(axis_index,))


def _nan_variance(name: str, takes_root: bool) -> Callable[..., Any]:
    """Return NumPy's `nanvar`, or `nanstd` if it `takes_root`."""
    def compute(
        a: TensorLike, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False,
        **options: Any,
    ) -> Any:  # fmt: skip
        x = tensor(a)
        if x.dtype.is_integer and dtype is None and out is None and not options:
            function = np.std if takes_root else np.var
            return FUNCTIONS[function](x, axis, ddof=ddof, keepdims=keepdims)
        is_supported = x.dtype.is_floating and x.dtype.size >= 4 and dtype is None and out is None and not options
        if not is_supported or type(ddof) not in (int, float) or type(keepdims) is not bool:
            options |= {"keepdims": keepdims} if keepdims not in (False, MISSING) else {}
            return call_numpy(name, x, axis, dtype=dtype, out=out, ddof=ddof, **options)
        present_x, is_present = _mask_nans(x, 0)
        count = cast(apply_reduction("sum", is_present, axis, keepdims=True, out=None), x.dtype)
        mean = apply("divide", apply_reduction("sum", present_x, axis, keepdims=True, out=None), count)
        deviations = mask_elements(apply("subtract", x, mean), is_present, 0)
        total = apply_reduction("sum", apply("square", deviations), axis, keepdims, out=None)
        result_count = cast(apply_reduction("sum", is_present, axis, keepdims, out=None), x.dtype)
        degrees = apply("subtract", result_count, tensor(ddof, x.dtype.numpy))
        has_degrees = apply("greater", degrees, tensor(0, x.dtype.numpy))
        rerun_with_warning_unless(apply("numpy_all", has_degrees), "a row has no degrees of freedom")
        result = apply("divide", total, apply("select", has_degrees, degrees, tensor(np.nan, x.dtype.numpy)))
        return apply("sqrt", result) if takes_root else result

    return compute


computes("nanvar")(_nan_variance("nanvar", takes_root=False))
computes("nanstd")(_nan_variance("nanstd", takes_root=True))


def _nan_position(name: str, neutral_number: float) -> Callable[..., Any]:
    """Return NumPy's `nanargmax` or `nanargmin`, by its name; nans count as `neutral_number`."""
    def compute(a: TensorLike, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = tensor(a)
        if (x.dtype.is_integer or x.dtype.is_bool) and out is None:
            return FUNCTIONS[getattr(np, name.removeprefix("nan"))](x, axis, keepdims=keepdims)
        if not x.dtype.is_floating or out is not None or type(keepdims) is not bool or 0 in (x.type.shape or (0,)):
            options = {"keepdims": keepdims} if keepdims not in (False, MISSING) else {}
            return call_numpy(name, x, axis, out=out, **options)
        present_x, is_present = _mask_nans(x, neutral_number)
        for size in sizes_of(x):
            if not isinstance(size, int):
                rerun_plain_unless(apply("greater", size, tensor(0)), "there are no elements")
        has_number = apply_reduction("any", is_present, axis, keepdims=False, out=None)
        check(apply("numpy_all", has_number), "All-NaN slice encountered")
        return FUNCTIONS[getattr(np, name.removeprefix("nan"))](present_x, axis, keepdims=keepdims)

    return compute


computes("nanargmax")(_nan_position("nanargmax", -np.inf))
computes("nanargmin")(_nan_position("nanargmin", np.inf))


def _nan_scan(name: str, neutral_number: int) -> Callable[..., Any]:
    """Return NumPy's `nancumsum` or `nancumprod`; nans count as `neutral_number`."""
    def compute(a: TensorLike, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        x, _ = _without_nans(a, neutral_number)
        return FUNCTIONS[getattr(np, name)](x, axis, dtype, out)

    return compute


computes("nancumsum")(_nan_scan("cumsum", 0))
computes("nancumprod")(_nan_scan("cumprod", 1))


@computes("nan_to_num")
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace nans and infinities: in a new array, or with `copy` false in `x` itself, which is returned."""
    elements = tensor(x)
    if not copy and (is_weak(x) or isinstance(x, (list, tuple)) or not rank_of(elements)):
        refuse("changes in place a value that is no array, or has no dimensions")
    if not all(bound is None or is_weak(bound) or tensor(bound).type.shape == () for bound in (nan, posinf, neginf)):
        refuse("replaces elements by those of an array")
    has_only_floats = all(bound is None or isinstance(bound, float) for bound in (nan, posinf, neginf))
    if elements.dtype.is_complex and not has_only_floats:
        refuse("replaces parts of complex numbers by values other than floats")
    if not (elements.dtype.is_floating or elements.dtype.is_complex):
        return as_new_array(elements, elements) if copy else x
    replace = functools.partial(_replace_by_finite, nan=nan, posinf=posinf, neginf=neginf)
    finite = apply_by_parts(replace, elements) if elements.dtype.is_complex else replace(elements)
    return finite if copy else write_into(x, finite)


def _replace_by_finite(x: Tensor, nan: Any, posinf: Any, neginf: Any) -> Tensor:
    """Return real numbers with others for nans and infinities; None stands for the dtype's greatest or lowest one."""
    dtype: Any = x.dtype.numpy
    limits = np.finfo(dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    result = apply("select", apply("is_nan", x), tensor(nan, dtype), x)
    result = apply("select", apply("equal", x, tensor(np.inf, dtype)), tensor(high, dtype), result)
    return apply("select", apply("equal", x, tensor(-np.inf, dtype)), tensor(low, dtype), result)
