"""`tensorflow.python.util.tf_inspect`: Python's `inspect`."""

from __future__ import annotations

import inspect as _inspect
from collections.abc import Callable
from inspect import *  # noqa: F403


def getfullargspec(obj: Callable[..., object]) -> _inspect.FullArgSpec:  # type: ignore[no-redef]
    """Return the parameters of a function, without annotations if autoconv defines it: TensorFlow's have none."""
    spec = _inspect.getfullargspec(obj)
    is_own = (getattr(obj, "__module__", None) or "").partition(".")[0] == "autoconv"
    return spec._replace(annotations={}) if is_own else spec


def __getattr__(name: str) -> object:
    """Return a name of `inspect` that its star import leaves out."""
    return getattr(_inspect, name)
