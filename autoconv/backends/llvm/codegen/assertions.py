"""Lower assertions about numbers to a branch, with the kernel where one fails."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native
from autoconv.graph.graph import Node


def _is_of_numbers(node: Node) -> bool:
    """Return whether all operands are scalars: arrays for the message may be views without elements in memory."""
    return all(is_scalar(value.type) for value in node.inputs)


@native("assert_true", fits=_is_of_numbers)
def write_assertion(region: LoweringContext, node: Node) -> None:
    holds = region.number(node.inputs[0])
    region.refuse(node, region.out.not_(holds.ir))
