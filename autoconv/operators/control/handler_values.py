"""Handler values: they are stored in a dict of the graph by the body of a `try`, and read back by its handlers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, bool_, complex128, float64, int64
from autoconv.graph.types import ObjectType, TensorType, number_type
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.regions.container_promotion import have_same_items
from autoconv.operators.regions.layout import NEVER, Arms, Layout, Leaf, Parts, Static, Variant
from autoconv.operators.regions.layout_join import join_layouts, type_of_number
from autoconv.operators.regions.marshalling import emit, rebuild
from autoconv.operators.regions.value_layout import is_created_in, layout_of
from autoconv.operators.support.protected_names import Undefined
from autoconv.ops.python.unassigned_names import NotAssigned
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, contents, heap_of
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbolic_objects import (
    SymbolicObject,
    apply_object,
    as_object,
    box,
    box_array,
    box_carried,
    build_object,
    constant_object,
    graph_object,
    record_object,
    record_without_hook,
)
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.attributes import attributes_of, has_attributes
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import is_structure, structure_parts
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def store_handler_value(value_dict: Any, position: int, value: object, name: str) -> None:
    """Record a store of `value`, of the variable called `name`, into the graph dict `value_dict` under `position`."""
    if type(value) is Variant:  # a store in each arm, whose number has one type
        stage_arms(value.tag, [partial(_store_arm, value_dict, position, arm, name) for arm in value.values], [], ())
        return
    boxed_value = box_carried(_as_boxable(value, name))
    record_without_hook("object_apply", [value_dict, position, boxed_value], function="setitem", keywords=())


def _store_arm(value_dict: Any, position: int, value: object, name: str) -> tuple[()]:
    store_handler_value(value_dict, position, value, name)
    return ()


def load_handler_value(
    value_dict: Any, position: int, layouts: Sequence[Layout], name: str, before: object, contract: Contract
) -> Any:
    """Return the last value stored under `position`, which has one of `layouts`; `before` if none was stored."""
    layouts = [arm for layout in layouts for arm in layout.alternatives]
    assigned_layouts = [layout for layout in layouts if not _is_undefined(layout)]
    joined_layout: Layout = NEVER
    for layout in assigned_layouts or layouts:
        joined_layout = join_layouts(joined_layout, layout, name, contract)
    if isinstance(joined_layout, Static) and len(assigned_layouts) in (0, len(layouts)):
        return Undefined(name) if isinstance(joined_layout.value, Undefined) else joined_layout.value
    region = current_region()
    for layout in layouts:
        if isinstance(layout, Static) and region is not None and is_created_by_trace(layout.value, region):
            box(layout.value)  # refuses objects that were not stored
    types_by_class = _number_types(joined_layout) if len(assigned_layouts) == len(layouts) else {}
    if types_by_class:
        return _load_number(value_dict, position, list(types_by_class.items()), name, before)
    stored_value, tensor_type = _load(value_dict, position, before, name), _tensor_type(joined_layout)
    if len(assigned_layouts) == len(layouts):
        return stored_value if tensor_type is None else unbox(stored_value, tensor_type)
    is_unassigned = record_object("object_isinstance", [stored_value], kinds=NotAssigned)
    tag = record_object("object_index", [is_unassigned])
    if tensor_type is not None:
        arms = [lambda: (NEVER,), lambda: (unbox(stored_value, tensor_type),)]
        (stored_value,) = stage_arms(is_unassigned, arms, [], (name,))
    elif isinstance(joined_layout, Static):
        stored_value = joined_layout.value
    else:
        joined_layout = Leaf(ObjectType(), as_object)
    return Variant(tag, [joined_layout, Static(Undefined(name))], [stored_value, Undefined(name)])


def _load(value_dict: Any, position: int, before: object, name: str) -> Any:
    """Return the object stored under `position`; `before`, boxed, if none was stored."""
    return record_object("object_method", [value_dict, position, _as_boxable(before, name)], name="get")


def _load_number(
    value_dict: Any, position: int, types_by_class: Sequence[tuple[type, TensorType]], name: str, before: object
) -> Any:
    """Return a stored number that has one of these types; its class decides which.

    Each arm loads the number from the dict itself, so that no arm reads an object loaded outside of it.
    """
    load_number = partial(_load_number, value_dict, position)
    if type(before) is Variant:
        choices = [lambda arm=arm: (load_number(types_by_class, name, arm),) for arm in before.values]
        (result,) = stage_arms(before.tag, choices, [], (name,))
        return result
    (class_, type_), *later_types = types_by_class
    number = lambda: unbox(_load(value_dict, position, before, name), type_)
    if not later_types:
        return number()
    test = record_object("object_isinstance", [_load(value_dict, position, before, name)], kinds=class_)
    (result,) = stage_arms(test, [lambda: (number(),), lambda: (load_number(later_types, name, before),)], [], (name,))
    return result


def _number_types(layout: Layout) -> dict[type, TensorType]:
    """Return, by the class of the stored object, the types of a number of several types.

    Subclasses come first: `bool`, as bools are ints, and `np.generic`, as some scalars of NumPy are floats. The dict
    is empty for other layouts, and where objects of two types have one class.
    """
    types = [type_of_number(arm) for arm in layout.arms] if isinstance(layout, Arms) else []
    classes = {
        type_: _CLASSES_BY_DTYPE.get(type_.dtype) if type_.weak else np.generic
        for type_ in types
        if type_ is not None
    }
    if None in types or None in classes.values() or len(set(classes.values())) < len(classes):
        return {}
    subclasses_first = sorted(classes.items(), key=lambda item: item[1] not in (np.generic, bool))
    return {class_: type_ for type_, class_ in subclasses_first if class_}


_CLASSES_BY_DTYPE: dict[DType, type] = {bool_: bool, int64: int, float64: float, complex128: complex}


def as_missing(value: object) -> Any:
    """Convert a stored value to the value of an attribute: an undefined one becomes MISSING."""
    if type(value) is not Variant:
        return MISSING if isinstance(value, Undefined) else value
    arms = [MISSING if isinstance(arm, Undefined) else arm for arm in value.values]
    layouts = [Static(arm) if arm is MISSING else layout for layout, arm in zip(value.layouts, arms, strict=True)]
    return Variant(value.tag, layouts, arms)


def _is_undefined(layout: Layout) -> bool:
    return isinstance(layout, Static) and isinstance(layout.value, Undefined)


def store_parts(value_dict: Any, position: int, layouts: list[Layout], value: object, region: Region) -> None:
    """Store a value under `position`, as a tuple: the index of its layout in `layouts`, then its graph values.

    A layout that `layouts` does not have yet is appended to it.
    """
    layout = stored_layout(value, region)
    if not _is_by_value(layout):
        layout = Leaf(ObjectType(), as_object)
    if layout not in layouts:
        layouts.append(layout)
    parts = [
        SymbolicObject(part) if isinstance(part.type, ObjectType) else _as_boxable(SymbolicTensor(part), "")
        for part in emit(value, layout, region)
    ]
    stored_tuple = record_without_hook("object_build", [layouts.index(layout), *parts], class_name="tuple")
    record_without_hook("object_apply", [value_dict, position, stored_tuple], function="setitem", keywords=())


def load_parts(value_dict: Any, position: int, layouts: Sequence[Layout], name: str, before: object) -> Any:
    """Return the last value that `store_parts` stored under `position`.

    `before` is the value if there was no store: NEVER if there always is one, MISSING for an attribute that was unset.
    """
    if before is NEVER and len(layouts) == 1 and isinstance(layouts[0], Static):
        return layouts[0].value
    no_parts = build_object("tuple", [-1])  # the index of no layout: nothing was stored
    result = record_object("object_method", [value_dict, position, no_parts], name="get")
    layout_index = unbox(apply_object("getitem", result, 0), number_type(int64))

    def rebuild_stored(layout: Layout) -> tuple[Any]:
        """Return the value of that layout, rebuilt from the parts of the stored tuple."""
        types = list(layout.types())
        stored_parts = [apply_object("getitem", result, position) for position in range(1, len(types) + 1)]
        values = [
            unbox(part, type_) if isinstance(type_, TensorType) else part
            for part, type_ in zip(stored_parts, types, strict=True)
        ]
        return (rebuild(layout, iter([value.value_in_graph for value in values])),)

    value_before = Undefined(name) if before is MISSING else before
    arms: list[Callable[..., tuple[Any, ...]]] = [lambda: (value_before,)]
    arms += [partial(rebuild_stored, layout) for layout in layouts]
    (value,) = stage_arms(layout_index + 1, arms, [], (name,))
    return value


def container_contents(value: Any, body: Region) -> list[tuple[Any, Any]]:
    """Return (object, contents) for the lists and objects in a value that the region `body` created in Python."""
    result: list[tuple[Any, Any]] = []
    pending_values, seen_ids = [value], set()
    while pending_values:
        part = pending_values.pop()
        if id(part) in seen_ids:  # a structure of the program may hold itself
            continue
        seen_ids.add(id(part))
        is_known_container = type(part) in TRACED_TO_PLAIN and heap_of(part) is None
        if is_known_container and part._home is not None and part._home.is_inside(body):
            result.append((part, contents(part)))
        if is_created_in(part, body) and has_attributes(part) and graph_object(part) is None:
            result.append((part, tuple(attributes_of(part).items())))
            pending_values += attributes_of(part).values()
        elif is_structure(part):
            pending_values += structure_parts(part)
    return result


def is_changed(container: object, before: object) -> bool:
    """Return whether the contents of a list or object differ from `before`, its contents at an earlier time."""
    is_traced = type(container) in TRACED_TO_PLAIN
    current_contents = contents(container) if is_traced else tuple(attributes_of(container).items())
    return not have_same_items(current_contents, before)


def refuse_changed_parts(contents_before: Sequence[tuple[Any, Any]], name: str) -> None:
    """Raise StagingError if a list or object has changed since `container_contents` returned `contents_before`."""
    for part, before in contents_before:
        if is_changed(part, before):
            raise StagingError(
                f"the body of a try makes the {type(part).__name__} in {name!r}, changes it, and may raise in between",
                current_place(),
                "what the handlers use, created before the try statement",
            )


def _tensor_type(layout: Layout) -> TensorType | None:
    """Return the type of a number or tensor in the graph; None for another layout."""
    if isinstance(layout, Leaf) and layout.wrap is None and isinstance(layout.type, TensorType):
        return layout.type
    return None


def _is_by_value(layout: Layout) -> bool:
    """Return whether a layout is immutable: numbers, tensors, static values, and tuples of these."""
    if isinstance(layout, Leaf):
        return _tensor_type(layout) is not None
    if isinstance(layout, Parts):
        return layout.kind not in (list, dict, set) and all(map(_is_by_value, layout.parts))
    return isinstance(layout, (Static, Arms)) and all(map(_is_by_value, layout.children))


def stored_layout(value: object, region: Region) -> Layout:
    """Return the layout with which a value is stored; that of MISSING is a static Undefined."""
    return Static(Undefined("")) if value is MISSING else layout_of(value, region)


def is_created_by_trace(value: object, region: Region) -> bool:
    """Return whether the value is an instance of a user-defined class that traced code created."""
    created_objects = region.trace.created_objects
    return created_objects is not None and id(value) in created_objects


def _as_boxable(value: object, name: str) -> Any:
    """Convert the value of the variable called `name` to one that can be an object of the graph."""
    if value is MISSING:
        return constant_object(NotAssigned(name))
    if type(value) is Variant:
        arms = [lambda arm=arm: (box(_as_boxable(arm, name)),) for arm in value.values]
        (result,) = stage_arms(value.tag, arms, [], (name,))
        return result
    if type(value) is SymbolicArray:
        return value
    tensor = as_tensor(value)
    return box_array(tensor) if tensor is not None and not tensor.weak else value
