"""`tensorflow.graph_util`."""

from autoconv.compat.v1.graph_import import import_graph_def

__all__ = ["import_graph_def"]
