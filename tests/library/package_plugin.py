"""What pytest loads in the environment of a package that `packages.py` tests.

It installs the import hook (`converted`), or records calls of the package's functions (`recorded`) and, once the tests
are over, makes them again as plain Python and under `@autoconv.compile`.
"""

from __future__ import annotations

import copy
import inspect
import json
import os
import re
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAY = os.environ.get("PACKAGE_WAY", "plain")
MODULES = tuple(filter(None, os.environ.get("PACKAGE_MODULES", "").split(",")))
CALLS = 3  # of each function: recorded, and made in a row
MOST_SECONDS = 5  # that one call may take
RECORDING_SECONDS = 60  # after which no more tests are run for the sake of their calls
# Functions that are not called again: what they do goes beyond the process, or ends it.
LEFT_ALONE = re.compile(
    r"exit|main|system|fork|kill|exec|sleep|input|unlink|remove_file|rmtree|write_file|serve|urlopen"
)

_RECORDED: dict[types.CodeType, list[tuple[list[Any], dict[str, Any]]]] = {}
_SEEN: dict[types.CodeType, int] = {}
_BEGIN = time.monotonic()


def pytest_configure(config: Any) -> None:
    if WAY == "converted":
        import autoconv.importing

        autoconv.importing.install(*MODULES, keep_going=True)


def pytest_runtest_setup(item: Any) -> None:
    if WAY != "recorded":
        return
    if time.monotonic() - _BEGIN > RECORDING_SECONDS:
        item.session.shouldstop = "enough calls are recorded"
    sys.setprofile(_record)


def pytest_runtest_teardown(item: Any) -> None:
    sys.setprofile(None)


def pytest_sessionfinish(session: Any) -> None:
    if WAY == "recorded":
        sys.setprofile(None)
        _compare_all(Path(os.environ["PACKAGE_FUNCTIONS"]))


def _record(frame: types.FrameType, event: str, argument: Any) -> None:
    """Keep copies of the arguments of the first calls of each function of the package."""
    if event != "call":
        return
    code = frame.f_code
    count = _SEEN.get(code, 0)
    if count >= CALLS or not frame.f_globals.get("__name__", "").startswith(MODULES):
        return
    _SEEN[code] = count + 1
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return
    if LEFT_ALONE.search(code.co_name):
        return
    sys.setprofile(None)
    try:
        _RECORDED.setdefault(code, []).append(copy.deepcopy(_arguments(frame)))
    except Exception:
        pass  # what cannot be copied is not called again
    finally:
        sys.setprofile(_record)


def _arguments(frame: types.FrameType) -> tuple[list[Any], dict[str, Any]]:
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    positional = [values[name] for name in names[: code.co_argcount]]
    end = code.co_argcount + code.co_kwonlyargcount
    keywords = {name: values[name] for name in names[code.co_argcount : end]}
    if code.co_flags & inspect.CO_VARARGS:
        positional += values[names[end]]
        end += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords |= values[names[end]]
    return positional, keywords


def _functions() -> Iterator[tuple[str, types.FunctionType]]:
    """The functions of the package's modules and classes, with their names."""
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] not in MODULES or ".test" in name:
            continue
        for value in list(vars(module).values()):
            yield from _functions_of(name, value)


def _functions_of(module: str, value: Any) -> Iterator[tuple[str, types.FunctionType]]:
    if isinstance(value, types.FunctionType) and value.__module__ == module:
        yield f"{module}.{value.__qualname__}", value
    elif isinstance(value, type) and value.__module__ == module:
        for member in list(vars(value).values()):
            if isinstance(member, types.FunctionType):
                yield f"{module}.{member.__qualname__}", member


def _compare_all(file: Path) -> None:
    """Compare each recorded function, and keep what became of it; a function that ends the process is noted first, and
    left out by the next run."""
    found: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    end = time.monotonic() + float(os.environ["PACKAGE_SECONDS"]) / 2
    for name, function in _functions():
        calls = _RECORDED.get(function.__code__)
        if not calls or name in found or function.__closure__ or time.monotonic() > end:
            continue
        found[name] = "died: the process ended"
        file.write_text(json.dumps(found))
        try:
            found[name] = _compare(function, calls)
        except Exception:  # of the package's own comparisons
            found[name] = "varies"
        file.write_text(json.dumps(found))


def _compare(function: types.FunctionType, calls: list[Any]) -> str:
    """What became of the calls under `compile`, beside two rounds of plain ones."""
    import autoconv

    plain = [_outcomes(function, calls) for _ in range(2)]
    if not _same(*plain):
        return "varies"
    if any(outcome[0] == "slow" for outcome in plain[0]):
        return "varies"
    compiled = _outcomes(autoconv.compile(function), calls)
    if any(outcome[0] == "slow" for outcome in compiled):
        return f"slow: a call took more than {MOST_SECONDS} s"
    for number, (left, right) in enumerate(zip(plain[0], compiled, strict=True)):
        if _leaks(right, set()):
            return f"leaked: call {number + 1} gives out values of a trace"
        if not _same(left, right):
            return f"wrong: call {number + 1}: {_short(left)} plain, {_short(right)} compiled"
    return "same"


def _outcomes(function: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """The result or error of each call, with its arguments as they are afterwards."""
    found: list[Any] = []
    for args, kwargs in calls:
        args, kwargs = copy.deepcopy((args, kwargs))
        try:
            with _limited():
                result = function(*args, **kwargs)
        except _SlowError:
            return [*found, ("slow",)]
        except BaseException as error:
            found.append(("raised", type(error), str(error), args, kwargs))
        else:
            found.append(("returned", result, args, kwargs))
    return found


class _SlowError(BaseException):
    pass


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _SlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # of this process: others may want the processors as well
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


_ATOMS = (int, float, complex, str, bytes, bool, type(None), type, types.ModuleType)


def _same(left: Any, right: Any, seen: set[tuple[int, int]] | None = None) -> bool:
    """Whether two values are of the same types and hold the same, however they refer to each other."""
    seen = set() if seen is None else seen
    if left is right or (id(left), id(right)) in seen:
        return True
    if type(left) is not type(right):
        return False
    seen.add((id(left), id(right)))
    if isinstance(left, float) and left != left:
        return right != right
    if isinstance(left, _ATOMS):
        return bool(left == right)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(_same(a, b, seen) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=False)
        return len(left) == len(right) and all(_same(a, b, seen) for a, b in pairs)
    if isinstance(left, (set, frozenset)):
        return len(left) == len(right) and sorted(map(repr, left)) == sorted(map(repr, right))
    if type(left).__module__ == "numpy":
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, types.FunctionType):
        return left.__qualname__ == right.__qualname__
    mine, its = _state(left), _state(right)
    return mine.keys() == its.keys() and all(_same(mine[name], its[name], seen) for name in mine)


def _state(value: Any) -> dict[str, Any]:
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    return dict(getattr(value, "__dict__", {})) | {name: getattr(value, name, None) for name in slots}


def _slots(kind: type) -> list[str]:
    found = vars(kind).get("__slots__", ())
    return [name for name in ([found] if isinstance(found, str) else found) if not name.startswith("__")]


def _leaks(value: Any, seen: set[int]) -> bool:
    """Whether a value of the package autoconv is somewhere in it."""
    if id(value) in seen or isinstance(value, _ATOMS):
        return False
    seen.add(id(value))
    if type(value).__module__.partition(".")[0] == "autoconv":
        return True
    if isinstance(value, dict):
        return any(_leaks(part, seen) for pair in list(value.items()) for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(_leaks(part, seen) for part in list(value))
    return any(_leaks(part, seen) for part in _state(value).values())


def _short(outcome: Any) -> str:
    try:
        text = repr(outcome[:3] if outcome[0] == "raised" else outcome[:2])
    except Exception as error:
        text = f"{outcome[0]} something whose repr raises {type(error).__name__}"
    return text if len(text) < 200 else text[:200] + "…"
