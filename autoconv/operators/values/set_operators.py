"""`|`, `&`, `^` and `-` with a left operand that reads other sets directly.

Those are frozensets, instances of the program's own subclasses of `set`, and views of dicts: their methods would see a
set that has moved into the graph as empty. With a plain `set` on the left nothing is needed: the class of a set in the
graph is a subclass of `set`, so that Python calls the method of the right operand first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of
from autoconv.runtime.objects.dict_views import SET_LIKE_VIEWS
from autoconv.runtime.objects.symbolic_objects import apply_object
from autoconv.runtime.recording.regions import current_region

PYTHON_FUNCTION_BY_OPERATOR: dict[str, Callable[[Any, Any], Any]] = {
    "bitor": operator.or_, "bitand": operator.and_, "bitxor": operator.xor, "sub": operator.sub,
}  # fmt: skip
_METHOD_BY_OPERATOR = {"bitor": "__or__", "bitand": "__and__", "bitxor": "__xor__", "sub": "__sub__"}
_GRAPH_NAME_BY_OPERATOR = {"bitor": "or", "bitand": "and", "bitxor": "xor", "sub": "sub"}


def _set_operator(name: str) -> Callable[[Any, Any], Any]:
    """Return the operator of that name, a key of `PYTHON_FUNCTION_BY_OPERATOR`."""
    python_function = PYTHON_FUNCTION_BY_OPERATOR[name]

    def apply(x: object, y: object) -> Any:
        """`x <operator> y`."""
        if current_region() is None:
            return python_function(x, y)
        if _may_read_directly(x) and Variant in (type(x), type(y)):
            return distribute(apply, x, y)
        if heap_of(y) is None:
            return python_function(x, y)
        if isinstance(x, frozenset):
            return apply_object(_GRAPH_NAME_BY_OPERATOR[name], x, y)
        return python_function(set(x) if isinstance(y, set) and _acts_as_set(x, name) else x, y)

    return apply


def _may_read_directly(x: object) -> bool:
    """Return whether a left operand, or an alternative of it, reads other sets directly."""
    if type(x) is Variant:
        return any(map(_may_read_directly, x.values))
    return isinstance(x, frozenset) or type(x) in SET_LIKE_VIEWS or _is_of_set_subclass(x)


def _is_of_set_subclass(x: object) -> bool:
    """Return whether a value is an instance of the program's own subclass of `set`."""
    return isinstance(x, set) and type(x) is not set and type(x) not in TRACED_TO_PLAIN


def _acts_as_set(x: object, name: str) -> TypeGuard[Iterable[object]]:
    """Return whether the operator has the result of a `set` with the elements of `x`.

    `&` of a view of a dict differs: of two equal elements, it takes the one of the right operand.
    """
    if type(x) in SET_LIKE_VIEWS:
        return name != "bitand"
    method = _METHOD_BY_OPERATOR[name]
    return _is_of_set_subclass(x) and getattr(type(x), method) is getattr(set, method)


bitor, bitand, bitxor, sub = map(_set_operator, ("bitor", "bitand", "bitxor", "sub"))
