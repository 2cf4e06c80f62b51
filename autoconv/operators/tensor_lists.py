"""Lists whose length only the graph knows, under `function`: what their methods do to the tensor lists they are.

Items are held by value: a list or an object that is an item may not change any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Value
from autoconv.graph.types import ListType, TensorType
from autoconv.operators.conditionals import if_stmt
from autoconv.operators.crossing import empty_lists, rebuild, with_item
from autoconv.operators.iterables import StagedRange, as_staged
from autoconv.operators.joining import join_layouts
from autoconv.operators.layout import NEVER, Grown, Items, Layout, Leaf, layout_of
from autoconv.operators.loops import for_stmt
from autoconv.operators.names import BREAK, NORMAL
from autoconv.operators.variants import raise_if
from autoconv.runtime import dispatch
from autoconv.runtime.containers import TracedList, contents, hold_items, items_of
from autoconv.runtime.convert import as_tensor, convert_to_tensor
from autoconv.runtime.recording import Region, current_region
from autoconv.runtime.spans import current_place
from autoconv.runtime.structure import mutable_parts
from autoconv.runtime.tensor import SymbolicTensor

_METHODS: dict[str, Callable[..., Any]] = {}


_REFUSED = {
    "__str__": "is turned into text", "__repr__": "is turned into text", "__format__": "is turned into text",
    "__iter__": "is unpacked, or gone over by Python itself", "__len__": "is asked for its length by Python itself",
    "__eq__": "is compared", "__ne__": "is compared", "__lt__": "is compared", "__le__": "is compared",
    "__gt__": "is compared", "__ge__": "is compared", "__mul__": "is repeated", "__imul__": "is repeated",
    "__rmul__": "is repeated",
}  # fmt: skip


def call(self: Items, owner: TracedList, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`owner.name(*args, **kwargs)`; raises StagingError for what has no meaning in a graph."""
    method = _METHODS.get(name)
    if method is None:
        _refuse(_REFUSED.get(name) or f"is changed or asked by {name}")
    return method(owner, *args, **kwargs)


def grow(container: TracedList) -> Items:
    """Moves a list whose items are known into the graph."""
    region = _region()
    known = contents(container)
    element: Layout = NEVER
    for item in known:
        element = join_layouts(element, layout_of(item, region), "an item of a list", region.contract)
    lists = empty_lists(Grown(element), region)
    for item in known:
        _freeze(item)
        lists = with_item(lists, item, Grown(element), region)
    items = Items(element, lists)
    hold_items(container, items)
    return items


def length(self: Items) -> Any:
    """How many items there are, a weak integer."""
    if not _has_lists(self):
        return SymbolicTensor(self.values[0])
    return dispatch.apply("python_cast", dispatch.apply("list_length", self.values[0]), dtype=int64, weak=True)


def item(self: Items, position: Any) -> Any:
    """The item at a position, counted from the end where it is negative; IndexError when the graph runs."""
    if _has_lists(self):
        index = _index(position)
        found = [dispatch.apply("list_get", list_, index, wrap=True) for list_ in self.values]
    else:
        size = length(self)
        raise_if((size <= position) | (-size > position), IndexError("list index out of range"))
        found = []
    value = rebuild(self.element, iter([part.value_in_graph for part in found]))
    _freeze(value)
    return value


def widened(self: Items, element: Layout) -> Items:
    """The same items in a layout that holds more."""
    if element == self.element:
        return self
    if self.element is NEVER:
        return Items(element, empty_lists(Grown(element), _region()))
    if _differs_in_shape(self.element, element):
        return Items(element, self.values)
    made = TracedList()
    made._items = Items(element, empty_lists(Grown(element), _region()))
    _each(self, lambda value: _append(made, value))
    return items_of(made)  # type: ignore[no-any-return]


def stacked(self: Items, axis: int = 0) -> Any:
    """The items as one tensor, along a new dimension; raises StagingError where they are no tensors."""
    return _as_one(self, "list_stack", axis, 1)


def reduced(self: Items, op: str) -> Any:
    """A reduction of the items, which are tensors; numbers stay weak."""
    if not _are_tensors(self):
        _refuse("holds more than tensors of one dtype, and becomes a tensor")
    return dispatch.apply(op, dispatch.apply("list_stack", self.values[0]), axis=(0,), keepdims=False)


def joined(self: Items, axis: int = 0) -> Any:
    """The items one behind the other along a dimension; raises StagingError where they are no tensors."""
    return _as_one(self, "list_flatten", axis, 0)


def _as_one(items: Items, op: str, axis: int, more: int) -> Any:
    element = items.element
    if not _are_tensors(items):
        _refuse("holds more than tensors of one dtype, and becomes a tensor")
    assert isinstance(element, Leaf) and isinstance(element.type, TensorType)
    if axis == 0:
        return convert_to_tensor(dispatch.apply(op, items.values[0]))
    if element.type.shape is None:
        _refuse("of tensors of unknown rank becomes a tensor along another dimension than the first")
    rank = len(element.type.shape) + more
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    if more:
        return dispatch.apply("transpose", stacked(items), perm=tuple(order))
    back = [order.index(i) for i in range(rank)]
    turned = mapped_items(items, lambda x: dispatch.apply("transpose", x, perm=tuple(back)))
    return dispatch.apply("transpose", joined(turned), perm=tuple(order))


def mapped(owner: TracedList, function: Callable[[Any], Any]) -> TracedList:
    """A new list of `function(item)`."""
    made = TracedList()
    _each(items_of(owner), lambda value: made.append(function(value)))
    if items_of(made) is None:
        grow(made)
    return made


def mapped_items(items: Items, function: Callable[[Any], Any]) -> Items:
    source = TracedList()
    source._items = items
    return items_of(mapped(source, function))  # type: ignore[no-any-return]


Items.call = call  # type: ignore[method-assign,assignment]
Items.stacked = stacked  # type: ignore[method-assign,assignment]
Items.joined = joined  # type: ignore[method-assign,assignment]
Items.reduced = reduced  # type: ignore[method-assign,assignment]
Items.widened = widened  # type: ignore[method-assign,assignment]
Items.length = length  # type: ignore[method-assign,assignment]
Items.item = item  # type: ignore[method-assign,assignment]
TracedList.grow = grow  # type: ignore[assignment]


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    _METHODS[function.__name__.removeprefix("_list_")] = function
    return function


def _append(owner: TracedList, value: Any) -> None:
    region = _region()
    items = items_of(owner)
    wanted = join_layouts(items.element, layout_of(value, region), "an item of a list", region.contract)
    _freeze(value)
    items = widened(items, wanted)
    hold_items(owner, Items(wanted, with_item(items.values, value, Grown(wanted), region)))


_METHODS["append"] = _append


@_method
def _list_extend(owner: TracedList, values: Any) -> None:
    others = items_of(values)
    if others is None:
        for_stmt(values, _doing(owner.append))
        return
    region = _region()
    items = items_of(owner)
    wanted = join_layouts(items.element, others.element, "an item of a list", region.contract)
    first, second = widened(items, wanted), widened(others, wanted)
    if _has_lists(first):
        pairs = zip(first.values, second.values, strict=True)
        hold_items(owner, Items(wanted, [_list_op("list_concat", a, b) for a, b in pairs]))
    else:
        hold_items(owner, Items(wanted, [(length(first) + length(second)).value_in_graph]))


@_method
def _list_copy(owner: TracedList) -> TracedList:
    made = TracedList()
    made._items = items_of(owner)
    return made


def _sum(owner: TracedList, other: Any) -> Any:
    if not isinstance(other, list):
        raise TypeError(f'can only concatenate list (not "{type(other).__name__}") to list')
    made = _list_copy(owner)
    _list_extend(made, other)
    return made


def _changed_sum(owner: TracedList, values: Any) -> TracedList:
    _list_extend(owner, values)
    return owner


_METHODS["__add__"], _METHODS["__iadd__"] = _sum, _changed_sum


def _product(owner: TracedList, count: Any) -> TracedList:
    """The items `count` times, one by one: no list is copied."""
    again = _list_copy(owner)
    made = _list_copy(owner)
    _list_clear(made)
    for_stmt(StagedRange(count), _doing(lambda _: for_stmt(as_staged(again), _doing(made.append))))
    return made


def _changed_product(owner: TracedList, count: Any) -> TracedList:
    hold_items(owner, items_of(_product(owner, count)))
    return owner


_METHODS["__mul__"] = _METHODS["__rmul__"] = _product
_METHODS["__imul__"] = _changed_product


@_method
def _list_pop(owner: TracedList, position: Any = -1) -> Any:
    items = items_of(owner)
    size = length(items)
    raise_if(size == 0, IndexError("pop from empty list"))
    found = item(items, position)
    _remove_at(owner, position, size)
    return found


@_method
def _list___delitem__(owner: TracedList, position: Any) -> None:
    if isinstance(position, slice):
        _refuse("has a slice taken out of it")
    item(items_of(owner), position)  # which raises for a position that is not there
    _remove_at(owner, position, length(items_of(owner)))


def _remove_at(owner: TracedList, position: Any, size: Any) -> None:
    at = position % size
    rest = _part(owner, at + 1, size)
    hold_items(owner, items_of(_part(owner, 0, at)))
    _list_extend(owner, rest)


@_method
def _list_insert(owner: TracedList, position: Any, value: Any) -> None:
    size = length(items_of(owner))
    after = _part(owner, position, size)
    hold_items(owner, items_of(_part(owner, 0, position)))
    _append(owner, value)
    _list_extend(owner, after)


@_method
def _list_clear(owner: TracedList) -> None:
    items = items_of(owner)
    hold_items(owner, Items(items.element, empty_lists(Grown(items.element), _region())))


@_method
def _list_reverse(owner: TracedList) -> None:
    made = _list_copy(owner)
    _list_clear(owner)
    for_stmt(as_staged(made), _doing(lambda value: _list_insert(owner, 0, value)))


@_method
def _list_sort(owner: TracedList, *, key: Any = None, reverse: bool = False) -> None:
    items = items_of(owner)
    if key is not None or not _are_tensors(items) or items.element.type.shape != ():
        _refuse("is sorted, and holds more than numbers of one dtype, or has a key")
    ordered = dispatch.apply("sort", dispatch.apply("list_stack", items.values[0]), axis=-1, descending=reverse)
    hold_items(owner, Items(items.element, [_list_op("list_from_tensor", ordered)]))


@_method
def _list_index(owner: TracedList, value: Any) -> Any:
    position, _, code = for_stmt(
        as_staged(owner),
        lambda other, found, at, _: if_stmt(
            other == value, lambda *state: (at, at, BREAK), lambda *state: (found, at + 1, NORMAL), (found, at, NORMAL),
            ("index", "position", "its end"),
        ),
        (0, 0, NORMAL), ("index", "position", "its end"), exit="its end",
    )  # fmt: skip
    raise_if(code == NORMAL, ValueError("list.index(x): x not in list"))
    return position


@_method
def _list_remove(owner: TracedList, value: Any) -> None:
    _remove_at(owner, _list_index(owner, value), length(items_of(owner)))


@_method
def _list_count(owner: TracedList, value: Any) -> Any:
    return for_stmt(
        as_staged(owner),
        lambda other, count: if_stmt(other == value, lambda n: (n + 1,), None, (count,), ("count",)),
        (0,), ("count",),
    )[0]  # fmt: skip


@_method
def _list___contains__(owner: TracedList, value: Any) -> Any:
    return _list_count(owner, value) > 0


@_method
def _list___getitem__(owner: TracedList, position: Any) -> Any:
    if not isinstance(position, slice):
        return item(items_of(owner), position)
    if position.step not in (None, 1):
        _refuse("is cut in steps")
    start = 0 if position.start is None else position.start
    return _part(owner, start, length(items_of(owner)) if position.stop is None else position.stop)


@_method
def _list___setitem__(owner: TracedList, position: Any, value: Any) -> None:
    if isinstance(position, slice):
        _refuse("has a slice of it assigned")
    region = _region()
    items = items_of(owner)
    wanted = join_layouts(items.element, layout_of(value, region), "an item of a list", region.contract)
    _freeze(value)
    if not _has_lists(items) and wanted == items.element:
        item(items, position)
        return
    items = widened(items, wanted)
    index = _index(position)
    single = with_item(empty_lists(Grown(wanted), region), value, Grown(wanted), region)
    lists = [
        _list_op("list_set", list_, index, dispatch.apply("list_get", one, 0), wrap=True)
        for list_, one in zip(items.values, single, strict=True)
    ]
    hold_items(owner, Items(wanted, lists))


def _part(owner: TracedList, start: Any, stop: Any) -> TracedList:
    """The items from `start` to `stop`, as Python's slices mean it."""
    items = items_of(owner)
    made = TracedList()
    if _has_lists(items):
        bounds = _index(start), _index(stop)
        made._items = Items(items.element, [_list_op("list_slice", list_, *bounds) for list_ in items.values])
    else:
        size = length(items)
        first, last = (_clipped(bound, size) for bound in (start, stop))
        count = dispatch.apply("select", last > first, last - first, 0)
        made._items = Items(items.element, [count.value_in_graph])
    return made


def _clipped(bound: Any, size: Any) -> Any:
    from_start = dispatch.apply("select", size * 0 + bound < 0, size + bound, size * 0 + bound)
    not_negative = dispatch.apply("select", from_start < 0, 0, from_start)
    return dispatch.apply("select", not_negative > size, size, not_negative)


def _each(items: Items, body: Callable[[Any], Any]) -> None:
    """Calls `body` with each item, in a loop of the graph."""
    source = TracedList()
    source._items = items
    for_stmt(as_staged(source), _doing(body))


def _doing(action: Callable[[Any], Any]) -> Callable[[Any], tuple[()]]:
    """The body of a loop without state, of what is done with an item."""

    def body(value: Any) -> tuple[()]:
        action(value)
        return ()

    return body


def _has_lists(items: Items) -> bool:
    return isinstance(items.values[0].type, ListType)


def _are_tensors(items: Items) -> bool:
    element = items.element
    return isinstance(element, Leaf) and element.wrap is None and isinstance(element.type, TensorType)


def _differs_in_shape(a: Layout, b: Layout) -> bool:
    """Whether two layouts are tensors that differ in what is known of their shape."""
    if not (isinstance(a, Leaf) and isinstance(b, Leaf) and a.wrap is None and b.wrap is None):
        return False
    if not (isinstance(a.type, TensorType) and isinstance(b.type, TensorType)):
        return False
    return a.type.dtype is b.type.dtype and a.type.weak == b.type.weak


def _list_op(name: str, *operands: Any, **attributes: Any) -> Value:
    found = dispatch.apply(name, *operands, **attributes)
    return found if isinstance(found, Value) else found.value_in_graph


def _index(position: Any) -> Any:
    """A position as the list ops take it: an integer scalar."""
    tensor = as_tensor(position)
    if tensor is None:
        return position
    if tensor.weak and tensor.type.dtype.is_bool:
        tensor = dispatch.apply("python_int", tensor)
    return convert_to_tensor(tensor) if tensor.weak else tensor


def _freeze(value: Any) -> None:
    """What is held by value may not change any more."""
    trace = _region().trace
    for part in mutable_parts(value):
        trace.frozen[id(part)] = part
    if trace.owned is not None and id(value) in trace.owned:
        trace.frozen[id(value)] = value


def _region() -> Region:
    region = current_region()
    assert region is not None
    return region


def _refuse(what: str) -> NoReturn:
    raise StagingError(
        f"a list whose length only the running graph knows {what}", current_place(),
        "a loop over the list, autoconv.stack(list), or an autoconv.TensorArray",
    )  # fmt: skip


__all__ = ["grow", "item", "joined", "length", "mapped"]
