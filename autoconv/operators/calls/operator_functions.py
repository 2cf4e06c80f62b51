"""Overrides of functions that do what a statement or operator does: `setattr`, `next`, `operator.iadd`, and others."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.python_operators import BINARY
from autoconv.operators.calls import in_place_operators
from autoconv.operators.control.conditionals import not_, truth
from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.held_iterators import HeldIterator, bind_iterator
from autoconv.operators.support.overrides import OVERRIDES
from autoconv.operators.support.signature_check import call_for_program
from autoconv.operators.values import attributes, comparisons, items, set_operators
from autoconv.operators.values.builtins import convert_callback
from autoconv.operators.values.membership import in_
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.symbolic_objects import apply_object, is_object
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.spans import current_place

# Classes whose iterators become graph objects.
_ITERABLE_CLASSES = frozenset({list, tuple, dict, str, bytes, range, DictView, *TRACED_TO_PLAIN})


def _set_item(x: object, index: object, value: object) -> None:
    items.set_item_in(x, (index,), value)


def _set_attribute(owner: object, name: Any, value: object) -> Any:
    return _call_with_names(lambda name: attributes.set_attr(owner, name, value), "setattr", name)


def _delete_attribute(owner: object, name: Any) -> Any:
    return _call_with_names(lambda name: attributes.del_attr(owner, name), "delattr", name)


def _attribute_getter(*names: Any) -> Any:
    return _call_with_names(operator.attrgetter, "attrgetter", *names)


def _method_caller(name: Any, /, *args: Any, **kwargs: Any) -> Any:
    return _call_with_names(lambda name: operator.methodcaller(name, *args, **kwargs), "methodcaller", name)


def _call_with_names(function: Callable[..., Any], function_name: str, *names: Any) -> Any:
    """Call a function of attribute names; where a name is a variant, make one call for each alternative."""
    if any(type(name) is Variant for name in names):
        return distribute(lambda *known: _call_with_names(function, function_name, *known), *names)
    if any(map(is_object, names)):
        raise StagingError(f"{function_name} is given a name known only at run time", current_place())
    return function(*names)


def _iter(x: Any, *sentinel: Any) -> Any:
    """iter(x): an iterator over Python's containers lives in the graph, which keeps its position."""
    region = current_region()
    may_be_in_graph = region is not None and region.contract.objects_in_graph and not region.trace.is_called_by_python
    if may_be_in_graph and not sentinel and (is_object(x) or type(x) in _ITERABLE_CLASSES):
        return apply_object("iter", x)
    return bind_iterator(call_for_program(builtins.iter, convert_callback(x) if sentinel else x, *sentinel))


def _next(iterator: Any, *default: Any) -> Any:
    """`next(iterator)`; the contract may refuse an iterator from outside, as one item would serve all later calls."""
    if is_object(iterator):
        return apply_object("next", iterator, *default)
    if type(iterator) is HeldIterator and iterator.is_resumable:
        return builtins.next(iterator, *default)
    current_contract().before_call(builtins.next)
    return builtins.next(iterator, *default)


# Functions that are overridden by the operators of the equivalent statements, for symbolic and for other values.
STATEMENT_OVERRIDES: dict[Any, Callable[..., Any]] = {
    builtins.setattr: _set_attribute, builtins.delattr: _delete_attribute,
    operator.attrgetter: _attribute_getter, operator.methodcaller: _method_caller,
    builtins.iter: _iter, builtins.next: _next,
    operator.setitem: _set_item, operator.delitem: items.del_item,
    **{entry.in_place_function: getattr(in_place_operators, entry.in_place) for entry in BINARY},
    operator.iconcat: in_place_operators.iadd,
    **{function: getattr(set_operators, name) for name, function in set_operators.PYTHON_FUNCTION_BY_OPERATOR.items()},
}  # fmt: skip
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "is_", "is_not")
STATEMENT_OVERRIDES.update({getattr(operator, name): getattr(comparisons, name) for name in _COMPARISONS})
STATEMENT_OVERRIDES[operator.contains] = lambda container, item: in_(item, container)
STATEMENT_OVERRIDES.update({operator.not_: not_, operator.truth: truth})
OVERRIDES.update(STATEMENT_OVERRIDES)
