"""Lower assertions about numbers to branches; the kernel of an assertion that fails raises the error."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.graph.graph import Node


def _has_scalar_operands(node: Node) -> bool:
    """Return whether all operands are scalars. An array, for the message, may be a view without elements in memory."""
    return all(is_scalar(value.type) for value in node.inputs)


@native_lowering("assert_true", fits=_has_scalar_operands)
def write_assertion(region: LoweringContext, node: Node) -> None:
    """Call the kernel, which raises the error, if the first operand is false."""
    holds = region.number(node.inputs[0])
    region.raise_if(node, region.out.not_(holds.ir))
