"""The kinds of objects in the analysis of lists and dicts: numbers, tuples, containers, iterators."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.graph.dtypes import DType, bfloat16, bool_, float16, float64, int64, uint64
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType, TupleType, number_type
from autoconv.ops.python.objects import constant_of

INT, FLOAT, BOOL = (number_type(dtype) for dtype in (int64, float64, bool_))
LIST, DEQUE = "list", "deque"  # of numbers, or of tuples of numbers
DICT, SET, COUNTER = "dict", "set", "Counter"  # with ints or tuples of ints as keys, and such items as values
SLICE, RANGE = "slice", "range"
CURSOR = "cursor"  # an iterator over a list of numbers
INNER_LIST_CURSOR = "inner list cursor"  # an iterator over a list of lists
ENUMERATE = "enumerate"  # an `enumerate` of a list of numbers
PAIRS = "pairs"  # the iterator that a loop over an `enumerate` makes
PAIR = "pair"  # an item of an `enumerate`: (index, number)
OTHER = "other"  # a value of no kind above, or of several kinds
# The kind of the value that a dict has for a missing key: a defaultdict inserts it, a Counter does not.
DEFAULT_DICTS = {"defaultdict(int)": INT, "defaultdict(float)": FLOAT, "defaultdict(bool)": BOOL}
LIST_DICT = "defaultdict(list)"
DICTS = (DICT, COUNTER, LIST_DICT, *DEFAULT_DICTS)
RETURNED = (LIST, SET, *DICTS)  # containers that may be results
CONTAINERS = (DEQUE, *RETURNED)
ROW = TensorType(int64)  # in an entry of a dict of lists, the position of the list among the dict's lists
ENTRY = "entry"  # a pair of a key and a list that an iteration over `items()` yields


class DictPart(NamedTuple):
    """The kind of a view of a dict, or of an iterator over a dict or set."""

    part: str  # "items", "keys" or "values"; "set" for the keys of a set
    is_iterator: bool


class Zip(NamedTuple):
    """The kind of a zip of lists, given by their alias classes, or of an iterator over one."""

    list_classes: tuple[Any, ...]
    is_iterator: bool


# The kind of a number is a TensorType, and that of a tuple of numbers a TupleType. None is the kind of a value before
# any definition of it has been found.
Kind = TensorType | TupleType | DictPart | Zip | str | None


def is_number(kind: Any) -> bool:
    """Return whether the kind is that of numbers that a typed list can hold: Python's, or NumPy's of most dtypes."""
    if not isinstance(kind, TensorType) or kind.shape != ():
        return False
    if kind.weak:
        return kind in (INT, FLOAT, BOOL)
    dtype = kind.dtype
    return dtype.is_bool or dtype.is_integer or (dtype.is_floating and dtype not in (float16, bfloat16))


def is_item(kind: Kind) -> bool:
    """Return whether the kind is immutable and can be an item of a typed list: a number, or a tuple of numbers."""
    return isinstance(kind, TupleType) or is_number(kind)


def is_none(value: Value) -> bool:
    """Return whether the value is the constant None."""
    return value.node is not None and value.node.op.name == "object_constant" and constant_of(value) is None


def is_index(kind: Any) -> bool:
    """Return whether numbers of the kind can be indices of typed lists; those of uint64 may be too large."""
    return is_number(kind) and (fits_int64(kind.dtype) or kind == BOOL)


def fits_int64(dtype: DType) -> bool:
    """Return whether int64 holds each number of the dtype exactly."""
    return dtype.is_integer and dtype is not uint64


def is_python_number(kind: Any) -> bool:
    """Return whether the kind is that of a Python number."""
    return kind in (INT, FLOAT, BOOL)
