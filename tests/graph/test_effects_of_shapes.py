"""Elementwise ops may raise if their dimensions are known at run time only."""

from __future__ import annotations

from typing import Any

import pytest

from autoconv.graph.dtypes import float32
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops import OPS

N, M = Symbol("n"), Symbol("m")


@pytest.mark.parametrize(
    ("left", "right", "raises"),
    [
        ((2, 3), (3,), False), ((N,), (N,), False), ((N, 3), (1, 3), False), (None, (), False), ((None,), (1,), False),
        ((None, 3), (3,), False), ((N,), (M,), True), ((None,), (None,), True), ((None,), (3,), True),
        (None, (3,), True),
    ],
)  # fmt: skip
def test_whether_a_sum_may_raise(left: Any, right: Any, raises: bool) -> None:
    graph = Graph("f")
    x, y = (graph.add_parameter(TensorType(float32, shape), name) for shape, name in ((left, "x"), (right, "y")))
    assert bool(graph.add(OPS["add"], [x, y]).effects & Effects.RAISE) == raises
    assert not graph.add(OPS["add"], [x, x]).effects
