"""Attributes whose presence a tensor decides: reading a missing one raises AttributeError when the graph runs."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from autoconv.errors import StagingError
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of, is_optional
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, graph_object, record_object
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import HEAP, has_dict, instance_attribute, instance_attributes
from autoconv.runtime.support.spans import current_place


class MaybeMissing:
    """Descriptor that replaces a class attribute during a trace in which some instances may lack that attribute.

    `replaced_attribute` is the attribute of the class that it replaces.
    """

    __autoconv_maybe_missing__ = True

    def __init__(self, name: str, replaced_attribute: object) -> None:
        self.name = name
        self.replaced_attribute = replaced_attribute

    def __get__(self, instance: object, owner: object = None) -> Any:
        if instance is None:
            return self._read_class_attribute(None, owner)
        attributes = instance_attributes(instance)
        if HEAP in attributes and current_region() is not None:
            return record_object("object_get_attribute", [attributes[HEAP]], name=self.name)
        if self.name not in attributes:
            return self._read_class_attribute(instance, type(instance))
        value = attributes[self.name]
        if not is_optional(value) or current_region() is None:
            return value
        class_name = type(instance).__name__
        error = AttributeError(f"{class_name!r} object has no attribute {self.name!r}")
        return value.__autoconv_present__(MISSING, error)

    def _read_class_attribute(self, instance: Any, owner: Any) -> Any:
        """Read the attribute as the classes define it; raise Python's AttributeError if none does."""
        attribute: Any = MISSING
        for base in owner.__mro__:
            if attribute is MISSING:
                attribute = vars(base).get(self.name, MISSING)
                attribute = attribute.replaced_attribute if isinstance(attribute, MaybeMissing) else attribute
        if attribute is MISSING:
            owner_text = f"type object {owner.__name__!r}" if instance is None else f"{owner.__name__!r} object"
            error = AttributeError(f"{owner_text} has no attribute {self.name!r}", name=self.name, obj=instance)
            if instance is None or graph_object(instance) is None:
                mark_program_error(error)
            raise error
        return attribute.__get__(instance, owner) if hasattr(type(attribute), "__get__") else attribute

    def __set__(self, instance: object, value: object) -> None:
        dict.__setitem__(vars(instance), self.name, value)

    def __delete__(self, instance: object) -> None:
        if self.name not in instance_attributes(instance):
            raise AttributeError(self.name)
        dict.__delitem__(vars(instance), self.name)


def optional_value(owner: object, name: str) -> Any:
    """Return an attribute's value, a variant, if a tensor decides whether the attribute is present; None otherwise."""
    value = instance_attribute(owner, name) if isinstance(name, str) else None
    return value if is_optional(value) else None


def check_presence_on_read(region: Region, owner: object, name: str) -> None:
    """Make reads of the attribute check its presence until the trace ends."""
    cls = type(owner)
    class_attribute = vars(cls).get(name, MISSING)
    if isinstance(class_attribute, MaybeMissing):
        return
    if not has_dict(owner):
        raise StagingError(
            f"whether {with_article(cls)}, which has slots, has the attribute {name!r} depends on a tensor",
            current_place(),
            "an attribute that is None where there is no value",
        )  # fmt: skip
    region.trace.replaced_class_attributes[cls, name] = class_attribute
    setattr(cls, name, MaybeMissing(name, class_attribute))


class _GraphAttribute:
    """`__getattr__` of a class with instances in the graph, where an alias may have set further attributes."""

    def __get__(self, instance: object, owner: object = None) -> Any:
        return self if instance is None else functools.partial(self._read_attribute, instance)

    def _read_attribute(self, instance: object, name: str) -> Any:
        """Read an attribute that Python did not find from the graph object; raise AttributeError without one."""
        kind = type(instance)
        attribute = inspect.getattr_static(kind, name, MISSING)
        if attribute is not MISSING and not isinstance(attribute, MaybeMissing):
            raise StagingError(
                f"the attribute {name!r} of {with_article(kind)} raises AttributeError, and others of its class are in "
                "the graph",
                current_place(),
            )
        heap = graph_object(instance)
        is_special = name.startswith("__") and name.endswith("__")
        if heap is not None and current_region() is not None and not is_special:
            return record_object("object_get_attribute", [heap], name=name)
        error = AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=instance)
        raise mark_program_error(error)


def _set_attribute(self: Any, name: str, value: object) -> None:
    """`__setattr__` of a class with instances in the graph, for unconverted code and Python's own setters."""
    heap = _heap_for(self, name)
    if heap is None:
        object.__setattr__(self, name, value)
    else:
        record_object("object_set_attribute", [heap, value], name=name)


def _delete_attribute(self: Any, name: str) -> None:
    """`__delattr__` of a class with instances in the graph, for unconverted code and Python's own deleters."""
    heap = _heap_for(self, name)
    if heap is None:
        object.__delattr__(self, name)
    else:
        record_object("object_delete_attribute", [heap], name=name)


def _heap_for(owner: object, name: str) -> SymbolicObject | None:
    """Return the graph object that holds the attribute; None for one that a descriptor of the class handles."""
    attribute = inspect.getattr_static(type(owner), name, None)
    if name == "__dict__" or (not isinstance(attribute, MaybeMissing) and hasattr(type(attribute), "__set__")):
        return None
    return graph_object(owner) if current_region() is not None else None


def redirect_attributes(region: Region, cls: type) -> None:
    """Until the trace ends, look up attributes of instances in the graph there if Python does not find them."""
    _install_stand_in(region, cls, "__getattr__", _GraphAttribute())
    _install_stand_in(region, cls, "__setattr__", _set_attribute)
    _install_stand_in(region, cls, "__delattr__", _delete_attribute)


REDIRECTING_METHODS = frozenset({_set_attribute, _delete_attribute})


def _install_stand_in(region: Region, cls: type, name: str, value: object) -> None:
    """Replace an attribute of a class until the trace ends, unless the trace has replaced it already."""
    if (cls, name) not in region.trace.replaced_class_attributes:
        region.trace.replaced_class_attributes[cls, name] = vars(cls).get(name, MISSING)
        setattr(cls, name, value)


def has_attribute(x: object, name: str) -> Any:
    """`hasattr(x, name)` for a container or an object known only at run time; NotImplemented for others."""
    if type(x) in TRACED_TO_PLAIN and heap_of(x) is None:
        return hasattr(TRACED_TO_PLAIN[type(x)](), name)  # without the names that the trace adds
    heap = x if type(x) is SymbolicObject else graph_object(x)
    if heap is None:
        return NotImplemented
    if heap is not x:
        attribute = inspect.getattr_static(type(x), name, MISSING)
        if isinstance(attribute, property):
            raise StagingError(f"hasattr would run the property {name!r} of an object in the graph", current_place())
        if attribute is not MISSING and not isinstance(attribute, MaybeMissing):
            return True
    return record_object("object_truth", [apply_object("hasattr", heap, name)])
