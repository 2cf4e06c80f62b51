"""Values that handlers of the running graph find: kept in a dict of the graph, and read back with their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.types import ObjectType, TensorType
from autoconv.operators.layout import NEVER, Layout, Leaf, Static, Variant, join_layouts, layout_of
from autoconv.operators.names import Undefined
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
    joined: Layout = NEVER
    for layout in layouts:
        joined = join_layouts(joined, layout, name, contract)
    if isinstance(joined, Static):
        return joined.value
    region = current_region()
    for layout in layouts:
        if isinstance(layout, Static) and region is not None and is_owned(layout.value, region):
            box(layout.value)  # which refuses it: it was not stored
    found = record_object("object_method", [frame, position, _boxable(before, name)], name="get")
    if isinstance(joined, Leaf) and joined.wrap is None and isinstance(joined.type, TensorType):
        return unboxed(found, joined.type)
    if not any(isinstance(layout, Static) and isinstance(layout.value, Undefined) for layout in layouts):
        return found
    absent = record_object("object_isinstance", [found], kinds=NotAssigned)
    tag = record_object("object_index", [absent])
    arms: list[Layout] = [Leaf(ObjectType(), as_object), Static(Undefined(name))]
    return Variant(tag, arms, [found, Undefined(name)])


def kept_layout(value: Any, region: Region) -> Layout:
    return Static(Undefined("")) if value is MISSING else layout_of(value, region)


def is_owned(value: Any, region: Region) -> bool:
    """Whether it is an object of the user's that the traced code made."""
    owned = region.trace.owned
    return owned is not None and id(value) in owned


def _boxable(value: Any, name: str) -> Any:
    if value is MISSING:
        return constant_object(NotAssigned(name))
    tensor = as_tensor(value)
    return box_array(tensor) if tensor is not None and not tensor.weak else value
