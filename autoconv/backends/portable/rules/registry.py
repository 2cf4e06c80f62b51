"""The registry of rules: `rule(w, node, *operands)` writes a node and returns its result, or a list of results.

`w` is the writer; operands are terms, or `ListTerm`s. A rule returns None for what it has no form for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.ops.rule_table import RuleTable

RULES: RuleTable[Callable[..., Any]] = RuleTable("rule for other runtimes")
lowers = RULES.of


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Return an op's axes, counted from 0 and in order; None stands for all."""
    if axis is None:
        return tuple(range(rank))
    axes_given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(sorted({int(a) % rank for a in axes_given})) if rank else ()


def whole(axis: int, rank: int) -> int:
    """Return an axis counted from 0."""
    return axis % rank if rank else 0
