"""Guess the dtype and rank of arrays made of lists, by the points-to analysis of the nodes recorded so far.

A list without known stores is assumed to hold what all other lists hold, if those agree.
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

_MAX_DEPTH = 8  # deepest nesting of lists that is examined; also ends cycles


def array_type(region: Region, value: Value) -> TensorType | None:
    """Return the probable type of `np.array` of a list or tuple, an object visible in the region being recorded.

    None if too little is known of its items, or if they have no common rank.
    """
    open_regions = []
    enclosing_region: Region | None = region
    while enclosing_region is not None:
        open_regions.append(enclosing_region)
        enclosing_region = enclosing_region.parent
    flow = Flow(region.trace, open_regions, (node for open_region in open_regions for node in open_region.graph.walk()))
    if not flow.is_known(value):
        # A region recorded earlier and about to be recorded again, e.g. a loop's body, shows the items it will store.
        all_regions = [region.trace.root, *region.trace.regions]
        nodes = (node for other_region in all_regions for node in other_region.graph.nodes)
        flow = Flow(region.trace, all_regions, nodes)
    return _array_type(flow, value)


def _array_type(flow: Flow, value: Value) -> TensorType | None:
    """Return the type by the contents of the value; without any, the type that all other lists have."""
    contents = flow.contents_of(value)
    if flow.is_known(value):
        return _as_type(_describe(contents, is_outermost=True))
    if contents.numbers or contents.arrays or (contents.may_be_unknown and not contents.may_be_list_in_object):
        return None
    known_lists = [list_ for list_ in flow.lists_with_stores if flow.is_known(list_)]
    descriptions = {_describe(flow.contents_of(list_), is_outermost=True) for list_ in known_lists}
    descriptions |= set(map(_describe, flow.appended_contents.values()))
    return _as_type(descriptions.pop()) if len(descriptions) == 1 else None


_Description = tuple[np.dtype[Any], tuple[Dimension, ...]]  # the dtype and the shape of an array


def _describe(contents: Contents, depth: int = 0, is_outermost: bool = False) -> _Description | None:
    """Return the dtype and shape of the array that NumPy makes of the object; None if unknown."""
    if depth > _MAX_DEPTH or (contents.may_be_unknown and not is_outermost):
        return None
    descriptions: list[_Description | None] = [(np.asarray(example).dtype, ()) for example in contents.numbers.values()]
    descriptions += contents.arrays
    if contents.items is not None:
        item_description = _describe(root(contents.items), depth + 1)
        length = next(iter(contents.lengths)) if len(contents.lengths) == 1 else None
        descriptions.append(None if item_description is None else (item_description[0], (length, *item_description[1])))
    known_descriptions = [description for description in descriptions if description is not None]
    if len(known_descriptions) < len(descriptions) or len({len(shape) for _, shape in known_descriptions}) != 1:
        return None
    try:
        dtype = np.result_type(*(dtype for dtype, _ in known_descriptions))
    except TypeError:
        return None
    sizes_by_axis = zip(*(shape for _, shape in known_descriptions), strict=True)
    return dtype, tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in sizes_by_axis)


def _as_type(description: _Description | None) -> TensorType | None:
    """Return the tensor type of an array with dimensions whose elements are numbers; None for others."""
    if description is None:
        return None
    dtype, shape = description
    return TensorType(as_dtype(dtype), shape) if shape and dtype.kind in "biufc" else None
