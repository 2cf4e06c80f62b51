"""Names of a call's leaves in its graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flat_leaves
from autoconv.tracing.key.call import Call


def leaf_names(call: Call, specs: Sequence[Any] | None) -> list[str]:
    """Return the name of each leaf: that of its TensorSpec, in the input signature `specs` or the call, if it has one.

    Other leaves have the name of their parameter.
    """
    names = list(call.names)
    for index, leaf_slice in enumerate(call.key.leaf_slices()):
        has_spec = specs is not None and index < len(specs)
        named_leaves = flat_leaves(specs[index]) if has_spec else call.leaves[leaf_slice]  # type: ignore[index]
        for position, leaf in zip(range(leaf_slice.start, leaf_slice.stop), named_leaves, strict=False):
            if isinstance(leaf, TensorSpec) and leaf.name:
                names[position] = leaf.name
    return names
