"""Calls of LAPACK's routines, which take addresses, and the workspaces that the routines need."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph import dimensions
from autoconv.graph.types import Dimension, Symbol

Argument = Dimension | str  # a size or a character, which are passed by reference, or the register of an address


def has_routines(*names: str) -> bool:
    """Return whether LAPACK's routines of these names exist: in NumPy, or in `library/` for C libraries."""
    return not current_target().has_libraries or all(f"lapack_{name}" in abi.symbols() for name in names)


class WorkspaceSizes(NamedTuple):
    """Lengths of the workspaces of elements, of integers and, for complex routines, of real numbers."""

    elements: int | Symbol
    integers: int | Symbol
    reals: int | Symbol


def workspace_sizes(
    region: LoweringContext, name: str, *arguments: Argument | None, workspace_position: int,
    integer_workspace_position: int | None = None, real_workspace_position: int | None = None,
) -> WorkspaceSizes:  # fmt: skip
    """Return LAPACK's preferred lengths of the workspaces of a routine.

    They come from a workspace query: a call with length -1. `arguments` are the routine's arguments; None stands for
    those that a query ignores. The positions are those of the workspaces among the arguments, each followed by its
    length; the query stores the sizes there. Elements have the routine's dtype. If an argument is an open size, the
    query is written as native code, and the results are symbols of its registers.
    """
    if not current_target().has_libraries:
        size = _library_workspace(name, arguments)
        length = size if isinstance(size, int) else _new_size(region.out, write_dimension(region.out, size))
        return WorkspaceSizes(length, 1, 1)
    positions = workspace_position, integer_workspace_position, real_workspace_position
    if any(isinstance(argument, Symbol) for argument in arguments):
        return _write_workspace_query(region, name, arguments, positions)
    return _query_workspace(name, *arguments, positions=positions)


def _library_workspace(name: str, arguments: Sequence[Any]) -> Dimension:
    """Return how many elements the workspace of a routine from `library/` needs."""
    if name in ("dsyevd", "zheevd"):
        return dimensions.times(arguments[2], dimensions.plus(arguments[2], 5))
    if name in ("dgesdd", "zgesdd"):
        job, rows, columns = arguments[:3]
        long_side, short_side = dimensions.maximum(rows, columns), dimensions.minimum(rows, columns)
        vectors_size = dimensions.times(long_side, long_side if job == "A" else short_side)
        other_size = dimensions.times(short_side, dimensions.plus(short_side, 7))
        return dimensions.plus(dimensions.plus(vectors_size, long_side), other_size)
    return 1


@functools.cache
def _query_workspace(name: str, *arguments: Argument | None, positions: Sequence[int | None]) -> WorkspaceSizes:
    """Run the query of `workspace_sizes` in this process; `positions` are those of the three workspaces."""
    # The elements that a complex routine stores are pairs of doubles.
    query_results: list[Any] = [(ctypes.c_double * 2)(), ctypes.c_int64(0), (ctypes.c_double * 2)()]
    c_arguments: list[Any] = []
    for x in arguments:
        c_arguments.append(ctypes.c_int64(x) if isinstance(x, int) else ctypes.c_char((str(x or " ")).encode()))
    for position, result in zip(positions, query_results, strict=True):
        if position is not None:
            c_arguments[position : position + 2] = [result, ctypes.c_int64(-1)]
    ctypes.CFUNCTYPE(None)(abi.symbols()[f"lapack_{name}"])(*map(ctypes.byref, c_arguments))
    length, integer_length, real_length = query_results[0][0], query_results[1].value, query_results[2][0]
    return WorkspaceSizes(max(int(length), 1), max(integer_length, 1), max(int(real_length), 1))


def _write_workspace_query(
    region: LoweringContext, name: str, arguments: Sequence[Argument | None], positions: Sequence[int | None]
) -> WorkspaceSizes:
    """Write native code for the query of `workspace_sizes`."""
    out = region.out
    query_results = [out.alloca("[2 x double]"), out.alloca("i64", "1"), out.alloca("[2 x double]")]
    for result in (query_results[0], query_results[2]):
        out.store("double", "1.0", result)
    ignored_cell, query_length = out.alloca("i64", "0"), out.alloca("i64", "-1")
    references = [ignored_cell if argument is None else pass_by_reference(out, argument) for argument in arguments]
    for position, result in zip(positions, query_results, strict=True):
        if position is not None:
            references[position : position + 2] = [result, query_length]
    call_lapack(out, name, references)
    symbols = []
    for result, ir_type in zip(query_results, ("double", "i64", "double"), strict=True):
        count = out.load(ir_type, result)
        symbols.append(_new_size(out, out.cast("fptosi", count, "i64") if ir_type == "double" else count))
    return WorkspaceSizes(*symbols)


def _new_size(out: FunctionText, size: Position) -> Symbol:
    """Define the register of a new symbol as a size that the code computes; return the symbol."""
    symbol = Symbol(out.module.unique_name("workspace"))
    out.line(f"{register_of(symbol)} = add i64 {size}, 0")
    return symbol


def pass_by_reference(out: FunctionText, argument: Argument) -> str:
    """Return the address of an argument: of a new cell with the size or character, or the address itself."""
    if isinstance(argument, int):
        return out.alloca("i64", str(argument))
    if isinstance(argument, Symbol):
        cell = out.alloca("i64")
        out.store("i64", write_dimension(out, argument), cell)
        return cell
    assert argument is not None
    return out.alloca("i8", str(ord(argument))) if len(argument) == 1 else argument


def call_lapack(out: FunctionText, name: str, references: Sequence[str]) -> None:
    """Write the call of a routine with the addresses of its arguments."""
    out.call_c(f"lapack_{name}", "void", ", ".join(["ptr"] * len(references)), *references)
