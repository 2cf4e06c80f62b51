"""Correlations of images with filters, and their two adjoints, which are the gradients of convolutions.

With windows of a kernel at every `stride`-th position, elements `dilation` apart, after `before` elements of padding:

    convolve(image, filters)[o]          sum over k of  image[o * stride + k * dilation - before] filters[k]
    image_cotangent(result, filters)[p]  sum over o, k of  result[o] filters[k]  where the position above is p
    filter_cotangent(image, result)[k]   sum over o of  image[o * stride + k * dilation - before] result[o]

The gradients of each are the other two. The gradients of the ops themselves would keep all patches of the image for
the backward pass. They would also sum the patches of the cotangent, with a pass over the image for each kernel element.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.api.gradients.custom import custom_gradient
from autoconv.api.nn.windows import Part, Windows
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.shaping import concat, pad, reshape, reverse, shape, stack, transpose
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tape_recorders import active_recorders
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

# (parts, filters) -> the sum of the products of the parts with the filters at their positions.
Multiplication = Callable[[Sequence[Part], Tensor], Tensor]


def needs_gradient(tensor: Tensor) -> bool:
    """Return whether gradients may be taken: outside of traces and tapes there is none to define."""
    return (current_region() is not None or bool(active_recorders())) and tensor.dtype.is_floating


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """A correlation of images with filters, given by its geometry along each side.

    Image sides may be None if all strides are 1 and no padding exceeds the reach of the kernel.
    With a `multiplier` above 0, each channel has so many filters of its own, of shape
    [sides, 1, channels * multiplier].
    """

    kernel_sides: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[tuple[int, int]]
    image_sides: Sequence[int | None]
    multiplier: int = 0

    def convolve_with_gradient(self, image: Tensor, filters: Tensor) -> Any:
        """Return the convolution, with gradients that are its adjoints."""

        def convolve(image: Tensor, filters: Tensor) -> Any:
            def vjp(cotangent: Tensor) -> tuple[Tensor, Tensor]:
                return self._image_cotangent(cotangent, filters), self._filter_cotangent(image, cotangent)

            return self._convolve(image, filters), vjp

        return custom_gradient(convolve)(image, filters)

    def transpose_with_gradient(self, result: Tensor, filters: Tensor) -> Any:
        """Return the image's cotangent for a result, with gradients that are a convolution and its adjoint."""

        def transposed(result: Tensor, filters: Tensor) -> Any:
            def vjp(cotangent: Tensor) -> tuple[Tensor, Tensor]:
                return self._convolve(cotangent, filters), self._filter_cotangent(cotangent, result)

            return self._image_cotangent(result, filters), vjp

        return custom_gradient(transposed)(result, filters)

    def _parts(self, image: Tensor) -> list[Part]:
        """Return the image elements under each element of the windows."""
        padding = [(0, 0), *self.padding, (0, 0)]
        windows = Windows(image, self.kernel_sides, self.strides, self.dilations, padding, "filters")
        return windows.elements_by_position(0)

    def _convolve(self, image: Tensor, filters: Tensor) -> Tensor:
        if self.multiplier:
            return convolve_depthwise(self._parts(image), filters, self.multiplier)
        return multiply_patches(self._parts(image), filters)

    def _image_cotangent(self, cotangent: Tensor, filters: Tensor) -> Tensor:
        # Gradients of this one are those of its ops: it is not recorded with gradients of its own.
        if not self.multiplier:
            return self.image_cotangent(cotangent, filters, multiply_patches)
        total: Any = None
        for index in range(self.multiplier):
            one_filter = (..., slice(index, None, self.multiplier))
            operands = get_item(cotangent, one_filter), get_item(filters, one_filter)
            term = self.image_cotangent(*operands, lambda parts, filters: convolve_depthwise(parts, filters, 1))
            total = term if total is None else apply("add", total, term)
        return total

    def _filter_cotangent(self, image: Tensor, cotangent: Tensor) -> Tensor:
        # In the order of `_convolve`, the patches would be common with it, and kept from the forward pass on.
        parts = [part for _, part in self._parts(image)][::-1]
        channels, filter_count = image.type.shape[-1], cotangent.type.shape[-1]  # type: ignore[index]
        if self.multiplier:
            return self._depthwise_filter_cotangent(parts, cotangent)
        rows = reshape(concat(parts, -1), [-1, len(parts) * channels])  # type: ignore[operator]
        sums = apply("matmul", rows, reshape(cotangent, [-1, filter_count]), transpose_a=True)
        ordered_sums = reverse(reshape(sums, [len(parts), channels, filter_count]), [0])
        return reshape(ordered_sums, [*self.kernel_sides, channels, filter_count])

    def _depthwise_filter_cotangent(self, parts: Sequence[Tensor], cotangent: Tensor) -> Tensor:
        """Return the filter's cotangent from the parts, last position first, where each channel has its filters."""
        axes = tuple(range(len(self.kernel_sides) + 1))
        filter_cotangents = [
            get_item(cotangent, (..., slice(index, None, self.multiplier))) for index in range(self.multiplier)
        ]
        sums = [
            apply("reduce_sum", apply("multiply", part, filter_cotangent), axis=axes, keepdims=False)
            for part in parts[::-1]
            for filter_cotangent in filter_cotangents
        ]
        sums_by_position = reshape(stack(sums), [*self.kernel_sides, 1, self.multiplier, -1])
        rank = len(self.kernel_sides)
        order = [*range(rank + 1), rank + 2, rank + 1]
        return reshape(transpose(sums_by_position, order), [*self.kernel_sides, 1, cotangent.type.shape[-1]])  # type: ignore[index]

    def image_cotangent(self, cotangent: Tensor, filters: Tensor, multiply: Multiplication) -> Tensor:
        """Return the sums of the elements of `cotangent` times the filters, at the positions of the image.

        The positions along a side with one remainder modulo the stride are a phase; `phase_lengths` are the numbers of
        positions. The elements of a phase are a convolution of the cotangent with some elements of the reversed
        kernel. At the end, the phases are interleaved.
        """
        side_count = len(self.kernel_sides)
        sides: Sequence[Any] = cotangent.type.shape[1:-1]  # type: ignore[index]
        kernel = reverse(filters, [*range(side_count)])
        if not self.multiplier:
            kernel = transpose(kernel, [*range(side_count), side_count + 1, side_count])
        phase_lengths: list[Any] = [
            None if side is None else -(-side // stride)
            for side, stride in zip(self.image_sides, self.strides, strict=True)
        ]
        phases_by_side = [self._phases(axis) for axis in range(side_count)]
        paddings, reaches = self._padding_of_cotangent(phases_by_side, phase_lengths, sides)
        padded_cotangent = pad(cotangent, [(0, 0), *paddings, (0, 0)])
        befores = [before for before, _ in paddings]

        def compute_phase(phases: Sequence[_Phase]) -> Tensor:
            elements_by_side = [[*enumerate(phase.positions)] for phase in phases]
            if not all(elements_by_side):
                batch = get_item(shape(cotangent), slice(0, 1))
                sizes = [*phase_lengths, kernel.type.shape[-1]]  # type: ignore[index]
                return zeros(concat([batch, sizes], 0), cotangent.dtype)
            parts = []
            for elements in itertools.product(*elements_by_side):
                first_elements = [before + position for before, (_, position) in zip(befores, elements, strict=True)]
                slices = [
                    slice(first, first - reach or None) if length is None else slice(first, first + length)
                    for first, reach, length in zip(first_elements, reaches, phase_lengths, strict=True)
                ]
                part = get_item(padded_cotangent, (slice(None), *slices))
                parts.append((tuple(position for position, _ in elements), part))
            return multiply(parts, get_item(kernel, tuple(phase.kernel_slice for phase in phases)))

        results = [compute_phase(phases) for phases in itertools.product(*phases_by_side)]
        if len(results) == 1:
            return results[0]
        batch, *_, channels = results[0].type.shape  # type: ignore[misc]
        batch = batch if isinstance(batch, int) else -1
        stacked = reshape(stack(results, 1), [batch, *self.strides, *phase_lengths, channels])
        order = [axis for i in range(1, side_count + 1) for axis in (i + side_count, i)]
        interleaved = transpose(stacked, [0, *order, 2 * side_count + 1])
        sizes = [length * stride for length, stride in zip(phase_lengths, self.strides, strict=True)]
        joined = reshape(interleaved, [batch, *sizes, channels])
        return get_item(joined, (slice(None), *(slice(0, side) for side in self.image_sides)))

    def _padding_of_cotangent(
        self, phases_by_side: Sequence[Sequence[_Phase]], phase_lengths: Sequence[int | None], sides: Sequence[Any]
    ) -> tuple[list[tuple[int, int]], list[int]]:
        """Return for each of the cotangent's sides its padding, and its reach.

        The reach is the distance between the lowest and the highest element that the first positions of phases read.
        """
        paddings, reaches = [], []
        for phases, length, side, (_, after) in zip(phases_by_side, phase_lengths, sides, self.padding, strict=True):
            positions = [position for phase in phases for position in phase.positions] or [0]
            reaches.append(max(positions) - min(positions))
            elements_after = reaches[-1] - after if length is None else max(positions) + length - side
            paddings.append((max(-min(positions), 0), max(elements_after, 0)))
        return paddings, reaches

    def _phases(self, axis: int) -> list[_Phase]:
        """Return the phases of a side.

        The position `p` of a phase meets the kernel's elements `k` for which `p + before - k * dilation` is a multiple
        of the stride.
        """
        stride, dilation, kernel_side = self.strides[axis], self.dilations[axis], self.kernel_sides[axis]
        result = []
        for position in range(self.padding[axis][0], self.padding[axis][0] + stride):
            elements = [k for k in range(kernel_side) if (position - k * dilation) % stride == 0][::-1]
            first = kernel_side - 1 - elements[0] if elements else kernel_side
            kernel_slice = slice(first, None, stride // math.gcd(stride, dilation))
            result.append(_Phase(kernel_slice, [(position - k * dilation) // stride for k in elements]))
        return result


class _Phase(NamedTuple):
    """The elements of the reversed kernel that a phase meets.

    For the first position of the phase, `positions` has the position in the cotangent under each of these elements.
    """

    kernel_slice: slice
    positions: list[int]


def multiply_patches(parts: Sequence[Part], filters: Tensor) -> Tensor:
    """Return the sum of the products of the parts with the filters at their positions, by one product."""
    rows = reshape(filters, [-1, filters.type.shape[-1]])  # type: ignore[index]
    return apply("matmul", concat([part for _, part in parts], -1), rows)


def convolve_depthwise(parts: Sequence[Part], filters: Tensor, multiplier: int) -> Tensor:
    """Return the convolution in which each channel has `multiplier` filters of its own (depthwise).

    The elementwise products are computed for one filter of each channel at a time.
    """
    totals = []
    for index in range(multiplier):
        total: Any = None
        for position, part in parts:
            product = apply("multiply", part, get_item(filters, (*position, 0, slice(index, None, multiplier))))
            total = product if total is None else apply("add", total, product)
        totals.append(total)
    if multiplier == 1:
        return totals[0]
    channels = filters.type.shape[-1] // multiplier  # type: ignore[index,operator]
    order = np.arange(multiplier * channels).reshape(multiplier, channels).T.ravel()
    return apply("gather", concat(totals, -1), convert_to_tensor(order), axis=-1)
