"""The query for version 2."""


def enabled() -> bool:
    """Return True."""
    return True
