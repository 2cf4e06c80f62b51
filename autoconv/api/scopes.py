"""Execution scopes: control dependencies, devices, eager blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.config.placement import merged, requested, requesting
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph
from autoconv.runtime.recording.name_scopes import name_scope
from autoconv.runtime.recording.regions import current_region, recording
from autoconv.runtime.support.type_spec import is_composite
from autoconv.runtime.tensors import conversion
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


@contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None) -> Iterator[None]:
    """Order the ops inside after `control_inputs`. Effects keep program order, so this holds in any case.

    The graph shows the order as control inputs of the nodes inside. Functions among the inputs are called, and None
    stands for one of the last ops without a result (assertions, prints). None for `control_inputs` clears the
    dependencies of surrounding blocks.

    >>> v = autoconv.Variable(1)
    >>> @autoconv.function
    ... def count():
    ...     with autoconv.control_dependencies([v.assign_add(1)]):
    ...         return v.read_value()
    >>> count().numpy()
    np.int32(2)
    """
    for dependency in control_inputs or ():
        if callable(dependency) and not conversion.is_tensor(dependency):
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
    """Yield the names of the nodes that produced the dependencies."""
    named = [getattr(dependency, "control_names", None) for dependency in dependencies]
    silent = sum(
        1 for dependency, names in zip(dependencies, named, strict=True)
        if names is None and not isinstance(dependency, SymbolicTensor)
    )  # fmt: skip
    effects = [node for node in graph.nodes if node.effects]
    yield from (node.name for node in effects[len(effects) - silent :] if silent)
    for dependency, names in zip(dependencies, named, strict=True):
        if names is not None:
            yield from names
        elif isinstance(dependency, SymbolicTensor) and dependency.value_in_graph.graph is graph:
            yield dependency.value_in_graph.name


@contextmanager
def init_scope() -> Iterator[None]:
    """Run the ops inside at once, even while a function is traced: once a trace, and not as part of the graph.

    >>> made = []
    >>> @autoconv.function
    ... def scaled(x):
    ...     with autoconv.init_scope():
    ...         if not made:
    ...             made.append(autoconv.Variable(2.0))
    ...     return made[0] * x
    >>> scaled(autoconv.constant(3.0)).numpy()
    np.float32(6.0)
    """
    with recording(None):
        yield


@contextmanager
def device(device_name: str | Callable[..., str] | None) -> Iterator[None]:
    """Name the device on which ops inside run: parts that the name leaves open are those of the block around.

    None requests the default device. Graphs record the name. Raises ValueError for anything that is not the name of a
    device; ops raise InvalidArgumentError where there is no such device, unless soft placement is on.

    >>> with autoconv.device("/CPU:0"):
    ...     x = autoconv.constant(1)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if device_name is not None and not isinstance(device_name, str) and not callable(device_name):
        raise ValueError(f"a device is named by a string such as '/CPU:0', found {device_name!r}")
    region = current_region()
    outer = requested() if region is None else region.trace.device
    request = merged("" if callable(device_name) else device_name, outer)
    if region is None:
        with requesting(request):
            yield
        return
    region.trace.device = request
    try:
        yield
    finally:
        region.trace.device = outer


def executing_eagerly() -> bool:
    """Return whether ops run at once: False while a function is traced.

    >>> autoconv.executing_eagerly()
    True
    """
    return current_region() is None


def inside_function() -> bool:
    """Return whether a function is being traced.

    >>> autoconv.inside_function()
    False
    """
    return current_region() is not None


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor, a variable, or a composite of tensors such as a sparse tensor.

    >>> autoconv.is_tensor(autoconv.constant(1)), autoconv.is_tensor(1)
    (True, False)
    """
    return conversion.is_tensor(x) or is_composite(x)


def group(*inputs: Any, name: str | None = None) -> None:
    """Control dependency on all `inputs`; without an effect, since program order guarantees their completion.

    >>> autoconv.group(autoconv.constant(1)) is None
    True
    """


def no_op(name: str | None = None) -> None:
    """Do nothing.

    >>> autoconv.no_op() is None
    True
    """


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970, a float64 scalar, measured each time it runs.

    >>> autoconv.timestamp().dtype
    autoconv.float64
    """
    result = numpy_function(lambda: np.float64(time.time()), [], float64, name=name)
    result.set_shape(()) if current_region() is not None else None
    return result


__all__ = [
    "control_dependencies", "device", "executing_eagerly", "group", "init_scope", "inside_function",
    "is_tensor", "name_scope", "no_op", "timestamp",
]  # fmt: skip
