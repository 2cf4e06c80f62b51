"""Remedies shared by several errors."""

from __future__ import annotations

# The advice of errors under `function` for code that works under `compile`.
COMPILE_ADVICE = "@autoconv.compile runs code written for NumPy and Python as it is"
