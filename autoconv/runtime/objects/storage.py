"""The memory of variables, in this process or in a task of a cluster."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.config.placement import HoldsVariables, task_of
from autoconv.graph.dtypes import DType, as_dtype, resource
from autoconv.graph.graph import Value
from autoconv.graph.types import ResourceType, Shape, TensorType
from autoconv.runtime.recording.regions import Region

_STORAGE_NUMBERS = itertools.count()


class Storage:
    """The memory of a variable's value; graphs refer to the storage, not to the Python object.

    `home` is the full name of the device whose process holds the value, "" for this process. A trace's placeholder for
    an argument has the `variable` of the caller, and the `outer_recorders` that were active when the trace began.
    """

    __slots__ = ("__weakref__", "name", "number", "shape", "value", "variable")

    home = ""
    outer_recorders: tuple[Any, ...] = ()

    def __init__(self, value: np.ndarray, shape: Shape, name: str) -> None:
        self.number = next(_STORAGE_NUMBERS)
        self.name = name
        self.shape = shape
        self.value = value
        self.variable: Callable[[], Any] = lambda: None  # a weak reference to the variable

    dtype = resource

    @property
    def element_type(self) -> DType:
        return as_dtype(self.value.dtype)

    @property
    def type(self) -> ResourceType:
        return ResourceType(TensorType(self.element_type, self.shape))

    def __autoconv_resource__(self, region: Region) -> Value:
        return region.trace.capture(self, self.type, self.name)


class RemoteStorage(Storage):
    """The memory of a variable in a task of a cluster. The value is sent when this process reads or sets it.

    Ops on the variable run in the task, where it is the cell of that `number`.
    """

    __slots__ = ("_element_type", "home", "task")

    def __init__(self, task: HoldsVariables, home: str, value: np.ndarray, shape: Shape, name: str) -> None:
        self.task = task
        self.home = home
        self._element_type = as_dtype(value.dtype)
        super().__init__(value, shape, name)

    @property
    def element_type(self) -> DType:
        return self._element_type

    @property
    def value(self) -> np.ndarray:  # type: ignore[override]
        return self.task.read_cell(self.number, self.name)

    @value.setter
    def value(self, value: np.ndarray) -> None:
        self.set(value)

    def set(self, value: object) -> None:
        """Set the value to an array of this process, or to one that the task has."""
        self.task.set_cell(self.number, value)


def create_storage(device: str, value: np.ndarray, shape: Shape, name: str) -> Storage:
    """Return the memory of a new variable on a device, which is given by its full name or is "" for the default one."""
    task = task_of(device) if device else None
    if not isinstance(task, HoldsVariables):
        return Storage(value, shape, name)
    storage = RemoteStorage(task, device, value, shape, name)
    weakref.finalize(storage, task.drop_cell, storage.number).atexit = False
    return storage
