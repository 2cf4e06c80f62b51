"""Write the nodes of an ONNX graph: gathers, scatters, reductions, products, control flow, and the error word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.onnx.nodes import DTYPES_COMPUTED_AS_INT64, Block, Record
from autoconv.backends.onnx.shapes import ShapeWriter
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import bfloat16, bool_, float64, int32, int64, uint64

_REDUCTIONS = {"add": "ReduceSum", "multiply": "ReduceProd", "maximum": "ReduceMax", "minimum": "ReduceMin"}


class Writer(ShapeWriter):
    """The writer of ONNX graphs: the operations of `portable/arrays.py` and `portable/control.py` as nodes."""

    def gather_nd(self, x: Term, indices: Term) -> Term:
        shape = (*indices.shape[:-1], *x.shape[indices.shape[-1] :])
        return self.emit("GatherND", [x, self.cast(indices, int64)], x.dtype, shape)

    def scatter_nd(self, base: Term, indices: Term, updates: Term, combine: str | None) -> Term:
        """Return a copy of `base` whose rows at `indices` are `updates`, or are combined with them by `combine`."""
        indexed_rank = indices.shape[-1]
        shape = (*indices.shape[:-1], *base.shape[indexed_rank:])
        updates = self.expand(updates, shape, [*self.sizes(indices)[:-1], *self.sizes(base)[indexed_rank:]])
        if base.dtype.is_bool and combine is not None:
            # A minimum of bools is their `and`; a sum or a maximum of them is their `or`.
            extreme = "minimum" if combine == "minimum" else "maximum"
            result = self.scatter_nd(self.emit_cast(base, int32), indices, self.emit_cast(updates, int32), extreme)
            return self.cast(result, bool_)
        reduction = {None: "none", "add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}[combine]
        operands = [base, self.cast(indices, int64), updates]
        return self.emit("ScatterND", operands, base.dtype, base.shape, reduction=reduction)

    def dynamic_update(self, x: Term, update: Term, starts: Sequence[Term]) -> Term:
        """Scatter rows, whose dimensions are the last ones that `update` covers in full; the others are indexed."""
        if not starts:
            return self.reshape(update, ())
        indexed_rank = x.rank
        while indexed_rank > 1:
            last_axis = indexed_rank - 1
            if starts[last_axis].constant_value != 0 or update.shape[last_axis] != x.shape[last_axis]:
                break
            indexed_rank -= 1
        sizes = self.sizes(update)
        index_columns = []
        for axis in range(indexed_rank):
            shape = [update.shape[axis] if i == axis else 1 for i in range(indexed_rank)]
            position = self.iota(shape, axis, int64, [sizes[axis] if i == axis else 1 for i in range(indexed_rank)])
            index_columns.append(position + self._clamp_start(starts[axis], self.sizes(x)[axis], sizes[axis]))
        index_columns = self.broadcast(*index_columns)
        indices = [self.reshape(column, (*column.shape, 1), [*self.sizes(column), 1]) for column in index_columns]
        return self.scatter_nd(x, self.concatenate(indices, indexed_rank), update, combine=None)

    def _clamp_start(self, start: Term, full_size: Any, size: Any) -> Term:
        """Clamp the start of an update of `size` elements so that it ends within `full_size`.

        A constant start is in range already. ONNX Runtime fails for others out of range, and returns no error word.
        """
        start = self.cast(start, int64)
        if start.constant_value is not None:
            return start
        full_size, size = (self.cast(x, int64) if isinstance(x, Term) else x for x in (full_size, size))
        last_start = full_size - size
        if isinstance(last_start, int):
            last_start = self.constant(last_start, int64)
        return self.binary("maximum", self.binary("minimum", start, last_start), self.constant(0, int64))

    def reduce(self, x: Term, axes: Sequence[int], op: str, start: Any) -> Term:
        """Reduce along axes, as NumPy does: a maximum or minimum of floats with a NaN is NaN.

        ONNX Runtime reduces no bools or narrow integers, and rounds sums and products of integers to float64.
        """
        if not axes:
            return x
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        if x.dtype.is_bool:
            op = {"or": "maximum", "and": "minimum"}.get(op, op)
            # Without elements, ONNX's maximum is the lowest integer: the test `> 0` makes it false.
            return self.reduce(self.emit_cast(x, int32), axes, op, 0 if op == "maximum" else 1) > 0
        if x.dtype is uint64 and op in ("maximum", "minimum"):
            return self.emit_cast(self.reduce(self._to_signed_order(x), axes, op, start), uint64) ^ 2**63
        if x.dtype in DTYPES_COMPUTED_AS_INT64:
            # Without elements, ONNX returns the neutral element of int64, which `start` limits to the narrow dtype.
            result = self.binary(op, self.reduce(self.emit_cast(x, int64), axes, op, start), start)
            return self.emit_cast(result, x.dtype)
        if x.dtype.is_integer and op == "add":
            return self._integer_sum(x, axes)
        if x.dtype.is_integer and op == "multiply":
            return self._integer_product(x, axes)
        result = self.emit(_REDUCTIONS[op], [x, self.integers(list(axes))], x.dtype, shape, keepdims=0)
        if op in ("maximum", "minimum") and x.dtype.is_floating:  # the runtime ignores nan
            has_nan = self.reduce(self.is_nan(x), axes, "or", start=False)
            result = self.select(has_nan, math.nan, result)
        return result

    def _to_signed_order(self, x: Term) -> Term:
        """Flip the highest bit of uint64, so that the order of int64 is that of the unsigned numbers."""
        return self.emit_cast(x ^ 2**63, int64)

    def _integer_sum(self, x: Term, axes: Sequence[int]) -> Term:
        """Sum by a product with ones: the runtime sums integers in float64, and saturates."""
        sizes = self.sizes(x)
        ones = self.expand(self.constant(1, x.dtype), [x.shape[axis] for axis in axes], [sizes[axis] for axis in axes])
        return self.dot(x, ones, (), (), tuple(axes), tuple(range(len(axes))))

    def _integer_product(self, x: Term, axes: Sequence[int]) -> Term:
        """Multiply in a loop along each dimension in turn: the runtime multiplies integers in float64."""
        for axis in sorted(axes, reverse=True):  # from the last on, so that the numbers of the others stay valid
            x = self._multiply_along(x, axis)
        return x

    def _multiply_along(self, x: Term, axis: int) -> Term:
        """Return the products of the elements along an axis, one factor in each iteration of a loop."""
        count = self.as_size(self.as_term(self.sizes(x)[axis], self.constant(0, int64)))
        shape, sizes = [*x.shape[:axis], *x.shape[axis + 1 :]], self.sizes(x)
        one = self.expand(self.constant(1, x.dtype), shape, [*sizes[:axis], *sizes[axis + 1 :]])

        def multiply_next(state: list[Term]) -> list[Term]:
            position, product = state
            return [position + 1, product * self.emit("Gather", [x, position], x.dtype, shape, axis=axis)]

        _, product = self.loop_while(lambda state: state[0] < count, multiply_next, [self.constant(0, int64), one])
        return product

    def sort(self, x: Term, axis: int, descending: bool) -> tuple[Term, Term]:
        """Sort along an axis and return the values and their positions, by dtypes that the runtime can sort."""
        if x.dtype is uint64:
            values, positions = self.sort(self._to_signed_order(x), axis, descending)
            return self.emit_cast(values, uint64) ^ 2**63, positions
        if x.dtype in (*DTYPES_COMPUTED_AS_INT64, bool_):
            values, positions = self.sort(self.emit_cast(x, int64), axis, descending)
            return self.cast(values, x.dtype), positions
        if x.dtype is bfloat16:
            values, positions = self.sort(self.widen(x), axis, descending)
            return self.emit_cast(values, x.dtype), positions
        values, positions = self.new_term(x.dtype, x.shape), self.new_term(int64, x.shape)
        count = self.vector_of_sizes([self.size(x, axis)])
        attributes = {"axis": axis, "largest": int(descending), "sorted": 1}
        self.nodes.append(Record("TopK", (x.name, count.name), (values.name, positions.name), attributes))
        return values, positions

    def find_distinct(self, x: Term) -> list[Term]:
        """See `Arrays.find_distinct`. A nan sets the error word: the runtime has no order for it."""
        if x.dtype.is_floating:
            self.fail_if(self.is_nan(x))
        if x.dtype in (*DTYPES_COMPUTED_AS_INT64, bool_, int32, bfloat16):
            wide_x = self.widen(x) if x.dtype is bfloat16 else self.cast(x, int64)
            values, *positions_and_counts = self.find_distinct(wide_x)
            return [self.cast(values, x.dtype), *positions_and_counts]
        values, first_positions = self.new_term(x.dtype, (None,)), self.new_term(int64, (None,))
        indices, counts = self.new_term(int64, x.shape), self.new_term(int64, (None,))
        names = tuple(term.name for term in (values, first_positions, indices, counts))
        self.nodes.append(Record("Unique", (x.name,), names, {"sorted": 0}))
        return [values, indices, counts]

    def dot(
        self, x: Term, y: Term, x_batch: Sequence[int], y_batch: Sequence[int], x_axes: Sequence[int],
        y_axes: Sequence[int],
    ) -> Term:
        """Transpose and reshape the operands to stacks of matrices, and multiply these."""
        if x.dtype in (*DTYPES_COMPUTED_AS_INT64, bool_):
            result = self.dot(self.emit_cast(x, int64), self.emit_cast(y, int64), x_batch, y_batch, x_axes, y_axes)
            return self.cast(result, x.dtype)
        x_other_axes = [axis for axis in range(x.rank) if axis not in (*x_batch, *x_axes)]
        y_other_axes = [axis for axis in range(y.rank) if axis not in (*y_batch, *y_axes)]
        x_matrices = self._as_matrices(x, x_batch, x_other_axes, x_axes)
        y_matrices = self._as_matrices(y, y_batch, y_axes, y_other_axes)
        shape = [x.shape[axis] for axis in (*x_batch, *x_other_axes)] + [y.shape[axis] for axis in y_other_axes]
        product = self.emit("MatMul", [x_matrices, y_matrices], x.dtype, (*x_matrices.shape[:-1], y_matrices.shape[-1]))
        if product.shape == tuple(shape):
            return product
        x_sizes, y_sizes = self.sizes(x), self.sizes(y)
        sizes = [x_sizes[axis] for axis in (*x_batch, *x_other_axes)] + [y_sizes[axis] for axis in y_other_axes]
        return self.reshape(product, shape, sizes)

    def _as_matrices(
        self, x: Term, batch_axes: Sequence[int], row_axes: Sequence[int], column_axes: Sequence[int]
    ) -> Term:
        """Return a stack of matrices: the batch axes, then all row axes as one, then all column axes as one."""
        transposed_x = self.transpose(x, [*batch_axes, *row_axes, *column_axes])
        if len(row_axes) == 1 and len(column_axes) == 1:
            return transposed_x
        sizes = self.sizes(x)
        stack_shape: list[Any] = [x.shape[axis] for axis in batch_axes]
        stack_sizes: list[Any] = [sizes[axis] for axis in batch_axes]
        for axes in (row_axes, column_axes):
            static_sizes = [x.shape[axis] for axis in axes]
            stack_shape.append(math.prod(static_sizes) if all(isinstance(size, int) for size in static_sizes) else None)
            total: Any = 1
            for axis in axes:
                total = total * sizes[axis]
            stack_sizes.append(total)
        return self.reshape(transposed_x, stack_shape, stack_sizes)

    def fft(self, x: Term, kind: str, axes: Sequence[int], sizes: Sequence[int]) -> Term:
        """Transform forwards, and in float64, because the runtime is exact for these transforms only.

        An inverse transform is the conjugate of the forward transform of the conjugate numbers, divided by their count.
        """
        dtype = x.dtype.real_dtype if x.dtype.is_complex else x.dtype
        pairs = self.as_pairs(x) if x.dtype.is_complex else self.reshape(x, (*x.shape, 1))
        pairs = self.cast(pairs, float64)
        conjugation = self.array(np.array([1.0, -1.0]), float64)  # a factor of pairs
        if kind in ("ifft", "irfft"):
            pairs = pairs * conjugation
        for axis, size in zip(axes, sizes, strict=True):
            if kind == "irfft":  # append the second half of the spectrum, which mirrors the first one
                mirrored_part = self.reverse(self.static_slice(pairs, axis, 1, (size + 1) // 2), (axis,))
                pairs = self.concatenate([pairs, mirrored_part * conjugation], axis)
            shape, attributes = [*pairs.shape[:-1], 2], {}
            if kind == "rfft":
                shape[axis], attributes = size // 2 + 1, {"onesided": 1}
            no_length = Term(self, "", int64, ())  # the empty name stands for an optional input that is left out
            pairs = self.emit("DFT", [pairs, no_length, self.constant(axis, int64)], float64, shape, **attributes)
        if kind in ("ifft", "irfft"):
            pairs = pairs * conjugation / float(math.prod(sizes))
        result = self.from_pairs(self.cast(pairs, dtype))
        return self.emit_unary("real", result) if kind == "irfft" else result

    def _end_block(self, block: Block, values: Sequence[Term]) -> None:
        """Set a block's results, which need names of their own: a value may be a parameter, or occur twice."""
        for value in values:
            result = self.new_term(value.dtype, value.shape)
            block.nodes.append(Record("Identity", (value.name,), (result.name,)))
            block.outputs.append(result)

    def branch(self, index: Term, arms: Sequence[tuple[Any, list[Term]]]) -> list[Term]:
        """Write an If, or nested ones for more than two arms, since an If chooses between two blocks.

        A bool `index` chooses the first arm if it is true.
        """
        shapes = [_common_sizes([values[i].shape for _, values in arms]) for i in range(len(arms[0][1]))]
        for block, values in arms:
            self._end_block(block, values)
        if not shapes:
            return []
        if index.dtype.is_bool:
            return self._emit_if(index, arms[0][0], arms[1][0], shapes)
        else_block = arms[-1][0]
        for position in reversed(range(1, len(arms) - 1)):
            with self.block([]) as block:
                results = self._emit_if(self.compare("eq", index, position), arms[position][0], else_block, shapes)
            self._end_block(block, results)
            else_block = block
        if len(arms) == 1:
            return self._emit_if(self.constant(True, bool_), arms[0][0], arms[0][0], shapes)
        return self._emit_if(self.compare("eq", index, 0), arms[0][0], else_block, shapes)

    def _emit_if(self, condition: Term, then_block: Block, else_block: Block, shapes: Sequence[Any]) -> list[Term]:
        """Write an If whose results have these shapes."""
        results = [self.new_term(x.dtype, shape) for x, shape in zip(then_block.outputs, shapes, strict=True)]
        attributes = {"then_branch": then_block, "else_branch": else_block}
        self.nodes.append(Record("If", (condition.name,), tuple(x.name for x in results), attributes))
        return results

    def loop(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a Loop; return the state after it, then the error word.

        ONNX computes the condition once before the loop, and then at the end of each iteration. See `Control.loop` for
        `test` and `body`.
        """
        shapes = [x.shape for x in state]
        initial_condition = test(list(state), word)
        initial_condition = initial_condition & self.error_word_or_zero(self.error_word).same(0)
        word = self.error_word_or_zero(self.error_word)
        while True:  # write the body again until all sizes that change between iterations are open
            iteration_number, condition_before = self.new_term(int64, ()), self.new_term(bool_, ())
            state_terms = [self.new_term(x.dtype, shape) for x, shape in zip(state, shapes, strict=True)]
            word_term = self.new_term(int32, ())
            with self.block([iteration_number, condition_before, *state_terms, word_term]) as block:
                next_state = body(list(state_terms), word_term)
                condition = test(list(next_state), self.error_word_or_zero(self.error_word))
                condition = condition & self.error_word_or_zero(self.error_word).same(0)
                next_word = self.error_word_or_zero(self.error_word)
            joined_shapes = [_common_sizes([shape, x.shape]) for shape, x in zip(shapes, next_state, strict=True)]
            if joined_shapes == shapes:
                break
            shapes = joined_shapes
        self._end_block(block, [condition, *next_state, next_word])
        results = [self.new_term(x.dtype, shape) for x, shape in zip(state, shapes, strict=True)]
        results.append(self.new_term(int32, ()))
        inputs = ("", initial_condition.name, *(x.name for x in state), word.name)
        self.nodes.append(Record("Loop", inputs, tuple(x.name for x in results), {"body": block}))
        return results


def _common_sizes(shapes: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return a shape with the sizes in which all shapes agree, and None for the others, which become open."""
    if len({len(shape) for shape in shapes}) > 1:
        raise GraphUnfit("shape", "the number of dimensions changes")
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))
