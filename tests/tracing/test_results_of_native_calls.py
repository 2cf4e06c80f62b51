"""Results that native calls build: containers, objects and constants, which are new ones where Python's are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import autoconv

LETTERS = frozenset("ab")


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Record:
    total: float
    items: list[int]


@dataclass
class Counted:
    total: float

    def __post_init__(self) -> None:
        self.doubled = 2 * self.total


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __repr__(self) -> str:
        return f"Slotted({self.x!r})"


def nested(x: Any) -> Any:
    return {"pairs": [Pair(x.sum(), Record(x[0], [1])), None], (1, "a"): ({2, 3}, x + 1)}


RESULTS: list[Callable[[Any], Any]] = [
    lambda x: (np.float64(1.5), np.int8(3), np.bool_(True), x.sum()),
    lambda x: (x.shape, x.dtype, type(x), range(3), ..., NotImplemented, x.sum()),
    lambda x: (slice(1, None, 2), frozenset([1, "a"]), LETTERS, x.sum()),
    lambda x: Pair(x.sum(), x * 2),
    lambda x: Record(x.sum(), [1, 2]),
    lambda x: Counted(x.sum()),
    lambda x: Slotted(x.sum()),
    lambda x: OrderedDict(a=x.sum(), b=[x + 1]),
    lambda x: ({1, 2}, [{3: "c"}], x.sum()),
    lambda x: Pair(1, x) if x.sum() > 2 else Record(x.sum(), []),
    nested,
]


@pytest.mark.parametrize("function", RESULTS, ids=range(len(RESULTS)))
def test_results_are_those_of_python_and_calls_do_not_share_them(function: Any) -> None:
    compiled = autoconv.compile(function)
    results = []
    for scale in (1.0, 2.0, 2.0):
        x = np.full(3, scale)
        results.append(compiled(x))
        assert repr(results[-1]) == repr(function(x))
        assert vars(results[-1]) == vars(function(x)) if isinstance(results[-1], Counted) else True
    (trace,) = compiled.concrete_functions
    assert trace.entry is not None
    first, second = results[1:]
    if isinstance(first, Record):
        first.items.append(3)
        assert second.items == [1, 2]
    if isinstance(first, (Record, Slotted, OrderedDict, Pair)):
        assert first is not second
    if function is nested:
        first["pairs"][0].second.items.append(4)
        first[(1, "a")][0].add(5)
        assert second["pairs"][0].second.items == [1] and second[(1, "a")][0] == {2, 3}


def test_constants_from_outside_are_the_same_objects() -> None:
    letters, number = LETTERS, np.float32(2.5)
    compiled = autoconv.compile(lambda x: (letters, number, x + 1))
    for _ in range(2):
        result = compiled(np.ones(2))
        assert result[0] is letters and result[1] == number and type(result[1]) is np.float32


def test_changes_of_outer_numpy_numbers_and_namespaces_are_seen() -> None:
    outer: dict[str, Any] = {"count": np.int64(3), "zero": np.float32(0.0)}
    space = SimpleNamespace(scale=np.float64(2.5), kept=[1])

    def program(x: Any) -> Any:
        return x * outer["count"] + space.scale, np.copysign(1.0, outer["zero"]), space.kept[0], outer["count"]

    compiled = autoconv.compile(program)

    def check() -> None:
        assert repr(compiled(np.ones(2))) == repr(program(np.ones(2)))

    for value in (np.int64(3), np.int64(3), np.int64(4), np.int32(4), 4, np.int64(4), np.bool_(True)):
        outer["count"] = value
        check()
    for zero in (np.float32(-0.0), np.float32("nan"), np.float64(0.0)):
        outer["zero"] = zero
        check()
    space.scale = 2.5
    check()
    space.kept.insert(0, 7)
    check()
    del space.kept
    with pytest.raises(AttributeError):
        compiled(np.ones(2))
