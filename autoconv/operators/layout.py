"""How a Python value crosses the border of a region: what of it is graph values, and how it is put together again.

Layouts join like types: numbers that differ become weak tensors, structures join part by part, and what has nothing in
common becomes the arms of a variant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType, ListType, NoCommonType, ObjectType, TensorType, Type, join
from autoconv.operators.names import Undefined
from autoconv.runtime import dispatch
from autoconv.runtime.arrays import SymbolicArray, as_array
from autoconv.runtime.attributes import HEAP, GraphAttributes, held_by
from autoconv.runtime.containers import PLAIN, GraphItems, TracedList, heap_of, items_of, traced, untraced_copy
from autoconv.runtime.convert import as_tensor, to_array, weak_constant, weak_dtype
from autoconv.runtime.journal import MISSING
from autoconv.runtime.objects import SymbolicObject, as_object, box, unboxed
from autoconv.runtime.recording import COMPILE, Region, current_region
from autoconv.runtime.spans import current_place
from autoconv.runtime.structure import Template, flatten, is_structure, pack, plain_kind, structure_parts
from autoconv.runtime.tensor import EagerTensor, SymbolicTensor


@dataclass(frozen=True, slots=True)
class Static:
    """The same Python object whatever happens."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same_object(self.value, other.value)

    def __hash__(self) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """One graph value; `wrap` makes the Python object of it (None: a tensor).

    A wrap is a hashable callable. Where two paths give different ones, `wrap.joined(other)` is the wrap that holds
    both, or None when there is none.
    """

    type: Type
    wrap: Any = None


@dataclass(frozen=True, slots=True)
class Parts:
    """A structure, taken apart one level."""

    kind: type
    keys: tuple[Any, ...] | None
    parts: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """An object that the traced code made, by its attributes. `shared`: it may be one that others know as well."""

    kind: type
    keys: tuple[str, ...]
    parts: tuple[Layout, ...]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Grown:
    """A list whose length only the graph knows: a tensor list for each graph value of an element, or the length alone
    where an element has none."""

    element: Layout


@dataclass(frozen=True, slots=True)
class Arms:
    """A variant: a tag, and the payloads of all arms."""

    arms: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Never:
    """What an arm that always raises gives: anything."""


Layout = Static | Leaf | Parts | Instance | Grown | Arms | Never
NEVER = Never()


class Items(GraphItems):
    """The items of such a list (see `autoconv.operators.tensor_lists`); `values` are those of its layout."""

    __slots__ = ("element", "values")

    def __init__(self, element: Layout, values: Sequence[Value]) -> None:
        self.element = element
        self.values = tuple(values)

    def widened(self, element: Layout) -> Items:
        """The same items in a layout that holds more."""
        raise NotImplementedError


class Variant:
    """One of several values, told apart by `tag` when the graph runs. Used as a value it has to be the one arm that is
    one: None and undefined arms raise as Python would."""

    __slots__ = ("layouts", "tag", "values")

    def __init__(self, tag: Any, layouts: Sequence[Layout], values: Sequence[Any]) -> None:
        self.tag = tag
        self.layouts = tuple(layouts)
        self.values = tuple(values)


def same_object(a: Any, b: Any) -> bool:
    """Whether two static values are one: identical, or equal plain constants of one type."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)
    if isinstance(a, (bool, int, str, bytes, Undefined)):
        return a == b
    if isinstance(a, frozenset):
        return a == b
    return type(a) is tuple and len(a) == len(b) and all(map(same_object, a, b))


def layout_of(value: Any, region: Region) -> Layout:
    """The layout of a value as it is now; numbers stay static."""
    heap = heap_of(value)
    if heap is not None:
        value = heap
    if type(value) is Items:
        return Grown(value.element)
    if type(value) in PLAIN and region.is_inside(value._home) and value._home.standing is not region:
        return Static(value)  # it stays the object that it is, and what it holds is state of its own
    if items_of(value) is not None:
        return Grown(value._items.element)
    if isinstance(value, SymbolicTensor):
        return Leaf(region.lift(value.value_in_graph).type)
    if isinstance(value, Variant):
        known_arms = zip(value.layouts, value.values, strict=True)
        # What an arm took apart is known by no other name: its parts are what counts, wherever it was put together.
        arms = tuple(known if is_container(known) else _opened(layout_of(v, region)) for known, v in known_arms)
        if sum(map(is_object_layout, arms)) > 1:  # lists that moved into the graph since
            return Leaf(ObjectType(), as_object)
        return Arms(arms)
    if type(value) is SymbolicArray and value.value_in_graph.graph is not region.graph:
        return Static(value)  # one that is there already, as itself
    wrapper = getattr(type(value), "__autoconv_graph_value__", None)
    if wrapper is not None and type(value) not in PLAIN:
        # What has to be recorded first says of what type it will be.
        known = getattr(value, "__autoconv_graph_type__", None)
        return Leaf(known or _as_value(wrapper(value), region).type, value.__autoconv_wrap__())
    if is_structure(value) and has_leaves(value, region):
        keys, parts = take_apart(value)
        return Parts(plain_kind(value), keys, tuple(layout_of(part, region) for part in parts))
    home = home_of(value, region)
    if home is not None and home.is_inside(region) and hasattr(value, "__dict__"):
        return instance_layout(value, region, False)
    return Static(value)


def home_of(value: Any, region: Region) -> Region | None:
    """The region in which the traced code made an object of the user's; None where it did not."""
    owned = region.trace.owned
    found = owned.get(id(value)) if owned else None
    return found[1] if found is not None and found[0] is value else None


def made_here(value: Any) -> bool:
    """Whether this is an object of the user's that the code that is being traced made."""
    region = current_region()
    return region is not None and home_of(value, region) is not None


def holds_made_here(value: Any) -> bool:
    """Whether it is such an object, or there is one in it: it can be an arm of a variant, and no object of a graph."""
    if type(value) is Variant:
        return any(map(holds_made_here, value.values))
    if not is_structure(value):
        return made_here(value)
    return any(map(holds_made_here, structure_parts(value)))


def instance_layout(value: Any, region: Region, shared: bool = True) -> Instance:
    """The layout of an object of the user's by its attributes."""
    held = held_by(value)
    return Instance(type(value), tuple(held), tuple(layout_of(part, region) for part in held.values()), shared)


def state_layout(value: Any, region: Region) -> Layout:
    """The layout of a loop variable: numbers and arrays in it are expected to change."""
    if home_of(value, region) is not None or (type(value) in PLAIN and heap_of(value) is None):
        return Static(value)
    if isinstance(value, (bool, int, float, complex)):
        return Leaf(_weak_type(value))
    if type(value) is SymbolicArray:
        return Static(value)
    if isinstance(value, (EagerTensor, np.ndarray, np.generic)):
        return Leaf(_typed(value))
    if is_structure(value) and not isinstance(value, (list, dict)):
        keys, parts = take_apart(value)
        return Parts(plain_kind(value), keys, tuple(state_layout(part, region) for part in parts))
    return layout_of(value, region)


def join_layouts(first: Layout, second: Layout, name: str, contract: str) -> Layout:
    """The layout that holds both; raises StagingError naming the variable when there is none."""
    if first == second or isinstance(second, Never):
        return first
    if isinstance(first, Never):
        return second
    if is_object_layout(first) or is_object_layout(second):
        return joined_objects(first, second)
    if _go_together(first, second):
        return Leaf(join(_array_type(first), _array_type(second)), as_array)
    if isinstance(first, Arms) or isinstance(second, Arms):
        return _join_arms(first, second, name, contract)
    if contract == COMPILE and _number_kind(first) != _number_kind(second):
        return _join_arms(first, second, name, contract)
    if is_number_layout(first) and is_number_layout(second) and _is_bool_or_number(first, second):
        return _join_arms(first, second, name, contract)
    if is_number_layout(first) and is_number_layout(second):
        a, b = _leaf(first), _leaf(second)
        try:
            return Leaf(join(a.type, b.type), a.wrap)
        except NoCommonType:
            raise StagingError(
                f"{name!r} is {_describe(first)} on one path and {_describe(second)} on the other, which have no "
                "common type",
                current_place(),
                "values of one type on both paths: autoconv.cast(value, dtype) for numbers",
            ) from None
    if (_is_grown(first) or _is_grown(second)) and _is_list(first) and _is_list(second):
        return joined_lists([first, second], name, contract)
    wrap = _joined_wrap(first, second)
    if wrap is not None:
        assert isinstance(first, Leaf) and isinstance(second, Leaf)
        try:
            return Leaf(join(first.type, second.type), wrap)
        except NoCommonType as error:
            raise StagingError(
                f"{name!r} has no common type on two paths: {error}",
                current_place(),
                "values of one type on both paths",
            ) from None
    whole = first, second
    first, second = _opened(first), _opened(second)
    first, second = _opened_instance(first, second), _opened_instance(second, first)
    if isinstance(first, Instance) and isinstance(second, Instance) and _same_instance(first, second):
        others = dict(zip(second.keys, second.parts, strict=True))
        merged = [
            join_layouts(part, others[key], f"{name}.{key}", contract)
            for key, part in zip(first.keys, first.parts, strict=True)
        ]
        return Instance(first.kind, first.keys, tuple(merged), first.shared or second.shared)
    if isinstance(first, Parts) and isinstance(second, Parts) and _same_kind(first, second):
        joined = tuple(join_layouts(a, b, name, contract) for a, b in zip(first.parts, second.parts, strict=True))
        return Parts(first.kind, first.keys, joined)
    first, second = (w if is_container(w) else opened for w, opened in zip(whole, (first, second), strict=True))
    return _join_arms(first, second, name, contract)


def is_container(layout: Layout) -> bool:
    """Whether this is a list, dict or set that the traced code made, as itself."""
    return isinstance(layout, Static) and type(layout.value) in PLAIN


def joined_lists(lists: Sequence[Layout], name: str, contract: str) -> Layout:
    """The layout of a list that holds any number of the elements of these."""
    element: Layout = NEVER
    for layout in lists:
        for part in _elements(layout):
            element = join_layouts(element, part, f"an item of {name}", contract)
    return Grown(element)


def settled_lists(layout: Layout, name: str, contract: str) -> Layout:
    """The layout of a loop variable, in which lists of several lengths are a list of any."""
    if not isinstance(layout, Arms):
        return layout
    lists = [arm for arm in layout.arms if _is_list(arm)]
    if len(lists) < 2 or all(map(is_container, lists)):
        return layout
    others = [arm for arm in layout.arms if not _is_list(arm)]
    return Arms((joined_lists(lists, name, contract), *others)) if others else joined_lists(lists, name, contract)


def _is_grown(layout: Layout) -> bool:
    return isinstance(layout, Grown) or (isinstance(layout, Static) and items_of(layout.value) is not None)


def _is_list(layout: Layout) -> bool:
    if isinstance(layout, Static):
        return plain_kind(layout.value) is list and heap_of(layout.value) is None
    return isinstance(layout, Grown) or (isinstance(layout, Parts) and layout.kind is list)


def _elements(layout: Layout) -> Sequence[Layout]:
    if isinstance(layout, Grown):
        return (layout.element,)
    if isinstance(layout, Parts):
        return layout.parts
    assert isinstance(layout, Static)
    held = items_of(layout.value)
    return [Static(part) for part in layout.value] if held is None else (held.element,)


def _opened_instance(layout: Layout, other: Layout) -> Layout:
    """A known object, by its attributes, where it has to share a layout with one that was made on another path."""
    region = current_region()
    if not isinstance(layout, Static) or not isinstance(other, Instance) or type(layout.value) is not other.kind:
        return layout
    if region is None or home_of(layout.value, region) is None:
        return layout
    region.trace.frozen[id(layout.value)] = layout.value
    return instance_layout(layout.value, region)


def _same_instance(a: Instance, b: Instance) -> bool:
    return a.kind is b.kind and set(a.keys) == set(b.keys)


def is_array_layout(layout: Layout) -> bool:
    """Whether this is an array that is traced as memory."""
    if isinstance(layout, Static):
        return type(layout.value) is SymbolicArray
    return isinstance(layout, Leaf) and isinstance(layout.type, ArrayType)


def _array_type(layout: Layout) -> Type:
    assert isinstance(layout, (Static, Leaf))
    found: Type = layout.type if isinstance(layout, Leaf) else layout.value.type
    return found


def _go_together(first: Layout, second: Layout) -> bool:
    """Whether both are arrays, of one dtype and as many dimensions."""
    if not (is_array_layout(first) and is_array_layout(second)):
        return False
    try:
        join(_array_type(first), _array_type(second))
    except NoCommonType:
        return False
    return True


def is_object_layout(layout: Layout) -> bool:
    return isinstance(layout, Leaf) and isinstance(layout.type, ObjectType)


def joined_objects(first: Layout, second: Layout) -> Layout:
    """What holds both as an object of the graph."""
    if is_object_layout(first) and is_object_layout(second):
        assert isinstance(first, Leaf) and isinstance(second, Leaf)
        return Leaf(join(first.type, second.type), as_object)
    return Leaf(ObjectType(), as_object)


def _number_kind(layout: Layout) -> Any:
    """What of a number Python tells apart: its dtype, and whether it is Python's own; None for what is none."""
    if not is_number_layout(layout):
        return None
    type_ = _leaf(layout).type
    assert isinstance(type_, TensorType)
    return type_.dtype, type_.weak


def _is_bool_or_number(first: Layout, second: Layout) -> bool:
    """Whether one is a bool tensor and the other a number of Python's: `x > 0 and 3` gives either."""
    for a, b in ((_leaf(first).type, _leaf(second).type), (_leaf(second).type, _leaf(first).type)):
        assert isinstance(a, TensorType) and isinstance(b, TensorType)
        if a.dtype.is_bool and not a.weak and b.weak and not b.dtype.is_bool:
            return True
    return False


# With more arms than these, what a name holds becomes an object of the graph.
_MOST_ARMS = 6


def _join_arms(first: Layout, second: Layout, name: str, contract: str) -> Layout:
    arms = list(first.arms if isinstance(first, Arms) else (first,))
    for layout in second.arms if isinstance(second, Arms) else (second,):
        for index, known in enumerate(arms):
            if _same_arm(known, layout) and (contract != COMPILE or _number_kind(known) == _number_kind(layout)):
                arms[index] = join_layouts(known, layout, name, contract)
                break
        else:
            arms.append(layout)
    if contract == COMPILE and len(arms) > _MOST_ARMS:
        return Leaf(ObjectType(), as_object)
    return Arms(tuple(arms))


def _same_arm(a: Layout, b: Layout) -> bool:
    """Whether two layouts are one arm of a variant rather than two."""
    if is_number_layout(a) and is_number_layout(b):
        return not _is_bool_or_number(a, b)
    if a == b:
        return True
    if is_array_layout(a) or is_array_layout(b):
        return _go_together(a, b)
    if is_container(a) or is_container(b):
        return False
    if _is_grown(a) or _is_grown(b):
        return _is_list(a) and _is_list(b)
    a, b = _opened(a), _opened(b)
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        return a.wrap == b.wrap or _joined_wrap(a, b) is not None
    if isinstance(a, Instance) and isinstance(b, Instance):
        return _same_instance(a, b)
    return isinstance(a, Parts) and isinstance(b, Parts) and _same_kind(a, b)


def emit(value: Any, layout: Layout, region: Region) -> list[Value]:
    """The graph values that carry `value` in that layout; records what conversion takes in `region`."""
    if isinstance(value, Never):
        return [absent(leaf, region) for leaf in leaf_types(layout)]
    if isinstance(layout, (Static, Never)):
        return []
    if isinstance(layout, Leaf):
        return [_emit_leaf(value, layout, region)]
    if isinstance(layout, Grown):
        return _emit_list(value, layout, region)
    if isinstance(layout, Parts):
        _, parts = take_apart(value)
        return [v for part, inner in zip(parts, layout.parts, strict=True) for v in emit(part, inner, region)]
    if isinstance(layout, Instance):
        held = held_by(value)
        return [v for key, part in zip(layout.keys, layout.parts, strict=True) for v in emit(held[key], part, region)]
    return _emit_arms(value, layout, region)


def _emit_list(value: Any, layout: Grown, region: Region) -> list[Value]:
    items = value if type(value) is Items else items_of(value)
    if items is not None:
        return [region.lift(v) for v in items.widened(layout.element).values]
    lists = empty_lists(layout, region)
    for item in value:
        lists = with_item(lists, item, layout, region)
    return lists


def empty_lists(layout: Grown, region: Region) -> list[Value]:
    """The graph values of a list without items."""
    made = []
    for type_ in leaf_types(layout.element):
        if not isinstance(type_, TensorType):
            raise StagingError(
                "a list inside of a list has a length that only the running graph knows", current_place(),
                "one list, or an autoconv.TensorArray",
            )  # fmt: skip
        made.append(dispatch.apply("list_empty", dtype=type_.dtype, shape=type_.shape, weak=type_.weak))
    return made or [weak_constant(region, 0).value_in_graph]


def with_item(lists: Sequence[Any], item: Any, layout: Grown, region: Region) -> list[Value]:
    """The graph values of a list with one more item at its end."""
    values = emit(item, layout.element, region)
    if not values:
        return [(SymbolicTensor(lists[0]) + 1).value_in_graph]
    return [
        region.record("list_push", [region.lift(list_), value], {}).results[0]
        for list_, value in zip(lists, values, strict=True)
    ]


def _emit_leaf(value: Any, layout: Leaf, region: Region) -> Value:
    type_ = layout.type
    if isinstance(type_, ObjectType):
        return region.lift(box(value).value_in_graph)
    wrapper = getattr(type(value), "__autoconv_graph_value__", None)
    if wrapper is not None and type(value) is not SymbolicObject:
        return _as_value(wrapper(value), region)
    assert isinstance(type_, TensorType)
    if type(value) is SymbolicObject:
        value = unboxed(value, type_)
    if isinstance(value, (bool, int, float, complex)):
        array = np.array(value, type_.dtype.numpy)
        if not type_.weak:
            return dispatch.graph_value(region, array)
        return weak_constant(region, value if weak_dtype(value) is type_.dtype else array.item()).value_in_graph
    tensor = as_tensor(value)
    if tensor is None:
        tensor = EagerTensor(to_array(value))
    if tensor.type.dtype is not type_.dtype or (tensor.weak and not type_.weak):
        tensor = dispatch.apply("python_cast", tensor, dtype=type_.dtype, weak=type_.weak)
    return region.lift(dispatch.graph_value(region, tensor))


def _emit_arms(value: Any, layout: Arms, region: Region) -> list[Value]:
    if isinstance(value, Variant):
        held = layout_of(value, region)
        assert isinstance(held, Arms)
        positions = [_arm_index(layout, known) for known in held.arms]
        tag = value.tag
        if positions != list(range(len(positions))):
            table = np.array(positions, np.int64)
            tag = dispatch.apply(
                "python_cast", dispatch.apply("gather", table, tag, axis=0), dtype=_weak_type(0).dtype, weak=True
            )
        if len(set(positions)) != len(positions):
            raise StagingError("a value is of several kinds that are one kind on another path", current_place())
        values = dict(zip(positions, value.values, strict=True))
        tag_value = region.lift(tag.value_in_graph)
    else:
        index = _arm_index(layout, _known_arm(value, layout) or layout_of(value, region))
        values = {index: value}
        tag_value = weak_constant(region, index).value_in_graph
    result = [tag_value]
    for index, arm in enumerate(layout.arms):
        if index in values:
            result += emit(values[index], arm, region)
        else:
            result += [absent(leaf, region) for leaf in leaf_types(arm)]
    return result


def _known_arm(value: Any, layout: Arms) -> Layout | None:
    """The arm that is a container or an object of the user's itself."""
    itself = type(value) in PLAIN or made_here(value)
    return Static(value) if itself and Static(value) in layout.arms else None


def _arm_index(layout: Arms, wanted: Layout) -> int:
    if wanted in layout.arms:
        return layout.arms.index(wanted)
    kind = _number_kind(wanted)
    for index, arm in enumerate(layout.arms):
        if kind is not None and _number_kind(arm) == kind:
            return index
    for index, arm in enumerate(layout.arms):
        if _same_arm(arm, wanted) or (is_container(wanted) and _same_arm(arm, _opened(wanted))):
            return index
    raise AssertionError(f"{_kinds(wanted)} is not an arm of {_kinds(layout)}")


def _kinds(layout: Layout) -> str:
    """A layout without the values in it, which a trace would take for being asked."""
    if isinstance(layout, Static):
        return f"the {type(layout.value).__name__}"
    if isinstance(layout, Leaf):
        return str(layout.type)
    inner = layout.arms if isinstance(layout, Arms) else getattr(layout, "parts", ())
    return f"{type(layout).__name__}({', '.join(map(_kinds, inner))})"


def rebuild(layout: Layout, values: Iterator[Any]) -> Any:
    """The Python value of that layout around graph values (or, when a graph has run, around tensors)."""
    if isinstance(layout, Static):
        region = current_region()
        if region is None:
            return untraced_copy(layout.value)
        if type(layout.value) in PLAIN and not region.is_inside(layout.value._home):
            layout.value._home = region  # what a region made belongs to who gets it
        return layout.value
    if isinstance(layout, Never):
        return None
    if isinstance(layout, Leaf):
        value = next(values)
        if layout.wrap is not None:
            return layout.wrap(value)
        return SymbolicTensor(value) if isinstance(value, Value) else value
    if isinstance(layout, Parts):
        parts = [rebuild(part, values) for part in layout.parts]
        if layout.kind is dict and current_region() is None and layout.keys is not None:
            return {key: part for key, part in zip(layout.keys, parts, strict=True) if part is not MISSING}
        made: Any = pack(Template(layout.kind, layout.keys, (None,) * len(parts)), parts)
        return made if current_region() is None else traced(made)
    if isinstance(layout, Instance):
        parts = [rebuild(part, values) for part in layout.parts]
        if layout.keys == (HEAP,) and current_region() is None:
            return parts[0]
        return _rebuilt_instance(layout, parts)
    if isinstance(layout, Grown):
        return _rebuilt_list(layout, [next(values) for _ in leaf_types(layout)])
    tag = next(values)
    found = [rebuild(arm, values) for arm in layout.arms]
    if isinstance(tag, Value):
        return Variant(SymbolicTensor(tag), layout.arms, found)
    return found[int(tag)]


def _rebuilt_instance(layout: Instance, parts: list[Any]) -> Any:
    made: Any = object.__new__(layout.kind)
    held = dict(zip(layout.keys, parts, strict=True))
    made.__dict__ = GraphAttributes(held) if layout.keys == (HEAP,) else held
    region = current_region()
    if region is not None and region.trace.owned is not None:
        region.trace.owned[id(made)] = made, region
        if layout.shared:
            region.trace.frozen[id(made)] = made
    return made


def _rebuilt_list(layout: Grown, values: list[Any]) -> Any:
    if current_region() is not None:
        made = TracedList()
        made._items = Items(layout.element, values)
        return made
    types = list(leaf_types(layout.element))
    count = values[0].length if types else int(values[0])
    rows = [[EagerTensor(list_.get(i)) for list_ in values] for i in range(count)] if types else [[]] * count
    return [rebuild(layout.element, iter(row)) for row in rows]


def leaf_types(layout: Layout) -> Iterator[Type]:
    """The types of the graph values of a layout, in order."""
    if isinstance(layout, Leaf):
        yield layout.type
    elif isinstance(layout, (Parts, Instance)):
        for part in layout.parts:
            yield from leaf_types(part)
    elif isinstance(layout, Grown):
        inner = list(leaf_types(layout.element))
        yield from map(ListType, inner) if inner else [_weak_type(0)]
    elif isinstance(layout, Arms):
        yield _weak_type(0)
        for arm in layout.arms:
            yield from leaf_types(arm)


def absent(type_: Type, region: Region) -> Value:
    """A value that is never read."""
    return region.record("absent", [], {"type": type_}).results[0]


def _as_value(value: Any, region: Region) -> Value:
    return region.lift(value if isinstance(value, Value) else dispatch.graph_value(region, value))


def is_number_layout(layout: Layout) -> bool:
    if is_array_layout(layout):
        return False
    if isinstance(layout, Leaf):
        return layout.wrap is None and isinstance(layout.type, TensorType)
    return isinstance(layout, Static) and (
        isinstance(layout.value, (bool, int, float, complex, EagerTensor, np.ndarray, np.generic))
        or (not isinstance(layout.value, type) and hasattr(type(layout.value), "__autoconv_tensor__"))
    )


def _leaf(layout: Layout) -> Leaf:
    if isinstance(layout, Leaf):
        return layout
    assert isinstance(layout, Static)
    value = layout.value
    if isinstance(value, (bool, int, float, complex)):
        return Leaf(_weak_type(value))
    return Leaf(_typed(value))


def _opened(layout: Layout) -> Layout:
    """A static structure, taken apart."""
    region = current_region()
    if isinstance(layout, Static) and type(layout.value) in PLAIN and is_structure(layout.value) and region is not None:
        keys, parts = take_apart(layout.value)
        return Parts(plain_kind(layout.value), keys, tuple(layout_of(part, region) for part in parts))
    if isinstance(layout, Static) and is_structure(layout.value):
        keys, parts = take_apart(layout.value)
        return Parts(plain_kind(layout.value), keys, tuple(Static(part) for part in parts))
    return layout


def _joined_wrap(a: Layout, b: Layout) -> Any:
    """The wrap of two graph values that are not tensors, None where they are of different kinds."""
    if not isinstance(a, Leaf) or not isinstance(b, Leaf) or a.wrap is None or b.wrap is None:
        return None
    if a.wrap == b.wrap:
        return a.wrap
    join_wraps = getattr(a.wrap, "joined", None)
    return join_wraps(b.wrap) if join_wraps is not None else None


def _same_kind(a: Parts, b: Parts) -> bool:
    return a.kind is b.kind and a.keys == b.keys and len(a.parts) == len(b.parts)


def take_apart(value: Any) -> tuple[tuple[Any, ...] | None, list[Any]]:
    if isinstance(value, dict):
        return tuple(dict.keys(value)), list(dict.values(value))
    if isinstance(value, (list, tuple)):
        return None, list(value)
    leaves, template = flatten(value)
    assert template is not None and template.keys is not None
    del leaves
    return template.keys, [getattr(value, key) for key in template.keys]


def has_leaves(value: Any, region: Region) -> bool:
    """Whether a structure holds anything that is not static."""
    leaves, _ = flatten(value)
    return any(
        isinstance(leaf, (SymbolicTensor, Variant))
        or hasattr(type(leaf), "__autoconv_graph_value__")
        or home_of(leaf, region) is not None
        for leaf in leaves
    )


def _weak_type(value: Any) -> TensorType:
    return TensorType(weak_dtype(value), (), True)


def _typed(value: Any) -> TensorType:
    tensor = as_tensor(value)
    return tensor.type if tensor is not None else EagerTensor(to_array(value)).type


def _describe(layout: Layout) -> str:
    leaf = _leaf(layout)
    if isinstance(layout, Static) and isinstance(layout.value, (bool, int, float)):
        return f"the Python {type(layout.value).__name__} {layout.value!r}"
    return str(leaf.type)


__all__ = ["COMPILE", "ListType", "NEVER", "Layout", "Variant", "emit", "join_layouts", "layout_of", "rebuild"]
