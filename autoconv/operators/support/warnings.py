"""Warnings that refer to the user's line: `stacklevel` counts the user's frames, as in plain Python."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.support.spans import depth_of_level

WARN = warnings.warn


@functools.wraps(WARN)
def warn(message: Any, category: Any = None, stacklevel: int = 1, source: object = None, **options: Any) -> None:
    """`warnings.warn` from converted code, whose caller may be a region function invoked by this package."""
    current_contract().before_call(WARN)
    level = depth_of_level(stacklevel) if stacklevel > 1 and not options else stacklevel
    WARN(message, category, level + 1, source, **options)  # one more for the frame of this function
