"""Lowering of integers by known ranges: code without overflow checks, and upper bounds of results."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.representation import is_int64_scalar
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.dtypes import int32, int64
from autoconv.graph.graph import Node
from autoconv.graph.linear_form import Range
from autoconv.graph.python_operators import BINARY


def compute_unchecked(
    b: ElementWriter, node: Node, operands: Sequence[Element], ranges: Sequence[Range]
) -> Element | None:
    """Write the code of an op whose result is known to be in the range of its dtype, without overflow checks.

    `ranges` are those of the operands. Return the result, or None if there is no such code.
    """
    name = node.op.name
    if any(x.dtype is not int64 for x in operands):
        return None
    name = _NUMBER_OPS.get(name, name)
    if name == "python_cast":
        return b.cast(operands[0], node.results[0].dtype)
    if name in ("python_left_shift", "python_right_shift") and ranges[1][0] >= 0 and ranges[1][1] < 64:
        x, y = operands
        return b.wrap(int64, b.out.op("shl" if name == "python_left_shift" else "ashr", x.ir, y.ir))
    if name in _LLVM_OPERATORS:
        x, y = operands
        return b.wrap(int64, b.out.op(f"{_LLVM_OPERATORS[name]} nsw", x.ir, y.ir))
    if name in ("python_floor_divide", "python_modulo") and ranges[0][0] >= 0 and ranges[1][0] > 0:
        x, y = operands
        return b.wrap(int64, b.out.op("udiv" if name == "python_floor_divide" else "urem", x.ir, y.ir))
    return None


def least_difference(body: Body, x: Element, y: Element) -> int | None:
    """Return a lower bound of `x - y`, from a recorded upper bound of `y` relative to `x`; None if there is none."""
    bounds, base, offset = body.upper_bounds.get(y.ir, {}), x.ir, 0
    while base not in bounds:
        if base not in body.offsets:
            return None
        base, step = body.offsets[base]
        offset += step
    return offset - bounds[base]


def record_upper_bounds(body: Body, node: Node, element: Element, operands: Sequence[Element]) -> None:
    """Record upper bounds of a node's integer result relative to its operands.

    A result of a tensor's op that may have wrapped has none: its range is not known.
    """
    name = _NUMBER_OPS.get(node.op.name, node.op.name)
    if not is_int64_scalar(node.results[0].type) or not all(x.dtype in (int32, int64) for x in operands):
        return
    if name != node.op.name and element.ir[0] == "%" and element.ir not in body.ranges:
        return
    ranges = [body.range_of(operand) for operand in operands]
    if name == "range_item" and ranges[3][0] > 0:  # the operands are position, start, stop and step
        body.record_upper_bound(element, operands[2], -1)
    elif name == "range_item" and ranges[3][1] < 0:
        body.record_upper_bound(element, operands[1], 0)
    elif name == "python_add":
        _record_offset(body, element, operands[0], ranges[1])
        body.record_upper_bound(element, operands[0], ranges[1][1])
        body.record_upper_bound(element, operands[1], ranges[0][1])
    elif name == "python_subtract":
        _record_offset(body, element, operands[0], (-ranges[1][1], -ranges[1][0]))
        body.record_upper_bound(element, operands[0], -ranges[1][0])
    elif name == "python_modulo" and ranges[1][0] > 0:
        body.record_upper_bound(element, operands[1], -1)
    elif name in ("python_int", "python_cast"):
        body.record_upper_bound(element, operands[0], 0)


def _record_offset(body: Body, element: Element, base: Element, range_: Range) -> None:
    """Record that `element` is `base` plus a number in `range_`, if the range is a single number.

    The code of `x + 0` is that of `x`, so that `element` may be `base`: recorded offsets have no cycles.
    """
    if range_[0] != range_[1] or element.ir[0] != "%" or base.ir[0] != "%":
        return
    ancestor = base.ir
    while ancestor != element.ir and ancestor in body.offsets:
        ancestor = body.offsets[ancestor][0]
    if ancestor != element.ir:
        body.offsets[element.ir] = base.ir, range_[0]


# Op on tensors -> op on Python numbers that has the same result if there is no overflow.
_NUMBER_OPS = {operator.tensor_op: operator.number_op for operator in BINARY if operator.number_op is not None}
_LLVM_OPERATORS = {"python_add": "add", "python_subtract": "sub", "python_multiply": "mul"}
