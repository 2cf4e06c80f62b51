"""Layouts of Python values: which layout a value has in its current state, and as the state of a loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType
from autoconv.operators.regions.layout import (
    Arms,
    Instance,
    Items,
    Layout,
    Leaf,
    Parts,
    RunTimeList,
    Static,
    Variant,
    is_container,
    is_number_subclass,
    is_object_layout,
    value_type,
    weak_type,
)
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of, items_of
from autoconv.runtime.objects.rebuilt_arguments import is_rebuilt
from autoconv.runtime.objects.symbolic_objects import as_object
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.attributes import attributes_of, has_attributes
from autoconv.runtime.support.structure import flatten, is_structure, loses_state, structure_form, structure_parts
from autoconv.runtime.support.type_spec import is_composite, parts_of
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def layout_of(value: Any, region: Region) -> Layout:
    """Return the layout of a value in its current state; numbers stay static."""
    if type(value) in TRACED_TO_PLAIN and heap_of(value) is not None:
        value = heap_of(value)  # the container has moved into the graph: the heap object has its contents
    if type(value) is Items:  # the items alone, without the list that has them
        return RunTimeList(value.element)
    if type(value) in TRACED_TO_PLAIN and _is_outer(value, region):
        return Static(value)  # it keeps its identity, and its contents are state of their own
    if items_of(value) is not None:  # a list of symbolic length, under `function`
        return RunTimeList(value._items.element)
    if isinstance(value, SymbolicTensor):
        return Leaf(region.lift(value.value_in_graph).type)
    if isinstance(value, Variant):
        return _variant_layout(value, region, lambda container: _is_outer(container, region))
    if type(value) is SymbolicArray and value.value_in_graph.graph is not region.graph:
        return Static(value)  # an array from outside the region stays itself
    leaves_as_object = getattr(type(value), "__autoconv_leaves_as_object__", None)
    if leaves_as_object is not None and region.contract.objects_in_graph and leaves_as_object(value, region):
        return Leaf(ObjectType(), as_object)
    to_graph_value = getattr(type(value), "__autoconv_graph_value__", None)
    if to_graph_value is not None and type(value) not in TRACED_TO_PLAIN:
        # A value whose recording is deferred provides its type.
        graph_type = getattr(value, "__autoconv_graph_type__", None)
        return Leaf(graph_type or as_value(to_graph_value(value), region).type, value.__autoconv_wrap__())
    if is_structure(value) and not _is_indivisible(value, region) and has_leaves(value, region):
        keys, parts = take_apart(value)
        return Parts(structure_form(value), keys, tuple(layout_of(part, region) for part in parts))
    if is_created_in(value, region) and has_attributes(value):
        has_copies = id(value) in region.trace.frozen_objects  # a path has copied it
        return instance_layout(value, region, is_shared=has_copies)
    return Static(value)


def _variant_layout(variant: Variant, region: Region, stays_whole: Callable[[Any], bool]) -> Layout:
    """Return the layout of a variant, in which containers with `stays_whole(container)` are not taken apart.

    Under `compile`, a container that an arm took apart has no alias: only its parts matter.
    """

    def arm_layout(layout: Layout, value: Any) -> Layout:
        """Return the layout of an alternative: static for a container that stays whole."""
        if is_container(layout) and stays_whole(layout.value):
            return layout
        is_container_of_python = type(value) in TRACED_TO_PLAIN and heap_of(value) is None
        if is_container_of_python and not region.contract.promises_identity and stays_whole(value):
            return Static(value)
        return take_static_apart(layout_of(value, region), region)

    arms = tuple(map(arm_layout, variant.layouts, variant.values))
    if sum(map(is_object_layout, arms)) > 1:  # such as lists that moved into the graph after the variant was made
        return Leaf(ObjectType(), as_object)
    return Arms(arms)


def _is_indivisible(value: object, region: Region) -> bool:
    """Return whether a structure is one object to a region, because its parts alone would lose something."""
    if not region.contract.promises_identity or id(value) in region.trace.reassembled_objects:
        return False
    return loses_state(value) or _is_object_of_program(value, region)


def _is_outer(container: Any, region: Region) -> bool:
    """Return whether a list, dict or set was created outside of the region, in an enclosing one.

    A region that was merged into this one, such as the inlined body of a `try`, counts as inside.
    """
    return region.is_inside(container._home) and container._home.merged_region is not region


def creating_region_of(value: object, region: Region) -> Region | None:
    """Return the region in which traced code created an object; None for an object that other code created."""
    created_object, creating_region = (region.trace.created_objects or {}).get(id(value), (None, None))
    return creating_region if created_object is value else None


def is_created_in(value: object, region: Region) -> bool:
    """Return whether traced code of the region, or of one inside of it, created the object."""
    creating_region = creating_region_of(value, region)
    return creating_region is not None and creating_region.is_inside(region)


def is_created_here(value: object) -> bool:
    """Return whether this trace's code created the object."""
    region = current_region()
    return region is not None and creating_region_of(value, region) is not None


def holds_created_here(value: object) -> bool:
    """Return whether a value is, or contains, an object that this trace's code created: such objects have no box."""
    if type(value) is Variant:
        return any(map(holds_created_here, value.values))
    if not is_structure(value):
        return is_created_here(value)
    return any(map(holds_created_here, structure_parts(value)))


def instance_layout(value: object, region: Region, is_shared: bool = True) -> Instance:
    """Return the layout of an object by its attributes; `is_shared` if the object may have aliases."""
    attributes = attributes_of(value)
    layouts = tuple(layout_of(part, region) for part in attributes.values())
    return Instance(type(value), tuple(attributes), layouts, is_shared)


def state_layout(value: object, region: Region) -> Layout:
    """Return the layout of a loop variable, in which numbers and arrays are expected to change."""
    if creating_region_of(value, region) is not None or (type(value) in TRACED_TO_PLAIN and heap_of(value) is None):
        return Static(value)
    if region.contract.python_numbers and is_number_subclass(value):
        return Static(value)
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return Leaf(weak_type(value))
    if type(value) is SymbolicArray:
        return Static(value)
    if isinstance(value, (EagerTensor, np.ndarray, np.generic)):
        return Leaf(value_type(value))
    if is_structure(value) and not isinstance(value, (list, dict)) and not _is_object_of_program(value, region):
        keys, parts = take_apart(value)
        return Parts(structure_form(value), keys, tuple(state_layout(part, region) for part in parts))
    if isinstance(value, Variant) and not region.contract.promises_identity:
        return _variant_layout(value, region, lambda _: True)
    return layout_of(value, region)


def as_value(value: object, region: Region) -> Value:
    """Return the graph value of a tensor, or a graph value itself, lifted into the region."""
    return region.lift(value if isinstance(value, Value) else dispatch.graph_value(region, value))


def take_static_apart(layout: Layout, region: Region | None = None) -> Layout:
    """Take a static structure apart; its parts are values of `region`, by default of the region being recorded.

    Other layouts, and structures that keep their identity, are returned unchanged.
    """
    region = current_region() if region is None else region
    value = layout.value if isinstance(layout, Static) else None
    if region is not None and type(value) in TRACED_TO_PLAIN and is_structure(value):
        keys, parts = take_apart(value)
        return Parts(structure_form(value), keys, tuple(layout_of(part, region) for part in parts))
    if isinstance(layout, Static) and is_structure(layout.value) and not _keeps_identity(layout.value, region):
        keys, parts = take_apart(layout.value)
        return Parts(structure_form(layout.value), keys, tuple(Static(part) for part in parts))
    return layout


def _keeps_identity(value: object, region: Region | None) -> bool:
    """Return whether a structure is a dataclass object of the program, or a container under `compile`."""
    is_traced_container = region is not None and region.contract.promises_identity and isinstance(value, (list, dict))
    return is_traced_container or _is_object_of_program(value, region)


def _is_object_of_program(value: object, region: Region | None) -> bool:
    """Return whether a structure is a dataclass object of the program, which keeps its identity."""
    if region is None or not region.contract.promises_identity or not dataclasses.is_dataclass(value):
        return False
    return id(value) not in region.trace.reassembled_objects and not is_rebuilt(value)


def take_apart(value: object) -> tuple[tuple[Any, ...] | None, list[Any]]:
    """Return the keys of a structure, None for a sequence or composite tensor, and its parts."""
    if is_composite(value):
        return None, parts_of(value)
    if isinstance(value, dict):
        return tuple(dict.keys(value)), list(dict.values(value))
    if isinstance(value, (list, tuple)):
        return None, list(value)
    _, template = flatten(value)
    assert template is not None and template.keys is not None
    return template.keys, [getattr(value, key) for key in template.keys]


def has_leaves(value: object, region: Region) -> bool:
    """Return whether a structure holds anything that is not static."""
    keeps_objects = region.contract.promises_identity  # an object that traced code created is then one leaf
    leaves, _ = flatten(value, lambda part: keeps_objects and creating_region_of(part, region) is not None)
    return any(
        isinstance(leaf, (SymbolicTensor, Variant))
        or hasattr(type(leaf), "__autoconv_graph_value__")
        or creating_region_of(leaf, region) is not None
        for leaf in leaves
    )
