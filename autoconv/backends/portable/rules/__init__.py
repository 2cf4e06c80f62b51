"""Rules that write ops for other runtimes, by the names of the ops, with the operations of `writing.Rules`."""

from __future__ import annotations

from autoconv.backends.portable.rules import (  # noqa: F401  each fills the registry
    constants,
    counted,
    draws,
    factors,
    fourier,
    gathers,
    linear,
    lists,
    movement,
    orthogonal,
    powers,
    python_complex,
    random,
    recurrences,
    reductions,
    rounding,
    sorting,
    subscripts,
)
from autoconv.backends.portable.rules.registry import RULES

__all__ = ["RULES"]
