"""NumPy functions that return views of memory arrays."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.ops.linalg.products import keeps_labels
from autoconv.runtime.annotations import IntLike, ShapeLike
from autoconv.runtime.arrays.array_creation import record_strided_views, strided_array
from autoconv.runtime.arrays.members import array_member, diagonal_of, view_of, windows_of
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray, wrap_new_arrays
from autoconv.runtime.arrays.views import compute_view_layouts, strided_view
from autoconv.runtime.arrays.windows import window_axes
from autoconv.runtime.recording.numpy_protocol import (
    call_implementation,
    find_numpy_function,
    qualified_name,
)
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.splits import split_ends


def load_elements(value: Any) -> Any:
    """Return the current elements of arrays, at any depth of lists and tuples."""
    if type(value) in (list, tuple):
        return type(value)(map(load_elements, value))
    return value.load() if type(value) is SymbolicArray else value


def _reshape(array: SymbolicArray, shape: ShapeLike, order: str = "C") -> Any:
    return array_member(array, "reshape")(shape) if order == "C" else array_member(array, "reshape")(shape, order=order)


def _view_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that returns a view of its first argument."""
    return lambda array, *args, **kwargs: view_of(array, lambda x: function(x, *args, **kwargs))


def _view_of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that returns a view of each of its arguments."""

    def view_or_array(x: object) -> Any:
        return (
            view_of(x, function)
            if type(x) is SymbolicArray
            else wrap_new_arrays(call_implementation(function, x), wrap_scalars=True)
        )

    def views(*arrays: Any) -> Any:
        """Return the view of the only argument, or a tuple with the views of all arguments."""
        strided_views = tuple(map(view_or_array, arrays))
        return strided_views[0] if len(strided_views) == 1 else strided_views

    return views


def _views_of_argument(function: Callable[..., Any], result_class: type) -> Callable[..., Any]:
    """Wrap a function that returns several views of its argument."""

    def views(array: SymbolicArray, *args: Any, **kwargs: Any) -> Any:
        """Return the views as a `result_class`; raise StagingError if NumPy may return something else."""
        strided_views = record_strided_views(array, lambda x: function(x, *args, **kwargs))
        if strided_views is NotImplemented:
            _refuse_view(function)
        return result_class(strided_views)

    return views


def _view_splitter(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that splits its argument along an axis, whose size may be known only at run time."""
    split = _views_of_argument(function, list)

    def views(array: SymbolicArray, sections: Any, axis: int = 0) -> list[Any]:
        """Return a list of views, whose borders may be known only at run time."""
        axis = {np.hsplit: min(1, array.ndim - 1), np.vsplit: 0, np.dsplit: 2}.get(function, axis)
        if not -array.ndim <= axis < array.ndim or None not in array.known_shape:
            return split(array, sections, *([axis] if function in (np.split, np.array_split) else []))
        axis = axis % array.ndim
        ends = split_ends(array.size_of(axis), sections, must_be_even=function is not np.array_split)
        if ends is None:
            _refuse_view(function)
        return [array[(slice(None),) * axis + (slice(*bounds),)] for bounds in itertools.pairwise((None, *ends, None))]

    return views


def _refuse_view(function: Callable[..., Any]) -> NoReturn:
    raise StagingError(f"{qualified_name(function)} may return a view of an array", current_place())


def _functions_by_name(*names: str) -> list[Any]:
    """Return the functions of those names that the installed NumPy has."""
    return [function for function in map(find_numpy_function, names) if function is not None]


def _make_diagonal(array: SymbolicArray, k: IntLike) -> Any:
    return call_implementation(np.diag, load_elements(array), k)


def _identity_if(function: Callable[..., Any], times: int) -> Callable[..., Any]:
    """Wrap a function that returns its argument itself if its second argument, a number of repetitions, is `times`."""

    def apply(array: SymbolicArray, n: Any = 1, *args: Any, **kwargs: Any) -> Any:
        """Return the array itself for `times` repetitions, else a new array."""
        if as_tensor(n) is None and operator.index(n) == times:
            return array
        result = call_implementation(function, load_elements(array), n, *args, **kwargs)
        return wrap_new_arrays(result, ordered_like=(array,) if function is np.diff else ())

    return apply


def _einsum(*operands: Any, **options: Any) -> Any:
    """Return a view where one array is only transposed or its diagonal taken."""
    if len(operands) == 2 and isinstance(operands[0], str) and keeps_labels(operands[0]):
        array = operands[1]
        if options:
            _refuse_view(np.einsum)
        labels = operands[0].partition("->")[0].replace(" ", "")
        if len(set(labels.replace(".", ""))) < len(labels.replace(".", "")):
            _known_sizes(np.einsum, array)  # refuses unknown sizes, which the strides of a diagonal depend on
        return view_of(array, lambda x: np.einsum(operands[0], x))
    return wrap_new_arrays(call_implementation(np.einsum, *map(load_elements, operands), **options))


def _meshgrid(*arrays: Any, copy: bool = True, **options: Any) -> Any:
    if not copy:
        _refuse_view(np.meshgrid)
    return wrap_new_arrays(call_implementation(np.meshgrid, *map(load_elements, arrays), **options))


def _ix(*arrays: Any) -> Any:
    """Return one-dimensional arrays as views with as many dimensions as there are arrays."""
    if all(type(x) is SymbolicArray and x.ndim == 1 and not x.type.dtype.is_bool for x in arrays):
        dimensions = range(len(arrays))
        shapes = [tuple(-1 if i == position else 1 for i in dimensions) for position in dimensions]
        return tuple(map(_reshape, arrays, shapes))
    if any(type(x) is SymbolicArray and not x.type.dtype.is_bool for x in arrays):
        _refuse_view(np.ix_)
    return wrap_new_arrays(call_implementation(np.ix_, *map(load_elements, arrays)))


def _windows(array: SymbolicArray, window_shape: Any, axis: Any = None, **options: Any) -> SymbolicArray:
    """`np.lib.stride_tricks.sliding_window_view` of an array of known sizes."""
    shape = _known_sizes(np.lib.stride_tricks.sliding_window_view, array, window_shape, axis, **options)
    return windows_of(array, *window_axes(shape, window_shape, axis))


def _as_strided(
    array: SymbolicArray, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    """`np.lib.stride_tricks.as_strided` for known sizes and strides; other arguments raise StagingError."""
    # Refuses unknown sizes, and the option `subok`.
    _known_sizes(np.lib.stride_tricks.as_strided, array, (shape or (), strides or ()), subok=subok)
    try:
        (layout,) = compute_view_layouts(array.type, lambda x: strided_view(x, shape, strides, writeable))
    except (TypeError, ValueError):
        _refuse_view(np.lib.stride_tricks.as_strided)
    if layout.get("read_only") and writeable:
        layout["read_only"] = "overlaps"
    return strided_array(array, layout)


def _broadcast_to(array: SymbolicArray, shape: Any, **options: Any) -> Any:
    _known_sizes(np.broadcast_to, array, shape, **options)  # refuses unknown sizes, and options
    return view_of(array, lambda x: np.broadcast_to(x, shape))


def _known_sizes(
    function: Callable[..., Any], array: SymbolicArray, view_shape: Any = (), axis: Any = None, /, **options: Any
) -> tuple[int, ...]:
    """Return the array's shape; refuse a view with options, and one whose shape is known at run time only."""
    tensors = [tensor for value in _flatten((view_shape, axis)) if (tensor := as_tensor(value)) is not None]
    shape = tuple(size for size in array.known_shape if size is not None)
    if any(options.values()) or tensors or len(shape) < array.ndim:
        current_contract().specialise(*tensors, array)
        _refuse_view(function)
    return shape


def _flatten(values: Any) -> list[Any]:
    """Return the items of nested tuples and lists in one list."""
    return [part for value in values for part in (_flatten(value) if isinstance(value, (tuple, list)) else [value])]


# Functions that may return views of any of their arguments.
VIEW_OF_ANY_ARGUMENT_BY_FUNCTION: dict[Any, Callable[..., Any]] = {
    np.einsum: _einsum, np.meshgrid: _meshgrid, np.ix_: _ix,
    np.frombuffer: lambda *_, **__: _refuse_view(np.frombuffer),
    np.broadcast_arrays: lambda *_, **__: _refuse_view(np.broadcast_arrays),
    **{function: _view_of_each(function) for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d)},
}  # fmt: skip
VIEW_BY_FUNCTION: dict[Any, Callable[..., Any]] = {
    **{function: _view_function(function) for function in _functions_by_name(
        "transpose", "swapaxes", "moveaxis", "rollaxis", "squeeze", "expand_dims", "flip", "fliplr", "flipud", "rot90",
        "matrix_transpose", "permute_dims", "linalg.matrix_transpose")},
    **{function: _view_splitter(function) for function in _functions_by_name(
        "split", "array_split", "hsplit", "vsplit", "dsplit")},
    **{function: _views_of_argument(function, tuple) for function in _functions_by_name("unstack")},
    **{function: lambda *_, function=function, **__: _refuse_view(function) for function in _functions_by_name(
        "broadcast_arrays", "real_if_close")},
    np.real: lambda val: array_member(val, "real"), np.imag: lambda val: array_member(val, "imag"),
    np.diagonal: diagonal_of, np.broadcast_to: _broadcast_to, np.lib.stride_tricks.sliding_window_view: _windows,
    np.lib.stride_tricks.as_strided: _as_strided,
    **dict.fromkeys(
        _functions_by_name("linalg.diagonal"), lambda array, *, offset=0: diagonal_of(array, offset, axis1=-2, axis2=-1)
    ),
    np.reshape: _reshape,
    **{
        function: lambda array, *args, **options: array_member(array, "astype")(*args, **options)
        for function in _functions_by_name("astype")
    },
    np.diag: lambda array, k=0: diagonal_of(array, k) if array.ndim == 2 else wrap_new_arrays(_make_diagonal(array, k)),
    np.trim_zeros: lambda *args, **options: call_implementation(np.trim_zeros, *args, **options),
    np.ravel: lambda array, order="C": array_member(array, "ravel")(order),
    np.diff: _identity_if(np.diff, times=0), np.linalg.matrix_power: _identity_if(np.linalg.matrix_power, times=1),
}  # fmt: skip
