"""Element rules of lengths and positions of lists that are arrays."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import int64
from autoconv.ops.elements.registry import Elements, element


@element("list_length_checked")
def list_length_checked(b: Elements, length: Any) -> Any:
    length = b.cast(length, int64)
    b.fail_if(length < 0)
    return length


@element("list_position")
def list_position(b: Elements, index: Any, length: Any, *, wrap: bool = False, writes: bool = False) -> Any:
    """Return the position of an index, with `wrap` also of a negative one; the kernel raises for one out of range."""
    index, length = b.cast(index, int64), b.cast(length, int64)
    if wrap:
        index = b.select(index < 0, index + length, index)
    b.fail_if((index < 0) | b.compare("ge", index, length))
    return index
