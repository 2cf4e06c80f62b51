"""The extension `fft` of the Python array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.numpy.operands import numpy_dtype
from autoconv.numpy.standard import check_device, numpy_implementation, wrap_for_users
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, TensorLike
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.tensors.tensor import Tensor


def _function_along_axis(name: str) -> Callable[..., Any]:
    """Return the standard's transform along one axis, by its name."""
    def run(x: TensorLike, /, *, n: IntLike | None = None, axis: AxisLike = -1, norm: str = "backward") -> Tensor:
        return numpy_implementation(f"fft.{name}")(x, n, axis, norm)

    return give_name(run, name, f"`numpy.fft.{name}` along an axis; float32 and complex64 give complex64 or float32.")


def _function_over_axes(name: str) -> Callable[..., Any]:
    """Return the standard's transform over several axes, by its name."""
    def run(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Tensor:
        selected_axes = tuple(range(-len(s), 0)) if axes is None and s is not None else axes
        return numpy_implementation(f"fft.{name}")(x, s, selected_axes, norm)

    return give_name(run, name, f"`numpy.fft.{name}` along the axes; if only sizes `s` are given, along the last axes.")


fft, ifft, rfft, irfft, hfft, ihfft = map(_function_along_axis, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_function_over_axes, ("fftn", "ifftn", "rfftn", "irfftn"))


def fftfreq(n: IntLike, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of n samples with spacing d."""
    check_device(device)
    return numpy_implementation("astype")(
        numpy_implementation("fft.fftfreq")(n, d), numpy_dtype(float if dtype is None else dtype)
    )


def rfftfreq(n: IntLike, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of n real samples with spacing d."""
    check_device(device)
    return numpy_implementation("astype")(
        numpy_implementation("fft.rfftfreq")(n, d), numpy_dtype(float if dtype is None else dtype)
    )


def fftshift(x: TensorLike, /, *, axes: AxisLike | None = None) -> Tensor:
    """Move the zero frequency to the middle."""
    return numpy_implementation("fft.fftshift")(x, axes)


def ifftshift(x: TensorLike, /, *, axes: AxisLike | None = None) -> Tensor:
    """Move the zero frequency from the middle back to the front."""
    return numpy_implementation("fft.ifftshift")(x, axes)


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

globals().update({name: wrap_for_users(globals()[name], f"fft.{name}") for name in __all__})
