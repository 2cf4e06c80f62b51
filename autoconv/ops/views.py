"""Which ops give memory of their first input out again, as NumPy does."""

from __future__ import annotations

# In NumPy a view of the first input, or that input itself.
VIEWS = frozenset(
    {"identity", "get_item", "reshape", "transpose", "matrix_transpose", "expand_dims", "squeeze", "reverse", "split"}
)

__all__ = ["VIEWS"]
