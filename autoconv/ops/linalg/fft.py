"""Discrete Fourier transforms.

`norm` is NumPy's: it names the direction that is scaled by 1/n, "backward" (the inverse) or "forward"; "ortho" scales
both by 1/√n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, complex64, complex128, float32, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.gradients import dtype_of
from autoconv.ops.index_spec import INPUT, At, Rest, Slice
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import normalised_axes

_COMPLEX = np.array([[0.5 - 1j, -1.25 + 0.5j, 2.0], [3.5j, -0.75, 1.5 + 2j]])
_REAL = np.array([[0.5, -1.25, 2.0, 0.25], [3.5, -0.75, 1.5, -2.0]])
_OPPOSITE_NORM = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_COMPLEX_DTYPE_BY_REAL = {"float32": complex64, "float64": complex128}
_REAL_DTYPE_BY_COMPLEX = {"complex64": float32, "complex128": float64}


def _complex_type(x: TensorType, *, axes: tuple[int, ...] = (-1,), norm: str = "backward") -> TensorType:
    if not x.dtype.is_complex:
        raise TypeError(f"fft takes complex tensors, found {x.dtype.name}; cast first, or use rfft")
    if x.shape is not None:
        normalised_axes(axes, len(x.shape))
    return x


def _result_dtype(x: TensorType, result_dtypes: dict[str, DType], op: str) -> DType:
    """Return the dtype of the result by that of x; raises TypeError if the table lacks it, ValueError for a scalar."""
    if x.dtype.name not in result_dtypes:
        raise TypeError(f"{op} takes tensors of {' or '.join(result_dtypes)}, found {x.dtype.name}")
    if x.shape is not None and not x.shape:
        raise ValueError(f"{op} takes tensors of one or more dimensions, found a scalar")
    return result_dtypes[x.dtype.name]


def _rfft_type(x: TensorType, *, norm: str = "backward") -> TensorType:
    dtype = _result_dtype(x, _COMPLEX_DTYPE_BY_REAL, "rfft")
    if x.shape is None:
        return TensorType(dtype, None)
    size = x.shape[-1]
    return TensorType(dtype, (*x.shape[:-1], size // 2 + 1 if isinstance(size, int) else None))


def _irfft_type(x: TensorType, *, length: int | None = None, norm: str = "backward") -> TensorType:
    """Return the type: `length` numbers along the last axis, by default 2 · (size - 1), open if the size is."""
    dtype = _result_dtype(x, _REAL_DTYPE_BY_COMPLEX, "irfft")
    if x.shape is None:
        return TensorType(dtype, None)
    size = x.shape[-1]
    if length is None and isinstance(size, int):
        length = 2 * (size - 1)
    return TensorType(dtype, (*x.shape[:-1], length))


def _complex_kernel(function: Any) -> Any:
    """Return the kernel that calls NumPy's complex transform `function`, and keeps the operand's dtype."""
    def run(x: Any, *, axes: tuple[int, ...] = (-1,), norm: str = "backward") -> Any:
        _check_not_empty(x, axes)
        return function(x, axes=axes, norm=norm).astype(np.asarray(x).dtype, copy=False)

    return run


def _check_not_empty(x: Any, axes: tuple[int, ...] = (-1,)) -> None:
    """Raise InvalidArgumentError if one of the axes has no element."""
    if any(np.shape(x)[axis] == 0 for axis in axes):
        raise InvalidArgumentError(
            f"a Fourier transform needs at least one element, found the shape {list(np.shape(x))}"
        ).with_plain_error(_no_points_error(0))


def _no_points_error(count: int) -> ValueError:
    """Return NumPy's error for a transform of `count` elements."""
    return ValueError(f"Invalid number of FFT data points ({count}) specified.")


def _effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE if the operand, or the result of an inverse transform, may have no elements."""
    (x,) = types
    shape = x.shape if isinstance(x, TensorType) else None
    # By default, irfft of one frequency has 2 · (1 - 1) = 0 numbers. Testing all axes is conservative.
    min_size = 2 if "length" in attributes and attributes["length"] is None else 1
    is_long_enough = shape is not None and all(isinstance(size, int) and size >= min_size for size in shape)
    return Effects.PURE if is_long_enough else Effects.RAISE


def _rfft(x: Any, *, norm: str = "backward") -> Any:
    _check_not_empty(x)
    return np.fft.rfft(x, norm=norm).astype(_COMPLEX_DTYPE_BY_REAL[np.asarray(x).dtype.name].numpy, copy=False)  # type: ignore[arg-type]


def _irfft(x: Any, *, length: int | None = None, norm: str = "backward") -> Any:
    """Transform back to `length` numbers, by default 2 · (size - 1); raises InvalidArgumentError if these are none."""
    _check_not_empty(x)
    count = length if length is not None else 2 * (np.shape(x)[-1] - 1)
    if count < 1:
        error = InvalidArgumentError(f"irfft: the length of the result has to be 1 or more, found {count}")
        raise error.with_plain_error(_no_points_error(count))
    return np.fft.irfft(x, count, norm=norm).astype(_REAL_DTYPE_BY_COMPLEX[np.asarray(x).dtype.name].numpy, copy=False)  # type: ignore[arg-type]


def _gradient_by_transform(transform: str) -> Any:
    """Return the gradient rule that applies the op `transform` to the cotangent."""
    def gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        norm = _OPPOSITE_NORM[attributes.get("norm", "backward")]
        return (getattr(b, transform)(cotangents[0], axes=attributes.get("axes", (-1,)), norm=norm),)

    return gradient


_FIRST_ELEMENTS = (Rest(), Slice(None, INPUT, None))  # x[..., :count]


def _rfft_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Transform the cotangent back, with zeros in place of the half that `rfft` leaves out."""
    (x,), (cotangent,) = inputs, cotangents
    zeros = b.zeros_like(x, dtype=dtype_of(cotangent))
    count = b.dimension(cotangent, axis=-1, dtype=int64)
    spectrum = b.add_at_item(zeros, cotangent, count, spec=_FIRST_ELEMENTS)
    norm = _OPPOSITE_NORM[attributes.get("norm", "backward")]
    return (b.real(b.ifft(spectrum, axes=(-1,), norm=norm)),)


def _irfft_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the transform of the cotangent, multiplied by the number of times that each frequency counts."""
    (x,), (cotangent,) = inputs, cotangents
    length = attributes.get("length")
    spectrum = b.rfft(cotangent, norm=_OPPOSITE_NORM[attributes.get("norm", "backward")])
    # Each frequency counts twice, for its mirror image, except the first, and the middle one of an even length.
    one = b.constant(value=np.array(1, dtype_of(x).numpy))
    weights = b.add(b.ones_like(spectrum), b.ones_like(spectrum))
    weights = b.set_item(weights, one, spec=(Rest(), At(0)))
    if length is None or length % 2 == 0:
        weights = b.set_item(weights, one, spec=(Rest(), At(-1)))
    spectrum = b.multiply(spectrum, weights)
    if length is None:
        return (spectrum,)
    # The transform ignored frequencies that are beyond `length`, and took missing ones as zero.
    output_frequencies = length // 2 + 1
    operand_size = b.dimension(x, axis=-1, dtype=int64)
    # Both slices end at the size of their array, so that the smaller of the two counts applies.
    used_part = b.get_item(spectrum, operand_size, spec=_FIRST_ELEMENTS)
    return (b.add_at_item(b.zeros_like(x), used_part, spec=(Rest(), Slice(None, output_frequencies, None))),)


fft = define(
    name="fft", graphdef="FFT", result=_complex_type, kernel=_complex_kernel(np.fft.fftn),
    gradient=_gradient_by_transform("ifft"), effects=_effects,
    samples=(sample(_COMPLEX), sample(_COMPLEX, axes=(0, 1), norm="ortho")),
)  # fmt: skip
ifft = define(
    name="ifft", graphdef="IFFT", result=_complex_type, kernel=_complex_kernel(np.fft.ifftn),
    gradient=_gradient_by_transform("fft"), effects=_effects,
    samples=(sample(_COMPLEX), sample(_COMPLEX, axes=(0,), norm="forward")),
)  # fmt: skip
rfft = define(
    name="rfft", graphdef="RFFT", result=_rfft_type, kernel=_rfft, gradient=_rfft_gradient, effects=_effects,
    samples=(sample(_REAL), sample(_REAL[:, :3], norm="forward")),
)  # fmt: skip
irfft = define(
    name="irfft", graphdef="IRFFT", result=_irfft_type, kernel=_irfft, gradient=_irfft_gradient, effects=_effects,
    samples=(
        sample(_COMPLEX), sample(_COMPLEX, length=5),
        sample(_COMPLEX, length=3, norm="ortho"),
    ),
)  # fmt: skip
