"""Rules of lists: a buffer of a fixed capacity, and a length.

A list that would outgrow its capacity sets the error word; the capacity is an option of the writer.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.portable.rules.gathers import checked
from autoconv.backends.portable.rules.movement import dropped, expanded_at
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import ListTerm, Term, static_shape
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int32, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import ListType, TensorType


def _empty(w: Rules, node: Node, length: Term) -> ListTerm | None:
    of = node.results[0].type
    element = of.element if isinstance(of, ListType) else None
    shape = static_shape(element.shape) if isinstance(element, TensorType) else None
    if shape is None or not isinstance(element, TensorType):
        return None
    buffer = w.expanded(w.constant(0, element.dtype), (w.capacity, *shape))
    return ListTerm(buffer, length)


@lowers("list_empty")
def empty(w: Rules, node: Node) -> ListTerm | None:
    return _empty(w, node, w.constant(0, int32))


@lowers("list_reserve")
def reserve(w: Rules, node: Node, count: Term) -> ListTerm | None:
    count = w.cast(count, int32)
    w.fail((count < 0) | (count > w.capacity))
    return _empty(w, node, count)


@lowers("list_length")
def length(w: Rules, node: Node, given: ListTerm) -> Term:
    return w.cast(given.length, node.results[0].dtype)


def _write_row(w: Rules, given: ListTerm, at: Term, x: Term) -> Term:
    zeros = [w.constant(0, int64)] * x.rank
    shaped = w.expanded(x, given.buffer.shape[1:])
    return w.dynamic_update(given.buffer, expanded_at(w, shaped, 0), [w.cast(at, int64), *zeros])


def _read_row(w: Rules, given: ListTerm, at: Term) -> Term:
    return dropped(w, w.dynamic_part(given.buffer, 0, w.cast(at, int64), 1), [0])


@lowers("list_push")
def push(w: Rules, node: Node, given: ListTerm, x: Term) -> ListTerm:
    w.fail(given.length >= w.capacity)
    return ListTerm(_write_row(w, given, given.length, w.cast(x, given.buffer.dtype)), given.length + 1)


@lowers("list_pop")
def pop(w: Rules, node: Node, given: ListTerm) -> list[Any]:
    w.fail(given.length <= 0)
    last = given.length - 1
    return [ListTerm(given.buffer, last), _read_row(w, given, last)]


@lowers("list_get")
def get(w: Rules, node: Node, given: ListTerm, index: Term) -> Term:
    return _read_row(w, given, checked(w, index, given.length, bool(node.attributes.get("wrap"))))


@lowers("list_set")
def set_(w: Rules, node: Node, given: ListTerm, index: Term, x: Term) -> ListTerm:
    x = w.cast(x, given.buffer.dtype)
    if not node.attributes.get("resize"):
        at = checked(w, index, given.length, bool(node.attributes.get("wrap")))
        return ListTerm(_write_row(w, given, at, x), given.length)
    at = w.cast(index, int32)
    w.fail((at < 0) | (at >= w.capacity))
    end = at + 1
    cleared = _cleared(w, given, given.length)
    return ListTerm(_write_row(w, cleared, at, x), w.select(end > given.length, end, given.length))


def _cleared(w: Rules, given: ListTerm, start: Term) -> ListTerm:
    """Return the list with zeros from `start` on: what a longer list has there."""
    buffer = given.buffer
    inside = w.iota((w.capacity,), 0, int32) < start
    mask = w.expanded(w.reshape(inside, (w.capacity, *[1] * (buffer.rank - 1))), buffer.shape)
    return ListTerm(w.select(mask, buffer, 0), given.length)


@lowers("list_zeros_like")
def zeros_like(w: Rules, node: Node, given: ListTerm) -> ListTerm:
    zeros = w.filled_like(given.buffer, 0, given.buffer.dtype)
    return ListTerm(zeros, given.length)


@lowers("list_add")
def add(w: Rules, node: Node, first: ListTerm, second: ListTerm) -> ListTerm:
    w.fail(first.length.differs(second.length))
    a, b = _cleared(w, first, first.length), _cleared(w, second, second.length)
    return ListTerm(a.buffer + b.buffer, first.length)


@lowers("list_resize")
def resize(w: Rules, node: Node, given: ListTerm, count: Term) -> ListTerm:
    count = w.cast(count, int32)
    w.fail((count < 0) | (count > w.capacity))
    kept = w.select(count < given.length, count, given.length)
    return ListTerm(_cleared(w, given, kept).buffer, count)


@lowers("list_add_at")
def add_at(w: Rules, node: Node, given: ListTerm, index: Term, x: Term) -> ListTerm:
    at = checked(w, index, given.length, bool(node.attributes.get("wrap")))
    return ListTerm(_write_row(w, given, at, _read_row(w, given, at) + x), given.length)


@lowers("list_from_tensor")
def from_tensor(w: Rules, node: Node, x: Term) -> ListTerm | None:
    count = x.shape[0]
    if not isinstance(count, int) or static_shape(x.shape) is None or count > w.capacity:
        return None
    high = [w.capacity - count, *[0] * (x.rank - 1)]
    return ListTerm(w.pad(x, w.constant(0, x.dtype), [0] * x.rank, high), w.constant(count, int32))


@lowers("list_stack")
def stack(w: Rules, node: Node, given: ListTerm, *_: Term) -> Term | None:
    shape = static_shape(node.results[0].shape)
    if shape is None or shape[0] > w.capacity:
        return w.open_stack(given)
    w.fail(given.length.differs(shape[0]))
    return w.part(given.buffer, 0, 0, shape[0])
