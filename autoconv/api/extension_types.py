"""Extension types: classes of a program whose objects consist of tensors and of static values."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from autoconv.api.extension_specs import BatchableSpec, ExtensionTypeSpec, bind_fields, fields_of
from autoconv.api.tensors.reductions import reduce_all
from autoconv.api.tensors.shaping import stack
from autoconv.errors import FailedPreconditionError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.structure import flat_leaves
from autoconv.runtime.support.type_spec import CompositeTensor, TypeSpec, spec_of_composite
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MISSING = object()


class _FreezingMeta(type):
    """Metaclass that freezes an object after its constructor: its fields are converted and become read-only."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        result = super().__call__(*args, **kwargs)
        result._freeze()
        return result


class ExtensionType(CompositeTensor, metaclass=_FreezingMeta):
    """Base of classes whose annotated fields are tensors, composites, static values, tuples and mappings of them.

    Their objects are arguments, results and loop variables of functions. The constructor of a class that does not
    define `__init__` takes the fields; values of fields annotated as tensors are converted to tensors. Objects do not
    change after construction; a method `__validate__` may check them. The attribute `Spec` is the class of the objects'
    type specs. Raises TypeError for values that do not fit the annotations.

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
        user_spec = vars(cls).get("Spec")
        if user_spec is None or not issubclass(user_spec, ExtensionTypeSpec):
            cls.Spec = base.with_members(cls, {} if user_spec is None else vars(user_spec))
        cls.Spec._extension_class = cls

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields_by_name = bind_fields(type(self), args, kwargs)
        for name, value in fields_by_name.items():
            setattr(self, name, value)

    def _freeze(self) -> None:
        """Convert and check the fields after construction; they cannot be changed from then on."""
        if vars(self).get("_is_frozen"):
            return
        class_ = type(self)
        for name, annotation in fields_of(class_).items():
            value = vars(self).get(name, getattr(class_, name, _MISSING))
            if value is _MISSING:
                raise TypeError(f"{class_.__name__}: the field {name!r} is missing")
            vars(self)[name] = _convert(value, annotation, f"{class_.__name__}: field {name!r}")
        unknown_names = vars(self).keys() - fields_of(class_).keys()
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
            {name: _spec_of(vars(self)[name]) for name in fields_of(type(self))}
        )

    def __eq__(self, other: object) -> Any:
        if type(self) is not type(other) or self._type_spec != spec_of_composite(other):
            return False
        pairs = zip(flat_leaves(self), flat_leaves(other), strict=True)
        are_leaves_equal = [reduce_all(apply("equal", own_leaf, other_leaf)) for own_leaf, other_leaf in pairs]
        return reduce_all(stack(are_leaves_equal)) if are_leaves_equal else True

    def __ne__(self, other: object) -> Any:
        is_equal = self == other
        return not is_equal if isinstance(is_equal, bool) else apply("logical_not", is_equal)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={vars(self)[name]!r}" for name in fields_of(type(self)) if name in vars(self))
        return f"{type(self).__name__}({fields})"


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
    """The spec of a tensor, a composite, or a value that can be converted to a tensor. Raises TypeError for any other.

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


def _convert(value: Any, annotation: Any, location: str) -> Any:
    """Return the value, converted to the annotated type; raise TypeError where that is impossible.

    `location` names the field in errors.
    """
    origin, argument_types = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _convert_to_union(value, argument_types, location)
    if origin is tuple:
        return _convert_tuple(value, argument_types, location)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise TypeError(f"{location}: expected mapping, got {type(value).__name__!r}")
        _, item_type = argument_types
        return {key: _convert(item, item_type, location) for key, item in value.items()}
    if annotation is Any:
        return value
    if isinstance(annotation, TensorSpec) or annotation is Tensor:
        return _convert_to_field_tensor(value, annotation, location)
    if annotation is None:
        annotation = type(None)
    if annotation is TensorShape:
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
    """Return whether a field of numbers would get a bool, which Python counts among the ints."""
    return isinstance(value, bool) and annotation in (int, float)


def _convert_to_field_tensor(value: Any, annotation: Any, location: str) -> Any:
    """Return the value as a tensor; a value that is no tensor yet gets the annotated dtype."""
    if isinstance(value, CompositeTensor):
        raise TypeError(f"{location}: expected a Tensor, got {type(value).__name__!r}")
    dtype = annotation.dtype if isinstance(annotation, TensorSpec) and not is_tensor(value) else None
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{location}: expected a Tensor, got {type(value).__name__!r}: {error}") from None


def _convert_to_union(value: Any, types: Sequence[Any], location: str) -> Any:
    """Return the value, converted to the first possible type; types that it already has come first."""
    matching_types = [type_ for type_ in types if isinstance(type_, type) and isinstance(value, type_)]
    for type_ in (*matching_types, *types):
        try:
            return _convert(value, type_, location)
        except TypeError:
            continue
    names = ", ".join(getattr(type_, "__name__", str(type_)) for type_ in types)
    raise TypeError(f"{location}: expected one of {names}, got {type(value).__name__!r}")


def _convert_tuple(value: Any, types: Sequence[Any], location: str) -> tuple[Any, ...]:
    """Return the items converted to their types; `(type, ...)` in place of `types` is one type for all items."""
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
    if isinstance(value, tuple):
        return tuple(map(_spec_of, value))
    if isinstance(value, dict):
        return {key: _spec_of(item) for key, item in value.items()}
    return value


def named_extension_types(base: Any = ExtensionType) -> Iterator[tuple[str, Any]]:
    """Yield pairs (name, class) of the extension types whose class body sets `__name__`."""
    for extension_type in base.__subclasses__():
        name = vars(extension_type).get("__name__")
        if isinstance(name, str):
            yield name, extension_type
        yield from named_extension_types(extension_type)


def find_extension_type(name: str) -> Any:
    """Return the extension type whose class body sets `__name__` to `name`, else raise FailedPreconditionError."""
    result = dict(named_extension_types()).get(name)
    if result is None:
        raise FailedPreconditionError(f"no extension type with `__name__ = {name!r}` is defined")
    return result
