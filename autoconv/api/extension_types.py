"""Extension types: classes of a program whose objects consist of tensors and of static values."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from autoconv.api.tensors.reductions import reduce_all
from autoconv.api.tensors.shaping import stack
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.structure import flatten
from autoconv.runtime.support.type_spec import CompositeTensor, TypeSpec, spec_of_composite
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor

_MISSING = object()


class _FreezingMeta(type):
    """Metaclass that freezes an object after its constructor: its fields are converted and become read-only."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        result = super().__call__(*args, **kwargs)
        result._freeze()
        return result


class ExtensionType(CompositeTensor, metaclass=_FreezingMeta):
    """Base of classes whose annotated fields are tensors, composites, static values, tuples and mappings of them.

    Their objects are arguments, results and loop variables of functions. Without an `__init__` of its own, a class
    takes its fields; values are converted to tensors where a field is one. Objects do not change after construction;
    a method `__validate__` may check them. `Spec` is the class's type spec. Raises TypeError for values that do not
    fit the annotations.

    >>> class Masked(autoconv.experimental.ExtensionType):
    ...     values: autoconv.Tensor
    ...     mask: autoconv.Tensor
    ...     def total(self):
    ...         return autoconv.reduce_sum(autoconv.where(self.mask, self.values, 0.0))
    >>> x = Masked([1.0, 2.0], [True, False])
    >>> autoconv.function(lambda x: x.total())(x).numpy(), x.values.dtype
    (np.float32(1.0), autoconv.float32)
    """

    Spec: ClassVar[Any]
    _batchable: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        base = BatchableSpec if cls._batchable else ExtensionTypeSpec
        if "Spec" not in vars(cls):
            cls.Spec = type("Spec", (base,), {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec"})
        cls.Spec._extension_class = cls

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields_by_name = _bind_fields(type(self), args, kwargs)
        for name, value in fields_by_name.items():
            setattr(self, name, value)

    def _freeze(self) -> None:
        """Convert and check the fields after construction; refuse changes from then on."""
        if vars(self).get("_is_frozen"):
            return
        class_ = type(self)
        for name, annotation in _fields(class_).items():
            value = vars(self).get(name, getattr(class_, name, _MISSING))
            if value is _MISSING:
                raise TypeError(f"{class_.__name__}: the field {name!r} is missing")
            vars(self)[name] = _convert(value, annotation, f"{class_.__name__}: field {name!r}")
        unknown_names = vars(self).keys() - _fields(class_).keys()
        if unknown_names:
            raise AttributeError(f"{class_.__name__} has no field {min(unknown_names)!r}: annotate it in the class")
        vars(self)["_is_frozen"] = True
        validate = getattr(self, "__validate__", None)
        if validate is not None:
            validate()

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get("_is_frozen"):
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
            )
        vars(self)[name] = value

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")

    @property
    def _type_spec(self) -> ExtensionTypeSpec:
        return type(self).Spec._from_field_values(  # type: ignore[no-any-return]
            {name: _spec_of(vars(self)[name]) for name in _fields(type(self))}
        )

    def __eq__(self, other: object) -> Any:
        if type(self) is not type(other) or self._type_spec != spec_of_composite(other):
            return False
        pairs = zip(flatten(self)[0], flatten(other)[0], strict=True)
        are_leaves_equal = [reduce_all(apply("equal", own_leaf, other_leaf)) for own_leaf, other_leaf in pairs]
        return reduce_all(stack(are_leaves_equal)) if are_leaves_equal else True

    def __ne__(self, other: object) -> Any:
        is_equal = self == other
        return not is_equal if isinstance(is_equal, bool) else apply("logical_not", is_equal)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={vars(self)[name]!r}" for name in _fields(type(self)) if name in vars(self))
        return f"{type(self).__name__}({fields})"


class ExtensionTypeSpec(TypeSpec):
    """Base of the specs of extension types: the spec of each field that holds tensors, and the value of others.

    >>> class Point(autoconv.experimental.ExtensionType):
    ...     x: autoconv.Tensor
    >>> Point.Spec(x=autoconv.TensorSpec([2]))
    Point.Spec(x=TensorSpec(shape=(2,), dtype=autoconv.float32, name=None))
    """

    _extension_class: ClassVar[type[ExtensionType]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._values: dict[str, Any] = _bind_fields(self._extension_class, args, kwargs)

    @classmethod
    def _from_field_values(cls, values: dict[str, Any]) -> ExtensionTypeSpec:
        result = cls.__new__(cls)
        result._values = values
        return result

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> ExtensionTypeSpec:
        return cls._from_field_values(dict(zip(_fields(cls._extension_class), serialization, strict=True)))

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(name)
        return values[name]

    @property
    def value_type(self) -> type:
        return self._extension_class

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._values[name] for name in _fields(self._extension_class))

    @property
    def _component_specs(self) -> list[Any]:
        return [spec for value in self._serialize() for spec in _specs_in(value)]

    def _to_components(self, value: Any) -> list[Any]:
        fields = zip(_fields(self._extension_class), self._serialize(), strict=True)
        return [part for name, spec in fields for part in _components_in(spec, vars(value)[name])]

    def _from_components(self, components: Any) -> Any:
        remaining_components = iter(components)
        result = self._extension_class.__new__(self._extension_class)
        for name, spec in zip(_fields(self._extension_class), self._serialize(), strict=True):
            vars(result)[name] = _map_specs(spec, lambda _: next(remaining_components))
        vars(result)["_is_frozen"] = True
        return result

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{self._extension_class.__name__}.Spec({fields})"


class BatchableSpec(ExtensionTypeSpec):
    """The spec of an extension type whose values are batched field by field."""

    def _batch(self, batch_size: int | None) -> BatchableSpec:
        return self._map_fields(lambda spec: _batch_spec(spec, batch_size))

    def _unbatch(self) -> BatchableSpec:
        return self._map_fields(_unbatch_spec)

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
            {name: _map_specs(value, function) for name, value in self._values.items()}
        )


class BatchableExtensionType(ExtensionType):
    """An extension type whose objects are batched and split field by field, as by datasets and `map_fn`.

    >>> class Vertex(autoconv.experimental.BatchableExtensionType):
    ...     weight: autoconv.Tensor
    >>> dataset = autoconv.data.Dataset.from_tensor_slices(Vertex([1.0, 2.0, 3.0])).batch(2)
    >>> [batch.weight.numpy().tolist() for batch in dataset]
    [[1.0, 2.0], [3.0]]
    """

    _batchable = True


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, of a composite, or of a value that becomes a tensor. Raises TypeError for another value.

    >>> autoconv.type_spec_from_value([1, 2])
    TensorSpec(shape=(2,), dtype=autoconv.int32, name=None)
    """
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if hasattr(type(value), "__autoconv_spec__"):
        return value.__autoconv_spec__()  # type: ignore[no-any-return]
    declared_spec = getattr(value, "_type_spec", None)  # an object that is no composite, such as an Optional
    if declared_spec is not None:
        return declared_spec  # type: ignore[no-any-return]
    try:
        return TensorSpec.from_tensor(convert_to_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from None


_FIELDS: dict[type, dict[str, Any]] = {}


def _fields(class_: type) -> dict[str, Any]:
    """Return the annotations of the fields, in order, those of base classes first."""
    if class_ not in _FIELDS:
        hints = typing.get_type_hints(class_)
        skipped_names = {"Spec", "_batchable"}
        _FIELDS[class_] = {
            name: hint for name, hint in hints.items() if name not in skipped_names and not _is_class_var(hint)
        }
    return _FIELDS[class_]


def _is_class_var(hint: Any) -> bool:
    return typing.get_origin(hint) is ClassVar or hint is ClassVar


def _bind_fields(class_: type, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all fields by name, of defaults too; raises TypeError for unknown or missing ones."""
    names = list(_fields(class_))
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


def _convert(value: Any, annotation: Any, location: str) -> Any:
    """Convert a value to the annotated type; raise TypeError where that is impossible."""
    origin, argument_types = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _convert_to_union(value, argument_types, location)
    if origin is tuple:
        return _convert_tuple(value, argument_types, location)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise TypeError(f"{location}: expected mapping, got {type(value).__name__!r}")
        return {key: _convert(item, argument_types[1], location) for key, item in value.items()}
    if annotation is Any:
        return value
    if isinstance(annotation, TensorSpec) or annotation is Tensor:
        return _convert_to_field_tensor(value, annotation, location)
    if annotation is None or annotation is type(None):
        annotation = type(None)
    if annotation is TensorShape and not isinstance(value, TensorShape):
        return TensorShape(value)
    if annotation is DType:
        return as_dtype(value)
    if annotation is float and type(value) is int:
        return float(value)
    if not isinstance(annotation, type) or not isinstance(value, annotation) or _is_bool_for_number(value, annotation):
        type_name = getattr(annotation, "__name__", annotation)
        raise TypeError(f"{location}: expected {type_name}, got {type(value).__name__!r}")
    return value


def _is_bool_for_number(value: Any, annotation: type) -> bool:
    return isinstance(value, bool) and annotation in (int, float)


def _convert_to_field_tensor(value: Any, annotation: Any, location: str) -> Any:
    if isinstance(value, CompositeTensor):
        raise TypeError(f"{location}: expected a Tensor, got {type(value).__name__!r}")
    dtype = annotation.dtype if isinstance(annotation, TensorSpec) and not is_tensor(value) else None
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{location}: expected a Tensor, got {type(value).__name__!r}: {error}") from None


def _convert_to_union(value: Any, types: Sequence[Any], location: str) -> Any:
    matching_types = [type_ for type_ in types if isinstance(type_, type) and isinstance(value, type_)]
    for type_ in (*matching_types, *types):
        try:
            return _convert(value, type_, location)
        except TypeError:
            continue
    names = ", ".join(getattr(type_, "__name__", str(type_)) for type_ in types)
    raise TypeError(f"{location}: expected one of {names}, got {type(value).__name__!r}")


def _convert_tuple(value: Any, types: Sequence[Any], location: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{location}: expected tuple, got {type(value).__name__!r}")
    item_types = [types[0]] * len(value) if len(types) == 2 and types[1] is Ellipsis else list(types)
    if len(item_types) != len(value):
        raise TypeError(f"{location}: expected {len(item_types)} values, got {len(value)}")
    return tuple(_convert(item, item_type, location) for item, item_type in zip(value, item_types, strict=True))


def _spec_of(value: Any) -> Any:
    """Return a field's value with its tensors and composites replaced by their specs."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Tensor):
        return TensorSpec.from_tensor(value)
    if isinstance(value, tuple) and not isinstance(value, TensorShape):
        return tuple(map(_spec_of, value))
    if isinstance(value, dict):
        return {key: _spec_of(item) for key, item in value.items()}
    return value


def _map_specs(spec: Any, function: Callable[[Any], Any]) -> Any:
    """Apply `function` to each spec in a field of a spec."""
    if isinstance(spec, TypeSpec):
        return function(spec)
    if isinstance(spec, tuple) and not isinstance(spec, TensorShape):
        return tuple(_map_specs(item_spec, function) for item_spec in spec)
    if isinstance(spec, dict):
        return {key: _map_specs(item_spec, function) for key, item_spec in spec.items()}
    return spec


def _specs_in(spec: Any) -> list[Any]:
    result: list[Any] = []
    _map_specs(spec, result.append)
    return result


def _components_in(spec: Any, value: Any) -> Iterator[Any]:
    """Iterate over the parts of a field's value that correspond to specs."""
    if isinstance(spec, TypeSpec):
        yield value
    elif isinstance(spec, tuple) and not isinstance(spec, TensorShape):
        for item_spec, part in zip(spec, value, strict=True):
            yield from _components_in(item_spec, part)
    elif isinstance(spec, dict):
        for key, item_spec in spec.items():
            yield from _components_in(item_spec, value[key])


def _batch_spec(spec: TypeSpec, size: int | None) -> TypeSpec:
    if isinstance(spec, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    return spec._batch(size)


def _unbatch_spec(spec: TypeSpec) -> TypeSpec:
    return TensorSpec(spec.shape[1:], spec.dtype) if isinstance(spec, TensorSpec) else spec._unbatch()


def _split_rows(spec: TypeSpec, component: Any) -> list[Any]:
    return list(component) if isinstance(spec, TensorSpec) else spec._rows(component)


def _stack(spec: TypeSpec, column: Sequence[Any]) -> Any:
    if isinstance(spec, TensorSpec):
        return EagerTensor(np.stack([np.asarray(tensor.numpy()) for tensor in column]))
    return spec._stack_values(column)


__all__ = ["BatchableExtensionType", "BatchableSpec", "ExtensionType", "ExtensionTypeSpec", "type_spec_from_value"]
