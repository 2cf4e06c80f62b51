"""Overflow of running totals: NumPy's 64-bit integers to which each iteration of a loop adds.

LLVM vectorises such a sum as a reduction only if nothing reads the total within the loop. Therefore the sums are not
checked. Instead, each addend is (see `scalars`), and the total before and after the loop, and before each chunk of
iterations of a long loop (see `structured`). A chunk has fewer than four million iterations. So many addends below
2**40 do not bring a total that is below 2**62 beyond 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import Native, RegisterWriter
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node
from autoconv.graph.types import TensorType

_SAFE_TOTAL = (1 << 62) - 1  # largest magnitude of a total before and after the loop or chunk
SAFE_ADDEND = (1 << 40) - 1  # largest magnitude of an addend


def running_totals(body: Graph, state_count: int) -> dict[Node, int]:
    """Return the nodes of a loop's body that add to a running total, with the total's position in the state."""
    result = {}
    states = zip(body.parameters[:state_count], body.outputs, strict=False)
    for position, (parameter, output) in enumerate(states):
        node, type_ = output.node, output.type
        adds = node is not None and node.op.name in ("add", "subtract") and node.inputs[0] is parameter
        is_number = isinstance(type_, TensorType) and type_.dtype is int64 and type_.shape == () and not type_.weak
        if node is not None and adds and is_number:
            result[node] = position
    return result


def check_totals(region: LoweringContext, totals: Iterable[Native]) -> None:
    """Write code that sets the flag of an overflow if one of the totals is beyond `_SAFE_TOTAL`.

    `warn` takes an integer that is negative in that case.
    """
    b = RegisterWriter(region)
    for total in totals:
        assert isinstance(total, Element)
        least, greatest = region.body.range_of(total)
        if least < -_SAFE_TOTAL or greatest > _SAFE_TOTAL:
            b.warn("over", _SAFE_TOTAL - (total ^ b.bits("ashr", total, 63)))
