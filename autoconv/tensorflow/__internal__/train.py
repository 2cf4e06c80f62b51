"""Moving averages, and the mode of mixed precision of version 1."""

from autoconv.compat.v1.train import update_checkpoint_state as update_checkpoint_state
from autoconv.train.moving_averages import assign_moving_average as assign_moving_average


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Return False: graphs are not rewritten to lower precision."""
    return False


def set_using_mixed_precision_policy(is_using: bool) -> None:
    """Do nothing: there is no rewrite of graphs that a policy would exclude."""
