"""Between the regions of a node in native code: where what they give is kept until the blocks meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autoconv.backends.llvm import memory_values
from autoconv.backends.llvm.roles import is_scalar
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, memory, store
from autoconv.backends.llvm.values import Cells, Memory, Native, Object
from autoconv.graph.graph import Value
from autoconv.graph.types import Type

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


def new_cell(region: Region, type_: Type) -> str | Cells:
    """Where a value of that type is kept: memory for a number, a slot for an object."""
    if memory_values.is_memory(type_):
        return memory_values.cells(region, type_)  # type: ignore[arg-type]
    return region.out.alloca(memory(type_.dtype)) if is_scalar(type_) else region.out.slot()  # type: ignore[union-attr]


def fill(
    region: Region,
    cells: Sequence[str | Cells],
    results: Sequence[Value],
    outputs: Sequence[Value],
    natives: Sequence[Native],
) -> None:
    """Puts what a region gave for its `outputs` where the `results` are kept, which takes over the references."""
    for cell, value, output, native in zip(cells, results, outputs, natives, strict=True):
        if isinstance(cell, Cells):
            assert isinstance(native, Memory)
            memory_values.fill(region, cell, value.type, native)  # type: ignore[arg-type]
            continue
        native = converted(region, native, output.type, value.type)
        if isinstance(native, Element):
            store(ElementWriter(region.out), native, cell, 0)
        elif isinstance(native, Object):
            if native.slot is not None:
                region.out.line(f"store ptr null, ptr {native.slot}")
            region.out.line(f"store ptr {native.ir}, ptr {cell}")


def read(region: Region, cell: str | Cells, type_: Type) -> Native:
    """What is there; an object's slot owns it."""
    if isinstance(cell, Cells):
        return memory_values.read(region, cell, type_)  # type: ignore[arg-type]
    if is_scalar(type_):
        return load(ElementWriter(region.out), type_.dtype, cell, 0)  # type: ignore[union-attr]
    return Object(region.out.new(f"load ptr, ptr {cell}"), cell)


def converted(region: Region, native: Native, from_type: Type, to_type: Type) -> Native:
    """A result of a region as a value of its owner's type, which may know less: numbers may need a box."""
    if isinstance(native, Element):
        if is_scalar(to_type):
            return native
        return region.boxed(native)
    if isinstance(native, Memory):
        return replace(native, owner=region.body.own(native.owner.ir))
    return native if native.slot is not None else region.body.own(native.ir)


def held_elsewhere(native: Native) -> Native:
    """The same for a region that is not to let go of it."""
    if isinstance(native, Memory):
        return memory_values.lent(native)
    return Object(native.ir) if isinstance(native, Object) else native
