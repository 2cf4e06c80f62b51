"""Open dimensions at the entry of a graph: loaded from arguments and checked, or derived from other dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import (
    MIN_OPEN_SIZE,
    OpenSizes,
    define_dimension,
    write_dimension,
)
from autoconv.backends.llvm.codegen.object_table import ObjectTable
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.target import abi
from autoconv.graph.types import Symbol


class ArgumentDimensions:
    """A writer of the code that loads each open dimension into its register.

    `check(test)` writes a check that refuses the call unless the i1 `test` holds.
    """

    def __init__(
        self, open_sizes: OpenSizes, out: FunctionText, objects: ObjectTable, check: Callable[[str], None]
    ) -> None:
        self._open_sizes = open_sizes
        self._out = out
        self._objects = objects
        self._check = check
        self._bound_sizes: set[str] = set()  # registers that are loaded

    def bind_array(self, argument: str, type_: Any) -> None:
        """Check that an object is a plain ndarray of a type, and load its open dimensions.

        Dimensions that other arguments have determined have to be equal.
        """
        out = self._out
        dimensions_address = out.alloca(f"[{len(type_.shape)} x i64]")
        sizes = [size if isinstance(size, int) else register_of(size) for size in type_.shape]
        for i, size in enumerate(sizes):  # -1 stands for any size
            expected = size if isinstance(size, int) or size in self._bound_sizes else -1
            out.store("i64", expected, out.gep("i64", dimensions_address, i))
        array_class, descriptor = (self._objects.reference(object_)(out) for object_ in (np.ndarray, type_.dtype.numpy))
        is_expected = out.call("is_open_array", argument, array_class, descriptor, len(sizes), dimensions_address)
        self._check(out.icmp("ne", is_expected, FALSE))
        self._bind(dimensions_address, sizes)

    def bind_memory(self, argument: str, type_: Any) -> None:
        """Load and check the open dimensions of an argument of an ArrayType, whose other properties were checked."""
        if any(isinstance(size, Symbol) for size in type_.shape):
            address = self._out.gep("i8", argument, abi.DIMENSIONS)
            # A size without a symbol becomes an int, 0 if it is unknown: `_bind` skips ints.
            sizes = [register_of(size) if isinstance(size, Symbol) else size or 0 for size in type_.shape]
            self._bind(self._out.load("ptr", address), sizes)

    def _bind(self, dimensions_address: str, sizes: Sequence[int | str]) -> None:
        """Load the dimensions at an address into their registers; constants are skipped."""
        out = self._out
        for i, size in enumerate(sizes):
            if isinstance(size, int):
                continue
            actual_size = out.load("i64", out.gep("i64", dimensions_address, i))
            if size in self._bound_sizes:
                self._check(self._out.icmp("eq", actual_size, size))
                continue
            self._bound_sizes.add(size)
            out.define(size, actual_size)
            self._check(self._out.icmp("sge", size, MIN_OPEN_SIZE))

    def compute_derived(self) -> None:
        """Compute derived dimensions, after those of all arguments are loaded, and check all ranges."""
        for symbol in self._open_sizes.symbols:
            if register_of(symbol) not in self._bound_sizes:
                define_dimension(self._out, symbol)
                self._check(self._out.icmp("sge", register_of(symbol), MIN_OPEN_SIZE))
        for size in self._open_sizes.nonnegative_sizes:
            self._check(self._out.icmp("sge", write_dimension(self._out, size), 0))
