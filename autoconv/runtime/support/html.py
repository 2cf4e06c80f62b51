"""HTML representation of tensors in notebooks: a small table."""

from __future__ import annotations

from html import escape

import numpy as np

_MAX_ROWS, _MAX_COLUMNS = 12, 12  # rows and columns of a table; a larger one shows its corners


def tensor_html(array: np.ndarray, dtype: str) -> str:
    """Return a table of the last two dimensions; with more dimensions, the first such matrix and their number."""
    shape = array.shape
    title = f"autoconv.Tensor, shape {shape}, {escape(dtype)}"
    matrix = array
    while matrix.ndim > 2 and matrix.size:
        matrix = matrix[0]
    if not array.size:
        return f"<div>{title}</div>"
    if not matrix.ndim:
        return f"<div>{title}: <b>{_cell(matrix[()])}</b></div>"
    note = f"; this is the first of {array.size // matrix.size} parts" if matrix.ndim < array.ndim else ""
    table = matrix[None, :] if matrix.ndim == 1 else matrix
    rows = "".join(f"<tr>{''.join(_row(table, i))}</tr>" for i in _shown_positions(table.shape[0], _MAX_ROWS))
    return f'<div>{title}{note}<table style="text-align:right">{rows}</table></div>'


def _row(table: np.ndarray, row: int | None) -> list[str]:
    """Return the cells of a row of a table; None stands for rows that are left out."""
    columns = _shown_positions(table.shape[1], _MAX_COLUMNS)
    if row is None:
        return ["<td>⋮</td>"] * len(columns)
    return [f"<td>{'…' if column is None else _cell(table[row, column])}</td>" for column in columns]


def _shown_positions(count: int, limit: int) -> list[int | None]:
    """Return the rows or columns to show, None for the gap in the middle."""
    if count <= limit:
        return list(range(count))
    half = limit // 2
    return [*range(half), None, *range(count - half, count)]


def _cell(value: object) -> str:
    """Return the text of a cell."""
    if isinstance(value, np.inexact):
        return escape(f"{value:.6g}")
    return escape(repr(value) if isinstance(value, bytes) else str(value))
