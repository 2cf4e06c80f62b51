"""Writes the nodes of an ONNX graph: positions, folds, products, control flow, and the error word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.onnx.nodes import WIDE, Block, Record
from autoconv.backends.onnx.shapes import ShapeWriter
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import bool_, int32, int64, uint64

_FOLDS = {"add": "ReduceSum", "multiply": "ReduceProd", "maximum": "ReduceMax", "minimum": "ReduceMin"}


class Writer(ShapeWriter):
    """The nodes of a graph.

    `word` is the error word: 0, or the number of the place that failed first (see `places`).
    """

    def gather_nd(self, x: Term, indices: Term) -> Term:
        shape = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
        return self.emit("GatherND", [x, self.cast(indices, int64)], x.dtype, shape)

    def scatter_nd(self, base: Term, indices: Term, updates: Term, combine: str | None) -> Term:
        depth = indices.shape[-1]
        shape = (*indices.shape[:-1], *base.shape[depth:])
        updates = self.expanded(updates, shape, [*self.sizes(indices)[:-1], *self.sizes(base)[depth:]])
        if base.dtype.is_bool and combine is not None:
            wide = self.scatter_nd(self.converted(base, int32), indices, self.converted(updates, int32), "maximum")
            return self.cast(wide, bool_)
        reduction = {None: "none", "add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}[combine]
        operands = [base, self.cast(indices, int64), updates]
        return self.emit("ScatterND", operands, base.dtype, base.shape, reduction=reduction)

    def dynamic_update(self, x: Term, box: Term, starts: Sequence[Term]) -> Term:
        """Scatter the rows of the box; dimensions that it takes in whole are part of a row."""
        if not starts:
            return self.reshape(box, ())
        depth = x.rank
        while depth > 1 and starts[depth - 1].known == 0 and box.shape[depth - 1] == x.shape[depth - 1]:
            depth -= 1
        sizes = self.sizes(box)
        columns = []
        for axis in range(depth):
            shape = [box.shape[axis] if a == axis else 1 for a in range(depth)]
            place = self.iota(shape, axis, int64, [sizes[axis] if a == axis else 1 for a in range(depth)])
            columns.append(place + self._fitting(starts[axis], self.sizes(x)[axis], sizes[axis]))
        wide = self.broadcast(*columns)
        indices = [self.reshape(c, (*c.shape, 1), [*self.sizes(c), 1]) for c in wide]
        return self.scatter_nd(x, self.concatenate(indices, depth), box, None)

    def _fitting(self, start: Term, whole: Any, size: Any) -> Term:
        """Return a start at which a box fits: the error word has told others, and ONNX Runtime would refuse them."""
        start = self.cast(start, int64)
        if start.known is not None:
            return start
        whole, size = (self.cast(one, int64) if isinstance(one, Term) else one for one in (whole, size))
        last = self.constant(whole - size, int64) if isinstance(whole, int) and isinstance(size, int) else whole - size
        return self.binary("maximum", self.binary("minimum", start, last), self.constant(0, int64))

    def reduce(self, x: Term, axes: Sequence[int], op: str, start: Any) -> Term:
        if not axes:
            return x
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        if x.dtype.is_bool:
            fold = {"or": "maximum", "and": "minimum"}.get(op, op)
            return self.cast(self.reduce(self.converted(x, int32), axes, fold, 0 if fold == "maximum" else 1), bool_)
        if x.dtype is uint64 and op in ("maximum", "minimum"):
            return self.converted(self.reduce(self._as_ordered(x), axes, op, start), uint64) ^ 2**63
        if x.dtype in WIDE:
            return self.converted(self.reduce(self.converted(x, int64), axes, op, start), x.dtype)
        if x.dtype.is_integer and op == "add":
            return self._integer_sum(x, axes)
        if x.dtype.is_integer and op == "multiply":
            return self._integer_product(x, axes)
        result = self.emit(_FOLDS[op], [x, self.integers(list(axes))], x.dtype, shape, keepdims=0)
        if op in ("maximum", "minimum") and x.dtype.is_floating:  # the runtime passes over nan
            absent = self.reduce(self.is_nan(x), axes, "or", False)
            result = self.select(absent, math.nan, result)
        return result

    def _as_ordered(self, x: Term) -> Term:
        """Turn the uppermost bit of uint64: the order of int64 is then that of the numbers."""
        return self.converted(x ^ 2**63, int64)

    def _integer_sum(self, x: Term, axes: Sequence[int]) -> Term:
        """Multiply by a matrix of ones: the runtime's sums of integers are those of float64, and saturate."""
        sizes = self.sizes(x)
        ones = self.expanded(self.constant(1, x.dtype), [x.shape[a] for a in axes], [sizes[a] for a in axes])
        return self.dot(x, ones, (), (), tuple(axes), tuple(range(len(axes))))

    def _integer_product(self, x: Term, axes: Sequence[int]) -> Term:
        """Multiply in a loop along one dimension after the other, for the same reason."""
        for axis in sorted(axes, reverse=True):
            x = self._product_along(x, axis)
        return x

    def _product_along(self, x: Term, axis: int) -> Term:
        count = self.as_size(self.term(self.sizes(x)[axis], self.constant(0, int64)))
        shape, sizes = [*x.shape[:axis], *x.shape[axis + 1 :]], self.sizes(x)
        one = self.expanded(self.constant(1, x.dtype), shape, [*sizes[:axis], *sizes[axis + 1 :]])

        def has_next(now: list[Term], word: Term) -> Term:
            self.word = word
            return now[0] < count

        def turn(now: list[Term], word: Term) -> list[Term]:
            self.word = word
            at, product = now
            return [at + 1, product * self.emit("Gather", [x, at], x.dtype, shape, axis=axis)]

        after = self.loop(has_next, turn, [self.constant(0, int64), one], self.sure(self.word))
        self.word = after.pop()
        return after[1]

    def sort(self, x: Term, axis: int, descending: bool) -> tuple[Term, Term]:
        if x.dtype is uint64:
            values, places = self.sort(self._as_ordered(x), axis, descending)
            return self.converted(values, uint64) ^ 2**63, places
        if x.dtype in (*WIDE, bool_):
            values, places = self.sort(self.converted(x, int64), axis, descending)
            return self.cast(values, x.dtype), places
        values, places = self.new_term(x.dtype, x.shape), self.new_term(int64, x.shape)
        count = self.shape_vector([self.size(x, axis)])
        attributes = {"axis": axis, "largest": int(descending), "sorted": 1}
        self.nodes.append(Record("TopK", (x.name, count.name), (values.name, places.name), attributes))
        return values, places

    def distinct(self, x: Term) -> list[Term]:
        if x.dtype.is_floating:
            self.fail(self.is_nan(x))  # the runtime has no order for nan
        if x.dtype in (*WIDE, bool_, int32):
            values, *numbers = self.distinct(self.cast(x, int64))
            return [self.cast(values, x.dtype), *numbers]
        values, first, place, count = (self.new_term(dtype, (None,)) for dtype in (x.dtype, int64, int64, int64))
        place.shape = x.shape
        names = tuple(term.name for term in (values, first, place, count))
        self.nodes.append(Record("Unique", (x.name,), names, {"sorted": 0}))
        return [values, place, count]

    def dot(
        self, x: Term, y: Term, x_batch: Sequence[int], y_batch: Sequence[int], x_axes: Sequence[int],
        y_axes: Sequence[int],
    ) -> Term:
        """Turn the operands to stacks of matrices, and multiply these."""
        if x.dtype in (*WIDE, bool_):
            wide = self.dot(self.converted(x, int64), self.converted(y, int64), x_batch, y_batch, x_axes, y_axes)
            return self.cast(wide, x.dtype)
        x_free = [a for a in range(x.rank) if a not in (*x_batch, *x_axes)]
        y_free = [a for a in range(y.rank) if a not in (*y_batch, *y_axes)]
        left = self._matrices(x, x_batch, x_free, x_axes)
        right = self._matrices(y, y_batch, y_axes, y_free)
        shape = [x.shape[a] for a in (*x_batch, *x_free)] + [y.shape[a] for a in y_free]
        product = self.emit("MatMul", [left, right], x.dtype, (*left.shape[:-1], right.shape[-1]))
        if product.shape == tuple(shape):
            return product
        x_sizes, y_sizes = self.sizes(x), self.sizes(y)
        sizes = [x_sizes[a] for a in (*x_batch, *x_free)] + [y_sizes[a] for a in y_free]
        return self.reshape(product, shape, sizes)

    def _matrices(self, x: Term, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> Term:
        turned = self.transpose(x, [*batch, *rows, *columns])
        if len(rows) == 1 and len(columns) == 1:
            return turned
        sizes = self.sizes(x)
        shape: list[Any] = [x.shape[a] for a in batch]
        values: list[Any] = [sizes[a] for a in batch]
        for group in (rows, columns):
            static_sizes = [x.shape[a] for a in group]
            shape.append(math.prod(static_sizes) if all(isinstance(size, int) for size in static_sizes) else None)
            total: Any = 1
            for a in group:
                total = total * sizes[a]
            values.append(total)
        return self.reshape(turned, shape, values)

    def sure(self, word: Term | None) -> Term:
        return word if word is not None else self.constant(0, int32)

    def fail_where(self, condition: Term) -> None:
        if self.place not in self.places:
            self.places.append(self.place)
        number = self.constant(self.places.index(self.place) + 1, int32)
        before = self.sure(self.word)
        self.word = self.select(condition & before.same(0), number, before)

    def block(self, parameters: Sequence[Term]) -> Any:
        return self.inside(parameters)

    def _end(self, block: Block, values: Sequence[Term]) -> None:
        """End a subgraph; each result is a name of its own."""
        for value in values:
            result = self.new_term(value.dtype, value.shape)
            block.nodes.append(Record("Identity", (value.name,), (result.name,)))
            block.outputs.append(result)

    def branch(self, index: Term, arms: Sequence[tuple[Any, list[Term]]]) -> list[Term]:
        shapes = [_common_sizes([values[i].shape for _, values in arms]) for i in range(len(arms[0][1]))]
        for block, values in arms:
            self._end(block, values)
        if not shapes:
            return []
        if index.dtype.is_bool:
            return self._choice(index, arms[0][0], arms[1][0], shapes)
        last = arms[-1][0]
        for number in reversed(range(1, len(arms) - 1)):
            with self.inside([]) as around:
                results = self._choice(self.compare("eq", index, number), arms[number][0], last, shapes)
            self._end(around, results)
            last = around
        if len(arms) == 1:
            return self._choice(self.constant(True, bool_), arms[0][0], arms[0][0], shapes)
        return self._choice(self.compare("eq", index, 0), arms[0][0], last, shapes)

    def _choice(self, condition: Term, first: Block, second: Block, shapes: Sequence[Any]) -> list[Term]:
        results = [self.new_term(x.dtype, shape) for x, shape in zip(first.outputs, shapes, strict=True)]
        attributes = {"then_branch": first, "else_branch": second}
        self.nodes.append(Record("If", (condition.name,), tuple(x.name for x in results), attributes))
        return results

    def loop(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a Loop. Its test is computed before it and at the end of each turn."""
        shapes = [x.shape for x in state]
        first = test(list(state), word)
        first = first & self.sure(self.word).same(0)
        word = self.sure(self.word)
        while True:
            turn, before = self.new_term(int64, ()), self.new_term(bool_, ())
            inside = [self.new_term(x.dtype, shape) for x, shape in zip(state, shapes, strict=True)]
            own = self.new_term(int32, ())
            with self.inside([turn, before, *inside, own]) as block:
                after = body(list(inside), own)
                go = test(list(after), self.sure(self.word))
                go = go & self.sure(self.word).same(0)
                end = self.sure(self.word)
            joined = [_common_sizes([a, b.shape]) for a, b in zip(shapes, after, strict=True)]
            if joined == shapes:
                break
            shapes = joined
        self._end(block, [go, *after, end])
        results = [self.new_term(x.dtype, shape) for x, shape in zip(state, shapes, strict=True)]
        results.append(self.new_term(int32, ()))
        inputs = ("", first.name, *(x.name for x in state), word.name)
        self.nodes.append(Record("Loop", inputs, tuple(x.name for x in results), {"body": block}))
        return results


def _common_sizes(shapes: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the sizes that all of them have; the others are open."""
    if len({len(shape) for shape in shapes}) > 1:
        raise GraphUnfit("shape", "the number of dimensions changes")
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))


__all__ = ["Writer"]
