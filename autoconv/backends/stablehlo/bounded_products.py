"""Folds, sorts, products and factors of arrays whose sizes are values: elements behind the lengths are replaced."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.portable.terms import ListTerm, Term
from autoconv.backends.portable.unfit import SIZE_DEPENDS_ON_VALUE, GraphUnfit
from autoconv.backends.stablehlo.bounded import BoundedWriter
from autoconv.backends.stablehlo.bounded_terms import (
    BoundedTerm,
    bounded,
    length_of,
    lengths_of,
    neutral_number,
    storage_of,
)
from autoconv.graph.dtypes import int64


class BoundedProducts(BoundedWriter):
    """Write folds, sorts, products, Cholesky factors and triangular systems."""

    def reduce(self, x: Term, axes: Sequence[int], op: str, start: Any) -> Term:
        """Fold with neutral elements behind the lengths; the lengths along other axes remain."""
        if not isinstance(x, BoundedTerm):
            return super().reduce(x, axes, op, start)
        result = super().reduce(self._fill(x, axes, neutral_number(op, x.dtype)), axes, op, start)
        lengths = {
            axis - sum(i < axis for i in axes): length for axis, length in x.lengths.items() if axis not in axes
        }
        return bounded(result, lengths)

    def open_scan(self, x: Term, axis: int, op: str, start: Any, exclusive: bool) -> Term:
        if not isinstance(x, BoundedTerm):
            return super().open_scan(x, axis, op, start, exclusive)
        return bounded(self.scan(x.storage, axis, op, start, exclusive, backwards=False), x.lengths)

    def open_stack(self, list_term: ListTerm) -> Term | None:
        length = self.cast(list_term.length, int64)
        length.interval = (0, list_term.buffer.shape[0])
        return bounded(list_term.buffer, {0: length})

    def sort(self, x: Term, axis: int, descending: bool) -> tuple[Term, Term]:
        last: Any = neutral_number("maximum" if descending else "minimum", x.dtype)
        if x.dtype.is_floating and not descending:
            last = math.nan
        values, positions = super().sort(self._fill(x, (axis,), last), axis, descending)
        return bounded(values, lengths_of(x)), bounded(positions, lengths_of(x))

    def dot(
        self, x: Term, y: Term, x_batch: Sequence[int], y_batch: Sequence[int], x_axes: Sequence[int],
        y_axes: Sequence[int],
    ) -> Term:
        """Multiply with zeros behind the lengths, which must be equal along contracted and batch axes."""
        if not isinstance(x, BoundedTerm) and not isinstance(y, BoundedTerm):
            return super().dot(x, y, x_batch, y_batch, x_axes, y_axes)
        arrays = self._fill(x, x_axes, 0), self._fill(y, y_axes, 0)
        for i, j in zip((*x_batch, *x_axes), (*y_batch, *y_axes), strict=True):
            if length_of(x, i) is not None or length_of(y, j) is not None:
                self._require_equal(self.size(x, i), self.size(y, j))
                capacity = min(arrays[0].shape[i], arrays[1].shape[j])
                arrays = self._resize(arrays[0], i, capacity), self._resize(arrays[1], j, capacity)
        result = super().dot(*arrays, x_batch, y_batch, x_axes, y_axes)
        axes = [(x, axis) for axis in x_batch]
        axes += [(x, axis) for axis in range(x.rank) if axis not in (*x_batch, *x_axes)]
        axes += [(y, axis) for axis in range(y.rank) if axis not in (*y_batch, *y_axes)]
        lengths = {i: length for i, (z, axis) in enumerate(axes) if (length := length_of(z, axis)) is not None}
        return bounded(result, lengths)

    def cholesky(self, x: Term) -> Term:
        return self._on_whole_matrices(x, super().cholesky)

    def triangular_solve(self, x: Term, y: Term, lower: bool, adjoint: bool) -> Term:
        """Solve triangular systems; behind the lengths, the matrix is completed and right-hand sides are 0."""
        if not isinstance(x, BoundedTerm) and not isinstance(y, BoundedTerm):
            return super().triangular_solve(x, y, lower, adjoint)
        self._require_equal(self.size(x, x.rank - 1), self.size(y, y.rank - 2))
        matrix = self._on_whole_matrices(x, lambda whole: whole)
        right = self._fill(y, (y.rank - 2,), 0)
        capacity = min(storage_of(matrix).shape[-1], right.shape[-2])
        storage = storage_of(matrix)
        for axis in (x.rank - 2, x.rank - 1):
            storage = self._resize(storage, axis, capacity)
        right = self._resize(right, y.rank - 2, capacity)
        return bounded(super().triangular_solve(storage, right, lower, adjoint), lengths_of(y))

    def _on_whole_matrices(self, x: Term, compute: Callable[[Term], Term]) -> Term:
        """Apply a function to matrices whose elements behind the lengths are those of the identity."""
        if not isinstance(x, BoundedTerm):
            return compute(x)
        rows, columns = x.rank - 2, x.rank - 1
        self._require_equal(self.size(x, rows), self.size(x, columns))
        identity = self.cast(self.diagonal_mask(x.storage, rows, columns), x.dtype)
        axes = [axis for axis in (rows, columns) if axis in x.lengths]
        whole = self.select(self.valid_mask(x, axes), x.storage, identity) if axes else x.storage
        return bounded(compute(whole), x.lengths)

    def fft(self, x: Term, kind: str, axes: Sequence[int], sizes: Sequence[int]) -> Term:
        if isinstance(x, BoundedTerm):
            raise GraphUnfit(kind, SIZE_DEPENDS_ON_VALUE)
        return super().fft(x, kind, axes, sizes)
