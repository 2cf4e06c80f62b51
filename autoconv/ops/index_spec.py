"""Index specs: the entries of an index in `x[index]`, and their operands.

`parse_index` returns a hashable `spec`, one `Entry` per item of the index, and the operands that its dynamic entries
take in order. `align` pairs the entries with the dimensions that they index.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np

from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import as_dtype
from autoconv.lazy_dataclass import dataclass

INPUT = "input"  # stands for a number of an entry that is an operand
_MIN_BOUND, _MAX_BOUND = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of an index."""

    dimension_count: ClassVar[int] = 0  # the dimensions that the entry indexes; unused for `Mask` and `Rest`

    @property
    def parts(self) -> tuple[Any, ...]:
        """The numbers of the entry: integers, symbolic sizes, None for a default, or INPUT."""
        return ()

    @property
    def operand_count(self) -> int:
        """The number of operands that the entry takes."""
        return self.parts.count(INPUT)

    def with_operands(self, operands: Iterable[Any]) -> tuple[Any, ...]:
        """Return the parts, each INPUT replaced by the next operand."""
        remaining_operands = iter(operands)
        return tuple(next(remaining_operands) if part == INPUT else part for part in self.parts)


@attribute_class
@dataclass(frozen=True, slots=True)
class At(Entry):
    """A single position; its dimension is dropped."""

    dimension_count: ClassVar[int] = 1
    index: Any

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self.index,)


@attribute_class
@dataclass(frozen=True, slots=True)
class Slice(Entry):
    """A slice; start, stop and step are integers, symbolic sizes, None, or INPUT."""

    dimension_count: ClassVar[int] = 1
    start: Any = None
    stop: Any = None
    step: Any = None

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.start, self.stop, self.step

    @property
    def is_whole(self) -> bool:
        """True if the slice takes all of its dimension, in order."""
        return self.start in (None, 0) and self.stop is None and self.step in (None, 1)


@attribute_class
@dataclass(frozen=True, slots=True)
class Gather(Entry):
    """An array of positions: takes an operand of integers, of any shape."""

    dimension_count: ClassVar[int] = 1

    @property
    def operand_count(self) -> int:
        return 1


@attribute_class
@dataclass(frozen=True, slots=True)
class Mask(Entry):
    """A mask: takes an operand of bools, with as many dimensions as it indexes."""

    @property
    def operand_count(self) -> int:
        return 1


@attribute_class
@dataclass(frozen=True, slots=True)
class NewAxis(Entry):
    """A new dimension of size 1."""


@attribute_class
@dataclass(frozen=True, slots=True)
class Rest(Entry):
    """The dimensions that no other entry indexes (Python's ellipsis)."""


Spec = tuple[Entry, ...]


class AlignedEntry(NamedTuple):
    """An entry with its operands, the first dimension that it indexes, and the number of those dimensions."""

    entry: Entry
    operands: tuple[Any, ...]
    axis: int
    width: int


def align(
    spec: Spec, rank: int, operands: Iterable[Any] = (), rank_of: Callable[[Any], int] = np.ndim
) -> list[AlignedEntry]:
    """Pair the entries of an index with the dimensions of an array; a missing `Rest` is added at the end.

    `operands` may be left out if the index has no masks; then the entries have no operands. `rank_of` gives the rank of
    a mask's operand. The width of `Rest` is negative if there are more entries than dimensions.
    """
    remaining_operands = iter(operands)
    entries = spec if any(isinstance(entry, Rest) for entry in spec) else (*spec, Rest())
    pairs = [(entry, tuple(islice(remaining_operands, entry.operand_count))) for entry in entries]
    widths = [
        rank_of(entry_operands[0]) if isinstance(entry, Mask) else entry.dimension_count
        for entry, entry_operands in pairs
    ]
    rest_width, axis = rank - sum(widths), 0
    result: list[AlignedEntry] = []
    for (entry, entry_operands), width in zip(pairs, widths, strict=True):
        width = rest_width if isinstance(entry, Rest) else width
        result.append(AlignedEntry(entry, entry_operands, axis, width))
        axis += width
    return result


def indexed_rank(aligned_entries: Iterable[AlignedEntry]) -> int:
    """Return the number of dimensions that the entries other than `Rest` index."""
    return sum(aligned.width for aligned in aligned_entries if not isinstance(aligned.entry, Rest))


def is_basic(spec: Spec) -> bool:
    """Return whether an index has neither arrays of positions nor masks, so that it selects a view."""
    return not any(isinstance(entry, (Gather, Mask)) for entry in spec)


def has_only_kinds(spec: Spec, *kinds: type[Entry]) -> bool:
    """Return whether an index consists of entries of these kinds, without slices whose bounds are operands."""
    return all(
        isinstance(entry, kinds) and not (isinstance(entry, Slice) and entry.operand_count) for entry in spec
    )


def parse_index(index: Any, is_tensor: Callable[[Any], bool]) -> tuple[Spec, list[Any]]:
    """Return the spec of an index, and its operands: tensors, arrays and numbers, in the order of the spec.

    Raises IndexError for a second Ellipsis and TypeError for invalid items.
    """
    items = index if isinstance(index, tuple) else (index,)
    operands: list[Any] = []
    spec = tuple(_parse_item(item, is_tensor, operands) for item in items)
    if sum(isinstance(entry, Rest) for entry in spec) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    return spec, operands


def _parse_item(item: Any, is_tensor: Callable[[Any], bool], operands: list[Any]) -> Entry:
    """Return the entry of one item of an index; append its operands to `operands`."""
    if item is None:
        return NewAxis()
    if item is Ellipsis:
        return Rest()
    if isinstance(item, slice):
        return Slice(*(_parse_bound(bound, is_tensor, operands) for bound in (item.start, item.stop, item.step)))
    if is_tensor(item):
        return _parse_tensor(item, operands)
    if isinstance(item, (list, tuple)) and _has_tensor(item, is_tensor):
        operands.append(item)
        return Mask() if _is_mask(item, is_tensor) else Gather()
    if isinstance(item, (bool, np.bool_, list, tuple, np.ndarray)):
        return _parse_array(np.asarray(item), operands)
    try:
        return At(operator.index(item))
    except TypeError:
        if isinstance(item, (float, complex, str, bytes)):
            raise NotAnIndex(_INVALID_INDEX + type(item).__name__, IndexError(NUMPY_INDEX_MESSAGE)) from None
        raise TypeError(_INVALID_INDEX + type(item).__name__) from None


def _parse_tensor(item: Any, operands: list[Any]) -> Entry:
    """Return the entry of a tensor: `At` for an integer scalar, `Mask` for bools, else `Gather`."""
    dtype = as_dtype(item.dtype)
    if not (dtype.is_integer or dtype.is_bool):
        raise NotAnIndex(f"{_INVALID_INDEX}a {dtype.name} tensor")
    operands.append(item)
    if dtype.is_bool:
        return Mask()
    return At(INPUT) if _rank(item) == 0 else Gather()


def _rank(tensor: Any) -> int | None:
    """Return the rank of a tensor; None if unknown."""
    shape = tensor.shape
    if shape is None:
        return None
    rank: int | None = shape.rank if hasattr(shape, "rank") else len(shape)
    return rank


def _parse_array(array: np.ndarray, operands: list[Any]) -> Entry:
    """Return the entry of an array: `At` for an integer scalar, `Mask` for bools, else `Gather`."""
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # an empty list, which NumPy takes as floats
    if array.dtype.kind not in "iub":
        raise TypeError(f"{_INVALID_INDEX}an array of {array.dtype}")
    if array.ndim == 0 and array.dtype.kind != "b":
        return At(int(array))
    operands.append(array)
    return Mask() if array.dtype.kind == "b" else Gather()


def _parse_bound(bound: Any, is_tensor: Callable[[Any], bool], operands: list[Any]) -> Any:
    """Return a bound of a slice: an integer, None, or INPUT for a tensor, which is appended to `operands`."""
    if bound is None:
        return None
    if is_tensor(bound):
        if not as_dtype(bound.dtype).is_integer:
            raise NotAnIndex(f"slice bounds have to be integers, found a {as_dtype(bound.dtype).name} tensor")
        operands.append(bound)
        return INPUT
    try:
        return max(_MIN_BOUND, min(operator.index(bound), _MAX_BOUND))  # clamped like the bounds of Python's slices
    except TypeError:
        raise TypeError(f"slice bounds have to be integers or None, found {type(bound).__name__}") from None


def _is_mask(nested_list: Any, is_tensor: Callable[[Any], bool]) -> bool:
    """Return whether all leaves of a list are bools; among integers, bools count as the positions 0 and 1."""
    dtypes = [leaf.dtype if is_tensor(leaf) else np.asarray(leaf).dtype for leaf in _leaves(nested_list)]
    kinds = {as_dtype(dtype).numpy.kind for dtype in dtypes}
    if not kinds <= set("iub"):
        raise NotAnIndex(f"{_INVALID_INDEX}a list", IndexError(NUMPY_INDEX_MESSAGE))
    return kinds == {"b"}


def _leaves(items: Any) -> Iterator[Any]:
    """Yield the items of nested lists and tuples."""
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


def _has_tensor(items: Any, is_tensor: Callable[[Any], bool]) -> bool:
    """Return whether nested lists contain a tensor."""
    return any(is_tensor(leaf) for leaf in _leaves(items))


class NotAnIndex(TypeError):
    """An invalid index; `numpy_error` is NumPy's error for the index, None for a tensor, which NumPy cannot get."""

    def __init__(self, message: str, numpy_error: Exception | None = None) -> None:
        super().__init__(message)
        self.numpy_error = numpy_error


NotAnIndex.__name__ = "TypeError"  # programs that print the error's class see TensorFlow's

_INVALID_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or boolean arrays and tensors are "
    "valid indices, found "
)
NUMPY_INDEX_MESSAGE = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)
SLICE_INDEX_MESSAGE = "slice indices must be integers or None or have an __index__ method"
