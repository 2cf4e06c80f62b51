"""Positions of true elements and of distinct elements: arrays of as many elements as values decide."""

from __future__ import annotations

import math

from autoconv.backends.portable.terms import Term, static_shape
from autoconv.backends.stablehlo.bounded_products import BoundedProducts
from autoconv.backends.stablehlo.bounded_terms import bounded, lengths_of, storage_of
from autoconv.graph.dtypes import bool_, int32, int64


class PositionWriter(BoundedProducts):
    """Write operations whose results have sizes that values decide."""

    def true_positions(self, mask: Term) -> Term | None:
        """Write the position of each true element behind those of the earlier ones."""
        if static_shape(storage_of(mask).shape) is None:
            return None
        whole = self._fill(mask, range(mask.rank), number=False)
        flat = self.reshape(whole, (math.prod(whole.shape),))
        order = self.compact(flat)
        coordinates: list[Term] = []
        quotient = storage_of(order)
        for size in reversed(whole.shape):
            coordinates.insert(0, self.remainder(quotient, max(size, 1)))
            quotient = self.divide(quotient, max(size, 1))
        columns = [self.reshape(y, (*y.shape, 1)) for y in coordinates]
        return bounded(self.concatenate(columns, 1), lengths_of(order))

    def compact(self, mask: Term) -> Term:
        """Return the positions of the true elements of a vector of known size."""
        (size,) = mask.shape
        flags = self.cast(mask, int64)
        count = self.reduce(flags, (0,), "add", 0)
        count.interval = (0, size)
        ranks = self.scan(flags, 0, "add", 0, exclusive=True, backwards=False)
        targets = self.reshape(self.select(mask, ranks, size), (size, 1))
        zeros = self.expand(self.constant(0, int64), (size,))
        positions = self.scatter_nd(zeros, targets, self.iota((size,), 0, int64), None)
        return bounded(positions, {0: count})

    def find_distinct(self, x: Term) -> list[Term] | None:
        """Sort, so that equal elements are neighbours: the first one of each group stands for the others."""
        if static_shape(storage_of(x).shape) is None:
            return None
        if x.dtype.is_floating:
            self.fail_if(self.is_nan(x))  # the order of the first occurrences of nan is left to the native backend
        ordered, order = self.sort(x if x.dtype is not bool_ else self.cast(x, int32), 0, descending=False)
        values, order = storage_of(ordered), self.cast(storage_of(order), int64)
        (size,) = values.shape
        positions = self.iota((size,), 0, int64)
        earlier_values = self.take_at(values, 0, self.binary("maximum", positions - 1, 0))
        is_valid = positions < self.size_term(x, 0, int64)
        is_start = (values.differs(earlier_values) | positions.same(0)) & is_valid
        starts = self.scan(self.select(is_start, positions, 0), 0, "maximum", 0, exclusive=False, backwards=False)
        no_element = self.expand(self.constant(0, int64), (size,))

        def scatter(places: Term, updates: Term, combine: str | None = None) -> Term:
            return self.scatter_nd(no_element, self.reshape(places, (size, 1)), updates, combine)

        is_first = scatter(self.select(is_start, order, size), self.fill_like(order, 1, int64))
        ranks = self.scan(is_first, 0, "add", 0, exclusive=True, backwards=False)
        rank_of_value = self.take_at(ranks, 0, self.take_at(order, 0, starts))
        indices = scatter(order, rank_of_value)
        counts = scatter(self.select(is_valid, rank_of_value, size), self.fill_like(order, 1, int64), "add")
        first_positions = self.compact(is_first.differs(0))
        distinct = self.take_at(storage_of(x), 0, first_positions)
        return [distinct, bounded(indices, lengths_of(x)), bounded(counts, lengths_of(distinct))]
