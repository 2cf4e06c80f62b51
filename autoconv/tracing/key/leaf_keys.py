"""Keys of single leaves: the facts about an argument that distinguish traces."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.call_form import BY_COLUMNS, BY_STRIDES, MIN_STRIDED_BYTES
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import TensorType
from autoconv.ops.values.generator_types import GENERATOR_TYPES
from autoconv.runtime.objects.symbolic_generators import is_generator
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.tensors.conversion import to_array, weak_dtype
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tracing.key.array_keys import describe_array, needs_numpy
from autoconv.tracing.key.cache_key import (
    CustomKey,
    LeafKey,
    Literal,
    ObjectKey,
    Reference,
    SpecKey,
    TensorKey,
    VariableKey,
    has_extra_attributes,
    make_object_key,
)


def make_leaf_key(contract: type[Contract], leaf: Any, aliases: dict[int, int], is_by_value: bool) -> LeafKey:
    """Return the key of one leaf; raises TypeError for a set or slice under `function`.

    `aliases` maps the ids of storages of variables to numbers; a new storage is added. If `is_by_value` is true, the
    value of a number is part of the key.
    """
    if type(leaf) in _NUMBER_KEYS and not is_by_value and contract.python_numbers:
        return _NUMBER_KEYS[type(leaf)]
    if type(leaf) in _LITERAL_TYPES:
        return Literal(leaf)
    if isinstance(leaf, Tensor):
        return TensorKey(leaf.type, "tensor")
    if hasattr(type(leaf), "__tf_tracing_type__"):
        return CustomKey(leaf)
    if isinstance(leaf, TensorSpec):
        return TensorKey(leaf.type, "tensor")
    if hasattr(type(leaf), "__autoconv_spec__") and not contract.objects_in_graph:
        return SpecKey(leaf.__autoconv_spec__())
    if isinstance(leaf, Variable):
        alias = aliases.setdefault(id(leaf.storage), len(aliases))
        return VariableKey(leaf.storage.type, leaf.trainable, alias)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return _array_leaf_key(contract, leaf)
    if contract.numpy_arrays and is_generator(leaf):
        return ObjectKey(GENERATOR_TYPES[type(leaf)].kind)
    if contract.promises_identity and has_extra_attributes(leaf):
        return Reference(leaf, is_by_identity=True)
    if leaf is None or isinstance(leaf, (bool, int, float, complex, str, bytes, range, DType, TensorShape, enum.Enum)):
        return Literal(leaf)
    if isinstance(leaf, slice) and contract.objects_in_graph and _has_plain_bounds(leaf):
        return Literal(leaf)
    if isinstance(leaf, set) and contract.objects_in_graph:
        return make_object_key(leaf)
    if isinstance(leaf, (set, slice)):
        raise TypeError(
            f"Could not generate a generic TraceType for {leaf}.Please verify that it is immutable/hashable. "
            "Otherwise, consider implementing the Tracing Protocol for it. "
            f"Pass a {'frozenset' if isinstance(leaf, set) else 'tuple (start, stop, step)'} instead."
        )
    return Reference(leaf, is_by_identity=contract.promises_identity)


def _has_plain_bounds(bounds: slice) -> bool:
    """Return whether the start, stop and step of a slice are ints of Python's own class, or None."""
    return all(type(bound) in (int, type(None)) for bound in (bounds.start, bounds.stop, bounds.step))


def _array_leaf_key(contract: type[Contract], leaf: np.ndarray | np.generic) -> LeafKey:
    """Return the key of a NumPy array or scalar; arrays that only NumPy can compute with stay objects."""
    if contract.numpy_arrays and needs_numpy(leaf):
        return ObjectKey(describe_array(leaf))
    array = to_array(leaf)
    origin = "array" if contract.numpy_arrays else "tensor"
    if origin == "array" and array.shape == () and isinstance(leaf, np.ndarray):
        origin = "array without dimensions"  # traced as memory, unlike a scalar
    return TensorKey(TensorType(as_dtype(array.dtype), array.shape), origin)


def mark_layouts(keys: Sequence[LeafKey], leaves: Sequence[Any]) -> tuple[LeafKey, ...]:
    """Return the keys, with the origins `BY_COLUMNS` and `BY_STRIDES` for arrays that are not taken in C order.

    The origin `BY_COLUMNS` is for arrays in Fortran order, but not in C order. They get it if they are large, or if all
    arrays of two and more dimensions are like them. Large arrays in neither order get the origin `BY_STRIDES`. Other
    arrays are copied to C order. Native entries refuse arrays by the same rules. No origin changes under tapes, which
    need the arguments as parameters of the graph.
    """
    tensor_keys = [(i, key) for i, key in enumerate(keys) if isinstance(key, TensorKey)]
    array_positions = [i for i, key in tensor_keys if key.origin == "array" and key.type.rank]
    if not array_positions or tape_recorders.active_recorders():
        return tuple(keys)
    marked_keys = list(keys)
    matrix_positions = [i for i in array_positions if np.ndim(leaves[i]) > 1]
    are_all_by_columns = all(leaves[i].flags.fnc for i in matrix_positions)
    for i in array_positions:
        is_by_columns = i in matrix_positions and leaves[i].flags.fnc
        if is_by_columns and (are_all_by_columns or leaves[i].nbytes >= MIN_STRIDED_BYTES):
            marked_keys[i] = TensorKey(keys[i].type, BY_COLUMNS)  # type: ignore[union-attr, arg-type]
        elif _is_read_by_strides(leaves[i]):
            stride = leaves[i].strides[-1] / leaves[i].itemsize  # in elements
            origin = f"{BY_STRIDES} {stride:.0f}" if stride in _VECTOR_STRIDES else BY_STRIDES
            marked_keys[i] = TensorKey(keys[i].type, origin)  # type: ignore[union-attr, arg-type]
    return tuple(marked_keys)


_VECTOR_STRIDES = (1, 2, 3, 4, -1)  # last strides, in elements, with which vector instructions load several elements


def _is_read_by_strides(array: Any) -> bool:
    """Return whether the array is large and not contiguous: traces read it in place instead of copying it."""
    flags = array.flags
    return type(array) is np.ndarray and array.nbytes >= MIN_STRIDED_BYTES and not flags.forc and flags.behaved


_NUMBER_KEYS = {
    number_class: TensorKey(TensorType(weak_dtype(number_class()), (), weak=True), "number")
    for number_class in (bool, int, float, complex)
}
_LITERAL_TYPES = frozenset({str, bytes, type(None)})
