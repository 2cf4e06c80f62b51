"""Builtins that consume generator expressions, staged ranges and the like in a graph loop.

On all other arguments they behave as in `builtins`.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.graph.dtypes import int64
from autoconv.graph.python_operators import SUM_COMPENSATES
from autoconv.graph.types import number_type
from autoconv.operators.calls.comprehensions import collect_list, collect_set, generator
from autoconv.operators.calls.enumerate_zip import lazy_enumerate, lazy_zip
from autoconv.operators.calls.object_operators import ITEMWISE_FORM_BY_FUNCTION
from autoconv.operators.calls.operator_functions import STATEMENT_OVERRIDES
from autoconv.operators.control.conditionals import if_stmt
from autoconv.operators.control.iterables import StagedIterable, StagedRange, as_staged
from autoconv.operators.control.loops import for_source, is_symbolic_iterable
from autoconv.operators.support.dataset_protocol import CLASS_DISPATCHED, dispatch_by_class, makes_stream
from autoconv.operators.support.generator_expressions import TracedGenerator
from autoconv.operators.support.held_iterators import HeldIterator, bind_iterator
from autoconv.operators.support.overrides import OVERRIDES
from autoconv.operators.support.protected_names import BREAK, NORMAL, Undefined, ld
from autoconv.operators.support.signature_check import has_passed_program
from autoconv.operators.support.speculation import Attempt, attempt
from autoconv.operators.values import ordering as _ordering  # noqa: F401 - its replacements are wrapped here
from autoconv.operators.values.builtins import convert_callback
from autoconv.operators.values.compensated_sums import add_compensated, compensated_total, sum_of_items
from autoconv.operators.values.items import has_objects_in_graph
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, has_graph_object, heap_of, items_of, traced_result
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_INTEGER = number_type(int64)


def is_deferred(iterable: object) -> bool:
    """Return whether a graph loop has to consume an iterable: Python cannot, or would record every iteration."""
    if current_region() is None:
        return False
    if type(iterable) is TracedGenerator or makes_stream(iterable) or items_of(iterable) is not None:
        return True
    if type(iterable) is HeldIterator and iterable.has_loop:
        return True
    return isinstance(iterable, StagedIterable) and is_symbolic_iterable(iterable)


def _is_deferred_for(function: Callable[..., Any], iterable: object) -> bool:
    """Return whether a builtin's operand is deferred: only `list` iterates over a tensor; to others it is one value."""
    if function is builtins.list and isinstance(iterable, (SymbolicTensor, SymbolicArray)):
        return is_symbolic_iterable(iterable)
    return is_deferred(iterable)


def _consumer(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a decorator that registers the form of a builtin for a single positional argument that is deferred."""
    previous_override = OVERRIDES.get(function, function)

    def register(graph_form: Callable[..., Any]) -> Any:
        """Register `graph_form` as the override of the builtin for deferred operands, and return it."""

        def consume(*args: Any, **kwargs: Any) -> Any:
            """Call `graph_form` for a single deferred operand, otherwise the override that the builtin had before."""
            has_start = bool(args) and function in (builtins.sum, math.prod)
            takes_one_iterable = len(args) == 1 or has_start
            if not takes_one_iterable or not _is_deferred_for(function, args[0]):
                if current_region() is None:
                    return previous_override(*args, **kwargs)
                return traced_result(previous_override(*args, **kwargs))
            is_range = type(args[0]) is StagedRange and len(args) == 1
            if is_range and has_objects_in_graph() and function in _RANGE_FUNCTIONS:
                return _apply_to_range(function, args[0], kwargs)
            return graph_form(*args, **kwargs)

        OVERRIDES[function] = consume
        return graph_form

    return register


# Functions that are a single op when they are applied to a range.
_RANGE_FUNCTIONS = frozenset({list, tuple, set, frozenset, sorted, sum, min, max})


def _apply_to_range(function: Callable[..., Any], numbers: StagedRange, kwargs: dict[str, Any]) -> Any:
    result = apply_object(function.__name__, numbers, *kwargs.values(), keywords=tuple(kwargs))
    return unbox(result, _INTEGER) if function in (sum, min, max) and not kwargs else result


@_consumer(builtins.sum)
def _sum(iterable: object, start: object = 0) -> Any:
    """Return `sum(iterable, start)` of a deferred iterable.

    Where Python's sum of floats is compensated, the items are added one by one only if none is an object of the graph.
    Otherwise they are collected in a list first.
    """
    if not (SUM_COMPENSATES and has_objects_in_graph()) or isinstance(start, (str, bytes, bytearray)):
        return _sum_itemwise(iterable, start)
    if type(iterable) is StagedRange or (type(iterable) is TracedGenerator and iterable.is_repeatable):
        has_objects = False

        def add(item: object, total: object, compensation: object) -> object:
            nonlocal has_objects
            has_objects |= isinstance(item, SymbolicObject)
            return add_compensated(item, total, compensation)

        result = attempt(lambda: _sum_itemwise(iterable, start, add), lambda _: has_objects)
        if not has_objects:
            return result
        if isinstance(iterable, TracedGenerator):
            iterable.reset()
    items = collect_list(iterable)
    return apply_object("sum", items, start) if has_graph_object(items) else sum_of_items(items, start)


def _sum_itemwise(iterable: object, start: object = 0, add: Callable[..., object] = add_compensated) -> object:
    """Return `sum(iterable, start)` by a loop; `add(item, total, compensation)` returns the next two values."""
    if isinstance(start, (str, bytes, bytearray)):
        return builtins.sum((), start)  # raises Python's own error
    if SUM_COMPENSATES and has_objects_in_graph():
        return compensated_total(*for_source(iterable, add, (start, 0.0), ("sum", "compensation")))
    return for_source(iterable, lambda item, total: (total + item,), (start,), ("sum",))[0]


ITEMWISE_FORM_BY_FUNCTION["sum"] = _sum_itemwise


@_consumer(math.prod)
def _product(iterable: object, *, start: object = 1) -> Any:
    (product,) = for_source(iterable, lambda item, product: (product * item,), (start,), ("product",))
    return product


def _quantifier(deciding_truth: bool) -> Callable[[Any], Any]:
    """Return any() or all(), which end at the first element whose truth is `deciding_truth`."""

    def quantify(iterable: object) -> Any:
        """Return `any(iterable)` or `all(iterable)` by a loop that ends at the first deciding element."""

        def body(item: object, result: object, _: Any) -> Any:
            return if_stmt(_nonzero_test(item), on_true, on_false, (result, NORMAL), names)

        def decide(*_: Any) -> Any:
            return deciding_truth, BREAK

        def keep_state(*state: Any) -> Any:
            return state

        on_true, on_false = (decide, keep_state) if deciding_truth else (keep_state, decide)

        names = ("any" if deciding_truth else "all", "its end")
        result, _ = for_source(iterable, body, (not deciding_truth, NORMAL), names, exit="its end")
        return result

    return quantify


def _nonzero_test(item: object) -> Any:
    """Return `item != 0` for a number with a dtype, whose truth any() and all() test; return other items unchanged."""
    tensor = as_tensor(item)
    if tensor is None or tensor.weak or tensor.dtype.is_bool:
        return item
    has_dimensions = tensor.type.shape not in ((), None)  # None: unknown
    return item if has_dimensions else tensor != 0


ITEMWISE_FORM_BY_FUNCTION["any"] = _consumer(builtins.any)(_quantifier(deciding_truth=True))
ITEMWISE_FORM_BY_FUNCTION["all"] = _consumer(builtins.all)(_quantifier(deciding_truth=False))


def _apply_to_list(function: Callable[..., Any], items: Any, kwargs: dict[str, Any]) -> Any:
    """Apply the builtin to the list of all items."""
    previous_override = _PREVIOUS_OVERRIDES[function]
    if items_of(items) is not None:
        return _apply_to_staged_list(function, items, kwargs)
    needs_graph = heap_of(items) is not None or (function not in _CLASS_PRESERVING and holds_symbols(items))
    if needs_graph and has_objects_in_graph():
        return apply_object(function.__name__, items, *kwargs.values(), keywords=tuple(kwargs))
    return plain_call(previous_override, (list.__iter__(items),), kwargs)


def plain_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the function at trace time; an error on arguments without symbolic values is one of the program."""
    try:
        return bind_iterator(traced_result(function(*args, **kwargs)))
    except Exception as error:
        has_known_arguments = not holds_symbols((*args, *kwargs.values()))
        if has_known_arguments and not has_passed_program(error):
            as_program_error(error)
        raise


def _apply_to_staged_list(function: Callable[..., Any], items: Any, kwargs: dict[str, Any]) -> Any:
    """Apply the builtin to the list of all items, which tensor lists represent in the graph."""
    if function is builtins.sorted:
        items = items.copy()
        items.sort(**kwargs)
        return items
    if function in (builtins.min, builtins.max) and not kwargs:
        return items_of(items).reduce(f"reduce_{function.__name__}")
    raise StagingError(
        f"{function.__name__}() takes a list whose length is known only at run time", current_place(),
        "a loop over the list, or autoconv.stack(list)",
    )  # fmt: skip


_CONSUMERS: tuple[Any, ...] = (tuple, frozenset, dict, sorted, min, max)
_PREVIOUS_OVERRIDES = {function: OVERRIDES.get(function, function) for function in _CONSUMERS}
# Those of these builtins that keep the classes of numbers if the number of items is known.
_CLASS_PRESERVING = frozenset({tuple, min, max})

for _function in _PREVIOUS_OVERRIDES:
    _consumer(_function)(
        lambda iterable, _function=_function, **kwargs: _apply_to_list(_function, collect_list(iterable), kwargs)
    )
_consumer(builtins.list)(lambda iterable: collect_list(iterable))
_consumer(builtins.set)(lambda iterable: collect_set(iterable))


def _next(iterator: object, *default: Any) -> Any:
    """`next(iterator)`; for a generator expression, a graph loop that is left after its first value."""
    if type(iterator) is not TracedGenerator:
        return STATEMENT_OVERRIDES[builtins.next](iterator, *default)
    if iterator.is_generator_call:
        result = _next_in_python(iterator, default)
        if result is not _TENSOR_DECIDES:
            return result
    default_value = default[0] if default else Undefined("next")
    names = ("next", "its end")
    result, exit_code = for_source(
        iterator, lambda item, *_: (item, BREAK), (default_value, NORMAL), names, exit="its end"
    )
    if not default:
        if_stmt(exit_code == NORMAL, _raise_stop_iteration)
    return ld(result)


_TENSOR_DECIDES = object()  # result of `_next_in_python` if a tensor decides control flow before the next value


def _next_in_python(iterator: TracedGenerator, default: tuple[Any, ...]) -> Any:
    """Advance a generator function in Python; give up if a tensor decides control flow before its next value."""
    is_first_step = iterator.is_unstarted
    speculation = Attempt()
    refusal_before = speculation.region.trace.refusal
    try:
        result = builtins.next(iterator, *default)
    except StagingError:
        if not is_first_step:
            speculation.keep()
            raise
        speculation.undo()
        speculation.region.trace.refusal = refusal_before
        iterator.reset()
        return _TENSOR_DECIDES
    except BaseException:
        speculation.keep()
        raise
    speculation.keep()
    return result


def _raise_stop_iteration() -> NoReturn:
    raise StopIteration


OVERRIDES[builtins.next] = _next


def extend(items: Any, iterable: object) -> None:
    """Run `items.extend(iterable)` by a loop that appends the items one by one."""

    def body(item: object) -> tuple[()]:
        items.append(item)
        return ()

    for_source(iterable, body)


def wrap_extend(method: Any) -> Callable[..., Any]:
    """Wrap the method `extend` of a traced list.

    Items of iterators and elements of vectors are appended one by one, so that the list may hold its numbers unboxed. A
    list of symbolic length is appended as a whole, even to itself.
    """

    def run(*args: Any) -> Any:
        is_list_or_misfit = len(args) != 1 or items_of(args[0]) is not None
        if is_list_or_misfit or not (is_deferred(args[0]) or _is_vector(args[0])):
            return method(*args)
        return extend(method.__self__, args[0])

    return run


def _is_vector(iterable: object) -> bool:
    return type(iterable) is SymbolicArray and iterable.ndim == 1 and is_symbolic_iterable(iterable)


def _is_only_in_graph(iterable: object) -> bool:
    """Return whether Python cannot iterate over the value while tracing, as its items are known only at run time."""
    return current_region() is not None and (
        type(iterable) in (TracedGenerator, SymbolicObject)
        or (type(iterable) in TRACED_TO_PLAIN and heap_of(iterable) is not None)
        or makes_stream(iterable)
    )


def _map_in_graph(function: Callable[..., Any], *iterables: Any) -> Any:
    """Return `map(function, *iterables)` over symbolic iterables as a traced generator."""
    if len(iterables) == 1:
        return generator(iterables[0], lambda item: convert_callback(function)(item))
    if any(type(iterable) is TracedGenerator for iterable in iterables):
        return _previous_map(function, *iterables)
    tuples = apply_object("zip", *iterables)
    return generator(tuples, lambda *items: convert_callback(function)(*items), into=_target_names(len(iterables)))


def _target_names(count: int) -> str:
    return ", ".join(f"item_{number}" for number in range(count))


def _filter(function: Callable[..., Any], iterable: object) -> Any:
    """Return `filter(function, iterable)` of a symbolic iterable or predicate as a traced generator."""
    test = (lambda item: item) if function is None else (lambda item: convert_callback(function)(item))
    return generator(iterable, lambda item: item, test)


_previous_zip = OVERRIDES[builtins.zip]


def _zip(*iterables: Any, strict: bool = False) -> Any:
    """Return `zip(*iterables)`; with a staged range and an iterable not read by position, a zip object of the graph."""
    zip_loop = None if strict else lazy_zip(*iterables)
    if zip_loop is not None:
        return zip_loop
    staged_ranges = [iterable for iterable in iterables if type(iterable) is StagedRange]
    other_iterables = [iterable for iterable in iterables if type(iterable) is not StagedRange]
    can_be_boxed = all(map(_can_be_boxed, other_iterables))
    has_unstaged = any(as_staged(x) is None for x in other_iterables)
    if staged_ranges and has_unstaged and can_be_boxed and has_objects_in_graph():
        return apply_object("zip", *iterables, strict, keywords=("strict",))
    return _previous_zip(*iterables, strict=strict)


def _can_be_boxed(iterable: object) -> bool:
    return type(iterable) in (str, bytes, list, tuple, dict, set, frozenset, range, *TRACED_TO_PLAIN)


OVERRIDES[builtins.zip] = _zip
_previous_enumerate = OVERRIDES[builtins.enumerate]


def _enumerate(iterable: object, start: object = 0) -> Any:
    return lazy_enumerate(iterable, start) or _previous_enumerate(iterable, start)


def _zip_in_graph(*iterables: Any) -> Any:
    return lazy_zip(*iterables) or apply_object("zip", *map(_reverse_in_graph, iterables))


def _reverse_in_graph(iterable: object) -> Any:
    """Turn `reversed(a list known at trace time)` into an iterator of the graph; return others unchanged."""
    owner = iterable.take_reversed() if type(iterable) is HeldIterator else None
    return iterable if owner is None else apply_object("reversed", owner)


OVERRIDES[builtins.enumerate] = _enumerate
_previous_map = OVERRIDES[builtins.map]


def _map(function: Callable[..., Any], *iterables: Any) -> Any:
    if any(map(_is_only_in_graph, iterables)) or (has_objects_in_graph() and len(iterables) == 1):
        return _map_in_graph(function, *iterables)
    return _previous_map(function, *iterables)


OVERRIDES[builtins.map] = _map
OVERRIDES[builtins.filter] = _filter
OVERRIDES.update({builtin: dispatch_by_class(builtin, OVERRIDES[builtin]) for builtin in CLASS_DISPATCHED})
# Builtins for graph objects that the graph does not implement under their own names.
GRAPH_ONLY_BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.map: _map, builtins.filter: _filter, builtins.zip: _zip_in_graph,
}  # fmt: skip
