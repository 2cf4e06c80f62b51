"""Recording the bodies of regions: arms of a cond, bodies of a loop, with what they mutate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from autoconv.errors import (
    AutoconvError,
    ConversionError,
    InaccessibleTensorError,
    OperatorNotAllowedInGraphError,
    StagingError,
)
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType, TensorType
from autoconv.operators.attempts import emit_output
from autoconv.operators.attributes import expect_missing, may_be_missing
from autoconv.operators.deferred import template_of
from autoconv.operators.layout import (
    NEVER,
    Arms,
    Grown,
    Layout,
    Leaf,
    Never,
    Parts,
    Static,
    Variant,
    emit,
    is_container,
    is_number_layout,
    is_object_layout,
    join_layouts,
    joined_lists,
    joined_objects,
    layout_of,
    leaf_types,
    rebuild,
    settled_lists,
    state_layout,
)
from autoconv.operators.names import Undefined
from autoconv.ops.exception_groups import leaves_of_group
from autoconv.runtime.containers import PLAIN, TracedDict, TracedList, container_spot, heap_of, materialise
from autoconv.runtime.journal import MISSING, Journal, Spot
from autoconv.runtime.objects import StagedException, apply_object, as_object, box, holds_symbols, record_object
from autoconv.runtime.recording import COMPILE, Region, current_region, recording, subregion
from autoconv.runtime.spans import current_place, place_of, span_of_error
from autoconv.runtime.structure import mutable_parts
from autoconv.runtime.tensor import SymbolicTensor
from autoconv.runtime.tracebacks import raised_by_us

# Never turned into an error of the graph: they are about the program as a whole.
_ABOUT_THE_PROGRAM = (StagingError, ConversionError, InaccessibleTensorError, OperatorNotAllowedInGraphError)
_ROUNDS = 12
# After these rounds under `compile`, what of a loop's state has not settled becomes an object of the graph.
_PATIENCE = 4

Body = Callable[..., tuple[Any, ...]]


class AbandonTrace(BaseException):
    """Leaves a trace that cannot go on; the function that traces decides what happens instead."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        region = current_region()
        if region is not None:
            region.trace.refusal = self  # a finally that is left early swallows even this


class Suspended(BaseException):
    """Leaves an arm that needs what a recursive function gives, while that is not known, or never comes."""

    def __init__(self, region: Region) -> None:
        super().__init__()
        self.trace = region.trace
        self.before = region.trace.refusal
        region.trace.refusal = swallowed()

    def caught(self) -> None:
        self.trace.refusal = self.before


def swallowed() -> StagingError:
    """What is wrong where the program itself takes what the tracing of a recursive function raises."""
    return StagingError(
        "a function calls itself inside of a finally or except that is left early, and a tensor decides how often",
        current_place(),
        "the call outside of that statement",
    )


@dataclass(eq=False)
class Recorded:
    """One arm or body: its region, what it gave (NEVER where it always raises), and what it wrote.

    `suspended`: it was left because what a recursive function gives is not known, or never comes.
    """

    region: Region
    results: Sequence[Any]
    written: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    spots: dict[tuple[Any, ...], Spot] = field(default_factory=dict)
    diverges: bool = False
    suspended: bool = False
    wrote: bool = False  # of the test of a loop: whether it changes any state

    def value_of(self, spot: Spot) -> Any:
        return NEVER if self.diverges else self.written[spot.key] if spot.key in self.written else spot.read()


def record_body(parent: Region, name: str, body: Callable[[Region], Sequence[Any]], count: int) -> Recorded:
    """Runs `body(region)` with its ops recorded into a new region; `count` is how many values it gives.

    An exception that leaves it becomes one that the graph raises there.
    """
    region = subregion(parent, name)
    region.journal = Journal(region)
    diverges = suspends = False
    with recording(region), _named_after(parent, name.partition("_")[0]):
        try:
            results = body(region)
        except _ABOUT_THE_PROGRAM:
            region.journal.roll_back()
            raise
        except Suspended as suspended:
            suspended.caught()
            results, diverges, suspends = [NEVER] * count, True, True
        except RecursionError:
            region.journal.roll_back()
            raise StagingError(
                "a function calls itself, a tensor decides how often, and each call has functions or objects of its "
                "own for arguments; that cannot be part of a graph",
                current_place(),
                "arguments that are numbers, arrays, or the same objects at every call; or a loop",
            ) from None
        except Exception as error:  # whatever the user's code raises
            if is_about_program(error):
                region.journal.roll_back()
                raise
            try:
                record_raise(region, error)
            except AutoconvError as refusal:
                raise refusal from None  # the user's error is not raised yet
            results, diverges = [NEVER] * count, True
        except BaseException:
            region.journal.roll_back()
            raise
        spots = dict(region.journal.spots)
        written = region.journal.roll_back()
    region.journal = None
    return Recorded(region, results, written, spots, diverges, suspends)


@contextmanager
def _named_after(parent: Region, shown: str) -> Iterator[None]:
    """Nodes recorded inside are called after the node that is going to own their region: `cond/add`."""
    trace = parent.trace
    before = trace.scope
    trace.scope = parent.graph.next_name(before + shown) + "/"
    try:
        yield
    finally:
        trace.scope = before


# What the operators raise on behalf of the user's code; other errors raised by this package are about the program.
_RUN_TIME = (LookupError, UnboundLocalError, ArithmeticError, StopIteration, AssertionError)


def cannot_be_caught(error: BaseException) -> bool:
    """Whether no except clause of the program's is meant to take the error: what tracing says of the program."""
    if isinstance(error, _ABOUT_THE_PROGRAM) or not isinstance(error, Exception):
        return True
    return getattr(error, "_autoconv_about_program", False) or _names_a_stand_in(error)


_STAND_INS = re.compile(r"\b(SymbolicTensor|SymbolicObject|Variant|ObjectMethod|NotAssigned|Traced(List|Dict|Set))\b")


def _names_a_stand_in(error: BaseException) -> bool:
    """Whether Python found one of our classes where the program has a value of its own."""
    if type(error) not in (TypeError, AttributeError, ValueError):
        return False
    return any(isinstance(part, str) and _STAND_INS.search(part) for part in error.args)


def is_about_program(error: Exception) -> bool:
    """Whether the error is one of tracing itself, rather than one that the user's code would raise there."""
    if cannot_be_caught(error):
        return True
    if type(error) is StagedException:
        return False
    if getattr(error, "_autoconv_run_time", False):
        return False
    return raised_by_us(error) and not isinstance(error, _RUN_TIME)


def record_raise(region: Region, error: BaseException) -> None:
    """A node that raises the exception, with its message filled in from tensors when it has any."""
    span = span_of_error(error)
    if type(error) is StagedException:
        region.record("object_raise", [region.lift(error.value.value_in_graph)], {}, span=span)
        return
    if region.contract == COMPILE and holds_symbols(error.args):
        with recording(region):
            error.args = tuple(box(x) if _is_composite(x) and holds_symbols((x,)) else x for x in error.args)
    template, data = template_of(error)
    hidden = any(isinstance(value, (SymbolicTensor, Variant)) for value in vars(error).values())
    own = isinstance(type(error).__init__, FunctionType) and not isinstance(error, AutoconvError)
    if hidden or (template is not None and own):
        raise StagingError(
            f"{type(error).__name__} has its own constructor, and the values it is raised with are known only when "
            "the graph runs",
            place_of(span) if span is not None else None,
            "an exception of Python's own, with the values as its arguments",
        ) from None
    if isinstance(error, BaseExceptionGroup) and any(template_of(part)[1] for part in leaves_of_group(error)):
        raise StagingError(
            "an exception in a group has values that are known only when the graph runs",
            place_of(span) if span is not None else None,
            "exceptions whose arguments are constants",
        ) from None
    error.__traceback__ = None
    for how, link in (("cause", error.__cause__), ("context", error.__context__)):
        if type(link) is StagedException and region.contract != COMPILE and not all(t.weak for t in data):
            error.__cause__ = error.__context__ = None  # its text counts for more than what led to it
        elif type(link) is StagedException:
            _record_linked(region, error, how, link, span)
            return
    inputs = [region.lift(t.value_in_graph) for t in data]
    exception = error if template is None else type(error)
    attributes = {"exception": exception, "template": template}
    if template is not None and (error.__cause__ is not None or error.__context__ is not None):
        attributes["chain"] = error
    region.record("raise", inputs, attributes, span=span)


def _is_composite(value: Any) -> bool:
    """Whether an argument of an exception is no number or object of the graph, but may be made of some."""
    return isinstance(value, (Variant, tuple, list, dict, set))


def _record_linked(region: Region, error: BaseException, how: str, link: Any, span: Any) -> None:
    """Raises an exception with one that only the running graph knows as its cause or context."""
    template, data = template_of(error)
    error.__cause__ = error.__context__ = None
    with recording(region):
        arguments = [_argument(entry, data) for entry in template or ()]
        made = record_object("object_exception", arguments, kind=error if template is None else type(error))
        inputs = [region.lift(x.value_in_graph) for x in (made, link.value)]
        region.record("object_raise", inputs, {"linked": how}, span=span)


def _argument(entry: Any, data: Sequence[Any]) -> Any:
    """One argument of an exception, from its template (see `deferred.template_of`)."""
    if isinstance(entry, int):
        return data[entry]
    if entry and entry[0] is None:
        return entry[1]
    whole: Any = ""
    for piece in entry:
        whole = whole + (piece if isinstance(piece, str) else apply_object("str", data[piece]))
    return whole


def stage_arms(
    index: SymbolicTensor, arms: Sequence[Body], inputs: Sequence[Any], names: Sequence[str]
) -> tuple[Any, ...]:
    """A cond: `index` is a bool (arms: true, false) or an integer that picks the arm."""
    parent = current_region()
    assert parent is not None
    count = len(names)
    while True:
        recorded = _record_arms(parent, arms, inputs, count)
        spots: dict[tuple[Any, ...], Spot] = {}
        for arm in recorded:
            spots.update(arm.spots)
        titles = [*names, *(spot.name for spot in spots.values())]
        columns = [[arm.results[i] for arm in recorded] for i in range(count)]
        columns += [_aligned(spot, [arm.value_of(spot) for arm in recorded], parent) for spot in spots.values()]
        shared = [move_shared(parent, arm, [c[n] for c in columns]) for n, arm in enumerate(recorded)]
        if any(shared):
            continue
        layouts = [_joined(column, recorded, title) for column, title in zip(columns[:count], titles, strict=False)]
        for spot, column in zip(spots.values(), columns[count:], strict=True):
            regions = [arm.region for arm in recorded]
            layouts.append(_joined_contents(spot, column, regions) or _joined(column, recorded, spot.name))
        refuse_changed_copies(parent, spots.values())
        if not move_into_graph(parent, [*columns], layouts, list(spots.values()), count):
            break
    if parent.trace.outside_effect is not None:
        for position, name in enumerate(names):
            for body, arm in zip(arms, recorded, strict=True):
                _check_alias(parent, body, arm.results[position], name)
    for position, arm in enumerate(recorded):
        with recording(arm.region):
            arm.region.graph.outputs = [
                value
                for column, layout in zip(columns, layouts, strict=True)
                for value in emit(column[position], layout, arm.region)
            ]
    captures = unify_captures([arm.region for arm in recorded])
    types = [leaf for layout in layouts for leaf in leaf_types(layout)]
    node = parent.record(
        "cond",
        [index.value_in_graph, *captures],
        {},
        regions=[arm.region.graph for arm in recorded],
        types=types,
        shown="cond",
    )
    if all(arm.diverges for arm in recorded) and any(arm.suspended for arm in recorded):
        raise Suspended(parent)
    values = iter(node.results)
    rebuilt = [rebuild(layout, values) for layout in layouts]
    for spot, value, layout in zip(spots.values(), rebuilt[count:], layouts[count:], strict=True):
        if layout is not NEVER:  # else what follows is not reached
            write_spot(spot, value)
    return tuple(rebuilt[:count])


def _record_arms(parent: Region, arms: Sequence[Body], inputs: Sequence[Any], count: int) -> list[Recorded]:
    kinds = ("true", "false") if len(arms) == 2 else tuple(f"arm_{i}" for i in range(len(arms)))
    recorded = []
    for kind, branch in zip(kinds, arms, strict=True):
        with unnoted_changes(branch, inputs, current_place()):
            recorded.append(record_body(parent, f"cond_{kind}", _applied(branch, inputs), count))
    return recorded


def move_into_graph(
    parent: Region, columns: Sequence[Sequence[Any]], layouts: Sequence[Layout], spots: Sequence[Spot], count: int
) -> bool:
    """Moves lists, dicts and sets of the traced code, whose contents depend on a tensor in more than the values of
    their items, into the graph; says whether there were any, so that the regions have to be recorded again."""
    if parent.contract != COMPILE:
        return False
    moving = []
    for column, layout in zip(columns[:count], layouts[:count], strict=True):
        if is_object_layout(layout):
            moving += [v for v in column if type(v) in PLAIN and parent.is_inside(v._home)]
    for spot, column, layout in zip(spots, columns[count:], layouts[count:], strict=True):
        if type(spot.owner) in PLAIN and not _keeps_shape(column, layout):
            moving.append(spot.owner)
    found = False
    for container in moving:
        if heap_of(container) is None:
            materialise(container)
            found = True
    return found


def move_shared(parent: Region, arm: Recorded | None, values: Sequence[Any]) -> bool:
    """Moves lists, dicts and sets that several of the values hold into the graph, where they stay one. Says whether any
    was there before the arm, which then has to be recorded again."""
    if parent.contract != COMPILE:
        return False
    seen: set[int] = set()
    found = False
    for part in [part for value in values for part in mutable_parts(value)]:
        if id(part) in seen and type(part) in PLAIN and heap_of(part) is None:
            before = arm is None or parent.is_inside(part._home)
            with recording(parent if arm is None or before else arm.region):
                materialise(part)
            found |= before
        seen.add(id(part))
    return found


def _move_new_into_graph(parent: Region, stepped: Recorded, spots: Sequence[Spot]) -> bool:
    """As `move_into_graph`, for what a loop's body was seen to write for the first time."""
    columns, layouts = [], []
    for spot in spots:
        before, after = spot.read(), stepped.value_of(spot)
        later = NEVER if after is NEVER else layout_of(after, stepped.region)
        columns.append([before, after])
        layouts.append(join_layouts(state_layout(before, parent), later, spot.name, parent.contract))
    return move_into_graph(parent, columns, layouts, spots, 0)


def refuse_changed_copies(region: Region, spots: Iterable[Spot]) -> None:
    """Refuses an object that one path changes and another replaces: its copies would not know of each other."""
    for spot in spots:
        if id(spot.owner) in region.trace.frozen:
            raise StagingError(f"a tensor decides which object this is, and {spot.name} is changed", current_place())


def _keeps_shape(column: Sequence[Any], layout: Layout) -> bool:
    """Whether contents written on several paths are as many items of one kind each, so that they stay known."""
    if any(value is not NEVER and not isinstance(value, tuple) for value in column):
        return False
    return isinstance(layout, (Static, Never)) or (
        isinstance(layout, Parts) and all(isinstance(part, (Static, Leaf, Never)) for part in layout.parts)
        and not any(map(is_object_layout, layout.parts))
    )  # fmt: skip


def _check_alias(region: Region, body: Any, value: Any, name: str) -> None:
    """Under `compile`, a list that an arm gives a second name stays one list: plain Python."""
    if type(value) in PLAIN:
        return
    if name.startswith("retval_"):  # what a function returns has no other name any more, unless something changes it
        for part in mutable_parts(value):
            if type(part) in PLAIN:
                if part._outside:  # the result has to be the argument itself
                    region.trace.outside_effect(part, "a tensor decides whether an argument is returned")
                region.trace.frozen[id(part)] = part
        return
    parts = {id(part) for part in mutable_parts(value)}
    if parts and any(id(part) in parts for other in _read_by(body, name) for part in mutable_parts(other)):
        region.trace.outside_effect(region, f"a tensor decides whether {name!r} is another name of a list or dict")


def _read_by(body: Any, name: str, depth: int = 3) -> Iterator[Any]:
    """What the names but `name` hold that a function's body reads from around it."""
    cells = getattr(body, "__closure__", None) or ()
    for known, cell in zip(body.__code__.co_freevars if cells else (), cells, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if known != name:
            yield value
        if depth and isinstance(value, FunctionType):
            yield from _read_by(value, name, depth - 1)


@contextmanager
def unnoted_changes(body: Any, inputs: Any, place: Any) -> Iterator[None]:
    """Refuses a body that changes a list or dict unnoticed by the journal, and takes the change back."""
    held = [part for value in (*inputs, *_read_by(body, "")) for part in mutable_parts(value)]
    spots = [container_spot(part) for part in held if isinstance(part, (list, dict))]
    before = [spot.read() for spot in spots]
    changed = ""
    try:
        yield
    finally:
        for spot, contents in zip(spots, before, strict=True):
            if not _same_items(spot.read(), contents):
                spot.write(contents)
                changed = spot.name
    if changed:
        raise StagingError(
            f"{changed} is changed in place where a tensor decides whether it is",
            place,
            "an assignment of a new value to the name",
        )


def _same_items(now: Any, before: Any) -> bool:
    """Whether the contents of a container are the same objects."""
    if not isinstance(now, (tuple, frozenset)) or not isinstance(before, (tuple, frozenset)):
        return now is before
    if len(now) != len(before):
        return False
    return all(
        a is b or (type(a) is tuple and type(b) is tuple and len(a) == len(b) == 2 and a[0] is b[0] and a[1] is b[1])
        for a, b in zip(now, before, strict=True)
    )


def _applied(arm: Body, inputs: Sequence[Any]) -> Callable[[Region], tuple[Any, ...]]:
    return lambda _: _as_tuple(arm(*inputs))


def _joined(column: list[Any], recorded: list[Recorded], title: str) -> Layout:
    region = recorded[0].region
    if region.contract == COMPILE and _is_another_name(column, region.parent):
        return Leaf(ObjectType(), as_object)
    joined: Layout = NEVER
    layouts = [NEVER if v is NEVER else layout_of(v, arm.region) for v, arm in zip(column, recorded, strict=True)]
    if _is_another_name(column, region.parent):  # it may be changed by either name: each is an arm of its own
        joined = Arms(tuple(dict.fromkeys(filter(is_container, layouts))))
        layouts = [NEVER if is_container(layout) else layout for layout in layouts]
    for layout, arm in zip(layouts, recorded, strict=True):
        joined = join_layouts(joined, layout, title, arm.region.contract)
    return joined


def _joined_contents(spot: Spot, column: Sequence[Any], regions: Sequence[Region]) -> Layout | None:
    """The layout of what a list holds, where only the graph knows how many items; None for anything else."""
    if type(spot.owner) is not TracedList or regions[0].contract == COMPILE:
        return None
    held = [(value, region) for value, region in zip(column, regions, strict=True) if value is not NEVER]
    known = {len(value) for value, _ in held if isinstance(value, tuple)}
    if len(known) < 2 and all(isinstance(value, tuple) for value, _ in held):
        return None
    return joined_lists([layout_of(value, region) for value, region in held], spot.name, regions[0].contract)


def _aligned(spot: Spot, column: list[Any], region: Region) -> list[Any]:
    """What a dict holds on several paths, with all keys on each: a tensor decides whether one is there."""
    if type(spot.owner) is not TracedDict or region.contract == COMPILE:
        return column
    held = [dict(value) if isinstance(value, tuple) else None for value in column]
    keys = list(dict.fromkeys(key for pairs in held if pairs is not None for key in pairs))
    if all(pairs is None or list(pairs) == keys for pairs in held):
        return column
    return [
        value if pairs is None else tuple((key, pairs.get(key, MISSING)) for key in keys)
        for value, pairs in zip(column, held, strict=True)
    ]


def _is_another_name(column: list[Any], parent: Region | None) -> bool:
    """Whether a tensor decides that a name is another name of a list, dict or set that is there already."""
    there = [v for v in column if type(v) in PLAIN and parent is not None and parent.is_inside(v._home)]
    if not there:
        return False
    # Under `compile`, what is known of it would be put together anew.
    copied = there[0]._home.contract == COMPILE and heap_of(there[0]) is None and holds_symbols(there[0])
    return any(v is not there[0] for v in column if not (v is NEVER or (_is_nothing(v) and not copied)))


def _is_nothing(value: Any) -> bool:
    return value is NEVER or value is None or isinstance(value, Undefined)


def stage_loop(
    test: Callable[..., Any],
    body: Body,
    state: Sequence[Any],
    names: Sequence[str],
    spots: dict[tuple[Any, ...], Spot] | None = None,
    peel: bool = True,
    limited: bool = False,
) -> tuple[Any, ...]:
    """A while loop; types of the state are widened until an iteration keeps them.

    Under `compile`, where a number of Python's becomes one of another kind, the first iteration is one of its own.
    """
    parent = current_region()
    assert parent is not None
    spots = dict(spots or {})
    count = len(names)
    move_shared(parent, None, state)
    layouts = [state_layout(value, parent) for value in state]
    for turn in range(_ROUNDS):
        initial = [*state, *(spot.read() for spot in spots.values())]
        layouts += [state_layout(value, parent) for value in initial[len(layouts) :]]
        titles = [*names, *(spot.name for spot in spots.values())]
        with unnoted_changes(body, state, current_place()):
            checked, stepped, shown = _record_iteration(parent, test, body, layouts, spots, count)
        limit = stepped.region.most_iterations
        if limit is not None and not limited:
            return _limited(limit, test, body, state, names, spots)
        if checked.wrote:
            return _tested_in_body(test, body, state, names)
        new = {k: s for k, s in {**checked.spots, **stepped.spots}.items() if k not in spots}
        after = [*stepped.results, *(stepped.value_of(spot) for spot in spots.values())]
        shared = move_shared(parent, stepped, after)
        widened = [
            join_layouts(layout, NEVER if value is NEVER else layout_of(value, stepped.region), title, parent.contract)
            for layout, value, title in zip(layouts[:count], after, titles, strict=False)
        ]
        if parent.contract != COMPILE:
            widened = [settled_lists(x, name, parent.contract) for x, name in zip(widened, names, strict=True)]
        for position, (spot, layout) in enumerate(zip(spots.values(), layouts[count:], strict=True), count):
            before = initial[position]
            initial[position], after[position] = _aligned(spot, [before, after[position]], parent)
            if initial[position] is not before:
                layout = _with_keys(layout, state_layout(initial[position], parent))
            widened.append(_widened_contents(spot, layout, after[position], stepped.region))
        if peel and parent.contract == COMPILE and not new and any(map(_changes_kind, layouts[:count], widened)):
            return _peeled(test, body, state, names, spots)
        if parent.contract == COMPILE and turn >= _PATIENCE:
            widened = [
                layout if layout == wider else joined_objects(layout, wider)
                for layout, wider in zip(layouts, widened, strict=True)
            ]
        columns = [[value] for value in initial]
        moved = move_into_graph(parent, columns, widened, list(spots.values()), count)
        moved |= shared
        moved |= _move_new_into_graph(parent, stepped, list(new.values()))
        if moved:
            spots = {key: spot for key, spot in spots.items() if heap_of(spot.owner) is None}
            new = {key: spot for key, spot in new.items() if heap_of(spot.owner) is None}
            widened = widened[:count]
        refuse_changed_copies(parent, [*spots.values(), *new.values()])
        if not new and not moved and widened == layouts:
            for show in shown:
                emit_output(parent, show)
            return _finish_loop(parent, checked, stepped, layouts, initial, after, spots, count)
        layouts = widened
        if new:
            spots.update(new)
    raise StagingError(
        "the types of this loop's variables do not settle: " + ", ".join(names),
        current_place(),
        "values of one type, whatever the iteration",
    )


def _widened_contents(spot: Spot, layout: Layout, value: Any, region: Region) -> Layout:
    """The layout of what a loop writes to a spot: what it held before, and what after an iteration."""
    later = NEVER if value is NEVER else layout_of(value, region)
    if type(spot.owner) is TracedList and region.contract != COMPILE:
        grown = isinstance(layout, Grown) or isinstance(later, Grown)
        if grown or (isinstance(value, tuple) and _length(layout) != len(value)):
            return joined_lists([x for x in (layout, later) if x is not NEVER], spot.name, region.contract)
    return join_layouts(layout, later, spot.name, region.contract)


def _with_keys(layout: Layout, wanted: Layout) -> Layout:
    """The layout of what a dict holds, with the keys that `wanted` has in addition."""
    assert isinstance(wanted, Parts)
    known = {_key(pair): pair for pair in (layout.parts if isinstance(layout, Parts) else ())}
    return Parts(tuple, None, tuple(known.get(_key(pair), pair) for pair in wanted.parts))


def _key(pair: Layout) -> Any:
    if isinstance(pair, Static):
        return pair.value[0]
    assert isinstance(pair, Parts) and isinstance(pair.parts[0], Static)
    return pair.parts[0].value


def _length(layout: Layout) -> int:
    return len(layout.parts) if isinstance(layout, Parts) else len(layout.value) if isinstance(layout, Static) else -1


def _changes_kind(before: Layout, after: Layout) -> bool:
    """Whether a number turned out to be of more than one kind."""
    return isinstance(before, (Static, Leaf)) and isinstance(after, Arms) and all(map(is_number_layout, after.arms))


def _peeled(test: Any, body: Body, state: Sequence[Any], names: Sequence[str], spots: Any) -> tuple[Any, ...]:
    from autoconv.operators.conditionals import is_staged, truth

    def first_and_rest(*values: Any) -> tuple[Any, ...]:
        return stage_loop(test, body, _as_tuple(body(*values)), names, spots, peel=False)

    first = test(*state)
    if not is_staged(first):
        return first_and_rest(*state) if first else tuple(state)
    return stage_arms(truth(first), [first_and_rest, lambda *values: values], state, names)


def _limited(
    limit: Any, test: Any, body: Body, state: Sequence[Any], names: Sequence[str], spots: Any
) -> tuple[Any, ...]:
    """The loop, which ends after `limit` iterations as well."""

    def stays(count: Any, *values: Any) -> Any:
        arms: list[Body] = [lambda: (test(*values),), lambda: (False,)]
        return stage_arms(count < limit, arms, [], ("condition",))[0]

    def step(count: Any, *values: Any) -> tuple[Any, ...]:
        return (count + 1, *_as_tuple(body(*values)))

    return stage_loop(stays, step, (0, *state), ("number of iterations", *names), spots, limited=True)[1:]


def _tested_in_body(test: Any, body: Body, state: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    """A loop whose test writes lists, attributes or outer names, which are state of the body alone: the test is made
    before the loop, and again at the end of each iteration."""
    from autoconv.operators.conditionals import truth

    def step(*values: Any) -> tuple[Any, ...]:
        after = _as_tuple(body(*values[:-1]))
        return (*after, truth(test(*after), "while loop"))

    first = truth(test(*state), "while loop")
    return stage_loop(lambda *values: values[-1], step, (*state, first), (*names, "the test of the loop"))[:-1]


def _record_iteration(
    parent: Region, test: Any, body: Body, layouts: Sequence[Layout], spots: dict[Any, Spot], count: int
) -> tuple[Recorded, Recorded, list[Callable[[], None]]]:
    """The test and the body recorded for these layouts, and what they printed meanwhile."""
    outer_output, parent.trace.pending_output = parent.trace.pending_output, []
    try:
        bound: dict[Any, Any] = {}
        tested = lambda region: [_test(region, test, layouts, spots, count, bound)]
        checked = record_body(parent, "while_cond", tested, 1)
        checked.wrote = any(
            key not in bound or not _same_contents(checked.written[key], bound[key]) for key in checked.spots
        )
        stepped = record_body(parent, "while_body", lambda region: _step(region, body, layouts, spots, count), count)
    finally:
        shown, parent.trace.pending_output = parent.trace.pending_output, outer_output
    return checked, stepped, shown or []


def _bind(region: Region, layouts: Sequence[Layout], spots: dict[Any, Spot], count: int) -> list[Any]:
    """Parameters for the state, as Python values; those of spots are written to them."""
    values = []
    for layout in layouts:
        leaves = [region.graph.add_parameter(leaf, f"{region.trace.scope}Placeholder") for leaf in leaf_types(layout)]
        values.append(rebuild(layout, iter(leaves)))
    for spot, value in zip(spots.values(), values[count:], strict=True):
        write_spot(spot, value)
    return values[:count]


def _test(region: Region, test: Any, layouts: Any, spots: Any, count: int, bound: dict[Any, Any]) -> Any:
    """The test for state of those layouts; `bound` takes what its spots hold before."""
    from autoconv.operators.conditionals import truth

    values = _bind(region, layouts, spots, count)
    bound.update((key, spot.read()) for key, spot in spots.items())
    return truth(test(*values), "while loop")


def _same_contents(now: Any, before: Any) -> bool:
    return _same_items(now, before) or (type(now) is type(before) is frozenset and now == before)


def _step(region: Region, body: Any, layouts: Any, spots: Any, count: int) -> Sequence[Any]:
    return _as_tuple(body(*_bind(region, layouts, spots, count)))


def _finish_loop(
    parent: Region,
    checked: Recorded,
    stepped: Recorded,
    layouts: Sequence[Layout],
    initial: Sequence[Any],
    after: Sequence[Any],
    spots: dict[Any, Spot],
    count: int,
) -> tuple[Any, ...]:
    first = [v for value, layout in zip(initial, layouts, strict=True) for v in emit(value, layout, parent)]
    with recording(checked.region):
        condition = checked.results[0]
        bool_layout = Leaf(_bool_type())
        checked.region.graph.outputs = emit(condition, bool_layout, checked.region)
    with recording(stepped.region):
        stepped.region.graph.outputs = [
            v for value, layout in zip(after, layouts, strict=True) for v in emit(value, layout, stepped.region)
        ]
    captures = unify_captures([checked.region, stepped.region], len(first))
    node = parent.record(
        "while",
        [*first, *captures],
        {"state": len(first)},
        regions=[checked.region.graph, stepped.region.graph],
        types=[leaf for layout in layouts for leaf in leaf_types(layout)],
        shown="while",
    )
    values = iter(node.results)
    rebuilt = [rebuild(layout, values) for layout in layouts]
    for spot, value in zip(spots.values(), rebuilt[count:], strict=True):
        write_spot(spot, value)
    return tuple(rebuilt[:count])


def _bool_type() -> Any:
    return TensorType(bool_, (), True)


def unify_captures(regions: Sequence[Region], leading: int | Sequence[int] = 0) -> list[Value]:
    """Gives all regions the same captures in the same order, behind `leading` parameters (of each, where it is a
    sequence); returns the outer values."""
    union: dict[Value, None] = {}
    for region in regions:
        union.update(dict.fromkeys(region.captured()))
    for position, region in enumerate(regions):
        captured = region.captured()
        own = region.graph.parameters[: leading if isinstance(leading, int) else leading[position]]
        inner = []
        for outer in union:
            if outer not in captured:
                captured[outer] = region.graph.add_parameter(outer.type, outer.name)
                region.captures[outer] = captured[outer]
            inner.append(captured[outer])
        region.graph.parameters = [*own, *inner]
    return list(union)


def write_spot(spot: Spot, value: Any) -> None:
    """Writes, and notes it in the journal of the region that is being recorded now."""
    region = current_region()
    journal = nearest_journal(region)
    if journal is not None:
        journal.note(spot)
    if isinstance(spot.owner, (list, dict, set)) and type(value).__name__ == "Variant":
        is_list = isinstance(spot.owner, list)
        raise StagingError(
            f"{spot.name} that was there before the call has another length or other keys depending on a tensor",
            current_place(),
            "a list made in the function, and returned"
            if is_list
            else "keys that are there from the start, with None where there is no value yet",
        )
    if may_be_missing(value) and spot.kind:
        value = _maybe_missing(spot, value)
    spot.write(value)


def _maybe_missing(spot: Spot, value: Variant) -> Variant:
    """A value that may not be there, as its reads expect it."""
    region = current_region()
    if spot.kind == "attribute" and region is not None:
        expect_missing(region, spot.owner, spot.key[1])
        return value
    arms = [Undefined(spot.name) if arm is MISSING else arm for arm in value.values]
    return Variant(value.tag, [Static(arm) if isinstance(arm, Undefined) else layout
                               for arm, layout in zip(arms, value.layouts, strict=True)], arms)  # fmt: skip


def nearest_journal(region: Region | None) -> Journal | None:
    return region.journal if region is not None else None


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return () if results is None else tuple(results)


__all__ = ["AbandonTrace", "Static", "record_body", "record_raise", "stage_arms", "stage_loop"]
