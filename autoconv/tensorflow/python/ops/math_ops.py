"""`tensorflow.python.ops.math_ops`: ops on numbers, by their public names."""


import autoconv
from autoconv import math


def __getattr__(name: str) -> object:
    """Return the name of `math`, else the public name of autoconv."""
    return getattr(math, name, None) or getattr(autoconv, name)
