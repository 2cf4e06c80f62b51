"""Write the body of a function in StableHLO: gathers, reductions, products, control flow, and the error word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.backends.stablehlo.arrays import join_numbers, list_text, return_text
from autoconv.backends.stablehlo.shapes import ShapeWriter
from autoconv.graph.dtypes import complex64, complex128, int32, int64


class Writer(ShapeWriter):
    """Write the body of a function. The error word n > 0 means that the node at `places[n - 1]` failed first."""

    def gather_nd(self, x: Term, indices: Term) -> Term:
        """Take the rows at vectors of positions."""
        depth, batch_rank = indices.shape[-1], indices.rank - 1
        slice_sizes = x.shape[depth:]
        dimension_numbers = (
            f"offset_dims = [{join_numbers(range(batch_rank, batch_rank + len(slice_sizes)))}], "
            f"collapsed_slice_dims = [{join_numbers(range(depth))}], start_index_map = [{join_numbers(range(depth))}], "
            f"index_vector_dim = {batch_rank}"
        )
        properties = f"dimension_numbers = #stablehlo.gather<{dimension_numbers}>, indices_are_sorted = false"
        shape = (*indices.shape[:-1], *slice_sizes)
        if None in slice_sizes:
            sizes = self.vector_of_sizes([*[1] * depth, *self.sizes(x)[depth:]])
            return self.emit("dynamic_gather", [x, indices, sizes], x.dtype, shape, properties)
        properties += f", slice_sizes = array<i64{list_text([1] * depth + list(slice_sizes))}>"
        return self.emit("gather", [x, indices], x.dtype, shape, properties)

    def scatter_nd(self, base: Term, indices: Term, updates: Term, combine: str | None) -> Term:
        """Return a copy of `base` whose rows at `indices` are `updates`, or are combined with them by `combine`."""
        indexed_rank, batch_rank = indices.shape[-1], indices.rank - 1
        shape_of_updates = (*indices.shape[:-1], *base.shape[indexed_rank:])
        updates = self.expand(updates, shape_of_updates, [*self.sizes(indices)[:-1], *self.sizes(base)[indexed_rank:]])
        dimension_numbers = (
            f"update_window_dims = [{join_numbers(range(batch_rank, updates.rank))}], "
            f"inserted_window_dims = [{join_numbers(range(indexed_rank))}], "
            f"scatter_dims_to_operand_dims = [{join_numbers(range(indexed_rank))}], index_vector_dim = {batch_rank}"
        )
        properties = (
            f"scatter_dimension_numbers = #stablehlo.scatter<{dimension_numbers}>, indices_are_sorted = false, "
            "unique_indices = false"
        )
        old, new = self.new_term(base.dtype, ()), self.new_term(base.dtype, ())
        with self.region([old, new]) as lines:
            self.end_region([new if combine is None else self.emit_binary(combine, old, new)])
        return self.emit("scatter", [base, indices, updates], base.dtype, base.shape, properties, [lines])

    def sort(self, x: Term, axis: int, descending: bool) -> tuple[Term, Term]:
        """Sort along an axis and return the values and their positions.

        Equal elements stay in order, NaN is the largest.
        """
        positions = self.iota(x.shape, axis, int32, self.sizes(x))
        first, second = self.new_term(x.dtype, ()), self.new_term(x.dtype, ())
        first_position, second_position = self.new_term(int32, ()), self.new_term(int32, ())
        with self.region([first, second, first_position, second_position]) as lines:
            is_before = self.compare("gt" if descending else "lt", first, second)
            if x.dtype.is_floating:  # nan is above all numbers
                upper, lower = (first, second) if descending else (second, first)
                is_before = is_before | (self.is_nan(upper) & ~self.is_nan(lower))
            self.end_region([is_before])
        properties = f"dimension = {axis} : i64, is_stable = true"
        types = [(x.dtype, x.shape), (int32, x.shape)]
        values, positions = self.emit_all("sort", [x, positions], types, properties, [lines])
        return values, positions

    def dot(
        self, x: Term, y: Term, x_batch: Sequence[int], y_batch: Sequence[int], x_axes: Sequence[int],
        y_axes: Sequence[int],
    ) -> Term:
        """Contract axes; the result has batch axes first, then the other axes of `x`, then those of `y`."""
        shape = [x.shape[axis] for axis in x_batch]
        shape += [size for axis, size in enumerate(x.shape) if axis not in (*x_batch, *x_axes)]
        shape += [size for axis, size in enumerate(y.shape) if axis not in (*y_batch, *y_axes)]
        dimension_numbers = (
            f"lhs_batching_dimensions = [{join_numbers(x_batch)}], "
            f"rhs_batching_dimensions = [{join_numbers(y_batch)}], "
            f"lhs_contracting_dimensions = [{join_numbers(x_axes)}], "
            f"rhs_contracting_dimensions = [{join_numbers(y_axes)}]"
        )
        properties = f"dot_dimension_numbers = #stablehlo.dot<{dimension_numbers}>"
        return self.emit("dot_general", [x, y], x.dtype, shape, properties)

    def cholesky(self, x: Term) -> Term:
        """Return the factors, with zeros above the diagonal."""
        factor = self.emit("cholesky", [x], x.dtype, x.shape, "lower = true")
        size = self.sizes(x)[-1]
        rows = self.iota((x.shape[-1], 1), 0, int64, (size, 1))
        columns = self.iota((1, x.shape[-1]), 1, int64, (1, size))
        return self.select(columns <= rows, factor, 0)

    def triangular_solve(self, x: Term, y: Term, lower: bool, adjoint: bool) -> Term:
        """Solve triangular systems with the matrix on the left."""
        transpose = "ADJOINT" if adjoint else "NO_TRANSPOSE"
        properties = (
            f"left_side = true, lower = {str(lower).lower()}, unit_diagonal = false, "
            f"transpose_a = #stablehlo<transpose {transpose}>"
        )
        return self.emit("triangular_solve", [x, y], y.dtype, y.shape, properties)

    def fft(self, x: Term, kind: str, axes: Sequence[int], sizes: Sequence[int]) -> Term:
        """Transform along one axis after the other, each moved to the end and back."""
        for axis, size in zip(axes, sizes, strict=True):
            order = [i for i in range(x.rank) if i != axis] + [axis]
            x = self.transpose(x, order)
            dtype, last_size = x.dtype, size
            if kind == "rfft":
                dtype, last_size = (complex64 if x.dtype.size == 4 else complex128), size // 2 + 1
            elif kind == "irfft":
                dtype = x.dtype.real_dtype
            properties = f"fft_type = #stablehlo<fft_type {kind.upper()}>, fft_length = array<i64: {size}>"
            x = self.emit("fft", [x], dtype, (*x.shape[:-1], last_size), properties)
            x = self.transpose(x, [order.index(i) for i in range(x.rank)])
        return x

    def reduce(self, x: Term, axes: Sequence[int], op: str, start: Any) -> Term:
        """Fold along axes by an operation of two arrays."""
        if not axes:
            return x
        initial_value = start if isinstance(start, Term) else self.constant(start, x.dtype)
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        first, second = self.new_term(x.dtype, ()), self.new_term(x.dtype, ())
        with self.region([first, second]) as lines:
            self.end_region([self.emit_binary(op, first, second)])
        properties = f"dimensions = array<i64{list_text(axes)}>"
        return self.emit("reduce", [x, initial_value], x.dtype, shape, properties, [lines])

    def block(self, parameters: Sequence[Term]) -> Any:
        return self.region(parameters)

    def branch(self, index: Term, arms: Sequence[tuple[Any, list[Term]]]) -> list[Term]:
        """Choose among arms by a bool or a position; arms whose results differ in shape are refused."""
        shapes = [[x.shape for x in values] for _, values in arms]
        if any(arm_shapes != shapes[0] for arm_shapes in shapes):
            raise GraphUnfit("cond", "the arms give arrays of different shapes")
        for lines, values in arms:
            lines.append(f"{self.indent}  {return_text(values)}")
        results = [(x.dtype, x.shape) for x in arms[0][1]]
        regions = [lines for lines, _ in arms]
        if not results:
            return []
        if index.dtype.is_bool:
            return self.emit_all("if", [index], results, "", regions)
        return self.emit_all("case", [self.cast(index, int32)], results, "", regions)

    def loop(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a loop, which stops at an error word other than 0."""
        operands = [*state, word]
        parameters = self._new_terms_like(operands)
        with self.region(parameters) as lines:
            condition = test(parameters[:-1], parameters[-1])
            test_cannot_fail = self.error_word is parameters[-1]
            self.end_region([condition & parameters[-1].same(0)])
        if not test_cannot_fail:  # its error word has to be in the state: the test moves to the end of the body
            return self._loop_with_failing_test(test, body, state, word)
        parameters = self._new_terms_like(operands)
        with self.region(parameters) as body_lines:
            next_state = body(parameters[:-1], parameters[-1])
            self._check_shapes(state, next_state)
            self.end_region([*next_state, self.error_word_or_zero(self.error_word)])
        return self.emit_all("while", operands, [(x.dtype, x.shape) for x in operands], "", [lines, body_lines])

    def _loop_with_failing_test(
        self, test: Callable[[list[Term], Term], Term], body: Callable[[list[Term], Term], list[Term]],
        state: Sequence[Term], word: Term,
    ) -> list[Term]:
        """Write a loop whose test may set the error word, which only the body can return: the body ends with it."""
        initial_condition = test(list(state), word)
        operands = [*state, self.error_word_or_zero(self.error_word), initial_condition]
        parameters = self._new_terms_like(operands)
        with self.region(parameters) as lines:
            self.end_region([parameters[-1] & parameters[-2].same(0)])
        parameters = self._new_terms_like(operands)
        with self.region(parameters) as body_lines:
            next_state = body(parameters[:-2], parameters[-2])
            self._check_shapes(state, next_state)
            condition = test(list(next_state), self.error_word_or_zero(self.error_word))
            self.end_region([*next_state, self.error_word_or_zero(self.error_word), condition])
        return self.emit_all("while", operands, [(x.dtype, x.shape) for x in operands], "", [lines, body_lines])[:-1]

    def _new_terms_like(self, terms: Sequence[Term]) -> list[Term]:
        """Return new terms of the same dtypes and shapes."""
        return [self.new_term(x.dtype, x.shape) for x in terms]

    def _check_shapes(self, state: Sequence[Term], next_state: Sequence[Term]) -> None:
        """Raise GraphUnfit if an iteration changes a shape of the state."""
        for term, next_term in zip(state, next_state, strict=True):
            if term.shape != next_term.shape:
                raise GraphUnfit("while", "a variable of the loop changes its shape")
