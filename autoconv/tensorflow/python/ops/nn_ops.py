"""`tensorflow.python.ops.nn_ops`: ops of neural networks, by their public names."""

from typing import Any

from autoconv import nn


def __getattr__(name: str) -> Any:
    """Return the public name of `nn`."""
    return getattr(nn, name)
