"""Where and how ops run: scopes, devices, order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autoconv.api.callbacks import numpy_function
from autoconv.graph.dtypes import float64
from autoconv.runtime.convert import is_tensor
from autoconv.runtime.recording import current_region, recording
from autoconv.runtime.scopes import name_scope
from autoconv.runtime.tensor import Tensor


@contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None) -> Iterator[None]:
    """What is inside runs after `control_inputs`. Program order is the order of effects, so it does anyway.

    Functions among the inputs are called.
    """
    for dependency in control_inputs or ():
        if callable(dependency) and not is_tensor(dependency):
            dependency()
    yield


@contextmanager
def init_scope() -> Iterator[None]:
    """Ops inside run at once, also while a function is traced: once a trace, and not as part of the graph."""
    with recording(None):
        yield


@contextmanager
def device(device_name: str | Callable[..., str] | None) -> Iterator[None]:
    """Names the device that ops inside should run on. There is one device, so that this changes nothing.

    Raises ValueError for what is no name of a device.
    """
    if device_name is not None and not isinstance(device_name, str) and not callable(device_name):
        raise ValueError(f"a device is named by a string such as '/CPU:0', found {device_name!r}")
    yield


def executing_eagerly() -> bool:
    """Whether ops run at once: False while a function is traced."""
    return current_region() is None


def inside_function() -> bool:
    """Whether a function is being traced."""
    return current_region() is not None


def group(*inputs: Any, name: str | None = None) -> None:
    """Stands for `inputs` having run, which in program order they have."""


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970, a float64 scalar, taken each time that it runs."""
    found = numpy_function(lambda: np.float64(time.time()), [], float64, name=name)
    found.set_shape(()) if current_region() is not None else None
    return found


__all__ = [
    "control_dependencies", "device", "executing_eagerly", "group", "init_scope", "inside_function",
    "is_tensor", "name_scope", "no_op", "timestamp",
]  # fmt: skip
