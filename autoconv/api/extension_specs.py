"""Type specs of extension types: a spec for each field that holds tensors, and the value of each other field."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.type_spec import TypeSpec
from autoconv.runtime.tensors.tensor import EagerTensor


class ExtensionTypeSpec(TypeSpec):
    """Base of the specs of extension types.

    `_values` has the spec of each field with tensors, and the value of every other field.

    >>> class Point(autoconv.experimental.ExtensionType):
    ...     x: autoconv.Tensor
    >>> Point.Spec(x=autoconv.TensorSpec([2]))
    Point.Spec(x=TensorSpec(shape=(2,), dtype=autoconv.float32, name=None))
    """

    _extension_class: ClassVar[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._values: dict[str, Any] = bind_fields(self._extension_class, args, kwargs)

    @classmethod
    def with_members(cls, extension_class: type, members: Mapping[str, Any]) -> type[ExtensionTypeSpec]:
        """Return the spec class of an extension type; `members` are those of a class `Spec` that its user wrote."""
        spec_members = {name: value for name, value in members.items() if name not in ("__dict__", "__weakref__")}
        location = {"__module__": extension_class.__module__, "__qualname__": f"{extension_class.__qualname__}.Spec"}
        result: Any = type("Spec", (cls,), {**spec_members, **location, "_extension_class": extension_class})
        if "__init__" in members:
            result.__init__ = _wrap_constructor(members["__init__"])
        return result  # type: ignore[no-any-return]

    @classmethod
    def _from_field_values(cls, values: dict[str, Any]) -> ExtensionTypeSpec:
        result = cls.__new__(cls)
        result._values = values
        return result

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> ExtensionTypeSpec:
        return cls._from_field_values(dict(serialization))

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(name)
        return values[name]

    @property
    def value_type(self) -> type:
        return self._extension_class

    def _serialize(self) -> tuple[Any, ...]:
        return tuple((name, self._values[name]) for name in fields_of(self._extension_class))

    @property
    def _component_specs(self) -> list[Any]:
        return [spec for _, value in self._serialize() for spec in _specs_in(value)]

    def _to_components(self, value: Any) -> list[Any]:
        fields = vars(value)
        return [component for name, spec in self._serialize() for component in _components_in(spec, fields[name])]

    def _from_components(self, components: Any) -> Any:
        remaining_components = iter(components)
        result = self._extension_class.__new__(self._extension_class)
        for name, spec in self._serialize():
            vars(result)[name] = _map_specs(spec, lambda _: next(remaining_components))
        vars(result)["_is_frozen"] = True
        return result

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{self._extension_class.__qualname__}.Spec({fields})"


class BatchableSpec(ExtensionTypeSpec):
    """The spec of an extension type whose values are batched field by field."""

    def _batch(self, batch_size: int | None) -> BatchableSpec:
        return self._map_fields(lambda spec: _batch_leaf(spec, batch_size))

    def _unbatch(self) -> BatchableSpec:
        return self._map_fields(_unbatch_leaf)

    def _rows(self, value: Any) -> list[Any]:
        pairs = zip(self._component_specs, self._to_components(value), strict=True)
        columns = [_split_rows(spec, component) for spec, component in pairs]
        row_spec = self._unbatch()
        return [row_spec._from_components(components) for components in zip(*columns, strict=True)]

    def _stack_values(self, values: Sequence[Any]) -> Any:
        columns = zip(*(self._to_components(value) for value in values), strict=True)
        components = [_stack(spec, column) for spec, column in zip(self._component_specs, columns, strict=True)]
        return self._batch(len(values))._from_components(components)

    def _map_fields(self, function: Callable[[Any], Any]) -> BatchableSpec:
        return self._from_field_values(  # type: ignore[return-value]
            {name: _map_leaves(value, function) for name, value in self._values.items()}
        )


def _wrap_constructor(constructor: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that calls the user's `constructor` and makes fields of the attributes that it sets."""

    @functools.wraps(constructor)
    def construct(self: ExtensionTypeSpec, *args: Any, **kwargs: Any) -> None:
        constructor(self, *args, **kwargs)
        attributes = vars(self)
        names = fields_of(self._extension_class)
        unknown_names = attributes.keys() - names.keys()
        if unknown_names:
            raise AttributeError(
                f"{type(self).__qualname__} has no field {min(unknown_names)!r}: its fields are {', '.join(names)}."
            )
        missing_names = [name for name in names if name not in attributes]
        if missing_names:
            raise TypeError(f"{type(self).__qualname__}: the field {missing_names[0]!r} is missing")
        fields_by_name = {name: attributes.pop(name) for name in names}
        self._values = fields_by_name

    return construct


_FIELDS: dict[type, dict[str, Any]] = {}  # the results of `fields_of`


def fields_of(class_: type) -> dict[str, Any]:
    """Return the annotations of an extension type's fields by their names, in order, those of base classes first."""
    if class_ not in _FIELDS:
        hints = typing.get_type_hints(class_)
        skipped_names = {"Spec", "_batchable"}
        _FIELDS[class_] = {
            name: hint for name, hint in hints.items() if name not in skipped_names and not _is_class_var(hint)
        }
    return _FIELDS[class_]


def _is_class_var(hint: Any) -> bool:
    """Return whether an annotation is `ClassVar`, which annotates an attribute that is no field."""
    return typing.get_origin(hint) is ClassVar or hint is ClassVar


def bind_fields(class_: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all fields by name, given or default; raises TypeError for unknown or missing fields."""
    names = list(fields_of(class_))
    if len(args) > len(names):
        raise TypeError(f"{class_.__name__} takes {len(names)} arguments, {len(args)} were given")
    fields_by_name = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"{class_.__name__}: got an unexpected argument {name!r}")
        if name in fields_by_name:
            raise TypeError(f"{class_.__name__}: got multiple values for {name!r}")
        fields_by_name[name] = value
    for name in names:
        if name not in fields_by_name:
            if not hasattr(class_, name):
                raise TypeError(f"{class_.__name__}: missing a required argument: {name!r}")
            fields_by_name[name] = getattr(class_, name)
    return {name: fields_by_name[name] for name in names}


def _map_specs(spec: Any, function: Callable[[Any], Any]) -> Any:
    """Return a spec's field, a nest of tuples and dicts, with the results of `function` in place of the specs in it."""
    return _map_leaves(spec, lambda leaf: function(leaf) if isinstance(leaf, TypeSpec) else leaf)


def _map_leaves(spec: Any, function: Callable[[Any], Any]) -> Any:
    """Return a spec's field with the results of `function` in place of all leaves: specs and static values."""
    if isinstance(spec, tuple) and not isinstance(spec, TypeSpec):
        return tuple(_map_leaves(item_spec, function) for item_spec in spec)
    if isinstance(spec, dict):
        return {key: _map_leaves(item_spec, function) for key, item_spec in spec.items()}
    return function(spec)


def _specs_in(spec: Any) -> list[Any]:
    """Return all specs in a field of a spec."""
    specs: list[Any] = []
    _map_specs(spec, specs.append)
    return specs


def _components_in(spec: Any, value: Any) -> Iterator[Any]:
    """Yield the tensors and composites in a field's value, one for each spec in the field `spec` of the type spec."""
    if isinstance(spec, TypeSpec):
        yield value
    elif isinstance(spec, tuple):
        for item_spec, item in zip(spec, value, strict=True):
            yield from _components_in(item_spec, item)
    elif isinstance(spec, dict):
        for key, item_spec in spec.items():
            yield from _components_in(item_spec, value[key])


def _batch_leaf(leaf: Any, size: int | None) -> Any:
    """Return the spec of a batch for that of an element, the batch's shape for a shape; other values are unchanged."""
    if isinstance(leaf, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(leaf.shape), leaf.dtype)
    if isinstance(leaf, TensorShape):
        return TensorShape([size]).concatenate(leaf)
    return leaf._batch(size) if isinstance(leaf, TypeSpec) else leaf


def _unbatch_leaf(leaf: Any) -> Any:
    """Return the spec, or the shape, of an element of a batch; other static values unchanged."""
    if isinstance(leaf, TensorSpec):
        return TensorSpec(leaf.shape[1:], leaf.dtype)
    if isinstance(leaf, TensorShape):
        return leaf[1:]
    return leaf._unbatch() if isinstance(leaf, TypeSpec) else leaf


def _split_rows(spec: TypeSpec, component: Any) -> list[Any]:
    """Return the elements of `component`, a batch of the type `spec`."""
    return list(component) if isinstance(spec, TensorSpec) else spec._rows(component)


def _stack(spec: TypeSpec, column: Sequence[Any]) -> Any:
    """Return the batch of `column`, which has one component, of the type `spec`, of each of several values."""
    if isinstance(spec, TensorSpec):
        return EagerTensor(np.stack([np.asarray(tensor.numpy()) for tensor in column]))
    return spec._stack_values(column)
