"""Index maps agree with the kernels of the ops, and can be composed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.backends.llvm.analysis.index_map import (
    IndexMap,
    Loaded,
    Padded,
    Remainder,
    Wrapped,
    reshape_map,
    variables,
)
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.graph.dimensions import substitute
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph, Node
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import At, Gather, NewAxis, Rest, Slice

X = np.arange(60.0).reshape(3, 4, 5)
POSITIONS = np.array([2, -1, 0])
ROWS = np.array([2, 1, 0])

CASES: list[tuple[str, list[np.ndarray], dict[str, Any]]] = [
    ("transpose", [X], {"perm": None}), ("transpose", [X], {"perm": (2, 0, 1)}), ("matrix_transpose", [X], {}),
    ("reverse", [X], {"axis": (0, 2)}), ("reshape", [X], {"shape": (12, 5)}), ("reshape", [X], {"shape": (5, 3, 1, 4)}),
    ("reshape", [X], {"shape": (1, 3, 4, 1, 5)}), ("expand_dims", [X], {"axis": 1}),
    ("broadcast_to", [X[:, :1]], {"shape": (2, 3, 4, 5)}), ("roll", [X], {"shift": (2, -1), "axis": (0, 2)}),
    ("get_item", [X], {"spec": (At(1), Slice(None, None, -2))}),
    ("get_item", [X], {"spec": (Rest(), NewAxis(), Slice(3, 0, -1))}),
    ("get_item", [X, POSITIONS], {"spec": (Slice(), Gather(), At(-1))}),
    ("get_item", [X, POSITIONS, POSITIONS], {"spec": (Gather(), Slice(1, 3), Gather())}),
    ("gather", [X, ROWS], {"axis": 1}), ("gather_nd", [X, np.array([[0, 1], [2, 3]])], {}),
    ("take_along_axis", [X, np.zeros((3, 2, 5), np.int64) + 3], {"axis": 1}),
]  # fmt: skip


def _node(name: str, inputs: list[np.ndarray], attributes: dict[str, Any]) -> Node:
    graph = Graph("f")
    values = [graph.add_parameter(TensorType(as_dtype(x.dtype), x.shape)) for x in inputs]
    result = getattr(GraphBuilder(graph), name)(*values, **attributes)
    assert result.node is not None
    return result.node  # type: ignore[no-any-return]


def _evaluate(position: Any, node: Node, inputs: list[np.ndarray]) -> Any:
    def value(symbol: Symbol) -> Any:
        if isinstance(symbol, Loaded):
            source_position = tuple(_evaluate(item, node, inputs) for item in symbol.index)
            found = int(inputs[node.inputs.index(symbol.value)][source_position])
            return found + symbol.wrap_size if found < 0 and isinstance(symbol.wrap_size, int) else found
        if isinstance(symbol, (Remainder, Wrapped)):
            return _evaluate(symbol.position, node, inputs) % symbol.size  # type: ignore[operator]
        raise AssertionError(symbol)

    return substitute(position, value)


@pytest.mark.parametrize(("name", "inputs", "attributes"), CASES)
def test_maps_agree_with_kernels(name: str, inputs: list[np.ndarray], attributes: dict[str, Any]) -> None:
    node = _node(name, inputs, attributes)
    kernel = OPS[name].kernel
    assert kernel is not None
    result, map_ = kernel(*inputs, **attributes), index_map(node)
    assert map_ is not None
    for index in np.ndindex(result.shape):
        source = tuple(_evaluate(item, node, inputs) for item in map_.apply(index) or ())
        assert inputs[0][source] == result[index], (index, source)


def test_maps_compose() -> None:
    rotation, inverse = (index_map(_node("transpose", [X], {"perm": perm})) for perm in ((2, 0, 1), (1, 2, 0)))
    assert rotation is not None and inverse is not None
    assert rotation.apply(inverse.apply(variables(3)) or ()) == variables(3)
    halves = index_map(_node("get_item", [X], {"spec": (Slice(1, None, 2),)}))
    mirror = index_map(_node("reverse", [X[1::2]], {"axis": (0,)}))
    assert halves is not None and mirror is not None
    composed = halves.apply(mirror.apply(variables(3)) or ()) or ()
    assert composed[1:] == variables(3)[1:] and str(composed[0]) == "-2*%0+1"


def test_a_reshape_and_back_is_no_map() -> None:
    shape, source_shape = (Symbol("n"), 6), (Symbol("n"), 2, 3)
    grouping = reshape_map(source_shape, shape, ((), ()))
    assert isinstance(grouping.source[1], Remainder)
    flattened = reshape_map((1, *shape), shape, ((), ()))
    assert flattened == IndexMap(variables(3)[1:])


def test_padding_outside_reads_nothing() -> None:
    node = _node("pad", [X], {"paddings": ((1, 1), (0, 0), (0, 0)), "mode": "CONSTANT", "constant_values": 0})
    map_ = index_map(node)
    assert map_ is not None
    assert map_.apply((0, 1, 1)) is None and map_.apply((4, 1, 1)) is None
    assert map_.apply((1, 2, 3)) == (0, 2, 3)
    assert isinstance((map_.apply(variables(3)) or ())[0], Padded)
