"""Sizes, shapes, and parts of arrays, in StableHLO. Open sizes are int32 terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.portable.terms import Term, padded_shape, static_shape
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.backends.stablehlo.arrays import ArrayWriter, list_text
from autoconv.graph.dtypes import DType, bool_, int32


class ShapeWriter(ArrayWriter):
    """Write the operations that compute sizes and move elements."""

    has_open_sizes = False  # whether arguments have open sizes

    def size(self, x: Term, axis: int) -> Any:
        """Return a size: a number, or an int32 where it is open."""
        if isinstance(x.shape[axis], int):
            return x.shape[axis]
        result = self.emit("get_dimension_size", [x], int32, (), f"dimension = {axis} : i64")
        result.is_size_expression = True
        return result

    def can_be_sizes(self, *numbers: Term) -> bool:
        return self.has_open_sizes and all(x.is_size_expression for x in numbers)

    def as_size(self, number: Term) -> Term:
        return self.cast(number, int32)

    def shape_of(self, x: Term) -> Term:
        return self.vector_of_sizes(self.sizes(x))

    def vector_of_sizes(self, sizes: Sequence[Any]) -> Term:
        """Return sizes as a vector of int32."""
        parts = [
            self.integers([size], int32) if isinstance(size, int) else self.emit("reshape", [size], int32, (1,))
            for size in sizes
        ]
        if not parts:
            return self.integers([], int32)
        if len(parts) == 1:
            return parts[0]
        return self.emit("concatenate", parts, int32, (len(parts),), "dimension = 0 : i64")

    def broadcast(self, *operands: Term) -> list[Term]:
        """Broadcast to a common shape.

        A static size is preferred to an open one, which is taken from its first operand.
        """
        shapes = {x.shape for x in operands}
        if len(shapes) == 1:
            return list(operands)
        rank = max(x.rank for x in operands)
        sizes: list[Any] = []
        shape: list[Any] = []
        for axis in range(rank):
            size: Any = 1
            open_dimension: tuple[Term, int] | None = None
            for x in operands:
                operand_axis = axis - rank + x.rank
                if operand_axis < 0 or x.shape[operand_axis] == 1:
                    continue
                if isinstance(x.shape[operand_axis], int):
                    size, open_dimension = x.shape[operand_axis], None
                    break
                if open_dimension is None:
                    size, open_dimension = x.shape[operand_axis], (x, operand_axis)
            shape.append(size)
            sizes.append(size if open_dimension is None else self.size(*open_dimension))
        return [self.expand(x, shape, sizes) for x in operands]

    def expand(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Broadcast to a shape; `sizes` has the same sizes, with a term for each open one."""
        if x.shape == tuple(shape):
            return x
        axes = range(len(shape) - x.rank, len(shape))
        dimensions = f"broadcast_dimensions = array<i64{list_text(axes)}>"
        if all(isinstance(size, int) for size in shape) and all(isinstance(size, int) for size in x.shape):
            return self.emit("broadcast_in_dim", [x], x.dtype, shape, dimensions)
        vector = self.vector_of_sizes(shape if sizes is None else sizes)
        return self.emit("dynamic_broadcast_in_dim", [x, vector], x.dtype, shape, dimensions)

    def reshape(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Reshape; `sizes` gives the sizes that are open in `shape`, and without them such a reshape is refused."""
        if x.shape == tuple(shape):
            return x
        if all(isinstance(size, int) for size in (*shape, *x.shape)):
            return self.emit("reshape", [x], x.dtype, shape)
        if all(isinstance(size, int) for size in shape):
            return self.emit("dynamic_reshape", [x, self.vector_of_sizes(shape)], x.dtype, shape)
        if sizes is None:
            raise GraphUnfit("reshape", "the result has an open size, and nothing in the graph computes it")
        return self.emit("dynamic_reshape", [x, self.vector_of_sizes(sizes)], x.dtype, shape)

    def transpose(self, x: Term, order: Sequence[int]) -> Term:
        if list(order) == list(range(x.rank)):
            return x
        shape = tuple(x.shape[axis] for axis in order)
        return self.emit("transpose", [x], x.dtype, shape, f"permutation = array<i64{list_text(order)}>")

    def static_slice(self, x: Term, axis: int, start: int, stop: int, step: int = 1) -> Term:
        """Slice along an axis with static bounds."""
        count = max(0, -(-(stop - start) // step))
        if count == x.shape[axis] and step == 1:
            return x
        shape = tuple(count if i == axis else size for i, size in enumerate(x.shape))
        if static_shape(x.shape) is None:
            starts, steps = [0] * x.rank, [1] * x.rank
            starts[axis], steps[axis] = start, step
            stops = [stop if i == axis else size for i, size in enumerate(self.sizes(x))]
            return self._open_slices(x, self.integers(starts, int32), self.vector_of_sizes(stops), steps, shape)
        starts = [start if i == axis else 0 for i in range(x.rank)]
        stops = [stop if i == axis else size for i, size in enumerate(x.shape)]
        steps = [step if i == axis else 1 for i in range(x.rank)]
        properties = (
            f"start_indices = array<i64{list_text(starts)}>, limit_indices = array<i64{list_text(stops)}>, "
            f"strides = array<i64{list_text(steps)}>"
        )
        return self.emit("slice", [x], x.dtype, shape, properties)

    def _open_slices(self, x: Term, starts: Term, stops: Term, steps: Sequence[int], shape: Sequence[Any]) -> Term:
        """Take slices along all axes, by vectors of bounds."""
        return self.emit("real_dynamic_slice", [x, starts, stops, self.integers(steps, int32)], x.dtype, shape)

    def open_slice(self, x: Term, axis: int, start: Any, stop: Any, step: Any) -> Term | None:
        """Slice with computed bounds, which are clipped; None for a computed step or bounds that cannot be sizes."""
        step = 1 if step is None else step
        terms = [bound for bound in (start, stop) if isinstance(bound, Term)]
        if not isinstance(step, int) or not self.can_be_sizes(*terms):
            return None
        size = self.size_term(x, axis, int32)
        first = 0 if start is None else self._clip_bound(start, size)
        end = size if stop is None else self.binary("maximum", self._clip_bound(stop, size), first)
        starts, stops = (
            self.vector_of_sizes([bound if i == axis else whole_bound for i, whole_bound in enumerate(whole_bounds)])
            for bound, whole_bounds in ((first, [0] * x.rank), (end, self.sizes(x)))
        )
        steps = [step if i == axis else 1 for i in range(x.rank)]
        shape = [None if i == axis else axis_size for i, axis_size in enumerate(x.shape)]
        return self._open_slices(x, starts, stops, steps, shape)

    def _clip_bound(self, bound: Any, size: Term) -> Term:
        """Return a bound of a slice as a position, as Python counts and clips it."""
        bound = self.as_size(bound) if isinstance(bound, Term) else self.constant(bound, int32)
        bound = self.select(bound < 0, bound + size, bound)
        return self.binary("minimum", self.binary("maximum", bound, 0), size)

    def open_pad(self, x: Term, value: Term, amounts: Term) -> Term | None:
        """Pad by an array of pairs of amounts; a negative amount fails. None if the amounts cannot be sizes."""
        if not self.can_be_sizes(amounts):
            return None
        self.fail_if(amounts < 0)
        low, high = (self.reshape(self.static_slice(amounts, 1, i, i + 1), (x.rank,)) for i in range(2))
        vectors = [low, high, self.integers([0] * x.rank, low.dtype)]
        return self.emit("dynamic_pad", [x, value, *vectors], x.dtype, [None] * x.rank)

    def reverse(self, x: Term, axes: Sequence[int]) -> Term:
        return self.emit("reverse", [x], x.dtype, x.shape, f"dimensions = array<i64{list_text(axes)}>") if axes else x

    def dynamic_slice(self, x: Term, axis: int, start: Term, size: int) -> Term:
        """Take `size` elements along an axis from a computed start."""
        shape = tuple(size if i == axis else axis_size for i, axis_size in enumerate(x.shape))
        if static_shape(shape) is None:
            slice_sizes = [size if i == axis else axis_size for i, axis_size in enumerate(self.sizes(x))]
            vector = self.vector_of_sizes([self.as_size(start) if i == axis else 0 for i in range(x.rank)])
            return self._open_slices(x, vector, vector + self.vector_of_sizes(slice_sizes), [1] * x.rank, shape)
        zero = self.constant(0, start.dtype)
        starts = [start if i == axis else zero for i in range(x.rank)]
        return self.emit("dynamic_slice", [x, *starts], x.dtype, shape, f"slice_sizes = array<i64{list_text(shape)}>")

    def dynamic_update(self, x: Term, update: Term, starts: Sequence[Term]) -> Term:
        """Write an update: one element or the whole array directly, others by a select between arrays.

        XLA's code for the CPU may write other updates in place, although it still reads later elements of `x`.
        """
        if not starts:
            return self.reshape(update, ())
        if all(size == 1 for size in update.shape) or update.shape == x.shape:
            return self.emit("dynamic_update_slice", [x, update, *starts], x.dtype, x.shape)
        sizes, update_sizes = self.sizes(x), self.sizes(update)
        zeros = self.expand(self.constant(0, x.dtype), x.shape, sizes)
        no_mask = self.expand(self.constant(False, bool_), x.shape, sizes)
        update_mask = self.expand(self.constant(True, bool_), update.shape, update_sizes)
        placed_update = self.emit("dynamic_update_slice", [zeros, update, *starts], x.dtype, x.shape)
        mask = self.emit("dynamic_update_slice", [no_mask, update_mask, *starts], bool_, x.shape)
        return self.emit_select(mask, placed_update, x)

    def pad(self, x: Term, value: Term, low: Sequence[int], high: Sequence[int]) -> Term:
        """Pad each axis with a value by static amounts, which may be negative."""
        if not (any(low) or any(high)):
            return x
        shape = padded_shape(x.shape, low, high)
        no_padding = [0] * x.rank
        properties = (
            f"edge_padding_low = array<i64{list_text(low)}>, edge_padding_high = array<i64{list_text(high)}>, "
            f"interior_padding = array<i64{list_text(no_padding)}>"
        )
        return self.emit("pad", [x, value], x.dtype, shape, properties)

    def concatenate(self, arrays: Sequence[Term], axis: int) -> Term:
        """Join along an axis; a single array is returned itself, and the size is open if one of the sizes is."""
        if len(arrays) == 1:
            return arrays[0]
        sizes = [x.shape[axis] for x in arrays]
        total = sum(sizes) if all(isinstance(size, int) for size in sizes) else None
        shape = list(arrays[0].shape)
        shape[axis] = total
        return self.emit("concatenate", arrays, arrays[0].dtype, shape, f"dimension = {axis} : i64")

    def iota(self, shape: Sequence[Any], axis: int, dtype: DType, sizes: Sequence[Any] | None = None) -> Term:
        """Return an array that holds each element's position along an axis."""
        if all(isinstance(size, int) for size in shape):
            return self.emit("iota", [], dtype, shape, f"iota_dimension = {axis} : i64")
        if sizes is None:
            raise GraphUnfit("iota", "the result has an open size, and nothing in the graph computes it")
        return self.emit("dynamic_iota", [self.vector_of_sizes(sizes)], dtype, shape, f"iota_dimension = {axis} : i64")
