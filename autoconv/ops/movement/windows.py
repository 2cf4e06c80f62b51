"""The op `sliding_windows`: each window along axes of an array; positions in a window are new axes at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dimensions import plus
from autoconv.graph.types import Dimension, TensorType
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import normalised_axis

_X = np.array([[0.5, -1.25, 2.0, 1.0], [3.5, 0.75, 1.5, -2.0], [1.0, 2.0, -3.0, 4.0]])


def _windows_type(x: TensorType, *, axes: tuple[int, ...], lengths: tuple[int, ...]) -> TensorType:
    """Return the type: each axis counts the positions of its window, whose elements are a new dimension at the end."""
    if len(axes) != len(lengths):
        raise ValueError(f"sliding_windows: there have to be as many lengths as axes, found {lengths} and {axes}")
    if x.shape is None:
        return x
    shape: list[Dimension] = list(x.shape)
    for axis, length in zip(axes, lengths, strict=True):
        position = normalised_axis(axis, len(shape))
        shape[position] = plus(shape[position], 1 - length)
        if isinstance(shape[position], int) and (length < 0 or shape[position] < 1):  # type: ignore[operator]
            raise ValueError(f"sliding_windows: no window of {length} elements fits into {x}")
    return x.with_shape((*shape, *lengths))


def _kernel(x: Any, *, axes: tuple[int, ...], lengths: tuple[int, ...]) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, lengths, axes)


def _gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Sum the cotangents of each element over the windows that contain it.

    Element i of an axis is element k of window i - k. Windows over the padded cotangent, along the axis of windows,
    have the cotangents of one element on their antidiagonals.
    """
    (cotangent,), axes, lengths = cotangents, attributes["axes"], attributes["lengths"]
    rank = len(inputs[0].type.shape)
    for position in reversed(range(len(axes))):
        axis, length = axes[position] % rank, lengths[position]
        paddings = tuple((length - 1, length - 1) if i == axis else (0, 0) for i in range(rank + position + 1))
        padded_cotangent = b.pad(cotangent, paddings=paddings, mode="CONSTANT", constant_values=0)
        windows = b.sliding_windows(padded_cotangent, axes=(axis,), lengths=(length,))
        antidiagonals = b.diag_part(b.reverse(windows, axis=(rank + position + 1,)), offset=0)
        cotangent = b.reduce_sum(antidiagonals, axis=(rank + position,), keepdims=False)
    return (cotangent,)


sliding_windows = define(
    name="sliding_windows", graphdef="SlidingWindows", result=_windows_type, kernel=_kernel, gradient=_gradient,
    samples=(
        sample(_X, axes=(1,), lengths=(3,)), sample(_X, axes=(0, 1), lengths=(2, 2)),
        sample(_X, axes=(-1, 1), lengths=(2, 3)), sample(_X, axes=(), lengths=()),
    ),
    view=True,
)  # fmt: skip
