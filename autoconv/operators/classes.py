"""The class of a value by its attribute: `x.__class__`."""

from __future__ import annotations

from typing import Any

from autoconv.operators.calls import call
from autoconv.runtime.recording import current_region


def class_of(x: Any) -> Any:
    """`x.__class__`; of what stands for a value of the graph, the class that the value has in plain Python."""
    if current_region() is not None and type(x).__module__.partition(".")[0] == "autoconv":
        return call(type)(x)
    return x.__class__


__all__ = ["class_of"]
