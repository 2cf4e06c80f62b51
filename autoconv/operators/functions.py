"""Functions that mean what a statement or an operator means: they change what they are given, or go on in it."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators import items
from autoconv.operators.builtins import OVERRIDES
from autoconv.runtime.containers import PLAIN, heap_of
from autoconv.runtime.objects import apply_object, is_object
from autoconv.runtime.recording import COMPILE, current_region
from autoconv.runtime.spans import current_place

_IN_PLACE = ("iadd", "isub", "imul", "imatmul", "itruediv", "ifloordiv", "imod", "ipow", "ilshift", "irshift", "iand",
             "ior", "ixor")  # fmt: skip
_LASTING = (str, bytes, tuple, range)  # iterators over these give the same whatever happens meanwhile


def _set_item(x: Any, index: Any, value: Any) -> None:
    items.set_item_in(x, (index,), value)


def _set_attribute(owner: Any, name: str, value: Any) -> None:
    items.set_attr(owner, _known(name, "setattr"), value)


def _delete_attribute(owner: Any, name: str) -> None:
    items.del_attr(owner, _known(name, "delattr"))


def _known(name: Any, function: str) -> Any:
    if is_object(name):
        raise StagingError(f"{function} is given a name that only the running graph knows", current_place())
    return name


def _iter(x: Any, *sentinel: Any) -> Any:
    """iter(x); of an iterator that is made here over Python's values, `next` knows how far it has come."""
    region = current_region()
    if is_object(x) or heap_of(x) is not None:
        return apply_object("iter", x, *sentinel)
    found = builtins.iter(x, *sentinel)
    if region is not None and not sentinel and (type(x) in _LASTING or type(x) in PLAIN):
        region.trace.iterators[id(found)] = found, region, x, operator.length_hint(found)
    return found


def _next(iterator: Any, *default: Any) -> Any:
    """next(iterator), at once where that is what every call does."""
    region = current_region()
    if is_object(iterator):
        return apply_object("next", iterator, *default)
    if region is None or region.contract != COMPILE:
        return builtins.next(iterator, *default)
    known = region.trace.iterators.get(id(iterator))
    if known is None:
        region.trace.allows_call(builtins.next)
    _, made_in, source, left = known  # type: ignore[misc]
    if made_in is not region or heap_of(source) is not None or operator.length_hint(iterator) != left:
        raise StagingError("an iterator goes on where a value of the graph decides how far it has come", current_place())
    try:
        return builtins.next(iterator, *default)
    except StopIteration as error:
        error._autoconv_run_time = True  # type: ignore[attr-defined]
        raise
    finally:
        region.trace.iterators[id(iterator)] = iterator, region, source, operator.length_hint(iterator)


# What means the same for values of the graph and for others, the way it does in a statement.
AS_STATEMENTS: dict[Any, Callable[..., Any]] = {
    builtins.setattr: _set_attribute, builtins.delattr: _delete_attribute,
    builtins.iter: _iter, builtins.next: _next,
    operator.setitem: _set_item, operator.delitem: items.del_item,
    **{getattr(operator, name): getattr(items, name) for name in _IN_PLACE},
    operator.iconcat: items.iadd,
}  # fmt: skip
OVERRIDES.update(AS_STATEMENTS)

__all__ = ["AS_STATEMENTS"]
