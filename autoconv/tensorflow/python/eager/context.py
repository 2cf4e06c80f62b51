"""The context of eager execution: nothing of it is to be set here."""


def async_wait() -> None:
    """Return: ops are done when they return."""
