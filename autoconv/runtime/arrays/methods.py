"""Attributes and methods of NumPy's arrays and scalars, on symbolic tensors.

Methods keep NumPy's meaning, dtypes included. A name that the tables of this module lack raises StagingError, so that
the call runs as plain Python. AttributeError is reserved for names that NumPy's arrays lack as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, int64
from autoconv.ops.index_spec import At, has_only_kinds
from autoconv.ops.numpy.shapes import DOT
from autoconv.ops.python.undo_log import ARRAY_MUTATORS
from autoconv.ops.rules import element_count
from autoconv.runtime.annotations import AxisLike, DTypeLike, OutLike, TensorLike
from autoconv.runtime.arrays.method_arguments import (
    as_number,
    axis_argument,
    dtype_argument,
    keepdims_argument,
    name_method_out,
    new_shape,
    python_number_dtype,
    refuse_method,
    refuse_options,
    require_known_shape,
)
from autoconv.runtime.objects.containers import trace_container
from autoconv.runtime.objects.number_methods import number_attribute
from autoconv.runtime.objects.symbolic_objects import as_object
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_MAX_TRACED_ITEMS = 64  # length up to which `tolist` builds a list while tracing; the graph builds longer lists


def attribute_of(x: SymbolicTensor, name: str) -> Any:
    """Return `x.name` under `compile`, for a Python number or an array; NotImplemented where there is no such name."""
    if x.weak:
        return number_attribute(x, name)
    region = current_region()
    is_name_of_numpy = hasattr(np.ndarray, name) or hasattr(np.generic, name)
    if region is None or not region.trace.uses_arrays or not is_name_of_numpy:
        return NotImplemented
    if x.type.shape == () and not hasattr(np.generic, name) and is_scalar(x, name):
        return NotImplemented
    if name in ARRAY_MUTATORS or (name in _MEMORY_EXPOSING_ATTRIBUTES and not is_scalar(x, name)):
        region.contract.require_original(x, f"the method {name!r} changes or shares an array")
    if name not in _ATTRIBUTES and name not in _METHODS:
        refuse_method(name, "is not supported in a graph")
    return _ATTRIBUTES[name](x) if name in _ATTRIBUTES else ArrayMethod(x, name)


class ArrayMethod(BoundSymbolicMethod[SymbolicTensor]):
    """A bound method `x.name` of a symbolic tensor."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = name_method_out(self.owner, self.name, args, kwargs)
        if kwargs.get("out") is not None and self.name != "compress":
            return _call_function(self.name, *args, **kwargs)
        return _METHODS[self.name](*args, **kwargs)


def is_scalar(x: SymbolicTensor, name: str) -> bool:
    """Return whether `x` is a NumPy scalar; refuse a value that may be a scalar or a 0-d array.

    Methods whose results are a scalar for a scalar, and an array for a 0-d array, call this only for the refusal.
    """
    if x.type.shape is None:
        refuse_method(name, "depends on a shape known only at run time")
    if x.type.shape != ():
        return False
    region = current_region()
    if region is not None and region.trace.memory:
        return True  # in such a trace a 0-d array is a SymbolicArray, so this is a scalar
    if not _has_scalar_result(x.value_in_graph.node):
        refuse_method(name, "gives a NumPy scalar for a scalar, and an array for an array without dimensions")
    return True


def _has_scalar_result(node: Any) -> bool:
    """Return whether NumPy's counterpart of the node returns a scalar for a result without dimensions.

    False for None, the node of a parameter, which may be a scalar or a 0-d array.
    """
    if node is None:
        return False
    name = node.op.name
    if name == "get_item":
        return bool(node.inputs[0].type.shape) and has_only_kinds(node.attributes["spec"], At)
    if name == "squeeze":  # a product of two vectors
        return node.inputs[0].node is not None and node.inputs[0].node.op.name == "matmul"
    return name in _SCALAR_OPS or (node.op.traits.elementwise and name != "identity")


# ---- reductions


def _reduce(name: str, x: SymbolicTensor, axis: AxisLike, keepdims: bool, **options: Any) -> Any:
    """Record the reduction of the method `name`."""
    if keepdims_argument(name, keepdims) and not is_scalar(x, name):
        options["keepdims"] = True
    return dispatch.apply(f"numpy_{name}", x, axis=axis_argument(name, axis), **options)


def _typed_reduction_method(name: str) -> Callable[..., Any]:
    """Return the method of a reduction that takes a dtype."""
    def run(
        x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **unsupported: Any
    ) -> Any:  # fmt: skip
        """Record the reduction; raises StagingError for options other than `axis`, `dtype` and `keepdims`."""
        # Options are refused even if they are None, which is not the default of `initial`.
        refuse_options(name, **dict.fromkeys(unsupported, True))
        numpy_dtype = dtype_argument(name, dtype)
        return _reduce(name, x, axis, keepdims, **({} if numpy_dtype is None else {"dtype": numpy_dtype}))

    return run


def _reduction_method(name: str) -> Callable[..., Any]:
    """Return the method of a reduction that takes no dtype."""
    def run(x: Any, axis: Any = None, out: OutLike | None = None, keepdims: Any = False, **unsupported: Any) -> Any:
        refuse_options(name, **unsupported)
        return _reduce(name, x, axis, keepdims)

    return run


def _scan_method(name: str) -> Callable[..., Any]:
    """Return the method of a cumulative sum or product."""
    def run(x: Any, axis: Any = None, dtype: Any = None, out: OutLike | None = None) -> Any:
        return dispatch.apply(f"numpy_{name}", x, axis=axis_argument(name, axis), dtype=dtype_argument(name, dtype))

    return run


# ---- elements


def _round(x: SymbolicTensor, decimals: Any = 0, out: OutLike | None = None) -> Any:
    """`x.round(decimals)`."""
    is_scalar(x, "round")  # for its refusal
    return dispatch.apply("numpy_round", x, decimals=operator.index(decimals))


def _clip(
    x: SymbolicTensor, min: TensorLike | None = None, max: TensorLike | None = None, out: OutLike | None = None,
    **unsupported: Any,
) -> Any:  # fmt: skip
    """`x.clip(min, max)`; Python's ints beyond the range of the dtype count as no bounds."""
    refuse_options("clip", **unsupported)
    is_scalar(x, "clip")  # for its refusal
    if x.dtype.is_bool or x.dtype.is_complex:
        refuse_method("clip", f"is called on {x.dtype.name} elements")
    if x.dtype.is_integer and x.dtype is not int64 and any(map(_is_symbolic_number, (min, max))):
        return _method_by_function("clip", "a_min", "a_max")(x, min, max)
    low = None if _is_vacuous_bound(x, min, is_lower=True) else min
    high = None if _is_vacuous_bound(x, max, is_lower=False) else max
    if min is None and max is None:
        refuse_method("clip", "is given no bounds")
    if low is None and high is None:
        return _copy(x)
    if low is None or high is None:
        return dispatch.apply("maximum" if high is None else "minimum", x, low if high is None else high)
    return dispatch.apply("numpy_clip", x, low, high)


def _is_vacuous_bound(x: SymbolicTensor, bound: object, is_lower: bool) -> bool:
    """Return whether the bound changes no element: None, or an int at or beyond the limits of an integer dtype."""
    if bound is None:
        return True
    if type(bound) is int and x.dtype.is_integer:
        return bound <= x.dtype.min if is_lower else bound >= x.dtype.max
    tensor = as_tensor(bound)
    if tensor is None and type(bound) not in (int, float) and not isinstance(bound, (np.ndarray, np.generic)):
        refuse_method("clip", f"is given {with_article(type(bound))}")
    return False


def _is_symbolic_number(bound: object) -> bool:
    """Return whether the bound is a symbolic Python number."""
    tensor = as_tensor(bound)
    return tensor is not None and tensor.weak


# ---- shapes


def _reshape(x: SymbolicTensor, *shape: Any, order: str = "C", copy: Any = None, **unsupported: Any) -> Any:
    """`x.reshape(*shape)`, whose sizes may be tensors."""
    refuse_options("reshape", copy=copy, **unsupported)
    if order != "C" or not shape:
        refuse_method("reshape", f"is given order {order!r}" if shape else "is given no shape")
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    if any(isinstance(as_tensor(size), SymbolicTensor) for size in shape):
        compute = implementation(np.reshape)
        assert compute is not None
        return compute(x, shape)
    sizes = new_shape(x, tuple(map(operator.index, shape)))
    if not sizes:
        is_same = is_scalar(x, "reshape")
        return x if is_same else current_contract().as_zero_dimensional_array(dispatch.apply("reshape", x, shape=()))
    return dispatch.apply("reshape", x, shape=sizes)


def _ravel(x: SymbolicTensor, order: str = "C") -> Any:
    """`x.ravel()`."""
    if order != "C":
        refuse_method("ravel", f"is given order {order!r}")
    return dispatch.apply("reshape", x, shape=(-1,))


def _transpose(x: SymbolicTensor, *axes: Any) -> Any:
    """`x.transpose(*axes)`."""
    if is_scalar(x, "transpose"):
        return x if not axes else refuse_method("transpose", "is given axes of a scalar")
    if axes in ((), (None,)):
        return dispatch.apply("transpose", x)
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        axes = tuple(axes[0])
    return dispatch.apply("transpose", x, perm=tuple(map(operator.index, axes)))


def _squeeze(x: SymbolicTensor, axis: object = None) -> Any:
    """`x.squeeze(axis)`."""
    if is_scalar(x, "squeeze"):
        return x
    require_known_shape(x, "squeeze")
    axes = axis_argument("squeeze", axis)
    result = dispatch.apply("squeeze", x, axis=(axes,) if isinstance(axes, int) else axes)
    return result if result.type.shape != () else current_contract().as_zero_dimensional_array(result)


# ---- copies


def _record_copy(x: SymbolicTensor, method: str, dtype: DType | None = None) -> Any:
    """Record a copy, numbered so that common-subexpression elimination keeps two copies apart."""
    region, node_count = current_region(), 0
    while region is not None:
        node_count += len(region.graph.nodes)
        region = region.parent
    return dispatch.apply("numpy_copy", x, method=method, dtype=dtype, copy_id=node_count)


def _copy(x: SymbolicTensor, order: str = "C") -> Any:
    """`x.copy()`."""
    if order != "C":
        refuse_method("copy", f"is given order {order!r}")
    return x if is_scalar(x, "copy") else _record_copy(x, "copy")


def _flatten(x: SymbolicTensor, order: str = "C") -> Any:
    """`x.flatten()`."""
    return _record_copy(x, "flatten") if order == "C" else refuse_method("flatten", f"is given order {order!r}")


def _astype(x: SymbolicTensor, dtype: DTypeLike, **unsupported: Any) -> Any:
    """`x.astype(dtype)`."""
    refuse_options("astype", **unsupported)
    target_dtype = dtype_argument("astype", dtype)
    if target_dtype is None or (x.dtype.is_complex and not target_dtype.is_complex):
        refuse_method("astype", f"makes {dtype} of {x.dtype.name}")
    is_scalar(x, "astype")  # for its refusal
    return _record_copy(x, "astype", target_dtype)


def _view(x: SymbolicTensor, dtype: DTypeLike) -> Any:
    """`x.view(dtype)` of a scalar."""
    target_dtype = dtype_argument("view", dtype)
    if target_dtype is None or target_dtype.size != x.dtype.size or {x.dtype.is_bool, target_dtype.is_bool} != {False}:
        refuse_method("view", f"makes {dtype} of {x.dtype.name}")
    return dispatch.apply("bitcast", x, dtype=target_dtype)


# ---- conversion to Python's values


def _item(x: SymbolicTensor, *index: Any) -> Any:
    """`x.item(*index)`, a Python number."""
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    positions = tuple(map(operator.index, index))
    shape = require_known_shape(x, "item")
    if len(positions) != 1 and (len(positions) != len(shape) if positions else element_count(shape) != 1):
        refuse_method("item", f"is called on {element_count(shape)} elements with {len(positions)} positions")
    if len(positions) != len(shape):
        x, positions = dispatch.apply("reshape", x, shape=(-1,)), positions or (0,)  # a position counts all elements
    return as_number("item", binary_dispatch.get_item(x, positions) if positions else x)


def _tolist(x: SymbolicTensor) -> Any:
    """`x.tolist()`: a list of numbers if the shape is known and small, else an object of the graph."""
    shape = x.type.shape
    count = element_count(shape)
    if count is None or count > _MAX_TRACED_ITEMS:
        if x.dtype.is_floating or (x.dtype.is_integer and x.dtype.size < 8):  # exact in the dtype of Python's numbers
            x = dispatch.apply("cast", x, dtype=python_number_dtype("tolist", x))
        return as_object(dispatch.apply("numpy_tolist", x))
    python_number_dtype("tolist", x)  # refuses dtypes without a Python number
    return _nest_items(x, shape or ())


def _nest_items(x: object, shape: tuple[Any, ...]) -> Any:
    """Return the elements of an array of the shape as Python numbers in nested lists."""
    if not shape:
        return as_number("tolist", x)
    return trace_container([_nest_items(binary_dispatch.get_item(x, row), shape[1:]) for row in range(shape[0])])


# ---- products


def _dot(x: SymbolicTensor, b: Any, out: OutLike | None = None) -> Any:
    """`x.dot(b)`: a product of matrices, or of numbers if an operand has no dimensions."""
    other = as_tensor(b)
    has_numpy_value = isinstance(b, (np.ndarray, np.generic)) if other is None else not other.weak
    if not has_numpy_value:
        refuse_method("dot", "is given a Python number or a list, which NumPy makes an array of first")
    ranks = [np.ndim(b) if other is None else other.type.rank, x.type.rank]
    if any(rank is None or rank > 2 for rank in ranks):
        return _call_function("dot", x, b)
    if all(ranks) and other is not None:
        dispatch.apply("numpy_shapes", x, other, rule=DOT)  # raises NumPy's error for shapes that do not match
    return binary_dispatch.binary("matmul" if all(ranks) else "multiply", x, b)


def _call_function(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call the implementation of NumPy's function `name`."""
    compute = implementation(getattr(np, name))
    assert compute is not None
    return compute(*args, **kwargs)


def _method_by_function(name: str, *parameters: str) -> Callable[..., Any]:
    """Return a method that calls NumPy's function `name`; `parameters` name its arguments after the array."""
    def run(x: SymbolicTensor, *args: Any, **kwargs: Any) -> Any:
        return _call_function(name, x, **dict(zip(parameters[: len(args)], args, strict=True)), **kwargs)

    return run


def _compress(
    x: SymbolicTensor, condition: TensorLike, axis: AxisLike | None = None, out: OutLike | None = None
) -> Any:
    """`x.compress(condition, axis)`."""
    return _call_function("compress", condition, x, axis, out)


def _conjugate(x: SymbolicTensor, *args: Any, **kwargs: Any) -> Any:
    """Return the conjugate; for real elements, the array itself, unlike `np.conjugate`."""
    is_array_itself = not (args or kwargs or x.dtype.is_complex)
    return x if is_array_itself else _method_by_function("conjugate")(x, *args, **kwargs)


_ATTRIBUTES: dict[str, Callable[[SymbolicTensor], Any]] = {
    "T": _transpose, "mT": _method_by_function("matrix_transpose"),
    "real": lambda x: dispatch.apply("real", x) if x.dtype.is_complex else x, "imag": _method_by_function("imag"),
    "size": lambda x: binary_dispatch.count_of(x), "itemsize": lambda x: x.type.dtype.size,
    "nbytes": lambda x: binary_dispatch.count_of(x) * x.type.dtype.size,
}  # fmt: skip
_MEMORY_EXPOSING_ATTRIBUTES = frozenset({"flat", "strides", "view"})
_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _typed_reduction_method(name) for name in ("sum", "prod")},
    **{name: _reduction_method(name) for name in ("min", "max", "any", "all", "argmin", "argmax")},
    "mean": _method_by_function("mean", "axis", "dtype", "out"),
    **{name: _method_by_function(name, "axis", "dtype", "out", "ddof") for name in ("std", "var")},
    **{name: _scan_method(name) for name in ("cumsum", "cumprod")},
    "round": _round, "clip": _clip, "reshape": _reshape, "ravel": _ravel, "transpose": _transpose, "squeeze": _squeeze,
    "copy": _copy, "flatten": _flatten, "astype": _astype, "item": _item, "tolist": _tolist, "dot": _dot,
    "conj": _conjugate, "conjugate": _conjugate, "nonzero": _method_by_function("nonzero"),
    "swapaxes": _method_by_function("swapaxes", "axis1", "axis2"),
    "argsort": _method_by_function("argsort", "axis", "kind", "order"),
    "repeat": _method_by_function("repeat", "repeats", "axis"),
    "take": _method_by_function("take", "indices", "axis", "out", "mode"),
    "choose": _method_by_function("choose", "choices", "out", "mode"), "compress": _compress,
    "diagonal": _method_by_function("diagonal", "offset", "axis1", "axis2"),
    "trace": _method_by_function("trace", "offset", "axis1", "axis2", "dtype", "out"),
    "searchsorted": _method_by_function("searchsorted", "v", "side", "sorter"), "view": _view,
}  # fmt: skip
# Ops, in addition to elementwise ones, whose results without dimensions are NumPy scalars even for 0-d operands.
_SCALAR_OPS = frozenset(f"numpy_{name}" for name in _METHODS) | {"reduce_sum", "reduce_max", "reduce_min", "matmul"}
