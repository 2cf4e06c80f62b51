"""Diagonals of tensors of even rank 2r: the elements whose first r indices are equal to their last r."""

from __future__ import annotations

from autoconv.api.tensors.reductions import reduce_prod
from autoconv.api.tensors.shaping import concat, reshape, shape
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of twice the rank that has `diagonal` where both halves of an index are equal, and zeros elsewhere.

    >>> autoconv.linalg.tensor_diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    tensor = convert_to_tensor(diagonal)
    sizes = shape(tensor)
    return reshape(apply("diag", reshape(tensor, [-1]), offset=0, name=name), concat([sizes, sizes], 0))


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The elements at which both halves of the index are equal, of a tensor of even rank.

    >>> autoconv.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy()
    array([1, 4], dtype=int32)
    """
    tensor = convert_to_tensor(input)
    rank = tensor.shape.rank
    if rank == 0:
        return tensor
    if rank is None or rank % 2:
        raise InvalidArgumentError(f"tensor_diag_part takes a tensor of even rank, found the shape {tensor.shape}")
    half_shape = shape(tensor)[: rank // 2]
    side = reduce_prod(half_shape)
    return reshape(apply("diag_part", reshape(tensor, [side, side]), offset=0, name=name), half_shape)
