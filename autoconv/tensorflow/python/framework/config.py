"""Settings of determinism."""


def is_op_determinism_enabled() -> bool:
    """Return True: the same program has the same results in every run."""
    return True


def enable_op_determinism() -> None:
    """Nothing changes: ops are deterministic already."""


def disable_op_determinism() -> None:
    """Nothing changes: there are no faster ops that are not deterministic."""
