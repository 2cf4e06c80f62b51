"""Execution scopes, for control dependencies, devices and eager ops; `timestamp`, `group` and `no_op`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.config.device_spec import DeviceSpec
from autoconv.config.devices import LogicalDevice
from autoconv.config.placement import complete_request, current_request, request_device
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.recording.name_scopes import name_scope
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.runtime.support.type_spec import is_composite
from autoconv.runtime.tensors import conversion
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


@contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None) -> Iterator[None]:
    """Order the ops in the block after `control_inputs`; effects keep program order even without the block.

    The graph lists the producers of the inputs as control inputs of the nodes in the block. Functions among the inputs
    are called. An input None represents one of the last ops without a result, such as an assertion or a print. None in
    place of `control_inputs` clears the dependencies of surrounding blocks.

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
    outer_controls = region.trace.controls
    outer_graph, outer_names = outer_controls
    inherited_names = outer_names if outer_graph is region.graph and control_inputs is not None else ()
    names = (*inherited_names, *_control_names(region.graph, control_inputs or ()))
    region.trace.controls = region.graph, tuple(dict.fromkeys(names))
    try:
        yield
    finally:
        region.trace.controls = outer_controls


def _control_names(graph: Graph, dependencies: Sequence[Any]) -> Iterator[str]:
    """Yield the names of the nodes of `graph` that produced the dependencies.

    The last n nodes with effects stand for the n dependencies that have no name, such as None.
    """
    names_by_dependency = [getattr(dependency, "control_names", None) for dependency in dependencies]
    unnamed_count = sum(
        1 for dependency, names in zip(dependencies, names_by_dependency, strict=True)
        if names is None and not isinstance(dependency, SymbolicTensor)
    )  # fmt: skip
    effect_nodes = [node for node in graph.nodes if node.effects]
    yield from (node.name for node in effect_nodes[len(effect_nodes) - unnamed_count :] if unnamed_count)
    for dependency, names in zip(dependencies, names_by_dependency, strict=True):
        if names is not None:
            yield from names
        elif isinstance(dependency, SymbolicTensor) and dependency.value_in_graph.graph is graph:
            yield dependency.value_in_graph.name


@contextmanager
def init_scope() -> Iterator[None]:
    """Run the ops inside at once, even while a function is traced: they run once per trace, not with the graph.

    >>> variables = []
    >>> @autoconv.function
    ... def scaled(x):
    ...     with autoconv.init_scope():
    ...         if not variables:
    ...             variables.append(autoconv.Variable(2.0))
    ...     return variables[0] * x
    >>> scaled(autoconv.constant(3.0)).numpy()
    np.float32(6.0)
    """
    with recording(region=None):
        yield


def device(device_name: str | DeviceSpec | LogicalDevice | None) -> DeviceScope:
    """Name the device on which ops inside run; the enclosing block supplies omitted parts of the name.

    None requests the default device. Graphs record the name. Raises RuntimeError for a function, and ValueError for
    anything else that is not the name of a device; ops raise InvalidArgumentError where there is no such device, unless
    soft placement is on.

    >>> with autoconv.device("/CPU:0"):
    ...     x = autoconv.constant(1)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if isinstance(device_name, DeviceSpec):
        return DeviceScope(device_name.to_string())
    if isinstance(device_name, LogicalDevice):
        return DeviceScope(device_name.name)
    if callable(device_name):
        raise RuntimeError("autoconv.device does not support functions: write the name of a device")
    if device_name is not None and not isinstance(device_name, str):
        raise ValueError(f"a device is named by a string such as '/CPU:0', found {device_name!r}")
    return DeviceScope(device_name)


class DeviceScope:
    """The block of `device`, which may be entered several times."""

    def __init__(self, request: str | None) -> None:
        self._request = request
        self._open_blocks: list[AbstractContextManager[None]] = []

    def __enter__(self) -> None:
        region = current_region()
        outer_request = current_request() if region is None else region.trace.device
        request = complete_request(self._request, outer_request)
        block = request_device(request) if region is None else _record_on_device(region, request)
        block.__enter__()
        self._open_blocks.append(block)

    def __exit__(self, *error: Any) -> None:
        self._open_blocks.pop().__exit__(*error)


@contextmanager
def _record_on_device(region: Region, request: str) -> Iterator[None]:
    """Give nodes that are recorded in the block the device request as an attribute."""
    outer_request, region.trace.device = region.trace.device, request
    try:
        yield
    finally:
        region.trace.device = outer_request


def executing_eagerly() -> bool:
    """Return whether ops run eagerly: False while a function is traced.

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
    """Do nothing, since effects keep program order: `inputs` complete before later ops in any case.

    >>> autoconv.group(autoconv.constant(1)) is None
    True
    """


def no_op(name: str | None = None) -> None:
    """Do nothing.

    >>> autoconv.no_op() is None
    True
    """


def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970, a float64 scalar, measured each time the op runs.

    >>> autoconv.timestamp().dtype
    autoconv.float64
    """
    result = numpy_function(Timestamp(), [], float64, name=name)
    if current_region() is not None:
        result.set_shape(())
    return result


@attribute_class
@dataclass(frozen=True)
class Timestamp:
    """A function that returns the seconds since 1970, called when the graph runs."""

    graphdef_name: ClassVar = "Timestamp"

    def __call__(self) -> np.float64:
        return np.float64(time.time())


__all__ = [
    "control_dependencies", "device", "executing_eagerly", "group", "init_scope", "inside_function",
    "is_tensor", "name_scope", "no_op", "timestamp",
]  # fmt: skip
