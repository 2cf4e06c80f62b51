"""Reductions over axes: sums, extrema, deviations, indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import whole_call
from autoconv.numpy.operands import (
    NOTHING,
    axes_of,
    axis_of,
    cast,
    check,
    computes,
    given_or_default,
    integer,
    is_compiled,
    known_shape,
    numpy_dtype,
    numpy_dtype_of,
    rank_of,
    refuse,
    refuse_options,
    require,
    size_of,
    tensor,
)
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.rules import element_count
from autoconv.runtime.annotations import AxisLike, OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _flag(keepdims: bool) -> bool:
    return False if keepdims is NOTHING else bool(keepdims)


# For a 0-d array these accept the axis 0, as reductions of ufuncs do.
_OF_SCALARS = frozenset({"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"})


def _checked_axes(name: str, x: Tensor, axis: AxisLike, keepdims: bool) -> tuple[Any, bool]:
    """Return axis and keepdims in the form of the ops; axes out of range raise AxisError."""
    rank = rank_of(x)
    if axis is None or (
        not rank and name in _OF_SCALARS and not isinstance(axis, (tuple, list)) and integer(axis) in (0, -1)
    ):
        return None, keepdims and rank > 0
    axes = axes_of(axis, rank)
    return axes if isinstance(axis, (tuple, list)) else axes[0], keepdims


def apply_reduction(name: str, x: Tensor, axis: Any, keepdims: Any, out: Any, **options: Any) -> Any:
    """Apply NumPy's reduction of that name, by its op."""
    axis, keeps = _checked_axes(name, x, axis, _flag(keepdims))
    if axis == ():
        return _over_nothing(name, x, out, options)
    if name in ("mean", "var", "std") and is_compiled():
        _leave_warnings_of_too_few(name, x, axis, options.get("ddof", 0))
    if keeps:
        options["keepdims"] = True
    result = apply(f"numpy_{name}", x, axis=axis, **options)
    return result if out is None else write_into(out, result, casting="unsafe" if "arg" in name else "same_kind")


def _leave_warnings_of_too_few(name: str, x: Tensor, axis: Any, ddof: float) -> None:
    """Leave calls to NumPy whose rows have no elements, or no more than `ddof`: NumPy warns of these.

    Means over an axis that is known to be empty are errors of constants; see `float_warnings`.
    """
    if _has_too_few(x, axis, ddof):
        if name != "mean":
            refuse("warns of too few elements")
        return
    if x.type.shape is None or not (axis is None or isinstance(axis, (int, tuple))):
        return
    count = size_of(x, (axis,) if isinstance(axis, int) else axis)
    if not isinstance(count, int) and isinstance(ddof, (int, float)):
        require(count > max(0, int(ddof)), f"the {'mean' if not ddof else 'deviation'} of too few elements")


def _has_too_few(x: Tensor, axis: Any, ddof: float) -> bool:
    """Return whether an axis that is reduced is known to have no elements, or all of them no more than `ddof`."""
    shape = x.type.shape
    if shape is None or not (axis is None or isinstance(axis, (int, tuple))):
        return False
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    known = [shape[one] for one in axes if type(one) is int and -len(shape) <= one < len(shape)]
    numbers = [size for size in known if isinstance(size, int)]
    return 0 in numbers or (ddof > 0 and len(numbers) == len(axes) and math.prod(numbers) <= ddof)


def _over_nothing(name: str, x: Tensor, out: OutLike, options: Any) -> Any:
    """Reduce over axis=(): every element is its own result."""
    if name not in ("sum", "prod", "max", "min", "any", "all"):
        refuse("is given no axes")
    dtype = options.get("dtype") or numpy_dtype_of(getattr(np.ones(1, x.dtype.numpy), name)())
    result = cast(x, dtype)
    return result if out is None else write_into(out, result)


def mask_elements(x: Tensor, where: TensorLike, neutral: Any) -> Tensor:
    """Return the array with a neutral number where `where` is false."""
    if rank_of(tensor(where)) > rank_of(x):
        refuse("is given a mask of more dimensions")
    return apply("select", tensor(where, bool), x, tensor(neutral, x.dtype.numpy))


def total_of(name: str, neutral: int, combine: object) -> Callable[..., Any]:
    """NumPy's sum or product, by name."""
    def run(
        a: object, axis: Any = None, dtype: Any = None, out: object = None, keepdims: Any = False,
        initial: Any = NOTHING,
        where: Any = NOTHING,
    ) -> Any:  # fmt: skip
        x = tensor(a)
        if given_or_default(where, True) is not True:
            x = mask_elements(x, where, neutral)
        options = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
        result = apply_reduction(name, x, axis, keepdims, None, **options)
        if given_or_default(initial) is not None:
            result = cast(call_ufunc(combine, result, initial), result.dtype)
        return result if out is None else write_into(out, result)

    return run


computes("sum")(total_of("sum", 0, np.add))
computes("prod")(total_of("prod", 1, np.multiply))


@computes("mean")
def _mean(
    a: object, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = NOTHING
) -> Any:
    x = tensor(a)
    options = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
    if given_or_default(where, True) is True:
        return apply_reduction("mean", x, axis, keepdims, out, **options)
    mask = tensor(where, bool)
    total = apply_reduction(
        "sum", cast(mask_elements(x, mask, 0), np.mean(np.ones(1, x.dtype.numpy)).dtype), axis, keepdims, None
    )
    mean = apply("divide", total, cast(_count(mask, x, axis, keepdims), total.dtype))
    mean = mean if dtype is None else cast(mean, numpy_dtype(dtype))
    return mean if out is None else write_into(out, mean)


def _count(mask: Tensor, x: Tensor, axis: Any, keepdims: Any) -> Tensor:
    ones = apply("logical_and", mask, apply("ones_like", x, dtype=as_dtype(bool)))
    return apply_reduction("sum", ones, axis, keepdims, None)


def _extreme_function(name: str, combine: Any) -> Callable[..., Any]:
    """Return NumPy's max or min, by its name; `combine` is the ufunc."""
    def run(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NOTHING, where: Any = NOTHING
    ) -> Any:
        x = tensor(a)
        if given_or_default(where, True) is not True:
            if given_or_default(initial) is None:
                raise ValueError(
                    f"reduction operation '{combine.__name__}' does not have an identity, so to use a where mask one "
                    "has to specify 'initial'"
                )
            x = mask_elements(x, where, initial)
        if x.dtype.is_complex and given_or_default(initial) is not None:
            return whole_call(name, False, x, axis=axis, keepdims=_flag(keepdims), initial=initial)
        if x.dtype.is_bool and axis != () and element_count(x.type.shape):
            return apply_reduction("any" if name == "max" else "all", x, axis, keepdims, out)
        if given_or_default(initial) is None:
            return apply_reduction(name, x, axis, keepdims, out)
        rank = rank_of(x)  # the initial value counts as an additional element, so that an empty array has an extremum
        axes = axes_of(axis, rank)
        shape = known_shape(x)
        if any(shape[a] == 0 for a in axes):
            left = tuple(1 if i in axes else d for i, d in enumerate(shape) if i not in axes or _flag(keepdims))
            result = apply("broadcast_to", tensor(initial, x.dtype.numpy), shape=left)
        else:
            result = cast(call_ufunc(combine, apply_reduction(name, x, axis, keepdims, None), initial), x.dtype)
        return result if out is None else write_into(out, result)

    return run


computes("max", "amax")(_extreme_function("max", np.maximum))
computes("min", "amin")(_extreme_function("min", np.minimum))


def _quantifier(name: str) -> Callable[..., Any]:
    def run(
        a: TensorLike, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: TensorLike = NOTHING
    ) -> Any:
        x = tensor(a, bool)
        if given_or_default(where, True) is not True:
            x = mask_elements(x, where, name == "all")
        return apply_reduction(name, x, axis, keepdims, out)

    return run


computes("any")(_quantifier("any"))
computes("all")(_quantifier("all"))


def _is_wider(target: np.dtype[Any], own: np.dtype[Any]) -> bool:
    """Return whether sums of real numbers in the wanted dtype are those of the numbers converted first."""
    return target.kind == "f" and own.kind != "c" and np.can_cast(own, target)


def _variance_function(name: str) -> Callable[..., Any]:
    def run(
        a: TensorLike, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: TensorLike = NOTHING, mean: TensorLike = NOTHING, correction: TensorLike = NOTHING,
    ) -> Any:  # fmt: skip
        refuse_options(mean=given_or_default(mean))
        ddof = given_or_default(correction, ddof)
        x = tensor(a)
        if type(ddof) not in (int, float):
            refuse("is given ddof known only at run time")
        options: dict[str, Any] = {} if given_or_default(where, True) is True else {"where": where}
        if dtype is not None and not _is_wider(numpy_dtype(dtype), x.dtype.numpy):
            options["dtype"] = dtype
        if options:
            return whole_call(name, False, x, axis=axis, out=out, ddof=ddof, keepdims=_flag(keepdims), **options)
        x = x if dtype is None else tensor(x, dtype)
        return apply_reduction(name, x, axis, keepdims, out, **({"ddof": ddof} if ddof else {}))

    return run


computes("std")(_variance_function("std"))
computes("var")(_variance_function("var"))


def _position(name: str) -> Callable[..., Any]:
    def run(a: object, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = tensor(a)
        if out is not None and numpy_dtype_of(out) != np.intp:
            refuse("is given an array of other elements to write to")
        return apply_reduction(name, x, axis if axis is None else integer(axis), keepdims, out)

    return run


computes("argmax")(_position("argmax"))
computes("argmin")(_position("argmin"))


@computes("ptp")
def _ptp(a: object, axis: Any = None, out: object = None, keepdims: Any = False) -> Any:
    x = tensor(a)
    ends = [apply_reduction(name, x, axis, keepdims, None) for name in ("max", "min")]
    result = call_ufunc(np.subtract, *ends)
    return result if out is None else write_into(out, result)


@computes("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return apply_reduction("sum", tensor(a, bool), axis, keepdims, None)


@computes("average")
def _average(
    a: object, axis: Any = None, weights: object = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    x = tensor(a)
    if weights is None:
        result = apply_reduction("mean", x, axis, keepdims, None)
        if element_count(result.type.shape) == 0:
            raise ZeroDivisionError("division by zero")
        count = call_ufunc(np.true_divide, size_of(x, axes_of(axis, rank_of(x))), 1)
        scale = apply("add", apply("zeros_like", result), cast(tensor(count), result.dtype))
    else:
        by = tensor(weights)
        if axis is None and known_shape(by) != known_shape(x):
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if rank_of(by) != rank_of(x):
            if axis is None or isinstance(axis, (tuple, list)) or rank_of(by) != 1:
                refuse("is given weights of another shape")
            at = axis_of(axis, rank_of(x))
            by = apply("reshape", by, shape=tuple(-1 if i == at else 1 for i in range(rank_of(x))))
        integers = x.dtype.is_integer or x.dtype.is_bool
        dtype = np.result_type(x.dtype.numpy, by.dtype.numpy, *(["f8"] if integers else []))  # type: ignore[arg-type]
        x, by = cast(x, dtype), cast(by, dtype)
        by = apply("broadcast_to_shape_of", by, x)
        scale = apply_reduction("sum", by, axis, keepdims, None)
        some = apply("not_equal", scale, tensor(0, scale.dtype))
        check(apply("numpy_all", some, axis=None), "Weights sum to zero, can't be normalized")
        result = apply("divide", apply_reduction("sum", apply("multiply", x, by), axis, keepdims, None), scale)
    return (result, scale) if returned else result

