"""Lower nodes without a loop: numbers in registers, single complex numbers, views and single elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autoconv.backends.llvm.analysis.index_maps import ElementSource, write_element_source
from autoconv.backends.llvm.analysis.representation import is_int64_scalar, register_of
from autoconv.backends.llvm.codegen.context import LoweringContext, ValueContext
from autoconv.backends.llvm.codegen.control.running_totals import SAFE_ADDEND
from autoconv.backends.llvm.codegen.range_facts import compute_unchecked, least_difference, record_upper_bounds
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.element_rules import apply_rule
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, store
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dimensions import plus, times
from autoconv.graph.dtypes import DType, int32, int64
from autoconv.graph.graph import Node
from autoconv.graph.linear_form import Range
from autoconv.graph.python_operators import BINARY
from autoconv.graph.types import Dimension, Symbol, TensorType
from autoconv.ops.analysis.value_range import cast_range, is_within_int64, result_range

# Op -> LLVM's operation that also returns an overflow bit.
_OPERATION_WITH_OVERFLOW = {
    operator.tensor_op: operator.name for operator in BINARY if operator.name in ("add", "sub", "mul")
}


@class_lowering("scalar")
def write_scalar(region: LoweringContext, node: Node) -> None:
    """Lower a node by the op's element rule, or shorter code if ranges of the operands are known.

    In the exceptional cases of the rule, the op's kernel runs.
    """
    operands = [region.number(value) for value in node.inputs]
    range_ = _range_of(region, node, operands)
    dimension = _dimension_of(region, node, operands)
    if isinstance(dimension, Symbol) and register_of(dimension) in region.body.module.sizes:  # it has been computed
        element = RegisterWriter(region).wrap(int64, register_of(dimension))
        _set_and_record_facts(region, node, operands, element, range_)
        return
    if range_ is not None:
        ranges = list(map(region.body.range_of, operands))
        unchecked_element = compute_unchecked(RegisterWriter(region), node, operands, ranges)
        if unchecked_element is not None:
            _set_and_record_facts(region, node, operands, unchecked_element, range_)
            return
    total = _write_unchecked_total(region, node, operands)
    if total is not None:
        region.set(node.results[0], total)
        return
    exceptional_cases = _ExceptionalCases(region, node)
    b = RegisterWriter(region, exceptional_cases.branch)
    # LLVM does not vectorise a serial loop, in which a branch takes fewer instructions than joining the overflow bits.
    prefers_branch = range_ is None and region.body.is_in_serial_loop
    element_with_branch = _write_with_overflow_branch(b, node, operands, region) if prefers_branch else None
    if element_with_branch is not None:
        element = element_with_branch
    else:
        element = _write_signed_division(b, node, operands) or apply_rule(b, node, operands)
        if range_ is None:
            _write_overflow_warning(b, node, operands, element, region)
    joined_element = exceptional_cases.write(element)
    if joined_element is element:
        _set_and_record_facts(region, node, operands, element, range_)
    else:
        region.set(node.results[0], joined_element)


def _write_unchecked_total(region: LoweringContext, node: Node, operands: Sequence[Element]) -> Element | None:
    """Write an addition to a running total of Python's ints, which the loop tests; None for other nodes."""
    if node not in region.body.running_totals or not node.op.traits.overflow_error:
        return None
    b, (total, addend) = RegisterWriter(region), operands
    least, greatest = region.body.range_of(addend)
    if least < -SAFE_ADDEND or greatest > SAFE_ADDEND:
        return None
    addend = b.cast(addend, int64)
    return total + addend if node.op.name == "python_add" else total - addend


class _ExceptionalCases:
    """Branches to the kernel of a node, for operands that its element rule does not handle."""

    def __init__(self, region: LoweringContext, node: Node) -> None:
        self._region, self._node, self._out = region, node, region.out
        self._kernel_label = ""  # of the block that calls the kernel for its result
        self._raising_label = ""  # of the block that calls the kernel for its error

    def branch(self, condition: Element, raises: bool) -> None:
        """Branch to the kernel if the condition holds; with `raises`, the kernel is known to raise."""
        out = self._out
        if raises:
            label = self._raising_label = self._raising_label or out.label("raising")
        else:
            label = self._kernel_label = self._kernel_label or out.label("cold")
        continue_label = out.label("fine")
        out.branch_if(condition.ir, label, continue_label, unlikely=True)
        out.begin(continue_label)

    def write(self, element: Element) -> Element:
        """Write the blocks that call the kernel; return `element`, joined with the kernel's result if there is one."""
        if not self._kernel_label and not self._raising_label:
            return element
        out, native_block, done_label = self._out, self._out.block, self._out.label("done")
        out.branch(done_label)
        if self._raising_label:
            out.begin(self._raising_label)
            self._region.call_kernel(self._node, is_rare=True)
            out.branch(self._region.body.failure_label)
        if not self._kernel_label:
            out.begin(done_label)
            return element
        out.begin(self._kernel_label)
        kernel_result = self._region.call_kernel(self._node, is_rare=True)[0]
        assert isinstance(kernel_result, Element)
        kernel_block = out.block
        out.branch(done_label)
        out.begin(done_label)
        operand = Operand.of(element.ir, register(element.dtype))
        result = out.phi((operand, native_block), (kernel_result.ir, kernel_block))
        return element.b.wrap(element.dtype, result)


def _dimension_of(region: LoweringContext, node: Node, operands: Sequence[Element]) -> Dimension:
    """Return the sum or difference of dimensions that a node computes; None for other nodes.

    If a register holds this dimension as the size of an array, the node gets that register. So comparisons with the
    node's number prove that indices are in range.
    """
    if node.op.name not in ("python_add", "python_subtract") or any(x.dtype is not int64 for x in operands):
        return None
    known_dimensions = region.body.dimensions
    x, y = (known_dimensions.get(number.ir) if number.ir[0] == "%" else int(number.ir) for number in operands)
    if x is None or y is None or not any(isinstance(dimension, Symbol) for dimension in (x, y)):
        return None
    return plus(x, y if node.op.name == "python_add" else times(y, -1))


def compute_number(b: RegisterWriter, node: Node, operands: Sequence[Element], ranges: Sequence[Range]) -> Element:
    """Write the code of an op that cannot raise for operands of these ranges; return the result."""
    range_ = result_range(node.op.name, ranges)
    is_known = range_ is not None and is_within_int64(range_)
    unchecked_element = compute_unchecked(b, node, operands, ranges) if is_known else None
    return unchecked_element or _write_signed_division(b, node, operands) or apply_rule(b, node, operands)


def _write_signed_division(b: RegisterWriter, node: Node, operands: Sequence[Element]) -> Element | None:
    """Write a floored division of int64 in a quicker form than the element rule's; return None if there is none.

    The element rule corrects quotients and remainders by the signs. A divisor in a register gets a fast path for
    operands that are not negative. A constant power of two gives a shift or a mask. For other constants there is no
    quicker form, since LLVM shortens the rule itself.
    """
    name = node.op.name.removeprefix("python_")
    if name not in ("floor_divide", "modulo") or any(x.dtype is not int64 for x in operands):
        return None
    (x, y), out = operands, b.out
    if y.ir[0] != "%":
        divisor = int(y.ir)
        is_power_of_two = divisor > 0 and divisor & (divisor - 1) == 0
        if not is_power_of_two:
            return None
        return b.bits("ashr", x, divisor.bit_length() - 1) if name == "floor_divide" else b.bits("and", x, divisor - 1)
    has_sign = (x | y | (y - 1)) < 0  # also true for a divisor of 0, by the sign of 0 - 1
    result = out.either(
        has_sign.ir,
        lambda: Operand.of(apply_rule(b, node, operands).ir, "i64"),
        lambda: out.op("udiv" if name == "floor_divide" else "urem", x.ir, y.ir),
        unlikely=True,
    )
    return b.wrap(int64, result)


def _write_with_overflow_branch(
    b: RegisterWriter, node: Node, operands: Sequence[Element], region: LoweringContext
) -> Element | None:
    """Write a sum, difference or product of NumPy's int32 or int64 with a branch that warns; None for other nodes.

    `warn` takes a bool, or an integer that is negative in the case to warn of: here, a constant in the branch.
    """
    type_, name = node.results[0].type, _OPERATION_WITH_OVERFLOW.get(node.op.name)
    if name is None or not isinstance(type_, TensorType) or type_.weak or type_.dtype not in (int32, int64):
        return None
    if _is_sure_to_fit(region, node.op.name, operands, type_.dtype):
        return None
    element, wraps = b.with_overflow(name, *operands)
    with b.out.unlikely(wraps.ir):
        b.warn("over", b.constant(-1, int64))
    return element


def _write_overflow_warning(
    b: RegisterWriter, node: Node, operands: Sequence[Element], element: Element, region: LoweringContext
) -> None:
    """Write code that sets the flag of an overflow for a number of NumPy's own integer types, as NumPy warns then.

    For a running total, the flag is set if an addend is so large that the total might overflow. `warn` takes a bool, or
    an integer that is negative in the case to warn of.
    """
    (result,), name = node.results, node.op.name
    type_ = result.type
    if not isinstance(type_, TensorType) or not type_.dtype.is_integer or type_.weak:
        return
    if _is_sure_to_fit(region, name, operands, type_.dtype):
        return
    x, y = operands[0], operands[-1]
    if name == "multiply":
        b.warn("over", b.with_overflow("mul", x, y)[1])
    elif name in ("negative", "abs"):
        if not x.dtype.is_unsigned:
            b.warn("over", x.same(x.dtype.min))
        elif name == "negative":
            b.warn("over", x.differs(0))
    elif name not in ("add", "subtract"):
        return
    elif x.dtype.is_unsigned:
        b.warn("over", element < x if name == "add" else x < y)
    elif node in region.body.running_totals:
        b.warn("over", SAFE_ADDEND - (y ^ b.bits("ashr", y, 63)))  # y, or -y - 1 of a negative y, without a branch
    else:
        signs = [_known_sign(region.body.range_of(operand)) for operand in (x, y)]
        b.warn("over", _wrapped_sign(name, x, y, element, signs))


def _is_sure_to_fit(region: LoweringContext, name: str, operands: Sequence[Element], dtype: DType) -> bool:
    """Return whether the operands are in ranges for which the op's result does not overflow `dtype`."""
    if not all(number.dtype.is_integer for number in operands):
        return False
    range_ = result_range(f"python_{name}", [region.body.range_of(number) for number in operands])
    return range_ is not None and cast_range(range_, (int(dtype.min), int(dtype.max))) is not None


def _wrapped_sign(name: str, x: Element, y: Element, element: Element, signs: Sequence[int]) -> Element:
    """Return a number that is negative if a signed sum or difference overflowed.

    `signs` are those of x and y (see `_known_sign`); known signs save instructions.
    """
    sign_x, sign_y = signs
    if name == "add":
        if sign_x and not sign_y:
            x, y, sign_y = y, x, sign_x
        if sign_y:
            return element & ~x if sign_y > 0 else x & ~element
        return (x ^ element) & (y ^ element)
    if sign_y:
        return x & ~element if sign_y > 0 else element & ~x
    if sign_x:
        return y & element if sign_x > 0 else ~(y | element)
    return (x ^ element) & (x ^ y)


def _known_sign(range_: tuple[int, int]) -> int:
    """Return 1 for a range without negative integers, -1 for a range of only negative ones, else 0."""
    return 1 if range_[0] >= 0 else -1 if range_[1] < 0 else 0


def _set_and_record_facts(
    region: LoweringContext, node: Node, operands: Sequence[Element], element: Element, range_: Range | None
) -> None:
    """Set the result; record its dimension, range and upper bounds."""
    (result,) = node.results
    dimension = _dimension_of(region, node, operands)
    if dimension is not None:
        region.body.dimensions.setdefault(element.ir, dimension)
    if range_ is not None:
        region.body.record_range(element, range_)
    region.set(result, element)
    record_upper_bounds(region.body, node, region.number(result), operands)


def _range_of(region: LoweringContext, node: Node, operands: Sequence[Element]) -> Range | None:
    """Return the range of an integer result that cannot overflow, or None if that is not known."""
    dtype = node.results[0].dtype
    if any(x.dtype.is_floating for x in operands) or not dtype.is_integer:
        return None
    ranges = [region.body.range_of(x) for x in operands]
    if node.op.name == "python_cast":
        return cast_range(ranges[0], (int(dtype.min), int(dtype.max)))
    if not is_int64_scalar(node.results[0].type):
        return None
    range_ = result_range(node.op.name, ranges)
    if node.op.name == "python_subtract" and range_ is not None:
        least = least_difference(region.body, *operands)
        range_ = max(range_[0], range_[0] if least is None else least), range_[1]
    return range_ if range_ is not None and is_within_int64(range_) else None


@class_lowering("pair")
def write_pair(region: LoweringContext, node: Node) -> None:
    """Lower a node whose result is a complex number, which is stored in an array."""
    (result,) = node.results
    b = RegisterWriter(region)
    region.set(result, region.new_array(result.type))
    element = apply_rule(b, node, [region.number(value) for value in node.inputs])
    store(b, element, region.data(result), 0)


@class_lowering("view")
def write_view(region: LoweringContext, node: Node) -> None:
    """Check the dynamic indices of a view; its readers compute the positions of elements themselves."""
    region.check_positions(node)


@class_lowering("alias")
def write_alias(region: LoweringContext, node: Node) -> None:
    """Represent the result by the operand's object.

    The object has the operand's shape, not the result's; readers use only its elements.
    """
    (result,), source = node.results, node.inputs[0]
    object_ = region.object(source)
    owned_source = region.body.own_reference(region.take_reference(source, region.remaining_uses[source] == 1))
    region.set(result, replace(owned_source, original_type=object_.original_type or source.type))


@class_lowering("pick")
def write_pick(region: LoweringContext, node: Node) -> None:
    """Read a single element of an array."""
    region.check_positions(node)
    source = write_element_source(RegisterWriter(region), node, (), region.checked_positions.get(node, []))
    region.set(node.results[0], load_source_element(region, source))


def load_source_element(region: ValueContext, source: ElementSource) -> Element:
    """Return the element that `write_element_source` describes."""
    if isinstance(source, Element):
        return source
    element = region.element(source.array, source.index)
    return source.function(element) if source.function is not None else element
