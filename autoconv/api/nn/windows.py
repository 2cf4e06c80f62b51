"""Sliding windows over images: the padding, and the image elements under each element of the window.

Sizes known only at run time are symbolic numbers. Slices then end relative to the end of the image.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.tensors.shaping import stack
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, int64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Amount = Any  # the number of padding elements on one side: an int, or a scalar tensor of the graph
Padding = str | Sequence[Any]  # "VALID", "SAME", or (before, after) for each dimension
Part = tuple[tuple[int, ...], Tensor]  # the position in the window, and the image elements under it


class Windows:
    """Windows of `kernel_sides` elements along the sides of `image`: its dimensions but the first and the last.

    The elements are `dilations` apart, and windows move by `strides`. `padding` is "VALID", "SAME" (as much before as
    after, or one more after) or (before, after) for each dimension of the image. `window_counts` has the number of
    windows along each side, None if it is known only at run time. `reaches` has the distances from the first element
    of a window to its last. `label` names the windows in errors.

    Raises InvalidArgumentError if no window fits, at run time for unknown sizes; ValueError for another `padding`.
    """

    def __init__(
        self,
        image: Tensor,
        kernel_sides: Sequence[int],
        strides: Sequence[int],
        dilations: Sequence[int],
        padding: Padding,
        label: str,
    ) -> None:
        shape = image.type.shape
        assert shape is not None
        self._image = image
        self._kernel_sides, self._strides, self._dilations = kernel_sides, strides, dilations
        self.reaches = [(side - 1) * dilation for side, dilation in zip(kernel_sides, dilations, strict=True)]
        self._extents = [reach + 1 for reach in self.reaches]
        sides = [side if isinstance(side, int) else None for side in shape[1:-1]]
        self.padding = self._padding_of_sides(padding, sides)
        self.window_counts: list[int | None] = [
            None if side is None else (side + sum(side_padding) - extent) // step + 1
            for side, side_padding, extent, step in zip(sides, self.padding, self._extents, self._strides, strict=True)
        ]
        error_text = f"{label} that reach over {self._extents} do not fit into an image"
        if any(count is not None and count < 1 for count in self.window_counts):
            raise InvalidArgumentError(f"{error_text} of {sides}")
        self._check_dynamic_sides(error_text, padding == "SAME")

    def _check_dynamic_sides(self, error_text: str, any_side_fits: bool) -> None:
        """Assert that a window fits along each side of unknown size; with "SAME" padding any side from 1 on fits."""
        dimensions = zip(self.window_counts, self.padding, self._extents, strict=True)
        for i, (window_count, side_padding, extent) in enumerate(dimensions):
            min_side = 1 if any_side_fits else extent - sum(side_padding)
            if window_count is None and min_side > 0:
                dynamic_side = self._dynamic_side(i)
                is_long_enough = apply("greater_equal", dynamic_side, min_side)
                message = f"{error_text} with a side of"
                apply("assert_true", is_long_enough, dynamic_side, message=message, failure="check")

    def _dynamic_side(self, i: int) -> Tensor:
        """Return the size of the image's side `i`, which is known at run time."""
        return apply("dimension", self._image, axis=i + 1, dtype=int64)

    def _padding_of_sides(self, padding: Padding, sides: Sequence[int | None]) -> list[tuple[Amount, Amount]]:
        """Return the numbers of padding elements (before, after) along each side."""
        if padding == "VALID":
            return [(0, 0)] * len(sides)
        if padding == "SAME":
            return [self._same_padding(i, side) for i, side in enumerate(sides)]
        if isinstance(padding, (list, tuple)) and len(padding) == len(sides) + 2:
            return [(int(before), int(after)) for before, after in padding[1:-1]]
        raise InvalidArgumentError(f"`padding` must be 'VALID', 'SAME' or a pair for each dimension, found {padding!r}")

    def _same_padding(self, i: int, side: int | None) -> tuple[Amount, Amount]:
        """Return (before, after), the padding with which there are ceil(side / step) windows along side `i`."""
        extent, step = self._extents[i], self._strides[i]
        padding_count: Amount
        if side is not None:
            padding_count = max((-(-side // step) - 1) * step + extent - side, 0)
        elif step == 1 or extent == 1:
            padding_count = extent - 1
        else:
            dynamic_side = self._dynamic_side(i)
            excess = (dynamic_side + (step - 1)) // step * step - dynamic_side  # up to the next multiple of the step
            if extent >= step:
                padding_count = excess + (extent - step)
            else:  # max(excess + extent - step, 0) as a sum, from which the ranges of computed sizes are derived
                padding_count = sum((excess + (step - j)) // step for j in range(step - extent + 1, step))
        before = padding_count // 2
        return before, padding_count - before

    def elements_by_position(self, filler: TensorLike) -> list[Part]:
        """Return for each element of the window, in order, its position and the image elements under it.

        The image elements are [batch, *window_counts, channels]. The padding is `filler`.
        """
        image = _pad(self._image, self.padding, filler)
        result = []
        for position in itertools.product(*map(range, self._kernel_sides)):
            slices = [slice(None), *(self._slice(i, start) for i, start in enumerate(position))]
            result.append((position, get_item(image, tuple(slices))))
        return result

    def _slice(self, axis: int, element: int) -> slice:
        """Return the slice along side `axis` of the padded image that lies under this element of all windows."""
        start, window_count, step = element * self._dilations[axis], self.window_counts[axis], self._strides[axis]
        if window_count is not None:
            return slice(start, start + (window_count - 1) * step + 1, step)
        elements_after = self._extents[axis] - 1 - start
        return slice(start, -elements_after if elements_after else None, step)


FORMATS_BY_RANK = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def as_image(value: TensorLike, rank: int) -> Tensor:
    """Return the value as a tensor; where its rank is not known, the rank is checked at run time."""
    x = convert_to_tensor(value)
    return apply("ensure_shape", x, shape=(None,) * rank) if x.type.shape is None else x


def has_channels_first(rank: int, data_format: str | None) -> bool:
    """Return whether channels come before the sides; raises ValueError as `check_format`."""
    check_format(rank, data_format)
    return data_format == FORMATS_BY_RANK[rank][1]


def check_format(rank: int, data_format: str | None) -> None:
    """Raise ValueError unless the rank is 3 to 5 and the format None or one of this rank."""
    formats = FORMATS_BY_RANK.get(rank)
    if formats is None:
        raise ValueError(f"an input and filters of 3 to 5 dimensions were expected, found {rank}")
    if data_format not in (None, *formats):
        raise ValueError(f"`data_format` must be {formats[0]!r} or {formats[1]!r}, found {data_format!r}")


def padding_of_channels_last(padding: Any, rank: int, is_channels_first: bool) -> Any:
    """Return the padding in the order of an image whose channels come last; a name such as "SAME" fits any order."""
    if isinstance(padding, str) or not is_channels_first:
        return padding
    return [padding[axis] for axis in (0, *range(2, rank), 1)]


def per_side(parameter: str, value: Any, count: int, is_channels_first: bool) -> tuple[int, ...]:
    """Return a number for each of `count` sides, given one for all, one for each, or one for each image dimension.

    None is 1 for all. `parameter` is the parameter's name in errors; raises ValueError for numbers below 1.
    Fractions of floats are dropped, as TensorFlow does with attributes of ops.
    """
    numbers = [1] if value is None else [int(number) for number in np.atleast_1d(value)]
    if len(numbers) == count + 2:
        numbers = numbers[2:] if is_channels_first else numbers[1:-1]
    if len(numbers) not in (1, count) or min(numbers) < 1:
        counts_text = {1: "one or three", 2: "one, two or four"}.get(count, f"one, {count} or {count + 2}")
        raise ValueError(f"`{parameter}` must be {counts_text} numbers from 1 on, found {value!r}")
    return tuple(numbers * count if len(numbers) == 1 else numbers)


def lowest_number(dtype: DType) -> float:
    """Return the lowest number of a dtype, the neutral element of maxima: -inf for floats."""
    return -np.inf if dtype.is_floating else int(np.iinfo(dtype.numpy).min)


def _pad(image: Tensor, padding: Sequence[tuple[Amount, Amount]], filler: TensorLike) -> Tensor:
    """Return the image with its sides padded by `filler`."""
    pairs = [(0, 0), *padding, (0, 0)]
    amounts = [amount for pair in pairs for amount in pair]
    if not any(isinstance(amount, Tensor) or amount for amount in amounts):
        return image
    static_amounts = tuple(tuple(None if isinstance(amount, Tensor) else amount for amount in pair) for pair in pairs)
    dynamic_amounts = [stack(amounts)] if any(isinstance(amount, Tensor) for amount in amounts) else []
    return apply("pad", image, *dynamic_amounts, paddings=static_amounts, mode="CONSTANT", constant_values=filler)
