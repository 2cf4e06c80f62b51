"""Lower handler cells, which carry scalars to handlers, to structs that LLVM keeps in registers.

A struct holds a number and an i1 that is true if the cell is filled.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import memory_lowering
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.scalars import ElementWriter, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Node
from autoconv.graph.types import Type


@memory_lowering("cell", needs_native_values=False)
def write_cell(region: LoweringContext, node: Node) -> None:
    """Allocate an empty cell."""
    out, (result,) = region.out, node.results
    cell = out.alloca(_cell_type(node.attributes["type"]))
    region.set(result, Object(cell))
    out.store("i1", "false", _flag_address(region, cell, node.attributes["type"]))


@memory_lowering("cell_set", needs_native_values=False)
def write_set(region: LoweringContext, node: Node) -> None:
    """Store a number in a cell, and mark the cell as filled."""
    cell, value = region.object(node.inputs[0]).ir, node.inputs[1]
    store(ElementWriter(region.out), region.number(value), cell, 0)
    region.out.store("i1", "true", _flag_address(region, cell, value.type))


@memory_lowering("cell_get", needs_native_values=False)
def write_get(region: LoweringContext, node: Node) -> None:
    """Load the number of a cell, or the default if the cell is empty."""
    b, cell, default = ElementWriter(region.out), region.object(node.inputs[0]).ir, region.number(node.inputs[1])
    element = load(b, default.dtype, cell, 0)
    is_filled = b.wrap(bool_, region.out.load("i1", _flag_address(region, cell, node.inputs[1].type)))
    region.set(node.results[0], b.select(is_filled, element, default))


def _cell_type(type_: Type) -> str:
    """Return the LLVM type of the struct for a number of the type."""
    return f"{{ {memory_type(type_.dtype)}, i1 }}"  # type: ignore[union-attr]


def _flag_address(region: LoweringContext, cell: str, type_: Type) -> str:
    """Return the address of the flag that is set when a number is stored."""
    return region.out.new(f"getelementptr {_cell_type(type_)}, ptr {cell}, i64 0, i32 1")
