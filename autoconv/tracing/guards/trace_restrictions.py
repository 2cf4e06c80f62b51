"""Restrictions of traces under `compile`: the actions that may be part of a graph, with plain Python's meaning.

An action that has to happen on every call, and cannot be part of a graph yet, makes the call run as plain Python.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import sys
import time
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph
from autoconv.graph.types import ObjectType
from autoconv.operators.calls.call import has_user_equality
from autoconv.operators.numpy.calls import UnsupportedCall
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.shared_identity import restart_for_shared_objects
from autoconv.operators.regions.tracing_signals import AbandonTrace
from autoconv.operators.regions.value_layout import is_created_here
from autoconv.operators.support.debuggers import debugger_name
from autoconv.operators.values.instances import is_user_defined
from autoconv.ops.numpy.list_arrays import is_guess
from autoconv.ops.python.attribute_access import may_compute_attribute, runs_user_code
from autoconv.ops.python.objects import LIBRARY_NAMES
from autoconv.ops.python.reversibility import can_undo, may_be_irreversible
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, materialise
from autoconv.runtime.objects.symbolic_objects import record_object
from autoconv.runtime.recording.contracts import CALL, ITERATION, NODE
from autoconv.runtime.recording.regions import Trace, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import attributes_of, has_attributes
from autoconv.runtime.support.immutable_classes import is_method_without_effects
from autoconv.runtime.support.structure import is_structure, plain_class, structure_parts
from autoconv.runtime.support.trace_callables import is_called_unconverted
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_PURE_BUILTINS = frozenset(
    {
        abs, all, any, ascii, bin, bool, bytes, callable, chr, complex, dict, divmod, enumerate, filter, float, format,
        frozenset, getattr, hasattr, hash, hex, id, int, isinstance, issubclass, iter, len, list, map, max, min, object,
        oct, ord, pow, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, type, zip, property,
        itertools.chain, itertools.product, itertools.combinations, itertools.permutations, itertools.islice,
        itertools.repeat, itertools.accumulate, itertools.zip_longest, functools.reduce, functools.partial,
        sys.exit,  # which only raises SystemExit
    }
)  # fmt: skip
_PURE_MODULES = frozenset({"math", "_operator", "operator", "cmath"})
# Methods of arrays without side effects.
_READING_METHODS = frozenset(
    {
        "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "copy", "cumprod", "cumsum",
        "diagonal", "dot", "flatten", "item", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape",
        "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "tolist", "trace", "transpose", "var",
    }
)  # fmt: skip
ATTEMPT, SECONDS = "attempt", "seconds"
WORK_LIMITS = {CALL: 5_000, ITERATION: 10_000, NODE: 8_000, ATTEMPT: 40}  # for the tracing of one call
# For traces that serve only calls with the same values, where calls are timed.
_LIMITS_OF_VALUE_TRACES = {CALL: 500, ITERATION: 1_000}
SECONDS_LIMIT = 1.0  # processor seconds, where calls are timed; other traces must not depend on a clock
_CLOCK_INTERVAL = 8  # calls, iterations or nodes between two readings of the clock, each of which is a system call
_LIMIT_MESSAGES = {
    CALL: "tracing runs more than {:,} calls of functions, which plain Python runs sooner",
    ITERATION: "loops that are unrolled while tracing take more than {:,} iterations",
    NODE: "the graph has more than {:,} nodes, most of them from unrolled loops",
    SECONDS: "recording the trace takes more than {:.1f} s",
    ATTEMPT: "the trace was restarted more than {:,} times, because of what it writes or what its objects are",
}
_IMMUTABLE_CLASSES = (str, bytes, int, float, bool, complex, tuple, frozenset, range, slice)
_METHOD_OWNERS = (*_IMMUTABLE_CLASSES, list, dict, set)  # whose builtin methods change at most the object itself


class RunPlain(AbandonTrace):
    """Raised to abandon the trace, as the call has to run as plain Python for `reason`, a text for users."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class WorkLimitExceeded(RunPlain):
    """Raised where tracing takes more work than WORK_LIMITS allows."""


class TracingBudget:
    """The cost of tracing for one call: calls and iterations of loops that ran in Python, recorded nodes, and attempts.

    A trace runs an iteration some fifty times as slowly as Python does, and a call some five hundred times. A node
    takes longer to compile than most ops take to run. A call whose trace exceeds one of `WORK_LIMITS` runs plain. If
    `times_calls` is true (see `tiers`), so does one that takes longer than `SECONDS_LIMIT` to record. If
    `serves_same_values` is true, the limits are lower, because other values of the arguments need another trace. A call
    of the budget counts one `unit`, a key of `WORK_LIMITS`.

    The limit in seconds falls with each trace of the process that exceeded it: functions that call each other are often
    all too costly to trace.
    """

    __slots__ = ("_end_time", "_limits", "_seconds", "counts")

    exceeded_count = 0  # traces of the process that exceeded the limit in seconds

    def __init__(self, *, times_calls: bool, serves_same_values: bool = False) -> None:
        self._limits = WORK_LIMITS | (_LIMITS_OF_VALUE_TRACES if times_calls and serves_same_values else {})
        self.counts = dict.fromkeys(WORK_LIMITS, 0)
        self._seconds = SECONDS_LIMIT / (1 + TracingBudget.exceeded_count)
        self._end_time = time.thread_time() + self._seconds if times_calls else None

    def __call__(self, unit: str) -> None:
        count = self.counts[unit] = self.counts[unit] + 1
        if count > self._limits[unit]:
            raise WorkLimitExceeded(_LIMIT_MESSAGES[unit].format(self._limits[unit]))
        if self._end_time is not None and count % _CLOCK_INTERVAL == 0 and time.thread_time() > self._end_time:
            TracingBudget.exceeded_count += 1
            raise WorkLimitExceeded(_LIMIT_MESSAGES[SECONDS].format(self._seconds))


class Specialise(AbandonTrace):
    """Raised to restart the trace with the values of the leaves at `positions` as part of the cache key.

    Python code needs these values while tracing.
    """

    def __init__(self, positions: frozenset[int]) -> None:
        self.positions = positions
        super().__init__(positions)


def require_pure(trace: Trace, function: Any) -> None:
    """Raise RunPlain for a function that is not converted and not known to be pure."""
    if type(function) is UnsupportedCall:
        raise RunPlain(f"{function.name} is given {function.description}")
    module = getattr(function, "__module__", None) or ""
    is_of_autoconv = module.partition(".")[0] == "autoconv"
    is_operator = module.startswith("autoconv.operators.")  # which converted code of library functions calls as well
    trace.uses_tensors |= is_of_autoconv and not is_operator  # the functions of the public interface return tensors
    if is_called_unconverted(function):
        return
    if trace.uses_arrays and is_of_autoconv:
        raise RunPlain("autoconv's own functions make tensors of NumPy arrays")
    name = getattr(function, "__qualname__", None) or repr(function)
    debugger = debugger_name(function)
    if debugger:
        raise RunPlain(f"{name} calls {debugger}(), which works on the lines of plain Python")
    if _has_no_effects(function):
        return
    raise RunPlain(f"{_public_prefix(function, module, name)}{name} is not converted and not known to be pure")


def _public_prefix(function: Any, module: str, name: str) -> str:
    """Return the module by which programs name a function, with a dot: "io." where it is "_io", "" for builtins."""
    if not module or getattr(builtins, name, None) is function:
        return ""
    public_module = module.lstrip("_")
    is_public = getattr(sys.modules.get(public_module), name, None) is function
    return f"{public_module}." if is_public else f"{module}."


def _has_no_effects(function: Any) -> bool:
    """Return whether a function that is not converted may run while tracing, as it has no side effects."""
    if has_user_equality(function):  # the program's `__eq__` would run in the searches
        return False
    try:
        if function in _PURE_BUILTINS or function in LIBRARY_NAMES:
            return True
    except TypeError:
        return False
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, operator.methodcaller):  # it calls a method of any argument
        return False
    if module in _PURE_MODULES or module.partition(".")[0] == "autoconv":
        return True
    if isinstance(function, types.BuiltinMethodType):
        owner = getattr(function, "__self__", None)
        if isinstance(owner, (np.ndarray, np.generic)):  # an array of the program, guarded by its contents
            return function.__name__ in _READING_METHODS
        return isinstance(owner, _METHOD_OWNERS) or is_method_without_effects(owner, function.__name__)
    if isinstance(function, (types.WrapperDescriptorType, types.MethodDescriptorType)):  # such as tuple.__getitem__
        return function.__objclass__ in _IMMUTABLE_CLASSES
    if isinstance(function, type):
        if issubclass(function, (BaseException, tuple)):
            has_own_creation = is_user_defined(function.__new__) or is_user_defined(function.__init__)
            return not has_own_creation and _has_plain_metaclass(function)
        return function in (np.float64, np.int64, np.vectorize)
    # A ufunc of `np.frompyfunc` has loops over objects only, and runs a function of the program.
    return isinstance(function, np.ufunc) and not all("O" in loop for loop in function.types)


def _has_plain_metaclass(cls: type) -> bool:
    """Return whether the metaclass does not define `__call__`, so that a call of the class only makes an object."""
    return type(cls).__call__ is type.__call__


def preserve_identities(result: Any, outside_values: Iterable[Any], stored_values: Iterable[Any]) -> None:
    """Preserve the identity of lists and dicts that are both in the result and in one of `stored_values`.

    They become objects of the graph; other containers in the result are new ones on each call. `outside_values` are the
    values that existed before the call, with their parts. RestartTrace or RunPlain is raised if the result has a
    container among these.
    """
    stored_values = [*stored_values]
    candidates = (part for part in outside_values if type(part) not in _IMMUTABLE_CLASSES)
    outside_ids = {id(part) for part in candidates if not _is_created_by_trace(part)}
    written_ids = {id(part) for value in stored_values for part in _containers_in_result(value)}
    for alternative in result.values if type(result) is Variant else (result,):
        restart_for_shared_objects((alternative, *stored_values))
        _check_alternative(alternative, outside_ids, written_ids)


def _is_created_by_trace(value: Any) -> bool:
    """Return whether the trace created the container, even if an argument holds it now."""
    return type(value) in TRACED_TO_PLAIN and not value._is_argument


def _check_alternative(result: Any, outside_ids: set[int], written_ids: set[int]) -> None:
    """Preserve identities in one result (see `preserve_identities`), given the ids of outside and stored containers."""
    seen_ids = outside_ids | written_ids
    region = current_region()
    assert region is not None
    for part in list(_containers_in_result(result)):
        if id(part) in region.trace.argument_containers:  # the caller's own container is returned
            continue
        if id(part) in outside_ids:
            kind_text = with_article(plain_class(part))
            region.contract.require_original(part, f"{kind_text} that existed before the call is returned as it is")
        if id(part) in seen_ids and type(part) in TRACED_TO_PLAIN and id(part) not in region.trace.frozen_objects:
            materialise(part)  # both references then are to one object of the graph
        elif id(part) in seen_ids:
            raise RunPlain(f"{with_article(plain_class(part))} is returned that has another name too")
        seen_ids.add(id(part))


def _containers_in_result(value: Any, ancestors: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Iterate over the lists, dicts, sets and dataclasses in a result, once for each path to them.

    A part in several arms of one variant counts once, because only one arm exists at run time. Attributes of
    objects that the call makes are searched as well, unless the object is among `ancestors`, those on the path to it.
    """
    if type(value) is Variant:
        yield from {id(part): part for arm in value.values for part in _containers_in_result(arm, ancestors)}.values()
    elif type(value) is set:
        yield value
    elif is_created_here(value) and has_attributes(value) and not any(value is outer for outer in ancestors):
        for part in attributes_of(value).values():
            yield from _containers_in_result(part, (*ancestors, value))
    elif is_structure(value):
        if not isinstance(value, tuple):
            yield value
        for part in structure_parts(value):
            yield from _containers_in_result(part, ancestors)


def require_undoable_guesses(graph: Graph) -> None:
    """Raise RunPlain for a graph that guesses the items of lists and has effects that cannot be undone.

    After a wrong guess, the call could not be repeated.
    """
    guess = next((node for node in graph.walk() if is_guess(node)), None)
    if guess is not None and not (can_undo(graph) and not any(map(may_be_irreversible, graph.walk()))):
        line_text = "" if guess.span is None else f" in line {guess.span.line}"
        raise RunPlain(
            f"the list{line_text} from which an array is created may hold other items than while tracing, and what the "
            "call draws or writes cannot be undone"
        )


# Name of an op that accesses an attribute -> whether it writes the attribute.
_WRITES_ATTRIBUTE = {"object_get_attribute": False, "object_method": False, "object_set_attribute": True,
             "object_delete_attribute": True}  # fmt: skip


def require_undoable_attributes(graph: Graph, classes: Iterable[type]) -> None:
    """Raise RunPlain where an attribute of an unknown object may run user code, and effects cannot be undone.

    `classes` are those that the object may have. A call whose graph meets such an attribute has to be repeated.
    """
    if can_undo(graph) and not any(map(may_be_irreversible, graph.walk())):
        return
    for node in graph.walk():
        if node.op.name in _WRITES_ATTRIBUTE and node.inputs[0].type == ObjectType():
            name = node.attributes["name"]
            writes = _WRITES_ATTRIBUTE[node.op.name]
            cls = next(
                (
                    cls for cls in classes
                    if runs_user_code(cls, name, writes) or (not writes and may_compute_attribute(cls, name))
                ),
                None,
            )  # fmt: skip
            if cls is not None:
                line_text = "" if node.span is None else f" in line {node.span.line}"
                raise RunPlain(
                    f"the attribute {name!r}{line_text} may be that of {with_article(cls)}, whose code would run, and "
                    "what the call prints, draws or writes cannot be undone"
                )


def _fits_print_template(value: Any) -> bool:
    """Return whether the text of a printed value is known while tracing, or is that of one number of the graph."""
    is_number = isinstance(value, SymbolicTensor) and value.weak
    return is_number or isinstance(value, (str, int, float, bool, type(None)))


def record_print(values: Any, sep: Any, end: Any, file: Any, flush: bool) -> None:
    """Record a print as a node; a print to a file makes the call run plain."""
    if file is not None:
        raise RunPlain("print is given a file")
    flush_attribute: dict[str, Any] = {"flush": True} if flush else {}
    if not all(map(_fits_print_template, values)):
        record_object("object_print", values, sep=sep, end=end, **flush_attribute)
        return
    template: list[Any] = []  # texts, and positions in `arguments`
    arguments: list[Any] = []
    for index, value in enumerate(values):
        if index:
            template.append(" " if sep is None else sep)
        if isinstance(value, SymbolicTensor):
            template.append(len(arguments))
            arguments.append(value)
        else:
            template.append(str(value))
    template.append("\n" if end is None else end)
    dispatch.apply("python_print", *arguments, template=tuple(template), **flush_attribute)
