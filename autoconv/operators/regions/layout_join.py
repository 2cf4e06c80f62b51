"""Join (least upper bound) of layouts.

Different numbers join to weak tensors and structures part by part; otherwise the layouts become arms of a variant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import int64
from autoconv.graph.types import NoCommonType, ObjectType, TensorType, Type, join
from autoconv.operators.regions.layout import (
    NEVER,
    Arms,
    Instance,
    Layout,
    Leaf,
    Never,
    NumberKind,
    Parts,
    RunTimeList,
    Static,
    is_array_layout,
    is_container,
    is_number_layout,
    is_number_subclass,
    is_object_layout,
    value_type,
    weak_type,
)
from autoconv.operators.regions.value_layout import creating_region_of, instance_layout, take_static_apart
from autoconv.runtime.arrays.symbolic_arrays import as_array
from autoconv.runtime.objects.containers import heap_of, items_of
from autoconv.runtime.objects.symbolic_objects import as_object, graph_object
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import plain_class
from autoconv.runtime.support.type_spec import TypeSpec


def join_layouts(first: Layout, second: Layout, name: str, contract: Contract) -> Layout:
    """Return the layout that holds values of either; raise StagingError for the variable `name` if none does."""
    for rule in _RULES:
        result = rule(first, second, name, contract)
        if result is not None:
            return result
    return _join_parts(first, second, name, contract)


def _join_equal(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    if first == second or isinstance(second, Never):
        return first
    return second if isinstance(first, Never) else None


def _join_objects(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    return join_objects(first, second) if is_object_layout(first) or is_object_layout(second) else None


def _join_arrays(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    """Join arrays; those of several dtypes or ranks are arms of a variant."""
    if not is_array_layout(first) or not is_array_layout(second):
        return None
    if not _have_common_type(first, second):
        return _join_arms(first, second, name, contract)
    return Leaf(join(_array_type(first), _array_type(second)), as_array)


def _join_variants(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    """Join layouts into a variant: if one is a variant, or for numbers that Python distinguishes."""
    needs_variant = isinstance(first, Arms) or isinstance(second, Arms)
    if not needs_variant and contract.python_numbers:
        needs_variant = number_kind(first) != number_kind(second) or is_static_subclass_number(first)
    if not needs_variant and is_number_layout(first) and is_number_layout(second):
        needs_variant = _are_bool_and_number(first, second)
    return _join_arms(first, second, name, contract) if needs_variant else None


def _join_numbers(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    """Join two numbers or tensors into one graph value."""
    if not is_number_layout(first) or not is_number_layout(second):
        return None
    first_leaf, second_leaf = _to_leaf(first), _to_leaf(second)
    try:
        return Leaf(join(first_leaf.type, second_leaf.type), first_leaf.wrap)
    except NoCommonType:
        raise StagingError(
            f"{name!r} is {_describe(first)} on one path and {_describe(second)} on the other, which have no "
            "common type",
            current_place(),
            "values of one type on both paths: autoconv.cast(value, dtype) for numbers",
        ) from None


def _join_lists(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    are_lists = _is_list(first) and _is_list(second)
    if are_lists and (_has_run_time_length(first) or _has_run_time_length(second)):
        return join_lists([first, second], name, contract)
    return None


def _join_wrapped(first: Layout, second: Layout, name: str, contract: Contract) -> Layout | None:
    """Join graph values of one kind that are not tensors."""
    wrap = _common_wrap(first, second)
    if wrap is None:
        return None
    assert isinstance(first, Leaf) and isinstance(second, Leaf)
    try:
        return Leaf(join(first.type, second.type), wrap)
    except NoCommonType as error:
        raise StagingError(
            f"{name!r} has no common type on two paths: {error}",
            current_place(),
            "values of one type on both paths",
        ) from None


# The first rule that returns a layout decides.
_RULES: tuple[Callable[[Layout, Layout, str, Contract], Layout | None], ...] = (
    _join_equal,
    _join_objects,
    _join_arrays,
    _join_variants,
    _join_numbers,
    _join_lists,
    _join_wrapped,
)


def _join_parts(first: Layout, second: Layout, name: str, contract: Contract) -> Layout:
    """Join structures and objects part by part; other layouts become arms of a variant."""
    originals = first, second
    first, second = _take_graph_objects_apart(take_static_apart(first), take_static_apart(second))
    first, second = _take_instance_apart(first, second), _take_instance_apart(second, first)
    if isinstance(first, Instance) and isinstance(second, Instance) and _have_same_attributes(first, second):
        second_parts = dict(zip(second.keys, second.parts, strict=True))
        named_parts = zip(first.keys, first.parts, strict=True)
        joined_parts = [_join_part(part, second_parts[key], f"{name}.{key}", contract) for key, part in named_parts]
        return Instance(first.kind, first.keys, tuple(joined_parts), first.is_shared or second.is_shared)
    if isinstance(first, Parts) and isinstance(second, Parts):
        kind = _common_kind(first, second)
        if kind is not None:
            widened_keys = getattr(kind, "__autoconv_widened__", ())  # parts that a class wants as int64 if they differ
            part_pairs = zip(first.parts, second.parts, strict=True)
            pairs = [
                _widen_integers(*pair) if key in widened_keys else pair
                for key, pair in zip(first.keys or first.parts, part_pairs, strict=True)
            ]
            return Parts(kind, first.keys, tuple(_join_part(*pair, name, contract) for pair in pairs))
    pairs_of_layouts = zip(originals, (first, second), strict=True)
    first, second = (original if is_container(original) else taken_apart for original, taken_apart in pairs_of_layouts)
    return _join_arms(first, second, name, contract)


def _widen_integers(first: Layout, second: Layout) -> tuple[Layout, Layout]:
    """Return two layouts; those of integers of different dtypes are widened to int64."""
    if not is_number_layout(first) or not is_number_layout(second):
        return first, second
    leaves = [_to_leaf(first), _to_leaf(second)]
    types = [leaf.type for leaf in leaves if isinstance(leaf.type, TensorType) and leaf.type.dtype.is_integer]
    if len(types) < 2 or types[0].dtype is types[1].dtype:
        return first, second
    pairs = zip(types, leaves, strict=True)
    wide_first, wide_second = (Leaf(type_.with_dtype(int64), leaf.wrap) for type_, leaf in pairs)
    return wide_first, wide_second


def _join_part(first: Layout, second: Layout, name: str, contract: Contract) -> Layout:
    """Join parts of a structure. Under `function`, a container from before the region becomes an arm of its own."""
    if contract.promises_identity or first == second or NEVER in (first, second):
        return join_layouts(first, second, name, contract)
    first, second = (take_static_apart(x) if is_container(x) and not _is_preexisting(x) else x for x in (first, second))
    if is_container(first) or is_container(second):
        return _join_arms(first, second, name, contract)
    return join_layouts(first, second, name, contract)


def _is_preexisting(layout: Layout) -> bool:
    """Return whether a layout is a container that was made before the regions whose results are joined."""
    region = current_region()
    return is_container(layout) and region is not None and region.is_inside(layout.value._home)


def _array_type(layout: Layout) -> Type:
    assert isinstance(layout, (Static, Leaf))
    result: Type = layout.type if isinstance(layout, Leaf) else layout.value.type
    return result


def _have_common_type(first: Layout, second: Layout) -> bool:
    """Return whether two arrays have a common type: one dtype and the same rank."""
    try:
        join(_array_type(first), _array_type(second))
    except NoCommonType:
        return False
    return True


def join_lists(lists: Sequence[Layout], name: str, contract: Contract) -> Layout:
    """Return the layout of a list with any number of the elements of these lists."""
    element: Layout = NEVER
    for layout in lists:
        for part in _element_layouts(layout):
            element = join_layouts(element, part, f"an item of {name}", contract)
    return RunTimeList(element)


def widen_lists(layout: Layout, name: str, contract: Contract) -> Layout:
    """Widen the layout of a loop variable: lists of several lengths become a list of run-time length."""
    if not isinstance(layout, Arms):
        return layout
    lists = [arm for arm in layout.arms if _is_list(arm)]
    is_only_list_of_variant = len(lists) == 1 and len(layout.arms) > 1
    if all(map(is_container, lists)) or is_only_list_of_variant:  # also true if no arm is a list
        return layout
    other_arms = [arm for arm in layout.arms if not _is_list(arm)]
    return Arms((join_lists(lists, name, contract), *other_arms)) if other_arms else join_lists(lists, name, contract)


def _has_run_time_length(layout: Layout) -> bool:
    return isinstance(layout, RunTimeList) or (isinstance(layout, Static) and items_of(layout.value) is not None)


def _is_list(layout: Layout) -> bool:
    if isinstance(layout, Static):
        return plain_class(layout.value) is list and heap_of(layout.value) is None
    return isinstance(layout, RunTimeList) or (isinstance(layout, Parts) and layout.kind is list)


def _element_layouts(layout: Layout) -> Sequence[Layout]:
    """Return the layouts of the items of a list: a single one if its length is known only at run time."""
    if isinstance(layout, RunTimeList):
        return (layout.element,)
    if isinstance(layout, Parts):
        return layout.parts
    assert isinstance(layout, Static)
    items = items_of(layout.value)
    layout_of_parts = take_static_apart(layout) if items is None else layout
    if isinstance(layout_of_parts, Parts):
        return layout_of_parts.parts
    return [Static(part) for part in layout.value] if items is None else (items.element,)


def _take_instance_apart(layout: Layout, other: Layout) -> Layout:
    """Take an object known at trace time apart into its attributes if it joins one that another path created."""
    region = current_region()
    if not isinstance(layout, Static) or not isinstance(other, Instance) or type(layout.value) is not other.kind:
        return layout
    if region is None or creating_region_of(layout.value, region) is None:
        return layout
    if graph_object(layout.value) is not None:  # an object in the graph keeps its identity
        return instance_layout(layout.value, region, is_shared=False)
    region.trace.frozen_objects[id(layout.value)] = layout.value
    return instance_layout(layout.value, region)


def _take_graph_objects_apart(first: Layout, second: Layout) -> tuple[Layout, Layout]:
    """Take two objects known at trace time apart if they are of one class and both in the graph."""
    region = current_region()
    if region is None or not isinstance(first, Static) or not isinstance(second, Static):
        return first, second
    if (
        type(first.value) is not type(second.value)
        or graph_object(first.value) is None
        or graph_object(second.value) is None
    ):
        return first, second
    first_layout = instance_layout(first.value, region, is_shared=False)
    return first_layout, instance_layout(second.value, region, is_shared=False)


def _have_same_attributes(first: Instance, second: Instance) -> bool:
    return first.kind is second.kind and set(first.keys) == set(second.keys)


def join_objects(first: Layout, second: Layout) -> Layout:
    """Return the layout that holds values of either layout as a graph object."""
    if is_object_layout(first) and is_object_layout(second):
        assert isinstance(first, Leaf) and isinstance(second, Leaf)
        return Leaf(join(first.type, second.type), as_object)
    return Leaf(ObjectType(), as_object)


def number_kind(layout: Layout) -> NumberKind | None:
    """Return the kind of a number's layout; None for other layouts."""
    if not is_number_layout(layout):
        return None
    type_ = _to_leaf(layout).type
    assert isinstance(type_, TensorType)
    return NumberKind(type_.dtype, type_.weak, layout if is_static_subclass_number(layout) else None)


def type_of_number(layout: Layout) -> TensorType | None:
    """Return the type of a number; None for other layouts, and for static numbers of subclasses."""
    kind = number_kind(layout)
    type_ = _to_leaf(layout).type if kind is not None and kind.static_layout is None else None
    return type_ if isinstance(type_, TensorType) else None


def is_static_subclass_number(layout: Layout) -> bool:
    """Return whether a layout is a number known at trace time, of a subclass of Python's classes of numbers."""
    return isinstance(layout, Static) and is_number_subclass(layout.value)


def _are_bool_and_number(first: Layout, second: Layout) -> bool:
    """Return whether one is a bool tensor and the other a Python number: `x > 0 and 3` results in either."""
    types = _to_leaf(first).type, _to_leaf(second).type
    for tensor, number in (types, types[::-1]):
        assert isinstance(tensor, TensorType) and isinstance(number, TensorType)
        is_bool_tensor = tensor.dtype.is_bool and not tensor.weak
        if is_bool_tensor and number.weak and not number.dtype.is_bool:
            return True
    return False


# Largest number of arms of a variant under `compile`; with more, the value becomes a graph object.
_MAX_ARMS = 6


def _join_arms(first: Layout, second: Layout, name: str, contract: Contract) -> Layout:
    """Join alternatives: those of `second` join the arm of their kind in `first`, or become further arms."""
    arms = list(first.alternatives)
    for layout in second.alternatives:
        for index, arm in enumerate(arms):
            is_same_number = not contract.python_numbers or number_kind(arm) == number_kind(layout)
            if is_same_arm(arm, layout) and is_same_number:
                arms[index] = join_layouts(arm, layout, name, contract)
                break
        else:
            arms.append(layout)
    if contract.objects_in_graph and len(arms) > _MAX_ARMS:
        return Leaf(ObjectType(), as_object)
    return Arms(tuple(arms))


def is_same_arm(first: Layout, second: Layout) -> bool:
    """Return whether two layouts join into one arm of a variant."""
    if is_number_layout(first) and is_number_layout(second):
        return not _are_bool_and_number(first, second)
    if first == second:
        return True
    if is_array_layout(first) or is_array_layout(second):
        return is_array_layout(first) and is_array_layout(second) and _have_common_type(first, second)
    if is_container(first) or is_container(second):
        return False
    if _has_run_time_length(first) or _has_run_time_length(second):
        return _is_list(first) and _is_list(second)
    first, second = take_static_apart(first), take_static_apart(second)
    if isinstance(first, Leaf) and isinstance(second, Leaf):
        return first.wrap == second.wrap or _common_wrap(first, second) is not None
    if isinstance(first, Instance) and isinstance(second, Instance):
        return _have_same_attributes(first, second)
    return isinstance(first, Parts) and isinstance(second, Parts) and _common_kind(first, second) is not None


def _to_leaf(layout: Layout) -> Leaf:
    """Return the layout of a number as one graph value."""
    if isinstance(layout, Leaf):
        return layout
    assert isinstance(layout, Static)
    value = layout.value
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return Leaf(weak_type(value))
    return Leaf(value_type(value))


def _common_wrap(first: Layout, second: Layout) -> Any:
    """Return the common wrap of two graph values that are not tensors; None if their kinds differ."""
    if not isinstance(first, Leaf) or not isinstance(second, Leaf):
        return None
    if first.wrap is None or second.wrap is None:
        return None
    if first.wrap == second.wrap:
        return first.wrap
    join_wraps = getattr(first.wrap, "join", None)
    return join_wraps(second.wrap) if join_wraps is not None else None


def _common_kind(first: Parts, second: Parts) -> Any:
    """Return the class of both structures, or the common spec of two composite tensors; None where they differ."""
    if first.keys != second.keys or len(first.parts) != len(second.parts):
        return None
    if isinstance(first.kind, TypeSpec):
        return first.kind.most_specific_common_supertype([second.kind])
    return first.kind if first.kind is second.kind else None


def _describe(layout: Layout) -> str:
    leaf = _to_leaf(layout)
    if isinstance(layout, Static) and isinstance(layout.value, (bool, int, float)):
        return f"the Python {type(layout.value).__name__} {layout.value!r}"
    return str(leaf.type)
