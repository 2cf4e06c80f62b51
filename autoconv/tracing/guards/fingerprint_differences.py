"""Descriptions of the part in which a value changed, by its fingerprints before and after."""

from __future__ import annotations

import types
from typing import Any


def describe_difference(old: Any, new: Any) -> str:
    """Return where two fingerprints differ, as a suffix of the value's name such as ".x[3]"; "" if no part is found."""
    if not (isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new) and len(old) in (2, 3)):
        return ""  # no pair or triple, as the module `fingerprints` describes them
    kind, old_parts, new_parts = old[0], old[1], new[1]
    is_dict = isinstance(kind, type) and issubclass(kind, dict)
    have_parts = isinstance(old_parts, tuple) and isinstance(new_parts, tuple)
    if kind != new[0] or not have_parts or len(old_parts) != len(new_parts):
        return ""
    for position, (old_part, new_part) in enumerate(zip(old_parts, new_parts, strict=True)):
        if old_part == new_part:
            continue
        if not (isinstance(old_part, tuple) and isinstance(new_part, tuple)):
            return ""
        if is_dict and old_part[0] == new_part[0]:
            key_text = _key_text(old_part[0])
            return f"{key_text}{describe_difference(old_part[1], new_part[1])}" if key_text else ""
        if len(old) == 3 and old_part[0] == new_part[0]:
            return f".{old_part[0]}{describe_difference(old_part[1], new_part[1])}"
        return f"[{position}]{describe_difference(old_part, new_part)}" if kind in (list, tuple) else ""
    return ""


def _key_text(fingerprint: Any) -> str:
    """Return the key of a dict that has the fingerprint, in brackets; "" unless it is a number, a text or None."""
    kind, *values = fingerprint
    if kind is types.NoneType:
        return "[None]"
    if not isinstance(kind, type) or not issubclass(kind, (int, str, bytes, float, complex)):
        return ""
    exact_value, *_ = values  # of a float or complex number its text
    return f"[{exact_value}]" if issubclass(kind, (float, complex)) else f"[{exact_value!r}]"
