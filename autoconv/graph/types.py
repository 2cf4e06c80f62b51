"""Types of graph values, their text, and their join.

A dimension is an int, a shared symbol (`Symbol("n")`), or None when unknown; a shape of None has
an unknown rank. A *weak* tensor type is that of a Python number in a graph: it adopts the dtype of typed operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from autoconv.graph.dtypes import DType
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Symbol:
    """A dimension that is unknown while tracing but equal wherever it appears."""

    name: str

    def __str__(self) -> str:
        return self.name


Dimension = int | Symbol | None
Shape = tuple[Dimension, ...] | None


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor. `weak` marks a Python number, which takes the dtype of the operands that it meets."""

    dtype: DType
    shape: Shape = ()
    weak: bool = False

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def with_shape(self, shape: Shape) -> TensorType:
        return replace(self, shape=shape)

    def with_dtype(self, dtype: DType, weak: bool = False) -> TensorType:
        return TensorType(dtype, self.shape, weak)

    def __str__(self) -> str:
        return f"{'weak ' if self.weak else ''}{self.dtype.name}[{shape_text(self.shape)}]"


def number_type(dtype: DType) -> TensorType:
    """Return the type of a weak number: a Python bool, int, float or complex number in a graph."""
    return TensorType(dtype, weak=True)


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple of a fixed number of items, each with its own type."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.items))}>"


@dataclass(frozen=True, slots=True)
class ListType:
    """A list of any length with elements of one type."""

    element: Type

    def __str__(self) -> str:
        return f"list<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapType:
    """A mapping of any size with keys of one type, and values of one type."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class ResourceType:
    """Mutable storage of one value of the type `value`, such as that of a variable."""

    value: Type

    def __str__(self) -> str:
        return f"resource<{self.value}>"


@dataclass(frozen=True, slots=True)
class IteratorType:
    """The state of an iterator over elements of one type."""

    element: Type

    def __str__(self) -> str:
        return f"iterator<{self.element}>"


@dataclass(frozen=True, slots=True)
class IterableType:
    """A source that gives any number of iterators over elements of one type: a dataset."""

    element: Type

    def __str__(self) -> str:
        return f"iterable<{self.element}>"


@dataclass(frozen=True, slots=True)
class VariantType:
    """A tagged union; each arm has a payload (an empty tuple where it carries nothing)."""

    arms: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return f"variant<{', '.join(f'{tag}: {payload}' for tag, payload in self.arms)}>"


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A Python object of the running graph, such as a text, a list of anything, or an exception.

    Two values of this type may alias; `kind` is the name of the class where it is known, else "any".
    """

    kind: str = "any"

    def __str__(self) -> str:
        return f"object<{self.kind}>"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A mutable array in memory, or a view of one: two values may alias.

    `strides` are in bytes, as in NumPy; None stands for unknown sizes and strides. `shared`: the elements may overlap
    with those of another argument. `read_only`: a view that must not be written.
    """

    dtype: DType
    shape: tuple[Dimension, ...]
    strides: tuple[int | None, ...]
    shared: bool = False
    read_only: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """True if the array is known to be C-contiguous in NumPy's sense: strides of dimensions of size 1 are free."""
        if not all(isinstance(size, int) for size in self.shape):
            return self.is_dense
        dimensions = zip(self.shape, self.strides, dense_strides(self.shape, self.dtype), strict=True)
        return 0 in self.shape or all(size == 1 or stride == dense_stride for size, stride, dense_stride in dimensions)

    @property
    def is_dense(self) -> bool:
        """True if the strides are known to be those of a new C-contiguous array, in dimensions of size 1 as well."""
        return None not in self.strides and self.strides == dense_strides(self.shape, self.dtype)

    def with_shape(self, shape: Sequence[Dimension]) -> ArrayType:
        return replace(self, shape=tuple(shape))

    def __str__(self) -> str:
        strides = ",".join("?" if stride is None else str(stride) for stride in self.strides)
        flags = "shared " * self.shared + "read_only " * self.read_only
        return f"array<{flags}{self.dtype.name}[{shape_text(self.shape)}], [{strides}]>"


def dense_strides(shape: Sequence[Dimension], dtype: DType) -> tuple[int | None, ...]:
    """Return the strides of a new C-contiguous array; strides of the axes before one of unknown size are None."""
    strides: list[int | None] = []
    stride: int | None = dtype.size
    for size in reversed(shape):
        strides.append(stride)
        stride = stride * size if stride is not None and isinstance(size, int) else None
    return tuple(reversed(strides))


Type = (
    TensorType
    | TupleType
    | ListType
    | MapType
    | ResourceType
    | IteratorType
    | IterableType
    | VariantType
    | ObjectType
    | ArrayType
)


class NoCommonType(TypeError):
    """Raised for two types without a join; the message names both and the reason."""


def join(first: Type, second: Type) -> Type:
    """Return the least common supertype of both; raises NoCommonType.

    Shapes widen dimension by dimension. dtypes must agree, except that a weak one yields to a typed one, weak
    integers to weak floats, and weak bools to weak integers.
    """
    if first == second:
        return first
    if isinstance(first, TensorType) and isinstance(second, TensorType):
        dtype, weak = join_dtypes(first, second)
        return TensorType(dtype, join_shapes(first.shape, second.shape), weak)
    for kind in (ListType, IteratorType, IterableType):
        if isinstance(first, kind) and isinstance(second, kind):
            return kind(join(first.element, second.element))
    if isinstance(first, ResourceType) and isinstance(second, ResourceType):
        return ResourceType(join(first.value, second.value))
    if isinstance(first, MapType) and isinstance(second, MapType):
        return MapType(join(first.key, second.key), join(first.value, second.value))
    if isinstance(first, ObjectType) and isinstance(second, ObjectType):
        return ObjectType()
    if isinstance(first, ArrayType) and isinstance(second, ArrayType):
        return _join_arrays(first, second)
    if isinstance(first, TupleType) and isinstance(second, TupleType) and len(first.items) == len(second.items):
        return TupleType(tuple(map(join, first.items, second.items)))
    if isinstance(first, VariantType) and isinstance(second, VariantType):
        arms = dict(first.arms)
        for tag, payload in second.arms:
            arms[tag] = join(arms[tag], payload) if tag in arms else payload
        return VariantType(tuple(arms.items()))
    raise NoCommonType(f"{first} and {second} have no common type")


def _join_arrays(first: ArrayType, second: ArrayType) -> ArrayType:
    """Return the type of both arrays, in which different sizes and strides are unknown; raise if other facts differ."""
    are_compatible = first.dtype is second.dtype and first.rank == second.rank and first.read_only == second.read_only
    if not are_compatible:
        raise NoCommonType(f"{first} and {second} have no common type")
    shape = tuple(x if x == y else None for x, y in zip(first.shape, second.shape, strict=True))
    strides = tuple(x if x == y else None for x, y in zip(first.strides, second.strides, strict=True))
    return ArrayType(first.dtype, shape, strides, first.shared or second.shared, first.read_only)


def join_dtypes(first: TensorType, second: TensorType) -> tuple[DType, bool]:
    """Return the dtype and weakness of the join."""
    if first.dtype is second.dtype:
        return first.dtype, first.weak and second.weak
    if first.weak and second.weak:
        # Of two dtypes of one kind the wider one is chosen, so that the join is commutative.
        dtypes = sorted((first.dtype, second.dtype), key=lambda x: (number_kind_order(x), x.size, x.name))
        return dtypes[-1], True
    for weak_type, typed_type in ((first, second), (second, first)):
        if weak_type.weak and not typed_type.weak and can_adopt_dtype(weak_type.dtype, typed_type.dtype):
            return typed_type.dtype, False
    raise NoCommonType(f"{first} and {second} have no common dtype")


def number_kind_order(dtype: DType) -> int:
    """Return the position of the dtype's kind in Python's order of numbers: bool 0, int 1, float 2, complex 3."""
    return 0 if dtype.is_bool else 1 if dtype.is_integer else 2 if dtype.is_floating else 3


def can_adopt_dtype(number_dtype: DType, tensor_dtype: DType) -> bool:
    """Return whether a Python number in a graph can adopt a tensor's dtype without a change of its kind of number."""
    if number_dtype.is_string or tensor_dtype.is_string:
        return False
    return number_kind_order(number_dtype) <= number_kind_order(tensor_dtype)


def join_shapes(first: Shape, second: Shape) -> Shape:
    """Return the shape that holds both: a size that differs, or the rank, is unknown."""
    if first == second:
        return first
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(x if x == y else None for x, y in zip(first, second, strict=True))


def is_subtype(narrow: Type, wide: Type) -> bool:
    """Return whether every value of type `narrow` is also one of type `wide`."""
    try:
        return join(narrow, wide) == wide
    except NoCommonType:
        return False


def are_shapes_compatible(first: Shape, second: Shape) -> bool:
    """Return whether one array could have both shapes."""
    if first is None or second is None:
        return True
    if len(first) != len(second):
        return False
    return all(x == y or not isinstance(x, int) or not isinstance(y, int) for x, y in zip(first, second, strict=True))


def is_static_shape(shape: Shape) -> bool:
    """Return whether all sizes are known."""
    return shape is not None and all(isinstance(size, int) for size in shape)


def has_all_sizes(shape: Shape) -> bool:
    """Return whether each size is a number or a symbol."""
    return shape is not None and None not in shape


def shape_text(shape: Shape) -> str:
    """Return the text of a shape: `2,?,n`; `*` for an unknown rank."""
    if shape is None:
        return "*"
    return ",".join("?" if dimension is None else str(dimension) for dimension in shape)


def leaves(type_: Type) -> Iterator[TensorType]:
    """Iterate over the tensor types in a type, left to right; objects and arrays in memory have none."""
    if isinstance(type_, TensorType):
        yield type_
    elif isinstance(type_, TupleType):
        for item in type_.items:
            yield from leaves(item)
    elif isinstance(type_, VariantType):
        for _, payload in type_.arms:
            yield from leaves(payload)
    elif isinstance(type_, (ListType, IteratorType, IterableType)):
        yield from leaves(type_.element)
    elif isinstance(type_, ResourceType):
        yield from leaves(type_.value)
    elif isinstance(type_, MapType):
        yield from leaves(type_.key)
        yield from leaves(type_.value)
