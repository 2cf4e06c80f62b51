"""Settings of determinism."""


def is_op_determinism_enabled() -> bool:
    """Return False: ops are always deterministic, so that no mode excludes others such as compilation."""
    return False


def enable_op_determinism() -> None:
    """Do nothing: ops are always deterministic."""


def disable_op_determinism() -> None:
    """Do nothing: there are no faster nondeterministic ops."""
