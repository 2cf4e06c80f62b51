"""The text of ragged tensors for `repr`."""

from __future__ import annotations

import numpy as np


def ragged_text(rows: object) -> str:
    """Return NumPy's text of an array of rows, with commas between elements."""
    with np.printoptions(formatter={"all": _element}):
        return _element(rows)


def _element(value: object) -> str:
    """Return the text of an element, or of a row of elements."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())
