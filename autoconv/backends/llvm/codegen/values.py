"""Representations of values in native code outside of loops."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.graph import Value
from autoconv.graph.types import Type
from autoconv.lazy_dataclass import dataclass


@dataclass(slots=True)
class Object:
    """A Python object: `ir` is the register with its address. The slot `slot` owns a reference; None if borrowed.

    A small array without a Python object has only `memory`, the register with the address of its elements. `address` is
    the register with the address of the elements of a new array.
    """

    ir: str
    slot: str | None = None
    original_type: Type | None = None  # the type at the allocation, if the value has another type
    memory: str = ""
    address: str = ""

    def borrowed(self) -> Object:
        """Return a borrowed reference to the same Python object."""
        return Object(self.ir, address=self.address)


@dataclass(frozen=True, slots=True)
class Memory:
    """A mutable array: `pointer` is the address of the first element, `strides` are in bytes.

    `is_whole` is an i1 that is true if this is the array `owner` itself rather than a view of it.
    """

    owner: Object
    pointer: str
    sizes: tuple[Position, ...]
    strides: tuple[Position, ...]
    is_whole: str


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """Cells on the stack that carry a Memory from block to block: a slot for the owner, allocas for the other fields.

    `sizes_and_strides` are the allocas of those sizes and strides that are not constant.
    """

    owner: str
    pointer: str
    is_whole: str
    sizes_and_strides: tuple[str, ...]


Native = Element | Object | Memory  # the representation of a value


class ElementReader(Protocol):
    """The part of a region that a RegisterWriter uses: access to elements, and the function into which it writes."""

    out: FunctionText

    def number(self, value: Value) -> Element: ...

    def element(self, value: Value, index: Index) -> Element: ...


class RegisterWriter(ElementWriter):
    """A writer of element rules outside of loops, where they may call the C library.

    `fail_if` and `raise_if` write the code for the exceptional cases of a rule, in which their bool is true.
    """

    avoids_library_calls = False

    def __init__(self, region: ElementReader, fail: Any = None) -> None:
        super().__init__(region.out, fail)
        self._region = region

    def number(self, value: Value) -> Element:
        return self._region.number(value)

    def at(self, value: Value, index: Index) -> Element:
        return self._region.element(value, index)


class SliceBounds(NamedTuple):
    """Bounds of a slice, as constants or registers: the first index, the number of elements, and the step."""

    start: Position
    length: Position
    step: Position
