"""Type specs, and composite tensors: values that consist of several tensors and of static facts.

A composite's type spec has its static facts, such as a shape. It divides a value into components and rebuilds it from
them. Structures, cache keys, regions and datasets use only that interface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard


class TypeSpec:
    """Base of the specs of values: TensorSpec, and the specs of datasets, iterators and composite tensors.

    The spec of a class of composite tensors defines `value_type`, `_serialize`, `_component_specs`, `_to_components`
    and `_from_components`.

    >>> isinstance(autoconv.TensorSpec([2]), autoconv.TypeSpec)
    True
    """

    __slots__ = ()

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self) -> tuple[Any, ...]:
        """Return the arguments that make an equal spec."""
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @property
    def _component_specs(self) -> Any:
        """The specs of the components, in their structure."""
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _to_components(self, value: object) -> Any:
        """Return the components of a value: a structure of tensors and composites."""
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components: Any) -> Any:
        """Return the value of these components."""
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    def _batch(self, batch_size: int | None) -> TypeSpec:
        """Return the spec of a batch whose rows have this spec."""
        raise TypeError(f"values of {self} cannot be batched")

    def _unbatch(self) -> TypeSpec:
        """Return the spec of a row."""
        raise TypeError(f"values of {self} have no rows")

    def _rows(self, value: object) -> list[Any]:
        """Return the rows of a value that is no part of a graph."""
        raise TypeError(f"values of {self} have no rows")

    def _stack_values(self, values: Sequence[Any]) -> Any:
        """Return the value whose rows are these values, which are no parts of a graph."""
        raise TypeError(f"values of {self} cannot be batched")

    @staticmethod
    def __make_cmp_key(value: object) -> Any:
        """Return a hashable key of a result of `_serialize`, for libraries whose specs compare parts of their facts."""
        return _as_hashable(value)

    @staticmethod
    def __is_compatible(a: object, b: object) -> bool:
        """Return whether values with the serialized facts `b` fit a spec with the facts `a`."""
        return _agree(a, b, _is_compatible)

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)  # type: ignore[call-arg]

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Return whether a value, or all values of a spec, may be of this spec."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else spec_of_composite(spec_or_value)
        return type(other) is type(self) and _agree(self._serialize(), other._serialize(), _is_compatible)

    def is_subtype_of(self, other: object) -> bool:
        """Return whether every value of this spec is one of `other`, too."""
        return type(other) is type(self) and _agree(self._serialize(), other._serialize(), _is_subtype)

    def most_specific_common_supertype(self, others: Sequence[object]) -> TypeSpec | None:
        """Return the narrowest common supertype of this spec and all `others`; None where there is none."""
        serialized = self._serialize()
        for other in others:
            if type(other) is not type(self):
                return None
            try:
                serialized = _join_parts(serialized, other._serialize())
            except _NoCommonForm:
                return None
        return self._deserialize(serialized)

    def most_specific_compatible_type(self, other: object) -> TypeSpec:
        """Return the narrowest spec of the values of both; raises ValueError where there is none."""
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return result

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _as_hashable(self._serialize()) == _as_hashable(other._serialize())  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), _as_hashable(self._serialize())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._deserialize, (self._serialize(),)


class CompositeTensor:
    """Base of values that consist of several tensors: sparse and ragged tensors, extension types.

    A subclass has the property `_type_spec`.
    """

    __slots__ = ()

    @property
    def _type_spec(self) -> TypeSpec:
        raise NotImplementedError(f"{type(self).__name__}._type_spec")


def is_composite(value: object) -> TypeGuard[CompositeTensor]:
    """Return whether the value is a composite tensor."""
    return isinstance(value, CompositeTensor)


def is_composite_spec(spec: object) -> bool:
    """Return whether the spec is one of composite tensors."""
    return isinstance(spec, TypeSpec) and type(spec)._to_components is not TypeSpec._to_components


def spec_of_composite(value: object) -> Any:
    """Return the spec of a composite; None for other values."""
    return value._type_spec if isinstance(value, CompositeTensor) else None


def parts_of(value: CompositeTensor) -> list[Any]:
    """Return the components of a composite, one level deep."""
    components = value._type_spec._to_components(value)
    return list(components) if type(components) in (list, tuple) else [components]


def part_specs(spec: TypeSpec) -> list[Any]:
    """Return the specs of the components, one level deep."""
    specs = spec._component_specs
    return list(specs) if type(specs) in (list, tuple) else [specs]


def from_parts(spec: TypeSpec, components: Sequence[Any]) -> Any:
    """Return the composite of that spec with these components, in the order of the spec's."""
    container_class = type(spec._component_specs)
    return spec._from_components(container_class(components) if container_class in (list, tuple) else components[0])


class _NoCommonForm(Exception):
    """Two serializations have no common form."""


def _agree(first: Any, second: Any, may_agree: Callable[[Any, Any], bool]) -> bool:
    """Return whether two serializations agree, by `may_agree` where their parts are shapes or specs."""
    if type(first) is not type(second):
        return False
    if hasattr(first, "is_compatible_with"):
        return bool(may_agree(first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_agree(first[key], second[key], may_agree) for key in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(_agree(*parts, may_agree) for parts in zip(first, second, strict=True))
    return bool(first == second)


def _is_compatible(first: Any, second: object) -> bool:
    return bool(first.is_compatible_with(second))


def _is_subtype(first: Any, second: object) -> bool:
    return bool(first.is_subtype_of(second) if hasattr(first, "is_subtype_of") else first == second)


def _join_parts(first: Any, second: Any) -> Any:
    """Return the narrowest serialization that covers two; raises _NoCommonForm if there is none."""
    if type(first) is not type(second):
        raise _NoCommonForm
    if hasattr(first, "most_specific_compatible_shape"):
        return first.most_specific_compatible_shape(second)
    if isinstance(first, TypeSpec):
        result = first.most_specific_common_supertype([second])
        if result is None:
            raise _NoCommonForm
        return result
    if isinstance(first, dict):
        if first.keys() != second.keys():
            raise _NoCommonForm
        return {key: _join_parts(first[key], second[key]) for key in first}
    if isinstance(first, (list, tuple)):
        if len(first) != len(second):
            raise _NoCommonForm
        return type(first)(map(_join_parts, first, second))
    if first != second:
        raise _NoCommonForm
    return first


def _as_hashable(serialization: Any) -> Any:
    """Convert a serialization to a hashable value."""
    if isinstance(serialization, dict):
        return tuple((key, _as_hashable(value)) for key, value in serialization.items())
    if type(serialization) in (list, tuple):
        return tuple(_as_hashable(value) for value in serialization)
    return serialization


def composites_in(values: Sequence[object]) -> Iterator[CompositeTensor]:
    """Iterate over the composites among values, and in lists and tuples among them."""
    for value in values:
        if isinstance(value, CompositeTensor):
            yield value
        elif isinstance(value, (list, tuple)):
            # A list of the graph refuses `iter`; its Python items are read directly.
            items = list.__iter__(value) if isinstance(value, list) else value
            yield from (part for part in items if isinstance(part, CompositeTensor))
