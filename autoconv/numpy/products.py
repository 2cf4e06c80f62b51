"""Products of vectors, matrices and arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    assume,
    axis_of,
    cast,
    computes,
    integer,
    known_shape,
    rank_of,
    refuse,
    refuse_options,
    sizes_of,
    tensor,
    tensors,
)
from autoconv.numpy.shapes import moveaxis, shape_argument
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into
from autoconv.ops.index_spec import At, Rest
from autoconv.ops.numpy.shapes import DOT
from autoconv.runtime.annotations import AxisLike, DTypeLike, OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def matrix_product(x: TensorLike, y: TensorLike) -> Any:
    """Return x @ y of two arrays."""
    return call_ufunc(np.matmul, x, y)


@computes("dot")
def dot(a: TensorLike, b: TensorLike, out: OutLike | None = None) -> Any:
    x, y = tensor(a), tensor(b)
    ranks = rank_of(x), rank_of(y)
    if 0 in ranks:
        product = call_ufunc(np.multiply, x, y)  # a Python number counts as an array of its own dtype here
    elif ranks[1] <= 2:
        apply("numpy_shapes", x, y, how=DOT)
        product = matrix_product(x, y)
    else:
        product = tensordot(x, y, ((ranks[0] - 1,), (ranks[1] - 2,)))
    return product if out is None else write_into(out, product)


@computes("vdot")
def vdot(a: TensorLike, b: TensorLike, /) -> Any:
    x, y = (apply("reshape", tensor(v), shape=(-1,)) for v in (a, b))
    counts = sizes_of(x)[0], sizes_of(y)[0]
    if not all(isinstance(count, int) for count in counts):
        assume(apply("equal", *map(tensor, counts)), "NumPy raises the error of a reshape")
    return matrix_product(apply("conjugate", x) if x.dtype.is_complex else x, y)


@computes("inner")
def inner(a: TensorLike, b: TensorLike, /) -> Any:
    x, y = tensor(a), tensor(b)
    if 0 in (rank_of(x), rank_of(y)):
        return call_ufunc(np.multiply, x, y)
    return tensordot(x, y, ((rank_of(x) - 1,), (rank_of(y) - 1,)))


@computes("linalg.outer")
def outer_of_vectors(x1: TensorLike, x2: TensorLike, /) -> Any:
    if rank_of(tensor(x1)) != 1 or rank_of(tensor(x2)) != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are x1.ndim="
            f"{rank_of(tensor(x1))} and x2.ndim={rank_of(tensor(x2))}."
        )
    return outer(x1, x2)


@computes("outer")
def outer(a: TensorLike, b: TensorLike, out: OutLike | None = None) -> Any:
    x, y = (apply("reshape", tensor(v), shape=(-1,)) for v in (a, b))
    result = call_ufunc(np.multiply, apply("expand_dims", x, axis=1), apply("expand_dims", y, axis=0))
    return result if out is None else write_into(out, result)


@computes("tensordot", "linalg.tensordot")
def tensordot(a: TensorLike, b: TensorLike, /, axes: AxisLike = 2, **kwargs: Any) -> Any:
    x, y = tensors(tensor(a), tensor(b))
    ranks = rank_of(x), rank_of(y)
    if isinstance(axes, (list, tuple)):
        x_axes, y_axes = ((v,) if not isinstance(v, (list, tuple)) else tuple(v) for v in axes)
    else:
        count = integer(axes)
        x_axes, y_axes = tuple(range(ranks[0] - count, ranks[0])), tuple(range(count))
    x_axes, y_axes = tuple(axis_of(i, ranks[0]) for i in x_axes), tuple(axis_of(i, ranks[1]) for i in y_axes)
    axis_pairs = zip(x_axes, y_axes, strict=False)
    if len(x_axes) != len(y_axes) or any(known_shape(x)[i] != known_shape(y)[j] for i, j in axis_pairs):
        raise ValueError("shape-mismatch for sum")
    if x.dtype.is_bool:
        numbers = tensordot(cast(x, np.float32), cast(y, np.float32), (x_axes, y_axes))
        return call_ufunc(np.not_equal, numbers, 0)  # a sum of ones is positive, however it is rounded
    return apply("tensordot", x, y, axes=(x_axes, y_axes))


@computes("vecdot", "linalg.vecdot")
def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: AxisLike = -1, **kwargs: Any) -> Any:
    refuse_options(**kwargs)
    x, y = tensors(tensor(x1), tensor(x2))
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    if known_shape(x)[-1] != known_shape(y)[-1]:
        sizes = f"{known_shape(x)[-1]} and {known_shape(y)[-1]}"
        raise ValueError(f"vecdot: the arrays have {sizes} elements along the axis")
    result = call_ufunc(np.multiply, apply("conjugate", x) if x.dtype.is_complex else x, y)
    if x.dtype.is_bool:
        return apply("numpy_any", result, axis=-1)
    return apply("numpy_sum", result, axis=-1, dtype=x.dtype)


@computes("kron")
def kron(a: TensorLike, b: TensorLike) -> Any:
    x, y = tensor(a), tensor(b)
    rank = max(rank_of(x), rank_of(y))
    for _ in range(rank - rank_of(x)):
        x = apply("expand_dims", x, axis=0)
    for _ in range(rank - rank_of(y)):
        y = apply("expand_dims", y, axis=0)
    shapes = sizes_of(x), sizes_of(y)
    for i in range(rank):
        x, y = apply("expand_dims", x, axis=2 * i + 1), apply("expand_dims", y, axis=2 * i)
    size_operands, known_sizes = shape_argument(tuple(x_size * y_size for x_size, y_size in zip(*shapes, strict=True)))
    return apply("reshape", call_ufunc(np.multiply, x, y), *size_operands, shape=known_sizes)


@computes("linalg.cross")
def cross_of_three(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    if known_shape(tensor(x1))[axis] != 3 or known_shape(tensor(x2))[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return cross(x1, x2, axis=axis)


@computes("cross")
def cross(a: object, b: object, axisa: object = -1, axisb: object = -1, axisc: object = -1, axis: object = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if known_shape(x)[-1] != 3 or known_shape(y)[-1] != 3:
        return call_numpy("cross", False, tensor(a), tensor(b), axisa, axisb, axisc)
    components_of_operands = [[apply("get_item", v, spec=(Rest(), At(i))) for i in range(3)] for v in (x, y)]
    (a0, a1, a2), (b0, b1, b2) = components_of_operands
    multiply, subtract = np.multiply, np.subtract
    components = [
        call_ufunc(subtract, call_ufunc(multiply, *added), call_ufunc(multiply, *subtracted))
        for added, subtracted in (((a1, b2), (a2, b1)), ((a2, b0), (a0, b2)), ((a0, b1), (a1, b0)))
    ]
    return moveaxis(apply("stack", *components, axis=rank_of(components[0])), -1, axisc)


@computes("einsum")
def einsum(
    *operands: Any, out: OutLike | None = None, optimize: Any = False, dtype: DTypeLike | None = None, **kwargs: Any
) -> Any:
    refuse_options(dtype=dtype, out=out)
    if not operands or not isinstance(operands[0], str):
        refuse("is given its axes as lists")
    equation = operands[0].replace(" ", "")
    factors = tensors(*map(tensor, operands[1:]))
    if factors[0].dtype.is_bool:
        refuse("is given bools")
    if "->" not in equation:
        letters = equation.replace(",", "").replace(".", "")
        unrepeated = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        equation += "->" + ("..." if "." in equation else "") + unrepeated
    if len(factors) == 2 and "." not in equation and all(None not in (x.type.shape or (None,)) for x in factors):
        result = _as_matrix_product(equation, *factors)
        if result is not None:
            return result
    return apply("einsum", *factors, equation=equation)


def _as_matrix_product(equation: str, x: Tensor, y: Tensor) -> Any:
    """Rewrite an einsum of two arrays as one batched matrix product.

        ijk,ikl->ijl  becomes  matmul over j, k and l in a batch of i

    Dimensions of both operands and the result form the batch. Returns None where a letter is repeated in one term, or
    the letters do not form a matrix product.
    """
    operand_letters, result_letters = equation.split("->")
    x_letters, y_letters = operand_letters.split(",")
    shapes = known_shape(x), known_shape(y)
    if (
        any(len(set(letters)) != len(letters) for letters in (x_letters, y_letters, result_letters))
        or len(x_letters) != len(shapes[0])
        or len(y_letters) != len(shapes[1])
    ):
        return None
    sizes = {**dict(zip(x_letters, shapes[0], strict=True)), **dict(zip(y_letters, shapes[1], strict=True))}
    if any(sizes[letter] != d for letter, d in zip(x_letters, shapes[0], strict=True)):
        return None
    batch = [c for c in x_letters if c in y_letters and c in result_letters]
    summed = [c for c in x_letters if c in y_letters and c not in result_letters]
    left, right = [c for c in x_letters if c not in y_letters], [c for c in y_letters if c not in x_letters]
    if not summed or not set(left + right) <= set(result_letters) or not set(result_letters) <= set(sizes):
        return None
    rows = apply("transpose", x, perm=tuple(x_letters.index(c) for c in (*batch, *left, *summed)))
    columns = apply("transpose", y, perm=tuple(y_letters.index(c) for c in (*batch, *summed, *right)))
    batch_shape = tuple(sizes[c] for c in batch)
    row_count, column_count, inner_size = (math.prod(sizes[c] for c in letters) for letters in (left, right, summed))
    rows, columns = (
        apply("reshape", rows, shape=(*batch_shape, row_count, inner_size)),
        apply("reshape", columns, shape=(*batch_shape, inner_size, column_count)),
    )
    product_letters = [*batch, *left, *right]
    result = apply("reshape", apply("matmul", rows, columns), shape=tuple(sizes[c] for c in product_letters))
    order = tuple(product_letters.index(c) for c in result_letters)
    return apply("transpose", result, perm=order) if order else result
