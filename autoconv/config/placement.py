"""Placement of work: the device that a `with device(…)` block requests, and the device that serves the request.

A request is the text of a DeviceSpec, the argument of `device` and an attribute of nodes; "" requests none. A full name
has all parts: `/job:localhost/replica:0/task:0/device:CPU:0`. Tasks of a cluster register themselves in `TASKS`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from autoconv.config.device_spec import DeviceSpec
from autoconv.config.devices import add_logical_device, get_visible_devices, list_logical_devices
from autoconv.config.settings import DETOUR, SETTINGS
from autoconv.errors import InvalidArgumentError
from autoconv.forks import new_lock
from autoconv.hooks import Hook

HOST = "/job:localhost/replica:0/task:0"
DEFAULT_DEVICE = f"{HOST}/device:CPU:0"


class Task(Protocol):
    """A device other than this process's processor that runs graphs: a process of a cluster, or an accelerator."""

    def compile(self, graph: object) -> Callable[[Sequence[object]], list[Any]]:
        """Send a graph; return a function that runs it there on a list of arguments."""


@runtime_checkable
class HoldsVariables(Protocol):
    """A task whose process has the values of variables in its memory, in numbered cells."""

    def read_cell(self, number: int, name: str) -> Any:
        """Return the value of a variable as an array. Raises UnavailableError if it was lost with the process."""

    def set_cell(self, number: int, value: object) -> None:
        """Set the value of a variable, also of a new or lost one."""

    def drop_cell(self, number: int) -> None:
        """Free the memory of a variable."""


TASKS: dict[tuple[str, int], Task] = {}  # tasks of the cluster by job and number
ACCELERATOR = Hook("autoconv.backends")  # the Task of an accelerator, by a name such as "GPU:0"


def add_task(job: str, number: int, task: Task) -> None:
    """Register a task and its device."""
    TASKS[job, number] = task
    add_logical_device(f"/job:{job}/replica:0/task:{number}/device:CPU:0")


class _ThreadState(threading.local):
    """This thread's state: the request of the enclosing block, and the running replica.

    `other_device_request` is the same as `request`, but "" if the default device serves it. `replica` is 0 outside of
    replicas; functions have separate traces for each replica.
    """

    request: str = ""
    other_device_request: str = ""
    replica: int = 0


_THREAD_STATE = _ThreadState()
_DETOUR_LOCK = new_lock()
# Each open block of a device or replica adds this to DETOUR. Calls then bypass native entries, which use the default
# device.
_DETOUR_STEP = 2


def current_request() -> str:
    """Return the request of the block that encloses eager code."""
    return _THREAD_STATE.request


def other_device_request() -> str:
    """Return `current_request()`, but "" if the default device serves the request."""
    return _THREAD_STATE.other_device_request


def replica() -> int:
    """Return the number of the replica for which this thread works.

    It counts from 1, is negative while copies of variables are updated, and 0 outside of replicas.
    """
    return _THREAD_STATE.replica


@contextmanager
def run_as_replica(number: int) -> Iterator[None]:
    """Run the block for a replica: calls find the traces of that replica."""
    previous_replica, _THREAD_STATE.replica = _THREAD_STATE.replica, number
    _add_to_detour(_DETOUR_STEP)
    try:
        yield
    finally:
        _THREAD_STATE.replica = previous_replica
        _add_to_detour(-_DETOUR_STEP)


@functools.lru_cache(1024)
def is_default(request: str) -> bool:
    """Return whether the default device serves a request, whatever devices and settings there are."""
    spec = DeviceSpec.from_string(request)
    is_local = spec.job in (None, "localhost") and not spec.task
    return is_local and spec.device_type in (None, "CPU") and not spec.device_index


def complete_request(request: str | None, outer: str) -> str:
    """Return a request in which the parts that are missing come from the outer request; "" for None."""
    return "" if request is None else _merge_parts(request, outer)


def normalized_request(request: str) -> str:
    """Return a request with its parts in the standard order and spelling, as `DeviceSpec` writes them."""
    return _merge_parts(request, "")


@functools.lru_cache(1024)
def _merge_parts(request: str, outer: str) -> str:
    return DeviceSpec.from_string(outer).make_merged_spec(DeviceSpec.from_string(request)).to_string()


@contextmanager
def request_device(request: str) -> Iterator[None]:
    """Request a device for the eager tensors that this thread creates in the block."""
    previous_requests = _THREAD_STATE.request, _THREAD_STATE.other_device_request
    _THREAD_STATE.request = request
    _THREAD_STATE.other_device_request = "" if is_default(request) else request
    needs_detour = bool(_THREAD_STATE.other_device_request)
    if needs_detour:
        _add_to_detour(_DETOUR_STEP)
    try:
        yield
    finally:
        _THREAD_STATE.request, _THREAD_STATE.other_device_request = previous_requests
        if needs_detour:
            _add_to_detour(-_DETOUR_STEP)


def _add_to_detour(change: int) -> None:
    """Add to DETOUR, which all threads share."""
    with _DETOUR_LOCK:
        DETOUR.value += change


def eager_device() -> str:
    """Return the full name of the device for eager results; "" for the default one. See `non_default_name`."""
    return non_default_name(_THREAD_STATE.other_device_request) if _THREAD_STATE.other_device_request else ""


def non_default_name(request: str) -> str:
    """Return the full name of the device that serves a request, "" for the default one.

    Raises InvalidArgumentError if no device serves the request; with soft placement, the default device serves requests
    for devices that this process lacks.
    """
    name = full_name(request)
    return "" if name == DEFAULT_DEVICE else name


def full_name(request: str) -> str:
    """Return the full name of the device that serves a request; raises as `non_default_name` does."""
    spec = DeviceSpec.from_string(request)
    if spec.job not in (None, "localhost") or spec.task not in (None, 0):
        return _remote_name(spec)
    name, names = _local_name(spec), _local_names(spec.device_type)
    if name in names or SETTINGS.soft_placement:
        return name if name in names else DEFAULT_DEVICE
    raise InvalidArgumentError(
        f"Could not satisfy device specification '{name}'. enable_soft_placement=0. Supported device types [CPU]. "
        f"All available devices [{', '.join(names)}]."
    )


def has_device(request: str) -> bool:
    """Return whether this process has the device of a request."""
    spec = DeviceSpec.from_string(request)
    return spec.job in (None, "localhost") and not spec.task and _local_name(spec) in _local_names(spec.device_type)


def _local_name(spec: DeviceSpec) -> str:
    """Return the full name of a device of this process."""
    return f"{HOST}/device:{spec.device_type or 'CPU'}:{spec.device_index or 0}"


def _local_names(device_type: str | None) -> list[str]:
    """Return the full names of this process's devices: of the processor, and of accelerators of the type."""
    processors = [device for device in list_logical_devices("CPU") if device.name.startswith(("/device:", HOST))]
    names = [f"{HOST}{DeviceSpec(device_type='CPU', device_index=i).to_string()}" for i in range(len(processors))]
    if device_type not in (None, "CPU"):
        names += [f"{HOST}/{device.name.removeprefix('/physical_')}" for device in get_visible_devices(device_type)]
    return names


def _remote_name(spec: DeviceSpec) -> str:
    """Return the full name of a device of another task; raise InvalidArgumentError without it."""
    name = f"/job:{spec.job or 'localhost'}/replica:{spec.replica or 0}/task:{spec.task or 0}"
    name += f"/device:{spec.device_type or 'CPU'}:{spec.device_index or 0}"
    if task_of(name) is None:
        raise InvalidArgumentError(f"{name} unknown device.")
    return name


def task_of(name: str) -> Task | None:
    """Return the task of a cluster, or the accelerator, with a full name; None for this process."""
    spec = DeviceSpec.from_string(name)
    result = TASKS.get((spec.job or "", spec.task or 0))
    if result is None and spec.device_type not in (None, "CPU") and name in _local_names(spec.device_type):
        result = ACCELERATOR(f"{spec.device_type}:{spec.device_index or 0}")
    return result


def pool_of(name: str) -> int:
    """Return the number of the thread pool that serves a device of this process."""
    return DeviceSpec.from_string(name).device_index or 0
