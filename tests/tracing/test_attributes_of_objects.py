"""The program's own objects have no attributes of this package: exceptions, and instances with compiled methods."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import autoconv


class Tally:
    def __init__(self) -> None:
        self.total = 1.0

    @autoconv.compile
    def add(self, x: float) -> float:
        self.total = self.total + x
        return self.total


def test_instances_with_compiled_methods() -> None:
    tally = Tally()
    assert [tally.add(2.0), tally.add(3.0)] == [3.0, 6.0]
    assert vars(tally) == {"total": 6.0}
    copied = copy.copy(tally)
    assert (copied.add(1.0), tally.add(2.0)) == (7.0, 8.0)
    bound = tally.add
    gc.collect()
    assert tally.add is bound and vars(tally) == {"total": 8.0}


def test_methods_are_freed_with_their_instances() -> None:
    tally = Tally()
    tally.add(2.0)
    tally.add(3.0)
    reference, bound = weakref.ref(tally), weakref.ref(tally.add)
    del tally
    gc.collect()
    assert reference() is None and bound() is None


@pytest.mark.parametrize(
    "program",
    [lambda x: x[7] + np.zeros(3), lambda x: x.sum() + [1, 2][x.size], lambda x: {"a": x}[x.size] * 2],
    ids=["array", "list", "dict"],
)
def test_raised_exceptions(program) -> None:
    compiled = autoconv.compile(program)
    for _ in range(2):
        found = []
        for function in (program, compiled):
            with pytest.raises(LookupError) as caught:
                function(np.ones(3))
            error = caught.value
            found.append((type(error), str(error), vars(error), error.__context__, error.__cause__))
        assert found[0] == found[1]


class Partial:
    def __init__(self, x, parts):
        self.x = x
        if parts & 1:
            self.one = x + 1
        if parts & 2:
            self.items = [x, x + 1]
        self.last = 3
        if parts & 4:
            del self.last


def test_an_attribute_of_one_branch_is_absent_in_results_of_the_other():
    def build(x, parts):
        partial = Partial(x, parts)
        return partial, [{"key": Partial(x, parts)}], hasattr(partial, "one"), getattr(partial, "items", None)

    def shown(found):
        first_part, [others], *rest = found
        return vars(first_part), vars(others["key"]), hasattr(first_part, "one"), rest

    compiled = autoconv.compile(build)
    for parts in (7, 0, 1, 2, 4, 5, 0):
        assert shown(compiled(2.0, parts)) == shown(build(2.0, parts))
    assert compiled.explain().startswith("build: 1 trace")


def test_objects_in_a_list_of_the_graph_have_the_attributes_of_their_branch():
    def make(n):
        items = []
        for i in range(n):
            items.append(Partial(i, i))
        return items

    compiled = autoconv.compile(make)
    for n in (7, 0, 3):
        assert [vars(item) for item in compiled(n)] == [vars(item) for item in make(n)]


def test_attributes_of_methods_are_those_of_the_function_of_the_class() -> None:
    """A method has `__self__` and `__func__`, and attributes that the program sets later."""

    def outcomes(decorate: Any) -> list[Any]:
        def count(self: Any, x: float) -> float:
            kind.count.calls += 1
            self.count.__func__.latest = kind.count.calls
            return float(x * self.count.calls)

        vars(count)["mark"] = "old"
        kind: Any = type("Counter", (), {"count": decorate(count)})
        kind.count.calls = 0
        counters = kind(), kind()
        found: list[Any] = [(c.count(2.0), c.count.calls, c.count.latest) for c in (*counters, *counters)]
        kind.count.calls, kind.count.mark = 10, "new"
        c = counters[0]
        found.append((c.count(2.0), c.count.mark, c.count.__self__ is c, c.count.__func__ is kind.count))
        for method in (c.count, kind().count):
            found.append([_message(setattr, method, name, 1) for name in ("new", "_old", "__doc__", "__self__")])
            found.append([_message(delattr, method, "mark"), _message(getattr, method, "missing")])
        kind.other = c.count
        found.append([kind().other(3.0), weakref.WeakMethod(c.count)()(1.0), copy.deepcopy(kind.count) is kind.count])
        copied = copy.deepcopy(c.count)
        found.append([copied(1.0), type(copied.__self__) is kind, copied.__self__ is c, copy.copy(c.count) == c.count])
        return [*found, hasattr(c.count, "missing"), c.count.__name__]

    assert outcomes(autoconv.compile) == outcomes(lambda function: function)


def _message(function: Any, *arguments: Any) -> str:
    with pytest.raises(AttributeError) as caught:
        function(*arguments)
    return str(caught.value)
