"""Ops that permute the elements of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import TensorType
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import normalised_axes, normalised_axis

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])


def _transpose_type(x: TensorType, *, perm: tuple[int, ...] | None = None) -> TensorType:
    """Return the type with permuted sizes, by default reversed."""
    if x.shape is None:
        return x.with_shape(None if perm is None else (None,) * len(perm))
    if perm is None:
        return x.with_shape(x.shape[::-1])
    if len(perm) != len(x.shape):
        raise ValueError(
            f"transpose: perm {list(perm)} has to name each of the {len(x.shape)} dimensions once"
        )
    return x.with_shape(tuple(x.shape[i] for i in normalised_axes(perm, len(x.shape))))


def _transpose(x: Any, *, perm: tuple[int, ...] | None = None) -> Any:
    if perm is not None and len(perm) != np.ndim(x):
        raise InvalidArgumentError(
            f"transpose: perm {list(perm)} does not fit a tensor of {np.ndim(x)} dimensions"
        )
    return np.transpose(x, perm)


def _transpose_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    perm = attributes.get("perm")
    if perm is not None:
        axes = normalised_axes(perm, len(perm))
        perm = tuple(axes.index(i) for i in range(len(axes)))
    return (b.transpose(cotangents[0], perm=perm),)


def _matrix_transpose_type(x: TensorType) -> TensorType:
    if x.shape is None:
        return x
    if len(x.shape) < 2:
        raise ValueError(f"matrix_transpose takes tensors of 2 or more dimensions, found {x}")
    return x.with_shape((*x.shape[:-2], x.shape[-1], x.shape[-2]))


transpose = define(
    name="transpose", graphdef="Transpose", result=_transpose_type, kernel=_transpose,
    gradient=_transpose_gradient,
    samples=(sample(_X, perm=None), sample(_X[None], perm=(2, 0, 1))),
    view=True,
)  # fmt: skip
matrix_transpose = define(
    name="matrix_transpose", graphdef="Transpose", result=_matrix_transpose_type,
    kernel=lambda x: np.swapaxes(x, -1, -2),
    gradient=lambda b, inputs, results, cotangents, attributes: (b.matrix_transpose(cotangents[0]),),
    samples=(sample(_X), sample(_X[None])),
    view=True,
)  # fmt: skip


def _reverse_type(x: TensorType, *, axis: tuple[int, ...]) -> TensorType:
    if x.shape is not None:
        normalised_axes(axis, len(x.shape))
    return x


def _roll_type(
    x: TensorType, run_time_shifts: TensorType | None = None, *, shift: tuple[int, ...] | None = None,
    axis: tuple[int, ...],
) -> TensorType:  # fmt: skip
    """Return the type of `x`; `shift` is None if the operand `run_time_shifts` has the shifts."""
    if x.shape is not None:
        for shifted_axis in axis:
            normalised_axis(shifted_axis, len(x.shape))
    if run_time_shifts is None and (shift is None or len(shift) != len(axis)):
        raise ValueError(f"roll: there have to be as many shifts as axes, found {shift} and {axis}")
    return x


def _roll(x: Any, run_time_shifts: Any = None, *, shift: Any = None, axis: Any) -> Any:
    """Roll by the shifts of the operand or the attribute; their number has to be that of the axes."""
    amounts = shift if run_time_shifts is None else tuple(int(amount) for amount in np.atleast_1d(run_time_shifts))
    if len(amounts) != len(axis):
        raise InvalidArgumentError(
            f"roll: there have to be as many shifts as axes, found {amounts} and {axis}"
        )
    return np.roll(x, amounts, axis)


def _roll_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    axis = attributes["axis"]
    if len(inputs) > 1:
        # -s is ~s + 1, which overflows for no s.
        return b.roll(b.roll(cotangents[0], b.invert(inputs[1]), axis=axis), shift=(1,) * len(axis), axis=axis), None
    return (b.roll(cotangents[0], shift=tuple(-amount for amount in attributes["shift"]), axis=axis),)


reverse = define(
    name="reverse", graphdef="ReverseV2", result=_reverse_type, kernel=lambda x, *, axis: np.flip(x, axis),
    gradient=lambda b, inputs, results, cotangents, attributes: (b.reverse(cotangents[0], **attributes),),
    samples=(sample(_X, axis=(0,)), sample(_X, axis=(0, -1))),
    view=True,
)  # fmt: skip
roll = define(
    name="roll", graphdef="Roll", result=_roll_type, kernel=_roll, gradient=_roll_gradient,
    samples=(
        sample(_X, shift=(1, -2), axis=(0, 1)),
        sample(_X, np.array([4], np.int32), shift=None, axis=(1,)),
    ),
)  # fmt: skip
