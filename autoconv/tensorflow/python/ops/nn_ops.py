"""`tensorflow.python.ops.nn_ops`: ops of neural networks, by their public names."""


from autoconv import nn


def __getattr__(name: str) -> object:
    """Return the public name of `nn`."""
    return getattr(nn, name)
