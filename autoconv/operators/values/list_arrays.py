"""Convert run-time lists to arrays where they are arguments of NumPy functions.

Dtype and rank are guessed (`operators/inference/item_types.py`) and verified at run time (`ops/numpy/list_arrays.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DTYPES, DType, int64
from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType
from autoconv.operators.inference.item_types import array_type
from autoconv.ops.numpy.list_arrays import JOINS_WITH_AXIS, JOINS_WITHOUT_AXIS, LIST_ARRAY, join_items
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.objects.containers import TracedList, heap_of
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box, record_object
from autoconv.runtime.recording.numpy_protocol import find_numpy_function
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# By the number of leading arguments that are arrays, the functions: a list there is converted as by `np.array(list)`.
_FUNCTIONS_BY_ARRAY_COUNT = {
    1: """
        all amax amin any argmax argmin argpartition argsort argwhere around array asanyarray asarray
        ascontiguousarray atleast_1d atleast_2d average bincount clip copy count_nonzero cov cumprod cumsum
        cumulative_prod cumulative_sum diag diff ediff1d expand_dims fft.fft fft.fft2 fft.fftn fft.ifft fft.irfft
        fft.rfft fix flatnonzero flip fliplr flipud gradient histogram histogram_bin_edges linalg.cholesky
        linalg.cond linalg.det linalg.eigh linalg.eigvalsh linalg.inv linalg.matrix_power linalg.matrix_rank
        linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.svd max mean median min moveaxis nan_to_num ndim
        nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
        nanstd nansum nanvar nonzero ones_like partition percentile prod ptp quantile ravel repeat reshape roll
        rot90 round shape size sort squeeze std sum swapaxes tile trace transpose tril triu trim_zeros unique unwrap
        vander var zeros_like
    """,
    2: """
        allclose append array_equal convolve corrcoef correlate cross digitize dot inner intersect1d isclose isin kron
        linalg.lstsq linalg.solve outer polyfit polyval searchsorted setdiff1d setxor1d take tensordot trapezoid
        union1d vdot
    """,
    3: "interp where",
}
_LIST = ObjectType("list")
_ARRAY_ARGUMENT_COUNTS = {
    find_numpy_function(name): count for count, names in _FUNCTIONS_BY_ARRAY_COUNT.items() for name in names.split()
}
_JOINING_FUNCTIONS = frozenset(find_numpy_function(name) for name in (*JOINS_WITH_AXIS, *JOINS_WITHOUT_AXIS))
_ARRAY_CONSTRUCTORS = frozenset({np.array, np.asarray, np.asanyarray, np.ascontiguousarray})


def convert_list_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a NumPy call with arrays in place of run-time lists.

    Only arguments that the function converts itself are replaced, and only if dtype and rank can be guessed.
    """
    region = current_region()
    if region is None or not region.contract.objects_in_graph or not any(map(_is_in_graph, args)):
        return args, kwargs
    is_constructor = function in _ARRAY_CONSTRUCTORS and len(args) <= 2 and kwargs.get("copy", True) is not False
    if is_constructor and _is_in_graph(args[0]):
        array = _list_as_array(args[0], args[1] if len(args) == 2 else kwargs.get("dtype"))
        if array is None:
            return args, kwargs
        copy_option = {"copy": None} if function is np.array else {}  # the array is new already
        return (array,), {name: value for name, value in kwargs.items() if name != "dtype"} | copy_option
    if function in _JOINING_FUNCTIONS and type(args[0]) in (list, tuple, TracedList) and heap_of(args[0]) is None:
        converted_items = [_list_as_array(item) if _is_in_graph(item) else item for item in args[0]]
        return (args if any(array is None for array in converted_items) else (converted_items, *args[1:])), kwargs
    count = function.nin if isinstance(function, np.ufunc) else _ARRAY_ARGUMENT_COUNTS.get(function, 0)
    positions = [i for i, value in enumerate(args[:count]) if _is_in_graph(value)]
    arrays = {i: _list_as_array(args[i]) for i in positions}
    if any(array is None for array in arrays.values()):
        return args, kwargs
    return tuple(arrays.get(i, value) for i, value in enumerate(args)), kwargs


def join_list(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SymbolicTensor | None:
    """Return the result of a NumPy function that joins the items of a run-time list.

    None for other functions, for options other than `axis`, or if the dtype and rank of the result cannot be guessed.
    """
    region = current_region()
    if function not in _JOINING_FUNCTIONS or region is None or not region.contract.objects_in_graph:
        return None
    if not any(map(_is_in_graph, args)):
        return None
    name, (items, *further_arguments), options = function.__name__, args, dict(kwargs)
    axis = further_arguments.pop() if len(further_arguments) == 1 else options.pop("axis", 0)
    if further_arguments or options or (name not in JOINS_WITH_AXIS and (len(args) > 1 or kwargs)):
        return None
    if type(axis) is not int and axis is not None:
        return None
    boxed_list = box(items)
    guess = array_type(region, region.lift(boxed_list.value_in_graph))
    if guess is None or guess.shape is None:
        return None
    # An item of the guessed type. Unknown sizes are replaced by any size that does not broadcast.
    example = np.ones([size if isinstance(size, int) else 2 for size in guess.shape[1:]], guess.dtype.numpy)
    try:
        rank = join_items([example, example], name, axis).ndim
    except (TypeError, ValueError):  # includes numpy.exceptions.AxisError
        return None
    attributes = {"dtype": guess.dtype, "shape": (None,) * rank, "function": name, "axis": axis}
    result: SymbolicTensor = record_object(LIST_ARRAY, [boxed_list], **attributes)
    return result


def index_array(index: object) -> Any:
    """Return an index of an array; a run-time list becomes an array if its type can be guessed."""
    if type(index) is SymbolicObject:
        is_list = _is_list(index.value_in_graph)
    else:
        is_list = type(index) is TracedList and heap_of(index) is not None
    region = current_region()
    if not is_list or region is None or not region.contract.objects_in_graph:
        return index
    array = _list_as_array(index, is_index=True)
    return index if array is None else array


def _is_list(value: Value) -> bool:
    """Return whether an object is a list, or the result of an operation that probably makes one."""
    node = value.node
    if value.type == _LIST or node is None or node.op.name != "object_apply":
        return value.type == _LIST
    is_slice = node.attributes["function"] == "getitem" and node.inputs[1].type == ObjectType("slice")
    return is_slice or node.attributes["function"] in ("list", "sorted")


def _is_in_graph(value: Any) -> bool:
    """Return whether a value is known only at run time, or lists and tuples in it hold such a value at any depth."""
    if type(value) is SymbolicObject or (type(value) is TracedList and heap_of(value) is not None):
        return True
    return type(value) in (list, tuple, TracedList) and any(map(_is_in_graph, value))


def _list_as_array(value: object, dtype: DTypeLike | None = None, is_index: bool = False) -> SymbolicTensor | None:
    """Return the list as an array, of `dtype` if given; None if its type cannot be guessed.

    With `is_index`, an empty list is an array of ints.
    """
    region = current_region()
    assert region is not None
    named_dtype = None if dtype is None else _array_dtype(dtype)
    if dtype is not None and named_dtype is None:
        return None
    boxed_list = box(value)
    guess = array_type(region, region.lift(boxed_list.value_in_graph))
    if guess is None:
        return None
    if is_index and guess.dtype is int64:
        named_dtype = int64
    attributes = {"dtype": named_dtype or guess.dtype, "shape": guess.shape, "has_given_dtype": named_dtype is not None}
    result: SymbolicTensor = record_object(LIST_ARRAY, [boxed_list], **attributes)
    return result


def _array_dtype(dtype: Any) -> DType | None:
    """Return the dtype that the program names, if graphs support arrays of it."""
    if isinstance(dtype, (SymbolicObject, SymbolicTensor)):
        return None
    numpy_dtype = np.dtype(dtype)
    return DTYPES.get(numpy_dtype.name) if numpy_dtype.isnative else None
