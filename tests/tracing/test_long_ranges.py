"""A long range that `function` unrolls gives one warning for its line; other loops give none."""

import logging

import pytest

import autoconv
from autoconv.operators.control import range_warning


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(range_warning, "LONG_RANGE", 20)
    monkeypatch.setattr(range_warning, "_WARNED_PLACES", set())


def warning_texts(caplog):
    return [record.getMessage() for record in caplog.records if "turns is unrolled" in record.getMessage()]


def unrolled(x):
    for _ in range(30):
        x = x * 2
    return x


def in_a_comprehension(x):
    return [x * i for i in range(30)]


@pytest.mark.parametrize(("program", "line"), [(unrolled, 1), (in_a_comprehension, 1)])
def test_one_warning_for_the_line_with_the_remedy(program, line, caplog):
    f = autoconv.function(program)
    with caplog.at_level(logging.WARNING, "autoconv"):
        f(autoconv.constant(1))
        f(autoconv.constant(1.0))
    (message,) = warning_texts(caplog)
    assert message.startswith(f"{__file__}:{program.__code__.co_firstlineno + line}:")
    assert "autoconv.range(…)" in message and "@autoconv.compile" in message
    assert f.experimental_get_tracing_count() == 2


def in_the_graph(x):
    for _ in autoconv.range(30):
        x = x * 2
    return x


def short(x):
    for _ in range(20):
        x = x * 2
    return x


def nothing_recorded(x):
    total = 0
    for i in range(30):
        total += i
    return x + total


@pytest.mark.parametrize("program", [in_the_graph, short, nothing_recorded])
def test_other_loops_give_no_warning(program, caplog):
    with caplog.at_level(logging.WARNING, "autoconv"):
        autoconv.function(program)(autoconv.constant(1))
        autoconv.compile(unrolled)(1)
    assert warning_texts(caplog) == []
