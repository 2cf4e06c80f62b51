"""Replica contexts inside of a strategy's `run`: one replica needs no merging."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def strategy_supports_no_merge_call() -> bool:
    """Return True: with one replica, variables are updated in place."""
    return True


def _maybe_merge_call(function: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    return function(strategy, *args, **kwargs)


interim = SimpleNamespace(maybe_merge_call=_maybe_merge_call)
