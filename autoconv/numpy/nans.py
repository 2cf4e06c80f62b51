"""Reductions that ignore nans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.numpy.kernels import call_numpy, register_kernels
from autoconv.numpy.operands import (
    MISSING,
    argument_or_default,
    assume,
    cast,
    computes,
    is_compiled,
    refuse,
    refuse_options,
    sizes_of,
    tensor,
)
from autoconv.numpy.reductions import apply_reduction, mask_elements, total_function
from autoconv.numpy.writes import write_into
from autoconv.runtime.annotations import AxisLike, OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _without_nans(a: TensorLike, neutral_number: Any) -> tuple[Tensor, Tensor | None]:
    """Return the array with a neutral number for nans, and the mask of elements that are no nan.

    The mask is None if no element can be nan.
    """
    x = tensor(a)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x, None
    is_present = apply("logical_not", apply("is_nan", x))
    return mask_elements(x, is_present, neutral_number), is_present


def _nan_total(name: str, neutral: int) -> Callable[..., Any]:
    def compute(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        refuse_options(**{key: argument_or_default(value) for key, value in options.items()})
        return total_function(name, neutral, None)(_without_nans(a, neutral)[0], axis, dtype, out, keepdims)

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
    total = apply_reduction("sum", x, axis, keepdims, None)
    result = apply("divide", total, cast(apply_reduction("sum", is_present, axis, keepdims, None), total.dtype))
    return result if out is None else write_into(out, result)


def _nan_extreme(name: str, neutral_number: float) -> Callable[..., Any]:
    def compute(a: Any, axis: Any = None, out: object = None, keepdims: Any = False, **options: Any) -> Any:
        refuse_options(**{key: argument_or_default(value) for key, value in options.items()})
        x, is_present = _without_nans(a, neutral_number)
        for size in sizes_of(x):
            if not isinstance(size, int):
                assume(apply("greater", size, tensor(0)), "the error for no elements names another function")
        result = apply_reduction(name, x, axis, keepdims, None)
        if is_present is not None:
            has_number = apply_reduction("any", is_present, axis, keepdims, None)
            result = apply("select", has_number, result, tensor(np.nan, result.dtype.numpy))
            if is_compiled():  # NumPy warns of a row of nans: there 0 / 0 sets the invalid flag
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
    if overwrite_input is not False:
        refuse("may sort its argument")
    return call_numpy("nanmedian", tensor(a), axis, out=out, keepdims=keepdims is not MISSING and keepdims)


register_kernels("nanstd", "nanvar", "nanargmax", "nanargmin", "nancumsum", "nancumprod")
