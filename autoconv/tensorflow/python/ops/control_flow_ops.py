"""`tensorflow.python.ops.control_flow_ops`: loops, conditionals and assertions."""

from autoconv.tensorflow.python.private_modules import lookup_in

__getattr__ = lookup_in(__name__)


def get_enclosing_xla_context() -> None:
    """Return None: it is not known while a graph is recorded whether XLA will compile it."""
