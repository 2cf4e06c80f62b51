"""Inspection and control of conversion."""

from autoconv.autograph import experimental
from autoconv.tracing.views.autograph import set_verbosity, to_code, to_graph, trace

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
