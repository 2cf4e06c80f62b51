"""Lower a graph, with its regions, to the body of one native function.

Numbers are in registers. Dense arrays and all other values are Python objects. Each object that a region creates has a
slot, a cell on the stack that owns the reference. The last use either takes over the reference, or the slot is released
after it. On failure, all slots are released and the function returns NULL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.analysis.contiguity import base_of, is_contiguous_part
from autoconv.backends.llvm.analysis.index_maps import write_element_source
from autoconv.backends.llvm.analysis.lent_loads import strides_of
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.codegen.context import Launches
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.kernel_calls import KernelCalls
from autoconv.backends.llvm.codegen.loops.bounds_checks import scatter_base, write_position_checks
from autoconv.backends.llvm.codegen.loops.concat import ConcatWriter
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter
from autoconv.backends.llvm.codegen.loops.row_blocks import write_blocks
from autoconv.backends.llvm.codegen.loops.row_chain import RowChainWriter
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.memory.step_loops import element_address
from autoconv.backends.llvm.codegen.parallel.launch import write_concurrent
from autoconv.backends.llvm.codegen.registry import lower
from autoconv.backends.llvm.codegen.scalars import load_source_element
from autoconv.backends.llvm.codegen.values import Memory, Native, Object, RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, linear_offset
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load
from autoconv.backends.llvm.ir.types import memory_type, register
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.schedule.pipeline import schedule
from autoconv.backends.llvm.schedule.plan import WHOLE_OPERAND_CLASSES, Item, Plan
from autoconv.backends.llvm.schedule.stack_buffers import is_on_stack
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import Type


class Region(KernelCalls):
    """A writer of the code of one graph; the constructor writes the code.

    `arguments` are the representations of the graph's parameters; those that are an Object with a slot are released
    after their last use. `enclosing_calls` are the enclosing calls, whose spans are added to errors.
    """

    def __init__(self, body: Body, plan: Plan, arguments: Sequence[Native], enclosing_calls: tuple[Node, ...]) -> None:
        self.body = body
        self.out = body.out
        self.graph = graph = plan.graph
        self.enclosing_calls = enclosing_calls
        self._values: dict[Value, Native] = {}
        self._memory_slots: list[tuple[str, Type]] = []  # slots of arrays that views may use until the end
        for value, native in zip(graph.parameters, arguments, strict=True):
            self.set(value, native)
        self.checked_positions: dict[Node, list[Any]] = {}  # node -> its indices, normalised and checked
        self._released_after_item: list[tuple[str, Type]] = []  # slots of objects that belong to no value
        self.launches: Launches | None = None  # set while `write_concurrent` collects calls that it runs in threads
        self._plan = plan
        # Value -> number of its uses for which no code is written yet.
        self.remaining_uses = Counter(value for item in self._plan.items for value in self._read_values(item))
        self.remaining_uses.update(graph.outputs)
        for value in graph.parameters:
            self._release_if_unused(value)
        for item in self._plan.items:
            self.write(item)
            body.module.compile_ahead()  # the finished functions of a large module, while the others are written
            for slot, type_ in self._released_after_item:
                self.body.release_or_keep(slot, type_)
            self._released_after_item.clear()
            for value, count in Counter(self._read_values(item)).items():
                self._subtract_uses(value, count)
            for node in item.nodes:
                for value in node.results:
                    if value in self._values:
                        self._release_if_unused(value)

    def _read_values(self, item: Item) -> list[Value]:
        """Return the values that an item uses, with repetitions; a view among them is replaced by its bases."""
        if item.members:
            return [value for member in item.members for value in self._read_values(member)]
        node = item.nodes[0]
        if self._plan.classes[node] not in WHOLE_OPERAND_CLASSES:
            return item.reads
        inputs = self._plan.inputs(node)
        return [base for value in inputs for base, _ in self._plan.bases(value) if base not in self._plan.views]

    # ---- values and their references

    def number(self, value: Value) -> Element:
        result = self._values[value]
        assert isinstance(result, Element), value
        return result

    def object(self, value: Value) -> Object:
        result = self._values[value]
        assert isinstance(result, Object), value
        return result

    def data(self, value: Value) -> str:
        """Return the address of the first element of an array or a contiguous view."""
        if value in self._plan.views:
            value = base_of(value, self._plan.views)
        if value in self._plan.views and value.node is not None:  # a contiguous part of another array
            node, type_ = value.node, value.type
            source_element = write_element_source(
                RegisterWriter(self), node, (0,) * len(sizes(type_)), self.checked_positions.get(node, [])
            )
            assert not isinstance(source_element, Element) and is_contiguous_part(value), node
            source = source_element.array
            offset = linear_offset(self.out, source_element.index, sizes(source.type))
            return self.out.gep(memory_type(type_.dtype), self.data(source), offset, inbounds=False)  # type: ignore[union-attr]
        return self.address(self.object(value))

    def is_lent(self, value: Value) -> bool:
        return value in self._plan.lent

    def lent_array(self, value: Value) -> Memory:
        """Return the array in memory from which a lent value was loaded."""
        result = self._values[value]
        assert isinstance(result, Memory), value
        return result

    def memory_owner(self, value: Value) -> Object:
        """Return the object that owns the memory of an array or view."""
        while value not in self._values and value.node is not None:
            value = value.node.inputs[0]
        return self.object(value)

    def address(self, array: Object) -> str:
        """Return the address of an array's first element."""
        known_address = array.memory or array.address
        if known_address:
            return known_address
        address = self.out.gep("i8", array.ir, abi.DATA)
        return self.out.load("ptr", address)

    def _subtract_uses(self, value: Value, count: int) -> None:
        """Count uses whose code is written; after the last one, release the value."""
        self.remaining_uses[value] -= count
        self._release_if_unused(value)

    def _release_if_unused(self, value: Value) -> None:
        """Release the object or the stack buffer of a value after its last use."""
        native = self._values.get(value)
        if self.remaining_uses[value] > 0 or not isinstance(native, Object):
            return
        if native.memory:
            self.body.stack_buffers.release(native.memory)
        elif native.slot is not None:
            self.body.release_or_keep(native.slot, native.original_type or value.type)

    def take_reference(self, value: Value, is_last_use: bool) -> str:
        """Return an owned reference to an object; at its last use, this reference is taken from its slot."""
        object_ = self.object(value)
        if is_last_use and object_.slot is not None:
            self.out.store("ptr", "null", object_.slot)
        else:
            self.out.call("retain", object_.ir)
        return object_.ir

    def results(self) -> list[Native]:
        """Return the outputs: numbers, and objects with new references that no slot owns. Called once, at the end."""
        results: list[Native] = []
        for value in self.graph.outputs:
            native = self._values[value]
            if isinstance(native, Object):
                self.remaining_uses[value] -= 1
                native = Object(self.take_reference(value, self.remaining_uses[value] == 0))
            results.append(array_view.with_new_reference(self, native) if isinstance(native, Memory) else native)
        for slot, type_ in self._memory_slots:
            self.body.release_or_keep(slot, type_)
        # Each Element refers to this region by its writer; without these cycles, no garbage collection is needed.
        self._values.clear()
        return results

    def is_last_reader(self, item: Item, value: Value) -> bool:
        """Return whether `item` holds the last use of `value`, by exactly one node."""
        return self.remaining_uses[value] == 1 and self._plan.count_reads(item, value) == 1

    def set(self, value: Value, native: Native) -> None:
        """Define a value by its representation; an ndarray that is memory in the graph becomes a Memory."""
        if isinstance(native, Object) and representation.is_memory(value.type):
            native = array_view.ndarray_memory(self, native, value.type)  # type: ignore[arg-type]
        self._values[value] = native
        if isinstance(native, Element) and value in self.body.value_ranges:
            self.body.record_range(native, self.body.value_ranges[value])
        if isinstance(native, Memory) and native.owner.slot is not None:
            # Memory that this function allocates may become a spare array, which is found by its tensor type.
            is_new = value.node is not None and value.node.op.name in ("array_new", "array_of")
            type_ = array_view.as_tensor_type(value.type) if is_new else value.type
            self._memory_slots.append((native.owner.slot, type_))

    def representation_of(self, value: Value) -> Native:
        return self._values[value]

    def write_nested(
        self, graph: Graph, arguments: Sequence[Native], enclosing_calls: tuple[Node, ...] | None = None
    ) -> list[Native]:
        """Write a region of a node at the current position, and return its results.

        `enclosing_calls` replace the call sites of this region, which are the default.
        """
        calls = self.enclosing_calls if enclosing_calls is None else enclosing_calls
        return write_region(self.body, graph, arguments, calls).results()

    def write_function(self, body: Body, graph: Graph, arguments: Sequence[Native]) -> Region:
        """Write a graph as the body of a separate native function."""
        return write_region(body, graph, arguments)

    # ---- items

    def write(self, item: Item) -> None:
        """Write the code of an item: of its members concurrently, in blocks or in order, or of its own nodes.
        """
        if item.is_concurrent:
            write_concurrent(self, item)
            return
        if item.members:
            if not write_blocks(self, self._plan, item):
                for member in item.members:
                    self.write(member)
            return
        self.body.module.node = item.nodes[0]
        lowering_class = self._plan.classes[item.nodes[0]]
        if item.shape is not None or lowering_class == "join":
            self._write_loops(item)
        elif lowering_class == "kernel":
            self.write_kernel(item.nodes[0])
        else:
            lower(self, item.nodes[0], lowering_class)

    def check_positions(self, node: Node) -> None:
        """Check and normalise the dynamic indices of a view; the kernel raises if one is out of range."""
        if node not in self.checked_positions:
            self.checked_positions[node] = write_position_checks(self, node)

    def raise_if(self, node: Node, condition: str) -> None:
        """Call the node's kernel, which raises, if the i1 `condition` is true.

        In the code, the path with the call joins the path without it.
        """
        with self.out.unlikely(condition):
            self.call_kernel(node, is_rare=True)

    def raise_and_leave_if(self, node: Node, condition: str) -> None:
        """Call the node's kernel, which raises, if the i1 `condition` is true; then leave the function.

        The code of the call never continues after it, so LLVM may keep numbers in registers that were loaded before.
        """
        raise_label, continue_label = self.out.label("outside"), self.out.label("inside")
        self.out.branch_if(condition, raise_label, continue_label, unlikely=True)
        self.out.begin(raise_label)
        self.call_kernel(node, is_rare=True)
        self.out.branch(self.body.failure_label)
        self.out.begin(continue_label)

    def element(self, value: Value, index: Index) -> Element:
        """Load the element at `index` of a value, through views."""
        b = RegisterWriter(self)
        if is_scalar(value.type):
            return self.number(value)
        if value in self._plan.views:
            assert value.node is not None
            positions = self.checked_positions.get(value.node, [])
            return load_source_element(self, write_element_source(b, value.node, index, positions))
        dtype = value.dtype
        if value in self._plan.lent:
            return load(b, dtype, element_address(self.out, self.lent_array(value), index), 0)
        return load(b, dtype, self.data(value), linear_offset(self.out, index, sizes(value.type)))

    def _write_loops(self, item: Item) -> None:
        """Write a native function with an item's loops, and its call.

        The function returns an i1: true if an element rule met one of its rare cases. Then the kernel, or the same
        loops in a careful form, compute the results anew.
        """
        for node in item.nodes:
            if self._plan.classes[node] in ("copy", "scatter"):
                self.check_positions(node)
        writer_class = ConcatWriter if item.shape is None else RowChainWriter if item.phases else LoopNestWriter
        writer = writer_class(self.body.module, self._plan, item, self.checked_positions)
        self.body.module.has_loops = True
        cells, arguments = self.loop_arguments(item, writer)
        rare_flag = self.launch(writer.name, arguments)
        may_raise = item.nodes[0].effects and self._plan.classes[item.nodes[0]] == "element"
        if writer.has_rare and may_raise:
            self.call_kernel_if(item.nodes[0], rare_flag)  # only the kernel raises the op's error
        elif writer.has_rare:
            careful_arguments = arguments[: len(arguments) - len(writer.sizes)]
            careful_arguments += [f"i64 {size}" for size in writer.careful_sizes]
            with self.out.unlikely(rare_flag):
                self.out.new(f"call i1 @{writer.careful_name}({', '.join(careful_arguments)})")
        b = RegisterWriter(self)
        for value, cell in cells.items():
            self.set(value, load(b, value.dtype, cell, 0))

    def launch(self, function: str, arguments: Sequence[str], returns_flag: bool = True) -> str:
        """Call a long-running function, and return its i1, or "" if it returns nothing.

        While `launches` collects calls, the first call of an item is only added to it.
        """
        if self.launches is not None and not self.launches.has_call:
            return self.launches.add(function, arguments, returns_flag)
        text = f"@{function}({', '.join(arguments)})"
        if returns_flag:
            return self.out.new(f"call i1 {text}")
        self.out.line(f"call void {text}")
        return ""

    def loop_arguments(self, item: Item, writer: LoopNestWriter) -> tuple[dict[Value, str], list[str]]:
        """Allocate the results of loops; return the cells of scalar results, and the arguments of the function."""
        arguments = []
        for value in writer.arguments:
            if is_scalar(value.type):
                arguments.append(f"{register(value.dtype)} {self.number(value).ir}")
            elif value in self._plan.lent:
                array = self.lent_array(value)
                arguments.append(f"ptr {array.pointer}")
                pairs = zip(array.strides, strides_of(value), strict=True)
                arguments += [f"i64 {stride}" for stride, known_stride in pairs if known_stride is None]
            else:
                arguments.append(f"ptr {self.data(value)}")
        for node in writer.checked_nodes:
            positions = self.checked_positions[node]
            arguments += [f"i64 {position}" for position in positions if isinstance(position, str)]
        cells: dict[Value, str] = {}
        for value in item.stored:
            if is_scalar(value.type):
                cells[value] = self.out.alloca(memory_type(value.dtype))
                arguments.append(f"ptr {cells[value]}")
            else:
                buffer = self.body.stack_buffers.allocate(value.type) if is_on_stack(self._plan, value) else None
                if value.node is not None and self._plan.classes[value.node] == "scatter":
                    self.set(value, scatter_base(self, item, value))
                else:
                    self.set(value, self.new_array(value.type) if buffer is None else Object("", memory=buffer))
                arguments.append(f"ptr {self.data(value)}")
        return cells, [*arguments, *(f"i64 {size}" for size in writer.sizes)]

    def call_kernel_if(self, node: Node, condition: str) -> None:
        """Call the op's kernel if the i1 `condition` holds; its results then replace those of native code."""
        out, native_results = self.out, [self.object(value) for value in node.results]
        native_block = out.block
        with out.unlikely(condition):
            kernel_results = [native for native in self.call_kernel(node, is_rare=True) if isinstance(native, Object)]
            for native_result, kernel_result in zip(native_results, kernel_results, strict=True):
                self.body.release(native_result.slot)
                out.store("ptr", "null", kernel_result.slot)
                out.store("ptr", kernel_result.ir, native_result.slot)
            kernel_block = out.block
        for value, native_result, kernel_result in zip(node.results, native_results, kernel_results, strict=True):
            result = out.phi((Operand.of(native_result.ir, "ptr"), native_block), (kernel_result.ir, kernel_block))
            self.set(value, Object(result, native_result.slot))

    def is_view(self, value: Value) -> bool:
        return value in self._plan.views

    def patches(self, node: Node) -> Patches | None:
        """Return the patch matrix that a matrix product reads in place of its left operand, if any."""
        return self._plan.patches.get(node)

    def release_after_item(self, object_: Object, type_: Type) -> None:
        """Release an object that belongs to no value, after the current item."""
        assert object_.slot is not None
        self._released_after_item.append((object_.slot, type_))

    def new_array(self, type_: Type) -> Object:
        """Allocate an array whose elements are not set."""
        return self.body.new_array(type_)


def write_region(
    body: Body, graph: Graph, arguments: Sequence[Native], enclosing_calls: tuple[Node, ...] = ()
) -> Region:
    """Schedule a graph, and write its code into a native function."""
    outer_sizes = body.module.sizes
    registers = [argument.ir for argument in arguments if isinstance(argument, Element)]
    outer_ranges = {register_: body.ranges.get(register_) for register_ in registers}
    outer_positions, outer_bounds = body.normalised_positions, body.slice_bounds
    body.normalised_positions = outer_positions.new_child()  # the region's own checks do not hold outside of it
    body.slice_bounds = outer_bounds.new_child()
    region = Region(body, schedule(graph, body.classes), arguments, enclosing_calls)
    body.normalised_positions, body.slice_bounds = outer_positions, outer_bounds
    body.module.sizes = outer_sizes  # sizes that the region computes are not in scope after it
    for register_, range_ in outer_ranges.items():  # conditions in the region may have restricted the range
        body.ranges.pop(register_, None)
        if range_ is not None:
            body.ranges[register_] = range_
    return region
