"""Refusal of values that cannot become objects of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.objects.symbol_search import holds_created_objects, holds_symbols, holds_symbols_inside
from autoconv.runtime.recording.regions import Trace
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place


def refuse_container(value: Any) -> None:
    """Raise StagingError for an instance of a container's subclass that holds values of the graph."""
    if isinstance(value, tuple) and holds_symbols(value):
        raise StagingError("a named tuple of values known only at run time cannot be part of a list or dict")
    if isinstance(value, (tuple, list, set, dict)) and (holds_symbols_inside(value) or holds_created_objects(value)):
        raise StagingError(
            f"{with_article(type(value))} of values known only at run time becomes part of a list, dict or text",
            current_place(), "a list or dict of Python's own",
        )  # fmt: skip


def refuse_in_replaced_range(trace: Trace, value: object) -> None:
    """Raise StagingError in a loop that replaces a range, for an object that would move into the graph.

    The loop is then unrolled, where the object can stay Python's.
    """
    if trace.is_in_replaced_range and not isinstance(value, (str, int, float, complex, type(None))):
        raise StagingError("an object becomes part of a loop that replaces a range", current_place())


def refuse_graph_value_or_iterator(value: Any) -> None:
    """Raise StagingError for a value of another graph, and for an iterator of Python's own."""
    if hasattr(type(value), "__autoconv_graph_value__"):
        message = f"{with_article(type(value))} cannot be part of a list or dict of the graph"
        raise StagingError(message, current_place())
    if isinstance(value, Iterator):  # made once, while tracing: the second call would find it exhausted
        noun = "a generator" if value.__class__ is GeneratorType else "an iterator"
        raise StagingError(
            f"{noun} of Python's own becomes part of a value known only at run time", current_place(),
            "a list of its items",
        )  # fmt: skip
