"""Optimisations."""
from typing import Any


def optimise(graph: Any, skip: Any = frozenset(), contract: str = "function", dump: Any = None) -> Any:
    return graph
