"""Name scopes: prefixes of the names of nodes and variables."""

from __future__ import annotations

import threading
from typing import Any

from autoconv.runtime.recording.regions import current_region


class _Scopes(threading.local):
    """The name scope of eager code in this thread."""

    eager_scope: str = ""


_STATE = _Scopes()


class name_scope:
    """`with name_scope("layer"):` prefixes the names of nodes and variables made inside with `layer/`; scopes nest.

    Inside a trace a second scope of the same name becomes `layer_1`. A name that ends with a slash is used unchanged,
    whatever the enclosing scopes. The `with` statement binds the whole prefix.

    >>> with autoconv.name_scope("layer"):
    ...     v = autoconv.Variable(1.0, name="w")
    >>> v.name
    'layer/w:0'
    """

    def __init__(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, found {name!r}")
        self.name = name or ""
        self._outer_scopes: list[tuple[Any, str]] = []  # (region or None, its scope) of each entry

    def __enter__(self) -> str:
        region = current_region()
        outer_scope = current_scope()
        self._outer_scopes.append((region, outer_scope))
        if not self.name or self.name.endswith("/"):
            scope = self.name
        elif region is None:
            scope = f"{outer_scope}{self.name}/"
        else:
            scope = f"{region.graph.unique_name(outer_scope + self.name)}/"
        _set_scope(region, scope)
        return scope

    def __exit__(self, *_: object) -> None:
        _set_scope(*self._outer_scopes.pop())


def current_scope() -> str:
    """Return the current prefix: empty, or ending with a slash."""
    region = current_region()
    return _STATE.eager_scope if region is None else region.trace.scope


def _set_scope(region: Any, scope: str) -> None:
    """Make a scope the current one of the region's trace, or of eager code."""
    if region is None:
        _STATE.eager_scope = scope
    else:
        region.trace.scope = scope
