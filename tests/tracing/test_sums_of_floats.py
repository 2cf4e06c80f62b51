"""Sums of Python's floats are those of `sum`, which compensates rounding errors from Python 3.12 on."""

from __future__ import annotations

import random

import numpy as np
import pytest

import autoconv
from autoconv.config.settings import SETTINGS

PROGRAMS = {
    "items": lambda xs: sum(x * 1.5 for x in xs),
    "list": lambda xs: sum(xs),
    "new list": lambda xs: sum([x * 1.5 for x in xs]),
    "start": lambda xs: sum((x for x in xs), 0.5),
    "integer start": lambda xs: sum((x for x in xs), 3),
    "known items": lambda xs: sum([xs[0], xs[1], xs[2], xs[0] * 3]),
    "integers among them": lambda xs: sum([xs[0], 1, xs[1], True, xs[2]]),
    "range": lambda xs: sum(xs[i % len(xs)] for i in range(len(xs) + 3)),
    "mapping": lambda xs: sum(map(abs, xs)),
    "products": lambda xs: sum(a * b for a, b in zip(xs, reversed(xs), strict=True)),
    "condition": lambda xs: sum(x for x in xs if x > 0.0),
    "two classes": lambda xs: sum(x if x > 0.0 else 1 for x in xs),
    "values": lambda xs: sum({i: x * 1.5 for i, x in enumerate(xs)}.values()),
    "complex": lambda xs: sum([1j, *xs]),
}
DRAWS = random.Random(0)
LISTS = [
    [DRAWS.uniform(-1, 1) * 10 ** DRAWS.randint(-8, 8) for _ in range(count)] for count in (3, 4, 7, 7, 20, 20, 40)
]
LISTS += [[1e308, 1e308, -1e308], [-0.0, -0.0, -0.0], [1e16, 1.0, -1e16], [float("nan"), 1.0, 2.0]]


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_those_of_python(name, backend, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    monkeypatch.setattr(SETTINGS, "backend", backend)
    compiled = autoconv.compile(PROGRAMS[name])
    with np.errstate(all="ignore"):
        for numbers in LISTS:
            assert repr(compiled(list(numbers))) == repr(PROGRAMS[name](list(numbers)))
    assert "plain Python" not in compiled.explain()
