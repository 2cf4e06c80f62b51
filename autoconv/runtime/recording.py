"""Recording: the region that ops are recorded into now, what it captures, and under which contract.

A `Trace` is one run of a Python function whose ops are recorded. Its regions form a stack: the body of the function
outermost, then the arms and loop bodies being recorded. A value used in a region that an outer one made becomes a
capture of every region in between.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autoconv.errors import InaccessibleTensorError
from autoconv.forks import after_fork, new_lock
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType, Type
from autoconv.ops import OPS
from autoconv.runtime.spans import current_span, place_of

if TYPE_CHECKING:
    from autoconv.runtime.journal import Journal
    from autoconv.runtime.stores import Stores

FUNCTION, COMPILE = "function", "compile"
TURN, NODE = "turn", "node"  # what a trace spends


@dataclass(eq=False)
class Trace:
    """One tracing of one function. `contract` is "function" or "compile" (see the README's invariants).

    `captures` maps what was captured by identity to (the object kept alive, its parameter of the root graph).
    `on_create` is told of each variable the traced code creates; `evaluate` gives the array that a value of the root
    graph has in the call that is being traced, or None. `pending_output` holds prints of a region that may
    be recorded again. The second contract hooks in by `allows_call`, `outside_effect`, `python_print`,
    `concretise`, `attribute` (for names that tensors do not have) and `without_dimensions` (what a tensor without any
    becomes where NumPy has an array and not a scalar); `stores` are told before a node is
    recorded that does more than compute, and after a call of a function that is being recorded. `calls` are the user's
    functions that run now, `recursions` those that were recorded as functions that call themselves. `arrays` says that
    NumPy arrays came in, which can be changed in place, `memory` that they are traced as memory (see
    `runtime/arrays.py`): "apart", or "shared" where some of those that came in overlap; `complexes` what was done to
    complex ones: "written", "taken" apart into real numbers;
    `owned` are the objects that the traced code made, with the regions that made them, `cells` the local names that its
    functions share with inner ones, with the regions in which those functions were called, `frozen` those that may not
    change any more because a path made a copy of them, `rebuilt` the arguments that were put together anew, by
    identity (see `runtime/rebuilt.py`), `leaf_positions` the arguments that are numbers. `watch` is
    told of each function that is converted because traced code calls it, `include_guards` of the guards of each trace
    that it uses. `sources` are the arrays that constants were made of. `refusal` is an error that the traced code
    may have swallowed. `patched` are the classes whose special methods are the converted ones for now, with those
    that they had, `stand_ins` those that have something else for an attribute, with what they had.
    `made` are the classes of the user's of which objects were made in the graph, `classes_of_results` those known when
    a cond was recorded, and those of them that its result may be of, `holders` the names of attributes that
    hold such objects, `relied` those of which the trace took for granted that they do not, `made_early` the names of
    the classes all of whose objects are made in the graph, and `begin_again` is what has the trace begin anew with more
    in the last or the first. `asked_by_python`: what runs now is a special method, whose answer Python itself takes.
    `given_items`: of arguments that are lists of numbers, the type of an item and how many lists deep; `regions`: all
    that were recorded, those too that were recorded again; `appended`: lists whose items Python knew, and what was
    appended there. `hidden`: functions among the constants that the trace made, and whether they hold values of it (see
    `tracing/leaks.py`). `identifies`: the graph asks whether objects are one (see `runtime/identities.py`).
    `read_only`: what NumPy gives out for reading only.
    `inherited`: by the names of attributes that are written, the classes that are, and those who get one of their own
    in the place of a class's.
    `spend` is called for each turn of a loop in Python and each node that is recorded, and may give the trace up.
    `uses_tensors`: functions of this package were called, which make tensors of what they get outside of traces.
    `scope` is the prefix of names now, `device` the one asked for, and `controls` what the program wants to run before
    what is recorded into that graph.
    """

    root: Region
    contract: str = FUNCTION
    captures: dict[int, tuple[Any, Value]] = field(default_factory=dict)
    on_create: Any = None
    evaluate: Any = None
    pending_output: list[Any] | None = None
    allows_call: Any = None
    outside_effect: Any = None
    is_outside: Any = None
    python_print: Any = None
    concretise: Any = None
    attribute: Any = None
    without_dimensions: Any = None
    stores: list[Stores] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    recursions: dict[Any, Any] = field(default_factory=dict)
    arrays: bool = False
    memory: str = ""
    complexes: set[str] = field(default_factory=set)
    owned: dict[int, Any] | None = None
    cells: dict[int, tuple[Any, Region]] = field(default_factory=dict)
    frozen: dict[int, Any] = field(default_factory=dict)
    rebuilt: dict[int, Any] = field(default_factory=dict)
    leaf_positions: dict[Value, int] | None = None
    watch: Any = None
    include_guards: Any = None
    refusal: BaseException | None = None
    sources: list[tuple[Node, Any]] | None = None
    patched: dict[type, dict[str, Any]] = field(default_factory=dict)
    outer_classes: set[type] = field(default_factory=set)  # of those, what objects that were there before may be of
    stand_ins: dict[tuple[type, str], Any] = field(default_factory=dict)
    made: set[type] = field(default_factory=set)
    classes_of_results: dict[Value, tuple[frozenset[type], frozenset[type]]] = field(default_factory=dict)
    holders: set[str] = field(default_factory=set)
    relied: set[str] = field(default_factory=set)
    made_early: frozenset[str] = frozenset()
    asked_by_class: bool = False
    asked_by_python: bool = False
    begin_again: Any = None
    given_items: dict[Value, tuple[TensorType, int]] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    appended: list[tuple[Any, Any]] = field(default_factory=list)
    hidden: dict[Value, bool] = field(default_factory=dict)
    identifies: bool = False
    read_only: set[Value] = field(default_factory=set)
    inherited: dict[str, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    scope: str = ""
    device: str = ""
    controls: tuple[Graph | None, tuple[str, ...]] = (None, ())
    converts: bool = True
    spend: Any = None
    uses_tensors: bool = False

    def capture(self, obj: Any, type_: Type, name: str) -> Value:
        """The root parameter that stands for a Python object (a tensor, a variable's storage)."""
        found = self.captures.get(id(obj))
        if found is None:
            found = obj, self.root.graph.add_parameter(type_, name)
            self.captures[id(obj)] = found
        return found[1]


@dataclass(eq=False)
class Region:
    """A graph being recorded. `captures` maps outer values to this graph's parameters, in order; `most_iterations` is
    what the body of a loop sets to have it end; `became` is the region around it that its nodes went to;
    `known_classes` are objects of the graph, classes, and whether the objects are of them wherever the region runs."""

    graph: Graph
    parent: Region | None = None
    captures: dict[Value, Value] = field(default_factory=dict)
    journal: Journal | None = None
    most_iterations: Any = None
    became: Region | None = None
    known_classes: list[tuple[Value, Any, bool]] = field(default_factory=list)
    _trace: Trace | None = None

    @property
    def trace(self) -> Trace:
        assert self._trace is not None
        return self._trace

    @property
    def contract(self) -> str:
        return self.trace.contract

    @property
    def standing(self) -> Region:
        """The region that the nodes of this one are in."""
        region = self
        while region.became is not None:
            region = region.became
        return region

    def is_inside(self, other: Region | None) -> bool:
        """Whether this is the region `other`, or one inside of it."""
        wanted = None if other is None else other.standing
        region: Region | None = self
        while region is not None and region is not wanted:
            region = region.parent
        return region is not None

    def lift(self, value: Value) -> Value:
        """The value as seen from this region; raises InaccessibleTensorError when it is not in scope."""
        if value.graph is self.graph:
            return value
        found = self.captures.get(value)
        if found is not None:
            return found
        if self.parent is None:
            raise InaccessibleTensorError(out_of_scope(value, self.graph))
        outer = self.parent.lift(value)
        found = self.captures.get(outer)
        if found is None:
            found = self.graph.add_parameter(outer.type, outer.name)
            self.captures[outer] = found
        self.captures[value] = found
        return found

    def captured(self) -> dict[Value, Value]:
        """The captures whose outer value belongs to the parent region, in order of first use."""
        assert self.parent is not None
        return {outer: inner for outer, inner in self.captures.items() if outer.graph is self.parent.graph}

    def record(self, name: str, inputs: list[Value], attributes: dict[str, Any], **options: Any) -> Node:
        """Appends a node that applies the op called `name`, with the user's span."""
        if self.trace.stores and OPS[name].effects is not Effects.PURE:
            for stores in tuple(self.trace.stores):
                stores.before_node(self, name, inputs, attributes)
        if self.trace.spend is not None:
            self.trace.spend(NODE)
        lifted = [self.lift(value) for value in inputs]
        span = options.pop("span", None) or current_span()
        if span is not None and self.contract == COMPILE:
            span = replace(span, plain=True)
        shown = options.pop("shown", None) or display_name(name)
        options.setdefault("device", self.trace.device)
        node = self.graph.add(OPS[name], lifted, attributes, name=self.trace.scope + shown, span=span, **options)
        graph, names = self.trace.controls
        if names and graph is self.graph:
            self.graph.controls[node.name] = names
        return node


class _Stack(threading.local):
    region: Region | None = None
    untraced: bool = True


_STACK = _Stack()


class _UntracedHere:
    """Is true in threads that record nothing. No frame of Python's is made to find that out: a function asks it where
    it begins, also the innermost one that the limit of recursion lets through."""

    __bool__ = staticmethod(functools.partial(getattr, _STACK, "untraced"))


class _Own(threading.local):
    """What one thread adds to the numbers of `_Activity`."""

    count = pretended = tapes = 0


class _Activity:
    """How many threads record. `on_change` is told, when that changes, what is true where nothing is recorded: True
    itself while no thread records, False while all are to do as if they did."""

    def __init__(self) -> None:
        self.count = 0
        self.pretended = 0
        self.tapes = 0
        self.lock = new_lock()
        self.own = _Own()
        self.here = _UntracedHere()
        self.on_change: Callable[[object], None] = lambda untraced: None

    def add(self, change: int, pretended: int = 0) -> None:
        with self.lock:
            self.count += change
            self.pretended += pretended
            self.own.count += change
            self.own.pretended += pretended
            BUSY.value = self.count + self.pretended + self.tapes
            self.on_change(not self.pretended and (self.here if self.count else True))

    def add_tape(self, change: int) -> None:
        with self.lock:
            self.tapes += change
            self.own.tapes += change
            BUSY.value = self.count + self.pretended + self.tapes

    def forget_others(self) -> None:
        """In a forked child: the other threads are not there any more."""
        self.count, self.pretended, self.tapes = self.own.count, self.own.pretended, self.own.tapes
        self.add(0)


# How many threads record, and how many tapes do, for native code to read: while it is not 0, calls take the long way.
BUSY = ctypes.c_int64(0)
_ACTIVITY = _Activity()
after_fork(_ACTIVITY.forget_others)


def tape_started(change: int = 1) -> None:
    """Tells that a tape is at work, or with -1 that it is not any more: it has to see calls of functions."""
    _ACTIVITY.add_tape(change)


def follow(on_change: Callable[[object], None]) -> None:
    """Has `on_change` told, now and when that changes, what is true in the threads that record nothing."""
    _ACTIVITY.on_change = on_change
    _ACTIVITY.add(0)


@contextmanager
def as_if_traced() -> Iterator[None]:
    """Converted code takes the way through the operators inside the block, in all threads, though nothing is
    recorded."""
    _ACTIVITY.add(0, 1)
    try:
        yield
    finally:
        _ACTIVITY.add(0, -1)


def current_region() -> Region | None:
    """The region being recorded by this thread, None when ops run at once."""
    return _STACK.region


def enter(region: Region | None) -> None:
    """From here on ops of this thread are recorded into `region`; for regions that are left elsewhere."""
    _STACK.region, _STACK.untraced = region, region is None


@contextmanager
def recording(region: Region | None) -> Iterator[Region | None]:
    """Ops of this thread are recorded into `region` inside the block (None: they run at once)."""
    before = _STACK.region
    starts = before is None and region is not None
    if starts:
        _ACTIVITY.add(1)
    _STACK.region, _STACK.untraced = region, region is None
    try:
        yield region
    finally:
        _STACK.region, _STACK.untraced = before, before is None
        if starts:
            _ACTIVITY.add(-1)


def new_trace(name: str, contract: str, converts: bool = True) -> Trace:
    """A trace with an empty root graph of that name; `converts` says whether the code that runs is converted."""
    root = Region(Graph(name))
    trace = Trace(root, contract, converts=converts)
    root._trace = trace
    return trace


def subregion(parent: Region, name: str) -> Region:
    """An empty region inside `parent`."""
    made = Region(Graph(name), parent, _trace=parent.trace)
    parent.trace.regions.append(made)
    return made


_SHOWN = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv",
    "modulo": "mod", "power": "pow", "python_add": "add", "python_subtract": "sub", "python_multiply": "mul",
    "python_divide": "truediv", "python_floor_divide": "floordiv", "python_modulo": "mod", "python_power": "pow",
}  # fmt: skip


def display_name(op_name: str) -> str:
    """What a node of that op is called in printed tensors: TensorFlow's names."""
    return _SHOWN.get(op_name) or OPS[op_name].graphdef


def out_of_scope(value: Value, graph: Graph | None = None) -> str:
    """What is wrong with using a value in that graph, or where ops run at once."""
    here = "here, where ops run at once" if graph is None else _scope(graph)
    return (
        f"{_shown(value)} is out of scope and cannot be used here. "
        f"Use return values, explicit Python locals or autoconv collections to access it.{defined_at(value)}"
        f"The tensor cannot be accessed from {here}, because it was defined in {_scope(value.graph)}, "
        "which is out of scope."
    )


def is_in_scope(value: Value) -> bool:
    """Whether what is being recorded now, if anything, can use the value."""
    region = current_region()
    while region is not None and region.graph is not value.graph:
        region = region.parent
    return region is not None


def _shown(value: Value) -> str:
    """As the tensor is printed."""
    if not isinstance(value.type, TensorType):
        return f"<{value.full_name}: {value.type}>"
    shape = value.type.shape
    sizes = "<unknown>" if shape is None else str(tuple(d if isinstance(d, int) else None for d in shape))
    return f"<autoconv.Tensor '{value.full_name}' shape={sizes} dtype={value.type.dtype.name}>"


def defined_at(value: Value) -> str:
    """A paragraph on the line that made a value; only a blank where that is not known."""
    span = value.node.span if value.node is not None else None
    if span is None:
        return " "
    place = place_of(span)
    return "\n\n".join(("", "It was defined here:\n" + "\n".join(filter(None, (f"  {place}", place.caret()))), ""))


_SCOPES = {
    "cond_true": "a branch of a condition", "cond_false": "a branch of a condition",
    "while_cond": "the condition of a loop", "while_body": "the body of a loop",
}  # fmt: skip


def _scope(graph: Graph) -> str:
    return _SCOPES.get(graph.name, repr(graph.name))
