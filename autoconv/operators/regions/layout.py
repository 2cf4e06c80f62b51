"""Layouts: which parts of a Python value are graph values when it crosses a region boundary.

`layout_join` joins layouts; `marshalling` converts values according to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

import numpy as np

from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType, ListType, ObjectType, TensorType, Type
from autoconv.operators.support.protected_names import Undefined
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import PLAIN_OF, GraphItems, heap_of, items_of
from autoconv.runtime.objects.rebuilt_arguments import is_rebuilt
from autoconv.runtime.objects.symbolic_objects import as_object
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.attributes import attributes_of, has_attributes
from autoconv.runtime.support.structure import flatten, is_structure, loses_state, structure_form, structure_parts
from autoconv.runtime.support.type_spec import is_composite, parts_of
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, to_array, weak_dtype
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


class Layout:
    """Base of the kinds of layouts; `field` names the field of its children, if it has some."""

    __slots__ = ()

    field: ClassVar[str] = ""

    @property
    def children(self) -> tuple[Layout, ...]:
        """The layouts of the parts of a value, or of its alternatives."""
        return getattr(self, self.field) if self.field else ()

    @property
    def alternatives(self) -> tuple[Layout, ...]:
        """The arms of a variant; any other layout by itself."""
        return (self,)

    def types(self) -> Iterator[Type]:
        """Yield the types of the graph values, in order."""
        for child in self.children:
            yield from child.types()

    def with_children(self, change: Callable[[Layout], Layout]) -> Layout:
        """Return the layout with each child changed."""
        whole: Any = self
        return dataclasses.replace(whole, **{self.field: tuple(map(change, self.children))}) if self.field else self


@dataclass(frozen=True, slots=True)
class Static(Layout):
    """The same Python object on all paths."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and is_same_object(self.value, other.value)

    def __hash__(self) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class Leaf(Layout):
    """One graph value; `wrap` builds the Python object around it (None: a tensor).

    A wrap is a hashable callable. Where two paths have different ones, `wrap.joined(other)` is the wrap that holds
    both, or None when there is none.
    """

    type: Type
    wrap: Any = None

    def types(self) -> Iterator[Type]:
        yield self.type


@dataclass(frozen=True, slots=True)
class Parts(Layout):
    """A structure, taken apart one level; the kind of a composite tensor is its type spec."""

    field: ClassVar[str] = "parts"

    kind: Any
    keys: tuple[Any, ...] | None
    parts: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Instance(Layout):
    """An object that traced code created, by its attributes. `shared`: it may have aliases."""

    field: ClassVar[str] = "parts"

    kind: type
    keys: tuple[str, ...]
    parts: tuple[Layout, ...]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Grown(Layout):
    """A list of run-time length: one tensor list for each graph value of an element.

    An element without graph values is represented by the length alone.
    """

    element: Layout

    def types(self) -> Iterator[Type]:
        inner = list(self.element.types())
        yield from map(ListType, inner) if inner else [weak_type(0)]


@dataclass(frozen=True, slots=True)
class Arms(Layout):
    """A variant: a tag, and the payloads of all arms."""

    field: ClassVar[str] = "arms"

    arms: tuple[Layout, ...]

    @property
    def alternatives(self) -> tuple[Layout, ...]:
        return self.arms

    def types(self) -> Iterator[Type]:
        yield weak_type(0)
        for arm in self.arms:
            yield from arm.types()


@dataclass(frozen=True, slots=True)
class Never(Layout):
    """The result of an arm that always raises: the bottom of the lattice."""


NEVER = Never()


class Items(GraphItems):
    """Items of a `Grown` list (see `values.tensor_lists`); `values` are the graph values of its layout."""

    __slots__ = ("element", "values")

    def __init__(self, element: Layout, values: Sequence[Value]) -> None:
        self.element = element
        self.values = tuple(values)

    def widen(self, element: Layout) -> Items:
        """Return the same items in a wider layout."""
        raise NotImplementedError


class Variant:
    """One of several values, selected by `tag` at run time.

    An operation on it applies to the one arm that is a value: None and undefined arms raise as in Python.
    """

    __slots__ = ("layouts", "tag", "values")

    def __init__(self, tag: Any, layouts: Sequence[Layout], values: Sequence[Any]) -> None:
        self.tag = tag
        self.layouts = tuple(layouts)
        self.values = tuple(values)


def is_same_object(a: Any, b: Any) -> bool:
    """Return whether two static values are one: identical, or equal plain constants of one type."""
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
    return type(a) is tuple and len(a) == len(b) and all(map(is_same_object, a, b))


def layout_of(value: Any, region: Region) -> Layout:
    """Return the layout of a value in its present state; numbers stay static."""
    if type(value) in PLAIN_OF and heap_of(value) is not None:
        value = heap_of(value)
    if type(value) is Items:
        return Grown(value.element)
    if type(value) in PLAIN_OF and _is_outer(value, region):
        return Static(value)  # it keeps its identity, and its contents are state of their own
    if items_of(value) is not None:
        return Grown(value._items.element)
    if isinstance(value, SymbolicTensor):
        return Leaf(region.lift(value.value_in_graph).type)
    if isinstance(value, Variant):
        return _variant_layout(value, region, lambda container: _is_outer(container, region))
    if type(value) is SymbolicArray and value.value_in_graph.graph is not region.graph:
        return Static(value)  # an array from outside the region stays itself
    is_made_in = getattr(type(value), "__autoconv_made_in__", None)
    if is_made_in is not None and region.contract.objects_in_graph and is_made_in(value, region):
        return Leaf(ObjectType(), as_object)
    wrapper = getattr(type(value), "__autoconv_graph_value__", None)
    if wrapper is not None and type(value) not in PLAIN_OF:
        # A value whose recording is deferred provides its type.
        graph_type = getattr(value, "__autoconv_graph_type__", None)
        return Leaf(graph_type or as_value(wrapper(value), region).type, value.__autoconv_wrap__())
    if is_structure(value) and not _is_indivisible(value, region) and has_leaves(value, region):
        keys, parts = take_apart(value)
        return Parts(structure_form(value), keys, tuple(layout_of(part, region) for part in parts))
    home = home_of(value, region)
    if home is not None and home.is_inside(region) and has_attributes(value):
        return instance_layout(value, region, id(value) in region.trace.frozen)
    return Static(value)


def _variant_layout(variant: Variant, region: Region, keeps_identity: Callable[[Any], bool]) -> Layout:
    """Return the layout of a variant, in which containers with `keeps_identity(container)` keep their identity.

    Under `compile`, a container that an arm took apart has no alias: only its parts matter.
    """

    def arm_layout(layout: Layout, value: Any) -> Layout:
        if is_container(layout) and keeps_identity(layout.value):
            return layout
        is_plain = type(value) in PLAIN_OF and heap_of(value) is None and not region.contract.keeps_identity
        if is_plain and keeps_identity(value):
            return Static(value)
        return open_layout(layout_of(value, region), region)

    arms = tuple(map(arm_layout, variant.layouts, variant.values))
    if sum(map(is_object_layout, arms)) > 1:  # lists that have moved into the graph since
        return Leaf(ObjectType(), as_object)
    return Arms(arms)


def _is_indivisible(value: object, region: Region) -> bool:
    """Return whether a structure is one object to a region, because taking it apart would lose something."""
    return region.contract.keeps_identity and (loses_state(value) or _is_one_object(value, region))


def _is_outer(container: Any, region: Region) -> bool:
    """Return whether a list, dict or set was created before the region."""
    return region.is_inside(container._home) and container._home.merged_region is not region


def home_of(value: object, region: Region) -> Region | None:
    """Return the region in which traced code created an object; None for others."""
    owned = region.trace.owned
    owner = owned.get(id(value)) if owned else None
    return owner[1] if owner is not None and owner[0] is value else None


def is_created_here(value: object) -> bool:
    """Return whether this trace's code created the object."""
    region = current_region()
    return region is not None and home_of(value, region) is not None


def holds_created_here(value: object) -> bool:
    """Return whether a value is or contains such an object: it can be an arm of a variant but no graph object."""
    if type(value) is Variant:
        return any(map(holds_created_here, value.values))
    if not is_structure(value):
        return is_created_here(value)
    return any(map(holds_created_here, structure_parts(value)))


def instance_layout(value: object, region: Region, shared: bool = True) -> Instance:
    """Return the layout of an object by its attributes."""
    attributes = attributes_of(value)
    layouts = tuple(layout_of(part, region) for part in attributes.values())
    return Instance(type(value), tuple(attributes), layouts, shared)


def state_layout(value: object, region: Region) -> Layout:
    """Return the layout of a loop variable, in which numbers and arrays are expected to change."""
    if home_of(value, region) is not None or (type(value) in PLAIN_OF and heap_of(value) is None):
        return Static(value)
    if region.contract.python_numbers and is_number_subclass(value):
        return Static(value)
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return Leaf(weak_type(value))
    if type(value) is SymbolicArray:
        return Static(value)
    if isinstance(value, (EagerTensor, np.ndarray, np.generic)):
        return Leaf(value_type(value))
    if is_structure(value) and not isinstance(value, (list, dict)) and not _is_one_object(value, region):
        keys, parts = take_apart(value)
        return Parts(structure_form(value), keys, tuple(state_layout(part, region) for part in parts))
    if isinstance(value, Variant) and not region.contract.keeps_identity:
        return _variant_layout(value, region, lambda _: True)
    return layout_of(value, region)


def is_container(layout: Layout) -> TypeGuard[Static]:
    """Return whether the layout is a tracked list, dict or set with its identity."""
    return isinstance(layout, Static) and type(layout.value) in PLAIN_OF


def is_array_layout(layout: Layout) -> bool:
    """Return whether the layout is of a memory array."""
    if isinstance(layout, Static):
        return type(layout.value) is SymbolicArray
    return isinstance(layout, Leaf) and isinstance(layout.type, ArrayType)


def is_object_layout(layout: Layout) -> bool:
    return isinstance(layout, Leaf) and isinstance(layout.type, ObjectType)


def as_value(value: object, region: Region) -> Value:
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


def open_layout(layout: Layout, region: Region | None = None) -> Layout:
    """Take a static structure apart, whose parts are values of the region; without one, of the current region."""
    region = current_region() if region is None else region
    value = layout.value if isinstance(layout, Static) else None
    if region is not None and type(value) in PLAIN_OF and is_structure(value):
        keys, parts = take_apart(value)
        return Parts(structure_form(value), keys, tuple(layout_of(part, region) for part in parts))
    if isinstance(layout, Static) and is_structure(layout.value) and not _keeps_identity(layout.value, region):
        keys, parts = take_apart(layout.value)
        return Parts(structure_form(layout.value), keys, tuple(Static(part) for part in parts))
    return layout


def _keeps_identity(value: object, region: Region | None) -> bool:
    """Return whether a structure is an object of the program, of a dataclass or a container from outside."""
    is_outer = region is not None and region.contract.keeps_identity and isinstance(value, (list, dict))
    return is_outer or _is_one_object(value, region)


def _is_one_object(value: object, region: Region | None) -> bool:
    """Return whether a structure is a dataclass object of the program, which keeps its identity."""
    if region is None or not region.contract.keeps_identity or not dataclasses.is_dataclass(value):
        return False
    return id(value) not in region.trace.reassembled and not is_rebuilt(value)


def take_apart(value: object) -> tuple[tuple[Any, ...] | None, list[Any]]:
    if is_composite(value):
        return None, parts_of(value)
    if isinstance(value, dict):
        return tuple(dict.keys(value)), list(dict.values(value))
    if isinstance(value, (list, tuple)):
        return None, list(value)
    leaves, template = flatten(value)
    assert template is not None and template.keys is not None
    del leaves
    return template.keys, [getattr(value, key) for key in template.keys]


def has_leaves(value: object, region: Region) -> bool:
    """Return whether a structure holds anything that is not static."""
    leaves, _ = flatten(value, lambda part: region.contract.keeps_identity and home_of(part, region) is not None)
    return any(
        isinstance(leaf, (SymbolicTensor, Variant))
        or hasattr(type(leaf), "__autoconv_graph_value__")
        or home_of(leaf, region) is not None
        for leaf in leaves
    )


def is_number_subclass(value: object) -> bool:
    """Return whether a value is a number of a subclass of Python's classes of numbers, such as an IntEnum."""
    if not isinstance(value, (int, float, complex)) or isinstance(value, np.generic):
        return False
    return type(value) not in (bool, int, float, complex)


def weak_type(value: object) -> TensorType:
    return TensorType(weak_dtype(value), (), True)


def value_type(value: object) -> TensorType:
    tensor = as_tensor(value)
    return tensor.type if tensor is not None else EagerTensor(to_array(value)).type
