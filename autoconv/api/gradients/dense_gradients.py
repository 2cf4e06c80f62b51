"""Gradients as dense tensors: of slices of rows, of unconnected sources, and of each element of a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.control.functional import map_fn
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.trace_callables import called_unconverted
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MAX_UNROLLED_ELEMENTS = 8  # a graph computes the gradients of more elements in a loop


def stack_element_gradients(target: Tensor, gradients: Any) -> list[Any]:
    """Return for each source the gradients of all elements of the target, stacked; None for an unconnected source.

    `gradients(seed)` returns for each source the gradient of the sum of target * seed.
    """
    shape = shape_of(target)
    if None not in shape:
        element_count = int(np.prod(shape, dtype=np.int64))
        if current_region() is None or element_count <= _MAX_UNROLLED_ELEMENTS:
            gradients_by_element = [gradients(_one_hot_seed(target, i)) for i in range(element_count)]
            if not gradients_by_element:  # the target has no elements: a stack of length 0 with the source's shape
                return [
                    None if gradient is None else apply("stack", dense(gradient), axis=0)[:0]
                    for gradient in gradients(target)
                ]
            return [
                None if source_gradients[0] is None else apply("stack", *map(dense, source_gradients), axis=0)
                for source_gradients in zip(*gradients_by_element, strict=True)
            ]
    flat_ones = apply("reshape", apply("ones_like", target), shape=(-1,))
    gradients_of_sum = gradients(apply("ones_like", target))  # None for unconnected sources
    connected_positions = [i for i, gradient in enumerate(gradients_of_sum) if gradient is not None]
    if not connected_positions:
        return [None] * len(gradients_of_sum)

    @called_unconverted
    def gradients_of_element(flat_index: TensorLike) -> Any:
        seed = apply("cast", apply("equal", _flat_indices(flat_ones), flat_index), dtype=target.type.dtype)
        gradients_by_source = gradients(apply("reshape_like", seed, target))
        return tuple(gradients_by_source[i] for i in connected_positions)

    dtypes = tuple(gradients_of_sum[i].dtype for i in connected_positions)
    stacks = iter(map_fn(gradients_of_element, _flat_indices(flat_ones), fn_output_signature=dtypes))
    return [next(stacks) if i in connected_positions else None for i in range(len(gradients_of_sum))]


def _flat_indices(vector: Any) -> Any:
    """Return the indices 0, 1, … of a vector, as int32."""
    zero, one = (convert_to_tensor(np.array(n, np.int32)) for n in (0, 1))
    return apply("range", zero, apply("size", vector), one)


def _one_hot_seed(target: Tensor, position: int) -> Any:
    """Return zeros of the target's shape with a one at a position, in row-major order."""
    seed = np.zeros(shape_of(target), target.type.dtype.numpy)
    seed.reshape(-1)[position] = 1
    return apply("constant", value=seed, weak=target.weak)


def dense(gradient: TensorLike) -> Any:
    """Return the gradient, as a dense tensor if it is an IndexedSlices."""
    return convert_to_tensor(gradient) if isinstance(gradient, IndexedSlices) else gradient


def zeros_of_source(source: TensorLike) -> Any:
    """Return zeros of the shape of a tensor or variable, not recorded by tapes."""
    with tape_recorders.pause_recorders():
        return apply("zeros_like", convert_to_tensor(source))


def shape_of(value: Any) -> tuple[Any, ...]:
    """Return the static shape, with None for unknown sizes; raise ValueError for an unknown rank."""
    shape = value.type.shape
    if shape is None:
        raise ValueError(f"the rank of {value!r} has to be known for a jacobian")
    return tuple(size if isinstance(size, int) else None for size in shape)
