"""Statements read slices of computed arrays in place; what they write may overlap with the program's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS


def differences(x, out):
    square = x * x
    larger = np.where(square > 2.0, 0.0, square)
    out[:, :] = x[1:-1, 1:-1] - (square[1:-1, 2:] - square[1:-1, :-2] + larger[2:, 1:-1] - larger[:-2, 1:-1])


def steps(x, out):
    square = x * x
    out[::2, ::-1] = square[::2, ::-1][1:, 2:] + square[1::2, 1:-1][1:]


def reads_twice(x, out):
    square = x + 1.0
    out[:, :] = square[1:-1, 1:-1] * square[2:, 2:]
    out[1:, :] = square[3:, 1:-1] + out[:-1, :]
    return square


def broadcast(x, out):
    rows = x.sum(axis=1) * 2.0
    out[:, :] = x[1:-1, 1:-1] * rows[1:-1, None] + rows[2:, None]


@pytest.mark.parametrize("overlaps", [False, True])
@pytest.mark.parametrize("function", [differences, steps, reads_twice, broadcast], ids=lambda f: f.__name__)
def test_results_are_numpys(function, overlaps, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(function)
    for _ in range(2):
        outcomes = []
        for f in (function, compiled):
            x = np.arange(8.0 * 9.0).reshape(8, 9) * 0.25
            out = x[:6, :7] if overlaps else np.zeros((6, 7))
            result = f(x, out)
            outcomes.append((x.tolist(), out.tolist(), None if result is None else result.tolist()))
        assert outcomes[0] == outcomes[1]
