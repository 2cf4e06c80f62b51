"""Where and how ops run: scopes, devices, order."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autoconv.api.callbacks import numpy_function
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph
from autoconv.runtime.convert import is_tensor
from autoconv.runtime.recording import current_region, recording
from autoconv.runtime.scopes import name_scope
from autoconv.runtime.symbolic import SymbolicTensor
from autoconv.runtime.tensor import Tensor


@contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None) -> Iterator[None]:
    """What is inside runs after `control_inputs`. Program order is the order of effects, so it does anyway.

    The graph shows it as control inputs of the nodes inside. Functions among the inputs are called, and None stands
    for one of the last ops that have no result (assertions, prints). None for `control_inputs` forgets those of the
    blocks around.
    """
    for dependency in control_inputs or ():
        if callable(dependency) and not is_tensor(dependency):
            dependency()
    region = current_region()
    if region is None:
        yield
        return
    before = region.trace.controls
    inherited = before[1] if before[0] is region.graph and control_inputs is not None else ()
    names = (*inherited, *_names_of(region.graph, control_inputs or ()))
    region.trace.controls = region.graph, tuple(dict.fromkeys(names))
    try:
        yield
    finally:
        region.trace.controls = before


def _names_of(graph: Graph, dependencies: Sequence[Any]) -> Iterator[str]:
    """The nodes that made the dependencies."""
    silent = sum(1 for dependency in dependencies if not isinstance(dependency, SymbolicTensor))
    effects = [node for node in graph.nodes if node.effects]
    yield from (node.name for node in effects[len(effects) - silent :] if silent)
    for dependency in dependencies:
        if isinstance(dependency, SymbolicTensor) and dependency.graph is graph:
            yield dependency.value_in_graph.name


@contextmanager
def init_scope() -> Iterator[None]:
    """Ops inside run at once, also while a function is traced: once a trace, and not as part of the graph."""
    with recording(None):
        yield


@contextmanager
def device(device_name: str | Callable[..., str] | None) -> Iterator[None]:
    """Names the device that ops inside should run on, which the graph records. There is one device: they run there.

    Raises ValueError for what is no name of a device.
    """
    if device_name is not None and not isinstance(device_name, str) and not callable(device_name):
        raise ValueError(f"a device is named by a string such as '/CPU:0', found {device_name!r}")
    region = current_region()
    if region is None:
        yield
        return
    before = region.trace.device
    region.trace.device = "" if device_name is None else _canonical(device_name, before)
    try:
        yield
    finally:
        region.trace.device = before


_DEVICE = re.compile(r"/?(?:device:)?(?P<kind>[A-Za-z]\w*):(?P<number>\d+|\*)$")


def _canonical(name: str | Callable[..., str], outer: str) -> str:
    """`/device:CPU:0` for `/CPU:0`, `cpu:0` and such; other names as they are, behind what is around them."""
    if not isinstance(name, str):
        return outer
    head, slash, last = name.rpartition("/")
    found = _DEVICE.match(slash + last)
    if found is None:
        return name or outer
    return f"{head}/device:{found['kind'].upper()}:{found['number']}"


def executing_eagerly() -> bool:
    """Whether ops run at once: False while a function is traced.

    >>> autoconv.executing_eagerly()
    True
    """
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
