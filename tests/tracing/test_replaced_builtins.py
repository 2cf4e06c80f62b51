"""Builtins that a program replaces for a while, as `unittest.mock.patch` does: calls run plain meanwhile."""

from __future__ import annotations

import builtins
from unittest import mock

import pytest

import autoconv


def ordered(values):
    total = 0
    for position, value in enumerate(values):
        total += position * round(value)
    return sorted(values), total, len(values)


REPLACEMENTS = {"sorted": lambda x: "S", "round": lambda x: 100, "enumerate": lambda x: [(1, 1)], "len": lambda x: 7}


@pytest.mark.parametrize("name", REPLACEMENTS)
def test_replaced_around_the_call(name):
    compiled = autoconv.compile(ordered)
    for values in ([3, 1], [2.5, 1.5], [3, 1], []):
        with mock.patch.object(builtins, name, REPLACEMENTS[name]):
            found, expected = compiled(values), ordered(values)
        assert found == expected
        assert compiled(values) == ordered(values)
    assert "has replaced a builtin" in compiled.explain()


def test_replaced_by_the_function():
    def run(values):
        original = builtins.sorted
        builtins.sorted = lambda values: values[0]
        try:
            return ordered(values)
        finally:
            builtins.sorted = original

    compiled = autoconv.compile(run)
    for values in ([3, 1], [1.5, 0.5], [4]):
        assert compiled(values) == run(values)
    assert builtins.sorted([2, 1]) == [1, 2]


def test_replaced_open_serves_the_program_alone():
    def read(path):
        with open(path) as file:
            return len(file.read())

    compiled = autoconv.compile(read)
    for _ in range(3):
        with mock.patch("builtins.open", mock.mock_open(read_data="abc")) as opened:
            assert compiled("missing") == 3
        opened.assert_called_once_with("missing")
