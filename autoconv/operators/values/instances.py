"""Instances of user-defined classes that traced code creates and stores in a container or name of the graph.

They are moved into the graph at that point; Python keeps a stand-in that reads and writes there.
"""

from __future__ import annotations

import dataclasses
import inspect
import reprlib
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.regions.shared_identity import class_name, require_identity
from autoconv.operators.regions.value_layout import is_created_here
from autoconv.operators.support.optional_attributes import (
    REDIRECTING_METHODS,
    check_presence_on_read,
    redirect_attributes,
)
from autoconv.operators.values.builtins import convert_callback
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.objects import symbolic_objects
from autoconv.runtime.objects.containers import UnmovedError, is_optional
from autoconv.runtime.objects.symbolic_objects import ObjectMethod, SymbolicObject, graph_object, record_object
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, Trace, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import HEAP, GraphAttributes, instance_attributes
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.support.spans import current_place

# Special methods that Python calls by itself and no operator covers (see `autoconv.operators.calls.object_operators`).
_UNSUPPORTED_METHODS = (
    "__next__", "__hash__", "__str__", "__repr__", "__format__", "__index__", "__int__", "__float__", "__complex__",
    "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__reversed__", "__missing__",
)  # fmt: skip


def move_instance_into_graph(value: object) -> SymbolicObject:
    """Move an instance of a user-defined class into the graph, at the current point of the region being recorded."""
    result = graph_object(value)
    if result is not None:
        return result
    region = current_region()
    assert region is not None
    _require_movable(type(value))
    if id(value) in region.trace.frozen_objects:  # a copy rebuilt after a branch, which would part from its original
        require_identity(value)
    if sys.getrefcount(vars(value)) > 2:  # references by the object itself and by this call
        raise StagingError(
            f"another name refers to the __dict__ of {with_article(type(value))}, and the object becomes part of the "
            "graph", current_place(), "the attributes by their names",
        )  # fmt: skip
    assert region.trace.created_objects is not None
    _, creating_region = region.trace.created_objects[id(value)]
    is_nested = region.journal is None and region.parent is not None and region.is_inside(creating_region)
    if is_nested and creating_region.merged_region is not region:  # it has to move before this region
        raise UnmovedError(value)
    attributes = instance_attributes(value)
    for name in filter(lambda name: is_optional(attributes[name]), attributes):
        raise StagingError(
            f"whether {with_article(type(value))} that becomes part of the graph has the attribute {name!r} depends on "
            "a tensor", current_place(), "an attribute that is None where there is no value",
        )  # fmt: skip
    if region.journal is not None:
        region.journal.record(instance_location(value, region.trace))
    heap: SymbolicObject = record_object(
        "object_make", list(attributes.values()), class_=type(value), names=tuple(attributes)
    )
    for name in attributes:
        check_presence_on_read(region, value, name)
    _replace_attributes(value, GraphAttributes({HEAP: heap}))
    redirect_attributes(region, type(value))
    _register_class_in_graph(region.trace, type(value), tuple(attributes))
    return heap


def _register_class_in_graph(trace: Trace, kind: type, names: tuple[str, ...]) -> None:
    """Register a class; restart the trace if it may have recorded an operation on an instance of that class."""
    may_have_missed_class = trace.is_dispatched_on_class and kind not in trace.created_classes
    if may_have_missed_class and trace.contract.objects_in_graph and _has_operators(kind):
        # Each trace creates such a class anew, so that a restart would not help.
        if any(class_name(other_kind) == class_name(kind) for other_kind in trace.created_classes):
            raise StagingError(
                f"the class {kind.__name__} is defined in the function itself and has special methods, and objects of "
                "it become part of a value known only at run time", current_place(), "a class outside of the function",
            )  # fmt: skip
        trace.contract.restart("made", (kind, names))
    trace.created_classes.add(kind)


def expect_class_in_graph(region: Region, kind: type, names: Sequence[str]) -> None:
    """Announce from the start of a region that instances of the class, with these attributes, will be in the graph."""
    sample: Any = object.__new__(kind)
    for name in names:
        check_presence_on_read(region, sample, name)
    redirect_attributes(region, kind)
    region.trace.created_classes.add(kind)


def _has_operators(kind: type) -> bool:
    """Return whether the class defines special methods other than those that initialise its instances."""
    return any(is_user_defined(method) for name, method in inspect.getmembers(kind) if _is_operator(name))


def _is_operator(name: str) -> bool:
    """Return whether a special method of that name is called for an operation on an existing instance."""
    return name.startswith("__") and name.endswith("__") and name not in ("__init__", "__post_init__", "__getattr__")


def move_eagerly(instance: Any) -> None:
    """Move a new object into the graph at once if the trace was restarted to keep identities of its class."""
    region = current_region()
    names = frozenset[str]() if region is None else region.trace.classes_made_in_graph
    if class_name(type(instance)) in names and is_created_here(instance):
        move_instance_into_graph(instance)


def instance_location(value: object, trace: Trace) -> Location:
    """Return the location of an object's state, which is its attributes, or its graph object once it has one."""

    def read() -> Any:
        heap = graph_object(value)
        return tuple(instance_attributes(value).items()) if heap is None else heap

    def write(contents: Any) -> None:
        _replace_attributes(
            value, GraphAttributes({HEAP: contents}) if type(contents) is SymbolicObject else dict(contents)
        )

    _, creating_region = (None, None) if trace.created_objects is None else trace.created_objects[id(value)]
    return Location((id(value), HEAP), with_article(type(value)), read, write, value, creating_region, "instance")


def create_stand_in(kind: type, heap: SymbolicObject, region: Region) -> Any:
    """Create Python's stand-in for an instance of that class in the graph."""
    result: Any = object.__new__(kind)
    _replace_attributes(result, GraphAttributes({HEAP: heap}))
    assert region.trace.created_objects is not None
    region.trace.created_objects[id(result)] = result, region
    return result


class InstanceMethod(BoundSymbolicMethod[SymbolicObject]):
    """A bound method `x.name` of a graph object that may be an instance of a user-defined class."""

    __slots__ = ("kinds",)

    def __init__(self, owner: SymbolicObject, name: str, kinds: Sequence[type]) -> None:
        super().__init__(owner, name)
        self.kinds = kinds

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        def call_method(instance: Any) -> Any:
            return convert_callback(getattr(instance, self.name))(*args, **kwargs)

        method_by_name = ObjectMethod(self.owner, self.name)
        return dispatch_on_class(self.owner, self.kinds, call_method, lambda: method_by_name(*args, **kwargs))


def user_class_attribute(value: SymbolicObject, name: str) -> Any:
    """`value.name` if a class with instances in the graph has a method or property of that name; or NotImplemented."""
    region = current_region()
    classes = region.trace.created_classes if region is not None else ()
    attributes = {kind: getattr(kind, name, None) for kind in classes}
    kinds = [kind for kind, attribute in attributes.items() if isinstance(attribute, (FunctionType, property))]
    if not kinds:
        return NotImplemented
    kinds.sort(key=lambda kind: (-len(kind.__mro__), kind.__qualname__))  # subclasses first
    if not any(isinstance(attributes[kind], property) for kind in kinds):
        return InstanceMethod(value, name, kinds)
    get_by_name = lambda: record_object("object_get_attribute", [value], name=name)
    return dispatch_on_class(value, kinds, lambda instance: getattr(instance, name), get_by_name)


def dispatch_on_class(
    value: SymbolicObject, kinds: Sequence[type], apply_to_instance: Callable[[Any], Any], otherwise: Callable[[], Any]
) -> Any:
    """Dispatch on the class of the object, with one arm for each class that it may have."""
    if not kinds:
        return otherwise()
    kind, *other_kinds = kinds

    def apply_as_kind() -> tuple[Any]:
        """Apply the operation to a stand-in of the first class; its errors are those of the program."""
        region = current_region()
        assert region is not None
        try:
            return (apply_to_instance(create_stand_in(kind, value, region)),)
        except (TypeError, AttributeError) as error:  # the program raises it if this arm runs
            as_program_error(error)
            raise

    test = record_object("object_isinstance", [value], kinds=kind)
    arms = [apply_as_kind, lambda: (dispatch_on_class(value, other_kinds, apply_to_instance, otherwise),)]
    (result,) = stage_arms(test, arms, [], ("attribute",))
    return result


def _replace_attributes(value: object, attributes: dict[str, Any]) -> None:
    object.__setattr__(value, "__dict__", attributes)  # bypasses the `__setattr__` of frozen classes


def _require_movable(kind: type) -> None:
    """Raise StagingError for an exception, or a class with a metaclass, slots or unsupported special methods."""
    special_methods = [name for name in _UNSUPPORTED_METHODS if is_user_defined(getattr(kind, name, None))]
    has_plain_layout = type(kind) is type and hasattr(kind, "__dict__") and not hasattr(kind, "__slots__")
    has_plain_layout &= not issubclass(kind, BaseException)  # see `operators/calls/created_exceptions.py`
    if special_methods or not has_plain_layout:
        reason = f", and has {special_methods[0]}" if special_methods else ""
        raise StagingError(
            f"{with_article(kind)} created here becomes part of a value known only at run time{reason}", current_place()
        )


# The special methods of descriptors.
DESCRIPTOR_METHODS = ("__get__", "__set__", "__delete__")


def refuse_hook(owner: Any, hook: str) -> None:
    """Raise StagingError where a user-defined method intercepts all attribute writes of an object.

    A method that only watches for attributes with a checkpoint's value to restore may run while tracing, unless writes
    happen when the graph runs.
    """
    method = getattr(type(owner), hook, None)
    region = current_region()
    if hasattr(method, "__autoconv_only_restores__") and region and not region.contract.effects_each_call:
        return
    if is_user_defined(method):
        raise StagingError(
            f"{type(owner).__name__} defines {hook}, which would run for what a trace writes and undoes",
            current_place(), "a property with a setter, or a method with a name of its own",
        )  # fmt: skip


def has_user_descriptor(owner: Any, attribute: str) -> bool:
    """Return whether writes to an attribute run a user-defined descriptor; what that writes is journalled."""
    class_attribute = inspect.getattr_static(type(owner), attribute, None)
    if hasattr(class_attribute, "__autoconv_maybe_missing__"):
        return False
    methods = (getattr(type(class_attribute), name, None) for name in DESCRIPTOR_METHODS[1:])
    return isinstance(class_attribute, property) or any(map(is_user_defined, methods))


def is_user_defined(method: object) -> bool:
    """Return whether a special method is user-defined, not generated by `dataclass`."""
    if not isinstance(method, FunctionType) or method in REDIRECTING_METHODS:
        return False
    code = method.__code__
    if code.co_filename == reprlib.__file__:  # this module wraps each `__repr__` of a dataclass from Python 3.13 on
        code = inspect.unwrap(method).__code__
    return code.co_filename not in ("<string>", dataclasses.__file__)


symbolic_objects.register_object_hooks(move_instance_into_graph, user_class_attribute)
