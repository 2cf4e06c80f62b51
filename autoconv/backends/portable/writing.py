"""Helpers of the rules of ops: sizes, shapes, folds and scans, composed of the operations of a writer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autoconv.backends.portable.elements import Elementwise
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.portable.unfit import SIZE_DEPENDS_ON_VALUE, GraphUnfit
from autoconv.graph.dimensions import Minimum, Quotient, Sum
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import Symbol
from autoconv.ops.analysis.requested_sizes import has_requested_sizes

_MAX_DOUBLING_SIZE = 8  # the largest size of an axis that is scanned by doubling


class Rules(Elementwise):
    """The operations of a writer, with the helpers that the rules of ops use.

    `argument_sizes` has, for symbols of the graph's types, an argument and the axis along which it has this size.
    """

    argument_sizes: Mapping[Symbol, tuple[Term, int]] = MappingProxyType({})
    is_in_try = False  # True for a node in the body of a `try`, where no operation may stop the runtime

    def sizes(self, x: Term) -> list[Any]:
        """Return the sizes: numbers, and terms where they are open."""
        return [self.size(x, axis) for axis in range(x.rank)]

    def size_term(self, x: Term, axis: int, dtype: DType) -> Term:
        """Return a size as a term of a dtype, also one that is a number."""
        size = self.size(x, axis)
        return self.constant(size, dtype) if isinstance(size, int) else self.cast(size, dtype)

    def element_count(self, x: Term) -> Any:
        """Return the number of elements."""
        result: Any = 1
        for size in self.sizes(x):
            result = result * size
        return result

    def requested_sizes(
        self, requested_shape: Sequence[Any], vector: Term | None, limit: int | None = None
    ) -> tuple[tuple[Any, ...], list[Any]]:
        """Return a requested shape, with None for open sizes, and its sizes; sizes that are None are those of `vector`.

        Without a `limit` of the sizes, the runtime may refuse them.
        """
        shape: list[int | None] = []
        sizes: list[Any] = []
        for i, size in enumerate(requested_shape):
            number = None if size is None else self.dimension(size)
            if number is not None:
                shape.append(number if isinstance(number, int) else None)
                sizes.append(number if isinstance(number, int) else self.as_size(number))
                continue
            if vector is None:
                raise GraphUnfit("shape", "a size is open")
            element = self.reshape(self.static_slice(vector, 0, i, i + 1), ())
            if limit is None and not self.can_be_sizes(element):
                raise GraphUnfit("shape", SIZE_DEPENDS_ON_VALUE)
            shape.append(None)
            sizes.append(self.as_size(element) if limit is None else element)
        return tuple(shape), sizes

    def limit_size(self, size: Term, limit: int) -> Term:
        """Return a size that is at most `limit`; runtimes without sizes that are values set the error word above it."""
        return size

    def dimension(self, dimension: int | Symbol) -> Any:
        """Return a dimension of the graph's types: a number, or a term that is computed from sizes of arguments."""
        match dimension:
            case int():
                return dimension
            case Sum():
                total: Any = 0
                for symbols, coefficient in dimension.terms:
                    product: Any = coefficient
                    for symbol in symbols:
                        product = product * self.dimension(symbol)
                    total = total + product
                return total
            case Quotient():
                return self.binary("divide", self.dimension(dimension.dividend), self.dimension(dimension.divisor))
            case Minimum():
                return self.binary("minimum", self.dimension(dimension.first), self.dimension(dimension.second))
        if dimension not in self.argument_sizes:
            raise GraphUnfit("shape", "a size is open")
        return self.size_term(*self.argument_sizes[dimension], int64)

    def dimension_vector(self, dimensions: Sequence[int | Symbol]) -> Term:
        """Return dimensions of the graph's types as a vector of int64."""
        numbers = [self.dimension(dimension) for dimension in dimensions]
        terms = [self.constant(number, int64) if isinstance(number, int) else number for number in numbers]
        return self.concatenate([self.reshape(term, (1,)) for term in terms], 0)

    def slice(self, x: Term, axis: int, start: int, stop: int | None) -> Term:
        """Take a slice along one axis, with Python's meaning of its bounds."""
        size = x.shape[axis]
        if isinstance(size, int):
            first, end, _ = slice(start, stop).indices(size)
            return self.static_slice(x, axis, first, max(first, end))
        result = self.open_slice(x, axis, start, stop, step=None)
        if result is None:
            raise GraphUnfit("slice", "a size is open")
        return result

    def check_sizes(self, node: Node, vector: Term | None) -> Term | None:
        """Return the vector of sizes; if the program computes them, negative ones set the error word, and become 0."""
        if vector is None or not self.can_be_sizes(vector) or not has_requested_sizes(node):
            return vector
        is_negative = vector < 0
        self.fail_if(is_negative)
        return self.select(is_negative, 0, vector)

    def flatten(self, x: Term) -> Term:
        """Return the elements in order, in one dimension."""
        static_sizes = static_shape(x.shape)
        return self.reshape(x, (None if static_sizes is None else math.prod(static_sizes),), [self.element_count(x)])

    def fill_like(self, x: Term, number: Any, dtype: DType) -> Term:
        """Return an array of the shape of `x` that holds one number."""
        return self.expand(self.constant(number, dtype), x.shape, self.sizes(x))

    def diagonal_mask(self, x: Term, first: int, second: int, offset: int = 0) -> Term:
        """Return a mask, true where the position along axis `second` is that along `first` plus `offset`.

        The mask has the size 1 along all other axes.
        """
        shape, sizes = (
            [size if axis in (first, second) else 1 for axis, size in enumerate(x_sizes)]
            for x_sizes in (x.shape, self.sizes(x))
        )
        rows, columns = (self.iota(shape, axis, int64, sizes) for axis in (first, second))
        return self.compare("eq", columns, rows + offset if offset else rows)

    def keep_dimensions(self, result: Term, x: Term, axes: Sequence[int]) -> Term:
        """Insert dimensions of size 1 where a reduction dropped `axes`."""
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        sizes = [1 if axis in axes else size for axis, size in enumerate(self.sizes(x))]
        return self.reshape(result, shape, sizes)

    def take(self, x: Term, axis: int, positions: np.ndarray) -> Term:
        """Take elements along an axis by known positions."""
        return self.take_at(x, axis, self.array(positions.reshape(-1), int64))

    def take_at(self, x: Term, axis: int, positions: Term) -> Term:
        """Take elements along an axis by a vector of positions, all of which are in range."""
        order = [axis, *(i for i in range(x.rank) if i != axis)]
        transposed_x = self.transpose(x, order)
        column = self.reshape(positions, (*positions.shape, 1), [*self.sizes(positions), 1])
        elements = self.gather_nd(transposed_x, column)
        return self.transpose(elements, [order.index(i) for i in range(x.rank)])

    def outer_broadcast(self, x: Term, y: Term, inner_rank: int) -> tuple[Term, Term]:
        """Broadcast all but the last `inner_rank` dimensions of two arrays against each other; return the arrays."""
        rank = max(x.rank, y.rank) - inner_rank
        x_sizes, y_sizes = self.sizes(x), self.sizes(y)
        shape: list[Any] = []
        sizes: list[Any] = []
        for axis in range(rank):
            x_axis, y_axis = axis - rank + x.rank - inner_rank, axis - rank + y.rank - inner_rank
            static_x_size, x_size = (x.shape[x_axis], x_sizes[x_axis]) if x_axis >= 0 else (1, 1)
            static_y_size, y_size = (y.shape[y_axis], y_sizes[y_axis]) if y_axis >= 0 else (1, 1)
            static_size, size = (static_y_size, y_size) if static_x_size == 1 else (static_x_size, x_size)
            shape.append(static_size)
            sizes.append(size)
        return (
            self.expand(x, [*shape, *x.shape[x.rank - inner_rank :]], [*sizes, *x_sizes[x.rank - inner_rank :]]),
            self.expand(y, [*shape, *y.shape[y.rank - inner_rank :]], [*sizes, *y_sizes[y.rank - inner_rank :]]),
        )

    def extreme_position(self, x: Term, axis: int, largest: bool, dtype: DType) -> Term:
        """Return the first position of the largest or smallest element; nan counts as both."""
        extreme = self.keep_dimensions(self.reduce(x, (axis,), *extreme_fold(x.dtype, largest)), x, (axis,))
        is_extreme = x.same(extreme)
        if x.dtype.is_floating:
            is_extreme = is_extreme | self.is_nan(x)
        sizes = self.sizes(x)
        shape = [size if i == axis else 1 for i, size in enumerate(x.shape)]
        positions = self.iota(shape, axis, int64, [size if i == axis else 1 for i, size in enumerate(sizes)])
        candidates = self.select(is_extreme, positions, int64.max)
        return self.cast(self.reduce(candidates, (axis,), "minimum", int64.max), dtype)

    def scan(self, x: Term, axis: int, op: str, start: Any, exclusive: bool, backwards: bool) -> Term:
        """Return, for each element, the fold of the elements up to it; with `exclusive`, of those before it."""
        size = x.shape[axis]
        if backwards:
            x = self.reverse(x, (axis,))
        if not isinstance(size, int):
            x = self.open_scan(x, axis, op, start, exclusive)
            return self.reverse(x, (axis,)) if backwards else x
        if exclusive:
            x = self._shift(x, axis, min(1, size), start)
        x = self._prefixes(x, axis, size, op, start)
        return self.reverse(x, (axis,)) if backwards else x

    def _prefixes(self, x: Term, axis: int, size: int, op: str, start: Any) -> Term:
        """Fold pairs, then scan the results, in work proportional to the size (Blelloch, 1990)."""
        if size <= _MAX_DOUBLING_SIZE:
            return self._scan_by_doubling(x, axis, size, op, start)
        firsts, seconds = self.static_slice(x, axis, 0, size - 1, 2), self.static_slice(x, axis, 1, size, 2)
        odd_prefixes = self._prefixes(self.emit_binary(op, firsts, seconds), axis, size // 2, op, start)
        even_elements = self.static_slice(x, axis, 2, size, 2)
        even_prefixes = self.emit_binary(op, self.static_slice(odd_prefixes, axis, 0, (size - 1) // 2), even_elements)
        even_prefixes = self.concatenate([self.static_slice(x, axis, 0, 1), even_prefixes], axis)
        last_prefixes = [self.static_slice(even_prefixes, axis, size // 2, size // 2 + 1)] if size % 2 else []
        paired_prefixes = self._interleave(self.static_slice(even_prefixes, axis, 0, size // 2), odd_prefixes, axis)
        return self.concatenate([paired_prefixes, *last_prefixes], axis)

    def _interleave(self, x: Term, y: Term, axis: int) -> Term:
        """Return x[0], y[0], x[1], y[1], … along an axis."""
        sizes = self.sizes(x)
        split_shape = [*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]]
        split_sizes = [*sizes[: axis + 1], 1, *sizes[axis + 1 :]]
        pairs = self.concatenate([self.reshape(part, split_shape, split_sizes) for part in (x, y)], axis + 1)
        shape, sizes[axis] = list(x.shape), 2 * sizes[axis]
        shape[axis] = sizes[axis]
        return self.reshape(pairs, shape, sizes)

    def _scan_by_doubling(self, x: Term, axis: int, size: int, op: str, start: Any) -> Term:
        """Scan in log2(n) steps, each of which doubles the number of folded elements (Hillis and Steele, 1986)."""
        distance = 1
        while distance < size:
            x = self.emit_binary(op, x, self._shift(x, axis, distance, start))
            distance *= 2
        return x

    def _shift(self, x: Term, axis: int, distance: int, start: Any) -> Term:
        """Move elements to positions higher by `distance`, and fill the gap with the number `start`."""
        part = self.static_slice(x, axis, 0, x.shape[axis] - distance)
        amounts = [distance if i == axis else 0 for i in range(x.rank)]
        return self.pad(part, self.constant(start, x.dtype), amounts, [0] * x.rank)


def extreme_fold(dtype: DType, largest: bool) -> tuple[str, Any]:
    """Return the fold that finds the largest or smallest element, and its initial value."""
    if dtype.is_bool:
        return ("or", False) if largest else ("and", True)
    name = "maximum" if largest else "minimum"
    if dtype.is_floating:
        return name, -math.inf if largest else math.inf
    return name, dtype.min if largest else dtype.max
