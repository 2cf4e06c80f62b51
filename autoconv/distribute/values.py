"""Values that differ between replicas, and structures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flatten, pack
from autoconv.runtime.support.type_spec import CompositeTensor, TypeSpec, spec_of_composite
from autoconv.runtime.tensors.tensor import Tensor


class DistributedValues:
    """A value for each of several replicas, as `values`.

    >>> isinstance(1.0, autoconv.distribute.DistributedValues)
    False
    """

    @property
    def values(self) -> tuple[Any, ...]:
        raise NotImplementedError


class PerReplica(DistributedValues):
    """The results of replicas, in their order."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        return self._values

    def __repr__(self) -> str:
        lines = ",\n".join(f"  {i}: {value!r}" for i, value in enumerate(self._values))
        return f"PerReplica:{{\n{lines}\n}}"

    def __str__(self) -> str:
        lines = ",\n".join(f"  {i}: {value!s}" for i, value in enumerate(self._values))
        return f"PerReplica:{{\n{lines}\n}}"


class PerReplicaTensors(PerReplica, CompositeTensor):
    """Tensors of replicas as a composite, which graphs and datasets split into its tensors."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*map(_spec_of, self._values))


def per_replica(values: Sequence[Any]) -> Any:
    """Return the values of the replicas as one distributed value, or the one object that all replicas have."""
    if all(value is values[0] for value in values):
        return values[0]
    are_tensors = all(isinstance(value, (Tensor, CompositeTensor)) for value in values)
    return PerReplicaTensors(values) if are_tensors else PerReplica(values)


class PerReplicaSpec(TypeSpec):
    """The type of tensors of replicas: the spec of each replica's tensor."""

    __slots__ = ("_specs",)

    def __init__(self, *specs: Any) -> None:
        self._specs = specs

    @property
    def value_type(self) -> type:
        return PerReplicaTensors

    def _serialize(self) -> tuple[Any, ...]:
        return self._specs

    @property
    def _component_specs(self) -> list[Any]:
        return list(self._specs)

    def _to_components(self, value: Any) -> list[Any]:
        return list(value.values)

    def _from_components(self, components: Any) -> PerReplicaTensors:
        return PerReplicaTensors(components)


def _spec_of(value: Any) -> Any:
    """Return the spec of a tensor or a composite."""
    return spec_of_composite(value) or TensorSpec(value.shape, value.dtype)


def _is_leaf(value: object) -> bool:
    """Return whether a part is not split further: a distributed value or a composite."""
    return isinstance(value, (DistributedValues, CompositeTensor))


def of_replica(structure: Any, replica: int) -> Any:
    """Return a structure with one replica's value in place of each PerReplica; distributed variables stay."""
    return map_leaves(lambda leaf: leaf.values[replica] if isinstance(leaf, PerReplica) else leaf, structure)


def leaves_of(structure: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a structure, distributed values and composites among them, and its template."""
    leaves, template = flatten(structure, _is_leaf)
    return list(leaves), template


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    """Apply a function to the leaves of a structure, distributed values and composites among them."""
    leaves, template = flatten(structure, _is_leaf)
    return pack(template, [function(leaf) for leaf in leaves])


def regroup(structures: Sequence[Any]) -> Any:
    """Return one structure of distributed values for structures of the replicas; raises ValueError if they differ."""
    flat_structures = [flatten(structure, _is_leaf) for structure in structures]
    first_template = flat_structures[0][1]
    if any(template != first_template for _, template in flat_structures):
        raise ValueError("the replicas return different structures; each has to return the same")
    columns = zip(*(leaves for leaves, _ in flat_structures), strict=True)
    return pack(first_template, [per_replica(leaves) for leaves in columns])
