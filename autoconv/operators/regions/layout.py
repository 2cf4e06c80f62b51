"""Layouts: which parts of a Python value are graph values when it crosses a region boundary.

`layout_join` joins layouts; `marshalling` converts values according to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeGuard

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType, ListType, ObjectType, TensorType, Type, number_type
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.support.protected_names import Undefined
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, GraphItems
from autoconv.runtime.support.attributes import HEAP
from autoconv.runtime.support.exact_value import exact_value
from autoconv.runtime.tensors.conversion import as_tensor, to_array, weak_dtype
from autoconv.runtime.tensors.tensor import EagerTensor


class Layout:
    """Base of the kinds of layouts; `field` names the attribute with the child layouts, "" for a kind without."""

    __slots__ = ()

    field: ClassVar[str] = ""

    @property
    def children(self) -> tuple[Layout, ...]:
        """The layouts of the parts of a value, or of its alternatives."""
        return getattr(self, self.field) if self.field else ()

    @property
    def alternatives(self) -> tuple[Layout, ...]:
        """The arms of a variant; any other layout by itself."""
        return (self,)

    def types(self) -> Iterator[Type]:
        """Yield the types of the graph values, in order."""
        for child in self.children:
            yield from child.types()

    def with_children(self, change: Callable[[Layout], Layout]) -> Layout:
        """Return the layout with each child changed."""
        layout: Any = self
        return dataclasses.replace(layout, **{self.field: tuple(map(change, self.children))}) if self.field else self


@dataclass(frozen=True, slots=True)
class Static(Layout):
    """The same Python object on all paths."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and is_same_object(self.value, other.value)

    def __hash__(self) -> int:
        return 0  # the value may have no hash


@dataclass(frozen=True, slots=True)
class Leaf(Layout):
    """One graph value; `wrap` builds the Python object around it (None: a tensor).

    A wrap is a hashable callable. Where two paths have different ones, `wrap.join(other)` is the wrap that holds
    both, or None when there is none.
    """

    type: Type
    wrap: Any = None

    def types(self) -> Iterator[Type]:
        yield self.type


@dataclass(frozen=True, slots=True)
class Parts(Layout):
    """A structure by its parts. `kind`: its class, or the type spec of a composite; `keys`: of a dict, else None."""

    field: ClassVar[str] = "parts"

    kind: Any
    keys: tuple[Any, ...] | None
    parts: tuple[Layout, ...]


@dataclass(frozen=True, slots=True)
class Instance(Layout):
    """An object that traced code created, by its attributes. `is_shared`: it may have aliases."""

    field: ClassVar[str] = "parts"

    kind: type
    keys: tuple[str, ...]
    parts: tuple[Layout, ...]
    is_shared: bool = False

    @property
    def is_in_graph(self) -> bool:
        """True if the only part is the graph's object, which has the attributes."""
        return self.keys == (HEAP,)


@dataclass(frozen=True, slots=True)
class RunTimeList(Layout):
    """A list of run-time length: one tensor list for each graph value of an element.

    An element without graph values is represented by the length alone.
    """

    element: Layout

    def types(self) -> Iterator[Type]:
        element_types = list(self.element.types())
        yield from map(ListType, element_types) if element_types else [weak_type(0)]


@dataclass(frozen=True, slots=True)
class Arms(Layout):
    """A variant: a tag, the number that arms share, and the payloads of the other arms.

    Python's float and NumPy's float64 differ in class alone: one graph value holds the number of both arms, and what
    depends on the number alone, such as a comparison, does not read the tag.
    """

    field: ClassVar[str] = "arms"

    arms: tuple[Layout, ...]

    @property
    def alternatives(self) -> tuple[Layout, ...]:
        return self.arms

    @property
    def number_type(self) -> TensorType | None:
        """The type of the number that arms share; None unless two arms or more are scalars, all of one dtype."""
        dtypes = [dtype for dtype in map(scalar_dtype, self.arms) if dtype is not None]
        return TensorType(dtypes[0], ()) if len(dtypes) > 1 and len(set(dtypes)) == 1 else None

    def types(self) -> Iterator[Type]:
        """Yield the type of the tag, that of the shared number if there is one, then those of the other arms."""
        yield weak_type(0)
        number_type = self.number_type
        if number_type is not None:
            yield number_type
        for arm in self.arms:
            if number_type is None or scalar_dtype(arm) is None:
                yield from arm.types()


@dataclass(frozen=True, slots=True)
class Never(Layout):
    """The result of an arm that always raises: the bottom of the lattice."""


NEVER = Never()


class Items(GraphItems):
    """Items of a list of run-time length (see `values.tensor_lists`); `values` are the graph values of its layout."""

    __slots__ = ("element", "values")

    def __init__(self, element: Layout, values: Sequence[Value]) -> None:
        self.element = element
        self.values = tuple(values)

    def widen(self, element: Layout) -> Items:
        """Return the same items with elements of the wider layout `element`."""
        raise NotImplementedError


class Variant:
    """One of several values, selected by `tag` at run time.

    An operation on it applies to the one arm that is a value: None and undefined arms raise as in Python.
    `number` is the number that arms share (see `Arms.number_type`), as a tensor; None if it is not known.
    """

    __slots__ = ("layouts", "number", "tag", "values")

    def __init__(self, tag: Any, layouts: Sequence[Layout], values: Sequence[Any], number: Any = None) -> None:
        self.tag = tag
        self.number = number
        self.layouts = tuple(layouts)
        self.values = tuple(values)


def is_same_object(first: Any, second: Any) -> bool:
    """Return whether two static values count as one: they are identical, or equal plain constants of one type."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, (int, float, complex, str, bytes)):
        return bool(exact_value(first) == exact_value(second))
    if isinstance(first, Undefined):
        return first == second
    if isinstance(first, frozenset):
        return first == second
    return type(first) is tuple and len(first) == len(second) and all(map(is_same_object, first, second))


def is_container(layout: Layout) -> TypeGuard[Static]:
    """Return whether the layout is a traced list, dict or set with its identity."""
    return isinstance(layout, Static) and type(layout.value) in TRACED_TO_PLAIN


def is_array_layout(layout: Layout) -> bool:
    """Return whether the layout is of a memory array."""
    if isinstance(layout, Static):
        return type(layout.value) is SymbolicArray
    return isinstance(layout, Leaf) and isinstance(layout.type, ArrayType)


def is_object_layout(layout: Layout) -> bool:
    """Return whether the layout is of a graph object."""
    return isinstance(layout, Leaf) and isinstance(layout.type, ObjectType)


def is_number_layout(layout: Layout) -> bool:
    """Return whether the layout is of a number or a tensor."""
    if is_array_layout(layout):
        return False
    if isinstance(layout, Leaf):
        return layout.wrap is None and isinstance(layout.type, TensorType)
    return isinstance(layout, Static) and (
        isinstance(layout.value, (bool, int, float, complex, EagerTensor, np.ndarray, np.generic))
        or (not isinstance(layout.value, type) and hasattr(type(layout.value), "__autoconv_tensor__"))
    )


def scalar_dtype(layout: Layout) -> DType | None:
    """Return the dtype of a scalar of Python's or NumPy's own classes; None for other layouts."""
    if isinstance(layout, Leaf):
        type_ = layout.type if layout.wrap is None else None
        return type_.dtype if isinstance(type_, TensorType) and type_.shape == () else None
    if not isinstance(layout, Static):
        return None
    value = layout.value
    if type(value) in (bool, int, float, complex):
        return weak_dtype(value) if type(value) is not int or -(2**63) <= value < 2**63 else None
    return as_dtype(value.dtype) if isinstance(value, np.generic) and type(value) in _NUMPY_CLASSES else None


# NumPy's own classes of numbers; a number of a subclass has an arm of its own.
_NUMPY_CLASSES = frozenset({*map(type, (np.bool_(), np.int64(), np.float64(), np.complex128()))})


def is_number_subclass(value: object) -> bool:
    """Return whether a value is an instance of a proper subclass of Python's classes of numbers, such as an IntEnum."""
    if not isinstance(value, (int, float, complex)) or isinstance(value, np.generic):
        return False
    return type(value) not in (bool, int, float, complex)


def weak_type(value: object) -> TensorType:
    """Return the type of a Python number in a graph."""
    return number_type(weak_dtype(value))


def value_type(value: object) -> TensorType:
    """Return the type of a number or array as a tensor."""
    tensor = as_tensor(value)
    return tensor.type if tensor is not None else EagerTensor(to_array(value)).type


class NumberKind(NamedTuple):
    """The facts under `compile` that numbers of one arm of a variant share.

    `static_layout` is the layout of a number of a subclass, such as a member of an IntEnum: it has an arm of its own.
    """

    dtype: DType
    is_weak: bool
    static_layout: Layout | None
