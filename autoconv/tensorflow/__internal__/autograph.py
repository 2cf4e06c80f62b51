"""Conversion of the functions that users give to a library."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.operators.calls.call import call as callable_for


def control_status_ctx() -> None:
    """Return None: a trace itself tells whether functions are converted."""


def tf_convert(
    f: Callable[..., object], ctx: object, convert_by_default: bool = True, user_requested: bool = False
) -> Callable[..., object]:
    """Return a callable that runs the converted function under trace, and the function as it is elsewhere."""
    return lambda *args, **kwargs: callable_for(f)(*args, **kwargs)
