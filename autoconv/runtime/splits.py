"""Where the parts of an array end that `np.split` and its like make."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autoconv.runtime.convert import convert_to_tensor
from autoconv.runtime.dispatch import apply
from autoconv.runtime.static import static_value


def split_ends(count: Any, sections: Any, even: bool) -> list[Any] | None:
    """The ends of all parts but the last, of a dimension of `count` elements: ints, or numbers of the graph where only
    that knows the count. `sections` is how many parts there are, or where they end; None for what is not known.

    With `even` all parts have to be of one size. Raises ValueError as NumPy does.
    """
    known = static_value(sections)
    if known is None:
        return None
    if np.ndim(known):
        return [int(end) for end in np.ravel(known)]
    parts = operator.index(known)
    if parts <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, more = count // parts, count % parts
    if isinstance(more, int):
        if even and more:
            raise ValueError(_UNEQUAL)
        return [each * i + min(i, more) for i in range(1, parts)]
    if even:  # what NumPy says comes of making the call again
        apply("assert_true", more == 0, message=(_UNEQUAL,), kind="check")
        return [each * i for i in range(1, parts)]
    left = convert_to_tensor(more, np.int64)
    return [each * i + apply("minimum", left, convert_to_tensor(i, np.int64)) for i in range(1, parts)]


_UNEQUAL = "array split does not result in an equal division"

__all__ = ["split_ends"]
