"""Internal errors of this package: `explain()` shows them and the call runs plain, or tests have them raised."""

import re

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from autoconv.errors import InternalError, StagingError


def doubled(x):
    return np.sort(x) * 2


@pytest.fixture
def fault(monkeypatch):
    """Replace a function of this package by one that raises a TypeError."""
    monkeypatch.setattr("autoconv.tracing.execute.recording.optimise", str)


def test_by_default_the_call_runs_plain_and_explain_shows_the_error(fault, monkeypatch):
    monkeypatch.setattr(SETTINGS, "strict", False)
    compiled = autoconv.compile(doubled)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(np.array([3.0, 1.0])), [2.0, 6.0])
    pattern = r"internal error.*: TypeError: .* at autoconv/tracing/execute/recording.py:\d+"
    assert re.search(pattern, compiled.explain())


def test_the_error_is_raised_in_tests(fault, monkeypatch):
    monkeypatch.setattr(SETTINGS, "strict", True)
    with pytest.raises(InternalError, match=r"at autoconv/tracing/execute/recording\.py"):
        autoconv.compile(doubled)(np.array([3.0, 1.0]))


def test_a_refusal_is_no_internal_error(monkeypatch):
    monkeypatch.setattr(SETTINGS, "strict", True)

    def refuse(*args, **kwargs):
        raise StagingError("for the test")

    monkeypatch.setattr("autoconv.tracing.execute.recording.optimise", refuse)
    compiled = autoconv.compile(doubled)
    np.testing.assert_array_equal(compiled(np.array([3.0, 1.0])), [2.0, 6.0])
    assert "internal error" not in compiled.explain()


def key(d):
    return d["missing"] + 1


def attribute(x):
    return x.missing


def wrong_call(x):
    return len(x, 1)


def wrong_shapes(x):
    return x @ np.ones(9)


@pytest.mark.parametrize(("function", "argument"), [
    (key, {"a": 1}), (attribute, np.ones(3)), (wrong_call, np.ones(3)), (wrong_shapes, np.ones(3)), (attribute, 1.5),
])  # fmt: skip
def test_errors_of_the_program_are_no_internal_errors(monkeypatch, function, argument):
    monkeypatch.setattr(SETTINGS, "strict", True)
    compiled = autoconv.compile(function)
    with pytest.raises(Exception) as plain:
        function(argument)
    for _ in range(3):
        with pytest.raises(plain.type) as found:
            compiled(argument)
        assert type(found.value) is plain.type
    assert "internal error" not in compiled.explain()


