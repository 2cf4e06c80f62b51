"""Marshal Python values across region boundaries: into graph values according to a layout, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType, TensorType, Type
from autoconv.hooks import Hook
from autoconv.operators.regions.layout import (
    NEVER,
    Arms,
    Instance,
    Items,
    Layout,
    Leaf,
    Never,
    Parts,
    RunTimeList,
    Static,
    Variant,
    is_container,
    scalar_dtype,
    weak_type,
)
from autoconv.operators.regions.layout_join import is_same_arm, number_kind
from autoconv.operators.regions.shared_identity import require_identity
from autoconv.operators.regions.value_layout import (
    as_value,
    holds_created_here,
    is_created_here,
    layout_of,
    take_apart,
    take_static_apart,
)
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, TracedList, items_of, trace_container, untraced_copy
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.rebuilt_arguments import register_rebuilt
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box, box_carried
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.attributes import (
    HEAP,
    GraphAttributes,
    attributes_of,
    instance_attributes,
    set_attributes,
)
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import Template, pack
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, constant_table, to_array, weak_constant, weak_dtype
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor

_MAX_SELECTED_ARMS = 8  # variants of at most so many arms are renumbered by selects, others by a table


def emit(value: object, layout: Layout, region: Region) -> list[Value]:
    """Return the graph values that represent `value` in `layout`; record the conversions in `region`."""
    if isinstance(value, Never):
        return [record_absent(leaf, region) for leaf in layout.types()]
    if isinstance(layout, (Static, Never)):
        return []
    if isinstance(layout, Leaf):
        return [_emit_leaf(value, layout, region)]
    if isinstance(layout, RunTimeList):
        return _emit_list(value, layout, region)
    if isinstance(layout, Parts):
        _, parts = take_apart(value)
        pairs = zip(parts, layout.parts, strict=True)
        return [graph_value for part, part_layout in pairs for graph_value in emit(part, part_layout, region)]
    if isinstance(layout, Instance) and layout.is_in_graph:
        return [region.lift(box(instance_attributes(value)[HEAP]).value_in_graph)]
    if isinstance(layout, Instance):
        attributes = attributes_of(value)
        if HEAP in attributes:  # it moved into the graph under another name, after this layout was found
            require_identity(value)
            raise StagingError(
                f"which {layout.kind.__name__} a name refers to depends on a tensor, and another name "
                "refers to it too", current_place()
            )
        named_parts = zip(layout.keys, layout.parts, strict=True)
        return [graph_value for key, part in named_parts for graph_value in emit(attributes[key], part, region)]
    assert isinstance(layout, Arms)
    return _emit_arms(value, layout, region)


def _emit_list(value: Any, layout: RunTimeList, region: Region) -> list[Value]:
    """Return the graph values of a list of run-time length: see `RunTimeList`."""
    if type(value) is Variant:  # lists of several lengths
        value = _select_in_arms(value, [True] * len(value.values), layout)
    items = value if type(value) is Items else items_of(value)
    if items is not None:
        return [region.lift(graph_value) for graph_value in items.widen(layout.element).values]
    lists = empty_lists(layout, region)
    for item in value:
        lists = append_item(lists, item, layout, region)
    return lists


def empty_lists(layout: RunTimeList, region: Region) -> list[Value]:
    """Return the graph values of an empty list: a list for each graph value of an element, or only a length."""
    lists = []
    for type_ in layout.element.types():
        if not isinstance(type_, TensorType):
            raise StagingError(
                "a list inside of a list has a length known only at run time", current_place(),
                "one list, or an autoconv.TensorArray",
            )  # fmt: skip
        lists.append(dispatch.apply("list_empty", dtype=type_.dtype, shape=type_.shape, weak=type_.weak))
    return lists or [weak_constant(region, 0).value_in_graph]


def append_item(lists: Sequence[Any], item: object, layout: RunTimeList, region: Region) -> list[Value]:
    """Return the graph values of a list with one item appended."""
    values = emit(item, layout.element, region)
    if not values:  # elements without graph values: only the length is in the graph
        return [(SymbolicTensor(lists[0]) + 1).value_in_graph]
    return [
        region.record("list_push", [region.lift(list_), value], {}).results[0]
        for list_, value in zip(lists, values, strict=True)
    ]


def _emit_leaf(value: object, layout: Leaf, region: Region) -> Value:
    """Return the graph value of a leaf, converted to the layout's type."""
    type_ = layout.type
    if isinstance(type_, ObjectType):
        return region.lift(box_carried(value).value_in_graph)
    to_graph_value = getattr(type(value), "__autoconv_graph_value__", None)
    if to_graph_value is not None and type(value) is not SymbolicObject:
        return as_value(to_graph_value(value), region)
    assert isinstance(type_, TensorType)
    if type(value) is SymbolicObject:
        value = unbox(value, type_)
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        if type_.weak and weak_dtype(value) is type_.dtype:
            return weak_constant(region, value).value_in_graph
        array = np.array(value, type_.dtype.numpy)
        if not type_.weak:
            return dispatch.graph_value(region, array)
        return weak_constant(region, array.item()).value_in_graph
    tensor = as_tensor(value)
    if tensor is None:
        if region.contract.numpy_arrays and isinstance(value, (np.ndarray, np.generic)):
            region.trace.uses_arrays = True
        tensor = EagerTensor(to_array(value))
    if tensor.type.dtype is not type_.dtype or (tensor.weak and not type_.weak):
        tensor = dispatch.apply("python_cast", tensor, dtype=type_.dtype, weak=type_.weak)
    return region.lift(dispatch.graph_value(region, tensor))


def _emit_arms(value: object, layout: Arms, region: Region) -> list[Value]:
    """Return the tag of a variant, followed by the payload of each arm: placeholders for arms without a value."""
    if isinstance(value, Variant):
        layout_of_value = layout_of(value, region)
        assert isinstance(layout_of_value, Arms)
        arms = zip(value.values, layout_of_value.arms, strict=True)
        positions = [arm_index(layout, _static_arm_of(part, layout) or part_layout) for part, part_layout in arms]
        tag = value.tag
        if positions != list(range(len(positions))):
            tag = renumber_arms(tag, positions)
        values = dict(zip(positions, value.values, strict=True))
        if len(values) != len(positions):  # several arms of the value have become one of the layout
            values = {index: _select_mapped(value, positions, index, layout.arms[index]) for index in values}
        tag_value = region.lift(tag.value_in_graph)
    else:
        target = _static_arm_of(value, layout) or layout_of(value, region)
        if isinstance(target, Static) and target not in layout.arms:
            require_identity(value)  # the arm is for objects of its class in the graph, so this object must be there
        index = arm_index(layout, target)
        values = {index: value}
        tag_value = weak_constant(region, index).value_in_graph
    result = [tag_value]
    number_type = layout.number_type
    if number_type is not None:
        result.append(_emit_number(value, number_type, region))
    for index, arm in enumerate(layout.arms):
        if number_type is not None and scalar_dtype(arm) is not None:
            continue
        if index in values:
            result += emit(values[index], arm, region)
        else:
            result += [record_absent(leaf, region) for leaf in arm.types()]
    return result


def _emit_number(value: object, number_type: TensorType, region: Region) -> Value:
    """Return the number that the arms of a variant share; a placeholder for a value that is no such number."""
    number = value.number if type(value) is Variant else None
    if number is not None and number.type.dtype is number_type.dtype:
        return region.lift(number.value_in_graph)
    arms, tag = (value.values, value.tag) if type(value) is Variant else ((value,), None)
    numbers = {
        index: SymbolicTensor(_emit_leaf(arm, Leaf(number_type), region))
        for index, arm in enumerate(arms)
        if not isinstance(arm, Never) and scalar_dtype(layout_of(arm, region)) is number_type.dtype
    }
    return region.lift(select_number(tag, numbers).value_in_graph) if numbers else record_absent(number_type, region)


def select_number(tag: Any, numbers: Mapping[int, Any]) -> Any:
    """Return the number of the arm that `tag`, None for one arm, selects; `numbers` has them by position of the arm."""
    result: Any = None
    for index, number in numbers.items():
        result = number if result is None else dispatch.apply("select", tag == index, number, result)
    return result


def renumber_arms(tag: Any, new_numbers: Sequence[int]) -> Any:
    """Map the tag of a variant to new arm numbers: `new_numbers[i]` is that of arm i."""
    if [*new_numbers] == [*range(len(new_numbers))]:
        return tag
    if 1 < len(new_numbers) <= _MAX_SELECTED_ARMS:
        result = dispatch.apply("select", tag == 0, new_numbers[0], new_numbers[1])
        for index, number in enumerate(new_numbers[2:], 2):
            result = dispatch.apply("select", tag == index, number, result)
    else:
        result = dispatch.apply("gather", constant_table(np.array(new_numbers, np.int64)), tag, axis=0)
    return dispatch.apply("python_cast", result, dtype=weak_type(0).dtype, weak=True)


STAGE_ARMS = Hook("autoconv.operators.control.staging")  # `stage_arms` of that module, which imports this one


def _select_mapped(variant: Variant, positions: Sequence[int], target_position: int, layout: Layout) -> Any:
    """Return the variant's value if its tag selects an arm that is mapped to `target_position`; else any value.

    All arms that are mapped to that position have the same layout.
    """
    values = [value for value, position in zip(variant.values, positions, strict=True) if position == target_position]
    if len(values) == 1:
        return values[0]
    for value in filter(is_created_here, values):
        require_identity(value)
    if any(map(holds_created_here, values)):
        raise StagingError(
            "a value has one of several types on one path, and a single type on another", current_place()
        )
    return _select_in_arms(variant, [position == target_position for position in positions], layout)


def _select_in_arms(variant: Variant, is_selected: Sequence[bool], layout: Layout) -> Any:
    """Return the variant's value in `layout` if its tag selects a chosen arm; else any value."""

    def make_arm(value: object, is_arm_selected: bool) -> Any:
        return lambda: (_copy_in_layout(value, layout) if is_arm_selected else NEVER,)

    (result,) = STAGE_ARMS(variant.tag, list(map(make_arm, variant.values, is_selected)), [], ("value",))
    return result


def _copy_in_layout(value: Any, layout: Layout) -> Any:
    """Return a copy of the value in `layout`, built in the region being recorded."""
    region = current_region()
    assert region is not None
    return rebuild(layout, iter(emit(value, layout, region)))


def _static_arm_of(value: object, layout: Arms) -> Layout | None:
    """Return the static arm of `layout` whose value is the container or object `value` itself; None without one."""
    has_identity = type(value) in TRACED_TO_PLAIN or is_created_here(value)
    return Static(value) if has_identity and Static(value) in layout.arms else None


def arm_index(layout: Arms, target: Layout) -> int:
    """Return the position of the arm that takes values of the layout `target`; raise StagingError without one."""
    if target in layout.arms:
        return layout.arms.index(target)
    target_kind = number_kind(target)
    for index, arm in enumerate(layout.arms):
        if target_kind is not None and number_kind(arm) == target_kind:
            return index
    for index, arm in enumerate(layout.arms):
        if is_same_arm(arm, target) or (is_container(target) and is_same_arm(arm, take_static_apart(target))):
            return index
    raise StagingError(
        f"{_describe_layout(target)} is not an arm of {_describe_layout(layout)}", current_place(),
        "values of one kind on all paths",
    )


def _describe_layout(layout: Layout) -> str:
    """Describe a layout without its values, as formatting a value would be recorded as a read of it."""
    if isinstance(layout, Static):
        return f"the {type(layout.value).__name__}"
    if isinstance(layout, Leaf):
        return str(layout.type)
    return f"{type(layout).__name__}({', '.join(map(_describe_layout, layout.children))})"


def rebuild(layout: Layout, values: Iterator[Any]) -> Any:
    """Return the Python value of `layout` that holds the given graph values, or tensors after a graph has run."""
    return _REBUILD_BY_LAYOUT[type(layout)](layout, values)


def _rebuild_static(layout: Static, values: Iterator[Any]) -> Any:
    """Return the object of a static layout: a copy without trace state after the graph has run."""
    region = current_region()
    if region is None:  # after the graph has run
        return untraced_copy(layout.value)
    if type(layout.value) in TRACED_TO_PLAIN and not region.is_inside(layout.value._home):
        layout.value._home = region  # a container belongs to the region that receives it
    return layout.value


def _rebuild_leaf(layout: Leaf, values: Iterator[Any]) -> Any:
    value = next(values)
    if layout.wrap is not None:
        return layout.wrap(value)
    return SymbolicTensor(value) if isinstance(value, Value) else value


def _rebuild_parts(layout: Parts, values: Iterator[Any]) -> Any:
    """Return a structure of the rebuilt parts: a traced container during a trace."""
    parts = [rebuild(part, values) for part in layout.parts]
    region = current_region()
    if layout.kind is dict and region is None and layout.keys is not None:
        return {key: part for key, part in zip(layout.keys, parts, strict=True) if part is not MISSING}
    template = Template(layout.kind, layout.keys, (None,) * len(parts))
    result: Any = pack(template, parts, initialise=region is None or not region.contract.promises_identity)
    if region is None:
        return result
    if any(type(argument) is layout.kind for argument in region.trace.rebuilt_arguments.values()):
        register_rebuilt(region, [result])  # the result may be one of the arguments
    if is_dataclass(result):
        region.trace.reassembled_objects[id(result)] = result
    return trace_container(result)


def _rebuild_variant(layout: Arms, values: Iterator[Any]) -> Any:
    """Return a variant; after the graph has run, the value that the tag selects."""
    tag = next(values)
    number = None if layout.number_type is None else next(values)
    arm_values = [_rebuild_arm(arm, number, values) for arm in layout.arms]
    if isinstance(tag, Value):
        return Variant(SymbolicTensor(tag), layout.arms, arm_values, None if number is None else SymbolicTensor(number))
    return arm_values[int(tag)]


def _rebuild_arm(arm: Layout, number: Any, values: Iterator[Any]) -> Any:
    """Return the value of an arm; `number` is the number that scalar arms share, None if they share none."""
    if number is None or isinstance(arm, Static) or scalar_dtype(arm) is None:
        return rebuild(arm, values)
    assert isinstance(arm, Leaf) and isinstance(arm.type, TensorType)
    if isinstance(number, Value):
        return dispatch.apply("python_cast", SymbolicTensor(number), dtype=arm.type.dtype, weak=arm.type.weak)
    if not arm.type.weak or (isinstance(number, EagerTensor) and any(tape_recorders.follows([number]))):
        return number  # an array, or a number that a tape follows
    return np.asarray(number).item()


def _rebuild_instance(layout: Instance, values: Iterator[Any]) -> Any:
    """Return a new object with the rebuilt attributes; after the graph has run, the graph's own object, if any."""
    parts = [rebuild(part, values) for part in layout.parts]
    region = current_region()
    if layout.is_in_graph and region is None:
        return parts[0]  # the graph has returned the object itself
    result: Any = object.__new__(layout.kind)
    attributes = {key: part for key, part in zip(layout.keys, parts, strict=True) if part is not MISSING}
    if layout.is_in_graph:
        object.__setattr__(result, "__dict__", GraphAttributes(attributes))
    else:
        set_attributes(result, attributes)
    if region is not None and region.trace.created_objects is not None:
        region.trace.created_objects[id(result)] = result, region
        if layout.is_shared and not layout.is_in_graph:
            region.trace.frozen_objects[id(result)] = result
    return result


def _rebuild_list(layout: RunTimeList, values: Iterator[Any]) -> Any:
    """Return a traced list that holds the tensor lists; after the graph has run, a list of items."""
    lists = [next(values) for _ in layout.types()]
    if current_region() is not None:
        result = TracedList()
        result._items = Items(layout.element, lists)
        return result
    types = list(layout.element.types())
    count = lists[0].length if types else int(lists[0])
    item_values = [[EagerTensor(list_.get(i)) for list_ in lists] for i in range(count)] if types else [[]] * count
    return [rebuild(layout.element, iter(values_of_item)) for values_of_item in item_values]


_REBUILD_BY_LAYOUT: dict[type[Layout], Callable[[Any, Iterator[Any]], Any]] = {
    Static: _rebuild_static, Never: lambda layout, values: None, Leaf: _rebuild_leaf, Parts: _rebuild_parts,
    Instance: _rebuild_instance, RunTimeList: _rebuild_list, Arms: _rebuild_variant,
}  # fmt: skip


def record_absent(type_: Type, region: Region) -> Value:
    """Record a placeholder for a value that is never read."""
    return region.record("absent", [], {"type": type_}).results[0]
