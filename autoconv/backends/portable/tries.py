"""Tries, for runtimes that cannot raise: the body sets the error word, and a branch on the word runs the handler.

    before   %r = try(%x) { body; normal end; handler }
    after    … the body, which stores nothing once the word is set …
             %r = if word is set by a failure that a handler may catch: earlier word, handler; else normal end

An exception is a number here: the error word, which stands for the place and the class of the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.error_causes import clause_number, error_of_node
from autoconv.backends.portable.cells import Item
from autoconv.backends.portable.control import Control
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType, bool_, int32, int64
from autoconv.graph.graph import Node
from autoconv.lazy_dataclass import dataclass

# Ops for dicts that pass numbers to handlers. `promote_cells` has replaced the dicts by cells: the results have no
# uses, and the ops are lowered to nothing.
OPS_WITHOUT_CODE = frozenset({"object_box", "object_constant", "array_object"})


@dataclass(frozen=True, slots=True)
class CaughtError:
    """An exception; `number` is the error word that stands for it."""

    number: Term


def is_catchable(writer: Control, number: Term) -> Term:
    """Return whether an error word stands for an exception of Python, not for a limit of this runtime alone."""
    return _look_up(writer, [error_class is not None for error_class in writer.error_classes], bool_, number)


def match_clauses(writer: Control, node: Node, error: Any) -> Term | None:
    """Return the position of the clause that catches an exception, or the number of clauses if none does.

    Return None for values that are no exceptions.
    """
    if not isinstance(error, CaughtError):
        return None
    clauses = node.attributes["clauses"]
    numbers = [clause_number(error_class, clauses) for error_class in writer.error_classes]
    return _look_up(writer, numbers, node.results[0].dtype, error.number)


def _look_up(writer: Control, table_by_place: Sequence[int], dtype: DType, number: Term) -> Term:
    """Return the entry for the place that an error word stands for; 0 for the error word 0."""
    table = writer.array(np.array([0, *table_by_place], int64.numpy), int64)
    element = writer.gather_nd(table, writer.reshape(writer.cast(number, int64), (1, 1)))
    return writer.cast(writer.reshape(element, ()), dtype)


def raise_exception(writer: Control, node: Node, error: Any, *_: Any) -> list[Item] | None:
    """Set the error word to the number of an exception, unless it is set already; return None for other values."""
    if not isinstance(error, CaughtError):
        return None
    word = writer.error_word_or_zero(writer.error_word)
    writer.error_word = writer.select(word.same(0), error.number, word)
    return []


def make_exception(writer: Control, node: Node, *_: Any) -> CaughtError:
    """Make an exception of a class, to be raised."""
    return CaughtError(writer.constant(writer.place_number(error_of_node(node).error_class), int32))


def refuse_dict(writer: Control, node: Node, *_: Any) -> None:
    """Refuse a dict of handler values that `promote_cells` left, because it holds a list or an object."""
    raise GraphUnfit("try", "a handler reads a list or object that the body assigns", node.span)


RULES_OF_EXCEPTIONS: dict[str, Callable[..., Any]] = {
    "object_match": match_clauses, "object_raise": raise_exception, "object_exception": make_exception,
    "object_build": refuse_dict,
}  # fmt: skip
