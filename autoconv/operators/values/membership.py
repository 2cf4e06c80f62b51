"""The operators `in` and `not in`."""

from __future__ import annotations

import functools
from typing import Any

from autoconv.operators.control.conditionals import (
    and_,
    if_stmt,
    is_staged,
    not_,
    or_,
    python_truth,
    truth,
    user_defined_method,
)
from autoconv.operators.control.iterables import StagedRange
from autoconv.operators.control.loops import for_source
from autoconv.operators.control.optional_keys import has_key
from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.generator_expressions import TracedGenerator
from autoconv.operators.support.protected_names import BREAK, NORMAL
from autoconv.operators.values.comparisons import is_same_or_equal, kind_of_number, may_compare_at_run_time, plain_items
from autoconv.runtime.objects.containers import has_optional_keys, heap_of, items_of
from autoconv.runtime.objects.number_methods import refuse_scalar
from autoconv.runtime.objects.object_conversions import truth_of
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def in_(item: Any, container: Any) -> Any:
    """`item in container`; the result is a tensor if one of the two is."""
    region = current_region()
    if region is None:
        return _test_untraced(item, container)
    if type(item) is Variant or type(container) is Variant:
        return distribute(in_, item, container)
    if region.contract.objects_in_graph:
        result = _test_in_graph(item, container)
        if result is not None:
            return result
        if user_defined_method(container, "__iter__") is not None and not hasattr(type(container), "__contains__"):
            container = tuple(container)
    if items_of(container) is not None:
        return container.count(item) > 0
    if has_optional_keys(container):
        return has_key(container, item)
    method = user_defined_method(container, "__contains__")
    if method is not None:
        result = method(container, item)
        return truth(result) if is_staged(result) or region.contract.python_numbers else bool(result)
    refuse_scalar(container, "argument of type {!r} is not iterable")
    if as_tensor(container) is not None:
        equal = binary_dispatch.binary("equal", container, item)
        result = dispatch.apply("reduce_any", equal, axis=None, keepdims=False)
        return python_truth(result) if _is_symbolic(item) or _is_symbolic(container) else bool(result)
    if isinstance(container, (list, tuple)) and may_compare_at_run_time((item, *plain_items(container))):
        return _is_member(item, plain_items(container), 0)
    if isinstance(container, (set, frozenset, range, dict)) and _is_symbolic(item):
        return _is_member(item, tuple(container), 0)
    return item in container


def not_in(item: object, container: object) -> Any:
    """`item not in container`; the result is a tensor if one of the two is."""
    return not_(in_(item, container))


def _test_in_graph(item: Any, container: Any) -> Any:
    """Return whether a container has the item, if the graph has to search the container; else None."""
    if type(item) is SymbolicObject or type(container) is SymbolicObject or heap_of(container) is not None:
        return truth_of(apply_object("contains", container, item))
    if type(container) in (range, StagedRange) and (_is_symbolic(item) or type(container) is StagedRange):
        return _test_in_range(item, container)
    if isinstance(container, (dict, set, frozenset, str, bytes)) and holds_symbols((item, container)):
        return truth_of(apply_object("contains", container, item))
    return _test_in_generator(item, container) if type(container) is TracedGenerator else None


def _test_untraced(item: Any, container: Any) -> Any:
    """`item in container` while no thread traces; a tensor contains a number that equals one of its elements."""
    if as_tensor(container) is None:
        return item in container
    equal = binary_dispatch.binary("equal", container, item)
    return bool(dispatch.apply("reduce_any", equal, axis=None, keepdims=False))


def _test_in_range(item: Any, numbers: range | StagedRange) -> Any:
    """Test membership in a range; for real numbers by arithmetic, in constant time."""
    step = numbers.step
    if not isinstance(step, int) or kind_of_number(item) not in ("bool", "int", "float"):
        return truth_of(apply_object("contains", numbers, item))
    item = item + 0  # a bool becomes an int
    is_after_start = numbers.start <= item if step > 0 else item <= numbers.start
    is_before_stop = item < numbers.stop if step > 0 else numbers.stop < item
    return and_(is_after_start, lambda: and_(is_before_stop, lambda: (item - numbers.start) % step == 0))


def _is_symbolic(x: object) -> bool:
    return isinstance(x, (SymbolicTensor, Variant))


def _is_member(item: object, candidates: tuple[Any, ...], position: int) -> Any:
    """Return whether a candidate from that position on is or equals the item; evaluation stops at the first match."""
    while position < len(candidates):
        is_same = is_same_or_equal(candidates[position], item)
        position += 1
        if is_staged(is_same):
            return or_(python_truth(is_same), functools.partial(_is_member, item, candidates, position))
        if is_same:
            return True
    return False


def _test_in_generator(item: object, values: TracedGenerator) -> Any:
    """Return whether a generator yields the item; it is advanced no further after a match."""

    def body(other: object, *state: Any) -> Any:
        return if_stmt(is_same_or_equal(other, item), lambda *_: (True, BREAK), lambda *state: state, state, names)

    names = ("in", "its end")
    is_found, _ = for_source(values, body, (False, NORMAL), names, exit="its end")
    return is_found
