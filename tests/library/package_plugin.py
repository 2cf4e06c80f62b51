"""A plugin of pytest for the environment of a package that `packages.py` tests.

With the mode `converted` it installs the import hook. With `recorded` it records calls of the package's functions; when
the tests are over, it repeats them as plain Python and under `@autoconv.compile`.
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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MODE = os.environ.get("PACKAGE_MODE", "plain")


def _names(variable: str) -> tuple[str, ...]:
    return tuple(filter(None, os.environ.get(variable, "").split(",")))


MODULES = _names("PACKAGE_MODULES")
CALLS = 3  # calls of each function that are recorded, and calls made in a row
MAX_CALL_SECONDS = 5  # seconds of one call
MAX_COPY_SECONDS = 0.3  # seconds for copying the arguments of a call
MAX_TEST_SECONDS = float(os.environ.get("PACKAGE_SECONDS", "600"))
RECORDING_SECONDS = MAX_TEST_SECONDS / 3  # seconds after which no more tests are run for recording calls
# Functions that are not called again, as their effects leave the process or end it.
EXCLUDED_NAMES = re.compile(
    r"exit|main|system|fork|kill|exec|sleep|input|unlink|remove_file|rmtree|write_file|serve|urlopen"
)

_OUTCOMES: dict[str, str] = {}  # of tests
_RECORDED: dict[types.CodeType, list[tuple[list[Any], dict[str, Any]]]] = {}
_CALL_COUNTS: dict[types.CodeType, int] = {}
_START = time.process_time()


if MODE == "converted":  # at once: other plugins of pytest may import the package
    import autoconv.importing

    for name in [name for name in sys.modules if name.partition(".")[0] in _names("PACKAGE_CONVERTED")]:
        del sys.modules[name]  # pytest uses it itself
    autoconv.importing.install(*_names("PACKAGE_CONVERTED"), keep_going=True)


def pytest_configure(config: Any) -> None:
    _fix_examples()


def _fix_examples() -> None:
    """Make hypothesis, where a package's tests use it, draw the same examples each time, without a deadline."""
    with suppress(ImportError):
        import hypothesis

        fixed_settings = {"derandomize": True, "deadline": None, "suppress_health_check": list(hypothesis.HealthCheck)}
        hypothesis.settings.register_profile("packages", **fixed_settings)
        hypothesis.settings.load_profile("packages")


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out tests of a converted package that were not reached with the original one."""
    if MODE == "converted":
        lines = Path(os.environ["PACKAGE_PLAIN"]).read_text().splitlines()
        reached = {line.partition(" ")[2] for line in lines}
        items[:] = [item for item in items if item.nodeid in reached]


def pytest_runtest_logreport(report: Any) -> None:
    """Write each test's outcome at once, so that a run that is stopped leaves the earlier ones."""
    if report.when == "teardown" or report.outcome != "passed":
        _OUTCOMES.setdefault(report.nodeid, report.outcome)
    if report.when == "teardown":
        with open(os.environ["PACKAGE_OUTCOMES"], "a") as file:
            file.write(f"{_OUTCOMES[report.nodeid]} {report.nodeid}\n")


def pytest_runtest_setup(item: Any) -> None:
    if MODE == "recorded":
        sys.setprofile(_record)


def pytest_runtest_teardown(item: Any, nextitem: Any) -> None:
    sys.setprofile(None)
    if time.process_time() - _START > (RECORDING_SECONDS if MODE == "recorded" else MAX_TEST_SECONDS):
        item.session.shouldstop = "its time is over"


def pytest_sessionfinish(session: Any) -> None:
    if MODE == "recorded":
        sys.setprofile(None)
        _compare_all(Path(os.environ["PACKAGE_FUNCTIONS"]))


def _record(frame: types.FrameType, event: str, argument: Any) -> None:
    """Keep copies of the arguments of the first calls of each function of the package."""
    if event != "call":
        return
    code = frame.f_code
    count = _CALL_COUNTS.get(code, 0)
    if count >= CALLS or not _is_of_package(frame.f_globals.get("__name__", "")):
        return
    _CALL_COUNTS[code] = count + 1
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return
    if EXCLUDED_NAMES.search(code.co_name):
        return
    sys.setprofile(None)
    try:
        with _limit_seconds(MAX_COPY_SECONDS):
            _RECORDED.setdefault(code, []).append(copy.deepcopy(_arguments(frame)))
    except (Exception, _SlowError):
        pass  # what cannot be copied, or is very large, is not called again
    finally:
        sys.setprofile(_record)


def _is_of_package(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in MODULES)


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
        if not _is_of_package(name):
            continue
        for value in list(vars(module).values()):
            yield from _functions_of(name, value)


def _functions_of(module: str, value: Any) -> Iterator[tuple[str, types.FunctionType]]:
    if not isinstance(value, (type, types.ModuleType)):  # a deprecated module may warn of any attribute
        value = getattr(value, "__wrapped__", value)  # what NumPy's own dispatchers hold, and decorators
    if isinstance(value, types.FunctionType) and value.__module__ == module:
        yield f"{module}.{value.__qualname__}", value
    elif isinstance(value, type) and value.__module__ == module:
        for member in list(vars(value).values()):
            if isinstance(member, types.FunctionType):
                yield f"{module}.{member.__qualname__}", member


def _compare_all(file: Path) -> None:
    """Compare each recorded function, and write its outcome to the file.

    The outcome of a crash is written before the calls: the next run leaves out a function that ends the process.
    """
    outcomes: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    end = time.process_time() + MAX_TEST_SECONDS * 2 / 3
    for name, function in _functions():
        calls = _RECORDED.get(function.__code__)
        if not calls or name in outcomes or not _captures_nothing(function) or time.process_time() > end:
            continue
        outcomes[name] = "died: the process ended"
        file.write_text(json.dumps(outcomes))
        try:
            outcomes[name] = compare_calls(function, calls)
        except Exception:  # of the package's own comparisons
            outcomes[name] = "varies"
        file.write_text(json.dumps(outcomes))


def _captures_nothing(function: types.FunctionType) -> bool:
    """Return whether the only captured name of a function is its class (for `super`)."""
    return function.__code__.co_freevars in ((), ("__class__",))


def compare_calls(function: types.FunctionType, calls: list[Any]) -> str:
    """Return the outcome of the calls under `compile`, compared with two rounds of plain calls."""
    import autoconv

    plain = [_call_all(function, calls) for _ in range(2)]
    if not values_equal(*plain):
        return "varies"
    if any(outcome[0] == "slow" for outcome in plain[0]):
        return "varies"
    try:
        compiled = _call_all(autoconv.compile(function), calls)
    except Exception as error:
        return f"wrong: compile() raises {error!r}"
    if any(outcome[0] == "slow" for outcome in compiled):
        return f"slow: a call took more than {MAX_CALL_SECONDS} s"
    for number, (left, right) in enumerate(zip(plain[0], compiled, strict=True)):
        if has_trace_values(right, set()):
            return f"leaked: call {number + 1} gives out values of a trace"
        if not values_equal(left, right):
            return f"wrong: call {number + 1}: {_shorten(left)} plain, {_shorten(right)} compiled"
    return "same"


def _call_all(function: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """Return the result or error of each call, with its arguments after the call."""
    outcomes: list[Any] = []
    for args, kwargs in calls:
        args, kwargs = copy.deepcopy((args, kwargs))
        try:
            with _limit_seconds(MAX_CALL_SECONDS):
                result = function(*args, **kwargs)
        except _SlowError:
            return [*outcomes, ("slow",)]
        except BaseException as error:
            outcomes.append(("raised", type(error), str(error), args, kwargs))
        else:
            outcomes.append(("returned", result, args, kwargs))
    return outcomes


class _SlowError(BaseException):
    pass


@contextmanager
def _limit_seconds(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _SlowError

    previous_handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of this process: others may want the processors as well
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous_handler)


_ATOMS = (int, float, complex, str, bytes, bool, type(None), type, types.ModuleType)


def values_equal(left: Any, right: Any, seen: set[tuple[int, int]] | None = None) -> bool:
    """Return whether two values have the same types and contents, cycles included."""
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
        return len(left) == len(right) and all(values_equal(a, b, seen) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        pairs = zip(left.items(), right.items(), strict=False)
        return len(left) == len(right) and all(values_equal(a, b, seen) for a, b in pairs)
    if isinstance(left, (set, frozenset)):
        return len(left) == len(right) and sorted(map(repr, left)) == sorted(map(repr, right))
    if type(left).__module__ == "numpy" and hasattr(left, "dtype"):
        return arrays_equal(left, right, seen)
    if isinstance(left, types.FunctionType):
        return left.__qualname__ == right.__qualname__
    left_state, right_state = _state(left), _state(right)
    if left_state.keys() != right_state.keys():
        return False
    return all(values_equal(left_state[name], right_state[name], seen) for name in left_state)


def arrays_equal(left: Any, right: Any, seen: set[tuple[int, int]]) -> bool:
    """Return whether arrays or scalars have one dtype, shape and content, except for the last bits of floats.

    Native code may compute floats in another order.
    """
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.hasobject:
        return values_equal(left.tolist(), right.tolist(), seen)
    if left.dtype.kind not in "fc":
        return bool(left.tobytes() == right.tobytes())
    import numpy as np

    with np.errstate(all="ignore"):
        largest = np.abs(left[np.isfinite(left)]).max(initial=0) if left.shape else 0
        bound = 64 * np.finfo(left.dtype).eps
        return bool(np.allclose(left, right, rtol=bound, atol=bound * largest, equal_nan=True))


def _state(value: Any) -> dict[str, Any]:
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    return dict(getattr(value, "__dict__", {})) | {name: getattr(value, name, None) for name in slots}


def _slots(kind: type) -> list[str]:
    names = vars(kind).get("__slots__", ())
    return [name for name in ([names] if isinstance(names, str) else names) if not name.startswith("__")]


def has_trace_values(value: Any, seen: set[int]) -> bool:
    """Return whether a value of the package autoconv is anywhere in the value."""
    if id(value) in seen or isinstance(value, _ATOMS):
        return False
    seen.add(id(value))
    if type(value).__module__.partition(".")[0] == "autoconv":
        return True
    if isinstance(value, dict):
        return any(has_trace_values(part, seen) for pair in list(value.items()) for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(has_trace_values(part, seen) for part in list(value))
    return any(has_trace_values(part, seen) for part in _state(value).values())


def _shorten(outcome: Any) -> str:
    try:
        text = repr(outcome[:3] if outcome[0] == "raised" else outcome[:2])
    except Exception as error:
        text = f"{outcome[0]} something whose repr raises {type(error).__name__}"
    return text if len(text) < 200 else text[:200] + "…"
