"""Replacement of calls of NumPy's functions, in graphs for export, by ops.

    before   %y = numpy_call(%x, function="log2", arguments=(("input", 0),))
    after    %log = log(%x); %product = multiply(%log, 1.4426950408889634); … ops that make powers of two exact …

Graphs that run in this process call NumPy's own routines, as their results are NumPy's to the bit. Other runtimes do
not have these routines: results of the ops may differ in the last place. The order of equal elements in the result of
argsort depends on the processor; in the exported graph they keep the order of their positions, which NumPy permits.
Partitions become sorts, which NumPy permits as well. A call whose arguments are constants becomes a constant.
Conditions under which NumPy does not warn are removed, as an exported graph has no warnings. Functions of the module
math that have no code with Python's own bits, such as `math.gamma`, are marked as exported: their element rules apply.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, bool_, int64, uint8
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.elements.python_math import rule_of


def replace_numpy_calls(graph: Graph) -> Graph:
    """Return a graph in which ops compute the functions of NumPy that have a form of ops."""
    return clone(graph, _replace) if any(map(_has_form, graph.walk())) else graph


def _has_form(node: Node) -> bool:
    """Return whether a node is a call of NumPy that ops or a constant can replace, or stands for a warning."""
    if node.op.name == "assert_true":
        return bool(node.attributes.get("failure") == "warning")
    if node.op.name == "python_math":
        key = node.attributes["function"], len(node.inputs)
        return rule_of(*key, is_exported=False) is None and rule_of(*key, is_exported=True) is not None
    if node.op.name != "numpy_call":
        return False
    attributes, types = node.attributes, [value.type for value in node.inputs]
    if not types:
        return True
    if any(not isinstance(type_, TensorType) or type_.dtype.is_complex or type_.shape is None for type_ in types):
        return False
    function = attributes["function"]
    if function in _REDUCTIONS:
        return attributes["arguments"] == (("input", 0),) and _reduced_axis(attributes) is not None
    if function in _SORTS:
        has_known_keywords = dict(attributes["keywords"]).keys() <= ({"axis"} if "partition" in function else set())
        return bool(types[0].shape) and has_known_keywords and len(types) == 1  # type: ignore[union-attr]
    positions = tuple(("input", i) for i in range(len(types)))
    return function in _ELEMENTWISE and attributes["arguments"] == positions and not attributes["keywords"]


def _reduced_axis(attributes: Mapping[str, Any]) -> int | None:
    """Return the axis of a reduction or accumulation by a ufunc along one axis; None for other arguments."""
    keywords = dict(attributes["keywords"])
    kind, axis = keywords.pop("axis", ("value", 0))
    if keywords.pop("keepdims", ("value", False)) != ("value", False) or keywords or kind != "value":
        return None
    return axis if isinstance(axis, int) else None


def _replace(copy: Graph, node: Node, inputs: list[Value]) -> list[Value] | None:
    """Record ops in `copy` in place of a call of NumPy, and none for a warning; return None for other nodes."""
    if not _has_form(node):
        return None
    if node.op.name == "assert_true":
        return []
    b, function, attributes = GraphBuilder(copy, node.span), node.attributes["function"], node.attributes
    if node.op.name == "python_math":
        return [b.python_math(*inputs, function=function, is_exported=True)]
    if not inputs:
        assert node.op.kernel is not None
        results = node.op.kernel(**attributes)
        return [b.constant(value=x) for x in (results if isinstance(results, tuple) else (results,))]
    if function in _SORTS:
        keyword_axis = dict(attributes["keywords"]).get("axis", ("value", -1))
        _, axis = attributes["arguments"][1] if function == "argsort" else keyword_axis
        return [_SORTS[function](b, inputs[0], axis)]
    if function in _REDUCTIONS:
        return [_REDUCTIONS[function](b, inputs[0], _reduced_axis(attributes))]
    result_type: Any = node.results[0].type
    results = _ELEMENTWISE[function](b, result_type.dtype, *inputs)
    return list(results) if isinstance(results, tuple) else [results]


def _sort(b: GraphBuilder, x: Value, axis: int) -> Value:
    return b.cast(b.sort(b.cast(x, dtype=uint8) if x.dtype is bool_ else x, axis=axis), dtype=x.dtype)  # type: ignore[no-any-return]


def _argsort(b: GraphBuilder, x: Value, axis: int) -> Value:
    if x.dtype is bool_:
        x = b.cast(x, dtype=uint8)
    return b.cast(b.argsort(x, axis=axis), dtype=int64)  # type: ignore[no-any-return]


# A partition may have its elements in any order on each side of the chosen ones: it is sorted here.
_SORTS: Mapping[str, Callable[..., Value]] = {
    "argsort": _argsort, "partition": _sort, "argpartition": _argsort,
}  # fmt: skip

# ---- elementwise functions: their parameters are a builder, the dtype of the result, and the operands


def _modf(b: GraphBuilder, dtype: DType, x: Value) -> tuple[Value, Value]:
    x = b.cast(x, dtype=dtype)
    integral = b.trunc(x)
    fraction = b.select(b.is_inf(x), b.zeros_like(x), b.subtract(x, integral))
    return b.copysign(fraction, x), integral


def _ldexp(b: GraphBuilder, dtype: DType, x: Value, exponent: Value) -> Value:
    """Multiply by the power of two in three steps, as the power alone may overflow."""
    x, exponent = b.cast(x, dtype=dtype), b.cast(exponent, dtype=int64)
    exponent = b.minimum(b.maximum(exponent, -3000), 3000)  # beyond these limits every result is 0 or infinite
    third = b.floor_divide(exponent, 3)
    for part in (third, third, b.subtract(exponent, b.multiply(third, 2))):
        power = b.cast(part, dtype=dtype)
        x = b.multiply(x, b.power(b.add(b.zeros_like(power), 2.0), power))
    return x


_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "modf": _modf, "ldexp": _ldexp,
}  # fmt: skip

# ---- reductions: their parameters are a builder, an array and an axis


def _fold_bits(b: GraphBuilder, x: Value, axis: int, fold: Callable[..., Value]) -> Value:
    """Fold each bit of integers along an axis; for the fold, the bits are elements of a new last dimension.

    `fold` returns one result for each row of bits, or as many as it has bits.
    """
    dtype, rank = x.dtype, len(x.type.shape)  # type: ignore[union-attr, arg-type]
    if dtype is bool_:
        return b.cast(fold(b, b.cast(x, dtype=int64), axis % rank), dtype=bool_)  # type: ignore[no-any-return]
    positions = np.arange(8 * dtype.size).astype(dtype.numpy)
    one = np.ones((), dtype.numpy)
    bits = b.bitwise_and(b.right_shift(b.expand_dims(x, axis=rank), positions), one)
    folded = b.cast(fold(b, bits, axis % rank), dtype=dtype)
    return b.cast(b.reduce_sum(b.left_shift(folded, positions), axis=(-1,)), dtype=dtype)  # type: ignore[no-any-return]


def _parity(b: GraphBuilder, bits: Value, axis: int, accumulates: bool = False) -> Value:
    """Return whether the number of ones along an axis is odd, or up to each element if `accumulates`."""
    total = b.numpy_cumsum(bits, axis=axis) if accumulates else b.reduce_sum(bits, axis=(axis,))
    return b.bitwise_and(total, np.ones((), total.dtype.numpy))  # type: ignore[no-any-return]


_REDUCTIONS: Mapping[str, Callable[..., Value]] = {
    "bitwise_xor.reduce": functools.partial(_fold_bits, fold=_parity),
    "bitwise_or.reduce": functools.partial(_fold_bits, fold=lambda b, x, axis: b.reduce_max(x, axis=(axis,))),
    "bitwise_xor.accumulate": functools.partial(_fold_bits, fold=functools.partial(_parity, accumulates=True)),
    "bitwise_or.accumulate": functools.partial(_fold_bits, fold=lambda b, x, axis: b.cummax(x, axis=axis)),
    "bitwise_and.accumulate": functools.partial(_fold_bits, fold=lambda b, x, axis: b.cummin(x, axis=axis)),
    "bitwise_and.reduce": functools.partial(_fold_bits, fold=lambda b, x, axis: b.reduce_min(x, axis=(axis,))),
    "logical_xor.reduce": lambda b, x, axis: _fold_bits(b, b.not_equal(x, b.zeros_like(x)), axis, _parity),
}  # fmt: skip
