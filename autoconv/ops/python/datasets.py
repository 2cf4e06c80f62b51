"""Iteration over datasets.

At run time an iterable is an object with `make_iterator()`, `count()` and `length()`. `count()` may be INFINITE or
UNKNOWN; then `length()` raises TypeError. An iterator is an object with `advance()`, `current()` and `take()`, which
advances and returns the element. Elements are tuples of arrays and iterables. The attribute `source` of `iterable_make`
is a dataset; `source.bind(values)` returns the iterable with the operands as the values of its captures.

A loop runs `iterator_advance`, which is false at the end, before each iteration; it reads the element by
`iterator_current`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import IterableType, IteratorType, TensorType, TupleType, Type, number_type
from autoconv.ops.record import define, no_gradient

_NO_GRADIENT = no_gradient("the elements of a dataset are where gradients end")
# The functions of a dataset are the user's, and may have any side effect.
_RUNS_USER_CODE = Effects.READ | Effects.WRITE | Effects.OUTPUT | Effects.RAISE


def _iterable_type(*values: Type, source: Any, type: IterableType) -> IterableType:
    return type


def _iterator_type(iterable: Type) -> IteratorType:
    if not isinstance(iterable, IterableType):
        raise TypeError(f"iterator_make takes a dataset, found {iterable}")
    return IteratorType(iterable.element)


def _element_types(iterator: Type) -> Sequence[Type]:
    """Return the types of an element's components; raises TypeError unless `iterator` is the type of an iterator."""
    if not isinstance(iterator, IteratorType):
        raise TypeError(f"an iterator over a dataset was expected, found {iterator}")
    element = iterator.element
    return element.items if isinstance(element, TupleType) else (element,)


def _advance_type(iterator: Type) -> TensorType:
    _element_types(iterator)
    return number_type(bool_)


iterable_make = define(
    name="iterable_make", graphdef="Dataset", result=_iterable_type,
    kernel=lambda *values, source, type: source.bind(values), gradient=_NO_GRADIENT, effects=Effects.READ,
)  # fmt: skip
iterable_count = define(
    name="iterable_count", graphdef="DatasetCardinality", result=lambda iterable: TensorType(int64, ()),
    kernel=lambda iterable: np.array(iterable.count(), np.int64), gradient=_NO_GRADIENT, effects=Effects.READ,
)  # fmt: skip
iterable_length = define(
    name="iterable_length", graphdef="DatasetLength", result=lambda iterable: number_type(int64),
    kernel=lambda iterable: np.array(iterable.length(), np.int64), gradient=_NO_GRADIENT,
    effects=Effects.READ | Effects.RAISE,
)  # fmt: skip
iterator_make = define(
    name="iterator_make", graphdef="MakeIterator", result=_iterator_type,
    kernel=lambda iterable: iterable.make_iterator(), gradient=_NO_GRADIENT, effects=_RUNS_USER_CODE,
)  # fmt: skip
iterator_advance = define(
    name="iterator_advance", graphdef="IteratorAdvance", result=_advance_type,
    kernel=lambda iterator: np.array(iterator.advance()), gradient=_NO_GRADIENT, effects=_RUNS_USER_CODE,
)  # fmt: skip
iterator_current = define(
    name="iterator_current", graphdef="IteratorCurrent", result=_element_types,
    kernel=lambda iterator: tuple(iterator.current()), gradient=_NO_GRADIENT, effects=Effects.READ,
)  # fmt: skip
iterator_next = define(
    name="iterator_next", graphdef="IteratorGetNext", result=_element_types,
    kernel=lambda iterator: tuple(iterator.take()), gradient=_NO_GRADIENT, effects=_RUNS_USER_CODE,
)  # fmt: skip
