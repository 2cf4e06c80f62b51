"""Reductions over axes: sums, extrema, deviations, indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    MISSING,
    argument_or_default,
    axes_of,
    axis_of,
    cast,
    check,
    computes,
    have_equal_shapes,
    integer,
    is_under_compile,
    numpy_dtype,
    numpy_dtype_of,
    rank_of,
    refuse,
    refuse_options,
    refuse_unknown,
    require_known_shape,
    rerun_with_warning_unless,
    size_of,
    tensor,
)
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.rules import element_count
from autoconv.runtime.annotations import AxisLike, OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _keepdims_flag(keepdims: Any) -> bool:
    """Return the argument `keepdims` as a bool, False if it is missing."""
    return keepdims is not MISSING and np.add.reduce(np.zeros(1), keepdims=keepdims).ndim > 0  # NumPy may raise


# Functions that accept the axis 0 for a 0-d array, as reductions of ufuncs do.
_ACCEPTING_AXIS_OF_SCALARS = frozenset({"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"})


def _normalize_axes(name: str, x: Tensor, axis: AxisLike, keepdims: bool) -> tuple[Any, bool]:
    """Return `axis` (None for all axes) and `keepdims` as ops take them; axes out of range raise AxisError."""
    rank = rank_of(x)
    accepts_axis = not rank and name in _ACCEPTING_AXIS_OF_SCALARS and not isinstance(axis, (tuple, list))
    if axis is None or (accepts_axis and integer(axis) in (0, -1)):
        return None, keepdims and rank > 0
    return axes_of(axis, rank) if isinstance(axis, tuple) else axis_of(axis, rank), keepdims


def apply_reduction(name: str, x: Tensor, axis: Any, keepdims: Any, out: Any, **options: Any) -> Any:
    """Apply NumPy's reduction of that name, by its op."""
    axis, keeps_axes = _normalize_axes(name, x, axis, _keepdims_flag(keepdims))
    if axis == ():
        return _reduce_no_axes(name, x, out, options)
    if name in ("mean", "var", "std") and is_under_compile():
        _refuse_warnings_of_too_few(name, x, axis, options.get("ddof", 0))
    if keeps_axes:
        options["keepdims"] = True
    result = apply(f"numpy_{name}", x, axis=axis, **options)
    return result if out is None else write_into(out, result, casting="unsafe" if "arg" in name else "same_kind")


def _refuse_warnings_of_too_few(name: str, x: Tensor, axis: Any, ddof: float) -> None:
    """Refuse reductions of rows with no elements, or with at most `ddof` elements, for which NumPy warns.

    Means over an axis that is known to be empty are not refused here: `autoconv.tracing.guards.numpy_error_state`
    reports their warning while tracing, as for any computation on plain values.
    """
    if _has_too_few(x, axis, ddof):
        if name != "mean":
            refuse("warns of too few elements")
        return
    is_axis_known = axis is None or isinstance(axis, (int, tuple))
    if x.type.shape is None or not is_axis_known:
        return
    count = size_of(x, (axis,) if isinstance(axis, int) else axis)
    if not isinstance(count, int) and isinstance(ddof, (int, float)):
        name_in_message = "mean" if not ddof else "deviation"
        rerun_with_warning_unless(count > max(0, int(ddof)), f"the {name_in_message} of too few elements")


def _has_too_few(x: Tensor, axis: Any, ddof: float) -> bool:
    """Return whether a reduced axis is known to be empty, or all of them to have at most `ddof` elements together."""
    shape = x.type.shape
    is_axis_known = axis is None or isinstance(axis, (int, tuple))
    if shape is None or not is_axis_known:
        return False
    given_axes = (axis,) if isinstance(axis, int) else axis
    axes = range(len(shape)) if axis is None else given_axes
    valid_axes = range(-len(shape), len(shape))
    sizes = [shape[index] for index in axes if type(index) is int and index in valid_axes]
    known_sizes = [size for size in sizes if isinstance(size, int)]
    return 0 in known_sizes or (ddof > 0 and len(known_sizes) == len(axes) and math.prod(known_sizes) <= ddof)


def _reduce_no_axes(name: str, x: Tensor, out: OutLike, options: Any) -> Any:
    """Reduce over axis=(), where the result of an element is the element itself."""
    if name not in ("sum", "prod", "max", "min", "any", "all"):
        refuse("is given no axes")
    dtype = options.get("dtype") or numpy_dtype_of(getattr(np.ones(1, x.dtype.numpy), name)())
    result = cast(x, dtype)
    return result if out is None else write_into(out, result)


def mask_elements(x: Tensor, where: TensorLike, neutral_number: Any) -> Tensor:
    """Return the array with a neutral number where `where` is false."""
    if rank_of(tensor(where)) > rank_of(x):
        refuse("is given a mask of more dimensions")
    return apply("select", tensor(where, bool), x, tensor(neutral_number, x.dtype.numpy))


def total_function(name: str, neutral_number: int, combine: object) -> Callable[..., Any]:
    """Return the implementation of NumPy's sum or product, by its name; `combine` is the ufunc."""

    def compute(
        a: object, axis: Any = None, dtype: Any = None, out: object = None, keepdims: Any = False,
        initial: Any = MISSING,
        where: Any = MISSING,
    ) -> Any:  # fmt: skip
        if initial is None:
            refuse("is given initial=None")  # with None, NumPy raises for an array without elements
        x = tensor(a)
        if argument_or_default(where, True) is not True:
            x = mask_elements(x, where, neutral_number)
        options = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
        result = apply_reduction(name, x, axis, keepdims, out=None, **options)
        if initial is not MISSING:
            result = cast(call_ufunc(combine, result, initial), result.dtype)
        return result if out is None else write_into(out, result)

    return compute


computes("sum")(total_function("sum", 0, np.add))
computes("prod")(total_function("prod", 1, np.multiply))


@computes("mean")
def _mean(
    a: object, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = MISSING
) -> Any:
    x = tensor(a)
    options = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
    if argument_or_default(where, True) is True:
        return apply_reduction("mean", x, axis, keepdims, out, **options)
    mask = tensor(where, bool)
    total = apply_reduction(
        "sum", cast(mask_elements(x, mask, 0), np.mean(np.ones(1, x.dtype.numpy)).dtype), axis, keepdims, out=None
    )
    mean = apply("divide", total, cast(_count_selected(mask, x, axis, keepdims), total.dtype))
    mean = mean if dtype is None else cast(mean, numpy_dtype(dtype))
    return mean if out is None else write_into(out, mean)


def _count_selected(mask: Tensor, x: Tensor, axis: Any, keepdims: Any) -> Tensor:
    """Return the number of elements of `x` along the axis that the mask selects."""
    ones = apply("logical_and", mask, apply("ones_like", x, dtype=as_dtype(bool)))
    return apply_reduction("sum", ones, axis, keepdims, out=None)


def _extreme_function(name: str, combine: Any) -> Callable[..., Any]:
    """Return NumPy's max or min, by its name; `combine` is the ufunc."""

    def compute(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = MISSING, where: Any = MISSING
    ) -> Any:
        x = tensor(a)
        initial = argument_or_default(initial)  # None stands for no initial value, as in NumPy
        if argument_or_default(where, True) is not True:
            if initial is None:
                raise ValueError(
                    f"reduction operation '{combine.__name__}' does not have an identity, so to use a where mask one "
                    "has to specify 'initial'"
                )
            x = mask_elements(x, where, initial)
        if x.dtype.is_complex and initial is not None:
            return call_numpy(name, x, axis=axis, keepdims=_keepdims_flag(keepdims), initial=initial)
        if x.dtype.is_bool and axis != () and element_count(x.type.shape):
            return apply_reduction("any" if name == "max" else "all", x, axis, keepdims, out)
        if initial is None:
            return apply_reduction(name, x, axis, keepdims, out)
        # The initial value counts as an additional element, so that an empty array has an extremum.
        axes = axes_of(axis, rank_of(x))
        shape = require_known_shape(x)
        if any(shape[index] == 0 for index in axes):
            keeps_axes = _keepdims_flag(keepdims)
            result_shape = tuple(
                1 if i in axes else size for i, size in enumerate(shape) if i not in axes or keeps_axes
            )
            result = apply("broadcast_to", tensor(initial, x.dtype.numpy), shape=result_shape)
        else:
            result = cast(call_ufunc(combine, apply_reduction(name, x, axis, keepdims, out=None), initial), x.dtype)
        return result if out is None else write_into(out, result)

    return compute


computes("max", "amax")(_extreme_function("max", np.maximum))
computes("min", "amin")(_extreme_function("min", np.minimum))


def _quantifier(name: str) -> Callable[..., Any]:
    """Return NumPy's `any` or `all`, by its name."""
    def compute(
        a: TensorLike, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: TensorLike = MISSING
    ) -> Any:
        x = tensor(a, bool)
        if argument_or_default(where, True) is not True:
            x = mask_elements(x, where, name == "all")
        return apply_reduction(name, x, axis, keepdims, out)

    return compute


computes("any")(_quantifier("any"))
computes("all")(_quantifier("all"))


def _can_convert_first(target_dtype: np.dtype[Any], element_dtype: np.dtype[Any]) -> bool:
    """Return whether a reduction computed in `target_dtype` equals that of elements converted to `target_dtype`."""
    return target_dtype.kind == "f" and element_dtype.kind != "c" and np.can_cast(element_dtype, target_dtype)


def _variance_function(name: str) -> Callable[..., Any]:
    """Return NumPy's `var` or `std`, by its name."""
    def compute(
        a: TensorLike, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: TensorLike = MISSING, mean: TensorLike = MISSING, correction: TensorLike = MISSING,
    ) -> Any:  # fmt: skip
        refuse_options(mean=argument_or_default(mean))
        ddof = argument_or_default(correction, ddof)
        x = tensor(a)
        if type(ddof) not in (int, float):
            refuse_unknown("is given ddof known only at run time", ddof)
        options: dict[str, Any] = {} if argument_or_default(where, True) is True else {"where": where}
        if dtype is not None and not _can_convert_first(numpy_dtype(dtype), x.dtype.numpy):
            options["dtype"] = dtype
        if options:
            options["keepdims"] = _keepdims_flag(keepdims)
            return call_numpy(name, x, axis=axis, out=out, ddof=ddof, **options)
        x = x if dtype is None else tensor(x, dtype)
        return apply_reduction(name, x, axis, keepdims, out, **({"ddof": ddof} if ddof else {}))

    return compute


computes("std")(_variance_function("std"))
computes("var")(_variance_function("var"))


def _position_function(name: str) -> Callable[..., Any]:
    """Return NumPy's `argmax` or `argmin`, by its name."""
    def compute(a: object, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = tensor(a)
        if out is not None and numpy_dtype_of(out) != np.intp:
            refuse("is given an array `out` whose dtype is not intp")
        return apply_reduction(name, x, axis if axis is None else integer(axis), keepdims, out)

    return compute


computes("argmax")(_position_function("argmax"))
computes("argmin")(_position_function("argmin"))


@computes("ptp")
def _ptp(a: object, axis: Any = None, out: object = None, keepdims: Any = False) -> Any:
    x = tensor(a)
    extremes = [apply_reduction(name, x, axis, keepdims, out=None) for name in ("max", "min")]
    result = call_ufunc(np.subtract, *extremes)
    return result if out is None else write_into(out, result)


@computes("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return apply_reduction("sum", tensor(a, bool), axis, keepdims, out=None)


@computes("average")
def _average(
    a: object, axis: Any = None, weights: object = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    x = tensor(a)
    if axis is not None:
        axis = np.lib.array_utils.normalize_axis_tuple(axis, rank_of(x), argname="axis")
    if weights is None:
        result = apply_reduction("mean", x, axis, keepdims, out=None)
        if element_count(result.type.shape) == 0:
            raise ZeroDivisionError("division by zero")
        count = call_ufunc(np.true_divide, size_of(x, axes_of(axis, rank_of(x))), 1)
        scale = apply("add", apply("zeros_like", result), cast(tensor(count), result.dtype))
    else:
        weight_tensor = tensor(weights)
        if axis is None and not have_equal_shapes(weight_tensor, x):
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if rank_of(weight_tensor) != rank_of(x):
            if axis is None or len(axis) != 1 or rank_of(weight_tensor) != 1:
                refuse("is given weights of another shape")
            (axis_index,) = axis
            shape = tuple(-1 if i == axis_index else 1 for i in range(rank_of(x)))
            weight_tensor = apply("reshape", weight_tensor, shape=shape)
        has_integers = x.dtype.is_integer or x.dtype.is_bool
        dtype = np.result_type(x.dtype.numpy, weight_tensor.dtype.numpy, *(["f8"] if has_integers else []))  # type: ignore[arg-type]
        x, weight_tensor = cast(x, dtype), cast(weight_tensor, dtype)
        weight_tensor = apply("broadcast_to_shape_of", weight_tensor, x)
        scale = apply_reduction("sum", weight_tensor, axis, keepdims, out=None)
        is_nonzero = apply("not_equal", scale, tensor(0, scale.dtype))
        are_nonzero = apply("numpy_all", is_nonzero, axis=None)
        check(are_nonzero, "Weights sum to zero, can't be normalized", ZeroDivisionError)
        total = apply_reduction("sum", apply("multiply", x, weight_tensor), axis, keepdims, out=None)
        result = apply("divide", total, scale)
    return (result, scale) if returned else result
