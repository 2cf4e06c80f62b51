"""Elementwise ops may raise if their dimensions are known at run time only."""

from __future__ import annotations

from typing import Any

import pytest

from autoconv.graph.dtypes import float32
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops import OPS
from autoconv.ops.analysis.requested_sizes import may_fail_for_sizes

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


@pytest.mark.parametrize(
    ("function", "shapes", "raises"),
    [
        ("nextafter", [(N,), (N,)], False), ("nextafter", [(N,), (M,)], True), ("nextafter", [(2, 3), (3,)], False),
        ("vecdot", [(N,), (N,)], True), ("vecdot", [(3,), (3,)], False), ("modf", [(N,)], False),
        ("power", [(3,), (3,)], True), ("fft.fft", [(N,)], True), ("fft.fft", [(3,)], False),
    ],
)  # fmt: skip
def test_whether_a_call_of_numpy_may_raise(function: str, shapes: list[Any], raises: bool) -> None:
    graph = Graph("f")
    operands = [graph.add_parameter(TensorType(float32, shape)) for shape in shapes]
    arguments = tuple(("input", i) for i in range(len(shapes)))
    node = graph.add(OPS["numpy_call"], operands, {"function": function, "arguments": arguments})
    assert bool(node.effects & Effects.RAISE) == raises


@pytest.mark.parametrize(
    ("shape", "raises"),
    [((-1,), False), ((1, -1), False), ((1,), True), ((1, 1), True), ((), True), ((2,), True), ((2, -1), True),
     ((0, -1), True)],
)  # fmt: skip
@pytest.mark.parametrize("size", [N, None])
def test_whether_a_reshape_may_raise(shape: tuple[int, ...], size: Any, raises: bool) -> None:
    x = Graph("f").add_parameter(TensorType(float32, (size,)))
    assert may_fail_for_sizes(OPS["reshape"], [x], {"shape": shape}) == raises
