"""The attributes `__autoconv_…__` by which parts of the package recognise objects whose classes they cannot import.

They are looked up on the class of a value, but for marks of functions, which are attributes of the function itself. A
test lists attributes that are not declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from autoconv.graph.graph import Value
    from autoconv.graph.types import Type


class SupportsTensor(Protocol):
    """A value that is read as a tensor: a variable, or an array in memory."""

    def __autoconv_tensor__(self) -> Any:
        """Return the tensor."""


class _Values:
    """Attributes of classes whose values stand for tensors or for values of the graph, or are parts of them."""

    __autoconv_handlers__: str  # of composites: the module, perhaps not imported yet, that handles public functions
    __autoconv_graph_value__: Callable[[], Value]  # of objects, arrays in memory, tensor arrays: their value
    __autoconv_wrap__: Callable[[], Callable[[Any], Any]]  # returns a function that makes such an object of a value
    __autoconv_graph_type__: Type  # of a deferred recording: the type that its value of the graph will have
    __autoconv_resource__: Callable[[Any], Value]  # of storages and iterators: their value in a region
    __autoconv_run_value__: Callable[[], Any]  # returns what a graph takes in place of this leaf of an argument
    __autoconv_spec__: Callable[[], Any]  # of arguments: their spec in the cache key, which makes placeholders
    __autoconv_stack__: Callable[[], Any]  # of lists: stacks the items; None where their number is known
    __autoconv_binary__: Callable[[str, Sequence[Any]], Any]  # of arrays in memory: applies an operator, by its op
    __autoconv_box__: Callable[[], Any]  # returns the form of a value as an object of the graph
    __autoconv_leaves_as_object__: Callable[[Any], bool]  # whether the value leaves the region as a graph object
    __autoconv_plain__: type  # of traced containers: Python's class for which they stand
    __autoconv_heap__: Any  # of instances of the program: the object of the graph that has their attributes
    __autoconv_maybe_missing__: bool  # of descriptors in the place of attributes that may be missing at run time
    __autoconv_identity__: bool  # of objects such as summary writers: traces depend on the identity alone
    __autoconv_widened__: tuple[str, ...]  # names of parts that become int64 where paths have different integer dtypes
    __autoconv_is_structure_open__: bool  # of loop variables: True while the loop's body determines the structure


class _ValuesOfSomePaths:
    """Attributes of values that exist on some paths only."""

    __autoconv_defined__: Callable[[bool], Any]  # reads a name, outer or not, that may be unassigned at run time
    __autoconv_assigned__: Callable[[], Any]  # of a return value: returns None for paths without a return statement
    __autoconv_present__: Callable[[Any, BaseException], Any]  # of a key: raises the error where the value is the mark


class _Iterables:
    """Attributes of classes that loops iterate over, and of loops."""

    __autoconv_staged__: bool  # of ranges with symbolic bounds, and others for loops of the graph alone
    __autoconv_stream__: Callable[[], Any]  # of datasets and their iterators: a new stream of elements
    __autoconv_builtins__: dict[Any, Callable[..., Any]]  # own forms of builtins, such as `zip` and `enumerate`
    __autoconv_iterates__: Callable[[], Callable[..., Any]]  # of a converted `__iter__`: its generator function
    __autoconv_loop_body__: bool  # of the body of a loop as an object, whose code is the method `run`


class _Functions:
    """Marks of functions."""

    __autoconv_source__: tuple[Any, ...]  # of the function of a loop: its definition and the place of its text
    __autoconv_function__: bool  # has its own behaviour under trace, such as a decorated function
    __autoconv_do_not_convert__: bool  # is never converted
    __autoconv_replays_graph__: bool  # only runs a saved graph: its traces are counted apart
    __autoconv_presents_errors__: bool  # its errors show the program's lines only
    __autoconv_only_restores__: bool  # a `__setattr__` that restores a value of a checkpoint: traces bypass it
    __autoconv_original__: Callable[..., Any]  # of a converted special method: the original
    __autoconv_without_fallback__: Callable[..., Any]  # of a binary special method: the one before its fallback
