"""Outcomes of `packages.py` for functions whose outcome is known."""

from __future__ import annotations

import collections
import sys
from pathlib import Path

import autoconv

sys.path.insert(0, str(Path(__file__).resolve().parent))

import package_plugin
import packages

COUNTS = collections.Counter()


def grows(items, n):
    for i in range(n):
        items.append(i)
    return items[-1]


def counts(name):
    COUNTS[name] += 1
    return COUNTS[name]


def test_the_same_results_and_changes():
    assert package_plugin.compare_calls(grows, [(([1], 3), {}), (([], 0), {})]) == "same"


def test_functions_whose_plain_results_vary_are_not_compared():
    assert package_plugin.compare_calls(counts, [(("a",), {})]) == "varies"


def test_values_are_compared_by_type_and_contents():
    nan, loop, like = float("nan"), [], []
    loop.append(loop)
    like.append(like)
    assert package_plugin.values_equal([nan, {"a": (1, loop)}], [float("nan"), {"a": (1, like)}])
    assert not package_plugin.values_equal(1, 1.0) and not package_plugin.values_equal([1], (1,))
    assert not package_plugin.values_equal({"a": 1, "b": 2}, {"b": 2, "a": 1})


def test_values_of_a_trace_are_found_at_any_depth():
    assert package_plugin.has_trace_values([{"a": (autoconv.constant(1),)}], set())
    assert not package_plugin.has_trace_values([{"a": (1, "b", None)}], set())


def test_problems_are_listed():
    plain = {"passed": ["a", "b"], "failed": [], "ended": ""}
    converted = plain | {"passed": ["a"], "failed": ["b"]}
    functions = {"f": "same", "g": "wrong: x"}
    report = {"package": "p", "plain": plain, "converted": converted, "functions": functions}
    assert packages.problems(report) == ["b: fails converted, and passes as it is", "g: wrong: x"]
