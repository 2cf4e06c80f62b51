"""An argument that is changed, and in some calls is a list that the function also reads by another name."""

from __future__ import annotations

import itertools
import linecache

import pytest

import autoconv
from autoconv.graph.graph import Graph, Node
from autoconv.tracing.guards.outside_values import values_reached_by_names

PROGRAM = """
import bisect, heapq, operator, types

L = [3, 2, 5]
OTHER = [3, 2, 5]
GIVEN = [4.5, 1, 6]


class Kind:
    part = L


class Box:
    def __init__(self, part):
        self.part = part


BOX = Box(L)
PAIR = (L, 1)
SPACE = types.SimpleNamespace(part=L)
MODULE = types.ModuleType("settings")
MODULE.part = L


def default(part=L):
    return part


def argument(x, o):
    {change}
    read = {read}
    return read[0], len(read), o is read


def rebound(x):
    o = OTHER
    {change}
    read = {read}
    return read[0], len(read)
"""
READS = ("L", "Kind.part", "BOX.part", "PAIR[0]", "SPACE.part", "MODULE.part", "default()", "[q for q in PAIR][0]")
CHANGES = (
    "o[0] = x", "o[:] = [x, x]", "o.append(x)", "o += [x]", "heapq.heappush(o, x)", "bisect.insort(o, x)",
    "operator.setitem(o, 0, x)", "for i in range(2): o.append(x)",
)  # fmt: skip


def namespace_of(source):
    name = f"<program {hash(source)}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    names = {"__name__": "program"}
    exec(compile(source, name, "exec"), names)
    return names


# Every expression that reads with one change, and every change with one such expression.
CASES = [*itertools.product(READS, CHANGES[:1]), *itertools.product(READS[:1], CHANGES[1:])]


@pytest.mark.parametrize(("read", "change"), CASES)
def test_a_later_call_gives_the_list_that_is_read(read, change):
    source = PROGRAM.format(read=read, change=change)
    found = []
    for compiles in (False, True):
        names = namespace_of(source)
        function = autoconv.compile(names["argument"]) if compiles else names["argument"]
        lists = [names["GIVEN"], names["L"], names["L"], names["GIVEN"], names["L"], names["OTHER"]]
        results = [function(x + 0.5, o) for x, o in enumerate(lists)]
        found.append((results, names["L"], names["GIVEN"], names["OTHER"]))
    assert found[0] == found[1]


@pytest.mark.parametrize(("read", "change"), CASES)
def test_a_name_is_bound_to_the_list_that_is_read(read, change):
    source = PROGRAM.format(read=read, change=change)
    found = []
    for compiles in (False, True):
        names = namespace_of(source)
        function = autoconv.compile(names["rebound"]) if compiles else names["rebound"]
        results = [function(1.5), function(2.5)]
        names["OTHER"] = list(names["L"])
        results.append(function(3.5))
        names["OTHER"] = names["L"]
        results += [function(4.5), function(5.5)]
        found.append((results, names["L"]))
    assert found[0] == found[1]


def test_the_first_call_with_such_a_list_runs_plain_with_a_reason():
    names = namespace_of(PROGRAM.format(read="L", change="o[0] = x").replace(", o is read", ""))
    function = autoconv.compile(names["argument"])
    function(1.5, names["GIVEN"])
    assert "plain Python" not in function.explain()
    function(2.5, names["L"])
    assert "plain Python: one call: what the call changes is also read by another name" in function.explain()


@pytest.mark.parametrize("change", ["bisect.insort(L, x)", "bisect.insort_left(L, x)", "heapq.heappush(L, x)"])
def test_library_functions_change_an_outer_list(change):
    source = f"import bisect, heapq\nL = [1, 2]\n\ndef program(x):\n    {change}\n    return len(L), L[0], x\n"
    plain, compiled = namespace_of(source), namespace_of(source)
    function = autoconv.compile(compiled["program"])
    for x in (1.5, 0.5, 2.5):
        assert function(x) == plain["program"](x)
        assert compiled["L"] == plain["L"]


class Account:
    def __init__(self):
        self.entries = []

    def add(self, x):
        self.entries.append(float(x))
        return len(self.entries)


class CompiledAccount(Account):
    add = autoconv.compile(Account.add)


def test_objects_reachable_from_names_end_at_decorated_functions():
    """Traces of decorated functions are not searched: for a small network they hold some 4,000 objects."""
    account = CompiledAccount()
    for x in range(3):
        assert account.add(x) == x + 1
    reached = list(values_reached_by_names([account], frozenset({"entries", "add"})))
    assert any(value is account.entries for value in reached)
    assert not any(isinstance(value, (Graph, Node)) for value in reached)
    assert len(reached) < 20


class Holder:
    def __init__(self, part=None):
        self.part = part


_SHARED = Holder()


def test_objects_that_a_loop_exchanges_may_be_one_that_is_read():
    def write_after_rotations(holders, i, count):
        before = _SHARED.part
        first, second, third = Holder(), holders[i].part, Holder()
        while count > 0:
            first, second, third = second, third, first
            count -= 1
        first.mark = 5
        third.part = 7
        return before + _SHARED.part * 100

    compiled = autoconv.compile(write_after_rotations)
    for i, count in ((0, 1), (5, 1), (5, 2), (5, 3), (1, 2)):
        results = []
        for function in (write_after_rotations, compiled):
            _SHARED.part = 1
            holders = [Holder(_SHARED if k == 5 else Holder()) for k in range(70)]
            results.append((function(holders, i, count), _SHARED.part))
        assert results[0] == results[1]
