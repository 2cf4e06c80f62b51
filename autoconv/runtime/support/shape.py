"""TensorShape and TensorSpec: the public types of shapes and tensor types."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autoconv.graph.dtypes import DType, as_dtype, float32
from autoconv.graph.types import Dimension, Shape, TensorType, are_shapes_compatible, is_subtype, join_shapes
from autoconv.runtime.support.dimension import Dimension as SizeObject
from autoconv.runtime.support.type_spec import TypeSpec


class TensorShape:
    """A possibly partly unknown shape: a sequence of sizes, None for an unknown one.

    It equals lists and tuples of the same sizes. `TensorShape(None)` has an unknown rank, and no length.

    >>> autoconv.TensorShape([None, 2]).rank, autoconv.TensorShape([3, 2]).as_list()
    (2, [3, 2])
    """

    __slots__ = ("dims_tuple",)

    def __init__(self, dims: object) -> None:
        self.dims_tuple: Shape = as_shape(dims)
        if self.dims_tuple and any(type(size) is int and size < 0 for size in self.dims_tuple):
            raise ValueError(f"Dimension {min(size for size in self.as_list() if size is not None)} must be >= 0")

    @classmethod
    def of(cls, shape: Shape) -> TensorShape:
        """Return the TensorShape of a shape from a graph's type, unchecked."""
        result = object.__new__(cls)
        result.dims_tuple = shape
        return result

    @property
    def rank(self) -> int | None:
        return None if self.dims_tuple is None else len(self.dims_tuple)

    ndims = rank

    @property
    def dims(self) -> list[Any] | None:
        """The sizes as objects, whose `value` is an int or None; None for an unknown rank."""
        return None if self.dims_tuple is None else [SizeObject.of(size) for size in self.as_list()]

    @property
    def _dims(self) -> tuple[int | None, ...] | None:
        """The sizes, as Keras' serialization reads them; None for an unknown rank."""
        return None if self.dims_tuple is None else tuple(self.as_list())

    def as_list(self) -> list[int | None]:
        """The dimensions, None for an unknown one; raises ValueError for an unknown rank."""
        if self.dims_tuple is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return [size if isinstance(size, int) else None for size in self.dims_tuple]

    def num_elements(self) -> int | None:
        """Return the product of the sizes; None if one is unknown."""
        return math.prod(self.dims_tuple) if self.is_fully_defined() else None  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        return self.dims_tuple is not None and all(isinstance(size, int) for size in self.dims_tuple)

    def is_compatible_with(self, other: Any) -> bool:
        return are_shapes_compatible(self.dims_tuple, as_shape(other))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        return TensorShape.of(join_shapes(self.dims_tuple, as_shape(other)))

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """Return the most specific shape that describes this one and the others; None if one is no TensorShape."""
        if not all(isinstance(other, TensorShape) for other in others):
            return None
        return functools.reduce(TensorShape.most_specific_compatible_shape, others, self)

    def with_rank(self, rank: int) -> TensorShape:
        """Return the shape if it may have the rank; raises ValueError otherwise."""
        self.assert_has_rank(rank)
        return self.merge_with([None] * rank)

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape if its rank is unknown, or `rank` or more; raises ValueError otherwise."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return the shape if its rank is unknown, or `rank` or less; raises ValueError otherwise."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """Return the shape with the sizes that either of the two has; raises ValueError if they are incompatible."""
        second = as_shape(other)
        if not self.is_compatible_with(second):
            raise ValueError(f"Shapes {self} and {TensorShape.of(second)} are not compatible")
        if self.dims_tuple is None or second is None:
            return TensorShape.of(second if self.dims_tuple is None else self.dims_tuple)
        size_pairs = zip(self.dims_tuple, second, strict=True)
        return TensorShape.of(tuple(own if isinstance(own, int) else other_size for own, other_size in size_pairs))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if no tensor has both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the shape has another rank."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if the ranks are known and differ."""
        second = TensorShape(other)
        if None not in (self.rank, second.rank) and self.rank != second.rank:
            raise ValueError(f"Shapes {self} and {second} must have the same rank")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError if a size or the rank is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether `other` is a TensorShape that includes every tensor of this shape."""
        return isinstance(other, TensorShape) and TensorSpec(self).is_subtype_of(TensorSpec(other))

    def concatenate(self, other: Any) -> TensorShape:
        second = as_shape(other)
        return TensorShape.of(None if self.dims_tuple is None or second is None else self.dims_tuple + second)

    __concat__ = __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __iter__(self) -> Iterator[int | None]:
        if self.dims_tuple is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        present_size = _present_size()
        return iter(self.as_list()) if present_size is None else map(present_size, self.as_list())

    def __len__(self) -> int:
        if self.dims_tuple is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.dims_tuple)

    def __bool__(self) -> bool:
        return self.dims_tuple is not None

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return TensorShape.of(self._slice_of_unknown(index) if self.dims_tuple is None else self.dims_tuple[index])
        size = None if self.dims_tuple is None else self.dims_tuple[index]
        present_size = _present_size()
        if present_size is not None:
            return present_size(size if isinstance(size, int) else None)
        return size if isinstance(size, int) else None

    @staticmethod
    def _slice_of_unknown(index: slice) -> Shape:
        """Return a slice of a shape of unknown rank: its rank is known if no end of the slice is negative."""
        if index.step is not None:
            raise ValueError("Steps are not yet handled")
        start = index.start or 0
        return None if index.stop is None or min(start, index.stop) < 0 else (None,) * (index.stop - start)

    def __eq__(self, other: object) -> bool:
        try:
            return self.dims_tuple == as_shape(other)
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dims_tuple)

    def __str__(self) -> str:
        if self.dims_tuple is None:
            return "<unknown>"
        sizes: list[Any] = self.as_list()
        if _SIZE_FORM.present_size is not None:
            sizes = [_SIZE_FORM.present_size(size) for size in sizes]
        return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"

    def __repr__(self) -> str:
        return f"TensorShape({'None' if self.dims_tuple is None else self.as_list()})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims_tuple,)


class _SizeForm:
    """The form in which shapes present sizes: `present_size(size)`; if this is None, as ints and None."""

    present_size: Callable[[int | None], Any] | None = None


_SIZE_FORM = _SizeForm()


def _present_size() -> Callable[[int | None], Any] | None:
    """Return the function that presents sizes to the caller of the shape's method; None for callers of this package."""
    if _SIZE_FORM.present_size is None or sys._getframe(2).f_globals.get("__name__", "").startswith("autoconv."):
        return None
    return _SIZE_FORM.present_size


def show_sizes_by(present_size: Callable[[int | None], Any] | None) -> None:
    """Present sizes that are taken out of shapes by a function, in the whole process; None for ints and None."""
    _SIZE_FORM.present_size = present_size


class TensorSpec(TypeSpec):
    """The type of a tensor argument: a shape (None entries are unknown) and a dtype.

    >>> autoconv.TensorSpec([None, 2], autoconv.float32)
    TensorSpec(shape=(None, 2), dtype=autoconv.float32, name=None)
    """

    __slots__ = ("_name", "_type")

    def __init__(self, shape: object = None, dtype: object = float32, name: str | None = None) -> None:
        self._type = TensorType(as_dtype(dtype), as_shape(shape))
        self._name = name

    @classmethod
    def from_type(cls, type_: TensorType, name: str | None = None) -> TensorSpec:
        return cls(type_.shape, type_.dtype, name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def shape(self) -> TensorShape:
        return TensorShape.of(self._type.shape)

    @property
    def dtype(self) -> DType:
        return self._type.dtype

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def type(self) -> TensorType:
        return self._type

    def _serialize(self) -> tuple[TensorShape, DType, str | None]:
        return self.shape, self.dtype, self._name

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other_spec = spec_or_value if isinstance(spec_or_value, TensorSpec) else TensorSpec.from_tensor(spec_or_value)
        return self.dtype is other_spec.dtype and self.shape.is_compatible_with(other_spec.shape)

    def is_subtype_of(self, other: Any) -> bool:
        return isinstance(other, TensorSpec) and is_subtype(self._type, other._type)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """Return the narrowest spec that describes this one and the others; None for other dtypes or classes."""
        shape = self._type.shape
        for other in others:
            if not isinstance(other, TensorSpec) or other.dtype is not self.dtype:
                return None
            shape = join_shapes(shape, other._type.shape)
        return TensorSpec(shape, self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self._type, self._name) == (other._type, other._name)

    def __hash__(self) -> int:
        return hash(self._type)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self._name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorSpec, (self._type.shape, self._type.dtype, self._name)


def as_shape(dims: object) -> Shape:
    """Convert None, an int, a TensorShape or a sequence of dimensions to a shape; raise TypeError for anything else."""
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims.dims_tuple
    if isinstance(dims, int):
        return (dims,)
    if hasattr(dims, "__index__") and not getattr(dims, "shape", ()):  # one of NumPy's integers
        return (_as_dimension(dims),)
    if isinstance(dims, Iterable) and not isinstance(dims, (str, bytes)):
        return tuple(map(_as_dimension, dims))
    raise TypeError(f"Cannot convert {dims!r} to a TensorShape.")


def _as_dimension(dimension: Any) -> Dimension:
    """Return a size as an int, a symbol or None; raise TypeError for anything else."""
    if dimension is None or type(dimension) is int or type(dimension).__name__ == "Symbol":
        return dimension
    if hasattr(dimension, "value"):
        return _as_dimension(dimension.value)
    if hasattr(dimension, "__index__"):
        value = dimension.__index__()  # a negative number that is no Python int counts as unknown
        return None if value < 0 and not isinstance(dimension, int) else value
    raise TypeError(f"Dimension value must be integer or None, found {dimension!r}.")
