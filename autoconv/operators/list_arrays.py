"""Functions of the numpy module that are given lists of the running graph: these become arrays first.

What they hold is guessed (`operators/item_types.py`) and looked at when the graph runs (`ops/list_arrays.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import DTYPES, DType, int64
from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType
from autoconv.operators.item_types import array_type
from autoconv.ops.list_arrays import OF_OBJECTS, WITH_AXIS, WITHOUT_AXIS, join_items
from autoconv.runtime.containers import TracedList, heap_of
from autoconv.runtime.numpy_protocol import numpy_named
from autoconv.runtime.objects import SymbolicObject, box, record_object
from autoconv.runtime.recording import COMPILE, current_region
from autoconv.runtime.symbolic import SymbolicTensor

# How many of a function's first arguments are arrays, to which a list is what `np.array(list)` is.
_TAKING = {
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
_COUNTS = {numpy_named(name): count for count, names in _TAKING.items() for name in names.split()}
_JOINING = frozenset(numpy_named(name) for name in (*WITH_AXIS, *WITHOUT_AXIS))
_WITH_DTYPE = frozenset({np.array, np.asarray, np.asanyarray, np.ascontiguousarray})


def with_arrays(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of NumPy's, with arrays in the place of lists that only the running graph knows, as far
    as the function makes arrays of them and it can be guessed of which dtype and rank."""
    region = current_region()
    if region is None or region.contract != COMPILE or not any(map(_is_in_graph, args)):
        return args, kwargs
    if function in _WITH_DTYPE and len(args) <= 2 and _is_in_graph(args[0]) and kwargs.get("copy", True) is not False:
        made = _array(args[0], args[1] if len(args) == 2 else kwargs.get("dtype"))
        if made is None:
            return args, kwargs
        own = {"copy": None} if function is np.array else {}  # it is new already
        return (made,), {name: value for name, value in kwargs.items() if name != "dtype"} | own
    if function in _JOINING and type(args[0]) in (list, tuple, TracedList) and heap_of(args[0]) is None:
        parts = [_array(item) if _is_in_graph(item) else item for item in args[0]]
        return (args if any(part is None for part in parts) else (parts, *args[1:])), kwargs
    count = function.nin if isinstance(function, np.ufunc) else _COUNTS.get(function, 0)
    wanted = [i for i, value in enumerate(args[:count]) if _is_in_graph(value)]
    arrays = {i: _array(args[i]) for i in wanted}
    if any(array is None for array in arrays.values()):
        return args, kwargs
    return tuple(arrays.get(i, value) for i, value in enumerate(args)), kwargs


def joined(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> SymbolicTensor | None:
    """What a function of NumPy's gives that joins the items of a list which only the running graph knows; None where
    it does not, or it cannot be guessed of which dtype and rank that is."""
    region = current_region()
    if function not in _JOINING or region is None or region.contract != COMPILE or not any(map(_is_in_graph, args)):
        return None
    name, (items, *rest), options = function.__name__, args, dict(kwargs)
    axis = rest.pop() if len(rest) == 1 else options.pop("axis", 0)
    if rest or options or (name not in WITH_AXIS and (len(args) > 1 or kwargs)):
        return None
    if type(axis) is not int and axis is not None:
        return None
    boxed = box(items)
    guess = array_type(region, region.lift(boxed.value_in_graph))
    if guess is None or guess.shape is None:
        return None
    example = np.ones([size if isinstance(size, int) else 2 for size in guess.shape[1:]], guess.dtype.numpy)
    try:
        rank = join_items([example, example], name, axis).ndim
    except (TypeError, ValueError):  # numpy.exceptions.AxisError as well
        return None
    attributes = {"dtype": guess.dtype, "shape": (None,) * rank, "given": False, "function": name, "axis": axis}
    found: SymbolicTensor = record_object(OF_OBJECTS, [boxed], **attributes)
    return found


def index_array(index: Any) -> Any:
    """What an array is indexed by: of a list that only the running graph knows the array, as far as it can be
    guessed."""
    if type(index) is SymbolicObject:
        is_list = _makes_list(index.value_in_graph)
    else:
        is_list = type(index) is TracedList and heap_of(index) is not None
    region = current_region()
    if not is_list or region is None or region.contract != COMPILE:
        return index
    found = _array(index, is_index=True)
    return index if found is None else found


def _makes_list(value: Value) -> bool:
    """Whether an object is a list, or what an operator gives that probably makes one."""
    node = value.node
    if value.type == _LIST or node is None or node.op.name != "object_apply":
        return value.type == _LIST
    cuts = node.attributes["function"] == "getitem" and node.inputs[1].type == ObjectType("slice")
    return cuts or node.attributes["function"] in ("list", "sorted")


def _is_in_graph(value: Any) -> bool:
    """Whether it is an object that only the running graph knows, or holds such, at any depth of lists and tuples."""
    if type(value) is SymbolicObject or (type(value) is TracedList and heap_of(value) is not None):
        return True
    return type(value) in (list, tuple, TracedList) and any(map(_is_in_graph, value))


def _array(value: Any, dtype: Any = None, is_index: bool = False) -> SymbolicTensor | None:
    """The list as an array, of that dtype if one is named; None where it cannot be guessed what it is. No index at all
    is an array of ints."""
    region = current_region()
    assert region is not None
    named = None if dtype is None else _numeric(dtype)
    if dtype is not None and named is None:
        return None
    boxed = box(value)
    guess = array_type(region, region.lift(boxed.value_in_graph))
    if guess is None:
        return None
    if is_index and guess.dtype is int64:
        named = int64
    attributes = {"dtype": named or guess.dtype, "shape": guess.shape, "given": named is not None}
    found: SymbolicTensor = record_object(OF_OBJECTS, [boxed], **attributes)
    return found


def _numeric(dtype: Any) -> DType | None:
    """The dtype that the program names, if arrays of a graph have it."""
    if isinstance(dtype, (SymbolicObject, SymbolicTensor)):
        return None
    found = np.dtype(dtype)
    return DTYPES.get(found.name) if found.isnative else None


__all__ = ["index_array", "joined", "with_arrays"]
