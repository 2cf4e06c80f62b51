"""Whether version 2 is in force."""


def enabled() -> bool:
    """Return True."""
    return True
