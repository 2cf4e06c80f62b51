"""The decorators' option `donate=`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence

from autoconv.tracing.key.cache_key import Key

Donate = str | int | Sequence[str | int]


def donated_names(donate: Donate, parameters: Mapping[str, inspect.Parameter], function: str) -> frozenset[str]:
    """Return the parameters that `donate` selects by name or position; raises ValueError for an unknown one."""
    requested = (donate,) if isinstance(donate, (str, int)) else donate
    names = [p.name for p in parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    names_found = []
    for one in requested:
        is_parameter = one in names if isinstance(one, str) else 0 <= one < len(names)
        if not is_parameter:
            raise ValueError(f"donate={one!r} is no parameter of {function}, which has {', '.join(names) or 'none'}")
        names_found.append(one if isinstance(one, str) else names[one])
    return frozenset(names_found)


def donated_leaves(key: Key, names: Iterable[str]) -> list[int]:
    """Return the positions of the leaves of these arguments."""
    result: list[int] = []
    position = 0
    for name, template in key.templates:
        count = 1 if template is None else template.leaf_count
        if name in names:
            result += range(position, position + count)
        position += count
    return result
