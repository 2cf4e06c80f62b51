"""Triangular factors, eigenvalues of matrices of any kind, ranks, and normalisation of vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autoconv.api.matrices.linalg import svd
from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.norms import norm
from autoconv.api.tensors.reductions import reduce_max, reduce_sum
from autoconv.api.tensors.shaping import expand_dims, shape
from autoconv.graph.dtype_sets import COMPLEX, FLOATING
from autoconv.graph.dtypes import as_dtype, float32, int32
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class Lu(NamedTuple):
    """The result of `lu`: both factors in one matrix, and the permutation `p` of the rows of the input."""

    lu: Tensor
    p: Tensor


def lu(input: TensorLike, output_idx_type: DTypeLike = int32, name: str | None = None) -> Lu:
    """Factors of square matrices: input[p] is the lower factor, with ones on its diagonal, times the upper one.

    Both factors are returned in one matrix, without the ones. Raises InvalidArgumentError for a singular matrix.

    >>> factors, rows = autoconv.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> factors.numpy(), rows.numpy()
    (array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), array([1, 0], dtype=int32))
    """
    return Lu(*apply("lu", input, dtype=as_dtype(output_idx_type), name=name))


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The complex eigenvalues and eigenvectors (columns) of square matrices.

    >>> values, vectors = autoconv.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> values.numpy()
    array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    values, vectors = apply("eig", tensor, name=name)
    return values, vectors


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The complex eigenvalues of square matrices.

    >>> autoconv.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy()
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    return eig(tensor, name)[0]


def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The number of singular values above `tol`, int32.

    By default `tol` is the larger side of a matrix times its largest singular value times the dtype's epsilon.
    `validate_args` has no effect.

    >>> autoconv.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy()
    np.int32(1)
    """
    a = with_default_dtype(a, float32, FLOATING | COMPLEX)
    tensor = convert_to_tensor(a)
    singular_values: Any = svd(tensor, compute_uv=False)
    if tol is None:
        larger_side = cast(reduce_max(shape(tensor)[-2:]), singular_values.dtype)
        tol = expand_dims(
            larger_side * reduce_max(singular_values, axis=-1) * float(np.finfo(singular_values.dtype.numpy).eps), -1
        )
    return reduce_sum(cast(singular_values > tol, int32), axis=-1)


def normalize(
    tensor: TensorLike, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The tensor divided by its norm along `axis`, and this norm, with size 1 along `axis`; `ord` is as in `norm`.

    >>> unit, length = autoconv.linalg.normalize([3.0, 4.0])
    >>> unit.numpy(), length.numpy()
    (array([0.6, 0.8], dtype=float32), array([5.], dtype=float32))
    """
    x: Any = convert_to_tensor(tensor)
    length = cast(norm(x, ord, axis, keepdims=True), x.dtype)
    return x / length, length
