"""HTML representation of tensors in notebooks: a small table."""

from __future__ import annotations

from html import escape

import numpy as np

_ROWS, _COLUMNS = 12, 12  # rows and columns of a table; a larger one shows its corners


def tensor_html(array: np.ndarray, dtype: str) -> str:
    """Return a table of the last two dimensions; with more dimensions, the first such matrix and their number."""
    shape = array.shape
    title = f"autoconv.Tensor, shape {shape}, {escape(dtype)}"
    shown = array
    while shown.ndim > 2 and shown.size:
        shown = shown[0]
    if not array.size:
        return f"<div>{title}</div>"
    if not shown.ndim:
        return f"<div>{title}: <b>{_cell(shown[()])}</b></div>"
    note = f"; this is the first of {array.size // shown.size} parts" if shown.ndim < array.ndim else ""
    table = shown[None, :] if shown.ndim == 1 else shown
    rows = "".join(f"<tr>{''.join(_row(table, i))}</tr>" for i in _shown_rows(table.shape[0], _ROWS))
    return f'<div>{title}{note}<table style="text-align:right">{rows}</table></div>'


def _row(table: np.ndarray, row: int | None) -> list[str]:
    columns = _shown_rows(table.shape[1], _COLUMNS)
    if row is None:
        return ["<td>⋮</td>"] * len(columns)
    return [f"<td>{'…' if column is None else _cell(table[row, column])}</td>" for column in columns]


def _shown_rows(count: int, limit: int) -> list[int | None]:
    if count <= limit:
        return list(range(count))
    half = limit // 2
    return [*range(half), None, *range(count - half, count)]


def _cell(value: object) -> str:
    if isinstance(value, np.inexact):
        return escape(f"{value:.6g}")
    return escape(repr(value) if isinstance(value, bytes) else str(value))


__all__ = ["tensor_html"]
