"""The operations on arrays that each writer implements for its runtime, such as XLA or ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.portable.terms import ListTerm, Term, as_array
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType, bool_


class Arrays:
    """The operations on arrays that a writer implements; those without a body of their own return None or are refused.

    Operands of the elementwise operations, `emit_…`, have one dtype and shape; `elements.Elementwise` has forms of
    these operations that convert and broadcast first. Names of operations are StableHLO's, such as "multiply". A
    `shape` has None for each open size (one that is only computed at run time). `sizes`, if given, has the same
    numbers, and for each open size a term with its value.
    """

    runtime = "the other runtime"  # its name in errors
    condition_dtype = bool_
    checks_positions = False  # True if the runtime itself raises for a position out of range
    list_capacity = 64  # the number of elements that a list of the graph may have

    # ---- elements

    def constant(self, number: Any, dtype: DType) -> Term:
        """Return a constant number as an array without dimensions; of an integer, the term has the value."""
        result = self.array(as_array(number, dtype), dtype)
        if dtype.is_integer:
            result.constant_value = int(number)
        return result

    def emit_unary(self, name: str, x: Term) -> Term:
        """Apply a function of one array."""
        raise NotImplementedError

    def emit_binary(self, name: str, x: Term, y: Term) -> Term:
        """Apply a function of two arrays."""
        raise NotImplementedError

    def emit_comparison(self, test: str, x: Term, y: Term) -> Term:
        """Compare elements; `test` is "eq", "ne", "lt", "le", "gt" or "ge"."""
        raise NotImplementedError

    def emit_select(self, condition: Term, x: Term, y: Term) -> Term:
        """Take elements of `x` where the condition is true, and of `y` where it is false."""
        raise NotImplementedError

    def emit_cast(self, x: Term, dtype: DType) -> Term:
        """Convert to another dtype. A float out of the range of an integer dtype gives an unspecified number."""
        raise NotImplementedError

    def bitcast(self, x: Term, dtype: DType) -> Term:
        """Read the bits as another dtype; a wider dtype takes the parts of each element from the last dimension."""
        raise NotImplementedError

    # ---- shapes

    def array(self, array: np.ndarray, dtype: DType) -> Term:
        """Return a constant array."""
        raise NotImplementedError

    def size(self, x: Term, axis: int) -> Any:
        """Return the size of an axis: a number, or a term if it is open."""
        raise NotImplementedError

    def can_be_sizes(self, *numbers: Term) -> bool:
        """Return whether the terms may determine sizes of arrays in the runtime."""
        return True

    def as_size(self, number: Term) -> Term:
        """Convert a number to the dtype of open sizes."""
        raise NotImplementedError

    def shape_of(self, x: Term) -> Term:
        """Return the shape as a vector of integers."""
        raise NotImplementedError

    def broadcast(self, *operands: Term) -> list[Term]:
        """Return the operands broadcast to one shape."""
        raise NotImplementedError

    def expand(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Broadcast to a shape."""
        raise NotImplementedError

    def reshape(self, x: Term, shape: Sequence[Any], sizes: Sequence[Any] | None = None) -> Term:
        """Return the elements, in row-major order, in another shape."""
        raise NotImplementedError

    def transpose(self, x: Term, order: Sequence[int]) -> Term:
        """Permute dimensions: dimension i of the result is dimension `order[i]` of `x`."""
        raise NotImplementedError

    def reverse(self, x: Term, axes: Sequence[int]) -> Term:
        """Reverse the elements along axes."""
        raise NotImplementedError

    def concatenate(self, arrays: Sequence[Term], axis: int) -> Term:
        """Join arrays along an axis."""
        raise NotImplementedError

    def pad(self, x: Term, value: Term, low: Sequence[int], high: Sequence[int]) -> Term:
        """Add `low` elements before and `high` elements behind those of each dimension."""
        raise NotImplementedError

    def open_pad(self, x: Term, value: Term, amounts: Term) -> Term | None:
        """Pad by amounts known only at run time, int64 [rank, 2]; None if the runtime has no arrays of open size."""
        return None

    def static_slice(self, x: Term, axis: int, start: int, stop: int, step: int = 1) -> Term:
        """Take a slice of known bounds along one axis."""
        raise NotImplementedError

    def dynamic_slice(self, x: Term, axis: int, start: Term, size: int) -> Term:
        """Take `size` elements along an axis from a position that is in range."""
        raise NotImplementedError

    def open_slice(self, x: Term, axis: int, start: Any, stop: Any, step: Any) -> Term | None:
        """Take a slice, with Python's meaning of its bounds; None if the runtime has no arrays of open size."""
        return None

    def open_scan(self, x: Term, axis: int, op: str, start: Any, exclusive: bool) -> Term:
        """Scan along an axis of open size: a result is the fold of the elements up to it (see `writing.Rules.scan`)."""
        raise NotImplementedError

    def open_stack(self, list_term: ListTerm) -> Term | None:
        """Return the rows of a list as one array; None if the runtime has no arrays of open size."""
        return None

    def true_positions(self, mask: Term) -> Term | None:
        """Return the coordinates of true elements, a row each; None if the runtime has no arrays of open size."""
        return None

    def dynamic_update(self, x: Term, update: Term, starts: Sequence[Term]) -> Term:
        """Replace the elements from the position `starts` on by `update`, which lies inside of `x`."""
        raise NotImplementedError

    def iota(self, shape: Sequence[Any], axis: int, dtype: DType, sizes: Sequence[Any] | None = None) -> Term:
        """Return an array of each element's position along an axis."""
        raise NotImplementedError

    def gather_nd(self, x: Term, indices: Term) -> Term:
        """Take parts of `x`: each row of `indices` has positions in the first dimensions of `x`, all in range."""
        raise NotImplementedError

    def scatter_nd(self, base: Term, indices: Term, updates: Term, combine: str | None) -> Term:
        """Return `base` with the parts `updates` written at `indices`, whose rows are as in `gather_nd`.

        `combine` names the operation of an old and a new element; with None, the new one replaces the old one.
        """
        raise NotImplementedError

    # ---- folds, sorts, products

    def reduce(self, x: Term, axes: Sequence[int], op: str, start: Any) -> Term:
        """Fold along axes by an operation of two arrays, from the number or scalar term `start` on."""
        raise NotImplementedError

    def sort(self, x: Term, axis: int, descending: bool) -> tuple[Term, Term]:
        """Sort stably, nan last; return the sorted elements and their positions in `x`."""
        raise NotImplementedError

    def find_distinct(self, x: Term) -> list[Term] | None:
        """Return a vector's distinct elements in order of occurrence, each element's index among them, and the counts.

        None if the runtime has no arrays of open size.
        """
        return None

    def dot(
        self, x: Term, y: Term, x_batch: Sequence[int], y_batch: Sequence[int], x_axes: Sequence[int],
        y_axes: Sequence[int],
    ) -> Term:
        """Sum products over `x_axes` and `y_axes`, for each position in the batch dimensions.

        The result has the batch dimensions, then the remaining dimensions of `x`, then those of `y`.
        """
        raise NotImplementedError

    def cholesky(self, x: Term) -> Term:
        """Return the lower triangular Cholesky factors; a matrix that has none gives nan."""
        raise GraphUnfit("cholesky", f"{self.runtime} has no such function")

    def triangular_solve(self, x: Term, y: Term, lower: bool, adjoint: bool) -> Term:
        """Solve systems with triangular matrices `x`; `y` has the right sides as columns.

        With `lower`, the matrices are lower triangular. With `adjoint`, their adjoints are used instead.
        """
        raise GraphUnfit("triangular_solve", f"{self.runtime} has no such function")

    def fft(self, x: Term, kind: str, axes: Sequence[int], sizes: Sequence[int]) -> Term:
        """Transform along axes; `kind` is "fft", "ifft", "rfft" or "irfft". `sizes` has each axis' transform length."""
        raise GraphUnfit(kind, f"{self.runtime} has no such function")

    # ---- control

    def fail_where(self, condition: Term) -> None:
        """Set the error word if the condition holds anywhere."""
        raise NotImplementedError
