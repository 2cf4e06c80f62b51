"""Graphs of objects that own variables: their parts by name, and the values that a checkpoint stores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autoconv.api.control.graph_variable import GraphVariable
from autoconv.api.control.module import Module
from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.train.deferred import WaitingContainer

VARIABLE_VALUE = "VARIABLE_VALUE"  # name of a variable's value in a checkpoint


@dataclass
class ObjectNode:
    """An object of the graph: the numbers of its parts by name, and the checkpoint keys of its values by name."""

    children: dict[str, int] = field(default_factory=dict)
    key_by_name: dict[str, str] = field(default_factory=dict)


@dataclass
class ObjectGraph:
    """The objects reached from a root, which has number 0, nearest first; `paths` are their names from the root."""

    nodes: list[ObjectNode]
    objects: list[Any]
    paths: list[tuple[str, ...]]


def object_graph(root: Any, attached_parts: Mapping[str, Any] | None = None) -> ObjectGraph:
    """Collect the objects below a root, breadth first and each once; `attached_parts` are further parts of the root.

    A value's key consists of the path to its object, `/.ATTRIBUTES/`, and the value's name. Slashes and points in names
    are escaped as in TensorFlow, so that keys are the same as in its checkpoints.
    """
    graph = ObjectGraph([ObjectNode()], [root], [()])
    number_by_id = {id(root): 0}
    worklist = deque([0])
    while worklist:
        number = worklist.popleft()
        parts = children_of(graph.objects[number])
        if number == 0 and attached_parts:
            parts = {**parts, **attached_parts}
        for name, part in parts.items():
            if id(part) not in number_by_id:
                number_by_id[id(part)] = len(graph.nodes)
                worklist.append(len(graph.nodes))
                graph.nodes.append(ObjectNode())
                graph.objects.append(part)
                graph.paths.append((*graph.paths[number], name))
            graph.nodes[number].children[name] = number_by_id[id(part)]
    for node, object_, path in zip(graph.nodes, graph.objects, graph.paths, strict=True):
        prefix = "/".join([*(_escape(name) for name in path), ".ATTRIBUTES/"])
        node.key_by_name = {name: prefix + name for name in value_names(object_)}
    return graph


class TrackableView:
    """The parts of objects that checkpoints store.

    >>> v = autoconv.Variable(1.0)
    >>> autoconv.train.TrackableView([v]).children([v])["0"] is v
    True
    """

    def __init__(self, root: Any) -> None:
        self.root = root

    @classmethod
    def children(cls, obj: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the parts of an object by name."""
        return children_of(obj)

    def descendants(self) -> list[Any]:
        """Return the root and all objects that are reached from it, nearest first."""
        return object_graph(self.root).objects


def is_trackable(value: object) -> bool:
    """Return whether checkpoints can store the value or find something to store in it."""
    if getattr(type(value), "__autoconv_function__", False):
        return False  # a part of saved objects, not of checkpoints
    return isinstance(value, Variable | Module | list | tuple | dict) or any(
        callable(getattr(type(value), name, None)) for name in ("_trackable_children", "_serialize_to_tensors")
    )


def children_of(value: Any) -> dict[str, Any]:
    """Return the parts of an object by name: attributes in the order of creation, or items of a list, tuple or dict."""
    method = getattr(type(value), "_trackable_children", None)
    value = value.original if isinstance(value, WaitingContainer) else value
    if callable(method):
        children = {str(name): part for name, part in method(value).items()}
    elif isinstance(value, dict):
        children = {name: part for name, part in value.items() if isinstance(name, str)}
    elif isinstance(value, list | tuple):
        children = {str(position): part for position, part in enumerate(value)}
    else:
        return {}
    return {name: part for name, part in children.items() if is_trackable(part)}


def value_names(value: Any) -> tuple[str, ...]:
    """Return the names of the values that a checkpoint stores for one object, without those of its parts."""
    if isinstance(value, Variable) or _waits_for_value(value):
        return (VARIABLE_VALUE,)
    return tuple(_serialized_tensors(value))


def stored_arrays(value: Any) -> dict[str, np.ndarray]:
    """Return the arrays that a checkpoint stores for one object, without those of its parts."""
    if isinstance(value, GraphVariable):
        return {VARIABLE_VALUE: np.asarray(value.eval())}
    if isinstance(value, Variable):
        return {VARIABLE_VALUE: value.storage.value}
    with recording(region=None):
        return {
            name: np.asarray(convert_to_tensor(source() if callable(source) else source).numpy())  # type: ignore[attr-defined]
            for name, source in _serialized_tensors(value).items()
        }


def restore_values(value: Any, read: Callable[[str], np.ndarray], key_by_name: Mapping[str, str]) -> None:
    """Set an object's values from a checkpoint; `key_by_name` has the checkpoint's key of each of its values.

    Raises ValueError for an array of another shape, with the shapes and the variable's name.
    """
    with recording(region=None):
        if isinstance(value, Variable):
            _assign(value, read(key_by_name[VARIABLE_VALUE]))
        elif _waits_for_value(value):
            _check_shape(value, tuple(value.shape), read(key_by_name[VARIABLE_VALUE]))
            restored_value = constant(read(key_by_name[VARIABLE_VALUE]))
            value._initializer = lambda shape, dtype=None: restored_value
        else:
            value._restore_from_tensors({name: constant(read(key)) for name, key in key_by_name.items()})


def _waits_for_value(value: Any) -> bool:
    """Return whether this is a variable of Keras that gets its value after the symbolic call which created it."""
    is_of_keras = callable(getattr(type(value), "_deferred_initialize", None))
    return is_of_keras and value._value is None and value._initializer is not None


def _assign(variable: Variable, array: np.ndarray) -> None:
    """Assign an array of a checkpoint to a variable; raises ValueError for another shape."""
    _check_shape(variable, variable.shape, array)
    if isinstance(variable, GraphVariable):
        variable.load(array)
    else:
        variable.assign(constant(array))


def _check_shape(variable: Any, shape: Any, array: np.ndarray) -> None:
    """Raise ValueError if a variable of this shape cannot have the array as its value."""
    if not TensorShape(shape).is_compatible_with(array.shape):
        raise ValueError(
            f"Received incompatible tensor with shape {array.shape} when attempting to restore variable with shape "
            f"{tuple(shape)} and name {variable.name}."
        )


def _serialized_tensors(value: Any) -> dict[str, Any]:
    """Return the tensors that an object with its own serialization stores, by name; none for other objects."""
    method = getattr(type(value), "_serialize_to_tensors", None)
    return dict(method(value)) if callable(method) else {}


def _escape(name: str) -> str:
    """Escape slashes and points of a name in a path."""
    return name.replace(".", "..").replace("/", ".S")
