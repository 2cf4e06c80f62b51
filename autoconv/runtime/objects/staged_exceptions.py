"""Exceptions of the graph while traced code runs, and the search for their values in exceptions of Python."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.objects.symbol_search import holds_created_objects, holds_symbols


class StagedException(Exception):
    """Python-level stand-in for a symbolic exception, `value`, which Python can raise, catch and chain.

    `is_handled`: it was raised before; a handler that raises it passes it on.
    """

    def __init__(self, value: Any, is_handled: bool = False) -> None:
        super().__init__()
        self.value = value
        self.is_handled = is_handled


def holds_graph_values(error: BaseException | None) -> bool:
    """Return whether an exception, or one that it is linked to, has values known only at run time."""
    pending, seen = [error], set[int]()
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if type(current) is StagedException or hasattr(current, "_autoconv_tensors"):
            return True
        if holds_symbols(current.args) or holds_created_objects(current.args):
            return True
        pending += [current.__cause__, current.__context__]
    return False


__all__ = ["StagedException", "holds_graph_values"]
