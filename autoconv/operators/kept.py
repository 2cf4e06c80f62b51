"""Values that handlers of the running graph find: kept in a dict of the graph, and read back with their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.types import ObjectType, TensorType
from autoconv.operators.layout import NEVER, Arms, Layout, Leaf, Static, Variant, join_layouts, layout_of
from autoconv.operators.names import Undefined
from autoconv.operators.staging import stage_arms
from autoconv.ops.objects import NotAssigned
from autoconv.runtime.convert import as_tensor
from autoconv.runtime.journal import MISSING
from autoconv.runtime.objects import apply_object, as_object, box, box_array, constant_object, record_object, unboxed
from autoconv.runtime.recording import Region, current_region


def keep(frame: Any, position: int, value: Any, name: str) -> None:
    """Records that `value`, of the variable called `name`, is in the dict `frame` of the graph from here on."""
    apply_object("setitem", frame, position, _boxable(value, name))


def kept(frame: Any, position: int, layouts: Sequence[Layout], name: str, before: Any, contract: str) -> Any:
    """What was kept there last, one of `layouts`; `before` where nothing was."""
    layouts = [arm for layout in layouts for arm in (layout.arms if isinstance(layout, Arms) else (layout,))]
    assigned = [layout for layout in layouts if not _is_undefined(layout)]
    joined: Layout = NEVER
    for layout in assigned or layouts:
        joined = join_layouts(joined, layout, name, contract)
    if isinstance(joined, Static) and len(assigned) in (0, len(layouts)):
        return joined.value
    region = current_region()
    for layout in layouts:
        if isinstance(layout, Static) and region is not None and is_owned(layout.value, region):
            box(layout.value)  # which refuses it: it was not stored
    found = record_object("object_method", [frame, position, _boxable(before, name)], name="get")
    is_number = isinstance(joined, Leaf) and joined.wrap is None and isinstance(joined.type, TensorType)
    if len(assigned) == len(layouts):
        return unboxed(found, joined.type) if is_number else found  # type: ignore[union-attr,arg-type]
    absent = record_object("object_isinstance", [found], kinds=NotAssigned)
    tag = record_object("object_index", [absent])
    if is_number:
        arms = [lambda: (NEVER,), lambda: (unboxed(found, joined.type),)]  # type: ignore[union-attr,arg-type]
        (found,) = stage_arms(absent, arms, [], (name,))
    elif isinstance(joined, Static):
        found = joined.value
    else:
        joined = Leaf(ObjectType(), as_object)
    return Variant(tag, [joined, Static(Undefined(name))], [found, Undefined(name)])


def _is_undefined(layout: Layout) -> bool:
    return isinstance(layout, Static) and isinstance(layout.value, Undefined)


def kept_layout(value: Any, region: Region) -> Layout:
    return Static(Undefined("")) if value is MISSING else layout_of(value, region)


def is_owned(value: Any, region: Region) -> bool:
    """Whether it is an object of the user's that the traced code made."""
    owned = region.trace.owned
    return owned is not None and id(value) in owned


def _boxable(value: Any, name: str) -> Any:
    if value is MISSING:
        return constant_object(NotAssigned(name))
    if type(value) is Variant:
        arms = [lambda arm=arm: (box(_boxable(arm, name)),) for arm in value.values]
        return stage_arms(value.tag, arms, [], (name,))[0]
    tensor = as_tensor(value)
    return box_array(tensor) if tensor is not None and not tensor.weak else value
