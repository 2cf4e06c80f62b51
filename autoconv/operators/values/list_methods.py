"""Methods and operators of lists of run-time length (`tensor_lists.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.graph.graph import Value
from autoconv.operators.control.conditionals import if_stmt
from autoconv.operators.control.iterables import StagedRange, as_staged
from autoconv.operators.control.loops import for_stmt
from autoconv.operators.control.variants import raise_if
from autoconv.operators.regions.layout import Items, RunTimeList
from autoconv.operators.regions.layout_join import join_layouts
from autoconv.operators.regions.marshalling import append_item, empty_lists
from autoconv.operators.regions.value_layout import layout_of
from autoconv.operators.support.protected_names import BREAK, NORMAL
from autoconv.operators.values.tensor_lists import (
    append,
    are_tensors,
    as_loop_body,
    freeze,
    has_lists,
    index_in_graph,
    item,
    length,
    refuse,
    require_region,
    widen_items,
)
from autoconv.runtime.objects.containers import TracedList, items_of, set_graph_items
from autoconv.runtime.tensors import dispatch

_METHODS: dict[str, Callable[..., Any]] = {}
_REFUSED_USES = {
    "__str__": "is converted to text", "__repr__": "is converted to text", "__format__": "is converted to text",
    "__iter__": "is unpacked or iterated by Python itself", "__len__": "is passed to len() by Python itself",
    "__eq__": "is compared", "__ne__": "is compared", "__lt__": "is compared", "__le__": "is compared",
    "__gt__": "is compared", "__ge__": "is compared",
}  # fmt: skip


def call_method(self: Items, owner: TracedList, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`owner.name(*args, **kwargs)`; raise StagingError for a method that the graph does not implement."""
    method = _METHODS.get(name)
    if method is None:
        refuse(_REFUSED_USES.get(name) or f"is changed or read by {name}")
    return method(owner, *args, **kwargs)


Items.call = call_method  # type: ignore[method-assign,assignment]


def _register_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that registers a function as the method whose name follows "_list_" in its own name."""
    _METHODS[function.__name__.removeprefix("_list_")] = function
    return function


_METHODS["append"] = append


def search(owner: TracedList, name: str, args: tuple[Any, ...]) -> Any:
    """Call `index`, `count` or `remove` of a list of known length, whose items or operand are symbolic."""
    return _METHODS[name](owner, *args)


TracedList.search = search  # type: ignore[assignment]


@_register_method
def _list_extend(owner: TracedList, values: object) -> None:
    """`owner.extend(values)`; another list of run-time length is appended by one op."""
    other_items = items_of(values)
    if other_items is None:
        for_stmt(values, as_loop_body(owner.append))
        return
    region = require_region()
    items = items_of(owner)
    layout = join_layouts(items.element, other_items.element, "an item of a list", region.contract)
    first, second = widen_items(items, layout), widen_items(other_items, layout)
    if has_lists(first):
        pairs = zip(first.values, second.values, strict=True)
        set_graph_items(owner, Items(layout, [_list_op("list_concat", *pair) for pair in pairs]))
    else:
        set_graph_items(owner, Items(layout, [(length(first) + length(second)).value_in_graph]))


@_register_method
def _list_copy(owner: TracedList) -> TracedList:
    result = TracedList()
    result._items = items_of(owner)
    return result


def _concatenate(owner: TracedList, other: object) -> Any:
    if not isinstance(other, list):
        raise TypeError(f'can only concatenate list (not "{type(other).__name__}") to list')
    result = _list_copy(owner)
    _list_extend(result, other)
    return result


def _concatenate_in_place(owner: TracedList, values: object) -> TracedList:
    _list_extend(owner, values)
    return owner


_METHODS["__add__"], _METHODS["__iadd__"] = _concatenate, _concatenate_in_place


def _repeat(owner: TracedList, count: object) -> TracedList:
    """Return a new list to which the items are appended `count` times, one by one."""
    source = _list_copy(owner)
    result = _list_copy(owner)
    _list_clear(result)
    for_stmt(StagedRange(count), as_loop_body(lambda _: for_stmt(as_staged(source), as_loop_body(result.append))))
    return result


def _repeat_in_place(owner: TracedList, count: object) -> TracedList:
    set_graph_items(owner, items_of(_repeat(owner, count)))
    return owner


_METHODS["__mul__"] = _METHODS["__rmul__"] = _repeat
_METHODS["__imul__"] = _repeat_in_place


@_register_method
def _list_pop(owner: TracedList, position: int = -1) -> Any:
    """`owner.pop(position)`."""
    items = items_of(owner)
    size = length(items)
    raise_if(size == 0, IndexError("pop from empty list"))
    result = item(items, position)
    _remove_at(owner, position, size)
    return result


@_register_method
def _list___delitem__(owner: TracedList, position: int) -> None:
    if isinstance(position, slice):
        refuse("has a slice removed")
    item(items_of(owner), position)  # raises for an index out of range
    _remove_at(owner, position, length(items_of(owner)))


def _remove_at(owner: TracedList, position: Any, size: Any) -> None:
    """Remove the item at a valid position, which may be negative, of a list of `size` items."""
    index = position % size
    items_after = _slice_list(owner, index + 1, size)
    set_graph_items(owner, items_of(_slice_list(owner, 0, index)))
    _list_extend(owner, items_after)


@_register_method
def _list_insert(owner: TracedList, position: int, value: object) -> None:
    size = length(items_of(owner))
    items_after = _slice_list(owner, position, size)
    set_graph_items(owner, items_of(_slice_list(owner, 0, position)))
    append(owner, value)
    _list_extend(owner, items_after)


@_register_method
def _list_clear(owner: TracedList) -> None:
    items = items_of(owner)
    set_graph_items(owner, Items(items.element, empty_lists(RunTimeList(items.element), require_region())))


@_register_method
def _list_reverse(owner: TracedList) -> None:
    copy = _list_copy(owner)
    _list_clear(owner)
    for_stmt(as_staged(copy), as_loop_body(lambda value: _list_insert(owner, 0, value)))


@_register_method
def _list_sort(owner: TracedList, *, key: object = None, reverse: bool = False) -> None:
    items = items_of(owner)
    if key is not None or not are_tensors(items) or items.element.type.shape != ():
        refuse("is sorted, and holds more than numbers of one dtype, or has a key")
    sorted_items = dispatch.apply("sort", dispatch.apply("list_stack", items.values[0]), axis=-1, descending=reverse)
    set_graph_items(owner, Items(items.element, [_list_op("list_from_tensor", sorted_items)]))


@_register_method
def _list_index(owner: TracedList, value: object, start: Any = 0, stop: Any = None) -> Any:
    """`owner.index(value, start, stop)`, by a loop that ends at the first equal item."""
    is_part = stop is not None or not isinstance(start, int) or start != 0
    searched_list: Any = owner[start:stop] if is_part else owner
    index, _, exit_code = for_stmt(
        _loop_iterable(searched_list),
        lambda other, index, position, _: if_stmt(
            other == value, lambda *_: (position, position, BREAK), lambda *_: (index, position + 1, NORMAL),
            (index, position, NORMAL), ("index", "position", "its end"),
        ),
        (0, 0, NORMAL), ("index", "position", "its end"), exit="its end",
    )  # fmt: skip
    raise_if(exit_code == NORMAL, ValueError("list.index(x): x not in list"))
    if not is_part:
        return index
    items = items_of(owner)
    return index + (slice(start, stop).indices(len(owner))[0] if items is None else _clip(start, length(items)))


def _loop_iterable(owner: TracedList) -> Any:
    """Return the iterable for a loop over the list; items of known number are compared one by one."""
    return owner if items_of(owner) is None else as_staged(owner)


@_register_method
def _list_remove(owner: TracedList, value: object) -> None:
    position = _list_index(owner, value)
    items: Any = items_of(owner) or TracedList.move_to_graph(owner)
    _remove_at(owner, position, length(items))


@_register_method
def _list_count(owner: TracedList, value: object) -> Any:
    """`owner.count(value)`, by a loop over all items."""
    (count,) = for_stmt(
        _loop_iterable(owner),
        lambda other, count: if_stmt(other == value, lambda n: (n + 1,), None, (count,), ("count",)),
        (0,), ("count",),
    )  # fmt: skip
    return count


@_register_method
def _list___contains__(owner: TracedList, value: object) -> Any:
    return _list_count(owner, value) > 0


@_register_method
def _list___getitem__(owner: TracedList, position: int) -> Any:
    """`owner[position]`; a slice without a step is a new list."""
    if not isinstance(position, slice):
        return item(items_of(owner), position)
    if position.step not in (None, 1):
        refuse("is sliced with a step")
    start = 0 if position.start is None else position.start
    return _slice_list(owner, start, length(items_of(owner)) if position.stop is None else position.stop)


@_register_method
def _list___setitem__(owner: TracedList, position: int, value: object) -> None:
    """`owner[position] = value`; the layout of the elements is widened as needed."""
    if isinstance(position, slice):
        refuse("has a slice of it assigned")
    region = require_region()
    items = items_of(owner)
    layout = join_layouts(items.element, layout_of(value, region), "an item of a list", region.contract)
    freeze(value)
    if not has_lists(items) and layout == items.element:  # all items are equal: only the position is checked
        item(items, position)
        return
    items = widen_items(items, layout)
    index = index_in_graph(position)
    single_item_lists = append_item(empty_lists(RunTimeList(layout), region), value, RunTimeList(layout), region)
    lists = [
        _list_op("list_set", list_, index, dispatch.apply("list_get", single_item_list, 0), wrap=True)
        for list_, single_item_list in zip(items.values, single_item_lists, strict=True)
    ]
    set_graph_items(owner, Items(layout, lists))


def _slice_list(owner: TracedList, start: Any, stop: Any) -> TracedList:
    """Return the items from `start` to `stop`, with the semantics of Python's slices."""
    items = items_of(owner)
    result = TracedList()
    if has_lists(items):
        bounds = index_in_graph(start), index_in_graph(stop)
        result._items = Items(items.element, [_list_op("list_slice", list_, *bounds) for list_ in items.values])
    else:
        size = length(items)
        clipped_start, clipped_stop = (_clip(bound, size) for bound in (start, stop))
        count = dispatch.apply("select", clipped_stop > clipped_start, clipped_stop - clipped_start, 0)
        result._items = Items(items.element, [count.value_in_graph])
    return result


def _clip(bound: Any, size: Any) -> Any:
    """Return the position from 0 to `size` that a slice's bound means, as an integer scalar."""
    tensor_bound = size * 0 + bound  # of the dtype of `size`
    from_start = dispatch.apply("select", tensor_bound < 0, size + bound, tensor_bound)
    not_negative = dispatch.apply("select", from_start < 0, 0, from_start)
    return dispatch.apply("select", not_negative > size, size, not_negative)


def _list_op(name: str, *operands: Any, **attributes: Any) -> Value:
    """Apply an op that returns a tensor list; return its graph value."""
    result = dispatch.apply(name, *operands, **attributes)
    return result if isinstance(result, Value) else result.value_in_graph
