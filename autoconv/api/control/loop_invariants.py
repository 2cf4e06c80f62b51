"""Checks that the variables of a `while_loop` keep their structures, dtypes and shapes in all iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.types import Shape, are_shapes_compatible
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.shape import TensorShape, TensorSpec, as_shape
from autoconv.runtime.support.structure import flat_leaves
from autoconv.runtime.support.structure_difference import check_same_structure, is_nest
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def has_checked_loops(region: Region | None) -> bool:
    """Return whether loops are checked: in graphs of `function`, where a loop variable has one type."""
    return region is not None and not region.contract.python_numbers


class LoopChecks:
    """The tensors that enter a loop, with the shapes that they may have after an iteration, None for any.

    `loop_vars` are the user's initial values, `loop_values` the same values as the loop carries them. Raises ValueError
    if the invariants have another structure than `loop_vars`.
    """

    def __init__(self, loop_vars: Sequence[Any], loop_values: Sequence[Any], invariants: Any) -> None:
        self._tensors = [as_tensor(leaf) for leaf in flat_leaves(tuple(loop_values))]
        self._shapes = [None if tensor is None else tensor.type.shape for tensor in self._tensors]
        if invariants is not None:
            self._shapes = _declared_shapes(loop_vars, invariants)

    def check(self, results: Sequence[Any]) -> None:
        """Raise TypeError for a tensor of another dtype, ValueError for one of an incompatible shape."""
        leaves = [as_tensor(leaf) for leaf in flat_leaves(tuple(results))]
        if len(leaves) != len(self._tensors):
            return  # the recording of the loop raises an error for a changed structure
        for before, shape, after in zip(self._tensors, self._shapes, leaves, strict=True):
            if before is not None and after is not None:
                _check_dtype(before, after)
                _check_shape(before, shape, after)


def _declared_shapes(loop_vars: Sequence[Any], invariants: Any) -> list[Shape]:
    """Return the declared shape of each tensor; raises ValueError for another structure than that of `loop_vars`."""
    shapes = invariants if is_nest(invariants) else [invariants]
    check_same_structure(list(loop_vars), list(shapes))
    return [as_shape(leaf.shape if isinstance(leaf, TensorSpec) else leaf) for leaf in flat_leaves(list(shapes))]


def _check_dtype(before: Any, after: Any) -> None:
    """Raise TypeError if an iteration has changed the dtype of a loop variable."""
    if not before.weak and not after.weak and before.dtype is not after.dtype:
        name = _name_of(before)
        raise TypeError(
            f"Loop var {name} enters the loop with type {before.dtype!r} but has type {after.dtype!r} after 1 "
            f"iteration. {name} type should remain constant."
        )


def _check_shape(before: Any, shape: Shape, after: Any) -> None:
    """Raise ValueError if a loop variable has another shape after an iteration than `shape` allows."""
    if not are_shapes_compatible(after.type.shape, shape):
        raise ValueError(
            f"Input tensor `{_name_of(before)}` enters the loop with shape {TensorShape(shape)}, but has shape "
            f"{after.shape} after one iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of autoconv.while_loop to specify a less-specific shape."
        )


def _name_of(tensor: Any) -> str:
    """Return the name of a tensor for messages; an eager one counts as a constant."""
    return tensor.name if isinstance(tensor, SymbolicTensor) else "Const:0"
