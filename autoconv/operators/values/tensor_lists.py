"""Lists of run-time length under `function`, represented by tensor lists.

An item is stored by its values, not by its identity: a list or an object that becomes an item may not change any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.graph.dtypes import int64
from autoconv.graph.types import ListType, TensorType
from autoconv.operators.control.iterables import as_staged
from autoconv.operators.control.loops import for_stmt
from autoconv.operators.control.variants import raise_if
from autoconv.operators.regions.layout import NEVER, Items, Layout, Leaf, RunTimeList
from autoconv.operators.regions.layout_join import join_layouts
from autoconv.operators.regions.marshalling import append_item, empty_lists, rebuild
from autoconv.operators.regions.value_layout import layout_of
from autoconv.runtime.objects.containers import TracedList, contents, items_of, set_graph_items
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import mutable_parts
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def move_to_graph(container: TracedList) -> Items:
    """Move a list whose items are known into the graph."""
    region = require_region()
    known_items = contents(container)
    element: Layout = NEVER
    for item in known_items:
        element = join_layouts(element, layout_of(item, region), "an item of a list", region.contract)
    lists = empty_lists(RunTimeList(element), region)
    for item in known_items:
        freeze(item)
        lists = append_item(lists, item, RunTimeList(element), region)
    items = Items(element, lists)
    set_graph_items(container, items)
    return items


def length(self: Items) -> Any:
    """Return the number of items, a weak integer."""
    if not has_lists(self):
        return SymbolicTensor(self.values[0])
    return dispatch.apply("python_cast", dispatch.apply("list_length", self.values[0]), dtype=int64, weak=True)


def item(self: Items, position: int) -> Any:
    """Return the item at a position, which may be negative; the graph raises IndexError."""
    if has_lists(self):
        index = index_in_graph(position)
        parts = [dispatch.apply("list_get", list_, index, wrap=True) for list_ in self.values]
    else:
        size = length(self)
        raise_if((size <= position) | (-size > position), IndexError("list index out of range"))
        parts = []
    value = rebuild(self.element, iter([part.value_in_graph for part in parts]))
    freeze(value)
    return value


def append(owner: TracedList, value: object) -> None:
    """`owner.append(value)`; the layout of the elements is widened as needed."""
    region = require_region()
    items = items_of(owner)
    layout = join_layouts(items.element, layout_of(value, region), "an item of a list", region.contract)
    freeze(value)
    items = widen_items(items, layout)
    set_graph_items(owner, Items(layout, append_item(items.values, value, RunTimeList(layout), region)))


def widen_items(self: Items, element: Layout) -> Items:
    """Return the same items in a wider layout."""
    if element == self.element:
        return self
    if self.element is NEVER:
        return Items(element, empty_lists(RunTimeList(element), require_region()))
    if _are_tensors_of_one_dtype(self.element, element):
        return Items(element, self.values)
    widened_list = TracedList()
    widened_list._items = Items(element, empty_lists(RunTimeList(element), require_region()))
    _visit_items(self, lambda value: append(widened_list, value))
    return items_of(widened_list)  # type: ignore[no-any-return]


def stack(self: Items, axis: int = 0) -> Any:
    """Stack the items to one tensor along a new dimension; raise StagingError if they are no tensors."""
    return _as_tensor(self, "list_stack", axis, added_rank=1)


def reduce(self: Items, op: str) -> Any:
    """Reduce the items, which must be tensors; numbers stay weak."""
    if not are_tensors(self):
        refuse("holds more than tensors of one dtype, and becomes a tensor")
    return dispatch.apply(op, dispatch.apply("list_stack", self.values[0]), axis=(0,), keepdims=False)


def concatenate(self: Items, axis: int = 0) -> Any:
    """Concatenate the items along a dimension; raise StagingError if they are no tensors."""
    return _as_tensor(self, "list_flatten", axis, added_rank=0)


def _as_tensor(items: Items, op: str, axis: int, added_rank: int) -> Any:
    """Join the items along a dimension by `op`, which joins along the first and adds that many dimensions."""
    element = items.element
    if not are_tensors(items):
        refuse("holds more than tensors of one dtype, and becomes a tensor")
    assert isinstance(element, Leaf) and isinstance(element.type, TensorType)
    if axis == 0:
        return convert_to_tensor(dispatch.apply(op, items.values[0]))
    if element.type.shape is None:
        refuse("of tensors of unknown rank becomes a tensor along another dimension than the first")
    rank = len(element.type.shape) + added_rank
    order = list(range(1, rank))
    order.insert(axis % rank, 0)  # the permutation that moves the first dimension to `axis`
    if added_rank:
        return dispatch.apply("transpose", stack(items), perm=tuple(order))
    inverse_order = [order.index(i) for i in range(rank)]
    transposed_items = map_items(items, lambda x: dispatch.apply("transpose", x, perm=tuple(inverse_order)))
    return dispatch.apply("transpose", concatenate(transposed_items), perm=tuple(order))


def map_list(owner: TracedList, function: Callable[[Any], Any]) -> TracedList:
    """Return a new list of `function(item)`."""
    result = TracedList()
    _visit_items(items_of(owner), lambda value: result.append(function(value)))
    if items_of(result) is None:
        move_to_graph(result)
    return result


def map_items(items: Items, function: Callable[[Any], Any]) -> Items:
    """Return the items of a new list of `function(item)`."""
    source = TracedList()
    source._items = items
    return items_of(map_list(source, function))  # type: ignore[no-any-return]


Items.stack = stack  # type: ignore[method-assign,assignment]
Items.concatenate = concatenate  # type: ignore[method-assign,assignment]
Items.reduce = reduce  # type: ignore[method-assign,assignment]
Items.widen = widen_items  # type: ignore[method-assign,assignment]
Items.length = length  # type: ignore[method-assign,assignment]
Items.item = item  # type: ignore[method-assign,assignment]
TracedList.move_to_graph = move_to_graph  # type: ignore[assignment]


def _visit_items(items: Items, body: Callable[[Any], Any]) -> None:
    """Call `body` with each item, in a graph loop."""
    source = TracedList()
    source._items = items
    for_stmt(as_staged(source), as_loop_body(body))


def as_loop_body(action: Callable[[Any], Any]) -> Callable[[Any], tuple[()]]:
    """Wrap an action on an item as the body of a loop without state."""

    def body(value: object) -> tuple[()]:
        action(value)
        return ()

    return body


def has_lists(items: Items) -> bool:
    """Return whether the items have graph values; for items known at trace time, the graph has their number only."""
    return isinstance(items.values[0].type, ListType)


def are_tensors(items: Items) -> bool:
    """Return whether each item is one tensor, all of one dtype."""
    element = items.element
    return isinstance(element, Leaf) and element.wrap is None and isinstance(element.type, TensorType)


def _are_tensors_of_one_dtype(first: Layout, second: Layout) -> bool:
    """Return whether two layouts are tensors that differ at most in their known shapes."""
    types = [
        layout.type
        for layout in (first, second)
        if isinstance(layout, Leaf) and layout.wrap is None and isinstance(layout.type, TensorType)
    ]
    return len(types) == 2 and types[0].dtype is types[1].dtype and types[0].weak == types[1].weak


def index_in_graph(position: int) -> Any:
    """Convert a position to an integer scalar, as the list ops require."""
    tensor = as_tensor(position)
    if tensor is None:
        return position
    if tensor.weak and tensor.type.dtype.is_bool:
        tensor = dispatch.apply("python_int", tensor)
    return convert_to_tensor(tensor) if tensor.weak else tensor


def freeze(value: object) -> None:
    """Forbid later changes of a value that a list has copied."""
    trace = require_region().trace
    for part in mutable_parts(value):
        trace.frozen_objects[id(part)] = part
    if trace.created_objects is not None and id(value) in trace.created_objects:
        trace.frozen_objects[id(value)] = value


def require_region() -> Region:
    """Return the region being recorded."""
    region = current_region()
    assert region is not None
    return region


def refuse(predicate: str) -> NoReturn:
    """Raise StagingError for an unsupported use of a list of run-time length.

    `predicate` continues the message "a list whose length is known only at run time …".
    """
    raise StagingError(
        f"a list whose length is known only at run time {predicate}", current_place(),
        "a loop over the list, autoconv.stack(list), or an autoconv.TensorArray",
    )  # fmt: skip
