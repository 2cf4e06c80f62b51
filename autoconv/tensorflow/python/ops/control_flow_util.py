"""`tensorflow.python.ops.control_flow_util`: facts about graphs."""

ENABLE_CONTROL_FLOW_V2 = True  # regions, not switches and merges


def GraphOrParentsInXlaContext(graph: object) -> bool:
    """Return whether a graph is compiled by XLA as a whole, which its writer cannot tell here."""
    return False
