"""The journal of Python mutations made while a region is traced.

A write to an attribute, a container or a shared name is recorded before it happens. At the end of the region, the new
value is collected and the old one restored, so that the region can return the new value as state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from inspect import getattr_static
from types import FunctionType, WrapperDescriptorType
from typing import Any

from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.support.attributes import (
    dict_of,
    has_dict,
    has_instance_attribute,
    has_method,
    has_plain_dict,
    instance_attributes,
    is_in_graph,
)


class Missing:
    """The class of MISSING, which stands for the value of an attribute or name that has none."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Location:
    """A mutable location: its accessors, its name in messages, and a key that identifies it.

    `home` is the region in which its owner was made, None for an owner from before the trace.
    """

    key: tuple[Any, ...]
    name: str
    read: Callable[[], Any]
    write: Callable[[Any], None]
    owner: Any = None
    home: Any = None
    kind: str = ""  # "attribute", "cell", "global" or "item"; "" for the contents of a container
    _reader: Callable[[], Any] | None = None

    @property
    def reader(self) -> Callable[[], Any]:
        """The function that reads the location outside of traces: faster than `read` for an object's attribute."""
        if self._reader is None:
            object.__setattr__(self, "_reader", _make_reader(self))
        assert self._reader is not None
        return self._reader


@dataclass(slots=True)
class Journal:
    """The locations written by one region, with their values before.

    Writes to objects made in the region `home` itself are left out. In an attempt, which may be rolled back, `home` is
    None and all writes count. `outer` is the journal of the enclosing region.
    """

    home: Any = None
    locations: dict[tuple[Any, ...], Location] = field(default_factory=dict)
    old_values: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    outer: Journal | None = None
    inherited_keys: set[tuple[Any, ...]] = field(default_factory=set)  # attributes that only the classes held before

    def all_locations(self) -> Iterator[tuple[tuple[Any, ...], Location]]:
        """Iterate over pairs (key, location) for all writes so far, of the region and of the enclosing ones."""
        yield from self.locations.items()
        if self.outer is not None:
            yield from self.outer.all_locations()

    def record(self, location: Location) -> None:
        """Record that a location is about to be written, with its present value."""
        if self._is_first_outside_write(location):
            self.locations[location.key] = location
            self.old_values[location.key] = location.read()
            if _is_inherited(location) and self.old_values[location.key] is not MISSING:
                self.inherited_keys.add(location.key)

    def _is_first_outside_write(self, location: Location) -> bool:
        """Return whether a write to the location is the first one, and its owner was not made in the region."""
        is_made_in_region = None not in (location.home, self.home) and location.home.is_inside(self.home)
        return location.key not in self.locations and not is_made_in_region

    def merge_into(self, outer: Journal | None) -> None:
        """Merge the records into `outer`, the journal of the enclosing region."""
        if outer is not None:
            for key, location in self.locations.items():
                if outer._is_first_outside_write(location):
                    outer.locations[key], outer.old_values[key] = location, self.old_values[key]
                    outer.inherited_keys |= {key} & self.inherited_keys

    def roll_back(self) -> dict[tuple[Any, ...], Any]:
        """Restore the old values; return the new ones by key."""
        new_values = {key: location.read() for key, location in self.locations.items()}
        # In reverse order, as an object may have moved into the graph after its attributes had changed.
        for key, location in reversed(self.locations.items()):
            if key in self.inherited_keys:  # the old value is the class's; the object gets rid of its own one
                if not _is_inherited(location):
                    _builtin_accessor(location.owner, "__delattr__")(location.owner, location.key[-1])
            elif new_values[key] is not self.old_values[key]:
                location.write(self.old_values[key])
        return new_values


def _is_inherited(location: Location) -> bool:
    """Return whether a location is an attribute that the object has from its class alone."""
    owner, name = location.owner, location.key[-1]
    if location.kind != "attribute" or not has_dict(owner):
        return False
    has_own_value = name in vars(owner) if isinstance(owner, type) else has_instance_attribute(owner, name)
    if has_own_value:
        return False
    # The descriptor of a slot has __set__, and the object itself holds the value.
    return not hasattr(type(getattr_static(type(owner), name, None)), "__set__")


def attribute_location(owner: object, name: str, home: object = None) -> Location:
    """Return the location of an attribute of an object, which was made in the region `home`."""

    def read() -> Any:
        """Return the attribute's value without running code of the program; MISSING where there is none."""
        if _is_behind_descriptor(owner, name):
            return instance_attributes(owner)[name]
        if _has_python_getter(getattr_static(type(owner), name, None)) and not has_instance_attribute(owner, name):
            return MISSING
        if is_in_graph(owner):
            return MISSING  # deleted before the object moved into the graph
        if hasattr(type(owner), "__getattr__") and not _has_attribute(owner, name):
            return MISSING  # the program's method would run, and compute a value
        return getattr(owner, name, MISSING)

    def write(value: object) -> None:
        """Set the attribute without running code of the program; delete it for MISSING."""
        if value is not MISSING and _is_behind_descriptor(owner, name):
            dict.__setitem__(dict_of(owner), name, value)
        elif value is MISSING:
            if _has_attribute(owner, name):
                _builtin_accessor(owner, "__delattr__")(owner, name)
        else:
            _builtin_accessor(owner, "__setattr__")(owner, name, value)

    class_ = owner if isinstance(owner, type) else type(owner)
    location_name = f"{class_.__name__}.{name}"
    return Location((id(owner), name), location_name, read, write, owner, home=home, kind="attribute")


def _has_attribute(owner: object, name: str) -> bool:
    """Return whether an object or its class has an attribute of that name; no code of the program runs."""
    if isinstance(owner, type):
        return getattr_static(owner, name, MISSING) is not MISSING
    return has_instance_attribute(owner, name) or has_method(owner, name)


def _is_behind_descriptor(owner: object, name: str) -> bool:
    """Return whether an object holds an attribute of that name, and its class a data descriptor, which precedes it."""
    descriptor_class = type(getattr_static(type(owner), name, None))
    return hasattr(descriptor_class, "__set__") and has_instance_attribute(owner, name)


def _builtin_accessor(owner: object, method: str) -> Callable[..., Any]:
    """Return the function that sets or deletes an attribute without running methods of the program."""
    accessor = getattr(type(owner), method)
    is_of_program = isinstance(accessor, FunctionType) and not accessor.__module__.startswith("autoconv.")
    return getattr(type if isinstance(owner, type) else object, method) if is_of_program else accessor


def _make_reader(location: Location) -> Callable[[], Any]:
    """Return the function that reads a location outside of traces."""
    name = location.key[-1]
    if (
        location.kind != "attribute"
        or not has_plain_dict(location.owner)
        or getattr_static(type(location.owner), name, None) is not None
    ):
        return location.read
    return functools.partial(_instance_attribute, location.owner, name)


def _instance_attribute(owner: object, name: str) -> Any:
    try:
        return object.__getattribute__(owner, name)
    except AttributeError:
        return MISSING


def item_location(owner: list[Any], position: int) -> Location:
    """Return the location of one item of a list, where the item is an array."""

    def read() -> Any:
        return owner[position] if position < len(owner) else MISSING

    def write(value: object) -> None:
        owner[position] = value

    return Location((id(owner), position), f"item {position} of a list", read, write, owner, kind="item")


def _has_python_getter(attribute: Any) -> bool:
    """Return whether a class attribute has a `__get__` written in Python, as cached properties have."""
    get = getattr(type(attribute), "__get__", None)
    return get is not None and not isinstance(get, WrapperDescriptorType)


def cell_locations(
    getter: Callable[[], tuple[Any, ...]], names: tuple[str, ...], homes: Mapping[int, Any]
) -> list[Location]:
    """Return the location of each of the shared names that the function `getter` reads: a cell, or a global name.

    `homes` are the cells of the functions being traced, by identity (`Trace.cells`).
    """
    cells = dict(zip(getter.__code__.co_freevars, getter.__closure__ or (), strict=True))
    locations = []
    for name in names:
        cell = cells.get(name)
        if cell is None:
            locations.append(global_location(getter.__globals__, name))
        else:
            _, home = homes.get(id(cell), (None, None))
            locations.append(cell_location(cell, name, home))
    return locations


def cell_location(cell: Any, name: str, home: object = None) -> Location:
    """Return the location of a shared local name; `home` is the region in which its function was called."""

    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING

    def write(value: object) -> None:
        if value is MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = value

    return Location((id(cell),), name, read, write, cell, home=home, kind="cell")


def global_location(namespace: dict[str, Any], name: str) -> Location:
    """Return the location of a global name of a module."""

    def read() -> Any:
        return namespace.get(name, MISSING)

    def write(value: object) -> None:
        if value is MISSING:
            namespace.pop(name, None)
        else:
            namespace[name] = value

    return Location((id(namespace), name), name, read, write, namespace, kind="global")
