"""Library forms: how the C function of a library maps to the graphs that it runs.

    graph f(%x: float64[n,3], %k: float64[])  →  int f(const autoconv_float64_2 *x, double k, f_result *result)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Span
from autoconv.graph.types import Dimension
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of the C function: a number, or a tensor of these dimensions, where symbols are open sizes.

    `may_be_written`: the function may write to the tensor. `strides` are in bytes; () if the code works for any.
    """

    name: str
    dtype: DType
    shape: tuple[Dimension, ...]
    may_be_written: bool = False
    strides: tuple[Dimension, ...] = ()

    @property
    def is_passed_by_value(self) -> bool:
        """True if the C parameter is a number, not a pointer."""
        return not self.shape and not self.may_be_written and not self.dtype.is_complex


@dataclass(frozen=True, slots=True)
class FixedParameter:
    """A parameter of the graph that is the same array in each call."""

    value: Any


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the graph, by position."""

    position: int
    dtype: DType
    rank: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A structure of results, by the names of its fields in C."""

    fields: tuple[tuple[str, ResultTree], ...]


ResultTree = Output | Fields


@dataclass(frozen=True, slots=True)
class LibraryForm:
    """The C function `name`, which runs the graph that fits its arguments; `parameters` are those of each graph.

    `no_code_message` is the error of a call whose arguments fit none of the compiled graphs.
    """

    name: str
    parameters: tuple[Argument | FixedParameter, ...]
    result: Fields
    no_code_message: str


@dataclass(frozen=True, slots=True)
class LibraryObject:
    """An object file, and the messages of the error codes that its function returns, the first for the code 1."""

    data: bytes
    messages: tuple[str, ...]


class NoLibraryCode(Exception):
    """Raised for a graph with ops that need Python; `ops` are their names and spans in the user's source."""

    def __init__(self, ops: Sequence[tuple[str, Span | None]]) -> None:
        super().__init__(", ".join(name for name, _ in ops))
        self.ops = list(ops)


class WrongTarget(Exception):
    """Raised for a processor that LLVM does not have."""
