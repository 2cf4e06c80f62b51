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


def is_of_graph(error: BaseException | None) -> bool:
    """Return whether an exception, or one that it is linked to, has values known only at run time."""
    pending, seen = [error], set[int]()
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) is StagedException or hasattr(one, "_autoconv_tensors"):
            return True
        if holds_symbols(one.args) or holds_created_objects(one.args):
            return True
        pending += [one.__cause__, one.__context__]
    return False


__all__ = ["StagedException", "is_of_graph"]
