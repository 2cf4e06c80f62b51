"""Calls of NumPy's bundled BLAS, and the number of its threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.types import literal, register
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import DType, float32

_ROW_MAJOR, _NOT_TRANSPOSED, _TRANSPOSED = 101, 111, 112  # constants of the C interface


@dataclasses.dataclass(frozen=True)
class Matrix:
    """A matrix in memory whose rows begin `width` elements apart; if `is_transposed`, BLAS reads its transpose."""

    pointer: str
    width: Position
    is_transposed: bool = False


class ProductSizes(NamedTuple):
    """The rows of a product, its inner dimension and its columns."""

    rows: Position
    inner: Position
    columns: Position


def has_products(dtype: DType) -> bool:
    """Return whether there is a BLAS that multiplies matrices of the dtype."""
    return f"cblas_{_precision_letter(dtype)}gemm" in abi.symbols()


def product_call(
    module: ModuleText, dtype: DType, x: Matrix, y: Matrix, z: Matrix, sizes: ProductSizes,
    is_nonempty: bool = True,
) -> str:  # fmt: skip
    """Return the text of a call that stores x times y in z.

    A product with a single row or column calls BLAS' routine for vectors, which takes a third of the time. That routine
    leaves z unchanged if x has no columns, so it is used only if `is_nonempty` excludes that.
    """
    rows, inner, columns = sizes
    if is_nonempty and f"cblas_{_precision_letter(dtype)}gemv" in abi.symbols():
        if columns == 1:
            step = 1 if y.is_transposed else y.width  # a column may be a part of a wider matrix
            return _vector_product_call(module, dtype, x, y, step, z, rows, inner)
        if rows == 1:
            y_transposed = dataclasses.replace(y, is_transposed=not y.is_transposed)
            step = x.width if x.is_transposed else 1
            return _vector_product_call(module, dtype, y_transposed, x, step, z, columns, inner)
    ir_type = register(dtype)
    name, first_types = f"cblas_{_precision_letter(dtype)}gemm", "i32, i32, i32, i64, i64, i64"
    gemm = module.declare(name, "void", f"{first_types}, {ir_type}, ptr, i64, ptr, i64, {ir_type}, ptr, i64")
    return (
        f"call void {gemm}(i32 {_ROW_MAJOR}, i32 {_transpose_flag(x)}, i32 {_transpose_flag(y)}, i64 {rows}, "
        f"i64 {columns}, i64 {inner}, {ir_type} {literal(1, dtype)}, ptr {x.pointer}, i64 {x.width}, "
        f"ptr {y.pointer}, i64 {y.width}, {ir_type} {literal(0, dtype)}, ptr {z.pointer}, i64 {z.width})"
    )


def _vector_product_call(
    module: ModuleText, dtype: DType, x: Matrix, y: Matrix, y_step: Position, z: Matrix, rows: Position,
    inner: Position,
) -> str:  # fmt: skip
    """Return the text of a call, as `product_call`, for a vector y with step `y_step` and a contiguous vector z."""
    ir_type = register(dtype)
    name, first_types = f"cblas_{_precision_letter(dtype)}gemv", "i32, i32, i64, i64"
    gemv = module.declare(name, "void", f"{first_types}, {ir_type}, ptr, i64, ptr, i64, {ir_type}, ptr, i64")
    stored_rows, stored_columns = (inner, rows) if x.is_transposed else (rows, inner)
    return (
        f"call void {gemv}(i32 {_ROW_MAJOR}, i32 {_transpose_flag(x)}, i64 {stored_rows}, i64 {stored_columns}, "
        f"{ir_type} {literal(1, dtype)}, ptr {x.pointer}, i64 {x.width}, ptr {y.pointer}, i64 {y_step}, "
        f"{ir_type} {literal(0, dtype)}, ptr {z.pointer}, i64 1)"
    )


def _transpose_flag(matrix: Matrix) -> int:
    """Return the constant of the C interface for a matrix."""
    return _TRANSPOSED if matrix.is_transposed else _NOT_TRANSPOSED


def _precision_letter(dtype: DType) -> str:
    """Return the letter for a dtype in names of BLAS' routines."""
    return "s" if dtype is float32 else "d"


@contextmanager
def single_threaded_blas(out: FunctionText, is_large: bool = True) -> Iterator[None]:
    """Limit BLAS and LAPACK to one thread during the calls that the block writes.

    If `is_large` is false, no limit is set: the calls are too small for BLAS to use several threads.
    """
    if not is_large or "blas_set_threads" not in abi.symbols():
        yield
        return
    thread_count = out.call_c("blas_get_threads", "i32", "")
    out.call_c("blas_set_threads", "void", "i32", 1)
    yield
    out.call("blas_set_threads", thread_count)
