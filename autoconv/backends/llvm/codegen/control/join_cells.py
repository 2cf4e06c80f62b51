"""Cells on the stack that carry the results of alternative regions to the block where control flow joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.values import Memory, Native, Object, StoredMemory
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.types import memory_type, register
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Value
from autoconv.graph.types import Type


def new_cell(region: LoweringContext, type_: Type) -> str | StoredMemory:
    """Return a cell for a value of the type: an alloca for a number, a slot for an object, several for a Memory."""
    if representation.is_memory(type_):
        return array_view.new_cells(region, type_)  # type: ignore[arg-type]
    return region.out.alloca(_cell_type(type_.dtype)) if is_scalar(type_) else region.out.slot()


def _cell_type(dtype: DType) -> str:
    """Return the LLVM type of a number in a cell: its type in memory, but i1 for bools, which saves a comparison."""
    return register(dtype) if dtype.is_bool else memory_type(dtype)


def store_outputs(
    region: LoweringContext,
    cells: Sequence[str | StoredMemory],
    results: Sequence[Value],
    outputs: Sequence[Native],
) -> None:
    """Store the outputs of a region in the cells of `results`, to whose types the outputs are converted.

    The cells take over the references of objects.
    """
    for cell, value, native in zip(cells, results, outputs, strict=True):
        if isinstance(cell, StoredMemory):
            assert isinstance(native, Memory)
            array_view.store_memory(region, cell, value.type, native)  # type: ignore[arg-type]
            continue
        native = convert_output(region, native, value.type)
        if isinstance(native, Element) and native.dtype.is_bool:
            region.out.store(_cell_type(native.dtype), native.ir, cell)
        elif isinstance(native, Element):
            store(ElementWriter(region.out), native, cell, 0)
        elif isinstance(native, Object):
            if native.slot is not None:
                region.out.store("ptr", "null", native.slot)
            region.out.store("ptr", native.ir, cell)


def load_cell(region: LoweringContext, cell: str | StoredMemory, type_: Type) -> Native:
    """Load the value of a cell. An object stays owned by the cell, which is its slot."""
    if isinstance(cell, StoredMemory):
        return array_view.load_memory(region, cell, type_)  # type: ignore[arg-type]
    if is_scalar(type_):
        b, dtype = ElementWriter(region.out), type_.dtype
        return b.wrap(dtype, region.out.load(_cell_type(dtype), cell)) if dtype.is_bool else load(b, dtype, cell, 0)
    return Object(region.out.load("ptr", cell), cell)


def convert_output(region: LoweringContext, native: Native, to_type: Type) -> Native:
    """Convert a region's output to the type of the node's result: a number is boxed if the result is not a scalar.

    An object or array that is returned has a slot, which owns its reference.
    """
    if isinstance(native, Element):
        return native if is_scalar(to_type) else region.box(native)
    if isinstance(native, Memory):
        return replace(native, owner=region.body.own_reference(native.owner.ir))
    return native if native.slot is not None else region.body.own_reference(native.ir)


def as_borrowed(native: Native) -> Native:
    """Return the value without ownership, for a region that must not release it."""
    if isinstance(native, Memory):
        return array_view.borrowed_memory(native)
    return Object(native.ir) if isinstance(native, Object) else native
