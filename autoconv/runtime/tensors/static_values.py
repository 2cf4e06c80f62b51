"""Constant evaluation: values of tensors, and elements of vectors of sizes, that are known while tracing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.errors import OpError
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TensorType, Type
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def static_value(value: object) -> Any:
    """Return the value of a number, array, eager tensor, or symbolic tensor of static value; None if unknown.

    Lists and tuples of such values become arrays.
    """
    if isinstance(value, EagerTensor):
        return value.numpy()
    if isinstance(value, SymbolicTensor):
        return constant_of(value.value_in_graph)
    if isinstance(value, (list, tuple)):
        items = [static_value(item) for item in value]
        return None if any(item is None for item in items) else np.array(items)
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return value
    return None


def constant_of(value: Any) -> Any:
    """Return the static array of a graph value: a constant, or a known shape, rank or size; None if unknown."""
    node = value.node
    if node is None:
        return None
    if node.op.name == "constant":
        array = node.attributes["value"]
        return array[()] if array.ndim == 0 else array
    shape = node.inputs[0].shape if node.op.name in ("shape", "rank", "size") else None
    if shape is None:
        return None
    as_number = value.dtype.numpy.type
    if node.op.name == "rank":
        return as_number(len(shape))
    if not all(isinstance(size, int) for size in shape):
        return None
    return as_number(math.prod(shape)) if node.op.name == "size" else np.array(shape, as_number)


def static_sizes(vector: object) -> tuple[int | None, ...] | None:
    """Return the known sizes in a vector, with None for unknown and negative ones; None if their number is unknown."""
    constant = static_value(vector)
    if constant is not None:
        return tuple(int(size) if size >= 0 else None for size in np.ravel(constant))
    if not isinstance(vector, SymbolicTensor):
        return None
    value = partial_value(vector.value_in_graph)
    if value is not None and value.elements.ndim == 1:
        sizes_with_flags = zip(value.elements, value.known, strict=True)
        return tuple(int(size) if is_known and size >= 0 else None for size, is_known in sizes_with_flags)
    length = vector.shape[0] if vector.shape else None
    return (None,) * length if isinstance(length, int) else None


def computed_value(value: Value) -> Any:
    """Return the array of a graph value that depends on constants and known shapes alone; None for others."""
    node = value.node
    if node is None:
        outer = _outer_value(value)
        return None if outer is None else computed_value(outer)
    if node.op.kernel is None or node.regions or node.effects & ~Effects.RAISE:
        return None
    operands = []
    for position, operand in enumerate(node.inputs):
        if node.op.name == "rank" and operand.shape is not None:
            operand_array = np.broadcast_to(np.zeros((), bool), (1,) * len(operand.shape))  # any array of the rank
        elif position in node.op.traits.shape_only:
            operand_array = _shape_array(operand.type)
        else:
            operand_array = computed_value(operand)
        if operand_array is None:
            return None
        operands.append(operand_array)
    output = node.op.kernel(*operands, **node.attributes)
    return output if len(node.results) == 1 else output[node.results.index(value)]


def _outer_value(value: Value) -> Value | None:
    """Return the value of an enclosing region that a region's parameter stands for."""
    region = current_region()
    while region is not None and region.graph is not value.graph:
        region = region.parent
    captures = {} if region is None else region.captures
    return next((outer for outer, inner in captures.items() if inner is value and outer is not value), None)


def _shape_array(type_: Type) -> Any:
    """Return an array of a type's shape whose elements share the memory of one; None if a size is unknown."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return None
    sizes = [size for size in type_.shape if isinstance(size, int)]
    return np.broadcast_to(np.zeros((), type_.dtype.numpy), sizes) if len(sizes) == len(type_.shape) else None


class PartialValue(NamedTuple):
    """The elements of a graph value, and a mask of the elements that are known while tracing; others are arbitrary."""

    elements: np.ndarray
    known: np.ndarray


def partial_value(value: Value) -> PartialValue | None:
    """Return the elements of a graph value that are known, as a PartialValue; None if none is known.

    Sizes of shapes are followed through what programs compute of them: parts, joins, arithmetic, products.
    """
    result = _evaluate_partially(value, _MAX_DEPTH)
    is_useful = result is not None and (result.known.any() or not result.known.size)
    return result if is_useful else None


_MAX_DEPTH = 12  # largest number of nodes that are followed from a value to the sizes it is computed from
_MAX_ELEMENTS = 64  # largest number of elements of an array of sizes


def _partial_operand(value: Value, depth: int) -> PartialValue | None:
    """Return the elements of an operand, perhaps none of them known; None if their number is unknown or large."""
    result = _evaluate_partially(value, depth)
    type_ = value.type
    if result is not None or not isinstance(type_, TensorType) or not type_.dtype.is_integer or type_.shape is None:
        return result
    sizes = [size for size in type_.shape if isinstance(size, int)]
    if len(sizes) < len(type_.shape) or math.prod(sizes) > _MAX_ELEMENTS:
        return None
    return PartialValue(np.ones(sizes, type_.dtype.numpy), np.zeros(sizes, bool))


def _evaluate_partially(value: Value, depth: int) -> PartialValue | None:
    """Return the elements of a value, as far as its node and its operands determine them; None if they do not."""
    node = getattr(value, "node", None)
    if node is None or not depth or getattr(value.type, "dtype", None) is None:
        return None
    if node.op.name == "constant":
        array = np.asarray(node.attributes["value"])
        return PartialValue(array, np.ones(array.shape, bool)) if array.size <= _MAX_ELEMENTS else None
    if node.op.name in ("shape", "size", "rank", "dimension"):
        return _partial_sizes(node, value.dtype.numpy)
    if node.op.kernel is None or node.regions or node.effects & ~Effects.RAISE:
        return None
    traits = node.op.traits
    is_movement = traits.view or node.op.name in ("concat", "stack", "unstack")
    possible_operands = [_partial_operand(operand, depth - 1) for operand in node.inputs]
    operands = [operand for operand in possible_operands if operand is not None]
    if len(operands) < len(node.inputs) or any(operand.elements.size > _MAX_ELEMENTS for operand in operands):
        return None
    has_mask_rule = is_movement or traits.elementwise or traits.reduction
    if not has_mask_rule and not _is_known_and_short(node, operands):
        return None
    return _apply_kernel(node, operands, is_movement, node.results.index(value))


def _is_known_and_short(node: Node, operands: Sequence[PartialValue]) -> bool:
    """Return whether all elements of the operands are known, and the results have few elements."""
    if not all(operand.known.all() for operand in operands):
        return False
    if node.op.name == "range":
        start, limit, delta = (operand.elements for operand in operands)
        return bool(delta) and bool(abs(limit - start) <= _MAX_ELEMENTS * abs(delta))
    arrays = [_shape_array(result.type) for result in node.results]
    return all(array is not None and array.size <= _MAX_ELEMENTS for array in arrays)


def _apply_kernel(
    node: Node, operands: Sequence[PartialValue], is_movement: bool, position: int
) -> PartialValue | None:
    """Run a kernel on partly known operands, and return the result at `position`.

    An element of the result is known if all elements that determine it are known. If `is_movement`, the kernel only
    moves elements, so that it moves the masks in the same way.
    """
    values, masks = [operand.elements for operand in operands], [operand.known for operand in operands]
    traits = node.op.traits

    def kernel(*arrays: np.ndarray) -> Any:
        assert node.op.kernel is not None
        outputs = node.op.kernel(*arrays, **node.attributes)
        return outputs if len(node.results) == 1 else outputs[position]

    if traits.view and not all(mask.all() for mask in masks[1:]):
        return None  # which elements the view selects is not known
    try:
        array = np.asarray(kernel(*values))
        if traits.view:
            mask = kernel(masks[0], *values[1:])
        elif is_movement:
            mask = kernel(*masks)
        elif traits.elementwise:
            mask = np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*masks)), array.shape)
        else:
            mask = np.full(array.shape, all(mask.all() for mask in masks))
    except (ArithmeticError, IndexError, TypeError, ValueError, OpError):
        return None
    return PartialValue(array, np.asarray(mask, bool))


def _partial_sizes(node: Node, dtype: np.dtype[Any]) -> PartialValue | None:
    """Return the result of a node that reads sizes, as `partial_value` does."""
    shape = node.inputs[0].shape
    if shape is None:
        return None
    known_mask = np.array([isinstance(size, int) for size in shape], bool)
    sizes = np.array([size if isinstance(size, int) else 1 for size in shape], dtype)
    if node.op.name == "dimension":
        axis = node.attributes["axis"]
        return PartialValue(np.array(sizes[axis]), np.array(known_mask[axis]))
    if node.op.name == "rank":
        return PartialValue(np.array(len(shape), dtype), np.array(True))
    if node.op.name == "shape":
        return PartialValue(sizes, known_mask)
    return PartialValue(np.prod(sizes, dtype=dtype), np.array(known_mask.all()))
