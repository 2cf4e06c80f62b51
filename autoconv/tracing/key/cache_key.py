"""The cache key of a call: the properties of its arguments on which a trace depends."""

from __future__ import annotations

import enum
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoconv.backends.call_form import BY_COLUMNS, BY_STRIDES
from autoconv.graph.types import ResourceType, TensorType, is_subtype
from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.composite_structures import contains_composite, is_narrower_template
from autoconv.runtime.support.exact_value import exact_value
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import Template, count_leaves, loses_state
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.trace_types import TracingContext


@dataclass(frozen=True, slots=True)
class TensorKey:
    """A leaf that the graph receives as a tensor: its type, and in `origin` the form in which it was passed.

    Origins are "tensor", "number", "array", "array without dimensions", `BY_COLUMNS` and those with the prefix
    `BY_STRIDES`. `BY_COLUMNS` is for arrays in Fortran order: the graph takes their transposed views, which are in C
    order. `BY_STRIDES` is for arrays in neither order: the graph loads their elements by the strides.
    """

    type: TensorType
    origin: str
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if not self._hash:
            object.__setattr__(self, "_hash", hash((self.type, self.origin)))
        return self._hash

    @property
    def is_of_tensor(self) -> bool:
        """True if a tensor was passed that does not stand for a Python number, as tensors on tapes may do."""
        return self.origin == "tensor" and not is_number(self.type)

    @property
    def is_of_array(self) -> bool:
        """True if a NumPy array with dimensions, or a NumPy scalar, was passed."""
        return self.origin in ("array", BY_COLUMNS) or self.is_by_strides

    @property
    def is_by_strides(self) -> bool:
        """True for an array in neither order, whose elements the graph loads by the strides."""
        return self.origin.startswith(BY_STRIDES)

    @property
    def last_stride(self) -> int | None:
        """The last stride, in elements, of an array that is read by its strides; None if it is not part of the key."""
        stride_text = self.origin.removeprefix(BY_STRIDES)
        return int(stride_text) if stride_text else None

    def __str__(self) -> str:
        return repr(TensorSpec.from_type(self.type))


@dataclass(frozen=True, slots=True)
class VariableKey:
    """A variable argument; `alias` is the number of the variable among the distinct variables of the call."""

    type: ResourceType
    trainable: bool
    alias: int

    def __str__(self) -> str:
        spec = TensorSpec.from_type(self.type.value)  # type: ignore[arg-type]
        return (
            f"VariableSpec(shape={spec.shape}, dtype={spec.dtype!r}, trainable={self.trainable}, alias_id={self.alias})"
        )


ItemKind = str | tuple["ItemKind", ...]


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """A list, dict or other Python object that the graph receives unchanged: only its class matters."""

    kind: str
    # The class name of the numbers in a list, or such names for each number in its tuples, by a sample of items; "" for
    # other lists and objects.
    item_kind: ItemKind = ""
    depth: int = 0  # nesting of such a list: 1 for a list of numbers

    def __str__(self) -> str:
        item_kind = str(self.item_kind).replace("'", "")
        kind = f"{'list[' * self.depth}{item_kind}{']' * self.depth}" if self.item_kind else self.kind
        return f"Object[{kind}]"


@dataclass(frozen=True, slots=True)
class SpecKey:
    """A dataset, an iterator or another object with a spec: identified by the spec, not by the object's identity.

    `spec.type` is the type of the graph's parameter for the object, and `spec(parameter)` makes its placeholder.
    """

    spec: Any

    def __str__(self) -> str:
        return repr(self.spec)


class Literal:
    """A Python value that is part of the key by type and value; floats count by their bits, ranges by their bounds."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        # The members of an enumeration are compared by identity; its class may define equality, and hashes.
        self.key = type(value), id(value) if isinstance(value, enum.Enum) else exact_value(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        # An enumeration may have a `__repr__` of its own, which may be the function that is traced.
        text = enum.Enum.__repr__(self.value) if isinstance(self.value, enum.Enum) else repr(self.value)
        return f"Literal[{text}]"


class Reference:
    """A weak reference to an object: compared by its identity if `is_by_identity` is true, otherwise by equality.

    Once the object is freed, `get` returns None, and the reference equals no other one.
    """

    __slots__ = ("get", "hash", "is_by_identity", "name")

    def __init__(self, value: Any, is_by_identity: bool = False) -> None:
        self.name = type(value).__name__
        self.is_by_identity = is_by_identity and not isinstance(value, types.MethodType)
        try:
            # An object's own `__hash__` may have side effects.
            self.hash = id(value) if self.is_by_identity else hash(value)
        except Exception:  # the class's `__hash__` may raise any error
            self.hash = id(value)
        try:
            self.get: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self.get = lambda: value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return False
        value, other_value = self.get(), other.get()
        if value is None or value is other_value:
            return value is not None
        return not self.is_by_identity and type(value) is type(other_value) and bool(value == other_value)

    def __hash__(self) -> int:
        return self.hash

    def __str__(self) -> str:
        return f"Reference[{self.name}]"


class CustomKey:
    """An object whose class defines `__tf_tracing_type__`: compared by the type that this returns."""

    __slots__ = ("type",)

    def __init__(self, value: Any) -> None:
        self.type = value.__tf_tracing_type__(TracingContext())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CustomKey) and bool(self.type == other.type)

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return str(self.type)

    def accepts(self, other: CustomKey) -> bool:
        """Return whether a trace for this object is valid for the other one."""
        return bool(other.type.is_subtype_of(self.type))


@dataclass(frozen=True, slots=True)
class SharedKey:
    """A written location that holds one of the call's written containers: the one at `position` among them."""

    position: int

    def __str__(self) -> str:
        return f"Shared[{self.position}]"


class OuterName(str):
    """The name of a flattened container from an outer name or attribute; names of arguments are of class `str`."""

    __slots__ = ()


LeafKey = TensorKey | VariableKey | Literal | Reference | ObjectKey | ArrayKey | SpecKey | CustomKey | SharedKey


@dataclass(frozen=True, slots=True)
class Key:
    """The cache key of one call: the structure of each argument, and a key for each leaf.

    The leaves are those of the templates, then the lists and dicts of `written_arguments`, then the values of written
    outer names and attributes. `location_sequence` identifies the sequence of these names and attributes, because the
    same values of other ones need another trace. In `templates`, containers of outer names and attributes follow the
    arguments, each under an `OuterName`.

    Under `compile`, `orders` are the keys of dicts in order. If `arrays_as_memory` is true, arrays are traced as
    memory; if `overlaps` is true, they may overlap each other. `replica` is the number of a strategy's replica, which
    has its own traces because it has its own copies of variables.
    """

    templates: tuple[tuple[str, Template | None], ...]
    leaves: tuple[LeafKey, ...]
    orders: tuple[Any, ...] = ()
    overlaps: bool = False
    arrays_as_memory: bool = False
    replica: int = 0
    written_arguments: tuple[str, ...] = ()
    location_sequence: int = 0
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Return the hash, computed once, because a call needs it several times."""
        if not self._hash:
            arguments = self.templates, self.leaves, self.orders, self.overlaps, self.arrays_as_memory
            written = self.written_arguments, self.location_sequence
            object.__setattr__(self, "_hash", hash((*arguments, self.replica, *written)))
        return self._hash

    @property
    def template_leaf_count(self) -> int:
        """The number of leaves of all templates, which are the first leaves."""
        return sum(count_leaves(template) for _, template in self.templates)

    def leaf_slices(self) -> Iterator[slice]:
        """Yield, for each template, the positions of its leaves as a slice of step 1."""
        start = 0
        for _, template in self.templates:
            end = start + count_leaves(template)
            yield slice(start, end)
            start = end


def accepts(general: Key, key: Key) -> bool:
    """Return whether a trace for `general` is valid for a call with `key`: only its shapes may be wider."""
    if general.templates != key.templates and not _are_narrower(key.templates, general.templates):
        return False
    if len(general.leaves) != len(key.leaves) or general.written_arguments != key.written_arguments:
        return False
    if (general.orders, general.overlaps, general.replica) != (key.orders, key.overlaps, key.replica):
        return False
    if general.location_sequence != key.location_sequence:
        return False
    for wide_leaf, narrow_leaf in zip(general.leaves, key.leaves, strict=True):
        if wide_leaf == narrow_leaf:
            continue
        if isinstance(wide_leaf, CustomKey) and isinstance(narrow_leaf, CustomKey) and wide_leaf.accepts(narrow_leaf):
            continue
        if isinstance(wide_leaf, ArrayKey) and isinstance(narrow_leaf, ArrayKey):
            if wide_leaf.is_behaved != narrow_leaf.is_behaved or not is_subtype(narrow_leaf.type, wide_leaf.type):
                return False
            continue
        if not (isinstance(wide_leaf, TensorKey) and isinstance(narrow_leaf, TensorKey)):
            return False
        wide, narrow = wide_leaf.type, narrow_leaf.type
        if (wide_leaf.origin, wide.weak, wide.dtype) != (narrow_leaf.origin, narrow.weak, narrow.dtype):
            return False
        if not is_subtype(narrow, wide):
            return False
    return True


def _are_narrower(narrow_templates: Sequence[Any], wide_templates: Sequence[Any]) -> bool:
    """Return whether arguments of the first templates fit the second ones."""
    has_composite = any(contains_composite(template) for _, template in wide_templates)
    if len(narrow_templates) != len(wide_templates) or not has_composite:
        return False
    pairs = zip(narrow_templates, wide_templates, strict=True)
    return all(
        narrow_name == wide_name and is_narrower_template(narrow_template, wide_template)
        for (narrow_name, narrow_template), (wide_name, wide_template) in pairs
    )


def dict_orders(structures: list[Any]) -> tuple[Any, ...]:
    """Return the keys of all dicts among `structures`, in order and with their types."""
    dicts = [structure for structure in structures if isinstance(structure, dict) and not loses_state(structure)]
    return tuple(tuple((type(key), key) for key in dict_) for dict_ in dicts)


def has_extra_attributes(value: Any) -> bool:
    """Return whether a value is a number or text with attributes: equal values may then differ."""
    is_number_or_text = isinstance(value, (int, float, complex, str, bytes)) and not isinstance(value, enum.Enum)
    return is_number_or_text and bool(attributes_of(value))


def make_object_key(value: Any) -> ObjectKey:
    """Return the key of an argument that the graph receives as an object, whatever its contents."""
    return ObjectKey(type(value).__name__)


def is_number(type_: TensorType) -> bool:
    """Return whether a tensor of that type stands for a Python number."""
    return type_.weak and type_.shape == ()
