"""A reshape that nothing reads still raises NumPy's error, where its sizes are open."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import llvm
from autoconv.graph.dtypes import complex128, float64
from autoconv.graph.graph import Graph
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops.builder import GraphBuilder


def unused(x, y):
    np.where(y > 1, y, y).reshape(len(x), len(y))
    return len(x)


def unused_rest(x, y):
    (y + 1).reshape(len(x), -1)
    return len(x)


def used_by_unused(x, y):
    found = (y + 1).reshape(len(x), 2)
    found * 2
    return x.sum()


@pytest.mark.parametrize("function", [unused, unused_rest, used_by_unused])
def test_an_unused_reshape_raises(function):
    compiled = ac.compile(function)
    for size, shape in ((2, (2, 2)), (4, (4, 4)), (3, (3, 3)), (5, (5, 5)), (4, (3, 6)), (7, (6, 7)), (5, (3, 6))):
        x, y = np.ones(size), np.ones(shape)
        try:
            expected = function(x, y)
        except ValueError as error:
            with pytest.raises(ValueError) as raised:
                compiled(x, y)
            assert str(raised.value) == str(error)
        else:
            assert compiled(x, y) == expected


@pytest.mark.parametrize(
    ("op", "shape"), [("reshape", (1,)), ("reshape", ()), ("reshape", (2,)), ("broadcast_to", (2,))]
)
@pytest.mark.parametrize("dtype", [float64, complex128])
def test_an_unused_result_of_another_shape_raises_in_native_code(dtype, op, shape):
    graph = Graph("f")
    x = graph.add_parameter(TensorType(dtype, (Symbol("n"),)))
    b = GraphBuilder(graph)
    doubled = b.add(x, x)
    getattr(b, op)(doubled, shape=shape)
    graph.outputs = [doubled, b.where_indices(b.not_equal(x, x))]
    with pytest.raises(ac.errors.InvalidArgumentError):
        llvm.compile_graph(graph)([np.ones(3, dtype.numpy)])
