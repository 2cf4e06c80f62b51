"""Settings and the environment variables behind them."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from autoconv.lazy_dataclass import dataclass

THREAD_LIMIT = 64  # the largest number of threads that a loop is split over


@dataclass(slots=True)
class Settings:
    """The settings of the environment and of programs.

    disabled        decorators and import hooks do nothing
    run_eagerly     functions run their Python on every call
    verbosity       0 is silent, 3 prints converted code
    log_to_stdout   output of `verbosity` is also written to standard output
    soft_placement  the default device serves requests for devices that this process lacks
    check_numerics  ops raise an error for results that are nan or infinite
    collect_graphs  functions that run keep their traces, for `summary.trace_export`
    logs            events written to standard error: retraces, graph, passes
    strict          internal errors are raised (errors.InternalError), for tests; else such a call runs as plain Python
    helper          LLVM runs in a process of its own, so that its assertions cannot abort this process
    backend         the backend that runs graphs: "llvm" or "native" (LLVM), "reference" (NumPy, op by op) or "xla"
                    (jaxlib)
    llvm_level      the highest level at which LLVM optimises: 3 for fast code; 0 for slow code that is made in a fifth
                    of the time
    tiers           "measured": under `compile` calls run as a graph or as plain Python, whichever early calls showed to
                    be quicker; "native": as a graph wherever there is one
    threads         the number of threads that large loops are divided over; None: as many as this process may use

    >>> autoconv.config.Settings(backend="reference").backend
    'reference'
    """

    disabled: bool = False
    run_eagerly: bool = False
    verbosity: int = 0
    log_to_stdout: bool = False
    soft_placement: bool = True
    check_numerics: bool = False
    collect_graphs: bool = False
    logs: frozenset[str] = frozenset()
    backend: str = "llvm"
    tiers: str = "measured"
    helper: bool = True
    llvm_level: int = 3
    strict: bool = False
    threads: int | None = None

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        needs_detour = any(getattr(self, name, False) for name in ("run_eagerly", "check_numerics", "collect_graphs"))
        DETOUR.value = (DETOUR.value & ~1) | needs_detour


# While this is not 0, calls must not enter native code directly. Bit 0 is set by settings; the other bits count open
# blocks of devices and replicas.
DETOUR = ctypes.c_int64(0)
_LOG_NAMES = ("retraces", "graph", "passes")


def _read_environment() -> Settings:
    """Return the settings of the environment's variables."""
    verbosity = os.environ.get("AUTOCONV_VERBOSITY", os.environ.get("AUTOGRAPH_VERBOSITY", "0"))
    return Settings(
        disabled=os.environ.get("AUTOCONV_DISABLE", "") not in ("", "0"),
        verbosity=int(verbosity) if verbosity.isdigit() else 0,
        logs=_parse_logs(os.environ.get("AUTOCONV_LOGS", "")),
        strict=os.environ.get("AUTOCONV_STRICT", "") not in ("", "0"),
        helper=os.environ.get("AUTOCONV_HELPER", "1") != "0",
        llvm_level=int(_read_choice("AUTOCONV_LLVM_LEVEL", ("3", "2", "1", "0"))),
        backend=_read_choice("AUTOCONV_BACKEND", ("llvm", "native", "reference", "xla")),
        tiers=_read_choice("AUTOCONV_TIERS", ("measured", "native")),
        threads=_parse_thread_count(os.environ.get("AUTOCONV_NUM_THREADS", "")),
    )


def _read_choice(variable: str, choices: Sequence[str]) -> str:
    """Return the value of an environment variable; the first choice where it is empty or none of them."""
    result = os.environ.get(variable, "") or choices[0]
    if result not in choices:
        warnings.warn(f"{variable}: {result!r} is none of {', '.join(choices)}", stacklevel=2)
        return choices[0]
    return result


def _parse_thread_count(text: str) -> int | None:
    """Return a number of threads; warn of other text, and return None for it."""
    if not text:
        return None
    if not text.isdigit() or not int(text):
        warnings.warn(f"AUTOCONV_NUM_THREADS: {text!r} is no number of threads; write 1, 2, …", stacklevel=2)
        return None
    return int(text)


_NO_CACHE_VALUES = frozenset({"", "0", "off"})


def _parse_logs(text: str) -> frozenset[str]:
    """Return the names of logs in a text, separated by commas; warn of unknown names, and leave them out."""
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    for name in sorted(names - set(_LOG_NAMES)):
        warnings.warn(f"AUTOCONV_LOGS: there is no log {name!r}; there are {', '.join(_LOG_NAMES)}", stacklevel=2)
    return names & set(_LOG_NAMES)


def usable_threads() -> int:
    """Return the number of threads to use: `threads`, or the number of usable processors; at most THREAD_LIMIT."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(SETTINGS.threads or processors, THREAD_LIMIT)


def cache_folder() -> Path | None:
    """Return the folder of converted functions and machine code: AUTOCONV_CACHE, or the user's cache folder.

    None if AUTOCONV_CACHE is `0`, `off` or empty: nothing is kept then.

    >>> autoconv.config.cache_folder().is_absolute()
    True
    """
    override = os.environ.get("AUTOCONV_CACHE")
    if override is not None:
        return None if override.strip().lower() in _NO_CACHE_VALUES else Path(override)
    import platformdirs  # only needed for the cache

    return Path(platformdirs.user_cache_dir("autoconv"))


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Set whether functions run their Python on every call; existing traces are kept.

    >>> autoconv.config.run_functions_eagerly(True)
    >>> autoconv.config.functions_run_eagerly()
    True
    >>> autoconv.config.run_functions_eagerly(False)
    """
    SETTINGS.run_eagerly = bool(run_eagerly)


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """The old name of `run_functions_eagerly`.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DeprecationWarning)
    ...     autoconv.config.experimental_run_functions_eagerly(False)
    >>> autoconv.config.functions_run_eagerly()
    False
    """
    warnings.warn(
        "experimental_run_functions_eagerly is deprecated: use autoconv.config.run_functions_eagerly",
        DeprecationWarning,
        stacklevel=2,
    )
    run_functions_eagerly(run_eagerly)


def functions_run_eagerly() -> bool:
    """Return whether functions run their Python on every call.

    >>> autoconv.config.functions_run_eagerly()
    False
    """
    return SETTINGS.run_eagerly


def set_soft_device_placement(enabled: bool) -> None:
    """Set whether an op may run on another device than the requested one.

    >>> before = autoconv.config.get_soft_device_placement()
    >>> autoconv.config.set_soft_device_placement(True)
    >>> autoconv.config.get_soft_device_placement()
    True
    >>> autoconv.config.set_soft_device_placement(before)
    """
    SETTINGS.soft_placement = bool(enabled)


def get_soft_device_placement() -> bool:
    """Return whether an op may run on another device than the requested one.

    >>> autoconv.config.get_soft_device_placement()
    True
    """
    return SETTINGS.soft_placement


SETTINGS = _read_environment()
