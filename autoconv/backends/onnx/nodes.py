"""Nodes of an ONNX graph as records; `model` makes protocol buffers of them.

A subgraph may use names that are defined before it in the graph that contains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autoconv.backends.error_causes import ErrorClass
from autoconv.backends.portable.control import Control
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import (
    DType,
    bfloat16,
    complex64,
    complex128,
    float32,
    int8,
    int16,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from autoconv.lazy_dataclass import dataclass, field


@dataclass
class Record:
    """A node: its operator, the names of its inputs and outputs, and its attributes; a `Block` is a subgraph."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Block:
    """A subgraph of a node, such as an arm of a branch: its parameters, nodes and results."""

    inputs: list[Term]
    nodes: list[Record] = field(default_factory=list)
    outputs: list[Term] = field(default_factory=list)


_BFLOAT16_OPS = ("BitCast", "Cast", "Identity", "Shape")  # those that ONNX Runtime has for bfloat16
_OPS_ON_PAIRS = ("Concat", "Gather", "GatherND", "Slice")  # those that leave the last dimension, of pairs, as it is
# ONNX Runtime lacks many kernels for these dtypes.
DTYPES_COMPUTED_AS_INT64 = (int8, int16, uint8, uint16, uint32, uint64)


class NodeWriter(Control):
    """A writer that collects the nodes of a graph. A size that is open is a scalar term of int64.

    Complex numbers are pairs of a real and an imaginary part, along a further last dimension. Most operations take
    parts, into which `split_complex` divides the values of a graph; arguments, results, contents of arrays in
    memory and operands of Fourier transforms are pairs.
    """

    runtime = "ONNX"
    checks_positions = True

    def __init__(self, list_capacity: int = 64) -> None:
        self.list_capacity = list_capacity
        self.opset = 21  # the oldest version of ONNX's operators that has those of nearly all models
        self.nodes: list[Record] = []
        self.constants: dict[str, np.ndarray] = {}  # by name
        self.places: list[str] = []
        self.error_classes: list[ErrorClass] = []
        self.error_word: Term | None = None
        self._name_count = 0
        self._constants_by_bytes: dict[Any, Term] = {}

    # ---- nodes

    def new_name(self) -> str:
        """Return a name that no other value of the graph has."""
        self._name_count += 1
        return f"v{self._name_count}"

    def new_term(self, dtype: DType, shape: Sequence[Any]) -> Term:
        """Return a term with a new name, for the result of a node or a parameter."""
        return Term(self, self.new_name(), dtype, tuple(shape))

    def emit(self, op: str, operands: Sequence[Term], dtype: DType, shape: Sequence[Any], **attributes: Any) -> Term:
        """Add a node with one result, and return the result; bfloat16 is computed as float32 for most operators."""
        if dtype.is_complex and op in _OPS_ON_PAIRS:
            pairs = [self.as_pairs(x) if x.dtype.is_complex else x for x in operands]
            return self.from_pairs(self.emit(op, pairs, dtype.real_dtype, (*shape, 2), **attributes))
        if dtype.is_complex or any(x.dtype.is_complex for x in operands):
            raise GraphUnfit(op, "ONNX has no such function of complex numbers")
        if op not in _BFLOAT16_OPS and bfloat16 in (dtype, *(x.dtype for x in operands)):
            float32_operands = [self.widen(x) for x in operands]
            result = self.emit(op, float32_operands, float32 if dtype is bfloat16 else dtype, shape, **attributes)
            return self.emit("Cast", [result], dtype, result.shape, to=dtype) if dtype is bfloat16 else result
        result = self.new_term(dtype, shape)
        self.nodes.append(Record(op, tuple(x.name for x in operands), (result.name,), attributes))
        return result

    def widen(self, x: Term) -> Term:
        """Return numbers of bfloat16, for which ONNX Runtime has few kernels, as float32."""
        return self.emit("Cast", [x], float32, x.shape, to=float32) if x.dtype is bfloat16 else x

    def as_pairs(self, x: Term) -> Term:
        """Return complex numbers as the array of their parts."""
        return Term(self, x.name, x.dtype.real_dtype, (*x.shape, 2))

    def from_pairs(self, pairs: Term) -> Term:
        """Return an array of parts as complex numbers."""
        return Term(self, pairs.name, complex64 if pairs.dtype is float32 else complex128, pairs.shape[:-1])

    @contextmanager
    def block(self, parameters: Sequence[Term]) -> Iterator[Block]:
        """Return a context manager that collects the nodes written in it, and yields the block of them."""
        block, outer_nodes = Block(list(parameters)), self.nodes
        self.nodes = block.nodes
        try:
            yield block
        finally:
            self.nodes = outer_nodes

    # ---- elements

    def array(self, array: np.ndarray, dtype: DType) -> Term:
        """Return the constant of an array.

        Equal arrays are one constant, complex ones are pairs, strings are refused.
        """
        if dtype.is_string:
            raise GraphUnfit(dtype.name, "ONNX has no such elements")
        if dtype.is_complex:
            return self.from_pairs(self.array(np.stack([array.real, array.imag], -1), dtype.real_dtype))
        key = (dtype.name, array.shape, array.tobytes())
        if key not in self._constants_by_bytes:
            term = self._constants_by_bytes[key] = Term(self, f"c{len(self.constants)}", dtype, array.shape)
            self.constants[term.name] = np.ascontiguousarray(array).reshape(array.shape)
        return self._constants_by_bytes[key]

    def integers(self, numbers: Sequence[int]) -> Term:
        """Return a vector of constant integers."""
        return self.array(np.array(numbers, np.int64).reshape(len(numbers)), int64)
