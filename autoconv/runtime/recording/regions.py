"""Recording: the current region, its captures, and the contract in force.

A `Trace` is one run of a Python function whose ops are recorded. Its regions form a stack: the function body
outermost, then the branches and loop bodies being recorded. A value of an outer region that is used in an inner one
becomes a capture of every region in between.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any, Protocol

from autoconv.errors import InaccessibleTensorError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType, TupleType, Type
from autoconv.lazy_dataclass import dataclass, field
from autoconv.ops import OPS
from autoconv.ops.analysis.requested_sizes import may_fail_for_sizes
from autoconv.runtime.recording.activity import ACTIVITY, THREAD_FLAG
from autoconv.runtime.recording.contracts import EAGER, NODE, Contract
from autoconv.runtime.recording.journal import Journal, Location
from autoconv.runtime.recording.value_names import display_name, scope_message
from autoconv.runtime.support.spans import as_observed, as_plain, current_span


class StoreListener(Protocol):
    """Stores of values that exception handlers read (see autoconv.runtime.recording.deferred_stores)."""

    is_suspended: bool  # True while the listener records nodes itself; nothing is stored meanwhile

    def before_node(self, region: Region, op: str, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> bool:
        """Store changed values before a node that may raise, and return whether it is such a node."""

    def after_call(self, region: Region) -> None:
        """Invalidate the stored values after a call of a function being recorded."""

    def locations(self, region: Region) -> Iterable[Location]:
        """Return the locations that are stored."""


@dataclass(eq=False)
class Trace:
    """One tracing of one function.

    contract: the assumptions of the trace, and the properties that it has to preserve (see `contracts.py`)
    captures: identity of a captured object -> (the object kept alive, its parameter of the root graph)
    pending_output: prints of a region that may be recorded again
    store_listeners: notified before a node that may raise is recorded, and after a call of a recursive function
    calls: the user's functions now running
    recursions: the functions recorded as graphs that call themselves
    uses_arrays: True if NumPy arrays, which are mutable, are among the inputs
    memory: "disjoint" if arrays are traced as memory (see `symbolic_arrays.py`), "shared" if some may overlap, else ""
    complex_array_uses: uses of complex arrays so far: "written", or "split" into real numbers
    created_objects: objects made by the traced code, with their regions
    cells: identity of a cell -> (the cell, the region in which the function that has the variable was called)
    frozen_objects: objects that must not change any more, because a path copied them
    rebuilt_arguments: by identity, arguments that were flattened and put together (see `rebuilt_arguments.py`)
    tuple_arguments: name of the argument that each tuple in arguments belongs to, by the tuple's identity
    tuples_in_graph: objects of the graph that stand for such tuples, and the name of the argument
    argument_containers: written lists and dicts of arguments -> (the traced container, the caller's own)
    computed_arrays: identity of an array computed from constants -> (array, its copy, the region that made the copy)
    reassembled_objects: copies, of dataclass objects and dicts, that regions return and the trace outputs, by identity
    positions_of_numbers: value of an argument that is a number -> its position among the leaves
    constant_sources: the arrays from which constants were made
    refusal: an error that the traced code may have swallowed
    patched_classes: classes whose special methods are replaced by converted ones for now, with the originals
    replacements: (class, attribute) -> the converted method that is there for now
    replaced_class_attributes: (class, attribute) -> the original of a class attribute that is replaced for now
    created_classes: the user's classes whose instances were made in the graph
    classes_of_results: result of a cond -> the classes known when it was recorded, and those that the result may have
    holders_of_objects: holders of objects of `created_classes`: names of attributes, or keys of `class_inference`
    holders_assumed_without_objects: holders that the trace assumes not to hold such objects
    classes_made_in_graph: names of the classes whose objects are all made in the graph
    is_dispatched_on_class: True if an operation was dispatched on an object's class
    is_called_by_python: True while Python itself has called a special method
    is_missing_attribute_result: True while an attribute is read by `hasattr`, or by `getattr` with a default
    argument_list_items: argument that is a list of numbers -> (type of an item, nesting depth)
    regions: all regions recorded, including those recorded again
    appended_items: lists with static items, and the values appended to them
    function_constants: functions among the constants -> whether they capture the trace's values (see `escape_check.py`)
    outside_writes: key of a written location from before the trace -> (the location, its value before, the place)
    compares_identity: True if the graph compares objects by identity (see `support/identity.py`)
    read_only_values: values that NumPy returns read-only
    inherited_attributes: name of a written attribute -> (owners that are classes, owners that inherited it)
    inner_codes: code of functions and classes inside of the functions that ran: the trace itself makes these functions
    uses_tensors: True if functions of this package were called that return tensors outside of traces
    generators: weak references to the generators that the traced code made
    scope, device: the current name prefix and the requested device
    controls: the graph and the names of nodes that have to run before what is recorded into it
    outer_exception: the exception that was being handled when the trace began
    outer_classes: the patched classes that objects from before the trace may have
    outer_program_graph: the graph of version 1 in whose block the trace began
    converts: True if the traced code is converted
    warns_of_constants: True if NumPy warns of a floating-point error in a computation on plain values
    recorded_nodes: the number of nodes recorded so far, those of regions that were recorded again included
    replaced_ranges: loop over a long range -> (number, kinds) of the nodes of all iterations; None if it is unrolled
    refused_loops: loop over known values that a graph refuses -> the error; it is unrolled
    is_in_replaced_range: True inside of a loop that replaces a range of too many nodes
    raises_in_handlers: True if operations in handlers may raise: their exceptions have the handled one as context
    catches_errors: True if the graph catches exceptions
    inlines_handlers: True if a handler's code was recorded without a `try`, as its exception was raised by the trace
    stages_handlers: True if the graph raises the trace's exceptions, so that errors of handlers have them as context
    """

    root: Region
    contract: Contract = EAGER
    captures: dict[int, tuple[Any, Value]] = field(default_factory=dict)
    pending_output: list[Any] | None = None
    store_listeners: list[StoreListener] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    recursions: dict[Any, Any] = field(default_factory=dict)
    uses_arrays: bool = False
    memory: str = ""
    complex_array_uses: set[str] = field(default_factory=set)
    created_objects: dict[int, Any] | None = None
    cells: dict[int, tuple[Any, Region]] = field(default_factory=dict)
    frozen_objects: dict[int, Any] = field(default_factory=dict)
    rebuilt_arguments: dict[int, Any] = field(default_factory=dict)
    tuple_arguments: dict[int, str] = field(default_factory=dict)
    tuples_in_graph: dict[Value, str] = field(default_factory=dict)
    argument_containers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    computed_arrays: dict[int, tuple[Any, Any, Region]] = field(default_factory=dict)
    reassembled_objects: dict[int, Any] = field(default_factory=dict)
    positions_of_numbers: dict[Value, int] | None = None
    refusal: BaseException | None = None
    outer_exception: BaseException | None = field(default_factory=lambda: sys.exc_info()[1])
    raises_in_handlers: bool = False
    catches_errors: bool = False
    inlines_handlers: bool = False
    stages_handlers: bool = False
    warns_of_constants: bool = False
    constant_sources: list[tuple[Node, Any]] | None = None
    patched_classes: dict[type, dict[str, Any]] = field(default_factory=dict)
    replacements: dict[tuple[type, str], Any] = field(default_factory=dict)
    outer_classes: set[type] = field(default_factory=set)
    outer_program_graph: Any = field(default_factory=lambda: program_graph())
    replaced_class_attributes: dict[tuple[type, str], Any] = field(default_factory=dict)
    created_classes: set[type] = field(default_factory=set)
    classes_of_results: dict[Value, tuple[frozenset[type], frozenset[type]]] = field(default_factory=dict)
    holders_of_objects: set[str] = field(default_factory=set)
    holders_assumed_without_objects: set[str] = field(default_factory=set)
    classes_made_in_graph: frozenset[str] = frozenset()
    is_dispatched_on_class: bool = False
    is_called_by_python: bool = False
    is_missing_attribute_result: bool = False
    argument_list_items: dict[Value, tuple[TensorType | TupleType, int]] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    appended_items: list[tuple[Any, Any]] = field(default_factory=list)
    function_constants: dict[Value, bool] = field(default_factory=dict)
    outside_writes: dict[Any, tuple[Location, Any, Any]] = field(default_factory=dict)
    compares_identity: bool = False
    read_only_values: set[Value] = field(default_factory=set)
    inherited_attributes: dict[str, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    generators: list[weakref.ref[Generator[Any, Any, Any]]] = field(default_factory=list)
    scope: str = ""
    device: str = ""
    controls: tuple[Graph | None, tuple[str, ...]] = (None, ())
    converts: bool = True
    inner_codes: set[CodeType] = field(default_factory=set)
    uses_tensors: bool = False
    recorded_nodes: int = 0
    replaced_ranges: dict[Any, Any] = field(default_factory=dict)
    refused_loops: dict[Any, Any] = field(default_factory=dict)
    is_in_replaced_range: bool = False

    def guard_reads(self, converted: FunctionType, function: FunctionType) -> None:
        """Guard what `function` reads from outside, unless the trace made it; `converted` is its converted form.

        In a converted module both are one function, which may have existed before the trace.
        """
        if converted.__code__ not in self.inner_codes:
            self.contract.on_converted(function)
        self.note_inner_codes(converted.__code__)

    def note_inner_codes(self, code: CodeType) -> None:
        """Record that the trace itself makes the functions inside of `code`."""
        for constant in code.co_consts:
            if isinstance(constant, CodeType) and constant not in self.inner_codes:
                self.inner_codes.add(constant)
                self.note_inner_codes(constant)

    def capture(self, captured_object: object, type_: Type, name: str) -> Value:
        """Return the root parameter that stands for a Python object (a tensor, a variable's storage)."""
        if id(captured_object) not in self.captures:
            self.captures[id(captured_object)] = captured_object, self.root.graph.add_parameter(type_, name)
        _, parameter = self.captures[id(captured_object)]
        return parameter


@dataclass(eq=False)
class Region:
    """A graph being recorded.

    `captures` maps outer values to this graph's parameters, in order. `max_iterations` bounds the iterations of a loop
    whose body sets it. `merged_into` is the enclosing region into which the nodes were merged. In the region, the facts
    (object, class, is an instance) of `known_classes` and (tag, alternative, is selected) of `known_tags` hold.
    """

    graph: Graph
    parent: Region | None = None
    captures: dict[Value, Value] = field(default_factory=dict)
    journal: Journal | None = None
    max_iterations: Any = None
    merged_into: Region | None = None
    known_classes: list[tuple[Value, Any, bool]] = field(default_factory=list)
    known_tags: list[tuple[Value, int, bool]] = field(default_factory=list)
    is_block: bool = False  # a FuncGraph inside of a trace: placeholders made in it are its parameters
    _trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        assert self._trace is not None
        return self._trace

    @property
    def contract(self) -> Contract:
        return self.trace.contract

    @property
    def block(self) -> Region:
        """The innermost enclosing region, this one included, whose graph takes placeholders as parameters."""
        region = self
        while region.parent is not None and not region.is_block:
            region = region.parent
        return region

    @property
    def merged_region(self) -> Region:
        """The region that now contains this one's nodes."""
        region = self
        while region.merged_into is not None:
            region = region.merged_into
        return region

    def is_inside(self, enclosing: Region | None) -> bool:
        """Return whether this is the region `enclosing`, or nested in it."""
        enclosing_region = None if enclosing is None else enclosing.merged_region
        region: Region | None = self
        while region is not None and region is not enclosing_region:
            region = region.parent
        return region is not None

    def encloses(self, graph: object) -> bool:
        """Return whether the graph is that of this region, or of an enclosing one."""
        region: Region | None = self
        while region is not None and region.graph is not graph:
            region = region.parent
        return region is not None

    def lift(self, value: Value) -> Value:
        """Return the value of this graph for one of an enclosing region, which is captured.

        Raises InaccessibleTensorError for a value that is not in scope.
        """
        if value.graph is self.graph:
            return value
        if value in self.captures:
            return self.captures[value]
        if self.parent is None:
            error = InaccessibleTensorError(scope_message(value, self.graph))
            error.graph = value.graph
            raise error
        outer_value = self.parent.lift(value)
        result = self.captures.get(outer_value)
        if result is None:
            result = self.graph.add_parameter(outer_value.type, outer_value.name)
            self.captures[outer_value] = result
        self.captures[value] = result
        return result

    def parent_captures(self) -> dict[Value, Value]:
        """Return the captures whose outer value belongs to the parent region, in order of first use."""
        assert self.parent is not None
        return {outer: inner for outer, inner in self.captures.items() if outer.graph is self.parent.graph}

    def record(self, name: str, inputs: list[Value], attributes: dict[str, Any], **options: Any) -> Node:
        """Append a node of the op `name`, with the user's span.

        The options `span`, `node_name` and `device` replace the current ones; the others are arguments of `Graph.add`.
        """
        is_observed = False  # True if an exception handler sees what ran before the node
        if self.trace.store_listeners and (
            OPS[name].effects is not Effects.PURE or may_fail_for_sizes(OPS[name], inputs, attributes)
        ):
            for listener in tuple(self.trace.store_listeners):
                is_observed |= listener.before_node(self, name, inputs, attributes)
        contract = self.contract
        contract.count_step(NODE)
        self.trace.recorded_nodes += 1
        lifted_inputs = [self.lift(value) for value in inputs]
        given_span = options.pop("span", None)
        span = current_span(contract.python_exceptions) if given_span is None else given_span
        if given_span is not None and contract.python_exceptions:
            span = as_plain(given_span)
        if is_observed and span is not None:
            span = as_observed(span)
        device = options.pop("device", self.trace.device)
        node_name = self.trace.scope + (options.pop("node_name", None) or display_name(name))
        node = self.graph.add(OPS[name], lifted_inputs, attributes, name=node_name, span=span, **options)
        node.device = device
        is_in_handler = sys.exc_info()[1] is not self.trace.outer_exception
        if node.effects & Effects.RAISE and name != "raise" and is_in_handler:
            self.trace.raises_in_handlers = True
        graph, names = self.trace.controls
        if names and graph is self.graph:
            self.graph.controls[node.name] = names
        return node


class _ThreadState(threading.local):
    """The region that the thread records; None where ops run eagerly."""

    region: Region | None = None


_STATE = _ThreadState()


def current_region() -> Region | None:
    """Return the region being recorded by this thread, None when ops run eagerly."""
    return _STATE.region


def current_contract() -> Contract:
    """Return the contract of the region being recorded; `EAGER` when ops run eagerly."""
    region = _STATE.region
    return EAGER if region is None else region.trace.contract


def enter(region: Region | None) -> None:
    """Record ops of this thread into `region` from now on; the caller restores the previous region."""
    _STATE.region, THREAD_FLAG.untraced = region, region is None


@contextmanager
def recording(region: Region | None) -> Iterator[Region | None]:
    """Record ops of this thread into `region` inside the block (None: they run eagerly)."""
    outer_region = _STATE.region
    starts_recording = outer_region is None and region is not None
    if starts_recording:
        ACTIVITY.add(1)
    _STATE.region, THREAD_FLAG.untraced = region, region is None
    try:
        yield region
    finally:
        _STATE.region, THREAD_FLAG.untraced = outer_region, outer_region is None
        if starts_recording:
            ACTIVITY.add(-1)


def program_graph() -> Any:
    """Return the graph of version 1 whose block encloses the current trace; None if there is no such block."""
    region = _STATE.region
    return None if region is None else region.trace.root.graph.program_graph or region.trace.outer_program_graph


def recording_state() -> tuple[Region | None, int]:
    """Return the region of this thread and its count of recordings, for `restore_recording`."""
    return _STATE.region, ACTIVITY.thread_counts.recording_count


def restore_recording(state: tuple[Region | None, int]) -> None:
    """Restore the region of this thread and its count of recordings after an interrupt.

    Ctrl-C may come between two steps of `recording`. Without this call, the graph would record all later ops.
    """
    region, count = state
    enter(region)
    if ACTIVITY.thread_counts.recording_count != count:
        ACTIVITY.add(count - ACTIVITY.thread_counts.recording_count)


def new_trace(name: str, contract: Contract = EAGER, converts: bool = True) -> Trace:
    """Create a trace with an empty root graph; `converts` is true if the traced code is converted."""
    root = Region(Graph(name))
    trace = Trace(root, contract, converts=converts)
    root._trace = trace
    return trace


def subregion(parent: Region, name: str) -> Region:
    """Create an empty region inside `parent`."""
    result = Region(Graph(name), parent, _trace=parent.trace)
    parent.trace.regions.append(result)
    return result


def is_in_scope(value: Value) -> bool:
    """Return whether the current region, if any, can use the value."""
    region = current_region()
    while region is not None and region.graph is not value.graph:
        region = region.parent
    return region is not None
