"""Express integers that a graph computes from sizes as symbolic dimensions: one rule per op.

A rule returns the number or numbers of the node's result, None if they are not known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dimensions import exact_quotient, floor_quotient, plus, product, times
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, Dimension, TensorType
from autoconv.ops.index_spec import At, Slice
from autoconv.optimise.symbolic.sizes import Numbers, Sizes

Shape = tuple[Dimension, ...]
MAX_VECTOR_LENGTH = 16  # of a vector whose numbers are derived


def shape_of(value: Value) -> Shape | None:
    """Return the shape of a tensor or array; None for other values, and for an unknown shape."""
    return value.shape if isinstance(value.type, (TensorType, ArrayType)) else None


def _numbers_of_constant(sizes: Sizes, node: Node) -> Numbers | None:
    value = np.asarray(node.attributes["value"])
    if value.size > MAX_VECTOR_LENGTH:
        return None
    numbers: Any = value.tolist()
    return tuple(numbers) if isinstance(numbers, list) else numbers


def _numbers_of_shape(sizes: Sizes, node: Node) -> Numbers | None:
    return _if_known(shape_of(node.inputs[0]))


def _number_of_dimension(sizes: Sizes, node: Node) -> Numbers | None:
    shape = shape_of(node.inputs[0])
    return None if shape is None else shape[node.attributes["axis"]]


def _number_of_size(sizes: Sizes, node: Node) -> Numbers | None:
    shape = shape_of(node.inputs[0])
    return None if shape is None else product(shape)


def _numbers_of_item(sizes: Sizes, node: Node) -> Numbers | None:
    """Return an element or a slice of a known vector; None for an index out of range."""
    source, spec = sizes.numbers.get(node.inputs[0]), node.attributes["spec"]
    if not isinstance(source, tuple) or len(spec) != 1 or len(node.inputs) > 1:
        return None
    (entry,) = spec
    if isinstance(entry, At):
        return source[entry.index] if -len(source) <= entry.index < len(source) else None
    return source[slice(*entry.parts)] if isinstance(entry, Slice) else None


def _numbers_of_parts(sizes: Sizes, node: Node) -> Numbers | None:
    """Rule for `stack` and `concat`."""
    numbers: list[Dimension] = []
    for value in node.inputs:
        part = sizes.numbers.get(value)
        if part is None:
            return None
        numbers += part if isinstance(part, tuple) else (part,)
    return tuple(numbers)


def _numbers_of_operand(sizes: Sizes, node: Node) -> Numbers | None:
    """Rule for ops that keep the numbers of their first operand but may change its integer dtype or shape."""
    result = sizes.numbers.get(node.inputs[0])
    rank = len(shape_of(node.results[0]) or ())
    if result is None or isinstance(result, tuple) == (rank == 1):
        return result  # a tuple stands for a vector
    if rank:
        return (result,)  # type: ignore[return-value]
    return result[0] if isinstance(result, tuple) and len(result) == 1 else None


def _arithmetic_rule(compute: Callable[[Dimension, Dimension], Dimension]) -> Callable[[Sizes, Node], Numbers | None]:
    """Return the rule of a binary op on numbers and vectors; a number is combined with each element of a vector."""

    def rule(sizes: Sizes, node: Node) -> Numbers | None:
        """Return the result for numbers, or for each element of vectors; None unless both operands are known."""
        x, y = (sizes.numbers.get(value) for value in node.inputs)
        if x is None or y is None:
            return None
        if not isinstance(x, tuple) and not isinstance(y, tuple):
            return compute(x, y)
        count = len(x) if isinstance(x, tuple) else len(y)  # type: ignore[arg-type]
        xs, ys = (numbers if isinstance(numbers, tuple) else (numbers,) * count for numbers in (x, y))
        return _if_known(tuple(map(compute, xs, ys))) if len(xs) == len(ys) else None

    return rule


def _difference(x: Dimension, y: Dimension) -> Dimension:
    return plus(x, times(y, -1))


def _floor_quotient(x: Dimension, y: Dimension) -> Dimension:
    """Return x // y; None where neither the rounded nor the exact quotient can be expressed."""
    quotient = floor_quotient(x, y)
    return exact_quotient(x, y) if quotient is None else quotient


def _number_of_product(sizes: Sizes, node: Node) -> Numbers | None:
    number = sizes.numbers.get(node.inputs[0])
    return product(number) if isinstance(number, tuple) and not shape_of(node.results[0]) else None


def _if_known(shape: Shape | None) -> Shape | None:
    """Return the shape if all its sizes are known, else None."""
    return None if shape is None or None in shape else shape


NUMBER_RULE_BY_OP: dict[str, Callable[[Sizes, Node], Numbers | None]] = {
    "constant": _numbers_of_constant, "shape": _numbers_of_shape, "dimension": _number_of_dimension,
    "array_size": _number_of_dimension, "size": _number_of_size,
    "get_item": _numbers_of_item, "stack": _numbers_of_parts, "concat": _numbers_of_parts,
    "identity": _numbers_of_operand, "cast": _numbers_of_operand, "list_length_checked": _numbers_of_operand,
    "reshape": _numbers_of_operand, "expand_dims": _numbers_of_operand, "squeeze": _numbers_of_operand,
    "python_int": _numbers_of_operand, "python_cast": _numbers_of_operand,
    "add": _arithmetic_rule(plus), "python_add": _arithmetic_rule(plus), "subtract": _arithmetic_rule(_difference),
    "python_subtract": _arithmetic_rule(_difference), "multiply": _arithmetic_rule(times),
    "python_multiply": _arithmetic_rule(times),
    "floor_divide": _arithmetic_rule(_floor_quotient), "python_floor_divide": _arithmetic_rule(_floor_quotient),
    "reduce_prod": _number_of_product,
}  # fmt: skip
