"""Record the body of one region: its results, its writes and its exceptions."""

from __future__ import annotations

import copy
import dis
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from autoconv.errors import (
    AssertionFailedError,
    AutoconvError,
    ConversionError,
    InaccessibleTensorError,
    OperatorNotAllowedInGraphError,
    StagingError,
)
from autoconv.graph.graph import Value
from autoconv.operators.regions.layout import NEVER, Static, Variant, has_leaves
from autoconv.operators.support.deferred_messages import template_of
from autoconv.operators.support.optional_attributes import expect_missing, may_be_missing
from autoconv.operators.support.protected_names import Undefined
from autoconv.ops.python.exception_groups import leaves_of_group
from autoconv.runtime.objects.containers import PLAIN
from autoconv.runtime.objects.rebuilt_arguments import is_rebuilt
from autoconv.runtime.objects.symbolic_objects import (
    StagedException,
    apply_object,
    box,
    holds_created_objects,
    holds_symbols,
    is_of_call,
    record_object,
)
from autoconv.runtime.recording.journal import MISSING, Journal, Location
from autoconv.runtime.recording.regions import Region, current_region, recording, subregion
from autoconv.runtime.recording.tracebacks import raised_by_us
from autoconv.runtime.support.spans import current_place, is_own_file, place_of, span_of_error
from autoconv.runtime.support.structure import is_structure, mutable_parts
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Never turned into an exception raised by the graph: these errors are about the program as a whole.
_ABOUT_THE_PROGRAM = (StagingError, ConversionError, InaccessibleTensorError, OperatorNotAllowedInGraphError)


Body = Callable[..., tuple[Any, ...]]


class AbandonTrace(BaseException):
    """Unwind a trace that cannot go on; the function that started the trace chooses the fallback."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        region = current_region()
        if region is not None:
            region.trace.refusal = self  # survives a `finally` with an early exit, which would discard this exception


class Suspended(BaseException):
    """Unwind an arm that needs the result of a recursive call whose type is not known yet or that never returns."""

    def __init__(self, region: Region) -> None:
        super().__init__()
        self.trace = region.trace
        self.before = region.trace.refusal
        region.trace.refusal = swallowed()

    def caught(self) -> None:
        self.trace.refusal = self.before


def swallowed() -> StagingError:
    """Error for a program that itself discards the exception that suspends the tracing of a recursive function."""
    return StagingError(
        "a function calls itself inside of a finally or except that is left early, and the depth depends on a tensor",
        current_place(),
        "the call outside of that statement",
    )


@dataclass(eq=False)
class Recorded:
    """A recorded arm or body: its region, its results (NEVER where it always raises) and its writes.

    `suspended`: recording ended at a recursive call whose result is not known yet or that never returns.
    """

    region: Region
    results: Sequence[Any]
    written: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    spots: dict[tuple[Any, ...], Location] = field(default_factory=dict)
    diverges: bool = False
    suspended: bool = False
    wrote: bool = False  # for the test of a loop: whether it changes any state

    @contextmanager
    def as_left(self) -> Iterator[None]:
        """Inside the block, restore the state of Python objects as of the end of the arm."""
        before = {key: spot.read() for key, spot in self.spots.items()}
        for key, spot in self.spots.items():
            spot.write(self.written[key])
        try:
            yield
        finally:
            for key, spot in self.spots.items():
                spot.write(before[key])

    def value_of(self, spot: Location) -> Any:
        return NEVER if self.diverges else self.written[spot.key] if spot.key in self.written else spot.read()


def record_body(parent: Region, name: str, body: Callable[[Region], Sequence[Any]], count: int) -> Recorded:
    """Run `body(region)` and record its ops into a new region; `count` is the number of its results.

    An exception that leaves the body becomes one that the graph raises there. Writes to Python objects are rolled back.
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
                "a recursion whose depth depends on a tensor passes new functions or objects as arguments "
                "at each call, which cannot be part of a graph",
                current_place(),
                "arguments that are numbers, arrays, or the same objects at every call; or a loop",
            ) from None
        except BaseException as error:  # any exception of the user's code
            if is_about_program(error):
                region.journal.roll_back()
                raise
            try:
                record_raise(region, error)
            except AutoconvError as refusal:
                raise refusal from None  # without a context: the user's error has not been raised yet
            results, diverges = [NEVER] * count, True
        spots = dict(region.journal.spots)
        changed = {id(spot.owner) for spot in spots.values()}
        left = [_as_it_is_now(value, changed) for value in results]
        written = region.journal.roll_back()
        results = [
            now if now is not value and has_leaves(value, parent) else value
            for value, now in zip(results, left, strict=True)
        ]
    region.journal = None
    return Recorded(region, results, written, spots, diverges, suspends)


def _as_it_is_now(value: object, changed: set[int]) -> Any:
    """Copy an untracked list or dict that the body wrote to, before the rollback.

    A structure of tensors is state by its contents, not by its identity.
    """
    if id(value) in changed and isinstance(value, (list, dict)) and type(value) not in PLAIN and is_structure(value):
        return copy.copy(value)
    return value


@contextmanager
def _named_after(parent: Region, shown: str) -> Iterator[None]:
    """Prefix the names of nodes recorded inside with that of the node that will own their region: `cond/add`."""
    trace = parent.trace
    before = trace.scope
    trace.scope = parent.graph.next_name(before + shown) + "/"
    try:
        yield
    finally:
        trace.scope = before


# Errors that the operators raise on behalf of the user's code; others of this package are about the program.
_RUN_TIME = (LookupError, UnboundLocalError, ArithmeticError, StopIteration, AssertionFailedError)


def cannot_be_caught(error: BaseException) -> bool:
    """Return whether no except clause of the program may catch the error, because it is an error of tracing."""
    if isinstance(error, _ABOUT_THE_PROGRAM) or not is_raised(error) or _is_too_deep(error):
        return True
    return getattr(error, "_autoconv_about_program", False) or _names_a_stand_in(error)


def _is_too_deep(error: BaseException) -> bool:
    """Return whether Python's recursion limit ended the trace, which uses more frames than the program does."""
    region = current_region()
    return type(error) is RecursionError and (region is None or region.contract.runs_plain)


_STAND_INS = re.compile(
    r"\b(SymbolicTensor|SymbolicObject|Variant|(Array|Instance|Number|Object)Method|NotAssigned|HeldIterator|Traced(List|Dict|Set))\b"
    # raised by Python without the name of the class, or with the name of another one
    r"|vars\(\) argument must have __dict__ attribute|super\(type, obj\): obj (must be|\(instance of)"
)


def _names_a_stand_in(error: BaseException) -> bool:
    """Return whether the message names one of our placeholder classes in place of a class of the program."""
    if type(error) not in (TypeError, AttributeError, ValueError):
        return False
    return any(isinstance(part, str) and _STAND_INS.search(part) for part in error.args)


def is_raised(error: BaseException) -> bool:
    """Return whether the program raises the error.

    False for interrupts, for the end of a generator, and for MemoryError: tracing may run out of memory where the
    program does not.
    """
    if isinstance(error, (Exception, SystemExit)) and not isinstance(error, MemoryError):
        return True
    last = error.__traceback__
    if last is None or isinstance(error, (AbandonTrace, Suspended)):
        return False
    answers_to_signals = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()}
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    return (
        code.co_code[last.tb_lasti] == _RAISE and not is_own_file(code.co_filename) and code not in answers_to_signals
    )


_RAISE = dis.opmap["RAISE_VARARGS"]


def is_about_program(error: BaseException) -> bool:
    """Return whether the error is one of tracing itself rather than one that the user's code would raise there."""
    if cannot_be_caught(error):
        return True
    if type(error) is StagedException:
        return False
    if getattr(error, "_autoconv_run_time", False) or isinstance(error, SystemExit):
        return False
    return raised_by_us(error) and not isinstance(error, _RUN_TIME)


def record_raise(region: Region, error: BaseException) -> None:
    """Record a node that raises the exception; symbolic values in its message are formatted at run time."""
    span = span_of_error(error)
    if type(error) is StagedException:
        region.record("object_raise", [region.lift(error.value.value_in_graph)], {}, span=span)
        return
    hidden = False
    given = error.args
    if region.contract.objects_in_graph:
        with recording(region):
            error.args = tuple(box(x) if _is_made_of_symbols(x) else x for x in given)
            hidden = any(map(holds_created_objects, vars(error).values()))
    elif any(is_structure(argument) and has_leaves(argument, region) for argument in given):
        raise StagingError(
            f"{type(error).__name__} is raised with a list, dict or object of values that are known only when the "
            "graph runs", place_of(span) if span is not None else None, "the values themselves as its arguments",
        ) from None  # fmt: skip
    template, data = template_of(error)
    if error.__cause__ is None and error.__context__ is None:  # else an attribute keeps the chain
        error.args = given  # it may be an existing object that is raised on other paths too
    hidden |= any(isinstance(value, (SymbolicTensor, Variant)) for value in vars(error).values())
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
            "an exception in a group has values that are known only at run time",
            place_of(span) if span is not None else None,
            "exceptions whose arguments are constants",
        ) from None
    error.__traceback__ = None
    for how, link in (("cause", error.__cause__), ("context", error.__context__)):
        if type(link) is StagedException and not region.contract.python_exceptions and not all(t.weak for t in data):
            error.__cause__ = error.__context__ = None  # `function` keeps the message and drops the chain
        elif type(link) is StagedException:
            _record_linked(region, error, how, link, span)
            return
    inputs = [region.lift(t.value_in_graph) for t in data]
    exception = error if template is None else type(error)
    attributes = {"exception": exception, "template": template}
    if template is not None and (error.__cause__ is not None or error.__context__ is not None):
        attributes["chain"] = error
    region.record("raise", inputs, attributes, span=span)


def _is_made_of_symbols(value: object) -> bool:
    """Return whether an exception's argument is no symbolic value itself but built from some, or by the program."""
    if holds_created_objects(value) or is_rebuilt(value) or is_of_call(value):
        return True
    if any(type(part) in PLAIN for part in mutable_parts(value)):
        return True
    return isinstance(value, (Variant, tuple, list, dict, set)) and holds_symbols((value,))


def _record_linked(region: Region, error: BaseException, how: str, link: Any, span: Any) -> None:
    """Raise an exception whose cause or context is known only at run time."""
    template, data = template_of(error)
    cause = error.__cause__ if how == "context" else None
    error.__cause__ = error.__context__ = None
    with recording(region):
        arguments = [_argument(entry, data) for entry in template or ()]
        made = record_object("object_exception", arguments, kind=error if template is None else type(error))
        if cause is not None:
            record_object("object_set_attribute", [made, cause], name="__cause__")
        inputs = [region.lift(x.value_in_graph) for x in (made, link.value)]
        region.record("object_raise", inputs, {"linked": how}, span=span)


def _argument(entry: Any, data: Sequence[Any]) -> Any:
    """Build one argument of an exception from its template (see `deferred_messages.template_of`)."""
    if isinstance(entry, int):
        return data[entry]
    if entry and entry[0] is None:
        return entry[1]
    whole: Any = ""
    for piece in entry:
        whole = whole + (piece if isinstance(piece, str) else apply_object("str", data[piece]))
    return whole


def applied(arm: Body, inputs: Sequence[Any]) -> Callable[[Region], tuple[Any, ...]]:
    return lambda _: as_tuple(arm(*inputs))


def unify_captures(regions: Sequence[Region], leading: int | Sequence[int] = 0) -> list[Value]:
    """Give all regions the same captures in the same order, after their leading parameters; return the outer values.

    `leading` is the number of leading parameters, or a sequence with one number for each region.
    """
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


def write_spot(spot: Location, value: Any) -> None:
    """Write a value and note the write in the journal of the region being recorded."""
    region = current_region()
    journal = nearest_journal(region)
    if journal is not None:
        journal.note(spot)
    if spot.kind == "global":
        refuse_missing(spot, value)
    elif isinstance(spot.owner, (list, dict, set)) and type(value).__name__ == "Variant":
        is_list = isinstance(spot.owner, list)
        raise StagingError(
            f"{spot.name} existed before the call, and its length or keys depend on a tensor",
            current_place(),
            "a list made in the function, and returned"
            if is_list
            else "all keys from the start, with None where there is no value yet",
        )
    if may_be_missing(value) and spot.kind:
        value = _maybe_missing(spot, value)
    spot.write(value)


def refuse_missing(spot: Location, value: object) -> None:
    """Raise StagingError for a global name that may be unbound: reads of globals have no check for it."""
    values = value.values if type(value) is Variant else (value,)
    if any(isinstance(arm, Undefined) or (arm is MISSING and len(values) > 1) for arm in values):
        raise StagingError(
            f"whether the global name {spot.name!r} exists depends on a tensor", current_place(),
            "a value for it on every path, such as None",
        )  # fmt: skip


def _maybe_missing(spot: Location, value: Variant) -> Variant:
    """Convert a possibly missing value to the form that reads of its location expect."""
    region = current_region()
    if spot.kind == "attribute" and region is not None:
        expect_missing(region, spot.owner, spot.key[1])
        return value
    arms = [Undefined(spot.name) if arm is MISSING else arm for arm in value.values]
    return Variant(value.tag, [Static(arm) if isinstance(arm, Undefined) else layout
                               for arm, layout in zip(arms, value.layouts, strict=True)], arms)  # fmt: skip


def nearest_journal(region: Region | None) -> Journal | None:
    return region.journal if region is not None else None


def as_tuple(results: Any) -> tuple[Any, ...]:
    return () if results is None else tuple(results)
