"""Sizes, shapes, and parts of arrays, in ONNX. Open sizes are int64 terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.onnx.elements import ElementWriter
from autoconv.backends.portable.terms import ListTerm, Term, padded_shape, static_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType, int64

# Stops of slices: of one that goes backwards to the first element, and of one that goes forwards to the last element.
_BEFORE_FIRST, _AFTER_LAST = -(2**63) + 1, 2**63 - 1


class ShapeWriter(ElementWriter):
    """A writer of the operations that compute sizes and move elements."""

    def size(self, x: Term, axis: int) -> Any:
        if isinstance(x.shape[axis], int):
            return x.shape[axis]
        vector = self.emit("Shape", [x], int64, (1,), start=axis, end=axis + 1)
        return self._scalar(vector)

    def _scalar(self, vector: Term) -> Term:
        """Return the element of a vector of size 1."""
        return self.emit("Squeeze", [vector, self.integers([0])], vector.dtype, ())

    def as_size(self, number: Term) -> Term:
        return self.cast(number, int64)

    def shape_of(self, x: Term) -> Term:
        if static_shape(x.shape) is not None:
            return self.integers([int(size) for size in x.shape])
        return self.emit("Shape", [x], int64, (x.rank,))

    def vector_of_sizes(self, sizes: Sequence[Any]) -> Term:
        """Return sizes as a vector of int64."""
        if all(isinstance(size, int) for size in sizes):
            return self.integers(list(sizes))
        parts = [
            self.integers([size]) if isinstance(size, int)
            else self.emit("Unsqueeze", [self.cast(size, int64), self.integers([0])], int64, (1,))
            for size in sizes
        ]  # fmt: skip
        return parts[0] if len(parts) == 1 else self.emit("Concat", parts, int64, (len(parts),), axis=0)

    def broadcast(self, *operands: Term) -> list[Term]:
        """Broadcast the operands to one shape; ONNX's `Expand` computes open sizes at run time."""
        shapes = {x.shape for x in operands}
        if len(shapes) == 1 and (len(operands) == 1 or None not in operands[0].shape):
            return list(operands)
        rank = max(x.rank for x in operands)
        result_shape: list[Any] = []
        for axis in range(rank):
            sizes = [x.shape[axis - rank + x.rank] if axis - rank + x.rank >= 0 else 1 for x in operands]
            sizes_except_1 = [size for size in sizes if size != 1]
            static_sizes = [size for size in sizes_except_1 if isinstance(size, int)]
            # An open size (None) must be 1 or equal to a static one at run time, so that the static one holds.
            result_shape.append((static_sizes or sizes_except_1 or [1])[0])
        shape = tuple(result_shape)
        if static_shape(shape) is not None:
            return [self.expand(x, shape) for x in operands]
        return [self._expand_to_open_shape(x, shape, operands) for x in operands]

    def _expand_to_open_shape(self, x: Term, shape: tuple[Any, ...], operands: Sequence[Term]) -> Term:
        """Expand `x` by the shapes of the other operands at run time; `shape` is that of the result."""
        for operand in operands:
            if operand is not x and operand.shape != ():
                x = self.emit("Expand", [x, self.shape_of(operand)], x.dtype, shape)
        return Term(self, x.name, x.dtype, shape) if x.rank == len(shape) and x.shape != shape else x

    def expand(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """See `Arrays.expand`; a shape with an open size needs `sizes`."""
        shape = tuple(shape)
        if x.shape == shape and static_shape(shape) is not None:
            return x
        if x.dtype.is_complex:
            return self.from_pairs(self.expand(self.as_pairs(x), (*shape, 2), None if sizes is None else [*sizes, 2]))
        vector = self.vector_of_sizes(list(shape) if sizes is None else list(sizes))
        return self.emit("Expand", [x, vector], x.dtype, shape)

    def reshape(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """See `Arrays.reshape`; a shape with an open size is refused without `sizes`."""
        shape = tuple(shape)
        if x.shape == shape and static_shape(shape) is not None:
            return x
        if x.dtype.is_complex:
            return self.from_pairs(self.reshape(self.as_pairs(x), (*shape, 2), None if sizes is None else [*sizes, 2]))
        if sizes is None and static_shape(shape) is None:
            raise GraphUnfit("reshape", "the result has an open size, and nothing in the graph computes it")
        vector = self.vector_of_sizes(list(shape) if sizes is None or static_shape(shape) is not None else list(sizes))
        return self.emit("Reshape", [x, vector], x.dtype, shape, allowzero=1)

    def transpose(self, x: Term, order: Sequence[int]) -> Term:
        if list(order) == list(range(x.rank)):
            return x
        if x.dtype.is_complex:
            return self.from_pairs(self.transpose(self.as_pairs(x), [*order, x.rank]))
        return self.emit("Transpose", [x], x.dtype, tuple(x.shape[axis] for axis in order), perm=list(order))

    def reverse(self, x: Term, axes: Sequence[int]) -> Term:
        for axis in axes:
            x = self._slice(x, axis, self.integers([-1]), self.integers([_BEFORE_FIRST]), -1, x.shape[axis])
        return x

    def _slice(self, x: Term, axis: int, start: Term, stop: Term, step: int, size: Any) -> Term:
        """Take a slice whose bounds are vectors of size 1; the result has `size` (None: open) along the axis."""
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        return self.emit("Slice", [x, start, stop, self.integers([axis]), self.integers([step])], x.dtype, shape)

    def static_slice(self, x: Term, axis: int, start: int, stop: int, step: int = 1) -> Term:
        count = max(0, -(-(stop - start) // step))
        if count == x.shape[axis] and step == 1:
            return x
        return self._slice(x, axis, self.integers([start]), self.integers([stop]), step, count)

    def dynamic_slice(self, x: Term, axis: int, start: Term, size: int) -> Term:
        start_vector = self.vector_of_sizes([start])
        return self._slice(x, axis, start_vector, start_vector + size, 1, size)

    def open_slice(self, x: Term, axis: int, start: Any, stop: Any, step: Any) -> Term | None:
        if not (step is None or isinstance(step, int)):
            return None
        start_vector = self.vector_of_sizes([0 if start is None else start])
        stop_vector = self.vector_of_sizes([_AFTER_LAST if stop is None else stop])
        return self._slice(x, axis, start_vector, stop_vector, 1 if step is None else step, None)

    def open_stack(self, list_term: ListTerm) -> Term:
        return self.open_slice(list_term.buffer, 0, None, self.cast(list_term.length, int64), step=None)  # type: ignore[return-value]

    def true_positions(self, mask: Term) -> Term:
        return self.transpose(self.emit("NonZero", [mask], int64, (mask.rank, None)), [1, 0])

    def concatenate(self, arrays: Sequence[Term], axis: int) -> Term:
        """Join along an axis; the size of the result is open if that of an array is."""
        if len(arrays) == 1:
            return arrays[0]
        sizes = [x.shape[axis] for x in arrays]
        shape = list(arrays[0].shape)
        shape[axis] = sum(sizes) if all(isinstance(size, int) for size in sizes) else None
        return self.emit("Concat", arrays, arrays[0].dtype, shape, axis=axis)

    def pad(self, x: Term, value: Term, low: Sequence[int], high: Sequence[int]) -> Term:
        if not (any(low) or any(high)):
            return x
        shape = padded_shape(x.shape, low, high)
        return self.emit("Pad", [x, self.integers([*low, *high]), value], x.dtype, shape, mode="constant")

    def open_pad(self, x: Term, value: Term, amounts: Term) -> Term:
        self.fail_if(amounts < 0)
        vector = self.reshape(self.transpose(amounts, [1, 0]), (2 * x.rank,))
        return self.emit("Pad", [x, vector, value], x.dtype, (None,) * x.rank, mode="constant")

    def iota(self, shape: Sequence[Any], axis: int, dtype: DType, sizes: Sequence[Any] | None = None) -> Term:
        """See `Arrays.iota`; the positions along an open size are computed at run time."""
        sizes = list(shape) if sizes is None else list(sizes)
        count = sizes[axis]
        if isinstance(count, int):
            row = self.array(np.arange(count).astype(dtype.numpy), dtype)
        else:
            zero, one = self.constant(0, int64), self.constant(1, int64)
            row = self.cast(self.emit("Range", [zero, self.cast(count, int64), one], int64, (None,)), dtype)
        row_shape, row_sizes = [1] * len(shape), [1] * len(shape)
        row_shape[axis], row_sizes[axis] = shape[axis], count
        along_axis = self.reshape(row, row_shape, row_sizes)
        return self.expand(along_axis, shape, sizes)
