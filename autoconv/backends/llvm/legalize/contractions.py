"""Expand einsum and tensordot into matrix products: rules for `expand`.

Operands are contracted in pairs, in the order that NumPy chooses. Of the labels of a pair, those in both that are
needed later form a batch. Those in both that are not needed later form the inner dimension of a product, and the others
its rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.legalize.shaped_builder import dimensions, reshape
from autoconv.graph.dimensions import product
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.linalg.products import parse_equation, tensordot_equation

Sizes = dict[str, Dimension]  # by label
_SOME = 64  # assumed value of an open size, for the choice of an order
Operand = tuple[Any, str]  # a value, and a label for each of its dimensions
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    return _contract(b, inputs, *parse_equation(node.attributes["equation"], len(inputs)))


def tensordot(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    of_x, of_y = map(dimensions, inputs)
    pairs = zip(*node.attributes["axes"], strict=True)
    if any(of_x[i] != of_y[j] for i, j in pairs):
        return None  # the kernel raises; only einsum broadcasts a dimension of 1 here
    equation = tensordot_equation(of_x, of_y, node.attributes["axes"])
    return _contract(b, inputs, *parse_equation(equation, 2))


def _contract(b: GraphBuilder, inputs: Sequence[Any], operands: list[str], result: str) -> Any:
    shapes = [dimensions(x) for x in inputs]
    if any(0 in shape for shape in shapes) or inputs[0].dtype.is_bool:
        return None
    operands, result = _expand_ellipsis(operands, result, shapes)
    size: Sizes = {}
    for shape, labels in zip(shapes, operands, strict=True):
        for label, n in zip(labels, shape, strict=True):
            if n != 1 and size.setdefault(label, n) != n:
                return None  # open sizes that need not be equal
    for labels in operands:
        size |= {label: 1 for label in labels if label not in size}
    left = [_drop_broadcast_ones(b, *_diagonal(b, x, labels), size) for x, labels in zip(inputs, operands, strict=True)]
    for i, j in _order(left, result, size):
        x, y = left.pop(i), left.pop(j)
        needed = set(result).union(*(labels for _, labels in left))
        summed = _sum_unneeded(b, *x, needed | set(y[1])), _sum_unneeded(b, *y, needed | set(x[1]))
        left.append(_pair(b, *summed, needed, size))
    ((x, labels),) = left
    return _transpose_to(b, *_sum_unneeded(b, x, labels, set(result)), result, size)


def _expand_ellipsis(operands: list[str], result: str, shapes: Sequence[Sequence[Dimension]]) -> tuple[list[str], str]:
    """Replace `...` by unused letters, one for each dimension, aligned from the last."""
    free = [letter for letter in _LETTERS if letter not in "".join([*operands, result])]
    widths = [len(shape) - len(labels.replace("...", "")) for labels, shape in zip(operands, shapes, strict=True)]
    most = max([width for width, labels in zip(widths, operands, strict=True) if "..." in labels], default=0)
    spare = free[:most]
    named = [
        labels.replace("...", "".join(spare[most - width :])) for labels, width in zip(operands, widths, strict=True)
    ]
    return named, result.replace("...", "".join(spare))


def _diagonal(b: GraphBuilder, x: Any, labels: str) -> Operand:
    """Take diagonals until each label occurs once."""
    while twice := next((label for label in labels if labels.count(label) > 1), ""):
        first, second = labels.index(twice), labels.rindex(twice)
        others = [i for i in range(len(labels)) if i not in (first, second)]
        x = b.diag_part(b.transpose(x, perm=(*others, first, second)), offset=0)
        labels = "".join(labels[i] for i in others) + twice
    return x, labels


def _drop_broadcast_ones(b: GraphBuilder, x: Any, labels: str, size: Sizes) -> Operand:
    """Drop the dimensions of 1 that are broadcast."""
    rest = [label for label, n in zip(labels, dimensions(x), strict=True) if n == size[label]]
    if len(rest) == len(labels):
        return x, labels
    return reshape(b, x, [size[label] for label in rest]), "".join(rest)


def _order(left: list[Operand], result: str, size: Sizes) -> list[tuple[int, int]]:
    """Return the pairs to contract, in order, the later one first; each result is appended to the list."""
    if len(left) == 1:
        return []
    equation = (
        ",".join(labels for _, labels in left) + "->" + "".join(c for c in result if any(c in o for _, o in left))
    )
    static = {label: n if isinstance(n, int) else _SOME for label, n in size.items()}
    empty = [np.broadcast_to(np.zeros(()), [static[label] for label in labels]) for _, labels in left]
    steps = []
    for step in np.einsum_path(equation, *empty, optimize="greedy")[0][1:]:
        *rest, first = sorted(step, reverse=True)
        steps += [(one, first) for one in rest[:1]]
        if len(step) > 2:  # all remaining operands: in pairs
            steps += [(len(step) - 2 - i, 0) for i in range(len(step) - 2)]
    return steps


def _sum_unneeded(b: GraphBuilder, x: Any, labels: str, needed: set[str]) -> Operand:
    """Sum the operand over the labels that are not needed."""
    over = tuple(i for i, label in enumerate(labels) if label not in needed)
    if not over:
        return x, labels
    return b.reduce_sum(x, axis=over, keepdims=False), "".join(label for label in labels if label in needed)


def _pair(b: GraphBuilder, first: Operand, second: Operand, needed: set[str], size: Sizes) -> Operand:
    (x, of_x), (y, of_y) = first, second
    both = [label for label in of_x if label in of_y]
    batch = "".join(label for label in both if label in needed)
    inner = "".join(label for label in both if label not in needed)
    rows = "".join(label for label in of_x if label not in both)
    columns = "".join(label for label in of_y if label not in both)
    labels = batch + rows + columns
    if not inner or x.dtype.name not in ("float32", "float64"):
        over = tuple(range(len(labels), len(labels) + len(inner)))
        products = b.multiply(
            *(_expand_to_labels(b, value, own, labels + inner, size) for value, own in (first, second))
        )
        return b.reduce_sum(products, axis=over, keepdims=False) if inner else products, labels
    transpose_a = bool(rows) and of_x == batch + inner + rows
    transpose_b = bool(columns) and of_y == batch + columns + inner
    lead = (product([size[label] for label in batch]),) if batch else ()
    counts = [product([size[label] for label in group]) for group in (rows, inner, columns)]
    x = _transpose_to(b, x, of_x, batch + (inner + rows if transpose_a else rows + inner), size)
    y = _transpose_to(b, y, of_y, batch + (columns + inner if transpose_b else inner + columns), size)
    x = reshape(b, x, (*lead, *((counts[1], counts[0]) if transpose_a else counts[:2])))
    y = reshape(b, y, (*lead, *((counts[2], counts[1]) if transpose_b else counts[1:])))
    found = b.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)
    return reshape(b, found, tuple(size[label] for label in labels)), labels


def _expand_to_labels(b: GraphBuilder, x: Any, own: str, labels: str, size: Sizes) -> Any:
    """Give the operand a dimension for each label, of size 1 where it has none."""
    x = _transpose_to(b, x, own, "".join(label for label in labels if label in own), size)
    return reshape(b, x, tuple(size[label] if label in own else 1 for label in labels))


def _transpose_to(b: GraphBuilder, x: Any, labels: str, order: str, size: Sizes) -> Any:
    """Transpose the operand to the order of the wanted labels."""
    return x if labels == order else b.transpose(x, perm=tuple(labels.index(label) for label in order))


CONTRACTIONS: dict[str, Any] = {"einsum": einsum, "tensordot": tensordot}
