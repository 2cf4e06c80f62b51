"""Optional: an element of a dataset, or no value."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.value_specs import NoneTensorSpec
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import bool_
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.recording.regions import current_region, recording
from autoconv.runtime.support.composite_structures import collapse_composites, expand_specs
from autoconv.runtime.support.shape import TensorShape, TensorSpec
from autoconv.runtime.support.structure import flatten, map_structure, pack
from autoconv.runtime.tensors.conversion import as_tensor, constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply


@dataclass(eq=False)
class Optional:
    """A structure of tensors or no value, with the same spec in both cases.

    Without a value its tensors are zeros, so that functions, conditionals and loops take it as they take any structure.

    >>> autoconv.experimental.Optional.from_value(autoconv.constant(3)).get_value().numpy()
    np.int32(3)
    >>> bool(autoconv.experimental.Optional.empty(autoconv.TensorSpec([], autoconv.int32)).has_value())
    False
    """

    _has_value: Any
    _value: Any

    @classmethod
    def from_value(cls, value: object) -> Optional:
        """Return an Optional that holds the value, a structure of what converts to tensors."""
        return cls(constant(True), map_structure(_as_element, value))

    @classmethod
    def empty(cls, element_spec: object) -> Optional:
        """Return an Optional of the spec without a value; with None, `_element_spec` is set later."""
        return cls(constant(False), zeros_of(element_spec))

    @property
    def element_spec(self) -> Any:
        """The spec of the value: a structure of TensorSpecs and specs of composites."""
        leaves, template = flatten(self._value)
        specs = (part if part is None else TensorSpec(part.shape, part.dtype) for part in leaves)
        collapsed_specs, outer_template = collapse_composites(template, specs)
        return pack(outer_template, collapsed_specs)

    @property
    def _element_spec(self) -> Any:
        return self.element_spec

    @_element_spec.setter
    def _element_spec(self, spec: object) -> None:
        """Set the spec of an Optional without a value, as Keras does once the spec is known."""
        if self._value is None:
            self._value = zeros_of(spec)

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self.element_spec)

    @property
    def __autoconv_is_structure_open__(self) -> bool:
        """True while the spec is not set."""
        return self._value is None

    def has_value(self, name: str | None = None) -> Any:
        """Return whether there is a value, a bool tensor."""
        return self._has_value

    def get_value(self, name: str | None = None) -> Any:
        """Return the value; raises InvalidArgumentError where there is none, in a graph when it runs."""
        has_value: Any = as_tensor(self._has_value)
        if current_region() is not None:
            apply("assert_true", has_value, message=_EMPTY_MESSAGE, failure="check")
        elif not bool(has_value):
            raise InvalidArgumentError(_EMPTY_MESSAGE)
        return self._value


@dataclass(frozen=True)
class OptionalSpec:
    """The type of an Optional: the spec of its value.

    >>> autoconv.OptionalSpec.from_value(autoconv.experimental.Optional.from_value(autoconv.constant(3)))
    OptionalSpec(TensorSpec(shape=(), dtype=autoconv.int32, name=None),)
    """

    element_spec: Any

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        return OptionalSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        return Optional

    @property
    def shape(self) -> TensorShape:
        return TensorShape([])

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Return whether a spec, or an Optional, has a value of the same spec."""
        other = spec_or_value._type_spec if isinstance(spec_or_value, Optional) else spec_or_value
        return self == other

    def __repr__(self) -> str:
        return f"OptionalSpec({self.element_spec!r},)"


def expand_optional_specs(spec: object) -> Any:
    """Return a structure of specs in which an OptionalSpec is the Optional with the specs of its tensors."""
    leaves, template = flatten(spec, lambda part: isinstance(part, OptionalSpec))
    return pack(template, [_expand_optional_spec(leaf) for leaf in leaves])


def _expand_optional_spec(spec: Any) -> Any:
    """Return one leaf of `expand_optional_specs`."""
    if not isinstance(spec, OptionalSpec):
        return spec
    value = NoneTensorSpec() if spec.element_spec is None else expand_optional_specs(spec.element_spec)
    return Optional(TensorSpec((), bool_), value)


def zeros_of(element_spec: object) -> Any:
    """Return zeros for the tensors of the spec, the content of an Optional without a value; None for None."""
    leaves, template = expand_specs(*flatten(element_spec))
    return pack(template, [_zeros_of_leaf(spec) for spec in leaves])


_EMPTY_MESSAGE = "The given optional does not have a value."


def _as_element(part: object) -> Any:
    """Return a part of a value as a tensor; None stays."""
    return part if part is None else convert_to_tensor(part)


def _zeros_of_leaf(spec: TensorSpec | None) -> Any:
    """Return zeros of the spec: an eager tensor, as the Optional may be used in another region of the graph."""
    if spec is None:
        return None
    with recording(region=None):
        zeros = np.full([size or 0 for size in spec.shape], b"" if spec.dtype.is_string else 0, spec.dtype.numpy)
        return constant(zeros)
