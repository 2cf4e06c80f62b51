"""The attributes `__autoconv_…__` by which parts of the package recognise objects whose classes they cannot import.

Each protocol declares one attribute. They are looked up on the class of a value, but for marks of functions, which are
attributes of the function itself. A test lists attributes that are not declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from autoconv.graph.graph import Value
    from autoconv.graph.types import Type

# Values that stand for tensors, or for values of the graph


class SupportsTensor(Protocol):
    """A value that is read as a tensor: a variable, or an array in memory."""

    def __autoconv_tensor__(self) -> Any:
        """Return the tensor."""


class HasHandlers(Protocol):
    """A composite with handlers of public functions in a module that may not be imported yet."""

    __autoconv_handlers__: ClassVar[str]  # the name of the module


class SupportsGraphValue(Protocol):
    """A value that is one value of the graph in itself: an object, an array in memory, a tensor array."""

    def __autoconv_graph_value__(self) -> Value:
        """Return the value of the graph."""

    def __autoconv_wrap__(self) -> Callable[[Any], Any]:
        """Return the function that makes such an object of another value of the graph."""


class SupportsGraphType(Protocol):
    """A value whose recording is deferred: its type is known before its value is recorded."""

    @property
    def __autoconv_graph_type__(self) -> Type:
        """Return the type that its value of the graph will have."""


class SupportsResource(Protocol):
    """A resource, such as the storage of a variable or the state of an iterator."""

    def __autoconv_resource__(self, region: Any) -> Value:
        """Return the value by which the region refers to the resource."""


class SupportsRunValue(Protocol):
    """A leaf of an argument that a graph takes in another form."""

    def __autoconv_run_value__(self) -> Any:
        """Return what the graph takes in its place."""


class SupportsSpec(Protocol):
    """An argument that is described by a spec of its own in the cache key, under `function`."""

    def __autoconv_spec__(self) -> Any:
        """Return the spec, which makes a placeholder of a value of the graph."""


class SupportsStack(Protocol):
    """A list whose number of items is symbolic."""

    def __autoconv_stack__(self) -> Any:
        """Stack the items into one tensor; return None where their number is known."""


class SupportsBinary(Protocol):
    """An array in memory; operators on it return a new one."""

    def __autoconv_binary__(self, op: str, operands: Sequence[Any]) -> Any:
        """Apply a binary operator; the result is a new array."""


# Containers and objects


class SupportsBox(Protocol):
    """A value with a form of its own as an object of the graph."""

    def __autoconv_box__(self) -> Any:
        """Return the object of the graph."""


class SupportsMadeIn(Protocol):
    """A value that becomes an object of the graph at the end of the region to which it belongs."""

    def __autoconv_made_in__(self, region: Any) -> bool:
        """Return whether the value belongs to the region."""


class StandsForPlain(Protocol):
    """A class of tracked containers: it stands for one of Python's."""

    __autoconv_plain__: ClassVar[type]


class HasHeap(Protocol):
    """An instance of the program whose attributes are in an object of the graph."""

    __autoconv_heap__: Any


class IsOptionalAttribute(Protocol):
    """A descriptor in the place of an attribute that may be missing at run time."""

    __autoconv_maybe_missing__: ClassVar[bool]


# Values that exist on some paths only


class SupportsDefined(Protocol):
    """The value of a name that may be unassigned at run time."""

    def __autoconv_defined__(self, is_outer: bool) -> Any:
        """Return the value for a read of the name, which raises at run time where it is unassigned."""


class SupportsAssigned(Protocol):
    """The return value of a function that returns nothing on some paths."""

    def __autoconv_assigned__(self) -> Any:
        """Return the value, with None for paths without a return statement."""


class SupportsPresent(Protocol):
    """The value of a key that may be missing at run time."""

    def __autoconv_present__(self, mark: Any, error: BaseException) -> Any:
        """Return the value, which raises the error at run time where it is the mark."""


class IsStaged(Protocol):
    """An iterable, such as a range with symbolic bounds, that only a loop of the graph can iterate over."""

    __autoconv_staged__: ClassVar[bool]


# Datasets


class SupportsStream(Protocol):
    """A dataset or its iterator, which loops of the graph iterate over."""

    def __autoconv_stream__(self) -> Any:
        """Return a new stream of elements."""


class SupportsBuiltins(Protocol):
    """A class with its own form of some builtins, such as `zip` and `enumerate`."""

    __autoconv_builtins__: ClassVar[dict[Any, Callable[..., Any]]]


# Marks of functions


class IsFunction(Protocol):
    """A callable with its own behaviour under trace, such as a decorated function."""

    __autoconv_function__: ClassVar[bool]


class IsNotConverted(Protocol):
    """A function that is never converted."""

    __autoconv_do_not_convert__: bool


class IsReplay(Protocol):
    """A function that only runs a saved graph: its traces are counted apart from those of other such functions."""

    __autoconv_replays_graph__: bool


class PresentsErrors(Protocol):
    """A function whose errors show the program's lines only."""

    __autoconv_presents_errors__: bool


class IsCachedProperty(Protocol):
    """A property that stores what it computes, as `functools.cached_property` does."""

    __autoconv_is_cached_property__: ClassVar[bool]


class HasOpenStructure(Protocol):
    """A loop variable whose structure the loop's body may determine while it is traced."""

    @property
    def __autoconv_is_structure_open__(self) -> bool:
        """Return whether the structure is not known yet."""


class OnlyRestores(Protocol):
    """A `__setattr__` that only restores a value of a checkpoint; traces bypass it, as they bypass that of `object`."""

    __autoconv_only_restores__: bool


class ReplacesMethod(Protocol):
    """A converted special method, with the original."""

    __autoconv_original__: Callable[..., Any]


class IteratesInGraph(Protocol):
    """A converted `__iter__`, with a generator function whose loops the graph records."""

    __autoconv_iterates__: Callable[[], Callable[..., Any]]


class HasFallback(Protocol):
    """A binary special method that calls the next one if it returns NotImplemented, with the method that does not."""

    __autoconv_without_fallback__: Callable[..., Any]


class HasIdentity(Protocol):
    """An object on whose attributes no trace depends, only on which object it is; an example is a summary writer."""

    __autoconv_identity__: ClassVar[bool]


class HasWidenedParts(Protocol):
    """A structure with parts, by name, that become int64 where two paths of the graph have integers of other dtypes."""

    __autoconv_widened__: ClassVar[tuple[str, ...]]


class RunsLoopBody(Protocol):
    """The body of a loop as an object, whose code is the function `run`."""

    __autoconv_loop_body__: ClassVar[bool]
    run: Callable[..., Any]
