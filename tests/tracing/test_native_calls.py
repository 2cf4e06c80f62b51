"""Calls that enter native code directly behave as those that pass through Python."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import traceback
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS


def double(x: Any, y: Any = 1.0) -> Any:
    return x * 2.0 + y


def warm(function: Any, *args: Any) -> Any:
    for _ in range(3):
        found = function(*args)
    return found


def test_positions_and_names() -> None:
    function = ac.function(double)
    x = ac.constant([1.0, 2.0])
    assert warm(function, x, ac.constant(3.0)).numpy().tolist() == [5.0, 7.0]
    assert type(type(function).__call__).__name__ == "method_descriptor"
    assert function(x, y=ac.constant(4.0)).numpy().tolist() == [6.0, 8.0]
    assert function(y=ac.constant(4.0), x=x).numpy().tolist() == [6.0, 8.0]
    assert function(x).numpy().tolist() == [3.0, 5.0]
    assert function.__call__(x, ac.constant(3.0)).numpy().tolist() == [5.0, 7.0]
    with pytest.raises(TypeError, match="z"):
        function(x, z=1)
    with pytest.raises(TypeError):
        function()
    with pytest.raises(TypeError):
        function(x, x, x)


def test_several_traces() -> None:
    function = ac.function(double)
    inputs = [ac.constant(np.ones(n, np.float32)) for n in (1, 2, 3, 4, 5, 6)] + [ac.constant(2.0), ac.constant([1.0])]
    for _ in range(3):
        for x in inputs:
            np.testing.assert_array_equal(function(x, ac.constant(1.0)).numpy(), x.numpy() * 2.0 + 1.0)
    assert function.experimental_get_tracing_count() == 7


def test_calls_are_counted() -> None:
    function = ac.function(lambda x: x + 1.0)
    for _ in range(25):
        function(ac.constant(1.0))
    assert function._call_counter.calls == 25


def test_settings_and_tapes_are_obeyed() -> None:
    seen: list[Any] = []

    @ac.function
    def noted(x: Any) -> Any:
        seen.append(type(x).__name__)
        return x * x

    x = ac.constant(3.0)
    warm(noted, x)
    assert len(seen) == 1
    ac.config.run_functions_eagerly(True)
    try:
        assert noted(x).numpy() == 9.0
        assert len(seen) == 2
    finally:
        ac.config.run_functions_eagerly(False)
    noted(x)
    assert len(seen) == 2
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = noted(x)
    assert tape.gradient(y, x).numpy() == 6.0
    assert SETTINGS.run_eagerly is False


def test_globals_that_change() -> None:
    namespace: dict[str, Any] = {"factor": 2.0}
    exec("def scaled(x):\n    return x * factor\n", namespace)
    import linecache

    linecache.cache["<scaled>"] = (1, None, ["def scaled(x):\n", "    return x * factor\n"], "<scaled>")
    exec(compile("def scaled(x):\n    return x * factor\n", "<scaled>", "exec"), namespace)
    function = ac.function(namespace["scaled"])
    x = ac.constant(5.0)
    assert warm(function, x).numpy() == 10.0
    namespace["factor"] = 3.0
    assert warm(function, x).numpy() == 15.0
    namespace["factor"] = 2.0
    assert warm(function, x).numpy() == 10.0


def test_errors_keep_to_the_users_lines() -> None:
    @ac.function
    def checked(x: Any) -> Any:
        ac.debugging.assert_greater(x, 0.0, message="not above")
        return ac.sqrt(x)

    warm(checked, ac.constant(4.0))
    for _ in range(3):
        with pytest.raises(ac.errors.InvalidArgumentError, match="not above") as caught:
            checked(ac.constant(-4.0))
        files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert all(file == __file__ for file in files), files
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-1] == "checked"
    assert checked(ac.constant(9.0)).numpy() == 3.0


def test_numbers_that_outgrow_64_bits() -> None:
    @ac.compile
    def power(n: int, times: int) -> int:
        for _ in range(times):
            n = n * 3
        return n

    assert warm(power, 2, 5) == 486
    assert power(2, 60) == 2 * 3**60
    assert power(2, 6) == 1458


def test_reference_counts_are_unchanged() -> None:
    function = ac.function(double)
    x, y = ac.constant([1.0, 2.0, 3.0]), ac.constant(1.0)
    warm(function, x, y)
    gc.collect()
    slot = function._native_entries
    before = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(function), sys.getrefcount(slot)
    counts_before = sys.getrefcount(NotImplemented), sys.getrefcount(False)
    for _ in range(3000):
        function(x, y)
        function(x, y=y)
    after = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(function), sys.getrefcount(function._native_entries)
    assert after == before
    counts_after = sys.getrefcount(NotImplemented), sys.getrefcount(False)
    assert all(abs(actual - expected) < 200 for actual, expected in zip(counts_after, counts_before, strict=True))


def test_a_function_that_is_dropped_while_it_runs() -> None:
    holder: dict[str, Any] = {}

    def drop(x: Any) -> Any:
        if holder:
            holder.clear()
            gc.collect()
        return x

    @ac.function
    def callback(x: Any) -> Any:
        return ac.numpy_function(drop, [x], ac.float32) + 1.0

    warm(callback, ac.constant(1.0))
    holder["function"] = callback
    del callback
    assert holder["function"](ac.constant(2.0)).numpy() == 3.0
    assert not holder


def test_threads_share_a_function() -> None:
    function = ac.function(double)
    wrong: list[Any] = []

    def work(number: float) -> None:
        x = ac.constant([number])
        for _ in range(300):
            found = function(x, ac.constant(1.0)).numpy()[0]
            if found != number * 2.0 + 1.0:
                wrong.append((number, found))

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_methods_copies_and_pickles() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @ac.function
        def apply(self, x: Any) -> Any:
            return x * self.scale

    model = Model(3.0)
    for _ in range(4):
        assert model.apply(ac.constant(2.0)).numpy() == 6.0
    function = ac.function(double)
    warm(function, ac.constant(1.0))
    copied = pickle.loads(pickle.dumps(function))
    assert warm(copied, ac.constant(1.0)).numpy() == 3.0
    assert warm(copy.copy(function), ac.constant(1.0)).numpy() == 3.0


def test_timed_calls_of_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where calls are timed, native dispatch looks up the method in the class of the instance."""
    monkeypatch.setattr(SETTINGS, "tiers", "measured")

    class Scale:
        def __init__(self, factor: Any) -> None:
            self.factor = factor

        @ac.compile
        def of(self, x: Any, plus: Any = 0.0) -> Any:
            return self.factor * x + plus

        @ac.compile
        def norm(self) -> Any:
            return np.sqrt((self.factor * self.factor).sum())

    class Shifted(Scale):
        @ac.compile
        def of(self, x: Any, plus: Any = 0.0) -> Any:
            return super().of(x, plus) + 1

    class Slotted:
        __slots__ = ("factor",)

        @ac.compile
        def of(self, x: Any) -> Any:
            return self.factor * x

    two, three, slotted = Scale(2.0), Shifted(3.0), Slotted()
    for i in range(60):
        slotted.factor = i
        assert two.of(i) == Scale.of(two, i) == 2.0 * i
        assert two.of(i, plus=1.0) == 2.0 * i + 1
        assert three.of(i, 1.0) == 3.0 * i + 2 and Scale.of(three, i) == 3.0 * i
        assert Scale(float(i)).of(2) == slotted.of(2) == 2 * i
        many = Scale(np.arange(i + 2.0))
        np.testing.assert_allclose(many.norm(), np.linalg.norm(many.factor))
        if i % 20 == 10:
            gc.collect()
    assert type(Scale.of).takes_instances and vars(two) == {"factor": 2.0}
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match="positional argument"):
            two.of(*wrong)
    with pytest.raises(TypeError, match="self"):
        Scale.of()
    two.of = lambda x: -x  # type: ignore[method-assign, assignment, misc]
    assert two.of(3) == -3
    del two.of
    assert two.of(3) == 6.0 and two.of.explain().startswith("of: ")


def test_calls_with_names_run_plain_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    seen: list[Any] = []

    @ac.compile
    def note(x: Any, *rest: Any, plus: Any = 0, **names: Any) -> Any:
        seen.append(x)
        return x + plus, rest, names

    for i in range(60):
        assert note(i, plus=1) == (i + 1, (), {}) and note(i, 7, other=i) == (i, (7,), {"other": i})
        assert note(x=i) == (i, (), {})
    assert seen == [i for i in range(60) for _ in range(3)]
    with pytest.raises(TypeError, match="multiple values"):
        note(1, x=2)
