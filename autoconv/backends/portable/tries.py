"""Tries, for runtimes that cannot raise: the body sets the error word, and a branch on the word runs the handler.

    before   %r = try(%x) { body; normal end; handler }
    after    … the body, which stores nothing once the word is set …
             %r = if word is set by a failure that a handler may catch: the word as it was, handler; else normal end

An exception is a number here: that of its place and class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.backends.error_causes import clause_number, message_and_class
from autoconv.backends.portable.cells import Item
from autoconv.backends.portable.control import Control
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType, bool_, int32, int64
from autoconv.graph.graph import Node

UNUSED = frozenset({"object_box", "object_constant", "array_object"})  # made for dicts that cells have replaced


@dataclass(frozen=True, slots=True)
class CaughtError:
    """An exception: the number that the error word had, or gets when it is raised."""

    number: Term


def is_catchable(w: Control, number: Term) -> Term:
    """Return whether a number is that of an exception of Python, not of what only this runtime lacks."""
    return _look_up(w, [error_class is not None for error_class in w.error_classes], bool_, number)


def match_clauses(w: Control, node: Node, error: Any) -> Term | None:
    """Return the number of the clause that catches an exception, or the number of clauses."""
    if not isinstance(error, CaughtError):
        return None
    clauses = node.attributes["clauses"]
    numbers = [clause_number(error_class, clauses) for error_class in w.error_classes]
    return _look_up(w, numbers, node.results[0].dtype, error.number)


def _look_up(w: Control, by_place: Sequence[int], dtype: DType, number: Term) -> Term:
    """Return the entry of a table of the places that may fail, by the number of one."""
    table = w.array(np.array([0, *by_place], int64.numpy), int64)
    element = w.gather_nd(table, w.reshape(w.cast(number, int64), (1, 1)))
    return w.cast(w.reshape(element, ()), dtype)


def raise_again(w: Control, node: Node, error: Any, *_: Any) -> list[Item] | None:
    """Set the error word to the number of an exception."""
    if not isinstance(error, CaughtError):
        return None
    word = w.error_word_or_zero(w.error_word)
    w.error_word = w.select(word.same(0), error.number, word)
    return []


def make_exception(w: Control, node: Node, *_: Any) -> CaughtError:
    """Make an exception of a class, to be raised."""
    return CaughtError(w.constant(w.number_of_place(message_and_class(node)[1]), int32))


def refuse_dict(w: Control, node: Node, *_: Any) -> None:
    raise GraphUnfit("try", "a handler reads a list or object that the body assigns", node.span)


RULES_OF_EXCEPTIONS: dict[str, Callable[..., Any]] = {
    "object_match": match_clauses, "object_raise": raise_again, "object_exception": make_exception,
    "object_build": refuse_dict,
}  # fmt: skip

__all__ = [
    "RULES_OF_EXCEPTIONS", "UNUSED", "CaughtError", "is_catchable",
]  # fmt: skip
