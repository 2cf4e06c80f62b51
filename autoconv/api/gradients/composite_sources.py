"""Sources and targets of gradients, where composite tensors are replaced by their differentiable components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from autoconv.runtime.support.structure import Template, flatten, pack
from autoconv.runtime.support.type_spec import is_composite


class DifferentiableTensors:
    """The tensors of a structure: leaves, and those components of composite tensors that may have gradients."""

    def __init__(self, structure: Any) -> None:
        leaves, self._template = flatten(structure, is_composite)
        self._leaves = [_split_leaf(leaf) for leaf in leaves]
        self.tensors = [tensor for leaf in self._leaves for tensor in leaf.differentiable_tensors]

    def pack_gradients(self, gradients: Sequence[Any]) -> Any:
        """Pack the gradients into the structure; in a composite they replace the differentiable components."""
        remaining_gradients = iter(gradients)
        return pack(self._template, [_pack_leaf(leaf, remaining_gradients) for leaf in self._leaves])


class _Leaf(NamedTuple):
    """A tensor or composite tensor as a list of components, those that may have gradients, and how to pack them.

    `template` is the structure of a composite tensor, None for a tensor.
    """

    differentiable_tensors: list[Any]
    components: list[Any]
    template: Template | None


def _split_leaf(leaf: Any) -> _Leaf:
    """Return the tensors of a leaf of a structure."""
    components, template = flatten(leaf)
    return _Leaf(
        components if template is None else list(filter(_may_have_gradient, components)), components, template
    )


def _may_have_gradient(tensor: Any) -> bool:
    """Return whether the dtype of a tensor is differentiable."""
    return bool(tensor.dtype.is_differentiable)


def _pack_leaf(leaf: _Leaf, remaining_gradients: Iterator[Any]) -> Any:
    """Return the gradient of a leaf, taken from the iterator; a composite one if the leaf is composite."""
    gradients = [next(remaining_gradients) for _ in leaf.differentiable_tensors]
    if leaf.template is None:
        return gradients[0]
    if all(gradient is None for gradient in gradients):
        return None
    component_gradients = iter(gradients)
    components = [next(component_gradients) if _may_have_gradient(tensor) else tensor for tensor in leaf.components]
    return pack(leaf.template, components)
