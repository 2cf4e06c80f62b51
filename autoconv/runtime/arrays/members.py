"""Attributes and methods of symbolic arrays: views, copies, in-place updates and reads."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Value
from autoconv.ops.index_spec import At, NewAxis, Slice
from autoconv.ops.program_errors import as_program_error, errors_of_program
from autoconv.ops.python.undo_log import ARRAY_MUTATORS
from autoconv.runtime.arrays import complex_parts, symbolic_arrays
from autoconv.runtime.arrays.array_creation import record_strided_views
from autoconv.runtime.arrays.flat_elements import FlatElements
from autoconv.runtime.arrays.memory_order import kept_order, memory_order_operands
from autoconv.runtime.arrays.method_arguments import name_method_out
from autoconv.runtime.arrays.methods import attribute_of
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray, load_elements, wrap_new_arrays
from autoconv.runtime.arrays.views import TRANSPOSED, ViewSource
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.recording.regions import Region, current_contract, current_region
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_VIEW_METHODS = frozenset({"transpose", "reshape", "ravel", "squeeze", "swapaxes"})
_METHODS_ALWAYS_VIEWS = frozenset({"transpose", "squeeze", "swapaxes"})


def array_member(array: SymbolicArray, name: str) -> Any:
    """Return `array.name`; raise AttributeError for names that NumPy's arrays lack, too."""
    if not hasattr(np.ndarray, name):
        raise as_program_error(AttributeError(f"'numpy.ndarray' object has no attribute {name!r}"))
    if name.startswith("__") and name.endswith("__"):  # no program error: its handlers would catch it
        raise AttributeError(f"the attribute {name!r} of an array is known only when the graph runs")
    if name == "T" or (name == "mT" and array.ndim > 1):
        view = view_of(array, lambda x: getattr(x, name))
        is_transposed = array.ndim == 2 and type(view) is SymbolicArray and view is not array
        return SymbolicArray(view.value_in_graph, ViewSource(array, TRANSPOSED)) if is_transposed else view
    if name in ("real", "imag", "strides"):
        return _special_attribute(array, name)
    if name == "flat":
        return FlatElements(array)
    if name in ("conj", "conjugate") and not array.type.dtype.is_complex:
        return ArrayMember(array, name, lambda: array)
    if name == "diagonal":
        return ArrayMember(array, name, functools.partial(diagonal_of, array))
    if name in _VIEW_METHODS:
        return ArrayMember(array, name, lambda *args, **kwargs: _call_view_method(array, name, args, kwargs))
    if name in _METHODS:
        return ArrayMember(array, name, lambda *args, **kwargs: _METHODS[name](array, *args, **kwargs))
    if name in ARRAY_MUTATORS:
        raise StagingError(f"the method {name!r} changes an array in place", current_place())
    if name == "mT":
        raise as_program_error(ValueError("matrix transpose with ndim < 2 is undefined"))
    if callable(getattr(np.ndarray, name)):
        return ArrayMember(array, name, functools.partial(_call_on_elements, array, name))
    return _attribute_of_elements(array, name)


def _attribute_of_elements(array: SymbolicArray, name: str) -> Any:
    result = attribute_of(array.load(), name)
    if result is NotImplemented:  # NumPy's scalars, as which arrays without dimensions are loaded, have no such name
        raise StagingError(f"the attribute {name!r} of an array is read", current_place())
    return result


def _call_on_elements(array: SymbolicArray, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a method on the elements that the array has at the call, which may be later than the read of the method."""
    values, kwargs = name_method_out(array, name, args, kwargs)
    ordered_like = memory_order_operands(getattr(np, name, None), values, kwargs)
    arguments = map(load_elements, values[1:])  # without the array itself
    return wrap_new_arrays(_attribute_of_elements(array, name)(*arguments, **kwargs), ordered_like=ordered_like)


class ArrayMember(BoundSymbolicMethod[SymbolicArray]):
    """A bound method `x.name` of a symbolic array; `run` is called with the method's arguments."""

    __slots__ = ("run",)

    def __init__(self, owner: SymbolicArray, name: str, run: Callable[..., Any]) -> None:
        super().__init__(owner, name)
        self.run = run

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)


def view_of(array: SymbolicArray, make_view: Callable[[np.ndarray], Any]) -> Any:
    """Return the view that `make_view` makes, also of an array with open sizes; raise StagingError if it copies."""
    views = record_strided_views(array, make_view)
    if views is NotImplemented:
        if array.ndim:
            views = _permuted_view(array, make_view)
        if views is NotImplemented:
            current_contract().specialise(array)
            raise StagingError("a view of an array whose sizes are known only at run time is taken", current_place())
    return views[0]


def diagonal_of(array: SymbolicArray, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> SymbolicArray:
    """`np.diagonal(array, offset, axis1, axis2)`: a read-only view."""
    offset, axis1, axis2 = (
        operator.index(value) if isinstance(as_tensor(value), SymbolicTensor) else value
        for value in (offset, axis1, axis2)
    )
    # Raises NumPy's error for bad arguments.
    _call_method(np.empty((1,) * array.ndim, np.bool_), "diagonal", (offset, axis1, axis2), {})
    if (axis1 % array.ndim, axis2 % array.ndim) != (array.ndim - 2, array.ndim - 1):
        array = view_of(array, lambda x: np.moveaxis(x, (axis1, axis2), (-2, -1)))
    node = symbolic_arrays.record_array_op("array_diagonal", [array.value_in_graph], offset=operator.index(offset))
    return SymbolicArray(node.results[0])


def windows_of(array: SymbolicArray, axes: tuple[int, ...], lengths: tuple[int, ...]) -> SymbolicArray:
    """`np.lib.stride_tricks.sliding_window_view`: a read-only view; the windows fit into the array."""
    node = symbolic_arrays.record_array_op("array_windows", [array.value_in_graph], axes=axes, lengths=lengths)
    return SymbolicArray(node.results[0])


def _permuted_view(array: SymbolicArray, make_view: Callable[[np.ndarray], Any]) -> Any:
    """Return, in a list, a view that permutes, reverses or adds dimensions, of an array with unknown sizes or strides.

    NotImplemented if `make_view` does anything else, or if it drops dimensions whose sizes are unknown. A view that
    drops dimensions of size 1 is made in two steps: they are indexed away, and put back in the sample of `make_view`.
    """
    axes_of_size_1 = tuple(axis for axis, size in enumerate(array.known_shape) if size == 1)
    if axes_of_size_1 and make_view(np.empty([size or 2 for size in array.known_shape], np.bool_)).ndim < array.ndim:
        index = tuple(At(0) if size == 1 else Slice(None, None) for size in array.known_shape)
        node = symbolic_arrays.record_array_op("array_view", [array.value_in_graph], spec=index)
        return _permuted_view(SymbolicArray(node.results[0]), lambda x: make_view(np.expand_dims(x, axes_of_size_1)))
    # Each axis of the sample has a size of its own, axis + 2, so that the shape of the view shows the permutation.
    sample = np.empty(tuple(range(2, 2 + array.ndim)), np.bool_)
    view = make_view(sample)
    if None in array.known_shape and make_view(np.empty((1,) * array.ndim, np.bool_)).ndim != view.ndim:
        return NotImplemented  # the sizes decide which dimensions are dropped
    if view is sample:
        return [array]
    perm = tuple(size - 2 for size in view.shape if size > 1)
    if view.base is None or sorted(perm) != list(range(array.ndim)):
        return NotImplemented
    dimensions = list(zip(view.shape, view.strides, strict=True))
    if any(size > 1 and abs(stride) != sample.strides[size - 2] for size, stride in dimensions):
        return NotImplemented  # a step other than 1 and -1
    node = symbolic_arrays.record_array_op("array_transpose", [array.value_in_graph], perm=perm)
    if view.ndim != array.ndim or min(view.strides) < 0:
        steps = [-1 if stride < 0 else None for stride in view.strides]
        sizes_and_steps = zip(view.shape, steps, strict=True)
        spec = tuple(NewAxis() if size == 1 else Slice(None, None, step) for size, step in sizes_and_steps)
        node = symbolic_arrays.record_array_op("array_view", list(node.results), spec=spec)
    return [SymbolicArray(node.results[0])]


def _special_attribute(array: SymbolicArray, name: str) -> Any:
    """Return `array.real`, `array.imag` or `array.strides`."""
    if name == "strides":
        if None in array.type.strides:
            raise StagingError(f"the attribute {name!r} of an array is read", current_place())
        return array.type.strides
    if not array.type.dtype.is_complex:
        if name == "real":
            return array
        raise StagingError("the imaginary parts of a real array are read-only", current_place())
    if array.ndim == 0:  # a value would count as a scalar, which `+=` does not change
        raise StagingError("parts of an array without dimensions are taken, which are views", current_place())
    if complex_parts.are_parts_views():
        node = symbolic_arrays.record_array_op("array_part", [array.value_in_graph], part_name=name)
        return SymbolicArray(node.results[0])
    complex_parts.record_complex_use("split")
    return attribute_of(array.load(), name)


def _call_view_method(array: SymbolicArray, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method that returns a view, or for some layouts of the array a copy."""
    tensors = map(as_tensor, _flatten_values(args))
    symbolic_arguments = [tensor for tensor in tensors if isinstance(tensor, SymbolicTensor)]
    if symbolic_arguments:
        current_contract().specialise(*symbolic_arguments)
        raise StagingError(f"the method {name!r} of an array is given a value known only at run time", current_place())
    if name in _METHODS_ALWAYS_VIEWS:
        return view_of(array, lambda x: _call_method(x, name, args, kwargs))
    views = record_strided_views(array, lambda x: _call_method(x, name, args, kwargs))
    if views is not NotImplemented:
        return views[0]
    is_layout_unknown = None in array.type.shape or None in array.type.strides
    if is_layout_unknown or kwargs:
        current_contract().specialise(array)
        raise StagingError(f"whether {name!r} of an array is a view is known only at run time", current_place())
    return wrap_new_arrays(attribute_of(array.load(), name)(*args))


def _call_method(x: np.ndarray, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of a NumPy array; its TypeError or ValueError counts as raised by the program."""
    with errors_of_program(TypeError, ValueError):
        return getattr(x, name)(*args, **kwargs)


def _flatten_values(values: Any) -> list[Any]:
    """Return the values in nested lists and tuples."""
    nested = (_flatten_values(value) if isinstance(value, (tuple, list)) else [value] for value in values)
    return [value for flat_values in nested for value in flat_values]


# ---- methods that are implemented in this module


def _copy(array: SymbolicArray, order: str = "C") -> Any:
    """`array.copy(order)`; the order A means C for an array in C order."""
    order = "C" if order == "A" and kept_order((array,)) is None else order
    return _astype(array, array.type.dtype.numpy, order)


def _astype(array: SymbolicArray, dtype: Any, order: str = "K", *, copy: bool = True) -> Any:
    """`array.astype(dtype, order, copy=…)`, in the order C or K."""
    if order not in ("C", "K") or (order == "C" and not copy):
        raise StagingError(f"an array is copied in the order {order!r}", current_place())
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype.kind not in "biufc" or not numpy_dtype.isnative:
        raise StagingError(f"an array is converted to {numpy_dtype}", current_place())
    if array.type.dtype.is_complex and numpy_dtype.kind != "c":
        raise StagingError("complex elements lose their imaginary parts", current_place())
    target_dtype = as_dtype(numpy_dtype)
    is_same_dtype = target_dtype is array.type.dtype
    if is_same_dtype and not copy:
        return array
    elements = array.load() if is_same_dtype else dispatch.apply("cast", array.load(), dtype=target_dtype)
    return wrap_new_arrays(elements, wrap_scalars=True, ordered_like=() if order == "C" else (array,))


def _flatten(array: SymbolicArray, order: str = "C") -> Any:
    """`array.flatten(order)`."""
    if order != "C":
        raise StagingError(f"an array is flattened in the order {order!r}", current_place())
    return wrap_new_arrays(dispatch.apply("reshape", array.load(), shape=(-1,)))


def _fill(array: SymbolicArray, value: object) -> None:
    """`array.fill(value)`."""
    if isinstance(value, (SymbolicArray, np.ndarray)):
        rank: int | None = value.ndim
    else:
        tensor = as_tensor(value)
        rank = 0 if tensor is None else tensor.type.rank
    if rank != 0 or isinstance(value, (list, tuple)):  # NumPy refuses them, where an assignment broadcasts
        raise StagingError("an array is filled with an array or a list", current_place())
    array.store(value)


def _sort(
    array: SymbolicArray, axis: int = -1, kind: str | None = None, order: str | None = None, **options: Any
) -> None:
    """`array.sort(axis)`, in place."""
    sort = implementation(np.sort)  # None while autoconv.numpy is not imported
    if order is not None or options or sort is None:
        raise StagingError("an array is sorted by fields, or stably", current_place())
    array.store(sort(array.load(), axis=axis, kind=kind))


def _view(array: SymbolicArray, dtype: Any = None, *options: Any) -> SymbolicArray:
    """`array.view(dtype)`."""
    numpy_dtype = None if dtype is None else np.dtype(dtype)
    has_supported_dtype = numpy_dtype is not None and numpy_dtype.kind in "iufc" and numpy_dtype.isnative
    if not has_supported_dtype or options:
        raise StagingError(f"an array is viewed as {dtype}", current_place())
    target_dtype, type_ = as_dtype(numpy_dtype), array.type
    if target_dtype is type_.dtype:
        return array[...]  # type: ignore[no-any-return]
    if target_dtype.size != type_.dtype.size:
        current_contract().specialise(array)
        size, is_row = type_.shape[-1:], type_.strides[-1:] == (type_.dtype.size,)
        if not is_row or not isinstance(size[0], int) or size[0] * type_.dtype.size % target_dtype.size:
            raise StagingError(f"an array whose rows are not in one piece is viewed as {dtype}", current_place())
    node = symbolic_arrays.record_array_op("array_bits", [array.value_in_graph], dtype=target_dtype)
    return SymbolicArray(node.results[0])


_METHODS: dict[str, Callable[..., Any]] = {
    "view": _view, "copy": _copy, "astype": _astype, "flatten": _flatten, "fill": _fill, "sort": _sort,
}  # fmt: skip


def set_array_attribute(array: SymbolicArray, name: str, value: Any) -> None:
    """Run `array.name = value`; raise NumPy's AttributeError for attributes that cannot be assigned."""
    if name == "flat":
        FlatElements(array)[:] = value
        return
    if name in ("real", "imag") and array.ndim:
        if array.type.dtype.is_complex:
            complex_parts.record_complex_use("written")
        _special_attribute(array, name)[...] = value
        return
    # Other arrays are refused: their elements may lie by columns in NumPy, or a view may share them.
    if name == "shape" and array.ndim == 1 and _is_unshared(array):
        reshaped_array = wrap_new_arrays(attribute_of(array.load(), "reshape")(value), wrap_scalars=True)
        array.value_in_graph = reshaped_array.value_in_graph
        return
    if name in ("shape", "strides", "dtype", "data", "real", "imag"):
        raise StagingError(f"the attribute {name!r} of an array is assigned", current_place())
    if hasattr(np.ndarray, name):
        raise as_program_error(AttributeError(f"attribute {name!r} of 'numpy.ndarray' objects is not writable"))
    raise as_program_error(AttributeError(f"'numpy.ndarray' object has no attribute {name!r}"))


def _is_unshared(array: SymbolicArray) -> bool:
    """Return whether the current region made the array, and no view of the array exists."""
    value, region = array.value_in_graph, current_region()
    if region is None or value.graph is not region.graph or value.node is None or not value.node.op.traits.allocates:
        return False
    return not any(node.op.traits.view and value in node.inputs for node in region.graph.nodes)


def is_same_array(first: SymbolicArray, second: SymbolicArray) -> bool:
    """Return whether two symbolic arrays are one object; raise StagingError where that is known only at run time."""
    if first.value_in_graph is second.value_in_graph:
        return True
    region = current_region()
    assert region is not None
    are_unique = all(_is_unique_object(array.value_in_graph, region) for array in (first, second))
    if are_unique and not _may_be_same_empty_array(first, second):
        return False
    raise StagingError("two arrays are compared by identity", current_place())


def _is_unique_object(value: Value, region: Region) -> bool:
    """True if the value is an argument that overlaps no other, or its defining node creates a new array object."""
    if value.node is None:
        return value.graph is region.trace.root.graph and region.trace.memory == "disjoint"
    return value.node.op.name in ("array_new", "array_of", "array_view", "array_strided", "array_transpose")


def _may_be_same_empty_array(first: SymbolicArray, second: SymbolicArray) -> bool:
    """True if both arguments may be the same array without elements, which overlaps nothing, not even itself."""
    if any(array.value_in_graph.node is not None for array in (first, second)):
        return False
    if first.type.dtype is not second.type.dtype or first.ndim != second.ndim:
        return False
    size_pairs = list(zip(first.known_shape, second.known_shape, strict=True))
    may_have_same_shape = all(None in sizes or len(set(sizes)) == 1 for sizes in size_pairs)
    return may_have_same_shape and any(set(sizes) <= {0, None} for sizes in size_pairs)


symbolic_arrays.register_members(array_member)
