"""`tensorflow.python.framework.ops`: tensors, graphs and their scopes, by their names of version 1."""


import autoconv.compat.v1
from autoconv.runtime.tensors.tensor import EagerTensor as EagerTensor


def __getattr__(name: str) -> object:
    """Return the name of `compat.v1`."""
    return getattr(autoconv.compat.v1, name)
