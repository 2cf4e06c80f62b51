"""The registry of rules: `rule(writer, node, *operands)` writes a node, and returns its result or a list of results.

Operands are terms, or `ListTerm`s. A rule returns None for a node that it cannot write: the graph is then refused.
`lowers("name", …)` registers a rule for the ops of these names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.ops.rule_table import RuleTable

RULES: RuleTable[Callable[..., Any]] = RuleTable("rule for other runtimes")
lowers = RULES.of


def normalise_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Return axes in ascending order, none of them negative; None stands for all axes."""
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(sorted({int(number) % rank for number in axes})) if rank else ()


def normalise_axis(axis: int, rank: int) -> int:
    """Return a nonnegative axis."""
    return axis % rank if rank else 0
