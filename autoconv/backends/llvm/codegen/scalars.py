"""Lower what needs no loop: numbers in registers, single complex numbers, and views that are only looked through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autoconv.backends.llvm.analysis.index_maps import write_element_source
from autoconv.backends.llvm.analysis.representation import is_integer
from autoconv.backends.llvm.codegen.context import LoweringContext, ValueContext
from autoconv.backends.llvm.codegen.range_facts import compute_unchecked, note_limits
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.element_rules import apply_rule
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, store
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.value_range import Range, cast_range, is_inside, result_range

_LARGE = (1 << 40) - 1  # up to here, sums of fewer than four million numbers fit into 64 bits


@class_lowering("scalar")
def write_scalar(region: LoweringContext, node: Node) -> None:
    """Lower by the op's element rule, with a cold path that calls the kernel in the rule's exceptional cases."""
    out, operands = region.out, [region.number(value) for value in node.inputs]
    range_ = _range_of(region, node, operands)
    if range_ is not None:
        ranges = [region.body.range_of(x) for x in operands]
        short = compute_unchecked(RegisterWriter(region), node, operands, ranges)
        if short is not None:
            _set_with_range(region, node, operands, short, range_)
            return
    cold, done = out.label("cold"), out.label("done")
    failing: list[str] = []

    def fail(condition: Element) -> None:
        go_on = out.label("fine")
        out.branch_if(condition.ir, cold, go_on, unlikely=True)
        out.begin(go_on)
        failing.append(go_on)

    b = RegisterWriter(region, fail)
    element = _divide_signed(b, node, operands) or apply_rule(b, node, operands)
    if range_ is None:
        _warn_of_overflow(b, node, operands, element, region)
    if not failing:
        _set_with_range(region, node, operands, element, range_)
        return
    fast = out.block
    out.branch(done)
    out.begin(cold)
    slow = region.call_kernel(node, rarely=True)[0]
    if node.op.traits.limited == "only" and node.results[0].dtype.is_integer:  # it raises: no path comes back
        out.branch(region.body.failure_label)
        out.begin(done)
        _set_with_range(region, node, operands, element, range_)
        return
    assert isinstance(slow, Element)
    after = out.block
    out.branch(done)
    out.begin(done)
    either = out.phi((Operand.of(element.ir, register(element.dtype)), fast), (slow.ir, after))
    region.set(node.results[0], b.wrap(element.dtype, either))


def compute_number(b: RegisterWriter, node: Node, operands: Sequence[Element], ranges: Sequence[Range]) -> Element:
    """Return an integer of an op that cannot raise for operands of these ranges."""
    range_ = result_range(node.op.name, ranges)
    is_known = range_ is not None and is_inside(range_)
    short = compute_unchecked(b, node, operands, ranges) if is_known else None
    return short or _divide_signed(b, node, operands) or apply_rule(b, node, operands)


def _divide_signed(b: RegisterWriter, node: Node, operands: Sequence[Element]) -> Element | None:
    """Write a floored division of int64 with a short way for operands without a sign; None for other ops.

    The rule corrects quotients and remainders by the signs. For a constant divisor LLVM has a short form of it, if not
    for a power of two.
    """
    name = node.op.name.removeprefix("python_")
    if name not in ("floor_divide", "modulo") or any(x.dtype is not int64 for x in operands):
        return None
    (x, y), out = operands, b.out
    if y.ir[0] != "%":
        divisor = int(y.ir)
        if divisor < 1 or divisor & (divisor - 1):
            return None
        return b.bits("ashr", x, divisor.bit_length() - 1) if name == "floor_divide" else b.bits("and", x, divisor - 1)
    has_sign = (x | y | (y - 1)) < 0  # that of 0 - 1, too
    result = out.either(
        has_sign.ir,
        lambda: Operand.of(apply_rule(b, node, operands).ir, "i64"),
        lambda: out.op("udiv" if name == "floor_divide" else "urem", x.ir, y.ir),
        unlikely=True,
    )
    return b.wrap(int64, result)


def _warn_of_overflow(
    b: RegisterWriter, node: Node, operands: Sequence[Element], element: Element, region: LoweringContext
) -> None:
    """Report where a number of NumPy's own integer types wraps, which its arrays do silently.

    Sums that a loop carries stay reductions, which vectorise: of 64 bits they report numbers that may make them wrap.
    """
    (result,), name = node.results, node.op.name
    type_ = result.type
    if not isinstance(type_, TensorType) or not type_.dtype.is_integer or type_.weak:
        return
    x, y = operands[0], operands[-1]
    if name == "multiply":
        b.warn("over", b.checked("mul", x, y)[1])
    elif name in ("negative", "abs"):
        if not x.dtype.is_unsigned:
            b.warn("over", x.same(x.dtype.min))
        elif name == "negative":
            b.warn("over", x.differs(0))
    elif name not in ("add", "subtract"):
        return
    elif x.dtype.is_unsigned:
        b.warn("over", element < x if name == "add" else x < y)
    elif x.dtype is int64 and _is_running_total(region, node):
        b.warn("over", _LARGE - (y ^ b.bits("ashr", y, 63)))
    else:
        b.warn("over", _wrap_sign(name, x, y, element, [_known_sign(region.body.range_of(one)) for one in (x, y)]))


def _wrap_sign(name: str, x: Element, y: Element, element: Element, signs: Sequence[int]) -> Element:
    """Return a number that is negative where a signed sum or difference wrapped; known signs save instructions."""
    of_x, of_y = signs
    if name == "add":
        if of_x and not of_y:
            x, y, of_y = y, x, of_x
        if of_y:
            return element & ~x if of_y > 0 else x & ~element
        return (x ^ element) & (y ^ element)
    if of_y:
        return x & ~element if of_y > 0 else element & ~x
    if of_x:
        return y & element if of_x > 0 else ~(y | element)
    return (x ^ element) & (x ^ y)


def _known_sign(range_: tuple[int, int]) -> int:
    """Return 1 for integers that are not negative, -1 for negative ones, 0 where that is not known."""
    return 1 if range_[0] >= 0 else -1 if range_[1] < 0 else 0


def _is_running_total(region: LoweringContext, node: Node) -> bool:
    """Return whether a node adds to a value that a loop carries from one iteration to the next."""
    graph, (result,) = region.graph, node.results
    carried = zip(graph.parameters, graph.outputs, strict=False)  # captures follow the state
    return any(result is after and node.inputs[0] is before for before, after in carried)


def _set_with_range(
    region: LoweringContext, node: Node, operands: Sequence[Element], element: Element, range_: Range | None
) -> None:
    (result,) = node.results
    if range_ is not None:
        region.body.record_range(element, range_)
    region.set(result, element)
    note_limits(region.body, node, region.number(result), operands)


def _range_of(region: LoweringContext, node: Node, operands: Sequence[Element]) -> Range | None:
    """Return the range of an integer result that cannot overflow, or None if that is not known."""
    dtype = node.results[0].dtype
    if any(x.dtype.is_floating for x in operands) or not dtype.is_integer:
        return None
    ranges = [region.body.range_of(x) for x in operands]
    if node.op.name == "python_cast":
        return cast_range(ranges[0], (int(dtype.min), int(dtype.max)))
    if not is_integer(node.results[0].type):
        return None
    range_ = result_range(node.op.name, ranges)
    return range_ if range_ is not None and is_inside(range_) else None


@class_lowering("pair")
def write_pair(region: LoweringContext, node: Node) -> None:
    """Lower a scalar complex result, stored in an array."""
    (result,) = node.results
    b = RegisterWriter(region)
    region.set(result, region.new_array(result.type))
    element = apply_rule(b, node, [region.number(value) for value in node.inputs])
    store(b, element, region.data(result), 0)


@class_lowering("view")
def write_view(region: LoweringContext, node: Node) -> None:
    """Check the dynamic indices of a view; its readers compute the elements' places."""
    region.check_positions(node)


@class_lowering("alias")
def write_alias(region: LoweringContext, node: Node) -> None:
    """Reuse the object under another type: its consumers read nothing but the elements."""
    (result,), source = node.results, node.inputs[0]
    object_ = region.object(source)
    own = region.body.own_reference(region.take_reference(source, region.remaining_uses[source] == 1))
    region.set(result, replace(own, original_type=object_.original_type or source.type))


@class_lowering("pick")
def write_pick(region: LoweringContext, node: Node) -> None:
    """Read a single element of an array."""
    region.check_positions(node)
    place = write_element_source(RegisterWriter(region), node, (), region.checked_positions.get(node, []))
    region.set(node.results[0], element_at(region, place))


def element_at(region: ValueContext, place: Any) -> Element:
    """Return the element at a place, which an index map returned: an element, or where to load one."""
    if isinstance(place, Element):
        return place
    value, index, finish = place
    element: Element = region.element(value, index)
    return finish(element) if finish is not None else element  # type: ignore[no-any-return]
