"""Replacement of calls of NumPy's functions, in graphs for export, by ops.

    before   %y = numpy_call(%x, function="log2", arguments=(("input", 0),))
    after    %log = log(%x); %product = multiply(%log, 1.4426950408889634); … ops that make powers of two exact …

Graphs that run in this process call NumPy's own routines, as their results are NumPy's to the bit. Other runtimes do
not have these routines: results of the ops may differ in the last place. The order of equal elements in the result of
argsort depends on the processor; in the exported graph they keep the order of their positions, which NumPy permits.
Partitions become sorts, which NumPy permits as well. A call whose arguments are constants becomes a constant.
Conditions under which NumPy does not warn are removed, as an exported graph has no warnings.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, bool_, int64, uint8, uint64
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder


def replace_numpy_calls(graph: Graph) -> Graph:
    """Return a graph in which ops compute the functions of NumPy that have a form of ops."""
    return clone(graph, _replace) if any(map(_has_form, graph.walk())) else graph


def _has_form(node: Node) -> bool:
    """Return whether a node is a call of NumPy that ops or a constant can replace, or stands for a warning."""
    if node.op.name == "assert_true":
        return bool(node.attributes.get("failure") == "warning")
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
    if not inputs:
        assert node.op.kernel is not None
        results = node.op.kernel(**attributes)
        return [b.constant(value=x) for x in (results if isinstance(results, tuple) else (results,))]
    if function in _SORTS:
        axis = attributes["arguments"][1] if function == "argsort" else dict(attributes["keywords"]).get("axis")
        return [_SORTS[function](b, inputs[0], -1 if axis is None else axis[1])]
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

# ---- elementwise functions, of a builder, the dtype of the result, and operands


def _logarithm(b: GraphBuilder, dtype: DType, x: Value, *, base: float) -> Value:
    """Scale the natural logarithm; where the nearest integer is the exact result, return that."""
    x = b.cast(x, dtype=dtype)
    result = b.multiply(b.log(x), 1.0 / math.log(base))
    integer = b.rint(result)
    return b.select(b.equal(b.power(b.add(b.zeros_like(x), base), integer), x), integer, result)  # type: ignore[no-any-return]


def _logaddexp2(b: GraphBuilder, dtype: DType, x: Value, y: Value) -> Value:
    scaled = (b.multiply(b.cast(operand, dtype=dtype), math.log(2.0)) for operand in (x, y))
    return b.multiply(b.logaddexp(*scaled), 1.0 / math.log(2.0))  # type: ignore[no-any-return]


def _fmod(b: GraphBuilder, dtype: DType, x: Value, y: Value) -> Value:
    """Return a remainder with the sign of `x`; that of a division of integers by 0 is 0."""
    x, y = (b.cast(operand, dtype=dtype) for operand in (x, y))
    if dtype.is_floating:
        return b.copysign(b.modulo(b.abs(x), b.abs(y)), x)  # type: ignore[no-any-return]
    result = b.modulo(x, b.select(b.equal(y, 0), b.ones_like(y), y))
    if dtype.is_unsigned:
        return result  # type: ignore[no-any-return]
    has_other_sign = b.less(b.multiply(b.sign(result), b.sign(x)), 0)
    return b.select(has_other_sign, b.subtract(result, y), result)  # type: ignore[no-any-return]


def _modf(b: GraphBuilder, dtype: DType, x: Value) -> tuple[Value, Value]:
    x = b.cast(x, dtype=dtype)
    whole = b.trunc(x)
    fraction = b.select(b.is_inf(x), b.zeros_like(x), b.subtract(x, whole))
    return b.copysign(fraction, x), whole


def _bitwise_count(b: GraphBuilder, dtype: DType, x: Value) -> Value:
    """Add the bits of pairs, then of groups of 4 and 8 bits; the product adds the bytes (Warren, Hacker's Delight)."""
    if not (x.dtype.is_unsigned or x.dtype is bool_):
        x = b.cast(b.abs(x), dtype=as_dtype(f"uint{8 * x.dtype.size}"))
    x = b.cast(x, dtype=uint64)
    pairs, groups, octets = (np.uint64(mask) for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
    x = b.subtract(x, b.bitwise_and(b.right_shift(x, np.uint64(1)), pairs))
    x = b.add(b.bitwise_and(x, groups), b.bitwise_and(b.right_shift(x, np.uint64(2)), groups))
    x = b.bitwise_and(b.add(x, b.right_shift(x, np.uint64(4))), octets)
    total = b.right_shift(b.multiply(x, np.uint64(0x0101010101010101)), np.uint64(56))
    return b.cast(total, dtype=dtype)  # type: ignore[no-any-return]


def _ldexp(b: GraphBuilder, dtype: DType, x: Value, exponent: Value) -> Value:
    """Multiply by the power of two in three steps, as the power alone may overflow."""
    x, exponent = b.cast(x, dtype=dtype), b.cast(exponent, dtype=int64)
    exponent = b.minimum(b.maximum(exponent, -3000), 3000)
    third = b.floor_divide(exponent, 3)
    for part in (third, third, b.subtract(exponent, b.multiply(third, 2))):
        power = b.cast(part, dtype=dtype)
        x = b.multiply(x, b.power(b.add(b.zeros_like(power), 2.0), power))
    return x


def _spacing(b: GraphBuilder, dtype: DType, x: Value) -> Value:
    """Return the distance to the next larger magnitude; from the largest number, that to the next smaller one."""
    magnitude = b.abs(b.cast(x, dtype=dtype))
    above, below = (b.nextafter(magnitude, b.multiply(b.ones_like(magnitude), end)) for end in (math.inf, 0.0))
    distance = b.select(b.is_inf(above), b.subtract(magnitude, below), b.subtract(above, magnitude))
    distance = b.select(b.is_inf(magnitude), b.multiply(b.ones_like(magnitude), math.nan), distance)
    return b.copysign(distance, x)  # type: ignore[no-any-return]


_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "log2": functools.partial(_logarithm, base=2.0), "log10": functools.partial(_logarithm, base=10.0),
    "logaddexp2": _logaddexp2, "fmod": _fmod, "modf": _modf, "bitwise_count": _bitwise_count, "ldexp": _ldexp,
    "spacing": _spacing, "i0": lambda b, dtype, x: b.bessel_i0(b.cast(x, dtype=dtype)),
}  # fmt: skip

# ---- reductions, of a builder, an array and an axis


def _fold_bits(b: GraphBuilder, x: Value, axis: int, fold: Callable[..., Value]) -> Value:
    """Fold each bit of integers along an axis; the bits are elements of a new last dimension meanwhile.

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
