"""Arrays whose sizes are values: StableHLO's arrays have known sizes, so each is stored in one of the largest size.

`x[i:]` of n elements is a `BoundedTerm`: its storage has n elements, and its length along the axis is n - i: only the
first n - i elements count. The operations below replace the writer's own where an operand has a length; rules see an
open size, as in other runtimes. Elementwise operations compute on the whole storage; reductions, products and sorts
replace the elements behind the lengths by neutral ones; stores leave them out. Where NumPy compares two sizes, lengths
are compared, and the error word is set if they differ.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.unfit import SIZE_DEPENDS_ON_VALUE, GraphUnfit
from autoconv.backends.stablehlo.bounded_control import BoundedControl
from autoconv.backends.stablehlo.bounded_terms import (
    BoundedTerm,
    bounded,
    interval_of,
    is_bounded_size,
    largest_value,
    length_of,
    lengths_of,
    storage_of,
)  # fmt: skip
from autoconv.graph.dtypes import DType, int32, int64

_MAX_STORAGE = 2**24  # elements of the storage that a reshape makes for sizes that are values


class BoundedWriter(BoundedControl):
    """Write operations whose operands or results may have sizes that are values."""

    # ---- sizes

    def size(self, x: Term, axis: int) -> Any:
        length = length_of(x, axis)
        return super().size(x, axis) if length is None else length

    def shape_of(self, x: Term) -> Term:
        if not isinstance(x, BoundedTerm):
            return super().shape_of(x)
        return self.concatenate([self.reshape(self.size_term(x, axis, int32), (1,)) for axis in range(x.rank)], 0)

    def can_be_sizes(self, *numbers: Term) -> bool:
        elements = [element for x in numbers for element in x.elements or (x,)]
        return super().can_be_sizes(*numbers) or all(map(is_bounded_size, elements))

    def as_size(self, number: Term) -> Term:
        return self.cast(number, int64) if self._is_value(number) else super().as_size(number)

    # ---- elements

    def _apply(self, operands: Sequence[Term], compute: Callable[..., Term]) -> Term:
        """Apply an elementwise operation to operands of one shape."""
        if not any(isinstance(x, BoundedTerm) for x in operands):
            return compute(*operands)
        arrays, lengths = self._fit(operands)
        result = compute(*arrays)
        return bounded(result, {axis + result.rank: length for axis, length in lengths.items()})

    def emit_unary(self, name: str, x: Term) -> Term:
        return self._apply([x], functools.partial(super().emit_unary, name))

    def emit_binary(self, name: str, x: Term, y: Term) -> Term:
        return self._apply([x, y], functools.partial(super().emit_binary, name))

    def emit_comparison(self, test: str, x: Term, y: Term) -> Term:
        return self._apply([x, y], functools.partial(super().emit_comparison, test))

    def emit_select(self, condition: Term, x: Term, y: Term) -> Term:
        return self._apply([condition, x, y], super().emit_select)

    def emit_cast(self, x: Term, dtype: DType) -> Term:
        emit_cast = super().emit_cast
        return self._apply([x], lambda array: emit_cast(array, dtype))

    def bitcast(self, x: Term, dtype: DType) -> Term:
        return bounded(super().bitcast(storage_of(x), dtype), lengths_of(x))

    def broadcast(self, *operands: Term) -> list[Term]:
        if not any(isinstance(x, BoundedTerm) for x in operands):
            return super().broadcast(*operands)
        arrays, lengths = self._fit(operands)
        results = super().broadcast(*arrays)
        return [bounded(x, {axis + x.rank: length for axis, length in lengths.items()}) for x in results]

    def _fit(self, operands: Sequence[Term]) -> tuple[list[Term], dict[int, Term]]:
        """Return storages that broadcast together, and the lengths of the result by negative axis.

        Along an axis, the sizes of arrays other than 1, and the lengths, have to be equal.
        """
        arrays, lengths = [storage_of(x) for x in operands], {}
        for axis in range(-max(x.rank for x in operands), 0):
            own_lengths = {i: length_of(x, axis) for i, x in enumerate(operands) if x.rank >= -axis}
            axis_lengths = {i: length for i, length in own_lengths.items() if length is not None}
            if not axis_lengths:
                continue
            positions = list(axis_lengths)
            first = axis_lengths[positions[0]]
            for i in positions[1:]:
                self._require_equal(axis_lengths[i], first)
            sizes = [x.shape[axis] for x in operands if x.rank >= -axis and x.shape[axis] not in (1, None)]
            size = sizes[0] if sizes else min(arrays[i].shape[axis] for i in positions)
            if sizes:
                self._require_equal(first, size)
            else:
                lengths[axis] = first
            for i in positions:
                arrays[i] = self._resize(arrays[i], arrays[i].rank + axis, size)
        return arrays, lengths

    def _require_equal(self, first_size: Any, second_size: Any) -> None:
        """Set the error word if two sizes differ."""
        if first_size is not second_size:
            self.fail_if(self.compare("ne", first_size, second_size))

    def valid_mask(self, x: BoundedTerm, axes: Sequence[int]) -> Term:
        """Return a mask of the elements of the storage before the lengths along `axes`; its other axes have size 1."""
        masks = []
        for axis in axes:
            shape = [size if i == axis else 1 for i, size in enumerate(x.storage.shape)]
            masks.append(super().iota(shape, axis, int64) < x.lengths[axis])
        return functools.reduce(operator.and_, masks)

    def _fill(self, x: Term, axes: Sequence[int], number: Any) -> Term:
        """Return the storage, with a number in place of the elements behind the lengths along axes."""
        open_axes = [axis for axis in axes if length_of(x, axis) is not None]
        if not isinstance(x, BoundedTerm) or not open_axes:
            return storage_of(x)
        return self.select(self.valid_mask(x, open_axes), x.storage, number)

    # ---- shapes

    def expand(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Broadcast; lengths are compared with the requested sizes, which must be equal."""
        terms = self._bounded_sizes(shape, sizes)
        if not isinstance(x, BoundedTerm) and not terms:
            return super().expand(x, shape, sizes)
        array, target = storage_of(x), [*shape]
        lengths = {}
        for axis, size in enumerate(shape):
            x_axis = axis - len(shape) + x.rank
            x_length = length_of(x, x_axis) if x_axis >= 0 else None
            x_size = array.shape[x_axis] if x_axis >= 0 else 1
            if axis in terms:
                lengths[axis] = terms[axis]
                is_broadcast = x_size == 1 and x_length is None
                target[axis] = largest_value(terms[axis]) if is_broadcast else x_size
                if not is_broadcast:
                    self._require_equal(x_size if x_length is None else x_length, terms[axis])
            elif x_length is not None:
                self._require_equal(x_length, size)
                array = self._resize(array, x_axis, size)
        return bounded(super().expand(array, target), lengths)

    def _bounded_sizes(self, shape: Sequence[Any], sizes: Sequence[Any] | None) -> dict[int, Term]:
        """Return, by axis, the open sizes that are values with an upper bound."""
        if sizes is None:
            return {}
        open_sizes = {axis: size for axis, size in enumerate(sizes) if shape[axis] is None}
        result = {axis: size for axis, size in open_sizes.items() if self._is_value(size)}
        if result and len(result) < len(open_sizes):
            raise GraphUnfit("shape", SIZE_DEPENDS_ON_VALUE)
        return result

    def _is_value(self, size: Any) -> bool:
        """Return whether a size is a value with an upper bound, which does not follow from open sizes of arguments."""
        follows_from_arguments = self.has_open_sizes and getattr(size, "is_size_expression", False)
        return isinstance(size, Term) and not follows_from_arguments and is_bounded_size(size)

    def iota(self, shape: Sequence[Any], axis: int, dtype: DType, sizes: Sequence[Any] | None = None) -> Term:
        lengths = self._bounded_sizes(shape, sizes)
        if not lengths:
            return super().iota(shape, axis, dtype, sizes)
        capacities = [largest_value(lengths[i]) if i in lengths else size for i, size in enumerate(shape)]
        return bounded(super().iota(capacities, axis, dtype), lengths)

    def reshape(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Reshape by dropping or adding axes of size 1, or by regrouping the elements."""
        if not isinstance(x, BoundedTerm) and (static_shape(x.shape) is None or None not in shape):
            result = super().reshape(x, shape, sizes)
            if x.elements is not None and x.dtype.is_integer and tuple(shape) in ((), (1,)):
                result = result if shape else x.elements[0]
                result.elements = x.elements if shape else None
            elif not x.shape and tuple(shape) == (1,):
                result.elements = (x,)
            return result
        new_sizes = list(shape) if sizes is None else [size if isinstance(size, int) else sizes[axis]
                                                       for axis, size in enumerate(shape)]
        old_sizes = self.sizes(x)
        if not all(isinstance(size, int) or self._is_value(size) or not interval_of(size)[0] for size in new_sizes):
            return super().reshape(x, shape, sizes)
        return self._move_axes_of_size_1(x, old_sizes, new_sizes) or self._regroup(x, old_sizes, new_sizes)

    def _move_axes_of_size_1(self, x: Term, old_sizes: Sequence[Any], new_sizes: Sequence[Any]) -> Term | None:
        """Insert or drop axes of size 1; None for another reshape."""
        old_axes = [axis for axis, size in enumerate(old_sizes) if not (isinstance(size, int) and size == 1)]
        new_axes = [axis for axis, size in enumerate(new_sizes) if not (isinstance(size, int) and size == 1)]
        if len(old_axes) != len(new_axes) or not all(
            old_sizes[i] is new_sizes[j] or (isinstance(old_sizes[i], int) and old_sizes[i] == new_sizes[j])
            for i, j in zip(old_axes, new_axes, strict=True)
        ):
            return None
        storage, lengths, shape = storage_of(x), {}, [1] * len(new_sizes)
        for i, j in zip(old_axes, new_axes, strict=True):
            shape[j] = storage.shape[i]
            length = length_of(x, i)
            if length is not None:
                lengths[j] = length
        return bounded(super().reshape(storage, shape), lengths)

    def _regroup(self, x: Term, old_sizes: Sequence[Any], new_sizes: Sequence[Any]) -> Term:
        """Reshape by a gather: the row-major position of each element of the result gives its place in the storage."""
        storage = storage_of(x)
        total = math.prod(storage.shape)
        known_product = math.prod(size for size in new_sizes if isinstance(size, int))
        max_capacity = total // known_product if known_product else 0
        capacities = [size if isinstance(size, int) else min(max_capacity, largest_value(size)) for size in new_sizes]
        if math.prod(capacities) > max(_MAX_STORAGE, 2 * total):
            raise GraphUnfit("reshape", SIZE_DEPENDS_ON_VALUE)
        lengths = {axis: size for axis, size in enumerate(new_sizes) if isinstance(size, Term)}
        self._require_equal(*(functools.reduce(lambda x, y: x * y, sizes, self.constant(1, int64))
                              for sizes in (old_sizes, new_sizes)))
        position: Any = self.constant(0, int64)
        for axis, size in enumerate(new_sizes):
            row = [capacity if i == axis else 1 for i, capacity in enumerate(capacities)]
            position = position * size + super().iota(row, axis, int64)
        columns: list[Term] = []
        for size in reversed(old_sizes):
            divisor = size if isinstance(size, int) else self.binary("maximum", size, 1)
            columns.insert(0, self.remainder(position, divisor if columns or len(old_sizes) > 1 else total + 1))
            position = self.divide(position, divisor)
        if not columns:
            return bounded(super().expand(storage, capacities), lengths)
        columns = [self.expand(column, capacities) for column in columns]
        vectors = self.concatenate([self.reshape(y, (*y.shape, 1)) for y in columns], len(capacities))
        return bounded(super().gather_nd(storage, vectors), lengths)

    def transpose(self, x: Term, order: Sequence[int]) -> Term:
        lengths = lengths_of(x)
        moved_lengths = {i: lengths[axis] for i, axis in enumerate(order) if axis in lengths}
        return bounded(super().transpose(storage_of(x), order), moved_lengths)

    def reverse(self, x: Term, axes: Sequence[int]) -> Term:
        """Reverse the storage, and move the elements to its front."""
        result = super().reverse(storage_of(x), axes)
        for axis in axes:
            length = length_of(x, axis)
            if length is not None:
                result = self._shift_to_front(result, axis, self.constant(result.shape[axis], int64) - length)
        return bounded(result, lengths_of(x))

    def _shift_to_front(self, storage: Term, axis: int, start: Term) -> Term:
        """Move the elements from a position on to the front; behind them are ones, for which no operation fails."""
        size = storage.shape[axis]
        high = [size if i == axis else 0 for i in range(storage.rank)]
        padded = super().pad(storage, self.constant(1, storage.dtype), [0] * storage.rank, high)
        return super().dynamic_slice(padded, axis, start, size)

    def static_slice(self, x: Term, axis: int, start: int, stop: int, step: int = 1) -> Term:
        result = super().static_slice(storage_of(x), axis, start, stop, step)
        if x.elements is not None and x.rank == 1:
            result.elements = x.elements[start:stop:step]
        return bounded(result, {i: length for i, length in lengths_of(x).items() if i != axis})

    def dynamic_slice(self, x: Term, axis: int, start: Term, size: int) -> Term:
        result = super().dynamic_slice(storage_of(x), axis, start, size)
        return bounded(result, {i: length for i, length in lengths_of(x).items() if i != axis})

    def open_slice(self, x: Term, axis: int, start: Any, stop: Any, step: Any) -> Term | None:
        """Slice with bounds that are values; the length of the axis becomes a value. A negative step fails."""
        storage = storage_of(x)
        if static_shape(storage.shape) is None:
            return super().open_slice(x, axis, start, stop, step)
        capacity, size = storage.shape[axis], self.size_term(x, axis, int64)
        first = self._position(0 if start is None else start, size)
        count = (size if stop is None else self._position(stop, size)) - first
        result = storage if start in (None, 0) else self._shift_to_front(storage, axis, first)
        if isinstance(step, Term):
            self.fail_if(step <= 0)  # slices that go backwards are left to the native backend
            step = self.binary("maximum", self.cast(step, int64), 1)
            positions = self.binary("minimum", super().iota((capacity,), 0, int64) * step, max(capacity - 1, 0))
            result = self.take_at(result, axis, positions)
            count = self.divide(count + step - 1, step)
        elif step not in (None, 1):
            result = super().static_slice(result, axis, 0, capacity, step)
            count = self.divide(count + (step - 1), step)
        count = self.binary("maximum", count, 0)
        count.interval = (0, result.shape[axis])
        return bounded(result, {**lengths_of(x), axis: count})

    def _position(self, bound: Any, size: Term) -> Term:
        """Return a bound of a slice as a position from 0 to `size`, as Python does."""
        bound = self.cast(bound, int64) if isinstance(bound, Term) else self.constant(bound, int64)
        bound = self.select(bound < 0, bound + size, bound)
        return self.binary("minimum", self.binary("maximum", bound, 0), size)

    def concatenate(self, arrays: Sequence[Term], axis: int) -> Term:
        """Join along an axis: each storage is written over the elements behind the lengths of those before."""
        if not any(isinstance(x, BoundedTerm) for x in arrays):
            result = super().concatenate(arrays, axis)
            if all(x.elements is not None and x.rank == 1 for x in arrays):
                result.elements = tuple(element for x in arrays for element in x.elements or ())
            return result
        arrays, lengths = self._fit_other_axes(arrays, axis)
        sizes = [self.size(x, axis) for x in arrays]
        storages = [storage_of(x) for x in arrays]
        total = sum(x.shape[axis] for x in storages)
        result = self._resize(storages[0], axis, total)
        position: Any = sizes[0]
        zeros = self.constant(0, int64)
        for storage, size in zip(storages[1:], sizes[1:], strict=True):
            start = position if isinstance(position, Term) else self.constant(position, int64)
            starts = [start if i == axis else zeros for i in range(result.rank)]
            result = super().dynamic_update(result, storage, starts)
            position = position + size
        if isinstance(position, Term):
            position.interval = (0, total)
            lengths[axis] = position
        return bounded(result, lengths)

    def _fit_other_axes(self, arrays: Sequence[Term], axis: int) -> tuple[list[Term], dict[int, Term]]:
        """Make sizes of arrays equal along all axes but `axis`; return the arrays, and their common lengths by axis."""
        lengths = {}
        fitted = list(arrays)
        for i in range(arrays[0].rank):
            if i == axis or all(length_of(x, i) is None for x in arrays):
                continue
            first = next(length for x in arrays if (length := length_of(x, i)) is not None)
            for x in arrays:
                self._require_equal(self.size(x, i), first)
            capacity = min(storage_of(x).shape[i] for x in arrays)
            lengths[i] = first
            fitted = [
                bounded(self._resize(storage_of(x), i, capacity), {**lengths_of(x), i: first}) for x in fitted
            ]
        return fitted, lengths

    def pad(self, x: Term, value: Term, low: Sequence[int], high: Sequence[int]) -> Term:
        """Pad; elements behind a length become padding, and the length grows by both amounts."""
        if not isinstance(x, BoundedTerm):
            return super().pad(x, value, low, high)
        axes = [axis for axis in x.lengths if high[axis]]
        result = super().pad(self._fill(x, axes, value), value, low, high)
        lengths = {}
        for axis, length in x.lengths.items():
            added = max(low[axis] + high[axis], 0) if low[axis] >= 0 and high[axis] >= 0 else low[axis] + high[axis]
            lengths[axis] = length + added if added else length
            lengths[axis].interval = (0, result.shape[axis])
        return bounded(result, lengths)

    def dynamic_update(self, x: Term, update: Term, starts: Sequence[Term]) -> Term:
        """Replace elements; an update with a length along an axis replaces all elements of `x` along it."""
        storage = storage_of(x)
        update_storage = storage_of(update)
        for axis in lengths_of(update):
            update_storage = self._resize(update_storage, axis, storage.shape[axis])
        return bounded(super().dynamic_update(storage, update_storage, starts), lengths_of(x))

    # ---- positions

    def gather_nd(self, x: Term, indices: Term) -> Term:
        """Take the rows at vectors of positions; the result has the lengths of both operands."""
        result = super().gather_nd(storage_of(x), storage_of(indices))
        depth, batch_rank = indices.shape[-1], indices.rank - 1
        lengths = {axis: length for axis, length in lengths_of(indices).items() if axis < batch_rank}
        lengths |= {axis - depth + batch_rank: length for axis, length in lengths_of(x).items() if axis >= depth}
        return bounded(result, lengths)

    def scatter_nd(self, base: Term, indices: Term, updates: Term, combine: str | None) -> Term:
        """Set or combine rows; rows at indices behind the lengths of `indices` are left out."""
        if not any(isinstance(x, BoundedTerm) for x in (base, indices, updates)):
            return super().scatter_nd(base, indices, updates, combine)
        storage, depth = storage_of(base), indices.shape[-1]
        shape = (*indices.shape[:-1], *base.shape[depth:])
        sizes = [*self.sizes(indices)[:-1], *self.sizes(base)[depth:]]
        updates = self.expand(updates, shape, sizes)
        places = self._fill(indices, range(indices.rank), storage.shape[0])  # the runtime leaves out rows out of range
        update_storage = storage_of(updates)
        for axis, size in enumerate((*places.shape[:-1], *storage.shape[depth:])):
            update_storage = self._resize(update_storage, axis, size)
        return bounded(super().scatter_nd(storage, places, update_storage, combine), lengths_of(base))
