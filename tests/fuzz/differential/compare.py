"""What calls of a program do, in a form that compares: result or exception, output, arguments and globals after."""

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
# What is compared by what it does.
_KEPT = (types.FunctionType, types.BuiltinMethodType, types.MethodType, types.MethodWrapperType, Iterator)
# What a region adds to the qualified name of a function inside it, which some messages show.
_REGION = re.compile(r"(?:if|else|loop|try|except|with)_(?:body|test)[_0-9]*\.<locals>\.")
_CLOCK = hasattr(signal, "setitimer")


class TooLongError(BaseException):
    """A call that takes too long."""


class LeakError(AssertionError):
    """A value of a graph under construction where a plain value belongs."""


def load(source: str, name: str) -> dict[str, Any]:
    """The names of a module with that text; tracebacks and the converter find the text under `name`."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"__name__": "programs"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(source, name, "exec", dont_inherit=True), names)
    return names


def outcomes(function: Callable[..., Any], names: dict[str, Any], inputs: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What each call in turn does, all of it seen from outside."""
    return [outcome(function, names, arguments) for arguments in inputs]


def outcome(function: Callable[..., Any], names: dict[str, Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    given = copy.deepcopy(arguments)
    output = io.StringIO()
    # A generator may yield while it is closed, of which Python tells on standard error.
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found: tuple[str, Any] = "returns", function(*given)
        except Exception as error:
            found = "raises", error
    seen: dict[int, Any] = {}  # one for all parts: a list that is returned may be an argument or a global
    return {
        "arguments": freeze(list(given), seen),
        "globals": {name: freeze(value, seen) for name, value in names.items() if _is_data(name, value)},
        "result": (found[0], freeze(found[1], seen)),
        "output": output.getvalue(),
    }


def _is_data(name: str, value: Any) -> bool:
    """A global of the program's own that its functions change."""
    if name.startswith(("__", "ag__")) or isinstance(value, types.ModuleType):
        return False
    return isinstance(value, (int, float, list, dict, set, str)) or (isinstance(value, type) and name == "Box")


def freeze(value: Any, seen: dict[int, Any] | None = None, depth: int = 0) -> Any:
    """The value as nested tuples with the names of types; raises LeakError for a symbolic tensor.

    What can change and was seen before becomes ("again", how manieth it was): `seen` remembers it.
    """
    kind, seen = type(value).__name__, {} if seen is None else seen
    if kind in ("SymbolicTensor", "Variant", "Undefined") or kind.endswith("Tensor"):
        if kind == "EagerTensor":
            return kind, repr(value)
        raise LeakError(f"a {kind} comes out: {value!r}"[:200])
    if isinstance(value, (bool, int, float, np.generic)):
        return kind, value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (str, bytes, type(None))):
        return kind, _REGION.sub("", value) if isinstance(value, str) else value
    if not isinstance(value, (tuple, frozenset, range, slice, BaseException, type)) and not callable(value):
        if id(value) in seen:
            return "again", list(seen).index(id(value))
        seen[id(value)] = value  # kept, so that no other takes its id
    return kind, *(_parts(value, seen, depth + 1) if depth < 7 else ["..."])


def _used_up(value: Any) -> Any:
    """What a function gives that needs no arguments, or what an iterator has left, with what ends it."""
    try:
        return value() if callable(value) else list(itertools.islice(value, 100))
    except Exception as error:
        return error


def _parts(value: Any, seen: dict[int, Any], depth: int) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        yield from (freeze(item, seen, depth) for item in value)
    elif isinstance(value, (set, frozenset)):
        yield from sorted((freeze(item, seen, depth) for item in value), key=repr)
    elif isinstance(value, dict):
        yield from ((freeze(key, seen, depth), freeze(item, seen, depth)) for key, item in value.items())
    elif isinstance(value, (slice, range)):
        yield from (freeze(part, seen, depth) for part in (value.start, value.stop, value.step))
    elif isinstance(value, _KEPT):
        yield freeze(_used_up(value), seen, depth)
    elif isinstance(value, np.ndarray):
        yield from (str(value.dtype), value.shape, freeze(value.tolist()))
    elif isinstance(value, BaseException):
        yield freeze(value.args, seen, depth)
        if value.__cause__ is not None:
            yield "from", freeze(value.__cause__, seen, depth)
    elif isinstance(value, type):
        yield freeze(getattr(value, "scale", None))
    elif hasattr(value, "__dict__") and not callable(value):
        yield from ((name, freeze(item, seen, depth)) for name, item in sorted(vars(value).items()))


def difference(expected: Sequence[Any], found: Sequence[Any], inputs: Sequence[tuple[Any, ...]]) -> tuple[str, str]:
    """The kind of the first difference and its description; two empty texts when there is none."""
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        for part in ("result", "output", "arguments", "globals"):
            if not agree(one[part], other[part]):
                call = f"call {number + 1}, program({', '.join(map(repr, inputs[number]))})"
                text = f"{call}: {part}: expected {_text(one[part])}, found {_text(other[part])}"
                return f"{part}: {_kind(part, one[part], other[part])}", text
    return "", ""


def _kind(part: str, expected: Any, found: Any) -> str:
    if part != "result":
        return "differs"
    if expected[0] != found[0] or _summary(expected) != _summary(found):
        return f"{_summary(expected)} became {_summary(found)}"
    if expected[0] == "raises":
        return f"{_summary(expected)} with another {'argument' if expected[1][1] != found[1][1] else 'cause'}"
    return first_change(expected[1], found[1])


def _summary(result: Any) -> str:
    return f"raises {result[1][0]}" if result[0] == "raises" else "returns"


def first_change(expected: Any, found: Any) -> str:
    """`int became float`, or `another int`, of the first part that differs."""
    if isinstance(expected, tuple) and isinstance(found, tuple) and len(expected) == len(found) and expected:
        if expected[0] != found[0] and isinstance(expected[0], str):
            return f"{expected[0]} became {found[0]}"
        for one, other in zip(expected[1:], found[1:], strict=True):
            if not agree(one, other):
                return first_change(one, other) if isinstance(one, tuple) else f"another {expected[0]}"
    return "another structure"


def _text(part: Any) -> str:
    return re.sub(r"\('(int|float|bool|str)', ([^()]*?)\)", r"\1 \2", repr(part))[:600]


def agree(one: Any, other: Any) -> bool:
    """Equality, with types; floats that no short fraction tells may differ in their last digits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
    if isinstance(one, float):
        if repr(one) == repr(other):
            return True
        exact = math.isfinite(one) and (one * 1024).is_integer()
        return not exact and abs(one - other) <= TOLERANCE * max(abs(one), abs(other))
    return bool(one == other)


def paths(source: str, inputs: Sequence[tuple[Any, ...]]) -> int:
    """How many different sets of lines the calls run through, in plain Python."""
    name = "<paths>"
    names = load(source, name)
    seen: set[frozenset[int]] = set()
    lines: set[int] = set()

    def tracer(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != name:
            return None
        lines.add(frame.f_lineno)
        return tracer

    for arguments in inputs:
        lines = set()
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            outcome(names["program"], names, arguments)
        finally:
            sys.settrace(before)
        seen.add(frozenset(lines))
    return len(seen)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Ends with TooLongError what takes more time of the processor, or ten times that in all, where signals can do it:
    what else runs on the machine is to change no verdict."""
    if not _CLOCK:
        yield
        return

    def stop(*_: Any) -> None:
        raise TooLongError

    clocks = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, 10 * seconds))
    before = [signal.signal(number, stop) for _, number, _ in clocks]
    for clock, _, limit in clocks:
        signal.setitimer(clock, limit, 0.2)
    try:
        yield
    finally:
        for (clock, number, _), handler in zip(clocks, before, strict=True):
            signal.setitimer(clock, 0)
            signal.signal(number, handler)
