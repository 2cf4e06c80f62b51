"""End positions of the parts made by `np.split` and similar functions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value


def split_ends(count: Any, sections: Any, even: bool) -> list[Any] | None:
    """Return the ends of all parts but the last, for a dimension of `count` elements.

    The ends are ints, or symbolic numbers where the count is symbolic. `sections` is the number of parts, or their
    ends; None is returned where it is not static. With `even` all parts must have one size. Raises ValueError as NumPy
    does.
    """
    constant = static_value(sections)
    if constant is None:
        return None
    if np.ndim(constant):
        return [int(end) for end in np.ravel(constant)]
    parts = operator.index(constant)
    if parts <= 0:
        raise ValueError("number sections must be larger than 0.")
    part_size, remainder = count // parts, count % parts
    if isinstance(remainder, int):
        if even and remainder:
            raise ValueError(_UNEQUAL_MESSAGE)
        return [part_size * i + min(i, remainder) for i in range(1, parts)]
    if even:  # where it fails, the call reruns as plain Python, for NumPy's error
        apply("assert_true", remainder == 0, message=(_UNEQUAL_MESSAGE,), kind="check")
        return [part_size * i for i in range(1, parts)]
    larger_parts = convert_to_tensor(remainder, np.int64)
    return [part_size * i + apply("minimum", larger_parts, convert_to_tensor(i, np.int64)) for i in range(1, parts)]


_UNEQUAL_MESSAGE = "array split does not result in an equal division"

__all__ = ["split_ends"]
