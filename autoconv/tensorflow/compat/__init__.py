"""`tensorflow.compat`, as a module of its own for imports from it."""

from __future__ import annotations

from autoconv.compat import as_bytes, as_str, as_str_any, as_text, dimension_value
from autoconv.tensorflow.compat import v1

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "dimension_value", "v1"]
