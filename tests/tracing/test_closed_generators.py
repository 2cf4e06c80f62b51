"""Generators that Python closes while a trace is abandoned: nothing is printed about the signal that ends the trace."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from autoconv.operators.regions.tracing_signals import AbandonTrace, drop_unraisable_signals


def generator_that_ends_with(error: type[BaseException]) -> Iterator[int]:
    try:
        yield 1
    finally:
        raise error


@pytest.mark.parametrize(("error", "is_reported"), [(AbandonTrace, False), (ValueError, True)])
def test_only_signals_of_traces_are_dropped(error, is_reported, monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)
    with drop_unraisable_signals():
        items = generator_that_ends_with(error)
        next(items)
        del items
    assert bool(reports) is is_reported
    assert sys.unraisablehook == reports.append
