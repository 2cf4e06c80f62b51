"""Reads of items, also by tensors, and writes of items, which are journalled while a region is traced."""

from __future__ import annotations

import builtins
import collections
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import as_dtype, int64
from autoconv.graph.types import number_type
from autoconv.operators.control.conditionals import Cells, if_exp, record_cells
from autoconv.operators.control.variants import as_array_element, as_index, distribute, only_value, raise_if
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.protected_names import is_absent
from autoconv.operators.values.attributes import set_attr
from autoconv.operators.values.builtins import convert_callback
from autoconv.operators.values.created_arrays import GRID_CLASSES, grid_item
from autoconv.operators.values.list_arrays import index_array
from autoconv.operators.values.symbolic_subscript import (
    check_index,
    has_trace_time_values,
    is_trace_time_value,
    select_by_object,
    select_item,
    select_value,
)
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.arrays.flat_elements import FlatElements, takes_graph_indices
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import (
    TRACED_TO_PLAIN,
    container_location,
    heap_of,
    items_of,
    record_container_change,
    trace_container,
)
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, constant_object
from autoconv.runtime.recording.journal import cell_locations
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor, constant_table, is_tensor, weak_dtype
from autoconv.runtime.tensors.operator_dtypes import as_index_operand
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

slice = builtins.slice  # `ag__.slice(a, b, c)` in emitted code


def get_item(x: Any, index: Any) -> Any:
    """Return `x[index]`, also for a Python sequence indexed by a tensor under trace."""
    if current_region() is None:
        return x[index]
    if isinstance(x, type) and isinstance(getattr(x, "__class_getitem__", None), types.MethodType):
        return convert_callback(x.__class_getitem__)(index)  # type: ignore[attr-defined]
    if type(x) is Variant or type(index) is Variant:
        return _item_of_variants(x, index)
    if takes_graph_indices(x):
        return x[_convert_index(index)]
    if isinstance(x, dict) and has_objects_in_graph() and holds_symbols((index,)) and has_trace_time_values(x):
        return select_value(x, index)
    if type(x) in GRID_CLASSES and (made_array := grid_item(x, index)) is not NotImplemented:
        return made_array
    if type(index) is SymbolicTensor:
        return _item_at_tensor(x, index)
    if type(x) is not SymbolicObject and holds_symbols((index,)):
        is_python_list = isinstance(x, (list, tuple)) and heap_of(x) is None and items_of(x) is None
        if is_python_list and type(index) is SymbolicObject and any(map(is_trace_time_value, x)):
            return select_by_object(x, index)
        return apply_object("getitem", x, index)
    if type(x) not in _PYTHON_CONTAINERS:
        if isinstance(x, collections.defaultdict) and index not in x:  # the read inserts the key
            record_container_write(x)
        return x[index]
    try:
        return x[index]
    except (LookupError, TypeError) as error:  # raised by the program, not by its tracing
        as_program_error(error)
        raise


_PYTHON_CONTAINERS = frozenset({tuple, str, bytes, range, list, dict, *TRACED_TO_PLAIN})


def _item_of_variants(x: Any, index: Any) -> Any:
    """Return `x[index]` where one or both are variants: by one integer index, or in an arm for each alternative."""
    position = as_index(index) if type(index) is Variant and is_tensor(x) else None
    return distribute(get_item, x, index) if position is None else x[position]


def _convert_index(index: object, role: str = "item") -> Any:
    """Convert graph objects in an index to the integers that they must be, and variants of integers to one integer."""
    if type(index) is Variant:
        number = as_index(index)
        return index if number is None else number
    index = index_array(index)
    if type(index) is SymbolicObject:
        return unbox(index, number_type(int64), index=role)
    if type(index) is tuple:
        return tuple(map(_convert_index, index))
    if type(index) is builtins.slice:
        return builtins.slice(*(_convert_index(part, "bound") for part in (index.start, index.stop, index.step)))
    return index


_NUMBER_CLASSES = (bool, int, float)


def _item_at_tensor(x: Any, index: SymbolicTensor) -> Any:
    """Read `x[index]`: from a graph object, from an array of the items, or by one arm for each item."""
    if isinstance(x, np.ndarray):
        return binary_dispatch.get_item(x, index)
    if heap_of(x) is not None or type(x) is SymbolicObject:
        return apply_object("getitem", x, index)
    if items_of(x) is not None:
        return x[index]
    if isinstance(x, (list, tuple, range)):
        return _sequence_item(x, index)
    if has_objects_in_graph() and isinstance(x, (dict, str, bytes)):
        return apply_object("getitem", x, index)
    if isinstance(x, dict):
        raise StagingError("a tensor cannot be looked up in a dict", current_place(), "an if for each key")
    return x[index]


_ARM_LIMIT = 64  # the largest number of items, other than numbers, from which a tensor chooses one


def _sequence_item(x: Any, index: SymbolicTensor) -> Any:
    """Read an item of a list, tuple or range: from a graph object, an array of the items, or by one arm for each."""
    dtype = index.type.dtype
    is_integer = index.type.shape == () and (dtype.is_integer or (index.weak and dtype.is_bool))
    if has_objects_in_graph() and not is_integer:
        return apply_object("getitem", x, index)  # the kernel raises Python's own error
    items = list(x)
    if index.weak and dtype.is_bool:
        index = dispatch.apply("python_int", index)
    index = as_index_operand(index)
    result = _item_from_array(x, items, index)
    if result is not None:
        return result
    if any(map(is_trace_time_value, items)):
        return select_item(x, items, index)
    if has_objects_in_graph():
        return apply_object("getitem", x, index)
    if items and len(items) <= _ARM_LIMIT:
        return select_item(x, items, index)
    raise StagingError(
        f"a tensor indexes this {type(x).__name__}, whose items are not numbers or tensors of one type",
        current_place(),
        "items of one kind, or an if for each index",
    )


def _item_from_array(x: Any, items: list[Any], index: SymbolicTensor) -> Any:
    """Read an item where all of them go into one array of numbers or tensors; None for other items."""
    if not items:
        return None
    kind = type(items[0])
    is_of_one_kind = all(type(item) is kind for item in items)
    if has_objects_in_graph() and is_of_one_kind and kind in _NUMBER_CLASSES:
        constant = constant_object(x if isinstance(x, (tuple, range)) else items)
        return unbox(apply_object("getitem", constant, index), number_type(weak_dtype(items[0])))
    region, is_mixed = current_region(), False
    if region is not None and region.contract.python_numbers:
        if is_of_one_kind and kind is np.float64:
            check_index(x, len(items), index)
            return binary_dispatch.get_item(np.array(items), index)
        # Members of an IntEnum and the like stay objects, and so do numbers of several kinds.
        if any(isinstance(item, (int, float)) and type(item) not in _NUMBER_CLASSES for item in items):
            return None
        is_mixed = len({_number_kind(item) for item in items}) > 1
    if is_of_one_kind and isinstance(items[0], (bool, int, float)):
        number = binary_dispatch.get_item(constant_table(items), index)
        return dispatch.apply("python_cast", number, dtype=number.type.dtype, weak=True)
    if not is_mixed and all(isinstance(item, (Tensor, int, float)) for item in items):
        if has_objects_in_graph():
            check_index(x, len(items), index)
        return binary_dispatch.get_item(dispatch.apply("stack", *items, axis=0), index)
    return None


def _number_kind(item: object) -> Any:
    """Return the pair (whether a number is a Python number, dtype)."""
    return (item.type.weak, item.type.dtype) if isinstance(item, Tensor) else (True, weak_dtype(item))


def set_item(x: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Run `x[i][j] = value` for the path (i, j) and return the new `x`: tensors are replaced, others mutated."""
    if value is _UNCHANGED:
        return x
    index, *inner_path = path
    if inner_path:
        inner = get_item(x, index)
        changed_inner = set_item(inner, tuple(inner_path), value)
        return x if changed_inner is inner else set_item(x, (index,), changed_inner)
    if isinstance(x, Variant):
        if sum(not is_absent(arm) for arm in x.values) > 1:
            distribute(lambda arm: set_item(arm, path, value), x)
            return x
        x = only_value(x, "item assignment")
    if type(x) in (SymbolicArray, FlatElements):
        if type(value) is Variant:
            element = as_array_element(value, as_dtype(x.dtype))
            if element is None:
                distribute(lambda arm: set_item(x, path, arm), value)
                return x
            value = element
        index = _convert_index(index)
        if type(index) is Variant:
            distribute(lambda arm: set_item(x, (arm,), value), index)
        else:
            x[index] = value
        return x
    if isinstance(x, Tensor) or (isinstance(x, np.ndarray) and not _is_assigned_by_python(index, value)):
        _refuse_in_place(x, "an item of an array or tensor is assigned")
        return binary_dispatch.set_item(x, index, value)
    if type(value) is SymbolicArray and _holds_at(x, index, value):
        return x  # `x[i] += y` changed the array, and not the list or dict
    record_container_write(x)
    is_python_list = isinstance(x, list) and heap_of(x) is None and items_of(x) is None
    if type(index) is SymbolicTensor and is_python_list and not has_objects_in_graph():
        _set_item_at_tensor(x, index, value)
        return x
    x[index] = value
    return x


def _holds_at(x: Any, index: object, value: object) -> bool:
    """Return whether an item of a traced list or dict is the value already."""
    if type(x) not in TRACED_TO_PLAIN or heap_of(x) is not None or items_of(x) is not None:
        return False
    if isinstance(x, dict):
        return isinstance(index, (str, int)) and dict.get(x, index) is value
    return type(index) is int and isinstance(x, list) and -len(x) <= index < len(x) and x[index] is value


_UNCHANGED = object()  # the value of `changed_part` if nothing has to be stored


def changed_part(before: object, new_part: Any) -> Any:
    """Return the value to store in `x[i]` after a write into that item; `_UNCHANGED` if the write was in place."""
    return _UNCHANGED if before is new_part else new_part


def _is_assigned_by_python(index: object, value: object) -> bool:
    """Return whether Python itself assigns an item of an array.

    True if nothing is traced, or under `function` at the top level without symbolic operands: it happens once a trace.
    """
    region = current_region()
    if region is None:
        return True
    is_top_level = not region.contract.effects_each_call and region.parent is None
    return is_top_level and as_tensor(value) is None and not holds_symbols((index, value))


def has_objects_in_graph() -> bool:
    """Return whether a trace is recorded whose graph may hold Python objects, as under `compile`."""
    region = current_region()
    return region is not None and region.contract.objects_in_graph


def _set_item_at_tensor(x: list[Any], index: SymbolicTensor, value: object) -> None:
    """Run `x[index] = value`: each element becomes the value if the index is its position, else itself."""
    size = len(x)
    raise_if((index >= size) | (index < -size), IndexError("list assignment index out of range"))
    wrapped_index = index % size
    for position, old_item in enumerate(list(x)):
        x[position] = if_exp(wrapped_index == position, lambda: value, lambda old_item=old_item: old_item)  # type: ignore[misc]


def _refuse_in_place(x: object, message: str) -> None:
    """Bail out to plain Python under `compile`: an array is mutated for all its aliases, which a tensor cannot be."""
    region = current_region()
    if region is not None and region.contract.numpy_arrays:
        region.contract.require_original(x, message)


def set_item_of(owner: object, attribute: str, path: tuple[Any, ...], value: object) -> None:
    """Run `owner.attribute[i][j] = value` for the path (i, j)."""
    if value is _UNCHANGED:
        return
    x = getattr(owner, attribute)
    new_x = set_item(x, path, value)
    if new_x is not x:
        set_attr(owner, attribute, new_x)


def set_item_in(x: object, path: tuple[Any, ...], value: object) -> None:
    """Run `x[i][j] = value` where the name `x` cannot be rebound; raise StagingError if `x` would be replaced."""
    new_x = set_item(x, path, value)
    if new_x is not x:
        raise StagingError(
            "a tensor cannot be changed in place, and the name it has here belongs to an outer scope",
            current_place(),
            "assign it to a local name first, or use autoconv.tensor_scatter_nd_update",
        )


def augment_item_of(owner: object, attribute: str, index: Any, function: Callable[[Any, Any], Any], value: Any) -> None:
    """Run `owner.attribute[index] += value()`, where `function` is the operator; evaluate each part once."""
    x = getattr(owner, attribute)
    new_x = set_item(x, (index,), function(get_item(x, index), value()))
    if new_x is not x:
        set_attr(owner, attribute, new_x)


_NUMPY_CONTEXTS = frozenset({np.errstate, np.printoptions})


def context(manager: object) -> Any:
    """Return the manager of a with statement; under `compile` a user-defined one must be entered on every call."""
    region = current_region()
    if region is not None and region.contract.effects_each_call:
        creator = getattr(manager, "func", type(manager))  # managers of contextlib hold the function that made them
        is_numpy_context = creator in _NUMPY_CONTEXTS or str(getattr(creator, "__module__", "")).startswith("autoconv")
        if not is_numpy_context:
            region.contract.require_original(manager, "a context manager is entered")
    return manager


def del_item(x: Any, index: Any) -> None:
    """Run `del x[index]`, with an entry in the journal while a region is traced."""
    record_container_write(x)
    del x[index]


def record_container_write(x: object) -> None:
    """Journal a write to a container before it happens; the contract may refuse one to a container from outside."""
    region = current_region()
    if region is None or isinstance(x, (Tensor, np.ndarray, SymbolicObject, Variant, *_IMMUTABLE_TYPES)):
        return
    if type(x) in TRACED_TO_PLAIN:
        record_container_change(x)
        return
    if region.journal is not None and isinstance(x, (list, dict, set)):
        region.journal.record(container_location(x))
    region.contract.require_original(x, f"{with_article(type(x))} is changed")


def record_array_change(x: Any) -> None:
    """Register an in-place change of an array by `x += y`; one from before the trace has to change on every call."""
    region = current_region()
    if region is not None and region.contract.is_outside(x):
        region.contract.require_original(x, "an array is changed in place")


_IMMUTABLE_TYPES = (type(None), bool, int, float, complex, str, bytes, tuple, frozenset, range)


def record_method_call(function: Callable[..., Any]) -> None:
    """Journal the container that a builtin method mutates, before the call `function(…)` of that bound method."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (list, dict, set)) and getattr(function, "__name__", "") in _MUTATING_METHODS:
        record_container_write(owner)


_MUTATING_METHODS = frozenset(
    {
        "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "add", "discard", "update",
        "setdefault", "popitem", "__setitem__", "__delitem__", "__iadd__", "intersection_update",
        "difference_update", "symmetric_difference_update",
    }
)  # fmt: skip


def outer_names(getter: Any, setter: Any, names: tuple[str, ...]) -> None:
    """Journal the outer names that a function may write, while a region is traced."""
    region = current_region()
    if region is None:
        return
    record_cells(Cells(getter, setter, names))
    if region.contract.effects_each_call:
        locations = cell_locations(getter, names, region.trace.cells)
        region.contract.require_original(getter, f"the outer name {names[0]!r} is written", locations)


def local_cells(read: Any) -> None:
    """Register the function's local names that inner functions or regions share as cells of the current region.

    The enclosing regions do not have these names. `read` is a closure that refers to them.
    """
    region = current_region()
    if region is not None:
        region.trace.cells.update((id(cell), (cell, region)) for cell in read.__closure__ or ())


def new(container: object) -> Any:
    """Return the value of code that created a list, dict or set: during a trace, its traced form."""
    return container if current_region() is None else trace_container(container)
