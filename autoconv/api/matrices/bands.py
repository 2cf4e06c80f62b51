"""Diagonals of matrices: a single one, or a band of neighbouring ones. Dimensions before the last two are a batch.

A band of the diagonals k[0] to k[1] is an array with a row for each diagonal, the highest diagonal first. Rows are as
long as the longest diagonal; shorter ones are padded. `align` is two sides, such as RIGHT_LEFT: shorter diagonals are
moved to the first side of their row if they are on or above the main diagonal, else to the second side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.graph.dtypes import int32
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "RIGHT_RIGHT", "LEFT_LEFT")


def diag(
    diagonal: TensorLike, name: str | None = "diag", k: Any = 0, num_rows: int = -1, num_cols: int = -1,
    padding_value: TensorLike = 0, align: str = "RIGHT_LEFT",
) -> Tensor:  # fmt: skip
    """Matrices with the vectors on their k-th diagonal, or with a band on the diagonals k[0] to k[1].

    Elsewhere they have `padding_value`. They are square, or `num_rows` x `num_cols` if one of these is not -1. Raises
    ValueError if the diagonals of such matrices have another length than the vectors.

    >>> autoconv.linalg.diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    >>> autoconv.linalg.diag([[0, 7], [1, 2]], k=(0, 1)).numpy()
    array([[1, 7],
           [0, 2]], dtype=int32)
    """
    low, high = _diagonal_range(k)
    vectors = convert_to_tensor(diagonal)
    if low == high and (num_rows, num_cols) == (-1, -1) and static_value(padding_value) == 0:
        return apply("diag", vectors, offset=low, name=name)
    length = _trailing_sizes(vectors, 1 if low == high else 2)[-1]
    min_rows, min_columns = length + max(-high, 0), length + max(low, 0)
    if num_rows == -1 and num_cols == -1:
        rows = columns = max(min_rows, min_columns)
    else:
        rows, columns = (num_rows if num_rows != -1 else min_rows), (num_cols if num_cols != -1 else min_columns)
    band = _Band(rows, columns, low, high, align)
    if band.length != length:
        sizes_text = f"diagonals {low} to {high} of {rows} rows and {columns} columns have {band.length} elements"
        raise ValueError(f"{sizes_text}, found {length}")
    batch = vectors.shape.as_list()[: -1 if low == high else -2]
    padding = apply("cast", convert_to_tensor(padding_value), dtype=vectors.dtype)
    return band.insert(apply("broadcast_to", padding, shape=(*batch, rows, columns)), vectors, name)


def diag_part(
    input: TensorLike, name: str | None = "diag_part", k: Any = 0, padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:  # fmt: skip
    """The k-th diagonal of the matrices, or the band of the diagonals k[0] to k[1], padded with `padding_value`.

    >>> autoconv.linalg.diag_part([[1, 2], [3, 4]]).numpy()
    array([1, 4], dtype=int32)
    >>> autoconv.linalg.diag_part([[1, 2], [3, 4]], k=(-1, 0)).numpy()
    array([[1, 4],
           [3, 0]], dtype=int32)
    """
    low, high = _diagonal_range(k)
    if low == high:
        return apply("diag_part", input, offset=low, name=name)
    matrices = convert_to_tensor(input)
    rows, columns = _trailing_sizes(matrices, 2)
    return _Band(rows, columns, low, high, align).extract(matrices, padding_value, name)


def set_diag(
    input: TensorLike, diagonal: TensorLike, name: str | None = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """A copy of the matrices with `diagonal` as k-th diagonal, or as the band of the diagonals k[0] to k[1].

    >>> autoconv.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy()
    array([[8, 2],
           [3, 9]], dtype=int32)
    """
    low, high = _diagonal_range(k)
    if low == high:
        return apply("set_diag", input, diagonal, offset=low, name=name)
    matrices = convert_to_tensor(input)
    rows, columns = _trailing_sizes(matrices, 2)
    return _Band(rows, columns, low, high, align).insert(matrices, diagonal, name)


def _diagonal_range(k: Any) -> tuple[int, int]:
    """Return the numbers of the lowest and the highest diagonal; raises TypeError unless they are known ints."""
    static_k = static_value(k)
    bounds = np.ravel(np.asarray(static_k if static_k is not None else object()))
    if bounds.dtype.kind not in "iu" or bounds.size not in (1, 2):
        raise TypeError(f"k has to be one int or two that are known while tracing, found {k!r}")
    low, high = int(bounds[0]), int(bounds[-1])
    if low > high:
        raise ValueError(f"k has the lowest diagonal first, found {k!r}")
    return low, high


def _trailing_sizes(tensor: Tensor, count: int) -> list[int]:
    """Return the sizes of the last dimensions; raise ValueError if one is unknown."""
    sizes = tensor.type.shape[-count:] if tensor.type.shape is not None else ()
    if len(sizes) < count or not all(isinstance(size, int) for size in sizes):
        raise ValueError(f"bands of diagonals need {count} known dimensions at the end, found {tensor.shape}")
    return list(sizes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Band:
    """The diagonals `low` to `high` of matrices of `rows` rows and `columns` columns."""

    rows: int
    columns: int
    low: int
    high: int
    align: str

    def __post_init__(self) -> None:
        if self.align not in _ALIGNMENTS:
            raise ValueError(f"align has to be one of {', '.join(_ALIGNMENTS)}, found {self.align!r}")

    @property
    def length(self) -> int:
        """The length of the longest diagonal."""
        return max(self._diagonal_length(diagonal) for diagonal in range(self.low, self.high + 1))

    def _diagonal_length(self, diagonal: Any) -> Any:
        """Return the length of a diagonal, or of each of an array of them."""
        return np.minimum(self.rows + np.minimum(diagonal, 0), self.columns - np.maximum(diagonal, 0))

    def _first_column(self, diagonal: Any) -> Any:
        """Return the column of the band array at which the row of a diagonal begins, or of each of an array of them."""
        right_above, right_below = (side == "RIGHT" for side in self.align.split("_"))
        is_at_right = np.where(np.asarray(diagonal) >= 0, right_above, right_below)
        return np.where(is_at_right, self.length - self._diagonal_length(diagonal), 0)

    def extract(self, matrices: Tensor, padding: TensorLike, name: str | None) -> Tensor:
        """Return the band of each matrix."""
        diagonals = np.arange(self.high, self.low - 1, -1)[:, None]
        positions = np.arange(self.length) - self._first_column(diagonals)  # along each diagonal
        is_in_band = (positions >= 0) & (positions < self._diagonal_length(diagonals))
        rows, columns = positions + np.maximum(-diagonals, 0), positions + np.maximum(diagonals, 0)
        flat_positions = rows * self.columns + columns
        elements = _gather_flat(matrices, 2, np.where(is_in_band, flat_positions, 0))
        return apply(
            "select", is_in_band, elements, apply("cast", convert_to_tensor(padding), dtype=elements.dtype), name=name
        )

    def insert(self, matrices: Tensor, diagonals: TensorLike, name: str | None) -> Tensor:
        """Return the matrices with their bands replaced by `diagonals`, one band per matrix."""
        rows, columns = np.arange(self.rows)[:, None], np.arange(self.columns)
        band_diagonals = columns - rows  # the diagonal of each element of a matrix
        is_in_band = (band_diagonals >= self.low) & (band_diagonals <= self.high)
        band_columns = self._first_column(band_diagonals) + np.minimum(rows, columns)
        flat_positions = (self.high - band_diagonals) * self.length + band_columns
        band = convert_to_tensor(diagonals, dtype_hint=matrices.dtype)
        elements = _gather_flat(band, 1 if self.low == self.high else 2, np.where(is_in_band, flat_positions, 0))
        return apply("select", is_in_band, elements, matrices, name=name)


def _gather_flat(tensor: Tensor, count: int, indices: np.ndarray) -> Tensor:
    """Return the elements at `indices` of the last `count` dimensions, which are merged into one."""
    batch = [size if isinstance(size, int) else -1 for size in (tensor.type.shape or ())[:-count]]
    flat = apply("reshape", tensor, shape=(*batch, int(np.prod(_trailing_sizes(tensor, count)))))
    return apply("gather", flat, convert_to_tensor(indices.astype(np.int32)), axis=len(batch), batch_dims=0)


def select_band(matrices: Tensor, num_lower: Any, num_upper: Any) -> Tensor:
    """Return the matrices with zeros outside of a band, as `band_part` does, for limits known at run time only."""
    sizes = apply("shape", matrices, dtype=int32)
    below = apply("expand_dims", tensor_range(sizes[-2]), axis=1) - tensor_range(sizes[-1])
    is_near_below, is_near_above = (
        apply("logical_or", apply("less", limit, 0), apply("less_equal", distance, limit))
        for limit, distance in ((cast(num_lower, int32), below), (cast(num_upper, int32), -below))
    )
    return apply("select", apply("logical_and", is_near_below, is_near_above), matrices, apply("zeros_like", matrices))
