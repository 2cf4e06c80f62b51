"""Overflow of running totals: NumPy's 64-bit integers to which each iteration of a loop adds.

LLVM vectorises such a sum as a reduction only if nothing reads the total within the loop. Therefore the sums are not
checked. Instead, each addend is (see `scalars`), and the total before and after the loop, and before each chunk of
iterations of a long loop (see `structured`). A chunk has at most a million iterations of at most four addends each. So
many addends below 2**40 do not bring a total that is below 2**62 beyond 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import Native, RegisterWriter
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands
from autoconv.graph.types import TensorType

_SAFE_TOTAL = (1 << 62) - 1  # largest magnitude of a total before and after the loop or chunk
SAFE_ADDEND = (1 << 40) - 1  # largest magnitude of an addend
_MAX_ADDENDS = 4  # of a total in one iteration


def running_totals(body: Graph, state_count: int) -> dict[Node, int]:
    """Return the nodes of a loop's body that add to a running total, with the total's position in the state.

    An iteration may add several addends, and some of them only in an arm of a condition.
    """
    result = {}
    states = zip(body.parameters[:state_count], body.outputs, strict=False)
    for position, (parameter, output) in enumerate(states):
        type_ = output.type
        if isinstance(type_, TensorType) and type_.dtype is int64 and type_.shape == () and not type_.weak:
            additions = _additions(parameter, output)
            if additions is not None and len(additions) <= _MAX_ADDENDS:
                result.update(dict.fromkeys(additions, position))
    return result


def _additions(total: Value, output: Value) -> list[Node] | None:
    """Return the nodes that add up `output` from `total` and addends; None if it is computed in another way."""
    result: list[Node] = []
    while output is not total:
        node = output.node
        if node is None:
            return None
        if node.op.traits.selects:
            operand, additions = _additions_in_arms(node, node.results.index(output))
            if operand is None:
                return None
            result += additions
            output = operand
        elif node.op.name in ("add", "subtract"):
            result.append(node)
            output = node.inputs[0]
        else:
            return None
    return result


def _additions_in_arms(node: Node, position: int) -> tuple[Value | None, list[Node]]:
    """Return the operand of a condition to which all arms add for a result, and the additions; (None, []) if none."""
    for i, operand in enumerate(captured_operands(node)):
        additions = [_additions(arm.parameters[i], arm.outputs[position]) for arm in node.regions]
        if None not in additions:
            return operand, [addition for arm_additions in additions for addition in arm_additions or ()]
    return None, []


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
