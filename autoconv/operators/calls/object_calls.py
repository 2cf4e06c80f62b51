"""Python's builtins on values known only at run time."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.dtypes import float64, int64
from autoconv.graph.types import number_type
from autoconv.operators.calls.comprehensions import collect_list
from autoconv.operators.calls.iterable_consumers import GRAPH_ONLY_BUILTINS, extend, is_deferred, plain_call
from autoconv.operators.calls.key_functions import KEY_FUNCTION_OVERRIDES
from autoconv.operators.calls.known_containers import construct_known_container
from autoconv.operators.calls.operator_functions import STATEMENT_OVERRIDES
from autoconv.operators.control.iterables import StagedRange
from autoconv.operators.control.shared_numbers import extreme_of_numbers
from autoconv.operators.control.variants import defined_value, distribute_call
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.optional_attributes import has_attribute
from autoconv.operators.support.overrides import OVERRIDES
from autoconv.operators.values.builtins import convert_callback
from autoconv.ops.python.objects import FUNCTIONS, LIBRARY_NAMES
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, has_graph_object, traced_result
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import apply_object, record_object
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_INTEGER = number_type(int64)
_FLOAT = number_type(float64)


def wrap_for_objects(function: Callable[..., Any], otherwise: Any = None) -> Callable[..., Any]:
    """Wrap a builtin function, method or class to record a graph op for arguments known only at run time.

    For other arguments it calls `otherwise`, or the builtin.
    """
    otherwise = otherwise or function
    if function in STATEMENT_OVERRIDES or function is builtins.print:
        return otherwise
    is_always_recorded = _is_in_library(function)
    owner = getattr(function, "__self__", None)

    def apply(*args: Any, **kwargs: Any) -> Any:
        """Call the function with these arguments, or record it if any of them is known only at run time."""
        if function in _HIGHER_ORDER_FUNCTIONS:  # callbacks are converted before they are called
            args = tuple(map(_convert_callback, args))
            kwargs = {name: _convert_callback(value) for name, value in kwargs.items()}
        if any(type(x) is Variant for x in (*args, *kwargs.values())):
            number = _extreme_of_numbers(function, args, kwargs)
            return distribute_call(apply, *args, **kwargs) if number is NotImplemented else number
        if function in _EXHAUSTING_FUNCTIONS and _is_one_iterator(args):
            args = (list(args[0]),)
        known_result = _apply_to_known_items(function, otherwise, args, kwargs)
        if known_result is not NotImplemented:
            return known_result
        if is_always_recorded:
            return graph_call(function, tuple(collect_list(x) if is_deferred(x) else x for x in args), kwargs)
        if isinstance(owner, _OWNER_CLASSES) and (type(owner) not in TRACED_TO_PLAIN or isinstance(owner, list)):
            result = _method_call(function, otherwise, args, kwargs)
            if result is not NotImplemented:
                return result
        if function in KEY_FUNCTION_OVERRIDES and callable(kwargs.get("key")):
            return KEY_FUNCTION_OVERRIDES[function](*args, **kwargs)
        has_override = otherwise is not function
        if type(owner) in TRACED_TO_PLAIN or _is_plain_call(function, args, kwargs, has_override=has_override):
            return plain_call(otherwise, args, kwargs)
        return graph_call(function, args, kwargs)

    return apply


# Functions that only compute with the items of lists and tuples: a known number of items takes as many ops.
_NUMBER_FUNCTIONS = frozenset({builtins.sum, builtins.max, builtins.min, math.prod, math.dist})


def _apply_to_known_items(function: Any, otherwise: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a container, or compute with lists of numbers (max and min get them one by one); else NotImplemented."""
    compares_arguments = function in (builtins.max, builtins.min) and len(args) > 1  # which are lists themselves
    is_for_numbers = function in _NUMBER_FUNCTIONS and args and not compares_arguments
    if not is_for_numbers or not all(map(_is_display_of_numbers, args)):
        return construct_known_container(function, args, kwargs)
    is_unpacked = function in (builtins.max, builtins.min) and len(args[0]) > 1 and not kwargs
    return plain_call(otherwise, tuple(args[0]) if is_unpacked else args, kwargs)


def _is_display_of_numbers(items: object) -> bool:
    """Return whether a value is a list or tuple outside of the graph that holds Python's numbers alone."""
    if not isinstance(items, (list, tuple)) or has_graph_object(items):
        return False
    return all(x.weak and x.type.shape == () if isinstance(x, SymbolicTensor) else type(x) in (int, float, bool)
               for x in items)


def _extreme_of_numbers(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return max or min of variants whose alternatives are numbers of several classes; else NotImplemented."""
    if function not in (builtins.max, builtins.min) or len(args) < 2 or kwargs:
        return NotImplemented
    return extreme_of_numbers(function, *map(defined_value, args))


_OWNER_CLASSES = (str, bytes, dict, set, frozenset, list, tuple)  # Python's own objects whose methods are recorded


def _method_call(function: Callable[..., Any], otherwise: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call or record a method of one of Python's own objects; return NotImplemented if a traced container owns it."""
    owner: Any = function.__self__  # type: ignore[attr-defined]
    name = function.__name__
    if isinstance(owner, (str, bytes, list)) and len(args) == 1 and is_deferred(args[0]):
        if name == "extend":
            return extend(owner, args[0])
        args = (collect_list(args[0]),) if name == "join" else args
    if type(owner) in TRACED_TO_PLAIN:
        return NotImplemented
    compares_items = name in ("index", "count") and holds_symbols((owner,))
    is_static = not compares_items and not holds_symbols((*args, *kwargs.values()))
    if is_static or name in ("append", "extend", "insert"):
        return traced_result(otherwise(*args, **kwargs))
    operands = [owner, *args, *kwargs.values()]
    return record_object("object_method", operands, name=name, keywords=tuple(kwargs))


def _is_plain_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], has_override: bool
) -> bool:
    """Return whether the builtin, or its override, is called as it is with these arguments."""
    if function is builtins.sorted and kwargs.get("key") is not None and not has_graph_object(args[0]):
        return True  # the key function is called here, which requires items known at trace time
    if function in _ITEM_INDEPENDENT and not any(map(has_graph_object, (*args, *kwargs.values()))):
        return True
    may_record = not has_override and function in _RECORDED_CONVERSIONS
    is_recorded = may_record and any(type(x) in _RUN_TIME_TYPES for x in args)
    return not is_recorded and not _needs_graph(args, kwargs)


def _is_one_iterator(args: tuple[Any, ...]) -> bool:
    """Return whether the only argument is an iterator that Python can exhaust."""
    return len(args) == 1 and isinstance(args[0], Iterator) and not is_deferred(args[0])


def _convert_callback(value: object) -> Any:
    """Return the converted form of a function, method or partial; other values unchanged."""
    return convert_callback(value) if isinstance(value, (FunctionType, MethodType, functools.partial)) else value


# Functions of the standard library that call one of their arguments and that have no version of their own here.
_HIGHER_ORDER_FUNCTIONS = frozenset({functools.reduce, itertools.accumulate})

# Functions that exhaust an iterator before anything else, so that a list can replace it.
_EXHAUSTING_FUNCTIONS = frozenset({dict, set, frozenset, sorted, min, max})


# Functions to which it does not matter whether the items of a known list are symbolic: iterators that yield the items
# unchanged, and predicates of the list itself.
_ITEM_INDEPENDENT = frozenset({enumerate, reversed, zip, len, isinstance, bool, hasattr})

# Classes of values that the functions below cannot convert while tracing. Tensors are among them: under `compile` they
# stand for Python's numbers and NumPy's arrays.
_RUN_TIME_TYPES = frozenset({SymbolicTensor, SymbolicArray, DictView, StagedRange})
# Functions that are recorded for any value that is known only at run time.
_RECORDED_CONVERSIONS = frozenset({str, repr, ascii, format, hash, chr, ord, hex, bin, oct, complex, bytes, callable})


def graph_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record the builtin on graph objects; raise StagingError if there is no op for it."""
    special_form = _SPECIAL_FORMS.get(function) or GRAPH_ONLY_BUILTINS.get(function)
    if special_form is not None and not kwargs:
        return special_form(*args)
    name = LIBRARY_NAMES[function] if _is_in_library(function) else getattr(function, "__name__", "")
    module = getattr(function, "__module__", "")
    if module in ("math", "cmath"):
        name = f"{module}.{name}"
    has_user_callback = any(isinstance(value, (FunctionType, MethodType)) for value in args)
    if name not in FUNCTIONS or has_user_callback or any(callable(value) for value in kwargs.values()):
        raise StagingError(f"{name or function!r} is given a value known only at run time", current_place())
    return apply_object(name, *args, *kwargs.values(), keywords=tuple(kwargs))


def _is_in_library(function: Callable[..., Any]) -> bool:
    """Return whether the graph implements this class or function of the standard library as a whole."""
    try:
        return function in LIBRARY_NAMES
    except TypeError:  # unhashable
        return False


def _needs_graph(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether an argument is in the graph, or a positional one is a container that holds graph values."""
    container_classes = (list, tuple, *TRACED_TO_PLAIN)
    return any(has_graph_object(x) or (type(x) in container_classes and holds_symbols(x)) for x in args) or any(
        map(has_graph_object, kwargs.values())
    )


def _isinstance(x: object, kinds: Any) -> Any:
    return record_object("object_isinstance", [x], kinds=kinds)


def _range(*bounds: Any) -> Any:
    numbers = [record_object("object_index", [x]) if has_graph_object(x) else x for x in bounds]
    return OVERRIDES[builtins.range](*numbers)


def _hasattr(x: object, name: str) -> Any:
    result = has_attribute(x, name)
    return builtins.hasattr(x, name) if result is NotImplemented else result


_SPECIAL_FORMS: dict[Any, Callable[..., Any]] = {
    builtins.range: _range, builtins.hasattr: _hasattr,
    builtins.len: lambda x: record_object("object_length", [x]),
    builtins.bool: lambda x=False: record_object("object_truth", [x]),
    builtins.isinstance: _isinstance,
    builtins.int: lambda x, *base: record_object("object_unbox", [apply_object("int", x, *base)], type=_INTEGER),
    builtins.float: lambda x: record_object("object_unbox", [apply_object("float", x)], type=_FLOAT),
}
