"""`tensorflow.python.ops.random_ops`: random numbers, by their names of version 1."""


import autoconv.compat.v1
from autoconv import random
from autoconv.tensorflow.missing import Missing

parameterized_truncated_normal = Missing(
    "python.ops.random_ops.parameterized_truncated_normal",
    "Use `random.stateless_parameterized_truncated_normal`.",
)


def __getattr__(name: str) -> object:
    """Return the name of `compat.v1`, else of `random`."""
    return getattr(autoconv.compat.v1, name, None) or getattr(random, name)
