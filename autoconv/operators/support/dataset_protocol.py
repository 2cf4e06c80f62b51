"""Datasets and their iterators in converted code, found through attributes of their classes.

`__autoconv_stream__()` makes a `Stream` of an object, from which loops take elements; `__autoconv_builtins__` maps
Python's functions to their implementation for it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch


@dataclass(frozen=True, slots=True)
class Stream:
    """An iterator in the graph being recorded; `rebuild` makes an element from its graph values."""

    value: Value
    rebuild: Callable[[list[Any]], Any]

    def advance(self) -> Any:
        """Return whether there is another element; `current` then returns it."""
        return dispatch.apply("iterator_advance", self.value)

    def current(self) -> Any:
        """Return the element to which the last `advance` went."""
        return self._element("iterator_current")

    def take(self) -> Any:
        """Return the next element; raise EndOfSequenceError at run time if there is none."""
        return self._element("iterator_next")

    def _element(self, op: str) -> Any:
        """Return the element that the op of that name returns for the iterator."""
        result = dispatch.apply(op, self.value)
        return self.rebuild(list(result) if isinstance(result, tuple) else [result])


def makes_stream(x: object) -> bool:
    """Return whether a loop over the object is recorded as an iteration of the graph, of unknown length."""
    return current_region() is not None and hasattr(type(x), "__autoconv_stream__")


def stream_of(x: Any) -> Stream:
    """Return a new iterator over a dataset; an iterator continues at its position.

    Raises StagingError under `compile`, where Python iterates over datasets.
    """
    region = current_region()
    if region is not None and region.contract.runs_plain:
        raise StagingError("a dataset is iterated, which `compile` leaves to Python", current_place())
    result: Stream = type(x).__autoconv_stream__(x)
    return result


def dispatch_by_class(function: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the implementation of `function` by the class of an argument, else `otherwise`.

    An implementation is called only while a graph is recorded.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            implementations = getattr(type(arg), "__autoconv_builtins__", None)
            if implementations is not None and function in implementations and current_region() is not None:
                return implementations[function](*args, **kwargs)
        return otherwise(*args, **kwargs)

    return run


# Functions that a class may implement in `__autoconv_builtins__`.
CLASS_DISPATCHED = (builtins.enumerate, builtins.zip, builtins.len, builtins.iter, builtins.next)
