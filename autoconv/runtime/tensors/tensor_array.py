"""TensorArray: tensors by position, each written once, that are stacked or concatenated at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError, ListReadError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.graph import Value
from autoconv.graph.types import Shape, are_shapes_compatible, join_shapes
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.values.list_value import ListValue
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tracebacks import wrap_public_methods
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


@dataclass(frozen=True, slots=True)
class StaticKind:
    """The static part of a TensorArray; called with a list value, it makes a TensorArray of the elements.

    `is_written` is true once an element was written. Then `shape` is the known common shape of the written elements;
    before that, it is the shape that the user declared. `size` is the number of elements, None if it is not known.
    """

    dtype: DType
    dynamic_size: bool
    clear_after_read: bool
    infer_shape: bool
    shape: Shape
    is_written: bool = False
    size: int | None = None

    def __call__(self, elements: Any) -> TensorArray:
        array = TensorArray.__new__(TensorArray)
        if isinstance(elements, ListValue):
            items: Any = [None if item is None else EagerTensor(item) for item in elements.items()]
        else:
            items = elements
        array._initialise(self, items)
        return array

    def join(self, other: object) -> StaticKind | None:
        """Return the join of two kinds; None when they differ in more than the written elements."""
        other = other.keeping_size(self.size) if isinstance(other, StaticKind) else None
        if other is None or self._declaration() != other._declaration():
            return None
        if self.is_written and other.is_written:
            return replace(other, shape=join_shapes(self.shape, other.shape))
        return replace(self if self.is_written else other, size=other.size)

    def _declaration(self) -> StaticKind:
        """Return the kind without what depends on the written elements."""
        return replace(self, shape=None, is_written=False, size=None)

    def keeping_size(self, size: int | None) -> StaticKind:
        """Return the kind; without its size, if the number of elements is now `size`, another one."""
        return self if size == self.size else replace(self, size=None)

    def after_writing(self, shape: Shape) -> StaticKind:
        """Return the kind after a write; raises ValueError for a shape that is incompatible with the other elements."""
        if not self.infer_shape and self.shape is None:
            return self
        if not are_shapes_compatible(self.shape, shape):
            raise ValueError(
                f"Incompatible shape for value ({TensorShape(shape)}), expected ({TensorShape(self.shape)})"
            )
        if not self.infer_shape:
            return self
        common_shape = shape if not self.is_written else join_shapes(self.shape, shape)
        return replace(self, shape=common_shape, is_written=True)


class _KindHolder:
    """A mutable holder of the kind, shared by an array and the arrays returned by its writes."""

    __slots__ = ("kind",)

    def __init__(self, kind: StaticKind) -> None:
        self.kind = kind


@wrap_public_methods
class TensorArray:
    """Tensors by position. Use the results of `write` and `unstack`; while tracing nothing is changed in place.

    `size` is the number of elements, which grows by writing when `dynamic_size` is set. All elements have
    `dtype` and, unless `infer_shape` is False, one shape. Elements never written read as zeros. Eagerly an
    element can be read once unless `clear_after_read` is False.

    >>> array = autoconv.TensorArray(autoconv.int32, size=2)
    >>> array.write(0, 5).write(1, 6).stack().numpy()
    array([5, 6], dtype=int32)
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        declared_shape = as_shape(element_shape)
        clears_after_read = clear_after_read is not False
        kind = StaticKind(as_dtype(dtype), bool(dynamic_size), clears_after_read, bool(infer_shape), declared_shape)
        size = 0 if size is None else size
        static_size = static_value(size)
        if not dynamic_size and static_size is not None:
            kind = replace(kind, size=int(static_size))
        if current_region() is None:
            length = int(size)
            if length < 0:
                raise InvalidArgumentError(f"Size should be >= 0, found {length}")
            self._initialise(kind, [None] * length)
        else:
            self._initialise(kind, apply("list_reserve", size, dtype=kind.dtype, shape=declared_shape))

    def _initialise(
        self, kind: StaticKind, elements: list[EagerTensor | None] | Value, kind_holder: _KindHolder | None = None
    ) -> None:
        self._kind_holder = kind_holder or _KindHolder(kind)
        self._elements = elements
        self._cleared_positions: set[int] = set()

    def __autoconv_graph_value__(self) -> Value:
        """Return the list of the elements in the graph being recorded."""
        if isinstance(self._elements, Value):
            return self._elements
        kind = self._kind
        result = apply(
            "list_reserve", len(self._elements), dtype=kind.dtype, shape=None if kind.is_written else kind.shape
        )
        for index, element in enumerate(self._elements):
            if element is not None:
                result = apply("list_set", result, index, element)
        return result

    def __autoconv_wrap__(self) -> StaticKind:
        return self._kind

    @property
    def _kind(self) -> StaticKind:
        return self._kind_holder.kind

    @property
    def dtype(self) -> DType:
        return self._kind.dtype

    @property
    def dynamic_size(self) -> bool:
        return self._kind.dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """The known part of the elements' shape."""
        return TensorShape(self._kind.shape)

    @property
    def handle(self) -> Any:
        return None

    @property
    def flow(self) -> Any:
        return None

    def identity(self) -> TensorArray:
        """Return an array of the same elements."""
        return self._with_elements(self._elements)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements, an int32 scalar."""
        if self._is_eager:
            return EagerTensor(np.int32(len(self._elements)))  # type: ignore[arg-type]
        return apply("list_length", self._graph_list, name=name)

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return the element; raises OutOfRangeError where there is none.

        Eagerly, raises InvalidArgumentError for an element that was read before.
        """
        if not self._is_eager:
            return apply("list_get", self._graph_list, _index_operand(index), shape=self._written_shape, name=name)
        position = int(index)
        if position < 0:
            raise ListReadError(f"Reading from negative indices (index {position}) is not allowed.")
        items = self._items
        if position >= len(items):
            raise ListReadError(f"Tried to read from index {position} but array size is: {len(items)} ")
        if items[position] is None and position in self._cleared_positions:
            raise InvalidArgumentError(
                f"Could not read index {position} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        element = self._element(position)
        if self._kind.clear_after_read:
            items[position] = None
            self._cleared_positions.add(position)
        return element

    def write(self, index: Any, value: object, name: str | None = None) -> TensorArray:
        """Return the array with that element; raises OutOfRangeError past the end of an array of fixed size."""
        element = self._accept_element(value)
        if not self._is_eager:
            resize = self._kind.dynamic_size
            result = apply("list_set", self._graph_list, _index_operand(index), element, resize=resize, name=name)
            return self._with_elements(result)
        position, items = int(index), self._items
        if position < 0:
            raise ListReadError(f"Writing to negative indices (index {position}) is not allowed.")
        if position >= len(items):
            if not self._kind.dynamic_size:
                raise ListReadError(
                    f"Tried to write to index {position} but array is not resizeable and size is: {len(items)} "
                )
            items.extend([None] * (position + 1 - len(items)))
        assert isinstance(element, EagerTensor)
        items[position] = element
        return self

    def stack(self, name: str | None = None) -> Tensor:
        """Stack all elements into one tensor, along a new first dimension."""
        if not self._is_eager:
            result = apply("list_stack", self._graph_list, shape=self._written_shape, name=name)
            if self._kind.size is not None and result.shape.rank is not None:
                result.set_shape((self._kind.size, *result.shape[1:]))
            return result
        if self._items and tape_recorders.active_recorders():
            return apply("stack", *map(self._element, range(len(self._items))), axis=0, name=name)
        if not self._items and self.element_shape.is_fully_defined():
            return EagerTensor(np.zeros((0, *(self._kind.shape or ())), self.dtype.numpy))
        return apply("list_stack", self._as_list(), name=name)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Stack the elements at these positions into one tensor."""
        if self._is_eager and tape_recorders.active_recorders():
            return apply("gather", self.stack(), convert_to_tensor(indices), axis=0, name=name)
        source = self._as_list() if self._is_eager else self._graph_list
        return apply("list_gather", source, convert_to_tensor(indices), shape=self._written_shape, name=name)

    def concat(self, name: str | None = None) -> Tensor:
        """Concatenate the elements along their first dimension."""
        if self._is_eager and self._items and tape_recorders.active_recorders():
            return apply("concat", *map(self._element, range(len(self._items))), axis=0, name=name)
        return apply("list_flatten", self._as_list() if self._is_eager else self._graph_list, name=name)

    def unstack(self, value: object, name: str | None = None) -> TensorArray:
        """Return the array whose elements are the rows of `value`; raises ValueError when there are too many."""
        tensor = self._accept_rows(value)
        self._kind_holder.kind = self._kind.keeping_size(tensor.shape[0])
        if not self._is_eager:
            return self._with_elements(apply("list_from_tensor", tensor, name=name))
        rows: list[EagerTensor | None] = list(tensor)  # type: ignore[call-overload]
        if len(rows) > len(self._items) and not self._kind.dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {len(self._items)} "
            )
        self._elements = rows
        self._cleared_positions.clear()
        return self

    def scatter(self, indices: TensorLike, value: object, name: str | None = None) -> TensorArray:
        """Return the array with the rows of `value` at these positions."""
        if not self._is_eager:
            tensor, resize = self._accept_rows(value), self._kind.dynamic_size
            positions = convert_to_tensor(indices)
            result = apply("list_scatter", self._graph_list, positions, tensor, resize=resize, name=name)
            return self._with_elements(result)
        for position, row in zip(np.asarray(convert_to_tensor(indices)), self._accept_rows(value), strict=True):  # type: ignore[call-overload]
            self.write(int(position), row)
        return self

    def split(self, value: object, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Return the array whose elements are consecutive parts of `value` with these lengths."""
        tensor, sizes = self.check_dtype(value), convert_to_tensor(lengths)
        if sizes.shape.rank not in (1, None):
            raise InvalidArgumentError(f"Expected lengths to be a vector, received shape: {sizes.shape.as_list()}")
        shape = tensor.type.shape
        static_lengths = static_value(sizes)
        has_equal_lengths = static_lengths is not None and len(set(np.ravel(static_lengths).tolist())) == 1
        part_length = int(np.ravel(static_lengths)[0]) if has_equal_lengths else None
        part_shape = (part_length, *shape[1:]) if shape else None
        self._kind_holder.kind = self._kind.after_writing(part_shape).keeping_size(sizes.shape[0])
        result = apply("list_split", tensor, sizes, name=name)
        if not self._is_eager:
            return self._with_elements(result)
        if result.length > len(self._items) and not self._kind.dynamic_size:
            raise InvalidArgumentError(
                f"TensorArray's size is not equal to the size of lengths ({len(self._items)} vs. "
                f"{result.length}), and the TensorArray is not marked as dynamically resizeable."
            )
        is_taped = tape_recorders.active_recorders()
        self._elements = _split_rows(tensor, sizes) if is_taped else [EagerTensor(part) for part in result]
        self._cleared_positions.clear()
        return self

    def close(self, name: str | None = None) -> None:
        """Drop the elements (eagerly)."""
        if self._is_eager:
            self._elements = []
            self._kind_holder.kind = self._kind.keeping_size(0)

    def __repr__(self) -> str:
        kind = self._kind
        return f"<autoconv.TensorArray dtype={kind.dtype.name} element_shape={self.element_shape}>"

    @property
    def _is_eager(self) -> bool:
        return current_region() is None and not isinstance(self._elements, Value)

    @property
    def _items(self) -> list[EagerTensor | None]:
        assert isinstance(self._elements, list)
        return self._elements

    @property
    def _graph_list(self) -> Value:
        return self.__autoconv_graph_value__()

    @property
    def _written_shape(self) -> Shape:
        """The element shape, where it is more precise than the type of the list."""
        return self._kind.shape if self._kind.is_written else None

    def _with_elements(self, elements: Any) -> TensorArray:
        result = TensorArray.__new__(TensorArray)
        result._initialise(self._kind, elements, self._kind_holder)
        return result

    def _element(self, position: int) -> EagerTensor:
        """Return an element of an eager array: zeros, which are kept, if it was never written."""
        result = self._items[position]
        if result is None:
            result = self._items[position] = EagerTensor(self._as_list().get(position))
        return result

    def _as_list(self) -> ListValue:
        items = [None if item is None else item._array for item in self._items]
        shape = self._kind.shape if self.element_shape.is_fully_defined() else None
        return ListValue(items, dtype=self.dtype, shape=shape)

    def _accept_element(self, value: object) -> Tensor:
        """Return the value as a tensor that may be written; the kind takes its shape into account."""
        tensor = self.check_dtype(value)
        self._kind_holder.kind = self._kind.after_writing(tensor.type.shape)
        return tensor

    def _accept_rows(self, value: object) -> Tensor:
        """Return the value as a tensor whose rows may be written; raise ValueError for a scalar."""
        tensor = self.check_dtype(value)
        shape = tensor.type.shape
        if shape == ():
            raise ValueError("a TensorArray takes the rows of a tensor of one or more dimensions, found a scalar")
        self._kind_holder.kind = self._kind.after_writing(None if shape is None else shape[1:])
        return tensor

    def check_dtype(self, value: object) -> Tensor:
        """Return the value as a tensor of this dtype; raises InvalidArgumentError for one of another dtype."""
        tensor = as_tensor(value)
        if tensor is not None and not tensor.weak and tensor.dtype is not self.dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {tensor.dtype.name} "
            )
        try:
            return convert_to_tensor(value, self.dtype)
        except TypeError:
            return self.check_dtype(convert_to_tensor(value))


def _split_rows(tensor: Tensor, sizes: Tensor) -> list[Any]:
    """Split the tensor into consecutive parts of these lengths, by ops that a tape follows."""
    ends = np.cumsum(np.asarray(sizes)).tolist()
    return [tensor[end - size : end] for end, size in zip(ends, np.asarray(sizes).tolist(), strict=True)]  # type: ignore[index]


def _index_operand(index: object) -> Any:
    """Convert a position to the operand of list ops: an integer scalar."""
    if isinstance(index, SymbolicTensor) and index.weak:
        return convert_to_tensor(index)
    return index
