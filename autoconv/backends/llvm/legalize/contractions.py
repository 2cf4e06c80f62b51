"""Expand einsum and tensordot into matrix products: rules for `expand`.

Operands are contracted in pairs, in the order that NumPy chooses. A label that both operands of a pair have belongs to
the batch if it is needed later, else to the inner dimension of a product. The other labels form its rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.llvm.legalize.shaped_builder import dimensions, reshape
from autoconv.backends.llvm.legalize.small_products import small_product
from autoconv.graph.dimensions import product
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.linalg.products import parse_equation, tensordot_equation

Sizes = dict[str, Dimension]  # label -> size of the dimensions with that label
_ASSUMED_SIZE = 64  # assumed value of an open size, for the choice of an order
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Operand(NamedTuple):
    """A value, and a label for each of its dimensions."""

    value: Any
    labels: str


def einsum(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Rule of `einsum`: contract the operands by the labels of the equation."""
    return _contract(b, inputs, *parse_equation(node.attributes["equation"], len(inputs)))


def tensordot(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Rule of `tensordot`: it becomes a contraction."""
    x_shape, y_shape = map(dimensions, inputs)
    pairs = zip(*node.attributes["axes"], strict=True)
    if any(x_shape[i] != y_shape[j] for i, j in pairs):
        return None  # the kernel raises: unlike einsum, tensordot broadcasts no dimension of 1
    equation = tensordot_equation(x_shape, y_shape, node.attributes["axes"])
    return _contract(b, inputs, *parse_equation(equation, 2))


def _contract(b: GraphBuilder, inputs: Sequence[Any], operand_labels: list[str], result_labels: str) -> Any:
    """Contract operands by the labels of their dimensions; None leaves the node to its kernel."""
    shapes = [dimensions(x) for x in inputs]
    if any(0 in shape for shape in shapes) or inputs[0].dtype.is_bool:
        return None
    operand_labels, result_labels = _expand_ellipsis(operand_labels, result_labels, shapes)
    sizes: Sizes = {}
    for shape, labels in zip(shapes, operand_labels, strict=True):
        for label, size in zip(labels, shape, strict=True):
            if size != 1 and sizes.setdefault(label, size) != size:
                return None  # open sizes that need not be equal
    for labels in operand_labels:
        sizes |= {label: 1 for label in labels if label not in sizes}
    pairs = zip(inputs, operand_labels, strict=True)
    remaining_operands = [_drop_broadcast_ones(b, *_take_diagonals(b, x, labels), sizes) for x, labels in pairs]
    for i, j in _contraction_order(remaining_operands, result_labels, sizes):
        x, y = remaining_operands.pop(i), remaining_operands.pop(j)
        needed_labels = set(result_labels).union(*(labels for _, labels in remaining_operands))
        summed_x = _sum_unneeded(b, *x, needed_labels | set(y.labels))
        summed_y = _sum_unneeded(b, *y, needed_labels | set(x.labels))
        remaining_operands.append(_contract_pair(b, summed_x, summed_y, needed_labels, sizes))
    ((x, labels),) = remaining_operands
    return _transpose_to(b, *_sum_unneeded(b, x, labels, set(result_labels)), result_labels)


def _expand_ellipsis(
    operand_labels: list[str], result_labels: str, shapes: Sequence[Sequence[Dimension]]
) -> tuple[list[str], str]:
    """Replace `...` in all labels by unused letters, one a dimension, aligned from the last; return the labels."""
    unused_letters = [letter for letter in _LETTERS if letter not in "".join([*operand_labels, result_labels])]
    widths = [len(shape) - len(labels.replace("...", "")) for labels, shape in zip(operand_labels, shapes, strict=True)]
    max_width = max([width for width, labels in zip(widths, operand_labels, strict=True) if "..." in labels], default=0)
    new_labels = unused_letters[:max_width]
    expanded_labels = [
        labels.replace("...", "".join(new_labels[max_width - width :]))
        for labels, width in zip(operand_labels, widths, strict=True)
    ]
    return expanded_labels, result_labels.replace("...", "".join(new_labels))


def _take_diagonals(b: GraphBuilder, x: Any, labels: str) -> Operand:
    """Take diagonals until each label occurs once."""
    while repeated_label := next((label for label in labels if labels.count(label) > 1), ""):
        first, second = labels.index(repeated_label), labels.rindex(repeated_label)
        kept_axes = [i for i in range(len(labels)) if i not in (first, second)]
        x = b.diag_part(b.transpose(x, perm=(*kept_axes, first, second)), offset=0)
        labels = "".join(labels[i] for i in kept_axes) + repeated_label
    return Operand(x, labels)


def _drop_broadcast_ones(b: GraphBuilder, x: Any, labels: str, sizes: Sizes) -> Operand:
    """Drop the dimensions of 1 that are broadcast."""
    kept_labels = [label for label, size in zip(labels, dimensions(x), strict=True) if size == sizes[label]]
    if len(kept_labels) == len(labels):
        return Operand(x, labels)
    return Operand(reshape(b, x, [sizes[label] for label in kept_labels]), "".join(kept_labels))


def _contraction_order(operands: list[Operand], result_labels: str, sizes: Sizes) -> list[tuple[int, int]]:
    """Return the pairs of positions to contract, in order, the larger position first.

    Both operands of a pair are removed from the list, and their product is appended to it.
    """
    if len(operands) == 1:
        return []
    equation = (
        ",".join(labels for _, labels in operands)
        + "->"
        + "".join(label for label in result_labels if any(label in labels for _, labels in operands))
    )
    assumed_sizes = {label: size if isinstance(size, int) else _ASSUMED_SIZE for label, size in sizes.items()}
    placeholders = [np.broadcast_to(np.zeros(()), [assumed_sizes[label] for label in labels]) for _, labels in operands]
    steps = []
    for step in np.einsum_path(equation, *placeholders, optimize="greedy")[0][1:]:
        positions = sorted(step, reverse=True)
        if len(positions) > 1:
            steps.append((positions[0], positions[-1]))
        # The last step of NumPy joins all remaining operands: their product so far, at the end, meets the first ones.
        steps += [(last_position, 0) for last_position in range(len(positions) - 2, 0, -1)]
    return steps


def _sum_unneeded(b: GraphBuilder, x: Any, labels: str, needed_labels: set[str]) -> Operand:
    """Sum the operand over the labels that are not needed."""
    axes = tuple(i for i, label in enumerate(labels) if label not in needed_labels)
    if not axes:
        return Operand(x, labels)
    kept_labels = "".join(label for label in labels if label in needed_labels)
    return Operand(b.reduce_sum(x, axis=axes, keepdims=False), kept_labels)


def _contract_pair(b: GraphBuilder, first: Operand, second: Operand, needed_labels: set[str], sizes: Sizes) -> Operand:
    """Contract two operands; `batch`, `inner`, `rows` and `columns` are strings of labels."""
    (x, x_labels), (y, y_labels) = first, second
    shared_labels = [label for label in x_labels if label in y_labels]
    batch = "".join(label for label in shared_labels if label in needed_labels)
    inner = "".join(label for label in shared_labels if label not in needed_labels)
    rows = "".join(label for label in x_labels if label not in shared_labels)
    columns = "".join(label for label in y_labels if label not in shared_labels)
    labels = batch + rows + columns
    if not inner or x.dtype.name not in ("float32", "float64"):
        inner_axes = tuple(range(len(labels), len(labels) + len(inner)))
        products = b.multiply(*(_expand_to_labels(b, *operand, labels + inner, sizes) for operand in (first, second)))
        return Operand(b.reduce_sum(products, axis=inner_axes, keepdims=False) if inner else products, labels)
    transpose_a = bool(rows) and x_labels == batch + inner + rows
    transpose_b = bool(columns) and y_labels == batch + columns + inner
    batch_shape = (product([sizes[label] for label in batch]),) if batch else ()
    group_sizes = [product([sizes[label] for label in group]) for group in (rows, inner, columns)]
    x = _transpose_to(b, x, x_labels, batch + (inner + rows if transpose_a else rows + inner))
    y = _transpose_to(b, y, y_labels, batch + (columns + inner if transpose_b else inner + columns))
    x = reshape(b, x, (*batch_shape, *((group_sizes[1], group_sizes[0]) if transpose_a else group_sizes[:2])))
    y = reshape(b, y, (*batch_shape, *((group_sizes[2], group_sizes[1]) if transpose_b else group_sizes[1:])))
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    matrix_product = small_product(b, x, y, **flags) or b.matmul(x, y, **flags)
    return Operand(reshape(b, matrix_product, tuple(sizes[label] for label in labels)), labels)


def _expand_to_labels(b: GraphBuilder, x: Any, operand_labels: str, labels: str, sizes: Sizes) -> Any:
    """Give the operand a dimension for each label, of size 1 where it has none."""
    x = _transpose_to(b, x, operand_labels, "".join(label for label in labels if label in operand_labels))
    return reshape(b, x, tuple(sizes[label] if label in operand_labels else 1 for label in labels))


def _transpose_to(b: GraphBuilder, x: Any, labels: str, new_labels: str) -> Any:
    """Transpose the operand to the order of the new labels."""
    return x if labels == new_labels else b.transpose(x, perm=tuple(labels.index(label) for label in new_labels))


CONTRACTION_RULE_BY_OP: dict[str, Any] = {"einsum": einsum, "tensordot": tensordot}
