"""Checks of lengths and positions of lists that are arrays: `list_length_checked`, `list_position`.

Their errors are those of the ops on lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.values.list_value import missing_element_text

_POSITION = TensorType(int64, ())


def checked_length(length: Any) -> np.ndarray:
    """Return the length of a list to reserve; raises InvalidArgumentError for a negative one."""
    if length < 0:
        raise InvalidArgumentError(
            f"The num_elements to reserve must be a non negative number, but got {int(length)}"
        )
    return np.asarray(length, np.int64)


def _position(index: Any, length: Any, *, wrap: bool = False, writes: bool = False) -> np.ndarray:
    """Return the position of an index, which with `wrap` may be negative; raises IndexOutOfRangeError.

    `writes` is for the text of the error.
    """
    position, count = int(index), int(length)
    if wrap and -count <= position < 0:
        position += count
    if not 0 <= position < count:
        raise IndexOutOfRangeError(missing_element_text(position, count, writes))
    return np.asarray(position, np.int64)


define(
    name="list_length_checked", graphdef="Identity", result=lambda num: _POSITION, kernel=checked_length,
    gradient=no_gradient("the result is a length"), effects=Effects.RAISE, samples=(sample(np.array(3, np.int32)),),
)  # fmt: skip
define(
    name="list_position", graphdef="Identity", result=lambda index, length, **_: _POSITION, kernel=_position,
    gradient=no_gradient("the result is an index"), effects=Effects.RAISE,
    samples=(
        sample(np.array(2, np.int32), np.array(3, np.int32)),
        sample(np.array(-3), np.array(3, np.int32), wrap=True, writes=True),
    ),
)  # fmt: skip
