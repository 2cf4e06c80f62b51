"""How each op is written for another runtime, by its name, on the operations of `terms.Rules`."""

from __future__ import annotations

from autoconv.backends.portable.rules import (  # noqa: F401  each fills the registry
    constants,
    factors,
    gathers,
    linear,
    lists,
    movement,
    orthogonal,
    random,
    reductions,
    sorting,
    subscripts,
)
from autoconv.backends.portable.rules.registry import RULES

__all__ = ["RULES"]
