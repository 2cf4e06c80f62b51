"""Layouts of the arguments and results of recursive functions, and calls by bound arguments."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from autoconv.graph.types import ObjectType
from autoconv.operators.regions.layout import (
    NEVER,
    Arms,
    Instance,
    Layout,
    Leaf,
    Parts,
    Static,
    Variant,
    is_number_layout,
)
from autoconv.operators.regions.layout_join import join_layouts, join_objects
from autoconv.operators.regions.value_layout import creating_region_of, layout_of
from autoconv.operators.support.protected_names import Undefined
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.symbolic_objects import as_object
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.code_signature import code_signature
from autoconv.runtime.support.structure import plain_class


def join_arguments(old: Layout, new: Layout, name: str, contract: Contract) -> Layout:
    """Join two argument layouts like `join_layouts`; under `compile`, strings that differ become a graph object."""
    layout = join_layouts(old, new, name, contract)
    arms = layout.arms if isinstance(layout, Arms) else ()
    has_text = any(isinstance(arm, Static) and isinstance(arm.value, str) for arm in arms)
    return join_objects(old, new) if has_text and contract.objects_in_graph else layout


def holds_only_data(layout: Layout) -> bool:
    """Return whether a layout holds only numbers, text and the like: no user-defined functions or objects."""
    if isinstance(layout, Static):
        return _is_data(layout.value)
    return not isinstance(layout, Instance) and all(map(holds_only_data, layout.children))


def _is_data(value: object) -> bool:
    """Return whether a value is None, a number, text, an unassigned name, or a tuple of such values."""
    if type(value) is tuple:
        return all(map(_is_data, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, Undefined)) or is_number_layout(
        Static(value)
    )  # fmt: skip


def identity_of(function: FunctionType) -> tuple[Any, ...]:
    """Return a key for a function: its code, its globals and the cells of its free variables.

    The name `ag__` is left out, for which each conversion makes a new cell.
    """
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return function.__code__, id(function.__globals__), tuple(id(cell) for name, cell in cells if name != "ag__")


def bound_arguments(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments in parameter order, defaults filled in; raise TypeError where they do not fit."""
    signature = code_signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = []
    for name, parameter in signature.parameters.items():
        value = bound.arguments[name]
        values.append(tuple(value.items()) if parameter.kind is parameter.VAR_KEYWORD else value)
    return values


def invoke(function: FunctionType, target: Any, values: Sequence[Any]) -> Any:
    """Call `target` with the values that `bound_arguments(function, …)` returned."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter, value in zip(code_signature(function).parameters.values(), values, strict=True):
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(value)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    return target(*positional, **keywords)


def argument_layout(value: object, region: Region, is_result: bool = False) -> Layout:
    """Return the layout of an argument or a result of a recursive function.

    Under `compile`, lists and other traced containers are graph objects. A user-defined object keeps its identity,
    except for one that the function itself creates and returns.
    """
    if type(value) in TRACED_TO_PLAIN and region.contract.objects_in_graph:
        return Leaf(ObjectType(plain_class(value).__name__), as_object)
    if isinstance(value, Variant) and region.contract.objects_in_graph and any(map(_holds_containers, value.values)):
        return Leaf(ObjectType(), as_object)
    if isinstance(value, tuple) and any(_may_hold_graph_values(part) for part in value):
        return Parts(plain_class(value), None, tuple(argument_layout(part, region, is_result) for part in value))
    if not is_result and creating_region_of(value, region) is not None:
        return Static(value)
    return layout_of(value, region)


def _holds_containers(value: object) -> bool:
    return type(value) in TRACED_TO_PLAIN or (isinstance(value, tuple) and any(map(_holds_containers, value)))


def _may_hold_graph_values(value: object) -> bool:
    return not isinstance(value, (str, bytes, type(None), type))


def layout_or_never(value: object, region: Region) -> Layout:
    """Return the layout of a value of the region; NEVER for the result of code that always raises."""
    return NEVER if value is NEVER else layout_of(value, region)
