"""Tridiagonal matrices: solutions of systems, and products with matrices.

The format of diagonals is "compact", one tensor [..., 3, n], or "sequence", three tensors [..., n]: the upper, the main
and the lower diagonal. The last element of the upper one and the first of the lower one have no effect. The third
format is "matrix", a tensor [..., n, n] whose three diagonals are read.
"""

from __future__ import annotations

from typing import Any

from autoconv.api.matrices.bands import diag_part
from autoconv.api.matrices.linalg import adjoint
from autoconv.api.matrices.linalg import matrix_transpose as transpose
from autoconv.api.tensors.shaping import expand_dims, pad, squeeze
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Diagonals = tuple[Tensor, Tensor, Tensor]  # upper, main and lower


def tridiagonal_solve(
    diagonals: Any, rhs: TensorLike, diagonals_format: str = "compact", transpose_rhs: bool = False,
    conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:  # fmt: skip
    """The solution x of A @ x = rhs for tridiagonal matrices A; `rhs` is [..., n] or [..., n, k].

    With `transpose_rhs` or `conjugate_rhs`, `rhs` is transposed or conjugated first. Raises InvalidArgumentError for a
    singular matrix.

    >>> autoconv.linalg.tridiagonal_solve([[1.0, 0.0], [2.0, 3.0], [0.0, 1.0]], [3.0, 4.0]).numpy()
    array([1., 1.], dtype=float32)
    """
    if perturb_singular:
        raise InvalidArgumentError("perturb_singular has no implementation on CPUs")
    upper, main, lower = split_diagonals(diagonals, diagonals_format)
    right_side = convert_to_tensor(rhs)
    is_vector = len(right_side.shape) == len(main.shape)
    if is_vector:
        right_side = expand_dims(right_side, -1)
    if transpose_rhs and not is_vector:
        right_side = adjoint(right_side) if conjugate_rhs else transpose(right_side)
    elif conjugate_rhs and right_side.dtype.is_complex:
        right_side = apply("conjugate", right_side)
    below, above = get_item(lower, (..., slice(1, None))), get_item(upper, (..., slice(None, -1)))
    result = apply("tridiagonal_solve", below, main, above, right_side, pivoting=bool(partial_pivoting), name=name)
    return squeeze(result, [-1]) if is_vector else result


def tridiagonal_matmul(
    diagonals: Any, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The product of tridiagonal matrices with matrices [..., n, k].

    >>> autoconv.linalg.tridiagonal_matmul([[1.0, 0.0], [2.0, 3.0], [0.0, 1.0]], [[1.0], [1.0]]).numpy()
    array([[3.],
           [4.]], dtype=float32)
    """
    upper, main, lower = (expand_dims(diagonal, -1) for diagonal in split_diagonals(diagonals, diagonals_format))
    x: Any = convert_to_tensor(rhs)
    batch_padding, column_padding = [[0, 0]] * (len(x.shape) - 2), [0, 0]
    above = pad(get_item(upper, (..., slice(None, -1), slice(None))) * get_item(x, (..., slice(1, None), slice(None))),
                [*batch_padding, [0, 1], column_padding])  # fmt: skip
    below = pad(get_item(lower, (..., slice(1, None), slice(None))) * get_item(x, (..., slice(None, -1), slice(None))),
                [*batch_padding, [1, 0], column_padding])  # fmt: skip
    return apply("identity", main * x + above + below, name=name)


def dense(lower: Tensor, main: Tensor, upper: Tensor) -> Any:
    """Return the tridiagonal matrices [..., n, n] of three diagonals [..., n] each, padded as in "sequence".

    They are passed by ascending offset, as the op `tridiagonal_solve` takes them, not in the order of "sequence".
    """
    above = apply("diag", get_item(upper, (..., slice(None, -1))), offset=1)
    below = apply("diag", get_item(lower, (..., slice(1, None))), offset=-1)
    diagonal: Any = apply("diag", main, offset=0)
    return diagonal + above + below


def split_diagonals(diagonals: Any, diagonals_format: str) -> Diagonals:
    """Return the upper, main and lower diagonals, of n elements each; raises ValueError for another format."""
    if diagonals_format == "compact":
        tensor = convert_to_tensor(diagonals)
        if tensor.shape.rank is not None and (tensor.shape.rank < 2 or tensor.shape[-2] not in (3, None)):
            raise ValueError(f"Expected 3 diagonals got {tensor.shape}")
        upper, main, lower = (get_item(tensor, (..., i, slice(None))) for i in range(3))
        return upper, main, lower
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        upper, main, lower = map(convert_to_tensor, diagonals)
        return _pad_diagonal(upper, main, at_end=True), main, _pad_diagonal(lower, main, at_end=False)
    if diagonals_format == "matrix":
        matrix = convert_to_tensor(diagonals)
        upper, main, lower = (diag_part(matrix, k=offset) for offset in (1, 0, -1))
        return _pad_diagonal(upper, main, at_end=True), main, _pad_diagonal(lower, main, at_end=False)
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def _pad_diagonal(diagonal: Tensor, main: Tensor, at_end: bool) -> Tensor:
    """Return a diagonal of n - 1 elements with a zero added at the end or the start, one of n elements unchanged."""
    if diagonal.shape[-1] is not None and diagonal.shape[-1] == main.shape[-1]:
        return diagonal
    return pad(diagonal, [*[[0, 0]] * (len(diagonal.shape) - 1), [0, 1] if at_end else [1, 0]])
