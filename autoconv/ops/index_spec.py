"""Parse Python's x[index] into a spec and its operands.

`parse_index` returns a hashable `spec`, one entry per item of the index, and the
operands that its dynamic entries take in order. The entries are

    ("int", k)                    an integer; ("int", INPUT) takes a scalar operand
    ("slice", start, stop, step)  each an integer, None, or INPUT for a scalar operand
    ("ellipsis",)  ("newaxis",)
    ("array",)                    takes an operand of integers, of any shape
    ("mask",)                     takes an operand of bools, as many dimensions as it covers
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype

INPUT = "input"
_FIRST, _LAST = -(2**63), 2**63 - 1
Spec = tuple[tuple[Any, ...], ...]


def parse_index(index: Any, is_tensor: Callable[[Any], bool]) -> tuple[Spec, list[Any]]:
    """Return the spec of an index, and its operands: tensors, arrays and numbers, in the order of the spec.

    Raises IndexError for a second Ellipsis and TypeError for invalid items.
    """
    items = index if isinstance(index, tuple) else (index,)
    operands: list[Any] = []
    spec = tuple(_parse_item(item, is_tensor, operands) for item in items)
    if sum(entry[0] == "ellipsis" for entry in spec) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    return spec, operands


def _parse_item(item: Any, is_tensor: Callable[[Any], bool], operands: list[Any]) -> tuple[Any, ...]:
    if item is None:
        return ("newaxis",)
    if item is Ellipsis:
        return ("ellipsis",)
    if isinstance(item, slice):
        return ("slice", *(_parse_bound(b, is_tensor, operands) for b in (item.start, item.stop, item.step)))
    if is_tensor(item):
        return _parse_tensor(item, operands)
    if isinstance(item, (list, tuple)) and _contains(item, is_tensor):
        operands.append(item)
        return ("mask",) if _are_bools(item, is_tensor) else ("array",)
    if isinstance(item, (bool, np.bool_, list, tuple, np.ndarray)):
        return _parse_array(np.asarray(item), operands)
    try:
        return ("int", operator.index(item))
    except TypeError:
        if isinstance(item, (float, complex, str, bytes)):
            raise NotAnIndex(_ALLOWED + type(item).__name__, IndexError(SAID_BY_NUMPY)) from None
        raise TypeError(_ALLOWED + type(item).__name__) from None


def _parse_tensor(item: Any, operands: list[Any]) -> tuple[Any, ...]:
    dtype = as_dtype(item.dtype)
    if not (dtype.is_integer or dtype.is_bool):
        raise NotAnIndex(f"{_ALLOWED}a {dtype.name} tensor")
    operands.append(item)
    if dtype.is_bool:
        return ("mask",)
    return ("int", INPUT) if _rank(item) == 0 else ("array",)


def _rank(tensor: Any) -> int | None:
    shape = tensor.shape
    return shape.rank if hasattr(shape, "rank") else None if shape is None else len(shape)


def _parse_array(array: np.ndarray, operands: list[Any]) -> tuple[Any, ...]:
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{_ALLOWED}an array of {array.dtype}")
    if array.ndim == 0 and array.dtype.kind != "b":
        return ("int", int(array))
    operands.append(array)
    return ("mask",) if array.dtype.kind == "b" else ("array",)


def _parse_bound(bound: Any, is_tensor: Callable[[Any], bool], operands: list[Any]) -> Any:
    if bound is None:
        return None
    if is_tensor(bound):
        if not as_dtype(bound.dtype).is_integer:
            raise NotAnIndex(f"slice bounds have to be integers, found a {as_dtype(bound.dtype).name} tensor")
        operands.append(bound)
        return INPUT
    try:
        return max(_FIRST, min(operator.index(bound), _LAST))  # clamped like the bounds of Python's slices
    except TypeError:
        raise TypeError(f"slice bounds have to be integers or None, found {type(bound).__name__}") from None


def _are_bools(items: Any, is_tensor: Callable[[Any], bool]) -> bool:
    """Return whether a list of numbers and tensors is a mask; bools among integers are positions."""
    dtypes = [leaf.dtype if is_tensor(leaf) else np.asarray(leaf).dtype for leaf in _leaves(items)]
    kinds = {as_dtype(dtype).numpy.kind for dtype in dtypes}
    if not kinds <= set("iub"):
        raise NotAnIndex(f"{_ALLOWED}a list", IndexError(SAID_BY_NUMPY))
    return kinds == {"b"}


def _leaves(items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


def _contains(items: Any, is_tensor: Callable[[Any], bool]) -> bool:
    return any(is_tensor(leaf) for leaf in _leaves(items))


class NotAnIndex(TypeError):
    """An invalid index; `plain` is NumPy's error for it, None for a tensor, which has no value in NumPy."""

    def __init__(self, message: str, plain: Exception | None = None) -> None:
        super().__init__(message)
        self.plain = plain


_ALLOWED = (
    "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or boolean arrays and tensors are "
    "valid indices, found "
)
SAID_BY_NUMPY = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)
SAID_OF_SLICES = "slice indices must be integers or None or have an __index__ method"


def with_operands(spec: Spec, operands: Any) -> Iterator[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
    """Iterate over (kind, static parts, operands) of each entry."""
    left = iter(operands)
    for kind, *static in spec:
        count = 1 if kind in ("array", "mask") else static.count(INPUT)
        yield kind, tuple(static), tuple(next(left) for _ in range(count))
