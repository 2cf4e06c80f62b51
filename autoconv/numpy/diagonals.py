"""Diagonals and triangles of matrices, identity matrices and traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.creation import check_order, count_up, creates, fill_array
from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    cast,
    computes,
    has_known_shape,
    integer,
    numpy_dtype,
    rank_of,
    refuse,
    refuse_column_major,
    refuse_options,
    require_known_shape,
    sizes_of,
    tensor,
)
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.ops.index_spec import Gather, Slice
from autoconv.runtime.annotations import DTypeLike, IntLike, OutLike, TensorLike
from autoconv.runtime.arrays.array_checks import check_as_numpy, check_sizes
from autoconv.runtime.arrays.read_only import mark_read_only
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


@creates("eye")
def eye(
    N: IntLike, M: IntLike | None = None, k: IntLike = 0, dtype: DTypeLike = float, order: str = "C", *,
    device: str | None = None, like: object = None
) -> Tensor:
    check_order(order)
    refuse_column_major(order, 2)
    check_sizes((N, N if M is None else M))
    if any(static_value(n) is None and as_tensor(n) is not None for n in (N, M)):
        element_dtype = numpy_dtype(dtype)
        # Raises for impossible sizes, also where the zeros are not used.
        zeros = fill_array((N, N if M is None else M), 0, element_dtype)
        column_numbers = apply("expand_dims", count_up(N if M is None else M), axis=0)
        row_numbers = apply("expand_dims", apply("add", count_up(N), tensor(integer(k), np.int64)), axis=1)
        return apply("select", apply("equal", column_numbers, row_numbers), tensor(1, element_dtype), zeros)
    rows, columns = integer(N), integer(N if M is None else M)
    return tensor(np.eye(rows, columns, integer(k), numpy_dtype(dtype)))


@creates("identity")
def identity(n: IntLike, dtype: DTypeLike | None = None, *, like: object = None) -> Tensor:
    return eye(n, dtype=float if dtype is None else dtype)


@creates("vander")
def vander(x: TensorLike, N: IntLike | None = None, increasing: bool = False) -> Tensor:
    """Multiply by the elements again and again, as NumPy's accumulation does."""
    points = tensor(x)
    if N is None and not (has_known_shape(points) and rank_of(points) == 1):
        return call_numpy("vander", points, N, increasing)
    check_sizes(() if N is None else (N,))
    count = require_known_shape(points)[0] if N is None else integer(N)
    if rank_of(points) != 1 or not 0 < count <= _MAX_POWERS:
        return call_numpy("vander", points, N, increasing)
    points = cast(points, np.promote_types(points.dtype.numpy, int))
    powers = [apply("ones_like", points)]
    for exponent in range(1, count):
        powers.append(points if exponent == 1 else call_ufunc(np.multiply, powers[-1], points))
    return apply("stack", *(powers if increasing else reversed(powers)), axis=1)


_MAX_POWERS = 32  # largest number of columns of a Vandermonde matrix that ops compute


@creates("tri")
def tri(
    N: IntLike, M: IntLike | None = None, k: IntLike = 0, dtype: DTypeLike = float, *, like: object = None
) -> Tensor:
    sizes, offset = (N, N if M is None else M), _offset(k)
    if all(static_value(number) is not None for number in (*sizes, offset)):
        return tensor(np.tri(integer(N), integer(sizes[1]), offset, numpy_dtype(dtype)))
    row_numbers, column_numbers = map(count_up, sizes)
    # The number of columns by which an element lies to the right of the main diagonal.
    distances = apply("subtract", column_numbers, apply("expand_dims", row_numbers, axis=1))
    return cast(apply("less_equal", distances, tensor(offset, np.int64)), numpy_dtype(dtype))


@computes("tril")
def tril(m: TensorLike, k: IntLike = 0) -> Tensor:
    return _triangle(m, k, lower=True)


@computes("triu")
def triu(m: TensorLike, k: IntLike = 0) -> Tensor:
    return _triangle(m, k, lower=False)


def _triangle(m: TensorLike, k: IntLike, lower: bool) -> Tensor:
    """Return matrices with zeros above the k-th diagonal, or below it unless `lower`."""
    x, offset = tensor(m), _offset(k)
    rows, columns = (sizes_of(x) * 2)[-2:]  # a vector is broadcast to a square matrix
    mask, zero = tri(rows, columns, offset if lower else offset - 1, bool), tensor(0, x.dtype.numpy)
    return apply("select", mask, x, zero) if lower else apply("select", mask, zero, x)


def _offset(k: Any) -> Any:
    """Return the offset of a diagonal, an int where it is known; other numbers than integers are refused."""
    if static_value(k) is not None:
        return integer(k)
    if not tensor(k).dtype.is_integer:
        refuse("is given an offset that is not an integer")
    return k


def _indices_from(name: str) -> Any:
    """Return NumPy's `tril_indices_from` or `triu_indices_from`."""
    def find_indices(arr: TensorLike, k: IntLike = 0) -> Any:
        x = tensor(arr)
        if rank_of(x) != 2:
            raise ValueError("input array must be 2-d")
        rows, columns = sizes_of(x)
        compute = implementation(getattr(np, name))
        assert compute is not None
        return compute(rows, k=k, m=columns)

    return find_indices


for _name in ("tril_indices", "triu_indices"):
    computes(f"{_name}_from")(_indices_from(_name))


@creates("diag")
def diag(v: TensorLike, k: IntLike = 0) -> Tensor:
    x, offset = tensor(v), integer(k)
    if rank_of(x) == 1 and as_tensor(v) is not None and not has_known_shape(x):
        return apply("diag", x, offset=offset)
    if rank_of(x) == 1:
        size = require_known_shape(x)[0] + abs(offset)
        diagonal_positions = np.arange(size - abs(offset))
        positions = (diagonal_positions - min(offset, 0)) * size + diagonal_positions + max(offset, 0)
        zeros = apply("fill", tensor(0, x.dtype.numpy), shape=(size * size,))
        return apply("reshape", apply("set_item", zeros, x, positions, spec=(Gather(),)), shape=(size, size))
    if rank_of(x) != 2:
        raise ValueError("Input must be 1- or 2-d.")
    return diagonal(x, offset)


@creates("diagflat")
def diagflat(v: TensorLike, k: IntLike = 0) -> Tensor:
    return diag(apply("reshape", tensor(v), shape=(-1,)), k)


@computes("linalg.diagonal")
def diagonal_of_matrices(x: TensorLike, /, *, offset: IntLike = 0) -> Tensor:
    return diagonal(x, offset, -2, -1)


@computes("diagonal")
def diagonal(a: Any, offset: Any = 0, axis1: Any = None, axis2: Any = None) -> Tensor:
    x = tensor(a)
    first_axis, second_axis = (0 if axis1 is None else axis1), (1 if axis2 is None else axis2)
    rank = rank_of(x)
    if rank < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first_axis, second_axis = np.lib.array_utils.normalize_axis_tuple((first_axis, second_axis), rank)
    batch_axes = [i for i in range(rank) if i not in (first_axis, second_axis)]
    matrices = apply("transpose", x, perm=(*batch_axes, first_axis, second_axis))
    diagonal_offset = integer(offset)
    if not has_known_shape(x):
        return mark_read_only(apply("diag_part", matrices, offset=diagonal_offset))
    *batch_shape, rows, columns = require_known_shape(matrices)
    step = columns + 1
    count = min(rows, columns - diagonal_offset) if diagonal_offset >= 0 else min(rows + diagonal_offset, columns)
    count = max(count, 0)
    start = diagonal_offset if diagonal_offset >= 0 else -diagonal_offset * columns
    flat_matrices = apply("reshape", matrices, shape=(*batch_shape, rows * columns))  # a diagonal is a slice
    stop = start + (count - 1) * step + 1 if count else start
    spec = (*(Slice(),) * len(batch_axes), Slice(start, stop, step))
    return mark_read_only(apply("get_item", flat_matrices, spec=spec))


@computes("linalg.trace")
def trace_of_matrices(x: TensorLike, /, *, offset: IntLike = 0, dtype: DTypeLike | None = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


@computes("trace")
def trace(
    a: TensorLike, offset: IntLike = 0, axis1: IntLike = 0, axis2: IntLike = 1, dtype: DTypeLike | None = None,
    out: OutLike | None = None,
) -> Any:  # fmt: skip
    refuse_options(out=out)
    if axis1 is None or axis2 is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    options: dict[str, Any] = {} if dtype is None else {"dtype": as_dtype(numpy_dtype(dtype))}
    known_offset = integer(offset)
    check_as_numpy(lambda: np.trace(np.empty((1, 1)), known_offset))
    return apply("numpy_sum", diagonal(a, offset, axis1, axis2), axis=-1, **options)
