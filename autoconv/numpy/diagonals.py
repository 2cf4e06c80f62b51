"""Diagonals and triangles of matrices, identity matrices and traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.creation import check_order, count_up, creates, fill_array
from autoconv.numpy.operands import (
    computes,
    has_known_shape,
    integer,
    known_shape,
    numpy_dtype,
    rank_of,
    refuse_column_major,
    refuse_options,
    sizes_of,
    tensor,
)
from autoconv.ops.index_spec import Gather, Slice
from autoconv.runtime.annotations import DTypeLike, IntLike, OutLike, TensorLike
from autoconv.runtime.arrays.read_only import mark_read_only
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
    if any(static_value(n) is None and as_tensor(n) is not None for n in (N, M)):
        kind = numpy_dtype(dtype)
        zeros = fill_array(
            (N, N if M is None else M), 0, kind
        )  # raises for impossible sizes, also where nothing is used
        across = apply("expand_dims", count_up(N if M is None else M), axis=0)
        down = apply("expand_dims", apply("add", count_up(N), tensor(integer(k), np.int64)), axis=1)
        return apply("select", apply("equal", across, down), tensor(1, kind), zeros)
    rows, columns = integer(N), integer(N if M is None else M)
    return tensor(np.eye(rows, columns, integer(k), numpy_dtype(dtype)))


@creates("identity")
def identity(n: IntLike, dtype: DTypeLike | None = None, *, like: object = None) -> Tensor:
    return eye(n, dtype=float if dtype is None else dtype)


@creates("tri")
def tri(
    N: IntLike, M: IntLike | None = None, k: IntLike = 0, dtype: DTypeLike = float, *, like: object = None
) -> Tensor:
    return tensor(np.tri(integer(N), None if M is None else integer(M), integer(k), numpy_dtype(dtype)))


@computes("tril")
def tril(m: TensorLike, k: IntLike = 0) -> Tensor:
    return _triangle(m, k, lower=True)


@computes("triu")
def triu(m: TensorLike, k: IntLike = 0) -> Tensor:
    return _triangle(m, k, lower=False)


def _triangle(m: TensorLike, k: IntLike, lower: bool) -> Tensor:
    x, by = tensor(m), integer(k)
    zero = tensor(0, x.dtype.numpy)
    if has_known_shape(x):
        rows, columns = (known_shape(x) * 2)[-2:]
        mask = np.tri(rows, columns, by - (not lower), bool)
        return apply("select", tensor(mask if lower else ~mask), x, zero)
    down, across = (
        apply("range", *(tensor(v, np.int64) for v in (0, size, 1))) for size in (sizes_of(x) * 2)[-2:]
    )
    beyond = apply("subtract", across, apply("expand_dims", down, axis=1))  # columns to the right of the diagonal
    return apply("select", apply("less_equal" if lower else "greater_equal", beyond, tensor(by, np.int64)), x, zero)


@creates("diag")
def diag(v: TensorLike, k: IntLike = 0) -> Tensor:
    x, offset = tensor(v), integer(k)
    if rank_of(x) == 1:
        size = known_shape(x)[0] + abs(offset)
        row = np.arange(size - abs(offset))
        at = (row - min(offset, 0)) * size + row + max(offset, 0)
        zeros = apply("fill", tensor(0, x.dtype.numpy), shape=(size * size,))
        return apply("reshape", apply("set_item", zeros, x, at, spec=(Gather(),)), shape=(size, size))
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
    one, other = (0 if axis1 is None else axis1), (1 if axis2 is None else axis2)
    rank = rank_of(x)
    if rank < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    one, other = np.lib.array_utils.normalize_axis_tuple((one, other), rank)
    left = [i for i in range(rank) if i not in (one, other)]
    turned = apply("transpose", x, perm=(*left, one, other))
    *lead, rows, columns = known_shape(turned)
    by, step = integer(offset), columns + 1
    count = max(min(rows, columns - by) if by >= 0 else min(rows + by, columns), 0)
    first = by if by >= 0 else -by * columns
    flat = apply("reshape", turned, shape=(*lead, rows * columns))  # the diagonal is a slice of it
    stop = first + (count - 1) * step + 1 if count else first
    spec = (*(Slice(),) * len(left), Slice(first, stop, step))
    return mark_read_only(apply("get_item", flat, spec=spec))


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
    return apply("numpy_sum", diagonal(a, offset, axis1, axis2), axis=-1, **options)
