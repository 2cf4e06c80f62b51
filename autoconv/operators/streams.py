"""Datasets and their iterators, as converted code meets them: by what their classes say of themselves.

`__autoconv_stream__()` makes a `Stream` of an object, which loops take elements from; `__autoconv_builtins__` maps
functions of Python's to what they mean on it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.runtime import dispatch
from autoconv.runtime.recording import COMPILE, current_region
from autoconv.runtime.spans import current_place


@dataclass(frozen=True, slots=True)
class Stream:
    """An iterator of the graph that is being recorded; `rebuild` makes an element of the values it is made of."""

    value: Value
    rebuild: Callable[[list[Any]], Any]

    def advance(self) -> Any:
        """Whether there is one more element, which `current` then gives."""
        return dispatch.apply("iterator_advance", self.value)

    def current(self) -> Any:
        return self._element("iterator_current")

    def take(self) -> Any:
        """The next element; when the graph runs, EndOfSequenceError where there is none."""
        return self._element("iterator_next")

    def _element(self, op: str) -> Any:
        found = dispatch.apply(op, self.value)
        return self.rebuild(list(found) if isinstance(found, tuple) else [found])


def is_stream(x: Any) -> bool:
    """Whether this is gone over by the running graph, element by element, though nobody knows how many there are."""
    return current_region() is not None and hasattr(type(x), "__autoconv_stream__")


def stream_of(x: Any) -> Stream:
    """A new iterator over a dataset; an iterator goes on where it is. Under `compile` it stays with Python."""
    region = current_region()
    if region is not None and region.contract == COMPILE:
        raise StagingError("a dataset is gone over, which `compile` leaves to Python", current_place())
    found: Stream = type(x).__autoconv_stream__(x)
    return found


def by_class(function: Any, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The function of Python's, which the class of one of its arguments may know better."""

    def run(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            known = getattr(type(arg), "__autoconv_builtins__", None)
            if known is not None and function in known and current_region() is not None:
                return known[function](*args, **kwargs)
        return otherwise(*args, **kwargs)

    return run


# What a class may have a meaning of its own for.
BY_CLASS = (builtins.enumerate, builtins.zip, builtins.len, builtins.iter, builtins.next)

__all__ = ["BY_CLASS", "Stream", "by_class", "is_stream", "stream_of"]
