"""Systems, inverses and products from the factors of `lu`; banded systems; tridiagonal eigenvalues."""

from __future__ import annotations

from typing import Any

from autoconv.api.matrices.bands import diag_part, set_diag
from autoconv.api.matrices.linalg import band_part, eigh, matmul, triangular_solve
from autoconv.api.matrices.tridiagonal import dense
from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arguments import convert_pair, static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones_like, zeros
from autoconv.api.tensors.gather import gather
from autoconv.api.tensors.reductions import reduce_sum
from autoconv.api.tensors.shaping import broadcast_to, concat, pad, shape
from autoconv.api.tensors.sorting import argsort
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import float32, int32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The solution x of A @ x = rhs, for the factors of A that `lu` returns.

    `validate_args` has no effect.

    >>> factors, rows = autoconv.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> autoconv.linalg.lu_solve(factors, rows, [[5.0], [12.0]]).numpy()
    array([[1.],
           [2.]], dtype=float32)
    """
    factors, permutation, right_side = convert_to_tensor(lower_upper), convert_to_tensor(perm), convert_to_tensor(rhs)
    batch_rank = permutation.shape.rank - 1 if permutation.shape.rank else 0
    if batch_rank and len(right_side.shape) - 2 < batch_rank:
        right_side = broadcast_to(right_side, concat([shape(permutation)[:-1], shape(right_side)[-2:]], 0))
    permuted_right_side = gather(right_side, permutation, axis=batch_rank, batch_dims=batch_rank)
    forward_solution = triangular_solve(set_diag(factors, ones_like(diag_part(factors))), permuted_right_side)
    return apply("identity", triangular_solve(factors, forward_solution, lower=False), name=name)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of the matrices whose factors `lu` returned.

    `validate_args` has no effect.

    >>> factors, rows = autoconv.linalg.lu([[0.0, 2.0], [4.0, 0.0]])
    >>> autoconv.linalg.lu_matrix_inverse(factors, rows).numpy()
    array([[0.  , 0.25],
           [0.5 , 0.  ]], dtype=float32)
    """
    factors, rows = convert_to_tensor(with_default_dtype(lower_upper, float32)), with_default_dtype(perm, int32)
    identity = set_diag(zeros(shape(factors), factors.dtype), ones_like(diag_part(factors)))
    return lu_solve(factors, rows, identity, name=name)


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrices whose factors `lu` returned.

    `validate_args` has no effect.

    >>> autoconv.linalg.lu_reconstruct(*autoconv.linalg.lu([[1.0, 2.0], [4.0, 4.0]])).numpy()
    array([[1., 2.],
           [4., 4.]], dtype=float32)
    """
    factors, permutation = convert_to_tensor(lower_upper), convert_to_tensor(perm)
    lower = band_part(set_diag(factors, ones_like(diag_part(factors))), -1, 0)
    batch_rank = permutation.shape.rank - 1 if permutation.shape.rank else 0
    product = matmul(lower, band_part(factors, 0, -1))
    rows = argsort(permutation, axis=-1)
    return apply("identity", gather(product, rows, axis=batch_rank, batch_dims=batch_rank), name=name)


def banded_triangular_solve(
    bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solution x of A @ x = rhs, where A is triangular and zero outside of a band next to the main diagonal.

    Row i of `bands` [..., diagonals, n] is a diagonal of A; its element j is that of row j of A. The first row is the
    main diagonal of a lower triangular A, the last row that of an upper one. Elements outside of A have no effect.

    >>> autoconv.linalg.banded_triangular_solve([[2.0, 4.0], [0.0, 1.0]], [[2.0], [5.0]]).numpy()
    array([[1.],
           [1.]], dtype=float32)
    """
    tensor: Any = convert_pair(bands, rhs)[0]
    diagonal_count, size = tensor.shape[-2], tensor.shape[-1]
    if diagonal_count is None or size is None:
        raise ValueError("banded_triangular_solve takes bands of known shape")
    if diagonal_count > size:
        raise InvalidArgumentError(f"the number of bands, {diagonal_count}, exceeds the size of the matrix, {size}")
    matrix: Any = None
    for row in range(diagonal_count):
        offset = row if lower else diagonal_count - 1 - row
        elements = get_item(tensor, (..., row, slice(offset, None) if lower else slice(None, size - offset)))
        diagonal = apply("diag", elements, offset=-offset if lower else offset)
        matrix = diagonal if matrix is None else matrix + diagonal
    return triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


def eigh_tridiagonal(
    alpha: TensorLike, beta: TensorLike, eigvals_only: bool = True, select: str = "a",
    select_range: Any = None, tol: float | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The eigenvalues in ascending order of a Hermitian matrix with the diagonals `alpha` (main) and `beta` (below it).

    With `eigvals_only=False`, eigenvalues and eigenvectors are returned. `select` is "a" for all, "i" for those with
    the indices from select_range[0] to select_range[1], "v" for values in the interval (low, high] of `select_range`.
    `tol` has no effect.

    >>> autoconv.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().round(4)
    array([1., 3.], dtype=float32)
    """
    main = convert_to_tensor(alpha)
    if main.shape.rank and main.shape[0] in (0, 1):  # TensorFlow returns the main diagonal of a matrix of one row
        return apply("real", main) if main.dtype.is_complex else main
    below = convert_to_tensor(beta)
    if select not in ("a", "i", "v"):
        raise ValueError("select must have a value in {'a', 'i', 'v'}.")
    if select != "a" and select_range is None:
        raise ValueError("`select_range` must be given for this `select`")
    above = apply("conjugate", below) if below.dtype.is_complex else below
    batch_padding = [[0, 0]] * (len(main.shape) - 1)
    values, vectors = eigh(dense(pad(below, [*batch_padding, [1, 0]]), main, pad(above, [*batch_padding, [0, 1]])))
    selection: Any = slice(None)
    if select == "i":
        first, last = (static_int(bound, "select_range") for bound in select_range)
        if first > last:
            raise ValueError("Got empty index range in select_range.")
        selection = slice(first, last + 1)
    if select == "v":
        low, high = select_range
        if low >= high:
            raise ValueError("Got empty interval in select_range.")
        start, stop = (reduce_sum(cast(apply("less_equal", values, bound), "int32"), -1) for bound in (low, high))
        selection = slice(start, stop)
    values = get_item(values, (..., selection))
    return values if eigvals_only else (values, get_item(vectors, (..., slice(None), selection)))
