"""The decorators' option `donate=`: arguments whose memory a call may reuse for its results."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence

from autoconv.tracing.key.cache_key import Key

Donate = str | int | Sequence[str | int]


def select_donated_names(donate: Donate, parameters: Mapping[str, inspect.Parameter], function: str) -> frozenset[str]:
    """Return the names of the parameters that `donate` selects; raises ValueError for an unknown name or position.

    `function` is the name of the function, for the error.
    """
    selectors = (donate,) if isinstance(donate, (str, int)) else donate
    variadic_kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [parameter.name for parameter in parameters.values() if parameter.kind not in variadic_kinds]
    result = []
    for selector in selectors:
        is_parameter = selector in names if isinstance(selector, str) else 0 <= selector < len(names)
        if not is_parameter:
            available_names = ", ".join(names) or "none"
            raise ValueError(f"donate={selector!r} is no parameter of {function}, which has {available_names}")
        result.append(selector if isinstance(selector, str) else names[selector])
    return frozenset(result)


def find_donated_leaves(key: Key, names: Iterable[str]) -> list[int]:
    """Return the positions, among the leaves of a key, of the leaves of the arguments `names`."""
    leaf_slices = [
        leaf_slice
        for (name, _), leaf_slice in zip(key.templates, key.leaf_slices(), strict=True)
        if name in names
    ]
    return [position for leaf_slice in leaf_slices for position in range(leaf_slice.start, leaf_slice.stop)]
