"""Assertions: ops that raise when the graph runs and a condition does not hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import AssertionFailedError, InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.gradients import flat
from autoconv.ops.output import filled_in, format_value
from autoconv.ops.record import define, sample


def _assert_type(condition: Type, *data: Type, **_: Any) -> tuple[Type, ...]:
    if not isinstance(condition, TensorType) or not condition.dtype.is_bool:
        raise TypeError(f"an assertion takes a condition of bools, found {condition}")
    return ()


def _assert_true(
    condition: Any, *data: Any, message: str | tuple[Any, ...] = "", kind: str = "assert", summarize: int = 3
) -> tuple[Any, ...]:
    if np.all(condition):
        return ()
    if kind == "check":
        raise InvalidArgumentError(_message(message, data, summarize))
    raise AssertionFailedError(f"assertion failed: {_message(message, data, summarize)}".rstrip())


def _message(message: str | tuple[Any, ...], data: Any, summarize: int) -> str:
    """`[message] [data] …`; a message that is a tuple places the data itself, by number."""
    if isinstance(message, tuple):
        return " ".join(f"[{filled_in((piece,), data, summarize=summarize)}]" for piece in message)
    parts = ([message] if message else []) + [format_value(x, summarize) for x in data]
    return " ".join(f"[{part}]" for part in parts)


assert_true = define(
    name="assert_true", graphdef="Assert", result=_assert_type, kernel=_assert_true, gradient=flat,
    # A failing assertion is what the program does: like output, it stays although nobody uses a result.
    effects=Effects.RAISE | Effects.OUTPUT,
    samples=(sample(np.array(True), np.array([1.5, 2.0]), message="positive"),),
)  # fmt: skip
