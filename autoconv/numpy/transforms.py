"""Discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.numpy.kernels import register_kernels
from autoconv.numpy.operands import (
    axis_of,
    cast,
    computes,
    integer,
    rank_of,
    refuse,
    refuse_options,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
)
from autoconv.numpy.shapes import WHOLE, axis_tuple, roll
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.ops.index_spec import Gather, Slice
from autoconv.runtime.annotations import AxisLike, OutLike, TensorLike
from autoconv.runtime.arrays.array_checks import check_sizes
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _complex_tensor(a: TensorLike) -> Tensor:
    """Convert to complex numbers: float32 and float16 to complex64, other real numbers to complex128."""
    x = tensor(a)
    if x.dtype.is_complex:
        return x
    return cast(x, np.complex64 if x.dtype.numpy in (np.float32, np.float16) else np.complex128)


def _resize(x: Tensor, axis: int, n: object) -> Tensor:
    """Return the first n elements along the axis, padded with zeros if there are fewer."""
    if n is None:
        return x
    count, size = integer(n), sizes_of(x)[axis]
    check_sizes((n,))
    if count < 1:
        raise ValueError(f"Invalid number of FFT data points ({count}) specified.")
    if not isinstance(size, int):
        return _resize_at_run_time(x, axis, count, size)
    if count <= size:
        return apply("get_item", x, spec=(*(WHOLE,) * axis, Slice(None, count, None)))
    paddings = tuple((0, count - size if i == axis else 0) for i in range(rank_of(x)))
    return apply("pad", x, paddings=paddings)


def _resize_at_run_time(x: Tensor, axis: int, count: int, size: Any) -> Tensor:
    """Return the result of `_resize` for an axis whose size is known at run time only."""
    rerun_plain_unless(tensor(size, np.int64) > 0, "there are no elements to transform")
    positions = np.arange(count)
    last = tensor(size - 1, np.int64)
    index = apply("minimum", tensor(positions), last)
    elements = apply("get_item", x, index, spec=(*(WHOLE,) * axis, Gather()))
    shape = tuple(-1 if i == axis else 1 for i in range(rank_of(x)))
    is_inside = apply("reshape", apply("less_equal", tensor(positions), last), shape=shape)
    return apply("select", is_inside, elements, apply("zeros_like", elements))


def _check_norm(norm: str) -> str:
    """Return the name of the norm, "backward" for None; raise ValueError for an unknown name."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm or "backward"


def _transform_function(name: str) -> Callable[..., Any]:
    """Return NumPy's transform along one axis, by the name of the op."""
    def compute(
        a: TensorLike, n: Any = None, axis: AxisLike = -1, norm: Any = None, out: OutLike | None = None
    ) -> Tensor:
        refuse_options(out=out)
        x = _complex_tensor(a)
        axis_index = axis_of(axis, rank_of(x))
        return apply(name, _resize(x, axis_index, n), axes=(axis_index,), norm=_check_norm(norm))

    return compute


def _transform_over_axes(name: str, default_axes: Any) -> Callable[..., Any]:
    """Return NumPy's transform over several axes, by the name of the op."""
    def compute(a: Any, s: Any = None, axes: Any = default_axes, norm: Any = None, out: Any = None) -> Tensor:
        refuse_options(out=out)
        if not rank_of(tensor(a)):
            refuse("transforms an array without dimensions")
        x = _complex_tensor(a)
        axis_indices = tuple(axis_of(axis, rank_of(x)) for axis in _axes_to_transform(x, s, axes))
        if not axis_indices:
            refuse("transforms no axes, which gives the array itself")
        for axis_index, n in zip(axis_indices, s or (None,) * len(axis_indices), strict=True):
            x = _resize(x, axis_index, None if n == -1 else n)
        return apply(name, x, axes=axis_indices, norm=_check_norm(norm))

    return compute


for _name in ("fft", "ifft"):
    computes(f"fft.{_name}")(_transform_function(_name))
    computes(f"fft.{_name}2")(_transform_over_axes(_name, (-2, -1)))
    computes(f"fft.{_name}n")(_transform_over_axes(_name, default_axes=None))


def _move_axis_to_end(x: Tensor, axis: int) -> Tensor:
    """Return the array with an axis moved to the end."""
    order = [i for i in range(rank_of(x)) if i != axis] + [axis]
    return apply("transpose", x, perm=tuple(order)) if axis != rank_of(x) - 1 else x


def _move_last_axis_back(x: Tensor, axis: int) -> Tensor:
    """Return the array with the last axis moved to the position `axis`."""
    order = list(range(rank_of(x) - 1))
    order.insert(axis, rank_of(x) - 1)
    return apply("transpose", x, perm=tuple(order)) if axis != rank_of(x) - 1 else x


@computes("fft.rfft")
def rfft(a: TensorLike, n: Any = None, axis: AxisLike = -1, norm: Any = None, out: OutLike | None = None) -> Tensor:
    refuse_options(out=out)
    x = tensor(a)
    if x.dtype.is_complex:
        raise TypeError("ufunc 'rfft_n_even' did not contain a loop with signature matching complex elements")
    x = cast(x, np.float32 if x.dtype.numpy in (np.float32, np.float16) else np.float64)
    axis_index = axis_of(axis, rank_of(x))
    rows = _move_axis_to_end(_resize(x, axis_index, n), axis_index)
    return _move_last_axis_back(apply("rfft", rows, norm=_check_norm(norm)), axis_index)


@computes("fft.irfft")
def irfft(a: Any, n: object = None, axis: Any = -1, norm: Any = None, out: OutLike | None = None) -> Tensor:
    refuse_options(out=out)
    x = _complex_tensor(a)
    axis_index = axis_of(axis, rank_of(x))
    size = sizes_of(x)[axis_index]
    if not isinstance(size, int):
        smallest_size = tensor(2 if n is None else 1, np.int64)
        rerun_plain_unless(tensor(size, np.int64) >= smallest_size, "a transform has no elements")
    default_count = 2 * (size - 1) if isinstance(size, int) else None
    count = default_count if n is None else integer(n)
    check_sizes((n if n is not None else count,) if count is not None else ())
    if count is not None and count < 1:
        raise ValueError(f"Invalid number of FFT data points ({count}) specified.")
    x = _resize(x, axis_index, 1) if isinstance(size, int) and size == 0 else x
    rows = apply("irfft", _move_axis_to_end(x, axis_index), length=count, norm=_check_norm(norm))
    samples = _move_last_axis_back(rows, axis_index)
    return cast(samples, np.float16) if tensor(a).dtype.numpy == np.float16 else samples


def _axes_to_transform(x: Tensor, s: Any, axes: Any) -> tuple[Any, ...]:
    """Return the axes to transform: `axes` if given, else as many last axes as `s` has sizes, else all."""
    if s is not None and axes is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if axes is not None:
        return tuple(axes)
    return tuple(range(rank_of(x))) if s is None else tuple(range(-len(s), 0))


def _sizes_to_transform(x: Tensor, s: Any, axes: Sequence[Any]) -> list[Any]:
    """Return the sizes of a transform of real input; -1 means that the transform keeps the size.

    The last axis is transformed first and gets another size. If an earlier entry of `axes` names the same axis, its
    transform has the size of the input, as in NumPy.
    """
    sizes = [-1] * len(axes) if s is None else list(s)
    last_axis = axis_of(axes[-1], rank_of(x))
    for position, axis in enumerate(axes[:-1]):
        if sizes[position] == -1 and axis_of(axis, rank_of(x)) == last_axis:
            sizes[position] = require_known_shape(x)[last_axis]
    return sizes


def _real_transforms(default_axes: object) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the transform of real input over several axes, and its inverse."""
    def transform(a: object, s: Any = None, axes: Any = default_axes, norm: Any = None, out: object = None) -> Tensor:
        refuse_options(out=out)
        x = tensor(a)
        axis_indices = _axes_to_transform(x, s, axes)
        *leading_sizes, last_size = _sizes_to_transform(x, s, axis_indices)
        spectrum = rfft(x, None if last_size == -1 else last_size, axis_indices[-1], norm)
        if len(axis_indices) == 1:
            return spectrum
        return _transform_over_axes("fft", default_axes=None)(spectrum, tuple(leading_sizes), axis_indices[:-1], norm)

    def inverse(a: object, s: Any = None, axes: Any = default_axes, norm: Any = None, out: object = None) -> Tensor:
        refuse_options(out=out)
        x = tensor(a)
        axis_indices = _axes_to_transform(x, s, axes)
        sizes = tuple(s[:-1]) if s is not None else None
        last_size = None if s is None else s[-1]
        if last_size == -1:  # the size of the input
            last_size = require_known_shape(x)[axis_indices[-1]]
        if len(axis_indices) > 1:
            x = _transform_over_axes("ifft", default_axes=None)(x, s=sizes, axes=axis_indices[:-1], norm=norm)
        return irfft(x, last_size, axis_indices[-1], norm)

    return transform, inverse


for _ending, _default in (("2", (-2, -1)), ("n", None)):
    _forward, _inverse = _real_transforms(_default)
    computes(f"fft.rfft{_ending}")(_forward)
    computes(f"fft.irfft{_ending}")(_inverse)


def _shift_function(sign: int) -> Callable[..., Any]:
    """Return NumPy's `fftshift` for the sign 1, `ifftshift` for -1."""
    def compute(x: TensorLike, axes: AxisLike | None = None) -> Tensor:
        x_tensor = tensor(x)
        selected_axes = range(rank_of(x_tensor)) if axes is None else axis_tuple(axes)
        axis_indices = tuple(axis_of(axis, rank_of(x_tensor)) for axis in selected_axes)
        if not axis_indices:
            raise ValueError("not enough values to unpack (expected 2, got 0)")
        sizes = sizes_of(x_tensor)
        return roll(x_tensor, tuple(sign * (sizes[axis] // 2) for axis in axis_indices), axis_indices)

    return compute


computes("fft.fftshift")(_shift_function(1))
computes("fft.ifftshift")(_shift_function(-1))


@computes("fft.hfft")
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Tensor:
    opposite_norm = {"backward": "forward", "forward": "backward", "ortho": "ortho"}[_check_norm(norm)]
    samples = irfft(call_ufunc(np.conjugate, _complex_tensor(a)), n, axis, opposite_norm, out)
    return cast(samples, np.float16) if tensor(a).dtype.numpy == np.float16 else samples


register_kernels("fft.ihfft")
