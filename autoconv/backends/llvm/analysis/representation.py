"""Representation of values in native code: scalar, dense array, or array in memory.

A dense array is a plain ndarray, C-contiguous and aligned. An array in memory (`ArrayType`) is mutable, may have other
strides, and may share its elements with others.
"""

from __future__ import annotations

import functools
from typing import TypeGuard

from autoconv.backends.llvm.ir.index_arith import ComputedSizeRegister, Size
from autoconv.backends.llvm.ir.types import is_native
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dimensions import is_computed
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.graph.types import ArrayType, Dimension, Shape, Symbol, TensorType, Type

_MAX_WHOLE_ROW = 1024  # most complex numbers of a row that is sorted whole


def is_memory(type_: Type) -> TypeGuard[ArrayType]:
    """Return whether the type is an array in memory whose elements, or their parts, fit registers."""
    return isinstance(type_, ArrayType) and (is_native(type_.dtype) or type_.dtype.is_complex)


def is_scalar(type_: Type) -> TypeGuard[TensorType]:
    """Return whether values of the type are held in a register."""
    return isinstance(type_, TensorType) and type_.shape == () and is_native(type_.dtype)


def is_int64_scalar(type_: Type) -> TypeGuard[TensorType]:
    """Return whether the type is a scalar int64."""
    return isinstance(type_, TensorType) and type_.dtype is int64 and type_.shape == ()


def is_static_array(type_: Type) -> TypeGuard[TensorType]:
    """Return whether values are held as plain ndarrays of static shape, C-contiguous and aligned.

    True for complex scalars too: they are held as arrays without dimensions.
    """
    return (
        isinstance(type_, TensorType)
        and _is_static(type_.shape)
        and (type_.dtype.is_complex or (type_.shape != () and is_native(type_.dtype)))
    )


@functools.lru_cache(maxsize=4096)
def _is_static(shape: Shape) -> bool:
    return shape is not None and all(isinstance(size, int) for size in shape)


def is_open(type_: Type) -> TypeGuard[TensorType]:
    """Return whether values are ndarrays as for `is_static_array`, but with open dimensions, bound at the call."""
    return (
        isinstance(type_, TensorType)
        and _has_open_size(type_.shape)
        and (is_native(type_.dtype) or type_.dtype.is_complex)
    )


@functools.lru_cache(maxsize=4096)
def _has_open_size(shape: Shape) -> bool:
    return shape is not None and None not in shape and any(isinstance(size, Symbol) for size in shape)


def is_dense(type_: Type) -> TypeGuard[TensorType]:
    """Return whether values are held as plain ndarrays, C-contiguous and aligned, with known or open dimensions."""
    return is_static_array(type_) or is_open(type_)


def has_only_dense(node: Node) -> bool:
    """Return whether all operands and results are dense."""
    return all(is_dense(value.type) for value in (*node.inputs, *node.results))


def is_represented(type_: Type) -> bool:
    """Return whether native code represents the values: numbers, dense arrays, and arrays in memory."""
    return is_scalar(type_) or is_dense(type_) or is_memory(type_)


def uses_open_sizes(node: Node) -> bool:
    """Return whether a node reads or makes an array with open dimensions."""
    return any(is_open(value.type) for value in (*node.inputs, *node.results))


def is_complex(type_: Type) -> TypeGuard[TensorType]:
    """Return whether values are dense arrays of complex numbers."""
    return is_dense(type_) and type_.dtype.is_complex


def is_sorted_whole(node: Node) -> bool:
    """Return whether NumPy sorts the rows of a complex array; longer rows are sorted by parts, in half the time."""
    type_ = node.inputs[0].type
    if not is_complex(type_) or uses_open_sizes(node) or node.attributes.get("descending") or not type_.shape:
        return False
    return current_target().has_libraries and sizes(type_)[node.attributes.get("axis", -1)] <= _MAX_WHOLE_ROW


def is_ranked_complex(type_: Type) -> bool:
    """Return whether values are complex arrays of known rank; their sizes may be unknown before the run."""
    return isinstance(type_, TensorType) and type_.shape is not None and type_.dtype.is_complex


def sizes(type_: Type) -> tuple[int, ...]:
    """Return the dimensions of a scalar or dense type.

    An open dimension is a `Size`, a str with the name of its register. It is annotated as an int, since arithmetic on
    it raises UnknownSize.
    """
    assert isinstance(type_, TensorType) and type_.shape is not None
    return type_.shape if _is_static(type_.shape) else _open_sizes(type_.shape)  # type: ignore[return-value]


@functools.lru_cache(maxsize=4096)
def _open_sizes(shape: tuple[Dimension, ...]) -> tuple[int, ...]:
    return tuple(size_of(size) if isinstance(size, Symbol) else size for size in shape if size is not None)  # type: ignore[misc]


def elements_of(type_: Type) -> TensorType:
    """Return the tensor type of the elements of an array in memory; a tensor type as it is."""
    if isinstance(type_, ArrayType):
        return TensorType(type_.dtype, type_.shape)
    assert isinstance(type_, TensorType)
    return type_


def size_of(symbol: Symbol) -> Size:
    """Return the register of an open dimension as a size."""
    return (ComputedSizeRegister if is_computed(symbol) else Size)(register_of(symbol))


def has_computed_sizes(type_: Type) -> bool:
    """Return whether a dimension of the tensor type is a computed size."""
    return isinstance(type_, TensorType) and type_.shape is not None and any(map(is_computed, type_.shape))


def without_names(type_: Type) -> Type:
    """Return the type with unknown dimensions in the place of computed sizes, which have names."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return type_
    return type_.with_shape(tuple(None if is_computed(size) else size for size in type_.shape))


def register_of(symbol: Symbol) -> str:
    """Return the register that holds an open dimension; it has the same name in every function."""
    return "%size." + symbol.name.translate(_REPLACED_SIGNS)


_REPLACED_SIGNS = str.maketrans({"*": ".", "+": "$", "(": "_", ")": "_", "/": "-", ",": "_"})


def has_complex_dtype(type_: Type) -> bool:
    """Return whether values have complex elements, whatever their shape."""
    return getattr(type_, "dtype", int64).is_complex  # type: ignore[no-any-return]
