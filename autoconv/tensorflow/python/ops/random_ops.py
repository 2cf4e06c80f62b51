"""`tensorflow.python.ops.random_ops`: random numbers, by their names of version 1."""

from autoconv.tensorflow.missing import Missing
from autoconv.tensorflow.python.private_modules import lookup_in

parameterized_truncated_normal = Missing(
    "python.ops.random_ops.parameterized_truncated_normal",
    "Use `random.stateless_parameterized_truncated_normal`.",
)

__getattr__ = lookup_in(__name__, "autoconv.compat.v1", "autoconv.random")
