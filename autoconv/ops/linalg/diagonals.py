"""Diagonals and bands of matrices.

The diagonal at `offset` has the elements [i, i + offset]: a positive offset is above the main diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import TensorType, are_shapes_compatible, shape_text
from autoconv.ops.linalg.products import TALL, WIDE, check_dtypes
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import diagonal_length


def _diag_type(x: TensorType, *, offset: int = 0) -> TensorType:
    """Return the type of a square matrix, which `offset` makes larger; the side is unknown if the size is open."""
    if x.shape is None:
        return x
    if not x.shape:
        raise ValueError("diag takes tensors of one or more dimensions, found a scalar")
    size = x.shape[-1]
    side = size if offset == 0 else size + abs(offset) if isinstance(size, int) else None
    return x.with_shape((*x.shape[:-1], side, side))


def _diag(x: Any, *, offset: int = 0) -> Any:
    side = np.shape(x)[-1] + abs(offset)
    result = np.zeros((*np.shape(x)[:-1], side, side), np.asarray(x).dtype)
    rows = np.arange(np.shape(x)[-1])
    result[..., rows + max(-offset, 0), rows + max(offset, 0)] = x
    return result


def _check_matrix(op: str, x: TensorType) -> None:
    """Raise ValueError for a tensor of less than two dimensions."""
    if x.shape is not None and len(x.shape) < 2:
        raise ValueError(
            f"{op} takes tensors of 2 or more dimensions, found the shape [{shape_text(x.shape)}]"
        )


def _diag_part_type(x: TensorType, *, offset: int = 0) -> TensorType:
    _check_matrix("diag_part", x)
    if x.shape is None:
        return x
    return x.with_shape((*x.shape[:-2], diagonal_length(x.shape[-2], x.shape[-1], offset)))


def _set_diag_type(x: TensorType, diagonal: TensorType, *, offset: int = 0) -> TensorType:
    """Return the type of `x`; raise if the diagonal has another shape than that of `x`."""
    check_dtypes("set_diag", x, diagonal)
    diagonal_shape = _diag_part_type(x, offset=offset).shape
    if not are_shapes_compatible(diagonal_shape, diagonal.shape):
        raise ValueError(
            f"set_diag: the diagonal of {x} has the shape [{shape_text(diagonal_shape)}], found {diagonal}"
        )
    return x


def _set_diag(x: Any, diagonal: Any, *, offset: int = 0) -> Any:
    """Return a copy of the matrices in which `diagonal` is the diagonal at `offset`."""
    result = np.array(x)
    length = max(min(result.shape[-2] - max(-offset, 0), result.shape[-1] - max(offset, 0)), 0)
    if np.shape(diagonal) != (*result.shape[:-2], length):
        raise InvalidArgumentError(
            f"set_diag: the diagonal has to be of shape {[*result.shape[:-2], length]}, "
            f"found {list(np.shape(diagonal))}"
        )
    rows = np.arange(length)
    result[..., rows + max(-offset, 0), rows + max(offset, 0)] = diagonal
    return result


def _diag_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.diag_part(cotangents[0], **attributes),)


def _diag_part_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.set_diag(b.zeros_like(inputs[0]), cotangents[0], **attributes),)


def _set_diag_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (_, diagonal) = cotangents, inputs
    return b.set_diag(cotangent, b.zeros_like(diagonal), **attributes), b.diag_part(cotangent, **attributes)


def _band_part_type(x: TensorType, *, num_lower: int, num_upper: int) -> TensorType:
    _check_matrix("matrix_band_part", x)
    return x


def _band_part(x: Any, *, num_lower: int, num_upper: int) -> Any:
    """Keep so many diagonals below and above the main one, all for a negative number; other elements become 0."""
    rows, columns = np.ogrid[: np.shape(x)[-2], : np.shape(x)[-1]]
    is_in_band = ((num_lower < 0) | (rows - columns <= num_lower)) & (
        (num_upper < 0) | (columns - rows <= num_upper)
    )
    return np.where(is_in_band, x, np.zeros((), np.asarray(x).dtype))


diag = define(
    name="diag", graphdef="MatrixDiagV3", result=_diag_type, kernel=_diag, gradient=_diag_gradient,
    samples=(sample(WIDE), sample(WIDE[0], offset=-1)),
)  # fmt: skip
diag_part = define(
    name="diag_part", graphdef="MatrixDiagPartV3", result=_diag_part_type,
    kernel=lambda x, *, offset=0: np.diagonal(x, offset, -2, -1).copy(), gradient=_diag_part_gradient,
    samples=(sample(WIDE), sample(np.stack([TALL, -TALL]), offset=-1)),
)  # fmt: skip
set_diag = define(
    name="set_diag", graphdef="MatrixSetDiagV3", result=_set_diag_type, kernel=_set_diag,
    gradient=_set_diag_gradient, unify=(0, 1),
    samples=(sample(WIDE, np.array([9.0, 8.0])), sample(WIDE, np.array([9.0]), offset=2)),
)  # fmt: skip
matrix_band_part = define(
    name="matrix_band_part", graphdef="MatrixBandPart", result=_band_part_type, kernel=_band_part,
    gradient=lambda b, inputs, results, cotangents, attributes: (
        b.matrix_band_part(cotangents[0], **attributes),
    ),
    samples=(sample(WIDE, num_lower=0, num_upper=-1), sample(WIDE, num_lower=1, num_upper=1)),
)  # fmt: skip
