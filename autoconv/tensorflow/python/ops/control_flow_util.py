"""`tensorflow.python.ops.control_flow_util`: constant properties of graphs."""

ENABLE_CONTROL_FLOW_V2 = True  # graphs have regions, not the ops Switch and Merge of version 1


def GraphOrParentsInXlaContext(graph: object) -> bool:
    """Return False: it is not known while a graph is recorded whether XLA will compile it."""
    return False
