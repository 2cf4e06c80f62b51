"""Outcomes of calls in a comparable form: result or exception, output, and final arguments and globals."""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import linecache
import math
import re
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

TOLERANCE = 1e-12
# Types whose values are compared by calling or exhausting them.
_COMPARED_BY_EFFECT = (types.FunctionType, types.BuiltinMethodType, types.MethodType, types.MethodWrapperType, Iterator)
# The part that a region adds to the qualified names of functions inside it, which some messages contain.
_REGION = re.compile(r"(?:if|else|loop|try|except|with)_(?:body|test)[_0-9]*\.<locals>\.")
_CLOCK = hasattr(signal, "setitimer")


class TooLongError(BaseException):
    """Raised in a call that takes too long."""


class LeakError(AssertionError):
    """Raised for a value of a graph under construction in a place where a plain value belongs."""


def load(source: str, name: str) -> dict[str, Any]:
    """Return the names of a module with that text; tracebacks and the converter find the text under `name`."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"__name__": "programs"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(source, name, "exec", dont_inherit=True), names)
    return names


def outcomes(function: Callable[..., Any], names: dict[str, Any], inputs: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the observable outcome of each call in turn."""
    return [outcome(function, names, arguments) for arguments in inputs]


def outcome(function: Callable[..., Any], names: dict[str, Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    argument_copies = copy.deepcopy(arguments)
    output = io.StringIO()
    # A generator may yield while it is closed, which Python reports on standard error.
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result: tuple[str, Any] = "returns", function(*argument_copies)
        except Exception as error:
            result = "raises", error
    indices: dict[int, Any] = {}  # shared by all parts: a returned list may be an argument or a global
    return {
        "arguments": freeze(list(argument_copies), indices),
        "globals": {name: freeze(value, indices) for name, value in names.items() if _is_data(name, value)},
        "result": (result[0], freeze(result[1], indices)),
        "output": output.getvalue(),
    }


def _is_data(name: str, value: Any) -> bool:
    """Return whether a global is data of the program, which its functions may change."""
    if name.startswith(("__", "ag__")) or isinstance(value, types.ModuleType):
        return False
    return isinstance(value, (int, float, list, dict, set, str)) or (isinstance(value, type) and name == "Box")


def freeze(value: Any, earlier_values: dict[int, Any] | None = None, depth: int = 0) -> Any:
    """Return the value as nested tuples with the names of types; raises LeakError for a symbolic tensor.

    A mutable value that was seen before becomes ("again", its index in `earlier_values`).
    """
    kind, earlier_values = type(value).__name__, {} if earlier_values is None else earlier_values
    if kind in ("SymbolicTensor", "Variant", "Undefined") or kind.endswith("Tensor"):
        if kind == "EagerTensor":
            return kind, repr(value)
        raise LeakError(f"a {kind} leaks: {value!r}"[:200])
    if isinstance(value, (bool, int, float, np.generic)):
        return kind, value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (str, bytes, type(None))):
        return kind, _REGION.sub("", value) if isinstance(value, str) else value
    if not isinstance(value, (tuple, frozenset, range, slice, BaseException, type)) and not callable(value):
        if id(value) in earlier_values:
            return "again", list(earlier_values).index(id(value))
        earlier_values[id(value)] = value  # kept, so that no other takes its id
    return kind, *(_parts(value, earlier_values, depth + 1) if depth < 7 else ["..."])


def _call_or_exhaust(value: Any) -> Any:
    """Return the result of a function without arguments, or the remaining items of an iterator, or the exception."""
    try:
        return value() if callable(value) else list(itertools.islice(value, 100))
    except Exception as error:
        return error


def _parts(value: Any, earlier_values: dict[int, Any], depth: int) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        yield from (freeze(item, earlier_values, depth) for item in value)
    elif isinstance(value, (set, frozenset)):
        yield from sorted((freeze(item, earlier_values, depth) for item in value), key=repr)
    elif isinstance(value, dict):
        yield from (
            (freeze(key, earlier_values, depth), freeze(item, earlier_values, depth)) for key, item in value.items()
        )
    elif isinstance(value, (slice, range)):
        yield from (freeze(part, earlier_values, depth) for part in (value.start, value.stop, value.step))
    elif isinstance(value, _COMPARED_BY_EFFECT):
        yield freeze(_call_or_exhaust(value), earlier_values, depth)
    elif isinstance(value, np.ndarray):
        yield from (str(value.dtype), value.shape, freeze(value.tolist()))
    elif isinstance(value, BaseException):
        yield freeze(value.args, earlier_values, depth)
        if value.__cause__ is not None:
            yield "from", freeze(value.__cause__, earlier_values, depth)
    elif isinstance(value, type):
        yield freeze(getattr(value, "scale", None))
    elif hasattr(value, "__dict__") and not callable(value):
        yield from ((name, freeze(item, earlier_values, depth)) for name, item in sorted(vars(value).items()))


def difference(expected: Sequence[Any], actual: Sequence[Any], inputs: Sequence[tuple[Any, ...]]) -> tuple[str, str]:
    """Return the kind and the description of the first difference, two empty texts without any."""
    for number, (expected_outcome, actual_outcome) in enumerate(zip(expected, actual, strict=True)):
        for part in ("result", "output", "arguments", "globals"):
            if not values_agree(expected_outcome[part], actual_outcome[part]):
                call = f"call {number + 1}, program({', '.join(map(repr, inputs[number]))})"
                expected_text, actual_text = _shorten(expected_outcome[part]), _shorten(actual_outcome[part])
                text = f"{call}: {part}: expected {expected_text}, found {actual_text}"
                return f"{part}: {_difference_kind(part, expected_outcome[part], actual_outcome[part])}", text
    return "", ""


def _difference_kind(part: str, expected: Any, actual: Any) -> str:
    if part != "result":
        return "differs"
    if expected[0] != actual[0] or _summary(expected) != _summary(actual):
        return f"{_summary(expected)} became {_summary(actual)}"
    if expected[0] == "raises":
        return f"{_summary(expected)} with another {'argument' if expected[1][1] != actual[1][1] else 'cause'}"
    return first_change(expected[1], actual[1])


def _summary(result: Any) -> str:
    return f"raises {result[1][0]}" if result[0] == "raises" else "returns"


def first_change(expected: Any, actual: Any) -> str:
    """Describe the first part that differs: "int became float", or "another int"."""
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual) and expected:
        if expected[0] != actual[0] and isinstance(expected[0], str):
            return f"{expected[0]} became {actual[0]}"
        for expected_part, actual_part in zip(expected[1:], actual[1:], strict=True):
            if not values_agree(expected_part, actual_part):
                return first_change(expected_part, actual_part) if isinstance(
                    expected_part, tuple
                ) else f"another {expected[0]}"
    return "another structure"


def _shorten(part: Any) -> str:
    return re.sub(r"\('(int|float|bool|str)', ([^()]*?)\)", r"\1 \2", repr(part))[:600]


def values_agree(expected: Any, actual: Any) -> bool:
    """Return whether values and types are equal; floats that are not short binary fractions may differ slightly."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, tuple):
        return len(expected) == len(actual) and all(map(values_agree, expected, actual))
    if isinstance(expected, dict):
        return expected.keys() == actual.keys() and all(values_agree(expected[key], actual[key]) for key in expected)
    if isinstance(expected, float):
        if repr(expected) == repr(actual):
            return True
        exact = math.isfinite(expected) and (expected * 1024).is_integer()
        return not exact and abs(expected - actual) <= TOLERANCE * max(abs(expected), abs(actual))
    return bool(expected == actual)


def count_paths(source: str, inputs: Sequence[tuple[Any, ...]]) -> int:
    """Return the number of different sets of lines that the calls execute in plain Python."""
    name = "<paths>"
    names = load(source, name)
    line_sets: set[frozenset[int]] = set()
    lines: set[int] = set()

    def tracer(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != name:
            return None
        lines.add(frame.f_lineno)
        return tracer

    for arguments in inputs:
        lines = set()
        previous_tracer = sys.gettrace()
        sys.settrace(tracer)
        try:
            outcome(names["program"], names, arguments)
        finally:
            sys.settrace(previous_tracer)
        line_sets.add(frozenset(lines))
    return len(line_sets)


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise TooLongError in the block after so many seconds of the processor, or ten times as many of the clock.

    The processor's time counts first, so that the machine's load changes no verdict. No effect where signals cannot do
    it.
    """
    if not _CLOCK:
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLongError

    clocks = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, 10 * seconds))
    previous_handlers = [signal.signal(number, stop) for _, number, _ in clocks]
    for clock, _, limit in clocks:
        signal.setitimer(clock, limit, 0.2)
    try:
        yield
    finally:
        for (clock, number, _), handler in zip(clocks, previous_handlers, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(number, handler)
