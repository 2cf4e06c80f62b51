"""End positions of the parts made by `np.split` and similar functions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value


def split_ends(count: Any, sections: Any, must_be_even: bool) -> list[Any] | None:
    """Return the ends of all parts but the last, for a dimension of `count` elements.

    The ends are ints, or symbolic numbers where the count is symbolic. `sections` is the number of parts, or their
    ends; None is returned where it is not static. With `must_be_even` all parts must have one size.
    Raises ValueError as NumPy does.
    """
    constant = static_value(sections)
    if constant is None:
        return None
    if np.ndim(constant):
        return [int(end) for end in np.ravel(constant)]
    part_count = operator.index(constant)
    if part_count <= 0:
        raise ValueError("number sections must be larger than 0.")
    part_size, remainder = count // part_count, count % part_count
    if isinstance(remainder, int):
        if must_be_even and remainder:
            raise ValueError(_UNEQUAL_MESSAGE)
        return [part_size * i + min(i, remainder) for i in range(1, part_count)]
    if must_be_even:  # where the check fails, the call reruns as plain Python, which raises NumPy's error
        apply("assert_true", remainder == 0, message=(_UNEQUAL_MESSAGE,), failure="check")
        return [part_size * i for i in range(1, part_count)]
    larger_part_count = convert_to_tensor(remainder, np.int64)
    positions = (convert_to_tensor(i, np.int64) for i in range(1, part_count))
    return [part_size * i + apply("minimum", larger_part_count, position) for i, position in enumerate(positions, 1)]


_UNEQUAL_MESSAGE = "array split does not result in an equal division"
