"""Compute both arms of a condition and select, if the arms are short and their ints may exceed 64 bits.

    if x % 2 == 0: x = x // 2  else: x = 3 * x + 1

LLVM turns arms without tests for overflow into selections, but never moves a test for overflow. So one branch, which
the processor nearly always predicts, tests that the operands of the arms are so small that nothing overflows. If so,
both arms are computed without tests, and one result is selected. Otherwise the code branches to one arm, with its
tests.

Only conditions that are computed from integers in registers are lowered in this way, because a selection cannot begin
before its condition is known.
"""

from __future__ import annotations

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_int64_scalar
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.scalars import compute_number
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.linear_form import INT64_RANGE, Range
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.induction import constant_of
from autoconv.ops.analysis.value_range import intersection, is_within_int64, result_range

_BOUND_BITS = (61, 58, 53, 47, 39, 31)  # exponents of two: bounds of the operands, tried in order
_MAX_NODES = 4  # nodes of an arm, without constants
_MAX_CONDITION_NODES = 8  # nodes that compute a condition


def operand_bound(region: LoweringContext, node: Node) -> int:
    """Return the largest bound of the operands for which neither arm overflows; 0 if the node branches to one arm."""
    has_quick_condition = _is_bool(node.inputs[0]) and _is_quick(node.inputs[0])
    if len(node.regions) != 2 or not has_quick_condition or not all(map(_is_short, node.regions)):
        return 0
    if not all(is_int64_scalar(value.type) for value in node.results):
        return 0
    if all(_ranges_of(region, node, arm, 0) is not None for arm in node.regions):
        return 0  # the arms have no tests, so LLVM selects by itself
    for bound in (1 << bits for bits in _BOUND_BITS):
        if all(_ranges_of(region, node, arm, bound) is not None for arm in node.regions):
            return bound
    return 0


def has_large_operand(region: LoweringContext, node: Node, bound: int) -> Element:
    """Write a test; return an i1 that is true if an operand of the arms is not between `-bound` and `bound`."""
    b = RegisterWriter(region)
    result = b.constant(False, bool_)
    for representation in {value: region.representation_of(value) for value in node.inputs[1:]}.values():
        if isinstance(representation, Element):
            low, high = region.body.range_of(representation)
            if low < -bound or high > bound:
                # One unsigned comparison tests both ends of the range.
                shifted_operand = b.out.op("add", representation.ir, bound)
                result = result | b.wrap(bool_, b.out.icmp("ugt", shifted_operand, 2 * bound))
    return result


def select_results(region: LoweringContext, node: Node, bound: int) -> list[Element]:
    """Compute both arms for operands within the bound; return the results that the condition selects."""
    b, condition = RegisterWriter(region), region.number(node.inputs[0])
    true_results, false_results = (_compute_arm(region, node, arm, bound) for arm in node.regions)
    pairs = zip(true_results, false_results, strict=True)
    return [b.select(condition, true_result, false_result) for true_result, false_result in pairs]


def _compute_arm(region: LoweringContext, node: Node, arm: Graph, bound: int) -> list[Element]:
    """Compute the outputs of an arm without a branch; its ranges exclude errors."""
    ranges = _ranges_of(region, node, arm, bound)
    assert ranges is not None
    b = RegisterWriter(region, lambda condition, raises: None)  # the ranges exclude all that would raise
    numbers = {
        value: region.number(operand) for value, operand in zip(arm.parameters, node.inputs[1:], strict=True)
        if isinstance(region.representation_of(operand), Element)
    }  # fmt: skip
    for arm_node in arm.nodes:
        result = arm_node.results[0]
        if arm_node.op.name == "constant":
            numbers[result] = b.constant(int(np.asarray(arm_node.attributes["value"])), int64)
        else:
            operands = [numbers[value] for value in arm_node.inputs]
            numbers[result] = compute_number(b, arm_node, operands, [ranges[value] for value in arm_node.inputs])
    return [numbers[value] for value in arm.outputs]


def _ranges_of(region: LoweringContext, node: Node, arm: Graph, bound: int) -> dict[Value, Range] | None:
    """Return the ranges of the integers of an arm if its operands are within `bound`; None if one may exceed 64 bits.

    If the bound is 0, the operands have only the ranges that are known.
    """
    ranges: dict[Value, Range] = {}
    for value, operand in zip(arm.parameters, node.inputs[1:], strict=True):
        representation = region.representation_of(operand)
        if isinstance(representation, Element):
            known_range = region.body.value_ranges.get(value) if not bound else None
            ranges[value] = known_range or region.body.range_of(representation)
            if bound:
                # An operand without a value in the range never passes the test, so any range will do.
                ranges[value] = intersection(ranges[value], (-bound, bound)) or (0, 0)
    for arm_node in arm.nodes:
        result = arm_node.results[0]
        if arm_node.op.name == "constant":
            number = int(np.asarray(arm_node.attributes["value"]))
            ranges[result] = number, number
            continue
        range_ = result_range(arm_node.op.name, [ranges[value] for value in arm_node.inputs])
        if range_ is not None and is_within_int64(range_):
            ranges[result] = range_
        elif arm_node.op.traits.overflow_error == "only":
            return None
        else:
            ranges[result] = INT64_RANGE
    return ranges


def _is_short(arm: Graph) -> bool:
    """Return whether an arm consists of a few nodes that compute int64 scalars in few instructions."""
    computing_nodes = [node for node in arm.nodes if node.op.name != "constant"]
    return (
        len(computing_nodes) <= _MAX_NODES
        and all(_takes_few_instructions(node) for node in computing_nodes)
        and all(is_int64_scalar(value.type) for node in arm.nodes for value in node.results)
        and all(is_int64_scalar(value.type) for node in computing_nodes for value in node.inputs)
        and all(is_int64_scalar(value.type) for value in arm.outputs)
    )


def _takes_few_instructions(node: Node) -> bool:
    """Return whether a node takes few instructions, and fails only if an int exceeds 64 bits."""
    if node.op.name in ("python_floor_divide", "python_modulo"):
        return (constant_of(node.inputs[1]) or 0) > 0
    traits = node.op.traits
    may_run_early = traits.overflow_error == "only" or node.effects is Effects.PURE
    return traits.elementwise and not traits.costly and may_run_early


def _is_quick(condition: Value) -> bool:
    """Return whether a condition is computed by a few ops from integers that are in registers."""
    worklist, count = [condition], 0
    while worklist:
        node = worklist.pop().node
        if node is None or node.op.name == "constant":
            continue
        count += 1
        has_integers = all(is_int64_scalar(value.type) or _is_bool(value) for value in (*node.inputs, *node.results))
        if count > _MAX_CONDITION_NODES or not has_integers or not _takes_few_instructions(node):
            return False
        worklist += node.inputs
    return True


def _is_bool(value: Value) -> bool:
    """Return whether a value is a scalar bool."""
    return isinstance(value.type, TensorType) and value.type.dtype.is_bool and value.type.shape == ()
