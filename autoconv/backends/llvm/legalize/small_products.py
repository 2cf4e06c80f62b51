"""Write out products of small matrices as loops over elements: for rules of `expand`.

    before   %z = matmul(%x, %y): float64[1000,3,3]
    after    %1 = %x[..., 0:1] * %y[..., 0:1, :]
             %2 = multiply_add(%x[..., 1:2], %y[..., 1:2, :], %1)
             %z = multiply_add(%x[..., 2:3], %y[..., 2:3, :], %2)

A call of BLAS takes longer than the product of two such matrices, and tiles need several columns. The loops share
vector registers among adjacent products, and are fused with the loops over their operands and results. Sums have the
order of OpenBLAS with AVX-512, so that results equal NumPy's to the last bit there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.legalize.shaped_builder import dimensions, reshape, slice_axis
from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension
from autoconv.ops.builder import GraphBuilder

_MAX_COLUMNS, _MAX_INNER = 4, 16  # longest sides of products of matrices in batches
_MAX_VECTOR_INNER, _MAX_TRANSPOSED_INNER = 8, 32  # longest inner dimensions of products with vectors in batches
_ORDER_WITH_VECTORS = (1, 0, 2)  # order in which BLAS adds the products of up to 3 elements of a row and a vector
_MAX_DOT_INNER = 512  # longest vectors of dot products in batches
# Longest sides of products whose second operand is a single matrix, and longest inner one if that is a single vector.
_MAX_SINGLE_COLUMNS, _MAX_SINGLE_INNER, _MAX_SINGLE_VECTOR_INNER = 3, 8, 6


def small_product(
    b: GraphBuilder, x: Value, y: Value, transpose_a: bool = False, transpose_b: bool = False
) -> Value | None:
    """Return the product of the matrices as a sum over elements; None if they are large, or no matrices of floats.

    The number of rows, and the sizes of batches, may be open.
    """
    x_shape, y_shape = dimensions(x), dimensions(y)
    if x.dtype.name not in ("float32", "float64") or min(len(x_shape), len(y_shape)) < 2:
        return None
    inner, columns = y_shape[-2:][::-1] if transpose_b else y_shape[-2:]
    if not isinstance(inner, int) or not isinstance(columns, int) or inner != x_shape[-2 if transpose_a else -1]:
        return None
    is_single = len(y_shape) == 2 and (len(x_shape) == 2 or not transpose_a)
    rows = x_shape[-1 if transpose_a else -2]
    if not _suits_loops(rows, inner, columns, is_single, transpose_a):
        return None
    if not _have_equal_batches(x_shape[:-2], y_shape[:-2]):
        return None
    is_matrix_with_vector = columns == 1 and not transpose_a and rows != 1
    max_terms = len(_ORDER_WITH_VECTORS) if is_matrix_with_vector else _MAX_VECTOR_INNER
    if columns == 1 and inner > max_terms:
        return _product_with_vectors(b, x, y, transpose_a)
    total: Any = None
    order = [k for k in _ORDER_WITH_VECTORS if k < inner] if is_matrix_with_vector else range(inner)
    for k in order:
        x_column = slice_axis(b, x, len(x_shape) - (2 if transpose_a else 1), k, k + 1, 1)
        y_row = slice_axis(b, y, len(y_shape) - (1 if transpose_b else 2), k, k + 1, 1)
        x_column, y_row = reshape(b, x_column, (*x_shape[:-2], rows, 1)), reshape(b, y_row, (*y_shape[:-2], 1, columns))
        total = b.multiply(x_column, y_row) if total is None else b.multiply_add(x_column, y_row, total)
    return total  # type: ignore[no-any-return]


def _suits_loops(rows: Dimension, inner: int, columns: int, is_single: bool, is_x_transposed: bool) -> bool:
    """Return whether loops are faster than tiles and BLAS; bounds are from measurements with AVX-512."""
    if not inner or not columns:
        return False
    if columns == 1 and is_single:
        return inner <= _MAX_SINGLE_VECTOR_INNER
    if columns == rows == 1:
        return inner <= _MAX_DOT_INNER
    if columns == 1:
        return inner <= (_MAX_TRANSPOSED_INNER if is_x_transposed else _MAX_VECTOR_INNER)
    if is_single:
        return columns <= _MAX_SINGLE_COLUMNS and inner <= _MAX_SINGLE_INNER
    return columns <= _MAX_COLUMNS and inner <= _MAX_INNER


def _have_equal_batches(x_batch: Sequence[Dimension], y_batch: Sequence[Dimension]) -> bool:
    """Return whether aligned sizes are equal or 1."""
    pairs = zip(reversed(x_batch), reversed(y_batch), strict=False)
    return all(x_size == y_size or 1 in (x_size, y_size) for x_size, y_size in pairs)


def _product_with_vectors(b: GraphBuilder, x: Value, y: Value, is_x_transposed: bool) -> Value:
    """Return the products with matrices of one column, as sums along a dimension of x."""
    *y_batch, first, second = dimensions(y)
    inner = second if first == 1 else first
    if is_x_transposed:
        sums = b.reduce_sum(b.multiply(x, reshape(b, y, (*y_batch, inner, 1))), axis=(-2,), keepdims=True)
        *batch, _, rows = dimensions(sums)
        return reshape(b, sums, (*batch, rows, 1))
    return b.reduce_sum(b.multiply(x, reshape(b, y, (*y_batch, 1, inner))), axis=(-1,), keepdims=True)  # type: ignore[no-any-return]
