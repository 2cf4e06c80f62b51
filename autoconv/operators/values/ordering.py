"""max, min and sorted on tensors and arrays."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import as_dtype
from autoconv.operators.control.conditionals import if_exp, is_staged
from autoconv.operators.control.iterables import leading_dimension
from autoconv.operators.control.variants import raise_if
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.overrides import OVERRIDES, overrides
from autoconv.operators.values.builtins import convert_callback, is_array, is_weak, iterated_tensor, refuse_rows
from autoconv.operators.values.comparisons import gt, lt
from autoconv.operators.values.numbers import is_compiled, value_of
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.objects.containers import trace_container
from autoconv.runtime.objects.symbolic_objects import apply_object, is_object
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import weak_dtype
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def _extreme_override(name: str, op: str, reduction: str) -> Callable[..., Any]:
    """Return max() or min(); `op` compares two tensors, `reduction` the elements of one."""
    python_function = getattr(builtins, name)

    def choose(x: Any, y: Any) -> Any:
        """Return `max(x, y)` or `min(x, y)`."""
        # As in Python, max(x, y) is x unless y is greater, also for NaN.
        is_better = y > x if name == "max" else y < x
        if not is_compiled() and not (is_weak(x) and is_weak(y)) and isinstance(is_better, Tensor):
            return dispatch.apply(op, x, y)
        is_selected = isinstance(is_better, Tensor) and is_better.type.shape == () and _are_of_one_kind(x, y)
        return dispatch.apply("select", is_better, y, x) if is_selected else if_exp(is_better, lambda: y, lambda: x)

    def extreme(*args: Any, key: Any = None, **default: Any) -> Any:
        """`max(…)` or `min(…)`."""
        args = tuple(map(value_of, args))
        if key is not None:
            return extreme_by_key(name, args[0] if len(args) == 1 else args, key, **default)
        if default and len(args) == 1:
            items = tuple(itertools.chain(args[0]))  # without a call of `__len__`, as in Python
            return extreme(items) if items else python_function(items, **default)
        if default:
            return python_function(*args, **default)  # raises Python's own error
        if len(args) == 1:
            tensor = iterated_tensor(args[0])
            if tensor is not None and current_region() is not None:
                refuse_rows(name, tensor)
                return _extreme_item(tensor, name, reduction)
            args = tuple(itertools.chain(args[0]))
        if any(map(is_object, args)) and is_compiled():
            return apply_object(name, *args) if len(args) > 1 else args[0]
        if not any(isinstance(argument, (SymbolicTensor, Variant)) for argument in args):
            return python_function(args)
        result = args[0]
        for other in args[1:]:
            result = choose(result, other)
        return result

    return extreme


def extreme_by_key(name: str, iterable: Any, key: Callable[[Any], Any], **default: Any) -> Any:
    """Return max() or min(), as `name` says, of items of known number by a key function, called once for each item."""
    items = list(itertools.chain(iterable))  # which, as max() and min(), does not call `__len__`
    if not items:
        return getattr(builtins, name)(items, **default)
    compare, key_function = lt if name == "min" else gt, convert_callback(key)

    def choose(best: Any, candidate: Any) -> Any:
        """Return the better of two (key, item) pairs; `best` if their keys are equal."""
        is_better = compare(candidate[0], best[0])
        if not is_staged(is_better):
            return candidate if is_better else best
        return if_exp(is_better, lambda: candidate, lambda: best)

    return functools.reduce(choose, ((key_function(item), item) for item in items))[1]


def _extreme_item(tensor: Any, name: str, reduction: str) -> Any:
    """Return the extreme item as Python selects it: a later item replaces an earlier one only if it compares beyond it.

    A comparison with NaN is false. So NaN is the result if it comes first, and is skipped elsewhere.
    """
    size = leading_dimension(tensor)
    if not isinstance(size, int):
        raise_if(size == 0, _empty_error(name))
    elif not size:
        raise as_program_error(_empty_error(name))
    if not (is_array(tensor) and tensor.dtype.is_floating):
        return dispatch.apply(reduction, tensor, axis=(0,), keepdims=False)
    without_nans = dispatch.apply("select", tensor != tensor, -math.inf if name == "max" else math.inf, tensor)
    first_item = tensor[0]
    extreme = dispatch.apply(reduction, without_nans, axis=(0,), keepdims=False)
    return dispatch.apply("select", first_item != first_item, first_item, extreme)


def _empty_error(name: str) -> ValueError:
    """Return Python's error for an empty iterable."""
    try:
        getattr(builtins, name)(())
    except ValueError as error:
        return error.with_traceback(None)
    raise AssertionError(name)


def _are_of_one_kind(x: object, y: object) -> bool:
    """Return whether both are numbers of Python's, or both of NumPy's, and of one dtype."""
    return _dtype_of(x) is _dtype_of(y) and is_weak(x) == is_weak(y)


def _dtype_of(x: object) -> Any:
    """Return the dtype of a number or array."""
    if isinstance(x, Tensor):
        return x.type.dtype
    return as_dtype(x.dtype) if isinstance(x, (np.ndarray, np.generic)) else weak_dtype(x)


OVERRIDES[builtins.max] = _extreme_override("max", "maximum", "reduce_max")
OVERRIDES[builtins.min] = _extreme_override("min", "minimum", "reduce_min")


@overrides(builtins.sorted)
def _sort(iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    """`sorted` by an op for one tensor; symbolic keys of known number are compared pairwise."""
    tensor = iterated_tensor(iterable)
    if tensor is not None and key is None and is_array(tensor):
        refuse_rows("sorted", tensor)
        size = leading_dimension(tensor)
        is_short = isinstance(size, int) and size <= _COMPARISON_LIMIT and isinstance(reverse, int)
        if is_short and not (tensor.dtype.is_floating or tensor.dtype.is_complex):  # no NaN, and no zeros of two signs
            ordered = dispatch.apply("sort", tensor, axis=-1, descending=bool(reverse))
            return trace_container([ordered[i] for i in range(size)])
        return apply_object("sorted", iterable, reverse, keywords=("reverse",))  # a list of NumPy scalars
    if tensor is not None and key is None:
        return dispatch.apply("sort", tensor, axis=-1, descending=reverse)
    items = builtins.list(iterable)
    keys = items if key is None else builtins.list(builtins.map(convert_callback(key), items))
    if not any(isinstance(key, SymbolicTensor) for key in keys):
        order = builtins.sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        return [items[i] for i in order]
    if len(items) > _COMPARISON_LIMIT:
        raise StagingError(
            f"{len(items)} items are sorted by keys known only at run time", current_place(),
            "one tensor of the items, autoconv.sort(autoconv.stack(items))",
        )  # fmt: skip
    if any(isinstance(item, (list, dict, set)) for item in items):
        raise StagingError(
            "lists, dicts or sets are sorted by keys known only at run time, and the results would be copies",
            current_place(), "tuples, or the positions sorted by those keys",
        )  # fmt: skip
    return _sort_by_comparing(items, keys, reverse)


# Largest number of symbolic keys that are sorted by pairwise comparison.
_COMPARISON_LIMIT = 32


def _sort_by_comparing(items: list[Any], keys: list[Any], reverse: bool) -> list[Any]:
    """Return the items in the order of their keys, by bubble sort, which is stable."""
    pairs = [*zip(keys, items, strict=True)]
    for end in range(len(pairs) - 1, 0, -1):
        for i in range(end):
            first, second = pairs[i], pairs[i + 1]
            (first_key, _), (second_key, _) = first, second
            is_out_of_order = first_key < second_key if reverse else second_key < first_key
            swapped_pair, same_pair = (second, first), (first, second)
            pairs[i], pairs[i + 1] = if_exp(is_out_of_order, lambda: swapped_pair, lambda: same_pair)  # noqa: B023
    return [item for _, item in pairs]
