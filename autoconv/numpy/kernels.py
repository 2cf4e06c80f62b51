"""Functions that NumPy itself computes as a whole, through the op `numpy_call`."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType
from autoconv.numpy.operands import (
    cast,
    computes,
    find_function,
    holds_tensors,
    integer,
    is_weak,
    numpy_dtype,
    numpy_dtype_of,
    rank_of,
    refuse,
    tensor,
)
from autoconv.numpy.writes import write_into
from autoconv.process_state import without_warnings
from autoconv.runtime.annotations import AxisLike, DTypeLike, TensorLike
from autoconv.runtime.recording.numpy_protocol import FUNCTIONS, with_named_out
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_CONSTANT_TYPES = (bool, int, float, complex, str, type(None), np.number, np.bool_)


def register_kernels(*names: str, by_values: bool = False) -> None:
    """Register functions that NumPy computes as a whole. `by_values`: the sizes of results may depend on values."""
    for name in names:
        function = find_function(name)
        if function is not None and function not in FUNCTIONS:
            computes(function)(functools.partial(call_numpy, name, by_values=by_values))


def call_numpy(name: str, *args: Any, by_values: bool = False, **kwargs: Any) -> Any:
    """Record NumPy's function of that name as one op; refuse arguments other than arrays, numbers and text.

    `by_values`: the sizes of results may depend on values.
    """
    args, kwargs = with_named_out(find_function(name), args, kwargs)
    out = kwargs.pop("out", None)
    inputs: list[Tensor] = []
    arguments = tuple(encode_argument(x, inputs) for x in args)
    keywords = tuple((key, encode_argument(x, inputs)) for key, x in kwargs.items())
    options: dict[str, Any] = {"by_values": True} if by_values else {}
    # The types of the results are those of a call with example values, about which NumPy may warn.
    with contextlib.nullcontext() if current_region() is None else without_warnings():
        result = apply("numpy_call", *inputs, function=name, arguments=arguments, keywords=keywords, **options)
    if out is not None:
        if not isinstance(result, Tensor) or numpy_dtype_of(out) != result.dtype.numpy:
            refuse("is given an array of another dtype to write to")
        return write_into(out, result)
    tuple_class = _named_tuple_class(name)
    return result if tuple_class is None else tuple_class._make(result)


@functools.cache
def _named_tuple_class(name: str) -> Any:
    """Return the class of named tuples that `numpy.unique_…` returns; None for other functions and other results."""
    if not name.startswith("unique_"):
        return None
    result_class = type(find_function(name)(np.zeros(1)))
    return result_class if hasattr(result_class, "_make") else None


def encode_argument(value: TensorLike, inputs: list[Tensor]) -> tuple[Any, ...]:
    """Encode an argument as (tag, contents…) for `numpy_call`; tensors and arrays are appended to the inputs."""
    if isinstance(value, (list, tuple)):
        tag = "list" if isinstance(value, list) else "tuple"
        return (tag, *(encode_argument(item, inputs) for item in value))
    if holds_tensors(value) or isinstance(value, np.ndarray):
        inputs.append(tensor(value))
        return ("number" if is_weak(value) else "input", len(inputs) - 1)
    if isinstance(value, DType):
        return ("dtype", value.name)
    if isinstance(value, (np.dtype, type)):
        return ("dtype", np.dtype(value).name)
    if isinstance(value, _CONSTANT_TYPES):
        return ("scalar", value.dtype.name, value.item()) if isinstance(value, np.generic) else ("value", value)
    is_of_graph = hasattr(type(value), "__autoconv_graph_value__")
    return refuse(f"is given {'an object of the graph' if is_of_graph else with_article(type(value))}")


def reduce_segments(
    ufunc: Any, array: TensorLike, indices: TensorLike, axis: AxisLike = 0, dtype: DTypeLike | None = None
) -> Any:
    """Return NumPy's `ufunc.reduceat`, by the op of that name."""
    x, positions = tensor(array), tensor(indices)
    # NumPy determines the dtype of the result from arrays of one element.
    example, example_positions = (np.zeros((1,) * rank_of(operand), operand.dtype.numpy) for operand in (x, positions))
    options: dict[str, Any] = {} if dtype is None else {"dtype": numpy_dtype(dtype)}
    result_dtype = ufunc.reduceat(example, example_positions, axis=integer(axis), **options).dtype
    x, positions = cast(x, result_dtype), cast(positions, np.int64)
    name = ufunc.__name__
    if result_dtype == np.bool_:
        name = {"maximum": "logical_or", "minimum": "logical_and"}.get(name, name)
    return apply("reduceat", x, positions, function=name, axis=integer(axis))


# Functions whose results are constants, unless an argument is part of the graph.
register_kernels(
    "frombuffer", "polynomial.legendre.leggauss", "polynomial.chebyshev.chebgauss", "polynomial.hermite.hermgauss",
    "polynomial.hermite_e.hermegauss", "polynomial.laguerre.laggauss", by_values=True,
)  # fmt: skip
