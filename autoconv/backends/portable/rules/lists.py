"""Rules of lists of arrays: a list is a buffer with a row for each of `list_capacity` elements, and a length.

An op that would make a list longer than the capacity, an option of the writer, sets the error word.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.portable.rules.gathers import check_index
from autoconv.backends.portable.rules.movement import drop_axes, insert_axis
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import ListTerm, Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import int32, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import ListType, TensorType, has_all_sizes


def _make_list(writer: Rules, node: Node, length: Term) -> ListTerm | None:
    """Return a list of zeros for the result of a node; None if no argument determines a size of its elements."""
    list_type = node.results[0].type
    element = list_type.element if isinstance(list_type, ListType) else None
    if not isinstance(element, TensorType) or not has_all_sizes(element.shape):
        return None
    shape, sizes = writer.requested_sizes((writer.list_capacity, *(element.shape or ())), None)
    return ListTerm(writer.expand(writer.constant(0, element.dtype), shape, sizes), length)


@lowers("list_empty")
def empty(writer: Rules, node: Node) -> ListTerm | None:
    """Make a list without elements."""
    return _make_list(writer, node, writer.constant(0, int32))


@lowers("list_reserve")
def reserve(writer: Rules, node: Node, count: Term) -> ListTerm | None:
    """Make a list of `count` zeros."""
    count = writer.cast(count, int32)
    writer.fail_if((count < 0) | (count > writer.list_capacity))
    return _make_list(writer, node, count)


@lowers("list_length")
def length(writer: Rules, node: Node, list_term: ListTerm) -> Term:
    """Return the number of elements."""
    return writer.cast(list_term.length, node.results[0].dtype)


def _write_row(writer: Rules, list_term: ListTerm, position: Term, x: Term) -> Term:
    """Return the list's buffer with another row at a position."""
    zeros = [writer.constant(0, int64)] * x.rank
    row = writer.expand(x, list_term.buffer.shape[1:], writer.sizes(list_term.buffer)[1:])
    return writer.dynamic_update(list_term.buffer, insert_axis(writer, row, 0), [writer.cast(position, int64), *zeros])


def _read_row(writer: Rules, list_term: ListTerm, position: Term) -> Term:
    """Return the element at a position that is in range."""
    return drop_axes(writer, writer.dynamic_slice(list_term.buffer, 0, writer.cast(position, int64), 1), [0])


@lowers("list_push")
def push(writer: Rules, node: Node, list_term: ListTerm, x: Term) -> ListTerm:
    """Append an element; a full list fails."""
    writer.fail_if(list_term.length >= writer.list_capacity)
    element = writer.cast(x, list_term.buffer.dtype)
    return ListTerm(_write_row(writer, list_term, list_term.length, element), list_term.length + 1)


@lowers("list_pop")
def pop(writer: Rules, node: Node, list_term: ListTerm) -> list[Any]:
    """Return the list without its last element, and this element; an empty list fails."""
    writer.fail_if(list_term.length <= 0)
    last_position = list_term.length - 1
    return [ListTerm(list_term.buffer, last_position), _read_row(writer, list_term, last_position)]


@lowers("list_get")
def get(writer: Rules, node: Node, list_term: ListTerm, index: Term) -> Term:
    """Return the element at an index."""
    return _read_row(writer, list_term, check_index(writer, index, list_term.length, bool(node.attributes.get("wrap"))))


@lowers("list_set")
def set_element(writer: Rules, node: Node, list_term: ListTerm, index: Term, x: Term) -> ListTerm:
    """Replace an element; with `resize`, a position after the end lengthens the list by zeros."""
    x = writer.cast(x, list_term.buffer.dtype)
    if not node.attributes.get("resize"):
        position = check_index(writer, index, list_term.length, bool(node.attributes.get("wrap")))
        return ListTerm(_write_row(writer, list_term, position, x), list_term.length)
    position = writer.cast(index, int32)
    writer.fail_if((position < 0) | (position >= writer.list_capacity))
    min_length = position + 1
    padded_list = _zero_from(writer, list_term, list_term.length)
    new_length = writer.select(min_length > list_term.length, min_length, list_term.length)
    return ListTerm(_write_row(writer, padded_list, position, x), new_length)


def _zero_from(writer: Rules, list_term: ListTerm, start: Term) -> ListTerm:
    """Return the list with zeros from `start` on, as the elements of a longer list must be."""
    buffer = list_term.buffer
    is_before_start = writer.iota((writer.list_capacity,), 0, int32) < start
    mask_shape = (writer.list_capacity, *[1] * (buffer.rank - 1))
    mask = writer.expand(writer.reshape(is_before_start, mask_shape), buffer.shape, writer.sizes(buffer))
    return ListTerm(writer.select(mask, buffer, 0), list_term.length)


@lowers("list_zeros_like")
def zeros_like(writer: Rules, node: Node, list_term: ListTerm) -> ListTerm:
    """Return a list of as many zeros."""
    zeros = writer.fill_like(list_term.buffer, 0, list_term.buffer.dtype)
    return ListTerm(zeros, list_term.length)


@lowers("list_add")
def add(writer: Rules, node: Node, first: ListTerm, second: ListTerm) -> ListTerm:
    """Add two lists element by element; lists of different lengths fail."""
    writer.fail_if(first.length.differs(second.length))
    first_padded, second_padded = _zero_from(writer, first, first.length), _zero_from(writer, second, second.length)
    return ListTerm(first_padded.buffer + second_padded.buffer, first.length)


@lowers("list_resize")
def resize(writer: Rules, node: Node, list_term: ListTerm, count: Term) -> ListTerm:
    """Cut a list, or lengthen it by zeros, to `count` elements."""
    count = writer.cast(count, int32)
    writer.fail_if((count < 0) | (count > writer.list_capacity))
    kept_length = writer.select(count < list_term.length, count, list_term.length)
    return ListTerm(_zero_from(writer, list_term, kept_length).buffer, count)


@lowers("list_add_at")
def add_at(writer: Rules, node: Node, list_term: ListTerm, index: Term, x: Term) -> ListTerm:
    """Add to the element at an index."""
    position = check_index(writer, index, list_term.length, bool(node.attributes.get("wrap")))
    row = _read_row(writer, list_term, position) + x
    return ListTerm(_write_row(writer, list_term, position, row), list_term.length)


@lowers("list_from_tensor")
def from_tensor(writer: Rules, node: Node, x: Term) -> ListTerm | None:
    """Make a list of the rows of an array; None for a number of rows that is open or above the capacity."""
    count = x.shape[0]
    if not isinstance(count, int) or count > writer.list_capacity:
        return None
    high = [writer.list_capacity - count, *[0] * (x.rank - 1)]
    return ListTerm(writer.pad(x, writer.constant(0, x.dtype), [0] * x.rank, high), writer.constant(count, int32))


@lowers("list_stack")
def stack(writer: Rules, node: Node, list_term: ListTerm, *_: Term) -> Term | None:
    """Join the elements along a new first axis; of open size if the number of elements is unknown."""
    count = (node.results[0].shape or (None,))[0]
    if not isinstance(count, int) or count > writer.list_capacity:
        return writer.open_stack(list_term)
    writer.fail_if(list_term.length.differs(count))
    return writer.static_slice(list_term.buffer, 0, 0, count)
