"""`|`, `&`, `^` and `-` with a frozenset on the left.

A frozenset reads any other set directly and would see one that has moved into the graph as empty. All other types
call the methods of the right operand.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.runtime.objects.containers import heap_of
from autoconv.runtime.objects.symbolic_objects import apply_object
from autoconv.runtime.recording.regions import current_region

PYTHON_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "bitor": operator.or_, "bitand": operator.and_, "bitxor": operator.xor, "sub": operator.sub,
}  # fmt: skip
_GRAPH_NAMES = {"bitor": "or", "bitand": "and", "bitxor": "xor", "sub": "sub"}


def _set_operator(name: str) -> Callable[[Any, Any], Any]:
    python_function = PYTHON_FUNCTIONS[name]

    def apply(x: object, y: object) -> Any:
        if current_region() is None:
            return python_function(x, y)
        if _may_be_frozenset(x) and Variant in (type(x), type(y)):
            return distribute(apply, x, y)
        if isinstance(x, frozenset) and heap_of(y) is not None:
            return apply_object(_GRAPH_NAMES[name], x, y)
        return python_function(x, y)

    return apply


def _may_be_frozenset(x: object) -> bool:
    return isinstance(x, frozenset) or (type(x) is Variant and any(isinstance(arm, frozenset) for arm in x.values))


bitor, bitand, bitxor, sub = map(_set_operator, ("bitor", "bitand", "bitxor", "sub"))
