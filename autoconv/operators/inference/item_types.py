"""Guess the item types of lists, from the nodes recorded so far.

Each object has an example of each class of number that it may be, and a container the same for its items; a function
is applied to the examples. Data flow is followed through regions (Andersen, Program Analysis and Specialization for
the C Programming Language), and lists that may alias share one record of items. A list without known stores is
assumed to hold what all other lists hold, if those agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension, TensorType
from autoconv.operators.inference import transfer_functions as _item_rules  # noqa: F401 - registers them
from autoconv.operators.inference.points_to import Contents, Flow, root
from autoconv.runtime.recording.regions import Region

_DEEPEST = 8  # deepest nesting of lists that is examined; also ends cycles


def array_type(region: Region, value: Value) -> TensorType | None:
    """Return the probable type of `np.array` of a list or tuple, an object visible in the region being recorded.

    None if too little is known of its items, or if they have no common rank.
    """
    open_regions = []
    enclosing_region: Region | None = region
    while enclosing_region is not None:
        open_regions.append(enclosing_region)
        enclosing_region = enclosing_region.parent
    flow = Flow(region.trace, open_regions, (node for one in open_regions for node in one.graph.walk()))
    if not flow.is_known(value):
        # A region recorded earlier and about to be recorded again, e.g. a loop's body, shows the items it will store.
        all_regions = [region.trace.root, *region.trace.regions]
        flow = Flow(region.trace, all_regions, (node for one in all_regions for node in one.graph.nodes))
    return _array_type(flow, value)


def _array_type(flow: Flow, value: Value) -> TensorType | None:
    contents = flow.contents_of(value)
    if flow.is_known(value):
        return _as_type(_describe(contents, at_top=True))
    if contents.numbers or contents.arrays or (contents.others and not contents.elsewhere):
        return None
    filled = {_describe(flow.contents_of(one), at_top=True) for one in flow.filled if flow.is_known(one)}
    filled |= {_describe(one) for one in flow.appended.values()}
    return _as_type(filled.pop()) if len(filled) == 1 else None


_Described = tuple[np.dtype[Any], tuple[Dimension, ...]]


def _describe(contents: Contents, depth: int = 0, at_top: bool = False) -> _Described | None:
    """Return the dtype and shape of the array that NumPy makes of the object; None if unknown."""
    if depth > _DEEPEST or (contents.others and not at_top):
        return None
    descriptions: list[_Described | None] = [(np.asarray(example).dtype, ()) for example in contents.numbers.values()]
    descriptions += contents.arrays
    if contents.items is not None:
        inner = _describe(root(contents.items), depth + 1)
        length = next(iter(contents.lengths)) if len(contents.lengths) == 1 else None
        descriptions.append(None if inner is None else (inner[0], (length, *inner[1])))
    descriptions_known = [one for one in descriptions if one is not None]
    if len(descriptions_known) < len(descriptions) or len({len(shape) for _, shape in descriptions_known}) != 1:
        return None
    try:
        dtype = np.result_type(*(dtype for dtype, _ in descriptions_known))
    except TypeError:
        return None
    sizes = zip(*(shape for _, shape in descriptions_known), strict=True)
    return dtype, tuple(each[0] if len(set(each)) == 1 else None for each in sizes)


def _as_type(described: _Described | None) -> TensorType | None:
    if described is None or described[0].kind not in "biufc" or not described[1]:
        return None
    return TensorType(as_dtype(described[0]), described[1])


__all__ = ["array_type"]
