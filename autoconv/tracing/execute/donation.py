"""The decorators' option `donate=`: arguments whose memory a call may reuse for its results."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence

from autoconv.tracing.key.cache_key import Key

Donate = str | int | Sequence[str | int]


def select_donated_names(donate: Donate, parameters: Mapping[str, inspect.Parameter], function: str) -> frozenset[str]:
    """Return the parameters that `donate` selects by name or position; raises ValueError for an unknown one."""
    requested_names = (donate,) if isinstance(donate, (str, int)) else donate
    names = [p.name for p in parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    result = []
    for selector in requested_names:
        is_parameter = selector in names if isinstance(selector, str) else 0 <= selector < len(names)
        if not is_parameter:
            available_names = ", ".join(names) or "none"
            raise ValueError(f"donate={selector!r} is no parameter of {function}, which has {available_names}")
        result.append(selector if isinstance(selector, str) else names[selector])
    return frozenset(result)


def find_donated_leaves(key: Key, names: Iterable[str]) -> list[int]:
    """Return the positions of the leaves of the arguments `names`."""
    result: list[int] = []
    position = 0
    for name, template in key.templates:
        leaf_count = 1 if template is None else template.leaf_count
        if name in names:
            result += range(position, position + leaf_count)
        position += leaf_count
    return result
