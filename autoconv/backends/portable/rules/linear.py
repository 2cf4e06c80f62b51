"""Rules of products, einsum, Cholesky factors and triangular systems.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

import string
from typing import Any

from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.graph import Node


def transpose_last_two(writer: Rules, x: Term) -> Term:
    """Transpose the matrices of the last two dimensions."""
    return writer.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def multiply_matrices(writer: Rules, x: Term, y: Term) -> Term:
    """Multiply the matrices of the last two dimensions; the others broadcast."""
    batch_rank = max(x.rank, y.rank) - 2
    if batch_rank == 0:
        return writer.dot(x, y, (), (), (1,), (0,))
    x, y = writer.outer_broadcast(x, y, 2)
    axes = tuple(range(batch_rank))
    return writer.dot(x, y, axes, axes, (batch_rank + 1,), (batch_rank,))


@lowers("matmul")
def matmul(writer: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Multiply matrices, which may be transposed first; None for bools and for two dtypes."""
    if x.dtype.is_bool or x.dtype is not y.dtype:
        return None
    x = transpose_last_two(writer, x) if node.attributes.get("transpose_a") else x
    y = transpose_last_two(writer, y) if node.attributes.get("transpose_b") else y
    return multiply_matrices(writer, x, y)


@lowers("tensordot")
def tensordot(writer: Rules, node: Node, x: Term, y: Term) -> Term:
    """Sum products over pairs of axes."""
    x_axes, y_axes = node.attributes["axes"]
    return writer.dot(x, y, (), (), tuple(axis % x.rank for axis in x_axes), tuple(axis % y.rank for axis in y_axes))


@lowers("einsum")
def einsum(writer: Rules, node: Node, *operands: Term) -> Term | None:
    """Contract from left to right: each step sums over labels that neither the result nor a later operand has."""
    equation = node.attributes["equation"].replace(" ", "")
    inputs, arrow, result_labels = equation.partition("->")
    ranks = [x.rank for x in operands]
    operand_labels, result_labels = _expand_ellipsis(inputs.split(","), result_labels, bool(arrow), ranks)
    if operand_labels is None:
        return None
    total, labels_of_total = _diagonal(writer, operands[0], operand_labels[0])
    if total is None:
        return None
    for i, (x, labels) in enumerate(zip(operands[1:], operand_labels[1:], strict=True)):
        needed_later = set("".join(operand_labels[i + 2 :])) | set(result_labels)
        diagonal, labels = _diagonal(writer, x, labels)
        if diagonal is None:
            return None
        total, labels_of_total = _contract(writer, total, labels_of_total, diagonal, labels, needed_later)
    total, labels_of_total = _sum_labels(writer, total, labels_of_total, set(result_labels))
    return writer.transpose(total, [labels_of_total.index(label) for label in result_labels])


def _expand_ellipsis(inputs: list[str], result: str, has_arrow: bool, ranks: list[int]) -> tuple[Any, str]:
    """Return the labels of the inputs and of the result, with letters for "...".

    If the letters do not suffice, the labels of the inputs are None.
    """
    used_labels = "".join([*inputs, result])
    unused_letters = [letter for letter in string.ascii_uppercase if letter not in used_labels]
    pairs = [(labels, rank) for labels, rank in zip(inputs, ranks, strict=True) if "..." in labels]
    ellipsis_width = max((rank - len(labels.replace("...", "")) for labels, rank in pairs), default=0)
    if ellipsis_width > len(unused_letters):
        return None, result
    letters = "".join(unused_letters[:ellipsis_width])
    # An ellipsis of fewer dimensions has the last of the letters; 3 is its length in the labels.
    expanded_labels = [
        labels.replace("...", letters[ellipsis_width + len(labels) - 3 - rank :] if "..." in labels else "")
        for labels, rank in zip(inputs, ranks, strict=True)
    ]
    if not has_arrow:
        joined_labels = "".join(expanded_labels)
        single_labels = [label for label in sorted(set(joined_labels)) if joined_labels.count(label) == 1]
        return expanded_labels, letters + "".join(label for label in single_labels if label not in letters)
    return expanded_labels, result.replace("...", letters)


def _diagonal(writer: Rules, x: Term, labels: str) -> tuple[Term | None, str]:
    """Take the diagonal over each label that occurs twice; return it with its labels; None for three occurrences."""
    for label in labels:
        if labels.count(label) < 2:
            continue
        first, second = labels.index(label), labels.rindex(label)
        if labels.count(label) > 2:
            return None, labels
        result = writer.reduce(writer.select(writer.diagonal_mask(x, first, second), x, 0), (second,), "add", 0)
        return _diagonal(writer, result, labels[:second] + labels[second + 1 :])
    return x, labels


def _sum_labels(writer: Rules, x: Term, labels: str, needed_labels: set[str]) -> tuple[Term, str]:
    """Sum over the labels that are not needed; return the sum and its labels."""
    axes = [axis for axis, label in enumerate(labels) if label not in needed_labels]
    return writer.reduce(x, axes, "add", 0), "".join(label for label in labels if label in needed_labels)


def _contract(
    writer: Rules, x: Term, x_labels: str, y: Term, y_labels: str, needed_later: set[str]
) -> tuple[Term, str]:
    """Multiply two operands, and sum over labels that are not needed later; return the product and its labels."""
    x, x_labels = _sum_labels(writer, x, x_labels, needed_later | set(y_labels))
    y, y_labels = _sum_labels(writer, y, y_labels, needed_later | set(x_labels))
    shared_labels = [label for label in x_labels if label in y_labels]
    batch_labels = [label for label in shared_labels if label in needed_later]
    inner_labels = [label for label in shared_labels if label not in needed_later]
    x_batch, y_batch, x_inner, y_inner = (
        tuple(map(labels.index, label_group))
        for label_group in (batch_labels, inner_labels)
        for labels in (x_labels, y_labels)
    )
    x_other_labels = [label for label in x_labels if label not in shared_labels]
    y_other_labels = [label for label in y_labels if label not in shared_labels]
    labels = "".join([*batch_labels, *x_other_labels, *y_other_labels])
    return writer.dot(x, y, x_batch, y_batch, x_inner, y_inner), labels


@lowers("cholesky")
def cholesky(writer: Rules, node: Node, x: Term) -> Term:
    """Return Cholesky factors; a matrix without them fails, unless its factor is to be nan."""
    result = writer.cholesky(x)  # NaN for a matrix that has no factor
    if not node.attributes.get("nan_on_failure"):
        writer.fail_if(writer.is_nan(result))
    return result


@lowers("triangular_solve")
def triangular_solve(writer: Rules, node: Node, x: Term, y: Term) -> Term | None:
    """Solve triangular systems; None if batches have to be broadcast."""
    if x.shape[:-2] != y.shape[:-2]:
        return None
    lower, adjoint = node.attributes.get("lower", True), node.attributes.get("adjoint", False)
    return writer.triangular_solve(x, y, lower, adjoint)
