"""Assertions: ops that raise at run time if a condition is false."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import AssertionFailedError, FailedPreconditionError, InvalidArgumentError, OtherKindError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.gradients import no_cotangents
from autoconv.ops.record import define, sample
from autoconv.ops.text.printing import element_text, fill_template

# The attribute `failure` tells what fails: "assert" (the program's assertion), "check" (of arguments), "assumption" (of
# the trace), "warning" (if the condition is false, NumPy warns and returns the same results), "precondition" (a
# resource has no value), or the name of the error that NumPy raises, a key of NUMPY_ERRORS.
NUMPY_ERRORS: dict[str, type[Exception]] = {error.__name__: error for error in (ValueError, ZeroDivisionError)}
ASSUMPTIONS = frozenset({"assumption", "warning"})  # if one of these fails, the call is rerun as plain Python


def _assert_type(condition: Type, *data: Type, **_: Any) -> tuple[Type, ...]:
    if not isinstance(condition, TensorType) or not condition.dtype.is_bool:
        raise TypeError(f"an assertion takes a condition of bools, found {condition}")
    return ()


def _assert_true(
    condition: Any, *data: Any, message: str | tuple[Any, ...] = "", failure: str = "assert", summarize: int = 3
) -> tuple[Any, ...]:
    """Raise the error of the failure unless all conditions hold.

    For "precondition" and NumPy's errors, `message` is a tuple: the arguments of the error.
    """
    if np.all(condition):
        return ()
    if failure in ASSUMPTIONS:
        raise OtherKindError(_message(message, data, summarize))
    if failure == "precondition":
        raise FailedPreconditionError(*message)
    if failure == "check" or failure in NUMPY_ERRORS:
        error = InvalidArgumentError(_message(message, data, summarize))
        raise error.with_plain_error(NUMPY_ERRORS[failure](*message)) if failure in NUMPY_ERRORS else error
    raise AssertionFailedError(f"assertion failed: {_message(message, data, summarize)}".rstrip())


def _message(message: str | tuple[Any, ...], data: Any, summarize: int) -> str:
    """Return the text `[message] [data] …`; in a tuple, an int stands for `data[int]`."""
    pieces = message if isinstance(message, tuple) else (*([message] if message else []), *range(len(data)))
    texts = [
        summary(data[piece], summarize)
        if isinstance(piece, int)
        else fill_template((piece,), data, summarize=summarize)
        for piece in pieces
    ]
    return " ".join(f"[{text}]" for text in texts)


def summary(array: Any, max_count: int = 3) -> str:
    """Return the first `max_count` elements (-1: all) as text on one line: `1 2 3...`, for rows `[1 2][3...]...`."""
    array = np.asarray(array)
    limit = array.size if max_count < 0 else max_count
    if array.ndim < 2:
        shown_texts = [element_text(x, quoted=False) for x in np.ravel(array)[:limit]]
        return " ".join(shown_texts) + ("..." if array.size > limit else "")
    texts, remaining_count = [], limit
    for row in array:
        if remaining_count <= 0:
            break
        texts.append(f"[{summary(row, remaining_count)}]")
        remaining_count -= row.size
    return "".join(texts) + ("..." if array.size > limit else "")


assert_true = define(
    name="assert_true", graphdef="Assert", result=_assert_type, kernel=_assert_true, gradient=no_cotangents,
    # A failing assertion is a side effect of the program: like output, it is not removed as unused.
    effects=Effects.RAISE | Effects.OUTPUT,
    samples=(sample(np.array(True), np.array([1.5, 2.0]), message="positive"),),
)  # fmt: skip
