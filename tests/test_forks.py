"""Processes that are forked while other threads trace, compile or compute: inherited state works or raises."""

from __future__ import annotations

import gc
import importlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autoconv as ac
from autoconv import _start, forks
from autoconv._start import IMPORT_LOCK, LazyImport
from autoconv.data.dataset import Dataset
from autoconv.process_state import deep_recursion, rare_collections, without_collections
from autoconv.tracing.specialise import trace

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def usual_collections():
    """Collect garbage as often as Python does by default."""
    threshold = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*threshold)


def check_in_child(check: Callable[[], object], limit: float = 30.0) -> None:
    """Run the check in a forked process, and assert that it neither fails nor hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(int(limit))
        try:
            check()
        except BaseException as error:
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        failure = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    assert not failure
    assert status == 0, f"the child ended with {status}"


class PausedThread:
    """A thread whose call stops at `wait` until `resume` is set."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.reached, self.resume = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=call)

    def __enter__(self) -> PausedThread:
        self.thread.start()
        assert self.reached.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self.resume.set()
        self.thread.join()

    def wait(self) -> None:
        self.reached.set()
        self.resume.wait(20)


def new_function():
    @ac.compile
    def f(x, n):
        total = 0.0
        for i in range(n):
            total += x * i
        return total

    return f


def check_new_function() -> None:
    f = new_function()
    assert [f(1.5, 10), f(2.5, 4), f(1.5, 10)] == [67.5, 15.0, 67.5]


def test_a_fork_waits_until_no_thread_traces():
    ended = []

    @ac.function
    def slow(x):
        paused.wait()
        ended.append(True)
        return x + 1

    paused = PausedThread(lambda: slow(1))
    with paused:
        threading.Timer(0.3, paused.resume.set).start()
        check_in_child(lambda: (check_new_function(), ended[0]))
    assert ended == [True]


def test_a_fork_waits_until_no_thread_imports():
    ended = []

    def load() -> None:
        with LazyImport():
            paused.wait()
            ended.append(True)

    paused = PausedThread(load)
    with paused:
        threading.Timer(0.3, paused.resume.set).start()
        check_in_child(lambda: (check_new_function(), ended[0]))


def test_a_child_imports_what_another_thread_is_importing(monkeypatch, tmp_path):
    """Without any lock of the package: the child would wait for ever for Python's own lock of the module."""
    program = "import time\nfor _ in range(20):\n    time.sleep(0.02)\nready = True\n"
    (tmp_path / "imported_by_two.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    thread = threading.Thread(target=importlib.import_module, args=("imported_by_two",))
    thread.start()
    while "imported_by_two" not in sys.modules:
        time.sleep(0.001)

    def check() -> None:
        assert importlib.import_module("imported_by_two").ready

    check_in_child(check, limit=20.0)
    thread.join()
    assert sys.modules["imported_by_two"].ready


def test_a_fork_waits_longer_for_a_module_that_loads_slowly(monkeypatch, tmp_path):
    (tmp_path / "loads_slowly.py").write_text("import time\ntime.sleep(0.7)\nready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(forks, "_FORK_TIMEOUT", 0.1)

    def load():
        with LazyImport():
            begun.set()
            importlib.import_module("loads_slowly")

    def check():
        assert importlib.import_module("loads_slowly").ready

    begun = threading.Event()
    thread = threading.Thread(target=load)
    thread.start()
    begun.wait(10)
    time.sleep(0.1)
    check_in_child(check, 10)
    thread.join()


def test_an_import_goes_on_when_another_one_does_not_end(monkeypatch):
    monkeypatch.setattr(_start, "_LOCK_TIMEOUT", 0.1)

    def load() -> None:
        with LazyImport():
            paused.wait()

    paused = PausedThread(load)
    with paused, LazyImport():
        pass
    assert IMPORT_LOCK.acquire(blocking=False)
    IMPORT_LOCK.release()


@pytest.mark.parametrize("frozen", [False, True])
def test_objects_of_an_import_are_not_searched_for_garbage_by_the_first_call(frozen):
    def check() -> None:
        gc.unfreeze()
        if frozen:
            gc.freeze()
        frozen_count = gc.get_freeze_count()
        with LazyImport():
            made = [[number] for number in range(3)]
        is_young = any(young is made for generation in (0, 1) for young in gc.get_objects(generation))
        assert (is_young, gc.get_freeze_count()) == (frozen, frozen_count)

    check_in_child(check)


def test_a_fork_in_the_middle_of_a_trace_leaves_the_programs_objects_as_they_were(monkeypatch):
    monkeypatch.setattr(forks, "_FORK_TIMEOUT", 0.0)
    objects = [1.0]

    class Counter:
        value = 1.0

    counter = Counter()

    @ac.compile
    def slow(x):
        objects.append(x * 2)
        counter.value = x
        return x + 1

    def make_outputs(*arguments):
        paused.wait()
        return before(*arguments)

    before = trace.make_outputs
    monkeypatch.setattr(trace, "make_outputs", make_outputs)

    def check() -> None:
        assert objects == [1.0] and counter.value == 1.0
        paused.resume.set()
        check_new_function()
        assert ac.compile(lambda x: x + len(objects))(1.0) == 2.0

    paused = PausedThread(lambda: slow(3.0))
    with paused:
        check_in_child(check)
    assert objects == [1.0, 6.0] and counter.value == 3.0


def test_the_thread_that_traces_may_fork():
    @ac.function
    def forks_itself(x):
        check_in_child(check_new_function)
        return x + 1

    assert int(forks_itself(1)) == 2
    assert int(forks_itself(2)) == 3


def test_locks_that_other_threads_hold_are_free_in_a_child_and_own_ones_held():
    own_lock, foreign_lock = forks.new_lock(), forks.new_lock()

    def hold() -> None:
        with foreign_lock:
            paused.wait()

    paused = PausedThread(hold)

    def check() -> None:
        assert foreign_lock.acquire(timeout=1)
        foreign_lock.release()
        own_lock.release()
        assert not own_lock._is_owned()

    with paused, own_lock:
        check_in_child(check)


def test_a_conversion_in_another_thread_leaves_the_limits_and_the_collector(monkeypatch, usual_collections):
    monkeypatch.setattr(forks, "_FORK_TIMEOUT", 0.0)
    limit, threshold = sys.getrecursionlimit(), gc.get_threshold()

    def convert() -> None:
        with deep_recursion(), without_collections(), rare_collections():
            paused.wait()

    paused = PausedThread(convert)
    with paused:
        assert sys.getrecursionlimit() > limit and not gc.isenabled() and gc.get_threshold() > threshold

        def check() -> None:
            assert sys.getrecursionlimit() == limit and gc.isenabled() and gc.get_threshold() == threshold

        check_in_child(check)
    assert sys.getrecursionlimit() == limit and gc.isenabled() and gc.get_threshold() == threshold


def test_a_program_that_sets_the_threshold_of_collections_in_a_trace_keeps_it(usual_collections):
    with rare_collections(), rare_collections():
        gc.set_threshold(900, 10, 10)
    assert gc.get_threshold() == (900, 10, 10)
    with rare_collections():
        assert gc.get_threshold()[0] > 900
    assert gc.get_threshold() == (900, 10, 10)


def test_blocks_of_several_threads_may_overlap():
    limit = sys.getrecursionlimit()
    first, second = deep_recursion(), deep_recursion()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() > limit
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("kind", ["prefetch", "map", "map as they come"])
def test_an_iterator_goes_on_in_a_child(kind):
    def slowly(x):
        time.sleep(0.01)
        return x + np.int64(1)

    dataset = Dataset.range(30)
    if kind == "prefetch":
        dataset = dataset.map(lambda x: ac.py_function(slowly, [x], ac.int64)).prefetch(3)
    else:
        in_order = kind == "map"
        dataset = dataset.map(
            lambda x: ac.py_function(slowly, [x], ac.int64), num_parallel_calls=3, deterministic=in_order
        )
    iterator = iter(dataset)
    first = [int(next(iterator)) for _ in range(5)]
    rest: list[int] = []

    def check() -> None:
        elements = sorted(first + [int(element) for element in iterator])
        assert elements == list(range(1, 31)), elements

    check_in_child(check)
    rest = [int(element) for element in iterator]
    assert sorted(first + rest) == list(range(1, 31))


def test_an_element_that_was_being_computed_is_an_error_in_a_child(monkeypatch):
    monkeypatch.setattr(forks, "_FORK_TIMEOUT", 0.0)

    def generate():
        yield 0
        paused.wait()
        yield 1

    dataset = Dataset.from_generator(generate, output_signature=ac.TensorSpec((), ac.int32)).prefetch(2)
    iterator = iter(dataset)
    paused = PausedThread(lambda: int(next(iterator)))

    def check() -> None:
        with pytest.raises(RuntimeError, match="the process was forked while this element was computed"):
            next(iterator)
        assert [int(element) for element in Dataset.range(3).prefetch(2)] == [0, 1, 2]

    with paused:
        paused.thread.join()
        check_in_child(check)
    assert [int(element) for element in iterator] == [1]


def test_children_of_children():
    def check() -> None:
        check_new_function()
        check_in_child(check_new_function)

    check_in_child(check)


def test_threads_of_native_code_start_again_in_a_child():
    @ac.compile
    def total(x):
        return (x * x + 1.0).sum()

    x = np.arange(1 << 21, dtype=np.float64)
    expected = total(x)

    def check() -> None:
        for _ in range(5):
            assert total(x) == expected

    for _ in range(3):
        check_in_child(check)


def test_every_lock_is_made_by_one_module():
    lock_constructor = re.compile(
        r"(?<![\w.])(threading\.)?(R?Lock|(BoundedDict)?Semaphore|Event|Barrier|Condition)\((?!new)"
        r"|@(functools\.)?cached_property"
    )
    for path in (ROOT / "autoconv").rglob("*.py"):
        if path.name != "forks.py" and "bench" not in path.parts:  # what measures does not fork in the middle
            assert not lock_constructor.search(path.read_text("utf-8")), path
