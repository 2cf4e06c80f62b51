"""Lower an interchanged loop: for each block of elements, all iterations run while the block is in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, split_routine
from autoconv.backends.llvm.ir.element_rules import apply_rule
from autoconv.backends.llvm.ir.index_arith import plus, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.types import memory_type, register
from autoconv.backends.llvm.schedule.cost import cost
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.region_flow import state_size

_BLOCK_BYTES = 256  # bytes of a block of one array: four of the longest vectors
_CALL_WORK_LIMIT = 20_000_000  # work of one call in units of 0.05 ns, about 1 ms: a call cannot be interrupted
_ASSUMED_TRIP_COUNT = 8  # trip count that is assumed to decide whether several threads share the blocks


def write_interchanged_loop(region: LoweringContext, node: Node) -> None:
    """Write the loop in blocks; its first capture is the trip count. Long loops run in several calls.

    The first value of the state is the trip counter, which needs no code.
    """
    out, (_, body) = region.out, node.regions
    state_count = state_size(node)
    state, captures = node.inputs[1:state_count], node.inputs[state_count + 1 :]
    blocked_loop = _BlockedLoop(region, node)
    trip_count = region.number(node.inputs[state_count]).ir
    results = [region.new_array(value.type) for value in node.results[1:]]
    targets = [region.address(array) for array in results]
    capture_operands = [
        region.number(value).ir if is_scalar(value.type) else region.data(value) for value in captures
    ]
    sources = [region.data(value) for value in state]
    trips_left = out.alloca("i64")
    iterations_per_call = max(1, _CALL_WORK_LIMIT // (blocked_loop.size * sum(map(cost, body.nodes))))

    def run_iterations(inputs: Sequence[str], remaining_count: str) -> str:
        """Call the loop for as many iterations as one call may take; return how many are left."""
        iterations = out.intrinsic("smin", remaining_count, iterations_per_call)
        out.call(blocked_loop.name, *inputs, *capture_operands, *targets, iterations)
        return out.op("sub", remaining_count, iterations)

    out.store("i64", run_iterations(sources, trip_count), trips_left)
    with out.while_(lambda: out.icmp("sgt", out.load("i64", trips_left), 0)):
        region.body.fail_if(out.call("pause"))  # polls for an interrupt; each call took about a millisecond
        out.store("i64", run_iterations(targets, out.load("i64", trips_left)), trips_left)
    region.set(node.results[0], ElementWriter(out).wrap(int64, trip_count))
    for value, array in zip(node.results[1:], results, strict=True):
        region.set(value, array)


class _BlockedLoop:
    """The native function `name`, which runs a number of iterations of the loop for all blocks.

    Its parameters are sources, captures, targets and the number of iterations. A source may be the same memory as its
    target. `size` is the number of elements of an array.
    """

    def __init__(self, region: LoweringContext, node: Node) -> None:
        state_count = state_size(node)
        self._body = node.regions[1]
        self._state, self._captures = self._body.parameters[1:state_count], self._body.parameters[state_count + 1 :]
        self.size = math.prod(sizes(self._state[0].type))
        largest_itemsize = max(value.dtype.size for value in self._state)
        block_size = min(_BLOCK_BYTES // largest_itemsize, self.size)
        parameters = [f"ptr %from{i}" for i in range(len(self._state))]
        parameters += [
            f"{register(value.dtype)} %c{i}" if is_scalar(value.type) else f"ptr noalias readonly %c{i}"
            for i, value in enumerate(self._captures)
        ]
        parameters += [*(f"ptr %to{i}" for i in range(len(self._state))), "i64 %times"]
        work = self.size * (sum(map(cost, self._body.nodes)) + len(self._state)) * _ASSUMED_TRIP_COUNT
        block_count = self.size // block_size
        blocks_routine = PartRoutine(region, parameters)
        self._write_blocks(blocks_routine, "%first", "%last", block_size, 0)
        full_blocks_function = split_routine(region, parameters, blocks_routine, block_count, work)
        remainder = self.size % block_size
        if not remainder:
            self.name = full_blocks_function
            return
        routine = Routine(region, parameters)
        routine.out.call(full_blocks_function, *(parameter.name for parameter in routine.out.signature.parameters))
        self._write_blocks(routine, "0", "1", remainder, block_count * block_size)
        self.name = routine.finish()

    def _write_blocks(self, routine: Routine, first: str, last: str, block_size: int, start: int) -> None:
        """Write the loop over the blocks from `first` to `last`; block 0 begins at the element `start`.

        `first` and `last` are numbers, or registers, such as the parameters that PartRoutine adds.
        """
        out, b = routine.out, _LoopElementWriter(routine.out)
        buffers = [out.alloca(f"[{block_size} x {memory_type(value.dtype)}], align 64") for value in self._state]
        with out.loop(first, last) as block:
            base = plus(out, times(out, block, block_size), start)
            for i, value in enumerate(self._state):
                with out.loop("0", str(block_size)) as j:
                    store(b, load(b, value.dtype, f"%from{i}", plus(out, base, j)), buffers[i], j)
            with out.loop("0", "%times"), out.loop("0", str(block_size), in_registers=True) as j:
                self._write_iteration(b, buffers, base, j)
            for i, value in enumerate(self._state):
                with out.loop("0", str(block_size)) as j:
                    store(b, load(b, value.dtype, buffers[i], j), f"%to{i}", plus(out, base, j))

    def _write_iteration(self, b: _LoopElementWriter, buffers: Sequence[str], base: Any, j: Any) -> None:
        """Write one iteration for the element `j` of a block that begins at the element `base`.

        `buffers` have the blocks of the state. All loads precede the first store.
        """
        elements: dict[Value, Element] = {}
        for value, buffer in zip(self._state, buffers, strict=True):
            elements[value] = load(b, value.dtype, buffer, j)
        for i, value in enumerate(self._captures):
            dtype: Any = value.dtype
            if is_scalar(value.type):
                elements[value] = b.wrap(dtype, f"%c{i}")
            else:
                elements[value] = load(b, dtype, f"%c{i}", plus(b.out, base, j))
        for node in self._body.nodes:
            (result,) = node.results
            if self._body.parameters[0] in node.inputs:  # it increments the trip counter, which needs no code
                continue
            if node.op.name == "constant":
                elements[result] = b.constant(node.attributes["value"].item(), result.dtype)
            else:
                elements[result] = apply_rule(b, node, [elements[value] for value in node.inputs])
        for output, buffer in zip(self._body.outputs[1:], buffers, strict=True):
            store(b, elements[output], buffer, j)


class _LoopElementWriter(ElementWriter):
    """A writer of elements in a loop, which LLVM vectorises only if it calls no library functions."""

    avoids_library_calls = True
