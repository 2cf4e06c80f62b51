"""Runs that meet what their graph does not carry, or that fail in words of their own: the call is made again as plain
Python, whose numbers know no limit and whose errors are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.errors import OpError
from autoconv.ops.undo import TAKEN_BACK
from autoconv.tracing.left_out import leaving_out

BEYOND = (*TAKEN_BACK, OpError)


def is_made_again(concrete: Any, error: Exception) -> bool:
    """Whether the run left nothing behind, and does not know itself what Python says."""
    if isinstance(error, OpError) and error.plain is not None:
        return False
    return concrete.can_run_again or hasattr(error, "_autoconv_undone")


def found_by(error: Exception) -> str:
    """What an error says was found; of numbers that a graph does not carry without what to write under the other
    contract."""
    return str(error).partition(";")[0] if isinstance(error, TAKEN_BACK) else str(error)


def in_place_of(error: Exception, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What the function answers or raises, which then has no more to do with the error; what was printed before the
    error is not printed again."""
    printed = getattr(error, "_autoconv_printed", 0)
    try:
        if printed:
            with leaving_out(printed):
                return function(*args, **kwargs)
        return function(*args, **kwargs)
    except BaseException as raised:
        each: BaseException | None = raised
        while each is not None:
            if each.__context__ is error:
                each.__context__ = None
            each = each.__context__
        raise
