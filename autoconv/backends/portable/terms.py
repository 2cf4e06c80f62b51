"""Terms: arrays in the text of another runtime, with the operators that element rules use.

A rule of `autoconv.ops.elements` computes one element. With terms as operands it computes whole arrays, so that one
rule serves every runtime: a writer implements the operations of `arrays.Arrays`, and `elements` composes the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from autoconv.graph.dtypes import DType, bool_
from autoconv.graph.types import Shape
from autoconv.lazy_dataclass import dataclass


class Operators(Protocol):
    """The writer's operations that the methods of terms call."""

    def as_size(self, number: Term) -> Any: ...
    def can_be_sizes(self, *numbers: Term) -> bool: ...
    def iota(self, shape: Sequence[Any], axis: int, dtype: DType, sizes: Sequence[Any] | None = None) -> Term: ...

    def binary(self, name: str, x: Any, y: Any) -> Term: ...
    def bits(self, name: str, x: Any, y: Any) -> Term: ...
    def compare(self, test: str, x: Any, y: Any) -> Term: ...
    def cast(self, x: Term, dtype: DType) -> Term: ...
    def fail_if(self, condition: Term) -> None: ...
    def raise_if(self, condition: Term) -> None: ...
    def select(self, condition: Term, x: Any, y: Any) -> Term: ...
    def emit_unary(self, name: str, x: Term) -> Term: ...


def _operator(method: str, name: str) -> tuple[Callable[[Any, Any], Term], Callable[[Any, Any], Term]]:
    """Return the methods for `x op y` and `y op x` of a term `x`: they call `writer.<method>(name, left, right)`."""

    def forward(self: Term, other: Any) -> Term:
        return getattr(self.writer, method)(name, self, other)  # type: ignore[no-any-return]

    def reflected(self: Term, other: Any) -> Term:
        return getattr(self.writer, method)(name, other, self)  # type: ignore[no-any-return]

    return forward, reflected


class Term:
    """An array in the text of a runtime: its name, dtype and shape, which has None for each open size.

    `constant_value` is the value of an integer or bool that is a constant, else None. `is_size_expression` marks a
    number that follows from constants and sizes of arguments; runtimes without sizes that depend on values set it.
    `interval`, if known, has the smallest and the largest value of an integer (None: unknown). `elements`, if known,
    has the scalars that a vector was made of.
    """

    __slots__ = ("constant_value", "dtype", "elements", "interval", "is_size_expression", "name", "shape", "writer")

    def __init__(self, writer: Operators, name: str, dtype: DType, shape: tuple[Any, ...]) -> None:
        self.writer = writer
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.constant_value: int | None = None
        self.is_size_expression = False
        self.interval: tuple[int | None, int | None] | None = None
        self.elements: tuple[Term, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    def same(self, other: Any) -> Term:
        """Return the condition that elements are equal; `==` compares terms as Python objects."""
        return self.writer.compare("eq", self, other)

    def differs(self, other: Any) -> Term:
        """Return the condition that elements differ."""
        return self.writer.compare("ne", self, other)

    __add__, __radd__ = _operator("binary", "add")
    __sub__, __rsub__ = _operator("binary", "subtract")
    __mul__, __rmul__ = _operator("binary", "multiply")
    __truediv__, __rtruediv__ = _operator("binary", "divide")
    # Python mirrors comparisons itself, and no rule has a number on the left of `&`, `|` or `^`.
    (__and__, _), (__or__, _), (__xor__, _) = (_operator("bits", name) for name in ("and", "or", "xor"))
    (__lt__, _), (__le__, _), (__gt__, _), (__ge__, _) = (_operator("compare", t) for t in ("lt", "le", "gt", "ge"))

    def __neg__(self) -> Term:
        return self.writer.emit_unary("negate", self)

    def __invert__(self) -> Term:
        return self.writer.emit_unary("not", self)

    def __repr__(self) -> str:
        return f"<Term {self.name}: {self.dtype.name}{list(self.shape)}>"


@dataclass(frozen=True, slots=True)
class ListTerm:
    """A list of arrays of one shape: a buffer [capacity, *shape], and the number of rows in use (int32)."""

    buffer: Term
    length: Term


@dataclass(frozen=True, slots=True)
class Progression:
    """A range of open length that is no array yet: loops compute its elements one by one."""

    start: Term
    step: Term
    length: Term

    def at(self, writer: Operators, index: Term) -> Term:
        """Return an element; a position out of range sets the error word, a negative one counts from the end."""
        position = writer.cast(index, self.start.dtype)
        writer.fail_if((position >= self.length) | (position < -self.length))
        return self.start + writer.select(position < 0, position + self.length, position) * self.step

    def as_array(self, writer: Operators) -> Term | None:
        """Return the numbers as an array; None if the runtime has no arrays of this length."""
        if not writer.can_be_sizes(self.length):
            return None
        return self.start + writer.iota((None,), 0, self.start.dtype, [writer.as_size(self.length)]) * self.step


def static_shape(shape: Shape) -> tuple[int, ...] | None:
    """Return the shape where all its sizes are numbers, else None."""
    if shape is None or not all(isinstance(size, int) for size in shape):
        return None
    return tuple(size for size in shape if isinstance(size, int))


def padded_shape(shape: Sequence[int | None], low: Sequence[int], high: Sequence[int]) -> list[int | None]:
    """Return the shape of an array after padding; a size that is not known stays unknown."""
    return [
        size + before + after if isinstance(size, int) else size if before == after == 0 else None
        for size, before, after in zip(shape, low, high, strict=True)
    ]


def as_array(value: Any, dtype: DType) -> np.ndarray:
    """Return NumPy's array of a number; that of a bool holds bools, not bytes."""
    return np.asarray(value, dtype=bool if dtype is bool_ else dtype.numpy)
