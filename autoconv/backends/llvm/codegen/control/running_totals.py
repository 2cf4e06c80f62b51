"""Running totals: 64-bit integers to which each iteration of a loop adds.

LLVM vectorises such a sum as a reduction only if nothing in the loop tests whether it overflows. Therefore the totals
are tested before and after the loop, and before each chunk of iterations of a long loop (see `structured`). A chunk has
at most a million iterations of at most four addends each. So many addends below 2**40 change a total by less than
2**62.

An overflow of NumPy's integers is a warning. Their addends are tested (see `scalars`), and a total beyond 2**62 counts
as one that might have overflowed. An overflow of Python's ints is an error. Their addends have to be small by their
ranges, nothing else in the loop may read the total, and the test is exact: only a total that has wrapped around has
changed its sign and is beyond 2**62.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from autoconv.backends.llvm.analysis.representation import is_int64_scalar
from autoconv.backends.llvm.analysis.step_ranges import waits_for_branches
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import Native, RegisterWriter
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands, state_size
from autoconv.ops.analysis.induction import counter_of

_SAFE_TOTAL = (1 << 62) - 1  # largest magnitude of a total before and after the loop or chunk
SAFE_ADDEND = (1 << 40) - 1  # largest magnitude of an addend
_MAX_ADDENDS = 4  # of a total in one iteration


def running_totals(loop: Node) -> dict[Node, int]:
    """Return the nodes of a loop's body that add to a running total, with the total's position in the state.

    An iteration may add several addends, and some of them only in an arm of a condition. The counter of the loop is
    not a running total. Loops that wait for branches (see `step_ranges`) have only NumPy's, outside of arms: additions
    without tests in an arm would turn the branch into a select.
    """
    result, body, counter = {}, loop.regions[1], counter_of(loop)
    keeps_branches = waits_for_branches(loop)
    states = zip(body.parameters[: state_size(loop)], body.outputs, strict=False)
    for position, (parameter, output) in enumerate(states):
        if is_int64_scalar(output.type) and (counter is None or position != counter.position):
            additions = _additions(parameter, output, body, is_python=output.type.weak)
            if additions is None or len(additions) > _MAX_ADDENDS:
                continue
            if not keeps_branches or (not output.type.weak and set(additions) <= set(body.nodes)):
                result.update(dict.fromkeys(additions, position))
    return result


def _additions(total: Value, output: Value, graph: Graph, is_python: bool) -> list[Node] | None:
    """Return the nodes of a region that add up `output` from `total` and addends; None if it is computed otherwise.

    A total of Python's ints must have no other readers.
    """
    result: list[Node] = []
    reader_counts = Counter(value for node in graph.nodes for value in node.inputs) + Counter(graph.outputs)
    while not is_python or reader_counts[output] == 1:
        node = output.node
        if output is total:
            return result
        if node is None:
            return None
        if node.op.traits.selects:
            operand, additions = _additions_in_arms(node, node.results.index(output), is_python)
            if operand is None:
                return None
            result += additions
            output = operand
        elif node.op.name.removeprefix("python_") in ("add", "subtract"):
            result.append(node)
            output = node.inputs[0]
        else:
            return None
    return None


def _additions_in_arms(node: Node, position: int, is_python: bool) -> tuple[Value | None, list[Node]]:
    """Return the operand of a condition to which all arms add for a result, and the additions; (None, []) if none."""
    for i, operand in enumerate(captured_operands(node)):
        additions = [_additions(arm.parameters[i], arm.outputs[position], arm, is_python) for arm in node.regions]
        if None not in additions:
            return operand, [addition for arm_additions in additions for addition in arm_additions or ()]
    return None, []


class TotalTests:
    """The tests of a loop's running totals, for overflows since the last test.

    `totals` are those of `running_totals`, `initial_state` is the state before the loop.
    """

    def __init__(self, region: LoweringContext, totals: dict[Node, int], initial_state: Sequence[Native]) -> None:
        self._region = region
        # Totals whose ranges are known do not overflow.
        known_ranges = region.body.value_ranges
        self._nodes = {
            position: node for node, position in totals.items() if node.results[0] not in known_ranges
        }
        self._last_cells: dict[int, str] = {}  # position of a Python int -> cell of the total at the last test
        for position, node in self._nodes.items():
            if node.op.traits.overflow_error:  # of Python's ints
                self._last_cells[position] = region.out.alloca("i64")
                region.out.store("i64", _number(initial_state[position]).ir, self._last_cells[position])
        self.positions = sorted(self._nodes)
        numpy_positions = [position for position in self.positions if position not in self._last_cells]
        self.write({position: initial_state[position] for position in numpy_positions})

    def write(self, totals: dict[int, Native]) -> None:
        """Write the tests of totals, by their positions in the state."""
        b, body = RegisterWriter(self._region), self._region.body
        for position, native in totals.items():
            total = _number(native)
            if position in self._last_cells:
                self._write_exact_test(b, position, total)
                continue
            least, greatest = body.range_of(total)
            if least < -_SAFE_TOTAL or greatest > _SAFE_TOTAL:
                # `warn` takes an integer that is negative in the case to warn of.
                b.warn("over", _SAFE_TOTAL - (total ^ b.bits("ashr", total, 63)))

    def _write_exact_test(self, b: RegisterWriter, position: int, total: Element) -> None:
        """Write a test that raises OverflowError if a total of Python's ints has wrapped around."""
        out, cell = self._region.out, self._last_cells[position]
        last_total = b.wrap(int64, out.load("i64", cell))
        out.store("i64", total.ir, cell)
        has_wrapped = (last_total ^ total) & (total ^ b.bits("shl", total, 1))
        with out.unlikely((has_wrapped < 0).ir):
            self._raise_overflow(b, self._nodes[position])

    def _raise_overflow(self, b: RegisterWriter, node: Node) -> None:
        """Call the kernel of an addition with operands for which it raises."""
        region, out = self._region, self._region.out
        kernel = region.body.objects.kernel(node, region.enclosing_calls, is_rare=True)
        arguments, operands = "null", (int64.max if node.op.name == "python_add" else int64.min, 1)
        if region.body.objects.has_python:
            arguments = out.alloca(f"[{len(operands)} x ptr]")
            for i, operand in enumerate(operands):
                out.store("ptr", region.box(b.constant(operand, int64)).ir, out.gep("ptr", arguments, i))
        out.call("call_python", kernel(out), arguments, len(operands))
        region.body.fail_if("true")


def _number(native: Native) -> Element:
    assert isinstance(native, Element)
    return native
