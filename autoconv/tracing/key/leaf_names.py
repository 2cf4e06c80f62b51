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
    names, start = list(call.names), 0
    for index, (_, template) in enumerate(call.key.templates):
        end = start + (1 if template is None else template.leaf_count)
        has_spec = specs is not None and index < len(specs)
        named_leaves = flat_leaves(specs[index]) if has_spec else call.leaves[start:end]  # type: ignore[index]
        for position, leaf in zip(range(start, end), named_leaves, strict=False):
            if isinstance(leaf, TensorSpec) and leaf.name:
                names[position] = leaf.name
        start = end
    return names
