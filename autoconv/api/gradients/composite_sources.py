"""Sources and targets of gradients, in which differentiable components stand for composite tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoconv.runtime.support.structure import Template, flatten, pack
from autoconv.runtime.support.type_spec import is_composite


class DifferentiableTensors:
    """The tensors of a structure: leaves, and those components of composite tensors that may have gradients.

    `_leaf_parts` has the result of `_split_leaf` for each leaf.
    """

    def __init__(self, structure: Any) -> None:
        leaves, self._template = flatten(structure, is_composite)
        self._leaf_parts = [_split_leaf(leaf) for leaf in leaves]
        self.tensors = [tensor for tensors, _, _ in self._leaf_parts for tensor in tensors]

    def pack_gradients(self, gradients: Sequence[Any]) -> Any:
        """Pack the gradients into the structure; in a composite they replace the differentiable components."""
        remaining_gradients = iter(gradients)
        return pack(self._template, [_pack_leaf(*part, remaining_gradients) for part in self._leaf_parts])


def _split_leaf(leaf: Any) -> tuple[list[Any], list[Any], Template | None]:
    """Return the differentiable tensors of a leaf, all its tensors, and its template, None unless it is composite."""
    leaves, template = flatten(leaf)
    return (leaves if template is None else list(filter(_may_have_gradient, leaves))), leaves, template


def _may_have_gradient(tensor: Any) -> bool:
    """Return whether the dtype of a tensor is differentiable."""
    return bool(tensor.dtype.is_differentiable)


def _pack_leaf(
    sources: Sequence[Any], components: Sequence[Any], template: Template | None, remaining_gradients: Iterator[Any]
) -> Any:
    """Return the gradient of a leaf, taken from the iterator; a composite one if the leaf is composite."""
    gradients = [next(remaining_gradients) for _ in sources]
    if template is None:
        return gradients[0]
    if all(gradient is None for gradient in gradients):
        return None
    component_gradients = iter(gradients)
    components = [next(component_gradients) if _may_have_gradient(tensor) else tensor for tensor in components]
    return pack(template, components)
