"""Remedies shared by several errors."""

from __future__ import annotations

BY_COMPILE = "@autoconv.compile runs code written for NumPy and Python as it is"
