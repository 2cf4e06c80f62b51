"""A process that has imported the package, and forks one for each program that the tests run in a new process.

Such a process has the state of a new one without the half second that the imports take. What has to begin with an empty
interpreter (imports, start-up options, hash seeds) is started by `subprocess` instead.

A request is a line of JSON on standard input: arguments of Python, folder, environment, and files for the standard
streams. The answer is the number of the process. A later request waits for its end, and gets its exit code.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import sys
import time
import types
from typing import Any

# What a first call imports. Packages with optional requirements are left to the programs.
_PACKAGES = (
    *("analysis", "autodiff", "backends.llvm", "emit", "graph", "operators", "ops", "optimise", "passes", "runtime"),
    *("syntax", "tracing"),
)


def main() -> None:
    """Answer requests until standard input ends; in a process that was forked, run its program."""
    _import_all()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            print(_exit_code(request["wait"], request["seconds"]), flush=True)
            continue
        process = os.fork()
        if not process:
            _run(request)
            return
        print(process, flush=True)


def _import_all() -> None:
    importlib.import_module("autoconv.cli")
    for name in _PACKAGES:
        package = importlib.import_module(f"autoconv.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"autoconv.{name}."):
            with contextlib.suppress(ImportError, AttributeError):
                importlib.import_module(module.name)


def _exit_code(process: int, seconds: float | None) -> str:
    """Wait for the end of a process, at most so many seconds; return its exit code, or "" while it runs."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(process, 0 if end is None else os.WNOHANG)
        if ended:
            return str(os.waitstatus_to_exitcode(status))
        if end is not None and time.monotonic() > end:
            return ""
        time.sleep(0.002)


def _run(request: dict[str, Any]) -> None:
    """Run a program in this process as `python *arguments` does."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    _open_streams(request["streams"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _read_environment()
    first, *rest = request["arguments"]
    try:
        if first == "-c":
            code, *sys.argv[1:] = rest
            sys.argv[0], sys.path[0] = "-c", ""
            exec(compile(code, "<string>", "exec", dont_inherit=True), _main_module().__dict__)
        elif first == "-m":
            sys.argv, sys.path[0] = rest, os.getcwd()
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = [first, *rest], os.path.dirname(os.path.abspath(first))
            with open(first, "rb") as file:
                code = compile(file.read(), first, "exec", dont_inherit=True)
            names = _main_module().__dict__
            names["__file__"] = first
            exec(code, names)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _open_streams(names: list[str]) -> None:
    """Read standard input from the first file, and write the two other streams to new ones."""
    for number, name in enumerate(names):
        opened = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115


def _read_environment() -> None:
    """Set what the package reads from the environment when it is imported."""
    from autoconv.config import settings
    from autoconv.tracing.views import logs

    settings_read = settings._read_environment()
    for name in type(settings_read).__slots__:
        setattr(settings.SETTINGS, name, getattr(settings_read, name))
    if "passes" in settings_read.logs:
        logs.watch_conversion()


def _main_module() -> types.ModuleType:
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__builtins__ = __builtins__
    return module


if __name__ == "__main__":
    main()
