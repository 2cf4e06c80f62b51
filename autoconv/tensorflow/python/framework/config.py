"""Settings of determinism."""


def is_op_determinism_enabled() -> bool:
    """Return True: the same program has the same results in every run."""
    return True


def enable_op_determinism() -> None:
    """Do nothing: ops are always deterministic."""


def disable_op_determinism() -> None:
    """Do nothing: there are no faster nondeterministic ops."""
