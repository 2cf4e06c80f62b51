"""The end of a run that changes lists of numbers among its arguments: their typed lists are written back into them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.errors import OtherKindError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.lists.typed_lists import NO_GRADIENT, items_of, no_results, to_bytes
from autoconv.ops.python.undo_log import log_method
from autoconv.ops.record import define


def _check_apart(*arguments: Any) -> tuple[()]:
    """Raise OtherKindError if a list occurs twice in the arguments, which may be nested: it became two typed lists."""
    ids = [id(list_) for argument in arguments for list_ in _lists_in(argument)]
    if len(set(ids)) < len(ids):
        error = OtherKindError("a list that the graph changes occurs twice among the arguments")
        error.__dict__.update(_autoconv_undone=True)
        raise error
    return ()


def _lists_in(x: list[Any]) -> Iterator[list[Any]]:
    yield x
    if x and type(x[0]) is list:
        for item in x:
            yield from _lists_in(item)


def _store(x: list[Any], typed: Any, *, element: TensorType) -> tuple[()]:
    """Write the items of typed lists, nested as x is, into x; where a number is the same, x keeps its object."""
    if not isinstance(typed, bytearray):
        for row, typed_row in zip(x, typed, strict=True):
            _store(row, typed_row, element=element)
        return ()
    content = to_bytes(x, element)
    if content != typed:
        log_method(x, "clear", ())
        items, bits = items_of(typed, element), np.dtype(f"u{element.dtype.size}")
        count = min(len(x), len(items))
        is_same = np.frombuffer(content, bits, count) == np.frombuffer(typed, bits, count)
        pairs = zip(x, items, is_same.tolist(), strict=False)
        x[:] = [old if same else new for old, new, same in pairs] + items[count:]
    return ()


define(
    name="typed_list_apart", graphdef="TypedListApart", result=no_results, kernel=_check_apart, gradient=NO_GRADIENT,
    effects=Effects.READ | Effects.RAISE,
)  # fmt: skip
define(
    name="typed_list_store", graphdef="TypedListStore", result=no_results, kernel=_store, gradient=NO_GRADIENT,
    effects=Effects.READ | Effects.WRITE,
)  # fmt: skip
