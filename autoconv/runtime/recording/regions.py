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
    """One tracing of one function: the state that its regions share. A dict by identity has ids of objects as keys."""

    root: Region
    contract: Contract = EAGER  # the assumptions of the trace, and the properties that it has to preserve
    converts: bool = True  # the traced code is converted
    refusal: BaseException | None = None  # an error that the traced code may have swallowed

    # ---- recording
    regions: list[Region] = field(default_factory=list)  # all regions, including those recorded again
    recorded_nodes: int = 0  # the number of nodes so far, with those of regions that were recorded again
    captures: dict[int, tuple[Any, Value]] = field(default_factory=dict)  # by identity: (object, its root parameter)
    calls: list[Any] = field(default_factory=list)  # the user's functions now running
    recursions: dict[Any, Any] = field(default_factory=dict)  # the functions recorded as graphs that call themselves
    pending_output: list[Any] | None = None  # prints of a region that may be recorded again
    store_listeners: list[StoreListener] = field(default_factory=list)
    scope: str = ""  # the current prefix of names
    device: str = ""  # the requested device
    # The graph, and the names of nodes in it that have to run before what is recorded into it.
    controls: tuple[Graph | None, tuple[str, ...]] = (None, ())
    # Loop over a long range -> (number, kinds) of the nodes of all iterations; None if it is unrolled.
    replaced_ranges: dict[Any, Any] = field(default_factory=dict)
    is_in_replaced_range: bool = False  # inside of a loop that replaces a range of too many nodes
    # Loop over known values that a graph refuses -> the error; the loop is unrolled.
    refused_loops: dict[Any, Any] = field(default_factory=dict)
    outer_program_graph: Any = field(default_factory=lambda: program_graph())  # see `program_graph`

    # ---- arguments
    rebuilt_arguments: dict[int, Any] = field(default_factory=dict)  # by identity, see `rebuilt_arguments.py`
    tuple_arguments: dict[int, str] = field(default_factory=dict)  # by identity of a tuple: the name of its argument
    tuples_in_graph: dict[Value, str] = field(default_factory=dict)  # object of the graph for a tuple -> that name
    # Written list or dict of an argument, by identity -> (the traced container, the caller's own).
    argument_containers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    # Argument that is a list of numbers -> (type of an item, nesting depth).
    argument_list_items: dict[Value, tuple[TensorType | TupleType, int]] = field(default_factory=dict)
    positions_of_numbers: dict[Value, int] | None = None  # argument that is a number -> its position among the leaves

    # ---- arrays and constants
    uses_arrays: bool = False  # NumPy arrays, which are mutable, are among the inputs
    memory: str = ""  # "disjoint" if arrays are traced as memory, "shared" if some may overlap, else ""
    complex_array_uses: set[str] = field(default_factory=set)  # see `complex_parts.py`
    read_only_values: set[Value] = field(default_factory=set)  # values that NumPy returns read-only
    # Array computed from constants, by identity -> (the array, its copy in the graph, the region that made the copy).
    computed_arrays: dict[int, tuple[Any, Any, Region]] = field(default_factory=dict)
    constant_sources: list[tuple[Node, Any]] | None = None  # constants, and the arrays from which they were made
    function_constants: dict[Value, bool] = field(default_factory=dict)  # function -> it captures the trace's values
    warns_of_constants: bool = False  # NumPy warns of a floating-point error in a computation on plain values
    uses_tensors: bool = False  # functions of this package were called that return tensors outside of traces

    # ---- objects of the program
    created_objects: dict[int, Any] | None = None  # by identity, objects made by the traced code, with their regions
    frozen_objects: dict[int, Any] = field(default_factory=dict)  # by identity, objects that must not change any more
    reassembled_objects: dict[int, Any] = field(default_factory=dict)  # by identity, copies in results and outputs
    appended_items: list[tuple[Any, Any]] = field(default_factory=list)  # lists with static items, and values appended
    generators: list[weakref.ref[Generator[Any, Any, Any]]] = field(default_factory=list)  # made by the traced code
    # Cell of a variable, by identity -> (the cell, the region in which the variable's function was called).
    cells: dict[int, tuple[Any, Region]] = field(default_factory=dict)
    inner_codes: set[CodeType] = field(default_factory=set)  # code of functions that the trace itself makes
    # Written location from before the trace, by key -> (the location, its value before, the place of the write).
    outside_writes: dict[Any, tuple[Location, Any, Any]] = field(default_factory=dict)
    compares_identity: bool = False  # the graph compares objects by identity, see `support/identity.py`

    # ---- classes of the program
    patched_classes: dict[type, dict[str, Any]] = field(default_factory=dict)  # class -> its special methods before
    # (Patched class, name) -> the converted special method that is there for now.
    converted_methods: dict[tuple[type, str], Any] = field(default_factory=dict)
    outer_classes: set[type] = field(default_factory=set)  # patched classes that objects from before the trace may have
    # (Class, attribute) -> the original of a class attribute that is replaced for now.
    replaced_class_attributes: dict[tuple[type, str], Any] = field(default_factory=dict)
    # Name of a written attribute -> (owners that are classes, owners that inherited it).
    inherited_attributes: dict[str, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    created_classes: set[type] = field(default_factory=set)  # the user's classes whose instances were made in the graph
    classes_made_in_graph: frozenset[str] = frozenset()  # names of classes whose objects are all made in the graph
    # Result of a cond -> (classes known when it was recorded, classes that the result may have).
    classes_of_results: dict[Value, tuple[frozenset[type], frozenset[type]]] = field(default_factory=dict)
    # Names of attributes, or keys of `class_inference`, under which objects of `created_classes` are stored.
    holders_of_objects: set[str] = field(default_factory=set)
    holders_assumed_without_objects: set[str] = field(default_factory=set)
    is_dispatched_on_class: bool = False  # an operation was dispatched on an object's class
    is_called_by_python: bool = False  # Python itself has called the running special method
    is_missing_attribute_result: bool = False  # an attribute is read by `hasattr`, or by `getattr` with a default

    # ---- exceptions
    outer_exception: BaseException | None = field(default_factory=lambda: sys.exc_info()[1])  # handled at the start
    raises_in_handlers: bool = False  # operations in handlers may raise, with the handled exception as context
    catches_errors: bool = False  # the graph catches exceptions
    inlines_handlers: bool = False  # a handler was recorded without a `try`, as the trace itself raised its exception
    stages_handlers: bool = False  # the graph raises the trace's exceptions, as contexts of errors of handlers

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
