"""Reductions over axes, and running ones: sums, extremes, spreads, and their relatives that pass over nans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import by_kernel, whole_call
from autoconv.numpy.operands import (
    axes_of,
    axis_of,
    cast,
    common_dtype,
    computes,
    integer,
    known_shape,
    numpy_dtype,
    numpy_dtype_of,
    rank_of,
    refuse,
    size_of,
    tensor,
    without,
)
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.rules import element_count
from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor

_NOTHING: Any = np._NoValue  # type: ignore[attr-defined]


def _flag(keepdims: Any) -> bool:
    return False if keepdims is _NOTHING else bool(keepdims)


def _given(value: Any, default: Any = None) -> Any:
    return default if value is _NOTHING else value


# Of an array without dimensions they take the axis 0, as reductions of ufuncs do.
_OF_SCALARS = frozenset({"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"})


def _kept(name: str, x: Tensor, axis: Any, keepdims: bool) -> tuple[Any, bool]:
    """Axis and keepdims as the ops take them; axes that are not there raise AxisError."""
    rank = rank_of(x)
    if axis is None or (
        not rank and name in _OF_SCALARS and not isinstance(axis, (tuple, list)) and integer(axis) in (0, -1)
    ):
        return None, keepdims and rank > 0
    axes = axes_of(axis, rank)
    return axes if isinstance(axis, (tuple, list)) else axes[0], keepdims


def _reduce(name: str, x: Tensor, axis: Any, keepdims: Any, out: Any, **options: Any) -> Any:
    axis, kept = _kept(name, x, axis, _flag(keepdims))
    if axis == ():
        return _over_nothing(name, x, out, options)
    if kept:
        options["keepdims"] = True
    found = apply(f"numpy_{name}", x, axis=axis, **options)
    return found if out is None else write_into(out, found, casting="unsafe" if "arg" in name else "same_kind")


def _over_nothing(name: str, x: Tensor, out: Any, options: Any) -> Any:
    """axis=(): each element is a sum of its own."""
    if name not in ("sum", "prod", "max", "min", "any", "all"):
        refuse("is given no axes")
    wanted = options.get("dtype") or numpy_dtype_of(getattr(np.ones(1, x.dtype.numpy), name)())
    found = cast(x, wanted)
    return found if out is None else write_into(out, found)


def _masked(x: Tensor, where: Any, neutral: Any) -> Tensor:
    return apply("select", tensor(where, bool), x, tensor(neutral, x.dtype.numpy))


def _total(name: str, neutral: int, combine: Any) -> Callable[..., Any]:
    def run(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NOTHING,
        where: Any = _NOTHING,
    ) -> Any:  # fmt: skip
        x = tensor(a)
        if _given(where, True) is not True:
            x = _masked(x, where, neutral)
        options = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
        found = _reduce(name, x, axis, keepdims, None, **options)
        if _given(initial) is not None:
            found = cast(call_ufunc(combine, found, initial), found.dtype)
        return found if out is None else write_into(out, found)

    return run


computes("sum")(_total("sum", 0, np.add))
computes("prod")(_total("prod", 1, np.multiply))


@computes("mean")
def _mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = _NOTHING
) -> Any:
    x = tensor(a)
    options = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
    if _given(where, True) is True:
        return _reduce("mean", x, axis, keepdims, out, **options)
    mask = tensor(where, bool)
    total = _reduce("sum", cast(_masked(x, mask, 0), np.mean(np.ones(1, x.dtype.numpy)).dtype), axis, keepdims, None)
    found = apply("divide", total, cast(_count(mask, x, axis, keepdims), total.dtype))
    found = found if dtype is None else cast(found, numpy_dtype(dtype))
    return found if out is None else write_into(out, found)


def _count(mask: Tensor, x: Tensor, axis: Any, keepdims: Any) -> Tensor:
    ones = apply("logical_and", mask, apply("ones_like", x, dtype=as_dtype(bool)))
    return _reduce("sum", ones, axis, keepdims, None)


def _extreme(name: str, combine: Any) -> Callable[..., Any]:
    def run(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _NOTHING, where: Any = _NOTHING
    ) -> Any:
        x = tensor(a)
        if _given(where, True) is not True:
            if _given(initial) is None:
                raise ValueError(
                    f"reduction operation '{combine.__name__}' does not have an identity, so to use a where mask one "
                    "has to specify 'initial'"
                )
            x = _masked(x, where, initial)
        if x.dtype.is_complex and _given(initial) is not None:
            return whole_call(name, False, x, axis=axis, keepdims=_flag(keepdims), initial=initial)
        if x.dtype.is_bool and axis != () and element_count(x.type.shape):
            return _reduce("any" if name == "max" else "all", x, axis, keepdims, out)
        if _given(initial) is None:
            return _reduce(name, x, axis, keepdims, out)
        rank = rank_of(x)  # the number takes part as one element more, so that nothing at all has an extreme
        axes = axes_of(axis, rank)
        shape = known_shape(x)
        if any(shape[a] == 0 for a in axes):
            left = tuple(1 if i in axes else d for i, d in enumerate(shape) if i not in axes or _flag(keepdims))
            found = apply("broadcast_to", tensor(initial, x.dtype.numpy), shape=left)
        else:
            found = cast(call_ufunc(combine, _reduce(name, x, axis, keepdims, None), initial), x.dtype)
        return found if out is None else write_into(out, found)

    return run


computes("max", "amax")(_extreme("max", np.maximum))
computes("min", "amin")(_extreme("min", np.minimum))


def _quantifier(name: str) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = _NOTHING) -> Any:
        x = tensor(a, bool)
        if _given(where, True) is not True:
            x = _masked(x, where, name == "all")
        return _reduce(name, x, axis, keepdims, out)

    return run


computes("any")(_quantifier("any"))
computes("all")(_quantifier("all"))


def _spread(name: str) -> Callable[..., Any]:
    def run(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = _NOTHING, mean: Any = _NOTHING, correction: Any = _NOTHING,
    ) -> Any:  # fmt: skip
        without(mean=_given(mean))
        ddof = _given(correction, ddof)
        x = tensor(a) if dtype is None else tensor(a, dtype)
        if type(ddof) not in (int, float):
            refuse("is given ddof that only the running graph knows")
        if _given(where, True) is not True:
            return whole_call(name, False, x, axis=axis, ddof=ddof, keepdims=_flag(keepdims), where=where)
        return _reduce(name, x, axis, keepdims, out, **({"ddof": ddof} if ddof else {}))

    return run


computes("std")(_spread("std"))
computes("var")(_spread("var"))


def _position(name: str) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x = tensor(a)
        return _reduce(name, x, axis if axis is None else integer(axis), keepdims, out)

    return run


computes("argmax")(_position("argmax"))
computes("argmin")(_position("argmin"))


@computes("ptp")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    x = tensor(a)
    ends = [_reduce(name, x, axis, keepdims, None) for name in ("max", "min")]
    found = call_ufunc(np.subtract, *ends)
    return found if out is None else write_into(out, found)


@computes("count_nonzero")
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return _reduce("sum", tensor(a, bool), axis, keepdims, None)


@computes("median")
def _median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    x = tensor(a)
    axes = axes_of(axis, rank_of(x))
    if len(axes) == rank_of(x) and rank_of(x) != 1:
        line, at = apply("reshape", x, shape=(-1,)), 0
    elif len(axes) == 1:
        line, at = x, axes[0]
    else:
        refuse("is given several axes")
    count = size_of(line, (at,))
    if not isinstance(count, int) or not count or x.dtype.is_bool:
        return whole_call("median", False, x, axis=axis, keepdims=_flag(keepdims))
    ordered = apply("sort", line, axis=at)
    middle = apply("gather", ordered, np.arange((count - 1) // 2, count // 2 + 1), axis=at)
    found = apply("numpy_mean", middle, axis=at)
    if x.dtype.is_floating or x.dtype.is_complex:  # nans are at the end
        last = apply("gather", ordered, np.array(count - 1), axis=at)
        found = apply("select", apply("is_nan", last), last, found)
    if _flag(keepdims):
        found = apply("reshape", found, shape=tuple(1 if i in axes else d for i, d in enumerate(known_shape(x))))
    return found if out is None else write_into(out, found)


@computes("average")
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    x = tensor(a)
    if weights is None:
        found = _reduce("mean", x, axis, keepdims, None)
        if element_count(found.type.shape) == 0:
            raise ZeroDivisionError("division by zero")
        count = call_ufunc(np.true_divide, size_of(x, axes_of(axis, rank_of(x))), 1)
        scale = apply("add", apply("zeros_like", found), cast(tensor(count), found.dtype))
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
        wanted = np.result_type(x.dtype.numpy, by.dtype.numpy, *(["f8"] if integers else []))  # type: ignore[arg-type]
        x, by = cast(x, wanted), cast(by, wanted)
        by = apply("broadcast_to_shape_of", by, x)
        scale = _reduce("sum", by, axis, keepdims, None)
        found = apply("divide", _reduce("sum", apply("multiply", x, by), axis, keepdims, None), scale)
    return (found, scale) if returned else found


# ---- so far along an axis


def _scan(name: str) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        x = tensor(a)
        at = None if axis is None else axis_of(axis, max(rank_of(x), 1))
        if x.type.shape == ():
            x = apply("reshape", x, shape=(1,))
        wanted = None if dtype is None else as_dtype(numpy_dtype(dtype))
        found = apply(f"numpy_{name}", x, axis=at, dtype=wanted)
        return found if out is None else write_into(out, found)

    return run


computes("cumsum")(_scan("cumsum"))
computes("cumprod")(_scan("cumprod"))


def _cumulative(name: str) -> Callable[..., Any]:
    def run(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
        x = tensor(x)
        if axis is None:
            if rank_of(x) > 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            axis = 0
        found = _scan(name)(x, axis, dtype)
        if include_initial:
            at = axis_of(axis, rank_of(found))
            shape = tuple(1 if i == at else d for i, d in enumerate(known_shape(found)))
            first = apply("fill", tensor(0 if name == "cumsum" else 1, found.dtype), shape=shape)
            found = apply("concat", first, found, axis=at)
        return found if out is None else write_into(out, found)

    return run


computes("cumulative_sum")(_cumulative("cumsum"))
computes("cumulative_prod")(_cumulative("cumprod"))


# ---- passing over nans


def _without_nans(a: Any, neutral: Any) -> tuple[Tensor, Tensor | None]:
    """The array with another number for its nans, and which elements are none."""
    x = tensor(a)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x, None
    present = apply("logical_not", apply("is_nan", x))
    return _masked(x, present, neutral), present


def _nan_total(name: str, neutral: int) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **other: Any) -> Any:
        without(**{key: _given(value) for key, value in other.items()})
        return _total(name, neutral, None)(_without_nans(a, neutral)[0], axis, dtype, out, keepdims)

    return run


computes("nansum")(_nan_total("sum", 0))
computes("nanprod")(_nan_total("prod", 1))


@computes("nanmean")
def _nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **other: Any) -> Any:
    without(dtype=dtype, **{key: _given(value) for key, value in other.items()})
    x, present = _without_nans(a, 0)
    if present is None:
        return _reduce("mean", x, axis, keepdims, out)
    total = _reduce("sum", x, axis, keepdims, None)
    found = apply("divide", total, cast(_reduce("sum", present, axis, keepdims, None), total.dtype))
    return found if out is None else write_into(out, found)


def _nan_extreme(name: str, worst: float) -> Callable[..., Any]:
    def run(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **other: Any) -> Any:
        without(**{key: _given(value) for key, value in other.items()})
        x, present = _without_nans(a, worst)
        found = _reduce(name, x, axis, keepdims, None)
        if present is not None:
            some = _reduce("any", present, axis, keepdims, None)
            found = apply("select", some, found, tensor(np.nan, found.dtype.numpy))
        return found if out is None else write_into(out, found)

    return run


computes("nanmax")(_nan_extreme("max", -np.inf))
computes("nanmin")(_nan_extreme("min", np.inf))


@computes("diff")
def _diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = _NOTHING, append: Any = _NOTHING) -> Any:
    x = tensor(a)
    count = integer(n)
    if count == 0:
        return x
    if count < 0:
        raise ValueError("order must be non-negative but got " + repr(count))
    if rank_of(x) == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    at = axis_of(axis, rank_of(x))
    for value, first in ((prepend, True), (append, False)):
        if _given(value) is None:
            continue
        part = tensor(value)
        if rank_of(part) == 0:
            shape = tuple(1 if i == at else d for i, d in enumerate(known_shape(x)))
            part = apply("broadcast_to", part, shape=shape)
        wanted = common_dtype(x, part)
        parts = [cast(part, wanted), cast(x, wanted)]
        x = apply("concat", *(parts if first else parts[::-1]), axis=at)
    for _ in range(count):
        whole = (("slice", None, None, None),) * at
        later = apply("get_item", x, spec=(*whole, ("slice", 1, None, None)))
        earlier = apply("get_item", x, spec=(*whole, ("slice", None, -1, None)))
        x = call_ufunc(np.not_equal if x.dtype.is_bool else np.subtract, later, earlier)
    return x


@computes("trapezoid")
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = tensor(y)
    at = axis_of(axis, rank_of(y))
    if x is None:
        step = dx if not isinstance(dx, (list, tuple)) else tensor(dx)
    else:
        x = tensor(x)
        step = _diff(x, axis=at if rank_of(x) > 1 else -1)
        if rank_of(x) == 1:
            step = apply("reshape", step, shape=tuple(-1 if i == at else 1 for i in range(rank_of(y))))
    whole = (("slice", None, None, None),) * at
    later = apply("get_item", y, spec=(*whole, ("slice", 1, None, None)))
    earlier = apply("get_item", y, spec=(*whole, ("slice", None, -1, None)))
    heights = call_ufunc(np.multiply, step, call_ufunc(np.add, later, earlier))
    return _reduce("sum", call_ufunc(np.true_divide, heights, 2.0), at, False, None)


@computes("ediff1d")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    without(to_end=to_end, to_begin=to_begin)
    x = apply("reshape", tensor(ary), shape=(-1,))
    ends = [apply("get_item", x, spec=(("slice", *bounds, None),)) for bounds in ((1, None), (None, -1))]
    return call_ufunc(np.subtract, *ends)


by_kernel(
    "nanstd", "nanvar", "nanmedian", "nanargmax", "nanargmin", "nancumsum", "nancumprod", "percentile", "quantile",
    "nanpercentile", "nanquantile",
)  # fmt: skip
