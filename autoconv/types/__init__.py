"""Names for annotations and isinstance checks."""

from autoconv.types import experimental

__all__ = ["experimental"]
