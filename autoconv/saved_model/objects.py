"""The objects that belong to a saved object: variables, functions, assets, containers, and objects that own these."""

from __future__ import annotations

from collections import deque
from typing import Any

from autoconv.runtime.objects.variable import Variable
from autoconv.saved_model.assets import Asset
from autoconv.saved_model.loaded_function import LoadedFunction
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.train.object_graph import children_of

FUNCTION_CLASSES = (Function, ConcreteFunction, LoadedFunction)
_INTERNAL_PREFIX = "__autoconv"  # of the attributes in which this package keeps its own state on an instance


def collect_objects(root: object) -> tuple[list[Any], list[dict[str, int]]]:
    """Return a root and the objects below it, each once, breadth first, and for each its parts' positions by name."""
    objects, part_numbers = [root], [dict[str, int]()]
    number_by_id = {id(root): 0}
    worklist = deque([0])
    while worklist:
        number = worklist.popleft()
        for name, part in parts_of(objects[number]).items():
            if id(part) not in number_by_id:
                number_by_id[id(part)] = len(objects)
                worklist.append(len(objects))
                objects.append(part)
                part_numbers.append({})
            part_numbers[number][name] = number_by_id[id(part)]
    return objects, part_numbers


def parts_of(value: object) -> dict[str, Any]:
    """Return the parts of an object by name: those that a checkpoint would save, its functions and its assets."""
    if isinstance(value, (Variable, Asset, *FUNCTION_CLASSES)):
        return {}
    children = children_of(value)
    children.update(functions_of(value))
    if isinstance(value, (list, tuple, dict)):
        items = value.items() if isinstance(value, dict) else ((str(i), item) for i, item in enumerate(value))
    else:
        items = getattr(value, "__dict__", {}).items()
    children.update((name, item) for name, item in items if isinstance(item, Asset) and isinstance(name, str))
    return {name: _unwrap_variable(part) for name, part in children.items()}


def _unwrap_variable(owned_object: object) -> Any:
    """Return the variable that an owned object wraps, as a Keras variable does; else the object itself."""
    if callable(getattr(type(owned_object), "_export_to_saved_model_graph", None)):
        value = getattr(owned_object, "value", None)
        return value if isinstance(value, Variable) else owned_object
    return owned_object


def functions_of(value: object) -> dict[str, Any]:
    """Return the functions among an object's attributes (methods bound to it), or among a container's items."""
    if isinstance(value, (list, tuple, dict)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {str(name): item for name, item in items if isinstance(item, FUNCTION_CLASSES)}
    result = {}
    for name in dir(value):
        if name.startswith(_INTERNAL_PREFIX) or not _may_be_function(value, name):
            continue
        attribute = getattr(value, name, None)
        if isinstance(attribute, FUNCTION_CLASSES):
            result[name] = attribute
    return result


def _may_be_function(value: object, name: str) -> bool:
    """Return, without running a property, whether an attribute is a function."""
    if name in getattr(value, "__dict__", {}):
        return isinstance(value.__dict__[name], FUNCTION_CLASSES)
    attribute = next((vars(base)[name] for base in type(value).__mro__ if name in vars(base)), None)
    return isinstance(attribute, FUNCTION_CLASSES)
