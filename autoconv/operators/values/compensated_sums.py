"""Sums of Python's floats: from Python 3.12 on, `sum` adds the rounding errors of its additions at the end."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from autoconv.graph.dtypes import DType
from autoconv.graph.python_operators import SUM_COMPENSATES
from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.operators.values.numbers import is_compiled
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import weak_dtype
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def add_compensated(item: Any, total: Any, compensation: object) -> tuple[Any, Any]:
    """Return the total with an item, and the compensation with the rounding error of that addition.

    Only additions of two of Python's floats have an error that counts (by A. Neumaier's algorithm).
    """
    if Variant in (type(item), type(total), type(compensation)):
        return tuple(distribute(add_compensated, item, total, compensation))  # type: ignore[return-value]
    total_dtype, item_dtype = _dtype_of_number(total), _dtype_of_number(item)
    if item_dtype is None:
        return compensated_total(total, compensation) + item, 0.0
    result = total + item
    if total_dtype is None or not (total_dtype.is_floating and item_dtype.is_floating):
        return result, compensation
    is_total_larger = abs(total) >= abs(item)
    error = _select(is_total_larger, (total - result) + item, (item - result) + total)
    return result, error + compensation


def compensated_total(total: Any, compensation: object) -> Any:
    """Return the total with its compensation, unless that is zero, infinite or NaN."""
    if Variant in (type(total), type(compensation)):
        return distribute(compensated_total, total, compensation)
    dtype = _dtype_of_number(total)
    if dtype is None or not dtype.is_floating:
        return total
    is_counted = compensation != 0.0
    if isinstance(compensation, SymbolicTensor):
        is_counted = dispatch.apply("logical_and", is_counted, compensation - compensation == 0.0)
    return _select(is_counted, total + compensation, total)


def sum_of_items(iterable: Iterable[Any], start: object) -> Any:
    """Return `sum` of known items, some of which may be numbers known only at run time."""
    total: Any = start
    is_known = type(iterable) in (list, tuple) and not holds_symbols((*iterable, start))
    if not SUM_COMPENSATES or is_known or not is_compiled() or isinstance(start, (str, bytes, bytearray)):
        return builtins.sum(iterable, total)
    compensation = 0.0
    has_numbers_only = True
    for item in iterable:
        has_numbers_only &= type(total) is Variant or _dtype_of_number(total) is not None
        if has_numbers_only:
            total, compensation = add_compensated(item, total, compensation)
        else:
            total = total + item  # not in place
    return compensated_total(total, compensation)


def _dtype_of_number(value: object) -> DType | None:
    """Return the dtype of a number of Python's, known or in the graph; None for other values."""
    if isinstance(value, SymbolicTensor):
        return value.dtype if value.weak and value.type.shape == () else None
    return weak_dtype(value) if type(value) in (bool, int, float) else None


def _select(condition: object, x: object, y: object) -> Any:
    """Return `x` where the condition holds, else `y`; both are computed."""
    return (x if condition else y) if isinstance(condition, bool) else dispatch.apply("select", condition, x, y)
