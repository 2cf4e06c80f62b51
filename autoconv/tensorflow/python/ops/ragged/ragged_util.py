"""`tensorflow.python.ops.ragged.ragged_util`: checks of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence

import autoconv
from autoconv.runtime.annotations import TensorLike


def assert_splits_match(nested_splits_lists: Sequence[Sequence[TensorLike]]) -> list[object]:
    """Assert that ragged tensors have rows of the same lengths; raises ValueError for other depths.

    The result, for `control_dependencies`, is empty: assertions keep their order without control dependencies.
    """
    first, *later_splits = nested_splits_lists
    if any(len(splits) != len(first) for splits in later_splits):
        raise ValueError("Inputs must have identical ragged splits.")
    for splits in later_splits:
        for expected, found in zip(first, splits, strict=True):
            autoconv.debugging.assert_equal(expected, found, message="Inputs must have identical ragged splits")
    return []
