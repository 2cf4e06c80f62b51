"""`tf.experimental.extension_type`."""

from __future__ import annotations

from typing import Any


def as_dict(value: object) -> dict[str, Any]:
    """Return the fields of an extension type by name."""
    return {name: getattr(value, name) for name in type(value).__annotations__}
