"""Loops that fill the padding around the elements of an array."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.loops.loop_writer import LoopWriter
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, product
from autoconv.backends.llvm.ir.scalars import store
from autoconv.graph.graph import Node


def fill_padding(b: LoopWriter, node: Node, pointer: str) -> None:
    """Write loops that fill the padding of a result at `pointer`, from the outermost dimension to the innermost."""
    type_: Any = node.results[0].type
    shape, out = sizes(type_), b.out
    constant = b.constant(node.attributes.get("constant_values", 0), type_.dtype)

    def fill(base_offset: Position, start: Position, stop: Position) -> None:
        if start != stop:
            with out.loop(str(start), str(stop)) as i:
                store(b, constant, pointer, plus(out, base_offset, i))

    def fill_around(base_offset: Position, depth: int) -> None:
        """Fill the padding of the dimensions from `depth` on, in the part of the array at `base_offset`."""
        if depth == len(shape):
            return
        stride = element_count(out, shape[depth + 1 :])
        before, after = (write_dimension(out, amount) for amount in node.attributes["paddings"][depth])
        end = plus(out, shape[depth], product(out, after, -1))
        fill(base_offset, 0, product(out, before, stride))
        fill(base_offset, product(out, end, stride), product(out, shape[depth], stride))
        if any(map(any, node.attributes["paddings"][depth + 1 :])):
            with out.loop(str(before), str(end)) as i:
                fill_around(plus(out, base_offset, product(out, i, stride)), depth + 1)

    fill_around(0, 0)
