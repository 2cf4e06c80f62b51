"""Products and linear algebra."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import by_kernel, whole_call
from autoconv.numpy.operands import (
    axes_of,
    axis_of,
    cast,
    computes,
    integer,
    known_shape,
    rank_of,
    refuse,
    tensor,
    tensors,
    without,
)
from autoconv.numpy.shaping import moveaxis, swapaxes
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor


def multiply(x: Any, y: Any) -> Any:
    """x @ y of two arrays."""
    return call_ufunc(np.matmul, x, y)


@computes("dot")
def dot(a: Any, b: Any, out: Any = None) -> Any:
    x, y = tensor(a), tensor(b)
    ranks = rank_of(x), rank_of(y)
    if 0 in ranks:
        found = call_ufunc(np.multiply, a, b)
    elif ranks[1] <= 2:
        found = multiply(x, y)
    else:
        found = tensordot(x, y, ((ranks[0] - 1,), (ranks[1] - 2,)))
    return found if out is None else write_into(out, found)


@computes("vdot")
def vdot(a: Any, b: Any, /) -> Any:
    x, y = (apply("reshape", tensor(v), shape=(-1,)) for v in (a, b))
    return multiply(apply("conjugate", x) if x.dtype.is_complex else x, y)


@computes("inner")
def inner(a: Any, b: Any, /) -> Any:
    x, y = tensor(a), tensor(b)
    if 0 in (rank_of(x), rank_of(y)):
        return call_ufunc(np.multiply, a, b)
    return tensordot(x, y, ((rank_of(x) - 1,), (rank_of(y) - 1,)))


@computes("linalg.outer")
def outer_of_vectors(x1: Any, x2: Any, /) -> Any:
    if rank_of(tensor(x1)) != 1 or rank_of(tensor(x2)) != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are x1.ndim="
            f"{rank_of(tensor(x1))} and x2.ndim={rank_of(tensor(x2))}."
        )
    return outer(x1, x2)


@computes("outer")
def outer(a: Any, b: Any, out: Any = None) -> Any:
    x, y = (apply("reshape", tensor(v), shape=(-1,)) for v in (a, b))
    found = call_ufunc(np.multiply, apply("expand_dims", x, axis=1), apply("expand_dims", y, axis=0))
    return found if out is None else write_into(out, found)


@computes("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, /, axes: Any = 2, **kwargs: Any) -> Any:
    x, y = tensors(tensor(a), tensor(b))
    ranks = rank_of(x), rank_of(y)
    if isinstance(axes, (list, tuple)):
        one, other = ((v,) if not isinstance(v, (list, tuple)) else tuple(v) for v in axes)
    else:
        count = integer(axes)
        one, other = tuple(range(ranks[0] - count, ranks[0])), tuple(range(count))
    one, other = tuple(axis_of(i, ranks[0]) for i in one), tuple(axis_of(i, ranks[1]) for i in other)
    if len(one) != len(other) or any(known_shape(x)[i] != known_shape(y)[j] for i, j in zip(one, other, strict=False)):
        raise ValueError("shape-mismatch for sum")
    if x.dtype.is_bool:
        return call_ufunc(np.not_equal, tensordot(cast(x, np.uint8), cast(y, np.uint8), (one, other)), 0)
    return apply("tensordot", x, y, axes=(one, other))


@computes("vecdot", "linalg.vecdot")
def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1, **kwargs: Any) -> Any:
    without(**kwargs)
    x, y = tensors(tensor(x1), tensor(x2))
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    if known_shape(x)[-1] != known_shape(y)[-1]:
        sizes = f"{known_shape(x)[-1]} and {known_shape(y)[-1]}"
        raise ValueError(f"vecdot: the arrays have {sizes} elements along the axis")
    found = call_ufunc(np.multiply, apply("conjugate", x) if x.dtype.is_complex else x, y)
    return apply("numpy_any", found, axis=-1) if x.dtype.is_bool else apply("numpy_sum", found, axis=-1, dtype=x.dtype)


@computes("kron")
def kron(a: Any, b: Any) -> Any:
    x, y = tensor(a), tensor(b)
    rank = max(rank_of(x), rank_of(y))
    for _ in range(rank - rank_of(x)):
        x = apply("expand_dims", x, axis=0)
    for _ in range(rank - rank_of(y)):
        y = apply("expand_dims", y, axis=0)
    shapes = known_shape(x), known_shape(y)
    for i in range(rank):
        x, y = apply("expand_dims", x, axis=2 * i + 1), apply("expand_dims", y, axis=2 * i)
    sizes = tuple(d * e for d, e in zip(*shapes, strict=True))
    return apply("reshape", call_ufunc(np.multiply, x, y), shape=sizes)


@computes("linalg.cross")
def cross_of_three(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    if known_shape(tensor(x1))[axis] != 3 or known_shape(tensor(x2))[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return cross(x1, x2, axis=axis)


@computes("cross")
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if known_shape(x)[-1] != 3 or known_shape(y)[-1] != 3:
        return whole_call("cross", False, tensor(a), tensor(b), axisa, axisb, axisc)
    rows = [[apply("get_item", v, spec=(("ellipsis",), ("int", i))) for i in range(3)] for v in (x, y)]
    (a0, a1, a2), (b0, b1, b2) = rows
    times, minus = np.multiply, np.subtract
    parts = [
        call_ufunc(minus, call_ufunc(times, p, q), call_ufunc(times, r, s))
        for p, q, r, s in ((a1, b2, a2, b1), (a2, b0, a0, b2), (a0, b1, a1, b0))
    ]
    return moveaxis(apply("stack", *parts, axis=rank_of(parts[0])), -1, axisc)


@computes("einsum")
def einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **kwargs: Any) -> Any:
    without(dtype=dtype, out=out)
    if not operands or not isinstance(operands[0], str):
        refuse("is given its axes as lists")
    equation = operands[0].replace(" ", "")
    given = tensors(*map(tensor, operands[1:]))
    if given[0].dtype.is_bool:
        refuse("is given bools")
    if "->" not in equation:
        letters = equation.replace(",", "").replace(".", "")
        left = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        equation += "->" + ("..." if "." in equation else "") + left
    if len(given) == 2 and "." not in equation and all(None not in (x.type.shape or (None,)) for x in given):
        found = _two_operands(equation, *given)
        if found is not None:
            return found
    return apply("einsum", *given, equation=equation)


def _two_operands(equation: str, x: Tensor, y: Tensor) -> Any:
    """A sum over two arrays as one product of matrices, in a batch of what both and the result have; None where a
    letter stands twice, or goes with others than a product has."""
    names, out = equation.split("->")
    one, other = names.split(",")
    shapes = known_shape(x), known_shape(y)
    if (
        any(len(set(part)) != len(part) for part in (one, other, out))
        or len(one) != len(shapes[0])
        or len(other) != len(shapes[1])
    ):
        return None
    size = {**dict(zip(one, shapes[0], strict=True)), **dict(zip(other, shapes[1], strict=True))}
    if any(size[letter] != d for letter, d in zip(one, shapes[0], strict=True)):
        return None
    batch = [c for c in one if c in other and c in out]
    summed = [c for c in one if c in other and c not in out]
    left, right = [c for c in one if c not in other], [c for c in other if c not in one]
    if not summed or not set(left + right) <= set(out) or not set(out) <= set(size):
        return None
    rows = apply("transpose", x, perm=tuple(one.index(c) for c in (*batch, *left, *summed)))
    columns = apply("transpose", y, perm=tuple(other.index(c) for c in (*batch, *summed, *right)))
    lead = tuple(size[c] for c in batch)
    a, b, inner_ = (math.prod(size[c] for c in part) for part in (left, right, summed))
    rows, columns = (
        apply("reshape", rows, shape=(*lead, a, inner_)),
        apply("reshape", columns, shape=(*lead, inner_, b)),
    )
    order = [*batch, *left, *right]
    found = apply("reshape", apply("matmul", rows, columns), shape=tuple(size[c] for c in order))
    return apply("transpose", found, perm=tuple(order.index(c) for c in out)) if out else found


# ---- numpy.linalg


def _floating(a: Any) -> Tensor:
    x = tensor(a)
    if x.dtype.is_floating and x.dtype.size < 4:
        raise TypeError(f"array type {x.dtype.name} is unsupported in linalg")
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, np.float64)


def _square(a: Any) -> Tensor:
    x = _floating(a)
    if rank_of(x) < 2:
        raise np.linalg.LinAlgError(f"{rank_of(x)}-dimensional array given. Array must be at least two-dimensional")
    rows, columns = x.type.shape[-2:]  # type: ignore[index]
    if isinstance(rows, int) and isinstance(columns, int) and rows != columns:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return x


def _by_op(name: str) -> Callable[..., Any]:
    return lambda a: apply(name, _square(a))


computes("linalg.det")(_by_op("determinant"))


@computes("linalg.slogdet")
def slogdet(a: Any) -> Any:
    return np.linalg._linalg.SlogdetResult(*apply("slogdet", _square(a)))  # type: ignore[attr-defined]


@computes("linalg.inv")
def inv(a: Any) -> Any:
    return apply("inverse", _square(a))


@computes("linalg.solve")
def solve(a: Any, b: Any) -> Any:
    matrix, rhs = tensors(_square(a), _floating(b))
    if rank_of(rhs) == 1:
        found = apply("solve", matrix, apply("expand_dims", rhs, axis=1))
        return apply("squeeze", found, axis=(-1,))
    return apply("solve", matrix, rhs)


@computes("linalg.cholesky")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    x = _square(a)
    if upper:
        x = swapaxes(x, -1, -2)
    found = apply("cholesky", x)
    return swapaxes(found, -1, -2) if upper else found  # of conj(A) = A.T that is the conjugate already


@computes("linalg.eigh")
def eigh(a: Any, UPLO: str = "L") -> Any:
    x = _square(a)
    if UPLO.upper() != "L":
        x = call_ufunc(np.conjugate, swapaxes(x, -1, -2))
    return np.linalg._linalg.EighResult(*apply("eigh", x))  # type: ignore[attr-defined]


@computes("linalg.eigvalsh")
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return eigh(a, UPLO)[0]


@computes("linalg.qr")
def qr(a: Any, mode: str = "reduced") -> Any:
    x = _floating(a)
    if mode not in ("reduced", "complete"):
        return whole_call("linalg.qr", False, x, mode)
    found = apply("qr", x, full_matrices=mode == "complete")
    return np.linalg._linalg.QRResult(*found)  # type: ignore[attr-defined]


@computes("linalg.svd")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = _floating(a)
    if not compute_uv:
        return whole_call("linalg.svd", False, x, full_matrices, False, hermitian)
    found = whole_call("linalg.svd", False, x, full_matrices, True, hermitian)
    return np.linalg._linalg.SVDResult(*found)  # type: ignore[attr-defined]


@computes("linalg.eig")
def eig(a: Any) -> Any:
    refuse("gives real or complex numbers as their values say")


@computes("linalg.matrix_power")
def matrix_power(a: Any, n: Any) -> Any:
    x, power = tensor(a), integer(n)
    if power == 0:
        return tensor(np.broadcast_to(np.eye(known_shape(x)[-1], dtype=x.dtype.numpy), known_shape(x)).copy())
    if power < 0:
        x, power = inv(x), -power
    found = None
    while power:
        if power & 1:
            found = x if found is None else multiply(found, x)
        power >>= 1
        x = multiply(x, x) if power else x
    return found


@computes("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    v = tensor(x)
    if not (v.dtype.is_floating or v.dtype.is_complex):
        v = cast(v, np.float64)
    rank = rank_of(v)
    if axis is None:
        if ord is None or (ord == 2 and rank == 1) or (ord in ("f", "fro") and rank == 2):
            return _root(v, tuple(range(rank)), keepdims)
        axis = tuple(range(rank))
    axes = axes_of(axis, rank)
    if len(axes) == 1:
        return vector_norm(v, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) == 2 and ord in (None, "fro", "f"):
        return _root(v, axes, keepdims)
    if len(axes) == 2 and ord in (1, -1, np.inf, -np.inf):
        of_rows = abs(ord) == np.inf
        size = call_ufunc(np.absolute, v)
        sums = apply("numpy_sum", size, axis=axes[of_rows], keepdims=True)
        name = "numpy_max" if ord > 0 else "numpy_min"
        kept: dict[str, Any] = {"keepdims": True} if keepdims else {}
        return apply(name, sums, axis=axes, **kept)
    return whole_call("linalg.norm", False, v, ord, axis, keepdims)


def _squares(v: Tensor) -> Tensor:
    if v.dtype.is_complex:
        parts = [apply("square", apply(part, v)) for part in ("real", "imag")]
        return apply("add", *parts)
    return apply("square", v)


def _root(v: Tensor, axes: tuple[int, ...], keepdims: bool) -> Any:
    kept: dict[str, Any] = {"keepdims": True} if keepdims else {}
    squares = _squares(v)
    total = apply("numpy_sum", squares, axis=axes, dtype=squares.dtype, **kept) if axes else squares
    return apply("sqrt", total)


@computes("linalg.vector_norm")
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    v = tensor(x)
    if not (v.dtype.is_floating or v.dtype.is_complex):
        v = cast(v, np.float64)
    axes = axes_of(axis, rank_of(v))
    kept: dict[str, Any] = {"keepdims": True} if keepdims else {}
    if ord == 2:
        return _root(v, axes, keepdims)
    size = call_ufunc(np.absolute, v)
    if ord in (np.inf, -np.inf):
        return apply("numpy_max" if ord > 0 else "numpy_min", size, axis=axes, **kept)
    if ord == 0:
        return cast(apply("numpy_sum", tensor(size, bool), axis=axes, **kept), size.dtype)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == 1:
        return apply("numpy_sum", size, axis=axes, dtype=size.dtype, **kept)
    total = apply("numpy_sum", call_ufunc(np.power, size, ord), axis=axes, dtype=size.dtype, **kept)
    return call_ufunc(np.power, total, tensor(1.0 / ord, size.dtype))


@computes("linalg.multi_dot")
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    without(out=out)
    parts = list(map(tensor, arrays))
    found = parts[0]
    for part in parts[1:]:
        found = dot(found, part)
    return found


@computes("linalg.matmul")
def matmul(x1: Any, x2: Any, /) -> Any:
    return multiply(x1, x2)


by_kernel(
    "linalg.pinv", "linalg.cond", "linalg.svdvals", "linalg.matrix_norm",
    "linalg.tensorsolve", "linalg.tensorinv", "matvec", "vecmat",
)  # fmt: skip
by_kernel("linalg.lstsq", by_values=True)


@computes("linalg.matrix_rank")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    x = tensor(A)
    if rank_of(x) < 2:  # of a vector a Python int
        some = apply("numpy_any", tensor(x, bool))
        return apply("python_cast", some, dtype=as_dtype(np.int64), weak=True)
    options = {key: value for key, value in (("tol", tol), ("rtol", rtol)) if value is not None}
    return whole_call("linalg.matrix_rank", False, x, hermitian=hermitian, **options)
