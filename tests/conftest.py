"""Options of the test run, and the folder that its processes share."""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("forked_python", Path(__file__).with_name("forked_python.py"))
forked_python = sys.modules["forked_python"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(forked_python)

_MAX_CODE_BYTES = 1 << 30  # bytes of machine code; if there are more, the next run compiles anew
_GENERATIONS = (50_000, 20, 50)
_ORIGINAL_ENVIRONMENT = dict(os.environ)
# Folders whose tests verify each graph after each optimisation. It takes a sixth of the time outside of LLVM.
_VERIFIED_FOLDERS = frozenset(("autodiff", "behaviours", "fuzz", "numpy", "optimise", "programs", "xp"))
# The folder whose tests run optimised machine code, and folders in which one of so many tests does, besides those with
# the mark `optimised`. Optimisation takes some eight times as long; the other tests run the same code of this package
# without it. All tests run optimised code where the environment names a level.
_OPTIMISED_FOLDER = "programs"
_PARTLY_OPTIMISED_FOLDERS, _OPTIMISED_STEP = frozenset(("backends", "clibrary")), 4
# Of the cases of a test with the mark `search`: one in so many, and the fewest that run.
_SEARCH_STEP, _MIN_CASES = 3, 8


def _xla_flags() -> Iterator[str]:
    """Yield the flags with which XLA compiles in a quarter of the time. It ends the process over a flag it lacks."""
    yield "--xla_backend_optimization_level=0"
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        if importlib.metadata.version("jaxlib").startswith("0.10."):
            yield "--xla_cpu_use_fusion_emitters=false"


# Set before other conftest files import the package. Graphs run wherever there is one: which form of a function is
# quicker depends on the machine. Faults of this package fail, and are no reason to run as plain Python.
os.environ.setdefault("AUTOCONV_TIERS", "native")
os.environ.setdefault("AUTOCONV_STRICT", "1")
os.environ.setdefault("XLA_FLAGS", " ".join(_xla_flags()))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens under fixtures/")
    parser.addoption("--every-case", action="store_true", help="run all cases of tests with the mark `search`")


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a cache, in which its processes share machine code and conversions.

    Conversions are made anew in each run. Machine code stays in pytest's own cache for the next run, as LLVM makes the
    same of the same text: it takes a third of the processor time of a run without it. `--cache-clear` forgets it.

    Where Python is told to write no bytecode, it goes into pytest's own cache: without it, every run compiles all tests
    and the package anew, which takes each process five seconds.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell: commands would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    pytest_cache = getattr(config, "cache", None)
    if not hasattr(config, "workerinput"):  # the workers of a run in several processes inherit the folder
        code_folder = str(pytest_cache.mkdir("code")) if pytest_cache is not None else None
        folder = tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=code_folder)
        os.environ["AUTOCONV_CACHE"] = os.path.join(folder, "cache")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        if code_folder is not None:
            _reuse_machine_code(code_folder, os.environ["AUTOCONV_CACHE"], config)
    if pytest_cache is not None:
        bytecode = str(pytest_cache.mkdir("bytecode"))
    else:
        bytecode = os.path.dirname(os.environ["AUTOCONV_CACHE"])
    runs_tests = config.getoption("numprocesses", None) is None
    if runs_tests and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        sys.dont_write_bytecode = False
    if not hasattr(config, "workerinput"):  # the bytecode of modules that tests have written
        config.add_cleanup(lambda: shutil.rmtree(bytecode + tempfile.gettempdir(), ignore_errors=True))

    def restore_environment() -> None:
        os.environ.clear()
        os.environ.update(_ORIGINAL_ENVIRONMENT)

    config.add_cleanup(restore_environment)


def _reuse_machine_code(code_folder: str, cache: str, config: pytest.Config) -> None:
    """Move the machine code of the last run into the cache of this run, and back when it ends."""
    last_code, current_code = os.path.join(code_folder, "native"), os.path.join(cache, "native")
    os.mkdir(cache)
    for name in os.listdir(code_folder) if os.path.exists("/proc/self") else ():
        run = name.split("-")
        if run[0] == "run" and not os.path.exists(f"/proc/{run[1]}"):  # the last run was killed
            with contextlib.suppress(OSError):
                os.rename(os.path.join(code_folder, name, "cache", "native"), last_code)
            shutil.rmtree(os.path.join(code_folder, name), ignore_errors=True)
    with contextlib.suppress(OSError):  # there is none, or another run has it now
        os.rename(last_code, current_code)

    def keep_for_next_run() -> None:
        with contextlib.suppress(OSError):
            if sum(file.stat().st_size for file in os.scandir(current_code)) < _MAX_CODE_BYTES:
                os.rename(current_code, last_code)

    config.add_cleanup(keep_for_next_run)  # runs before the folder is removed: callbacks run in reverse order


def pytest_collection(session: pytest.Session) -> None:
    """Disable garbage collection while pytest collects tests: it takes a third of the time and frees little."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw cases of tests with the mark `search`, the same in each run, if several functions are collected.

    Their cases are programs of one kind, of which most reach the same lines. A run of one test has them all. Where the
    mark names parameters, each combination of their values has a case.
    """
    _disable_constants_of_modules()
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for family in families.values() if len(families) > 1 and not config.getoption("every_case") else ():
        mark = family[0].get_closest_marker("search")
        if mark is not None:
            min_cases = 1 if mark.args else _MIN_CASES
            for cases in _group_by_parameters(family, mark.args):
                drawn = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
                left_out.update(drawn[max(min_cases, len(cases) // _SEARCH_STEP) :])
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


def _group_by_parameters(family: list[pytest.Item], names: Sequence[str]) -> Iterable[list[pytest.Item]]:
    """Group the cases of a test by the values of some of its parameters."""
    groups: dict[tuple[int, ...], list[pytest.Item]] = defaultdict(list)
    for item in family:
        groups[tuple(id(item.callspec.params[name]) for name in names)].append(item)
    return groups.values()


def _disable_constants_of_modules() -> None:
    """Keep Hypothesis from reading all modules of the package and of the tests for constants to try.

    It takes each process four seconds, and the properties here are about other values.
    """
    if "hypothesis" in sys.modules:
        with contextlib.suppress(ImportError, AttributeError):
            from hypothesis.internal.conjecture import providers

            providers.is_local_module_file = lambda file: False


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freeze the tests, some 20,000 objects with their contents, which garbage collections then skip.

    Objects of tests are mostly short-lived: with larger generations, collections examine fewer of them.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GENERATIONS)
    from autoconv.code_cache import NATIVE

    # All machine code of a run, some 35,000 pieces, is kept for the next one.
    NATIVE.entry_limit, NATIVE.byte_limit = 100_000, _MAX_CODE_BYTES


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Verify graphs and optimise machine code for some of the tests, or for all if the environment sets it."""
    folder = item.nodeid.split("/")[1:2]
    if "AUTOCONV_VERIFY" not in _ORIGINAL_ENVIRONMENT:
        if _VERIFIED_FOLDERS.isdisjoint(folder):
            os.environ.pop("AUTOCONV_VERIFY", None)
        else:
            os.environ["AUTOCONV_VERIFY"] = "1"
    if "AUTOCONV_LLVM_LEVEL" not in _ORIGINAL_ENVIRONMENT:
        from autoconv.config import SETTINGS

        is_partly_optimised = not _PARTLY_OPTIMISED_FOLDERS.isdisjoint(folder)
        is_drawn = is_partly_optimised and zlib.crc32(item.nodeid.encode()) % _OPTIMISED_STEP == 0
        is_marked = item.get_closest_marker("optimised") is not None
        SETTINGS.llvm_level = 3 if is_drawn or is_marked or _OPTIMISED_FOLDER in folder else 0
        os.environ["AUTOCONV_LLVM_LEVEL"] = str(SETTINGS.llvm_level)


@pytest.fixture(scope="module", autouse=True)
def _without_earlier_objects(request: pytest.FixtureRequest) -> None:
    """Exclude objects of earlier tests from garbage collections, in modules that collect."""
    if getattr(request.module, "gc", None) is gc:
        gc.collect()
        gc.freeze()


_RECURSION_LIMIT = sys.getrecursionlimit()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fail where a test leaves another recursion limit, which would affect later tests of the worker."""
    limit = sys.getrecursionlimit()
    if limit != _RECURSION_LIMIT:
        sys.setrecursionlimit(_RECURSION_LIMIT)
        pytest.fail(f"{item.nodeid} leaves the recursion limit {limit}, it was {_RECURSION_LIMIT}")


@pytest.fixture(scope="session")
def forker() -> Iterator[forked_python.Forker]:
    """Start programs in processes that are forked from one that has imported the package."""
    server = forked_python.Forker()
    yield server
    server.close()


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Return whether goldens are rewritten."""
    return bool(request.config.getoption("--update"))
