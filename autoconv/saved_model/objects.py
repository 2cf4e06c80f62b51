"""The objects that belong to a saved one: variables, functions, assets, containers, and objects that own these."""

from __future__ import annotations

from collections import deque
from typing import Any

from autoconv.runtime.objects.variable import Variable
from autoconv.saved_model.assets import Asset
from autoconv.saved_model.loaded_function import LoadedFunction
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.train.object_graph import children_of

FUNCTIONS = (Function, ConcreteFunction, LoadedFunction)
_OWN_PREFIX = "__autoconv"  # begins the names of attributes that bound functions use


def saved_objects(root: object) -> tuple[list[Any], list[dict[str, int]]]:
    """Return the objects reached from a root, each once and nearest first, and their parts' numbers by name."""
    objects, parts = [root], [dict[str, int]()]
    numbers = {id(root): 0}
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        for name, part in parts_of(objects[number]).items():
            if id(part) not in numbers:
                numbers[id(part)] = len(objects)
                waiting.append(len(objects))
                objects.append(part)
                parts.append({})
            parts[number][name] = numbers[id(part)]
    return objects, parts


def parts_of(value: object) -> dict[str, Any]:
    """Return the parts of an object by name: what checkpoints see, and its functions."""
    if isinstance(value, (Variable, Asset, *FUNCTIONS)):
        return {}
    children = children_of(value)
    children.update(functions_of(value))
    if isinstance(value, (list, tuple, dict)):
        items = value.items() if isinstance(value, dict) else ((str(i), item) for i, item in enumerate(value))
    else:
        items = getattr(value, "__dict__", {}).items()
    children.update((name, item) for name, item in items if isinstance(item, Asset) and isinstance(name, str))
    return {name: _variable_behind(part) for name, part in children.items()}


def _variable_behind(part: object) -> Any:
    """Return the variable for which a part stands, as a Keras variable does; else the part itself."""
    if callable(getattr(type(part), "_export_to_saved_model_graph", None)):
        own_value = getattr(part, "value", None)
        return own_value if isinstance(own_value, Variable) else part
    return part


def functions_of(value: object) -> dict[str, Any]:
    """Return the functions among the attributes of an object, those of its class bound to it."""
    if isinstance(value, (list, tuple, dict)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {str(name): item for name, item in items if isinstance(item, FUNCTIONS)}
    result = {}
    for name in dir(value):
        if name.startswith(_OWN_PREFIX) or not _may_be_function(value, name):
            continue
        attribute = getattr(value, name, None)
        if isinstance(attribute, FUNCTIONS):
            result[name] = attribute
    return result


def _may_be_function(value: object, name: str) -> bool:
    """Return whether an attribute is a function without running a property of the object."""
    if name in getattr(value, "__dict__", {}):
        return isinstance(value.__dict__[name], FUNCTIONS)
    attribute = next((vars(base)[name] for base in type(value).__mro__ if name in vars(base)), None)
    return isinstance(attribute, FUNCTIONS)
