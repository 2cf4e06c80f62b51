"""NumPy functions in a trace with memory arrays: those that create arrays, or views of arrays.

All other functions take the elements as tensors, and their result becomes a new array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.operators.control.variants import distribute_call
from autoconv.operators.numpy.calls import gives_array, numpy_call
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.numpy_views import VIEW_BY_FUNCTION, VIEW_OF_ANY_ARGUMENT_BY_FUNCTION, load_elements
from autoconv.operators.values.list_arrays import convert_list_arguments, join_list
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.arrays.array_creation import new_array
from autoconv.runtime.arrays.assigned_values import (
    cast_to,
    convert_elements,
    convert_plain_numbers,
    convert_plain_sequence,
    loses_imaginary_parts,
    stack_items,
)
from autoconv.runtime.arrays.members import array_member
from autoconv.runtime.arrays.memory_order import kept_order, memory_order_operands
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray, wrap_new_arrays
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.recording.numpy_protocol import (
    MUTATING_FUNCTIONS,
    check_options,
    implementation,
    numpy_refusal,
    qualified_name,
    with_named_out,
)
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


def array_function(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the replacement of a NumPy function in a trace with memory arrays; None for others."""
    creator = _look_up(_CREATORS, function)
    if creator is None and _look_up(VIEW_BY_FUNCTION, function) is None and implementation(function) is None:
        return None
    return functools.partial(_call_on_memory, function)


def _look_up(table: dict[Any, Any], function: Callable[..., Any]) -> Any:
    """Return the table's entry for the function; None if there is none, or if the function is unhashable."""
    try:
        return table.get(function)
    except TypeError:  # unhashable
        return None


def _call_on_memory(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function: as an operation on the memory of arrays if it is one, else on their elements."""
    if any(type(x) is Variant for x in (*args, *kwargs.values())):
        return distribute_call(functools.partial(_call_on_memory, function), *args, **kwargs)
    check_options(kwargs)
    args, kwargs = convert_list_arguments(function, args, kwargs)
    joined_array = join_list(function, args, kwargs)
    if joined_array is not None:
        return wrap_new_arrays(joined_array)
    is_program_array = bool(args) and isinstance(args[0], np.ndarray) and not holds_symbols((args, kwargs))
    if is_program_array and function in _MEMORY_SHARING_FUNCTIONS:
        return function(*args, **kwargs)  # an array of the program: the result is itself or a view
    args, kwargs = with_named_out(function, args, kwargs)
    if function in VIEW_OF_ANY_ARGUMENT_BY_FUNCTION and any(type(x) is SymbolicArray for x in args):
        return VIEW_OF_ANY_ARGUMENT_BY_FUNCTION[function](*args, **kwargs)
    if args and type(args[0]) is SymbolicArray and function in VIEW_BY_FUNCTION:
        return _call_on_elements(functools.partial(VIEW_BY_FUNCTION[function], args[0]), *args[1:], **kwargs)
    if function in _CREATORS:
        return _CREATORS[function](*args, **kwargs)
    region = current_region()
    compute = numpy_call(function, region)
    if compute is None:
        raise numpy_refusal(qualified_name(function))
    changed_count = 1 if function in _CHANGING_FUNCTIONS else 0  # leading arguments that the function changes
    result = compute(
        *args[:changed_count], *map(load_elements, args[changed_count:]),
        **{key: value if key == "out" else load_elements(value) for key, value in kwargs.items()},
    )  # fmt: skip
    if type(result) is SymbolicArray:
        return result
    return wrap_new_arrays(result, gives_array(function, args, kwargs), memory_order_operands(function, args, kwargs))


def _call_on_elements(compute: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return compute(*map(load_elements, args), **{key: load_elements(value) for key, value in kwargs.items()})


def _as_numpy_number(value: object) -> Any:
    """Convert a Python number as NumPy does: to int64 or float64."""
    tensor: Any = as_tensor(value)
    if tensor is None:
        return EagerTensor(np.asarray(value))
    return dispatch.apply("python_cast", tensor, dtype=tensor.type.dtype)


# ---- new arrays


def _number_dtype(dtype: Any) -> DType:
    """Return the dtype of an array's elements; raise StagingError for other elements than numbers in native order."""
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype.kind not in "biufc" or not numpy_dtype.isnative:
        raise StagingError(f"an array of {numpy_dtype} is created", current_place())
    return as_dtype(numpy_dtype)


def _refuse_order() -> NoReturn:
    raise StagingError("an array is created in a memory order other than 'C'", current_place())


def _require_plain_options(options: dict[str, Any]) -> None:
    """Raise StagingError for options of a creating function other than the memory orders "C" and "K"."""
    if options.pop("order", "C") not in ("C", "K") or options.pop("like", None) is not None or options:
        _refuse_order()


def _make_filled_creator(fill: Any) -> Callable[..., Any]:
    """Return the replacement of np.zeros and the like; with `fill` None, the elements are arbitrary."""
    def make(shape: Any, dtype: Any = float, order: str = "C", **options: Any) -> Any:
        """Return a new array; options that this module does not cover raise StagingError."""
        if order not in ("C", None):
            _refuse_order()
        _require_plain_options(options)
        return new_array(shape, _number_dtype(dtype), fill)

    return make


def _ndarray(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: Any = 0, strides: Any = None, order: Any = None
) -> Any:
    if buffer is not None or strides is not None:
        raise StagingError("an array is created on memory that the program passes", current_place())
    return _make_filled_creator(fill=None)(shape, dtype, order or "C")


def _full(
    shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None, order: str = "C", **options: Any
) -> Any:
    """`np.full`."""
    if order not in ("C", None):
        _refuse_order()
    _require_plain_options(options)
    tensor = as_tensor(fill_value)
    if tensor is not None and dtype is None:
        dtype = tensor.type.dtype.numpy
    element_dtype = _number_dtype(np.asarray(fill_value).dtype if dtype is None else dtype)
    if isinstance(fill_value, int):
        convert_plain_numbers(fill_value, element_dtype)  # raises NumPy's own error
    if isinstance(fill_value, (bool, int, float)):
        return new_array(shape, element_dtype, fill_value)
    array = new_array(shape, element_dtype)
    _fill(array, fill_value)
    return array


def _fill(array: SymbolicArray, value: object) -> None:
    """Store a value into all elements of a new array, converted as NumPy converts it."""
    if loses_imaginary_parts(value, array.type.dtype):
        raise StagingError("a complex number fills a real array, for which NumPy warns", current_place())
    value = convert_plain_sequence(value)
    tensor = as_tensor(value)
    if tensor is not None:
        value = tensor = _without_leading_ones(tensor, len(array.known_shape))
    is_python_float = tensor is not None and tensor.type.weak and tensor.type.dtype.is_floating
    if is_python_float and array.type.dtype.is_integer:
        # NumPy converts a float to integers as C does.
        value = dispatch.apply("cast", _as_numpy_number(tensor), dtype=array.type.dtype)
    array.store(value)


def _without_leading_ones(tensor: Any, rank: int) -> Any:
    """Return a tensor without leading dimensions of size 1 beyond `rank`, which NumPy drops when it fills an array."""
    shape = tensor.type.shape or ()
    extra_rank = len(shape) - rank
    if extra_rank <= 0 or None in shape or set(shape[:extra_rank]) != {1}:
        return tensor
    return dispatch.apply("reshape", tensor, shape=shape[extra_rank:])


def _make_creator_like(fill: Any) -> Callable[..., Any]:
    """Return the replacement of np.zeros_like and the like; with `fill` None, the elements are arbitrary."""
    def make(a: object, dtype: Any = None, shape: ShapeLike | None = None, subok: bool = True, **options: Any) -> Any:
        """Return a new array with the shape, dtype and memory order of `a`, unless the options state others."""
        keeps_order = shape is None and options.get("order", "K") == "K"
        _require_plain_options(options)
        order = kept_order((a,)) if keeps_order else None
        if order is not None and type(a) is SymbolicArray:
            return make(a.transpose(order), dtype).transpose(*sorted(range(len(order)), key=order.__getitem__))
        template_dtype = a.dtype if type(a) is SymbolicArray else _as_tensor(a).type.dtype.numpy
        new_shape = (a.shape if type(a) is SymbolicArray else _as_tensor(a).type.shape) if shape is None else shape
        return new_array(new_shape, _number_dtype(template_dtype if dtype is None else dtype), fill)

    return make


def _full_like(a: Any, fill_value: object, dtype: object = None, **options: Any) -> Any:
    array = _make_creator_like(fill=None)(a, dtype, **options)
    _fill(array, fill_value)
    return array


def _as_tensor(value: object) -> Any:
    tensor = as_tensor(value)
    return EagerTensor(np.asarray(value)) if tensor is None else tensor


def _array(value: Any, dtype: Any = None, copy: Any = True, **options: Any) -> Any:
    """`np.array`."""
    _require_plain_options({key: option for key, option in options.items() if key not in ("subok", "ndmin")})
    if ndmin := np.array(0, ndmin=options.get("ndmin", 0)).ndim:  # NumPy checks it
        array = _array(value, dtype, copy, **{**options, "ndmin": 0})
        return array[(None,) * (ndmin - array.ndim)] if ndmin > array.ndim else array
    if type(value) is SymbolicArray:
        must_copy = copy or (dtype is not None and np.dtype(dtype) != value.dtype)
        if must_copy or (options.get("order") == "C" and not _is_contiguous(value)):
            order = options.get("order") or "K"
            return array_member(value, "astype")(value.dtype if dtype is None else dtype, order)
        return value
    if dtype is None:
        return wrap_new_arrays(_as_one_tensor(value), wrap_scalars=True)
    element_dtype = _number_dtype(dtype)
    array = cast_to(convert_elements(value, element_dtype), element_dtype)
    return wrap_new_arrays(array, wrap_scalars=True)


def _as_one_tensor(value: object) -> Tensor:
    """Return numbers, arrays and nested lists of them as one tensor, of the dtype that NumPy would choose."""
    tensor = as_tensor(value)
    if tensor is not None:
        return _as_numpy_number(tensor) if tensor.type.weak else tensor  # type: ignore[no-any-return]
    items = value if isinstance(value, (list, tuple)) else ()
    if any(isinstance(item, (Tensor, SymbolicArray, list, tuple)) for item in items):
        tensors = list(map(_as_one_tensor, items))
        if any(isinstance(tensor, SymbolicTensor) for tensor in tensors):
            return stack_items(tensors)  # type: ignore[no-any-return]
        return EagerTensor(np.array([tensor.numpy() for tensor in tensors]))  # type: ignore[attr-defined]
    array = np.array(value)
    _number_dtype(array.dtype)  # raises StagingError for other elements than numbers
    return EagerTensor(array)


def _rank_of(value: object) -> int | None:
    return value.ndim if type(value) is SymbolicArray else _as_one_tensor(value).type.rank


def _ascontiguousarray(value: object, dtype: DTypeLike | None = None, **options: Any) -> Any:
    if not _rank_of(value):
        return array_member(_array(value, dtype, copy=False, **options), "reshape")((1,))
    if type(value) is SymbolicArray and not _is_contiguous(value):
        return _array(value, dtype, order="C")
    return _array(value, dtype, copy=False, **options)


def _is_contiguous(array: SymbolicArray) -> bool:
    if array.type.is_dense:
        return True
    if None in array.type.shape or None in array.type.strides:
        raise StagingError("whether an array is contiguous is known only at run time", current_place())
    return bool(array.type.is_contiguous)


def _asfortranarray(value: object, dtype: DTypeLike | None = None, **options: Any) -> Any:
    rank = _rank_of(value)
    if rank is None or rank > 1:
        _refuse_order()
    return _ascontiguousarray(value, dtype, **options)


def _asarray(value: object, dtype: DTypeLike | None = None, **options: Any) -> Any:
    return _array(value, dtype, copy=False, **options)


def _copy(value: object, order: str = "K", subok: bool = False) -> Any:
    return _array(value, order=order)


def _histogram(a: object, bins: TensorLike = 10, *args: Any, **kwargs: Any) -> Any:
    compute = numpy_call(np.histogram, current_region())
    assert compute is not None
    counts, edges = _call_on_elements(compute, a, bins, *args, **kwargs)  # NumPy returns edges that it is given itself
    return wrap_new_arrays(counts), bins if type(bins) is SymbolicArray or edges is bins else wrap_new_arrays(edges)


def _arange(*bounds: Any, dtype: Any = None, **options: Any) -> Any:
    """`np.arange`."""
    _require_plain_options(options)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if not any(isinstance(as_tensor(bound), SymbolicTensor) for bound in bounds):
        numbers = np.arange(*bounds, dtype=dtype)
        region = current_region()
        is_range_of_ints = all(type(bound) is int for bound in (start, stop, step)) and numbers.dtype == np.int64
        if region is None or not region.trace.memory or not is_range_of_ints:
            return wrap_new_arrays(EagerTensor(numbers))
        # The bounds of the elements can be derived from an op, and not from an array from outside.
        return wrap_new_arrays(dispatch.apply("range", *map(np.int64, (start, stop, step)), length=numbers.size))
    tensors = [_as_tensor(bound) for bound in (start, stop, step)]
    if not all(tensor.type.dtype.is_integer for tensor in tensors):
        raise StagingError("numpy.arange is given floats known only at run time", current_place())
    result = dispatch.apply("range", *map(_as_numpy_number, tensors))
    return wrap_new_arrays(result if dtype is None else dispatch.apply("cast", result, dtype=_number_dtype(dtype)))


def _make_constant_creator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the replacement of a function that creates an array of values computed from its arguments.

    Plain arguments give a new array of the same elements in every call.
    """

    def make(*args: Any, **kwargs: Any) -> Any:
        if any(as_tensor(value) is not None for value in (*args, *kwargs.values())):
            compute = implementation(function)
            assert compute is not None
            return wrap_new_arrays(_call_on_elements(compute, *args, **kwargs))
        return wrap_new_arrays(EagerTensor(function(*args, **kwargs)))

    return make


_CREATORS: dict[Any, Callable[..., Any]] = {
    np.ndarray: _ndarray,
    np.zeros: _make_filled_creator(0), np.ones: _make_filled_creator(1), np.empty: _make_filled_creator(fill=None),
    np.full: _full, np.zeros_like: _make_creator_like(0), np.ones_like: _make_creator_like(1),
    np.empty_like: _make_creator_like(fill=None), np.full_like: _full_like, np.array: _array,
    np.asarray: _asarray, np.asanyarray: _asarray, np.ascontiguousarray: _ascontiguousarray,
    np.asfortranarray: _asfortranarray, np.copy: _copy, np.arange: _arange, np.histogram: _histogram,
    np.eye: _make_constant_creator(np.eye),
    np.identity: _make_constant_creator(np.identity), np.linspace: _make_constant_creator(np.linspace),
}  # fmt: skip

# Functions that may return their first argument or a view of it.
_MEMORY_SHARING_FUNCTIONS = frozenset(
    {*VIEW_BY_FUNCTION, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray}
)
# Functions that change their first argument, or may.
_CHANGING_FUNCTIONS = MUTATING_FUNCTIONS | {np.nan_to_num}
