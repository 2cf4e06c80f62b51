"""Exceptions of the graph while traced code runs, and a search for values of the graph in exceptions of Python."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.objects.symbol_search import holds_created_objects, holds_symbols


class StagedException(Exception):
    """Python-level stand-in for a symbolic exception, `value`, which Python can raise, catch and chain.

    `is_handled` is true if a handler received it: if it leaves the handler, the graph records that the same exception
    is raised again.
    """

    def __init__(self, value: Any, is_handled: bool = False) -> None:
        super().__init__()
        self.value = value
        self.is_handled = is_handled


def holds_graph_values(error: BaseException | None) -> bool:
    """Return whether an exception, or one that it is linked to, has values known only at run time."""
    worklist, visited_ids = [error], set[int]()
    while worklist:
        linked_error = worklist.pop()
        if linked_error is None or id(linked_error) in visited_ids:
            continue
        visited_ids.add(id(linked_error))
        # The attribute is set on exceptions whose message has tensors (see operators/support/deferred_messages.py).
        if type(linked_error) is StagedException or hasattr(linked_error, "_autoconv_tensors"):
            return True
        if holds_symbols(linked_error.args) or holds_created_objects(linked_error.args):
            return True
        worklist += [linked_error.__cause__, linked_error.__context__]
    return False
