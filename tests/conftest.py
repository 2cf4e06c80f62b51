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

_MOST_KEPT = 1 << 30  # bytes of machine code; above, the next run makes its own
_GENERATIONS = (50_000, 20, 50)
_BEFORE = dict(os.environ)
# Folders whose tests verify each graph after each optimisation. It takes a sixth of the time outside of LLVM.
_VERIFIED = frozenset(("autodiff", "behaviours", "fuzz", "numpy", "optimise", "programs", "xp"))
# The folder whose tests run machine code that LLVM has optimised, and the folders of which one test in so many does, as
# those with the mark `optimised`. It takes some eight times as long to make, and the others run the same code of this
# package without it. All do where the environment names a level.
_OPTIMISED = "programs"
_PARTLY_OPTIMISED, _ONE_IN = frozenset(("backends", "clibrary")), 4
# Of the cases of a test with the mark `search`: one in so many, and the fewest that run.
_SEARCHED, _FEWEST = 3, 8


def _xla_flags() -> Iterator[str]:
    """Yield the flags with which XLA compiles in a quarter of the time. It ends the process over a flag it lacks."""
    yield "--xla_backend_optimization_level=0"
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        if importlib.metadata.version("jaxlib").startswith("0.10."):
            yield "--xla_cpu_use_fusion_emitters=false"


# Before other files of this kind import the package. Graphs run wherever there is one: which form of a function is
# quicker depends on the machine. Faults of this package fail, and are no reason to run as plain Python.
os.environ.setdefault("AUTOCONV_TIERS", "native")
os.environ.setdefault("AUTOCONV_STRICT", "1")
os.environ.setdefault("XLA_FLAGS", " ".join(_xla_flags()))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens under fixtures/")
    parser.addoption("--every-case", action="store_true", help="run all cases of tests with the mark `search`")


def pytest_configure(config: pytest.Config) -> None:
    """Gives the run a cache: machine code and conversions that one of its processes makes serve all.

    Conversions are made anew in each run. Machine code stays in pytest's own cache for the next run, as LLVM makes the
    same of the same text: it takes a third of the processor time of a run without it. `--cache-clear` forgets it.

    Where Python is told to write no bytecode, it goes into pytest's own cache: without it, every run compiles all tests
    and the package anew, which takes each process five seconds.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell: commands would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = getattr(config, "cache", None)
    if not hasattr(config, "workerinput"):  # the workers of a run in several processes inherit the folder
        where = str(kept.mkdir("code")) if kept is not None else None
        folder = tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=where)
        os.environ["AUTOCONV_CACHE"] = os.path.join(folder, "cache")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        if where is not None:
            _with_machine_code_of_last_run(where, os.environ["AUTOCONV_CACHE"], config)
    bytecode = str(kept.mkdir("bytecode")) if kept is not None else os.path.dirname(os.environ["AUTOCONV_CACHE"])
    runs_tests = config.getoption("numprocesses", None) is None
    if runs_tests and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = bytecode
        sys.dont_write_bytecode = False
    if not hasattr(config, "workerinput"):  # that of modules which tests have written
        config.add_cleanup(lambda: shutil.rmtree(bytecode + tempfile.gettempdir(), ignore_errors=True))

    def put_back() -> None:
        os.environ.clear()
        os.environ.update(_BEFORE)

    config.add_cleanup(put_back)


def _with_machine_code_of_last_run(where: str, cache: str, config: pytest.Config) -> None:
    """Moves the machine code that the last run left into the cache of this run, and back when it ends."""
    last, present = os.path.join(where, "native"), os.path.join(cache, "native")
    os.mkdir(cache)
    for left in os.listdir(where) if os.path.exists("/proc/self") else ():
        run = left.split("-")
        if run[0] == "run" and not os.path.exists(f"/proc/{run[1]}"):  # it was killed
            with contextlib.suppress(OSError):
                os.rename(os.path.join(where, left, "cache", "native"), last)
            shutil.rmtree(os.path.join(where, left), ignore_errors=True)
    with contextlib.suppress(OSError):  # there is none, or another run has it now
        os.rename(last, present)

    def keep() -> None:
        with contextlib.suppress(OSError):
            if sum(file.stat().st_size for file in os.scandir(present)) < _MOST_KEPT:
                os.rename(present, last)

    config.add_cleanup(keep)  # before the folder is removed: the last one is called first


def pytest_collection(session: pytest.Session) -> None:
    """Collects no garbage while tests are found: it takes a third of the time, and hardly anything becomes free."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draws cases of the tests that search, the same in each run, where more than one function is collected.

    Their cases are programs of one kind, of which most reach the same lines. A run of one test has them all. Where the
    mark names parameters, each combination of their values has a case.
    """
    _leave_modules_to_themselves()
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for family in families.values() if len(families) > 1 and not config.getoption("every_case") else ():
        mark = family[0].get_closest_marker("search")
        if mark is not None:
            fewest = 1 if mark.args else _FEWEST
            for cases in _by_parameters(family, mark.args):
                drawn = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
                left_out.update(drawn[max(fewest, len(cases) // _SEARCHED) :])
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


def _by_parameters(family: list[pytest.Item], names: Sequence[str]) -> Iterable[list[pytest.Item]]:
    """Group the cases of a test by the values of some of its parameters."""
    groups: dict[tuple[int, ...], list[pytest.Item]] = defaultdict(list)
    for item in family:
        groups[tuple(id(item.callspec.params[name]) for name in names)].append(item)
    return groups.values()


def _leave_modules_to_themselves() -> None:
    """Keeps Hypothesis from reading all modules of the package and of the tests for constants to try.

    It takes each process four seconds, and the properties here are about other values.
    """
    if "hypothesis" in sys.modules:
        with contextlib.suppress(ImportError, AttributeError):
            from hypothesis.internal.conjecture import providers

            providers.is_local_module_file = lambda file: False


def pytest_collection_finish(session: pytest.Session) -> None:
    """Takes the tests themselves, some 20,000 objects with what they hold, out of what garbage collection looks at.

    What tests make is mostly garbage soon: larger generations look at less of it.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GENERATIONS)
    from autoconv.code_cache import NATIVE

    NATIVE.most, NATIVE.limit = 100_000, _MOST_KEPT  # all of a run, some 35,000 pieces, serves the next one


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Verifies graphs, and optimises machine code, for some of the tests; for all where the environment does."""
    folder = item.nodeid.split("/")[1:2]
    if "AUTOCONV_VERIFY" not in _BEFORE:
        if _VERIFIED.isdisjoint(folder):
            os.environ.pop("AUTOCONV_VERIFY", None)
        else:
            os.environ["AUTOCONV_VERIFY"] = "1"
    if "AUTOCONV_LLVM_LEVEL" not in _BEFORE:
        from autoconv.config import SETTINGS

        is_drawn = not _PARTLY_OPTIMISED.isdisjoint(folder) and zlib.crc32(item.nodeid.encode()) % _ONE_IN == 0
        is_marked = item.get_closest_marker("optimised") is not None
        SETTINGS.llvm_level = 3 if is_drawn or is_marked or _OPTIMISED in folder else 0
        os.environ["AUTOCONV_LLVM_LEVEL"] = str(SETTINGS.llvm_level)


@pytest.fixture(scope="module", autouse=True)
def _without_earlier_objects(request: pytest.FixtureRequest) -> None:
    """Takes what earlier tests have left out of the garbage collections of modules that ask for some."""
    if getattr(request.module, "gc", None) is gc:
        gc.collect()
        gc.freeze()


_RECURSION = sys.getrecursionlimit()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fails where a test leaves another recursion limit: later tests of the worker would not meet theirs."""
    found = sys.getrecursionlimit()
    if found != _RECURSION:
        sys.setrecursionlimit(_RECURSION)
        pytest.fail(f"{item.nodeid} leaves the recursion limit {found}, it was {_RECURSION}")


@pytest.fixture(scope="session")
def forker() -> Iterator[forked_python.Forker]:
    """Starts programs in processes that are forked from one that has imported the package."""
    made = forked_python.Forker()
    yield made
    made.close()


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be rewritten."""
    return bool(request.config.getoption("--update"))
