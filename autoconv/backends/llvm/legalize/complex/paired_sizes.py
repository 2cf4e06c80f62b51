"""Name the computed sizes of complex arrays that are made from a real and an imaginary part."""

from __future__ import annotations

from autoconv.backends.llvm.legalize.computed_size_rules import are_numbers_or_dense, rule
from autoconv.backends.llvm.legalize.computed_sizes import SizeRewriter
from autoconv.graph.graph import Node, Value


@rule("complex")
def _pair(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Broadcast the parts to one shape; None if native code does not represent them."""
    if not are_numbers_or_dense(inputs):
        return None
    result = rewriter.broadcast(node, inputs)
    return None if result is None else rewriter.add_with_shape(node, *result)
