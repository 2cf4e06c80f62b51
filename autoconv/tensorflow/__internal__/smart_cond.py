"""A conditional that is decided while tracing if its predicate is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.api.control.flow import cond
from autoconv.api.tensors.static_shapes import get_static_value
from autoconv.runtime.tensors.conversion import is_tensor


def smart_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Call one of the functions if the predicate is a Python bool or a known tensor; else record a conditional."""
    constant = get_static_value(pred) if is_tensor(pred) else pred
    if constant is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn)
    return true_fn() if constant else false_fn()
