"""Lower a graph, with its regions, to the body of one native function.

Numbers live in registers. Dense arrays and all other values are Python objects: each object that a region makes has a
slot that owns a reference, released after the last use. A last use that needs a reference takes over this one. On
failure all slots are released and the function returns NULL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.analysis.contiguity import base_of, is_block
from autoconv.backends.llvm.analysis.index_maps import write_element_source
from autoconv.backends.llvm.analysis.lent_loads import strides_of
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.codegen.context import Launches
from autoconv.backends.llvm.codegen.fallback import KernelCalls
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.loops.bounds_checks import scatter_base, write_position_checks
from autoconv.backends.llvm.codegen.loops.concat import ConcatWriter
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter
from autoconv.backends.llvm.codegen.loops.row_blocks import write_blocks
from autoconv.backends.llvm.codegen.loops.row_chain import RowChainWriter
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.memory.step_loops import element_address
from autoconv.backends.llvm.codegen.parallel.launch import write_concurrent
from autoconv.backends.llvm.codegen.registry import lower
from autoconv.backends.llvm.codegen.scalars import element_at
from autoconv.backends.llvm.codegen.values import Memory, Native, Object, RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, linear_offset
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load
from autoconv.backends.llvm.ir.types import memory, register
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.schedule.pipeline import schedule
from autoconv.backends.llvm.schedule.plan import WHOLE, Item, Plan
from autoconv.backends.llvm.schedule.stack_buffers import is_local
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import Type


class Region(KernelCalls):
    """Write the body of one graph.

    `arguments` are the native values of its parameters; the region releases an Object with a slot. `call_sites` are the
    enclosing calls, whose spans are added to errors.
    """

    def __init__(self, body: Body, plan: Plan, arguments: Sequence[Native], owners: tuple[Node, ...]) -> None:
        self.body = body
        self.out = body.out
        self.graph = graph = plan.graph
        self.call_sites = owners
        self._values: dict[Value, Native] = {}
        self._memory_slots: list[tuple[str, Type]] = []  # slots of memory that views refer to, released at the end
        for value, native in zip(graph.parameters, arguments, strict=True):
            self.set(value, native)
        self.checked_positions: dict[Node, list[Any]] = {}
        self._dropped: list[tuple[str, Type]] = []
        self.launches: Launches | None = None
        self._plan = plan
        self.remaining_uses = Counter(value for item in self._plan.items for value in self._reads(item))
        self.remaining_uses.update(graph.outputs)
        for value in graph.parameters:
            self._release_if_unused(value)
        for item in self._plan.items:
            self.write(item)
            for slot, type_ in self._dropped:
                self.body.release_or_keep(slot, type_)
            self._dropped.clear()
            for value, count in Counter(self._reads(item)).items():
                self._subtract_uses(value, count)
            for node in item.nodes:
                for value in node.results:
                    if value in self._values:
                        self._release_if_unused(value)

    def _reads(self, item: Item) -> list[Value]:
        if item.members:
            return [value for member in item.members for value in self._reads(member)]
        single = item.nodes[0]
        if self._plan.classes[single] not in WHOLE:
            return item.reads
        inputs = self._plan.inputs(single)
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
        """Return the address of an array's first element; for a contiguous view, its address in the source."""
        if value in self._plan.views:
            value = base_of(value, self._plan.views)
        if value in self._plan.views and value.node is not None:
            node, kind = value.node, value.type
            place = write_element_source(
                RegisterWriter(self), node, (0,) * len(sizes(kind)), self.checked_positions.get(node, [])
            )
            assert not isinstance(place, Element) and is_block(value), node
            source, index, _ = place
            offset = linear_offset(self.out, index, sizes(source.type))
            return self.out.gep(memory(kind.dtype), self.data(source), offset, inbounds=False)  # type: ignore[union-attr]
        return self.address(self.object(value))

    def is_lent(self, value: Value) -> bool:
        return value in self._plan.lent

    def lent_array(self, value: Value) -> Memory:
        """Return the array in memory from which a value is read in place."""
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
        if array.memory:
            return array.memory
        address = self.out.gep("i8", array.ir, abi.DATA)
        return self.out.load("ptr", address)

    def _subtract_uses(self, value: Value, times: int) -> None:
        self.remaining_uses[value] -= times
        self._release_if_unused(value)

    def _release_if_unused(self, value: Value) -> None:
        found = self._values.get(value)
        if self.remaining_uses[value] > 0 or not isinstance(found, Object):
            return
        if found.memory:
            self.body.locals.give(found.memory)
        elif found.slot is not None:
            self.body.release_or_keep(found.slot, found.original_type or value.type)

    def take_reference(self, value: Value, last: bool) -> str:
        """Return a new reference to an object; on its last use, the reference that its slot owned."""
        found = self.object(value)
        if last and found.slot is not None:
            self.out.store("ptr", "null", found.slot)
        else:
            self.out.call("retain", found.ir)
        return found.ir

    def results(self) -> list[Native]:
        """Return the outputs: numbers, and new references to objects, without slots."""
        found: list[Native] = []
        for value in self.graph.outputs:
            native = self._values[value]
            if isinstance(native, Object):
                self.remaining_uses[value] -= 1
                native = Object(self.take_reference(value, self.remaining_uses[value] == 0))
            found.append(array_view.with_new_reference(self, native) if isinstance(native, Memory) else native)
        for slot, type_ in self._memory_slots:
            self.body.release_or_keep(slot, type_)
        return found

    def is_last_reader(self, item: Item, value: Value) -> bool:
        """Return whether `item` holds the last use of `value`, by exactly one node."""
        return self.remaining_uses[value] == 1 and self._plan.reads(item, value) == 1

    def set(self, value: Value, native: Native) -> None:
        if isinstance(native, Object) and representation.is_memory(value.type):
            native = array_view.ndarray_memory(self, native, value.type)  # type: ignore[arg-type]
        self._values[value] = native
        if isinstance(native, Element) and value in self.body.known_ranges:
            self.body.record_range(native, self.body.known_ranges[value])
        if isinstance(native, Memory) and native.owner.slot is not None:
            made = value.node is not None and value.node.op.name in ("array_new", "array_of")
            type_ = array_view.as_tensor_type(value.type) if made else value.type
            self._memory_slots.append((native.owner.slot, type_))

    def native(self, value: Value) -> Native:
        return self._values[value]

    def write_nested(
        self, graph: Graph, arguments: Sequence[Native], owners: tuple[Node, ...] | None = None
    ) -> list[Native]:
        """Write a region of a node and return its results."""
        return write_region(self.body, graph, arguments, self.call_sites if owners is None else owners).results()

    def write_function(self, body: Body, graph: Graph, arguments: Sequence[Native]) -> Region:
        """Write a graph as the body of a native function of its own."""
        return write_region(body, graph, arguments)

    # ---- items

    def write(self, item: Item) -> None:
        if item.is_concurrent:
            write_concurrent(self, item)
            return
        if item.members:
            if not write_blocks(self, self._plan, item):
                for member in item.members:
                    self.write(member)
            return
        self.body.module.node = item.nodes[0]
        kind = self._plan.classes[item.nodes[0]]
        if item.shape is not None or kind == "join":
            self._write_loops(item)
        elif kind == "kernel":
            self.write_kernel(item.nodes[0])
        else:
            lower(self, item.nodes[0], kind)

    def check_positions(self, node: Node) -> None:
        """Normalise the dynamic indices of a view; the kernel raises for one that is out of range."""
        if node not in self.checked_positions:
            self.checked_positions[node] = write_position_checks(self, node)

    def raise_if(self, node: Node, outside: str) -> None:
        """Call the node's kernel, which raises, if the i1 is true."""
        with self.out.unlikely(outside):
            self.call_kernel(node, rarely=True)  # which raises

    def raise_and_exit_if(self, node: Node, outside: str) -> None:
        """Call the node's kernel, which raises, and leave, if the i1 is true.

        No path comes back: numbers that were loaded before stay known.
        """
        cold, go_on = self.out.label("outside"), self.out.label("inside")
        self.out.branch_if(outside, cold, go_on, unlikely=True)
        self.out.begin(cold)
        self.call_kernel(node, rarely=True)
        self.out.branch(self.body.failure_label)
        self.out.begin(go_on)

    def element(self, value: Value, index: Index) -> Element:
        """Return the number at `index` of a value, through views."""
        b = RegisterWriter(self)
        if is_scalar(value.type):
            return self.number(value)
        if value in self._plan.views:
            assert value.node is not None
            picks = self.checked_positions.get(value.node, [])
            return element_at(self, write_element_source(b, value.node, index, picks))
        dtype = value.dtype
        if value in self._plan.lent:
            return load(b, dtype, element_address(self.out, self.lent_array(value), index), 0)
        return load(b, dtype, self.data(value), linear_offset(self.out, index, sizes(value.type)))

    def _write_loops(self, item: Item) -> None:
        for node in item.nodes:
            if self._plan.classes[node] in ("copy", "scatter"):
                self.check_positions(node)
        loops = ConcatWriter if item.shape is None else RowChainWriter if item.phases else LoopNestWriter
        kernel = loops(self.body.module, self._plan, item, self.checked_positions)
        self.body.module.has_loops = True
        cells, arguments = self.loop_arguments(item, kernel)
        text = ", ".join(arguments)
        rare = self.launch(kernel.name, arguments)
        if kernel.has_rare and item.nodes[0].effects and self._plan.classes[item.nodes[0]] == "element":
            self.call_kernel_if(item.nodes[0], rare)
        elif kernel.has_rare:
            with self.out.unlikely(rare):
                self.out.new(f"call i1 @{kernel.careful_name}({text})")
        b = RegisterWriter(self)
        for value, cell in cells.items():
            self.set(value, load(b, value.dtype, cell, 0))

    def launch(self, function: str, arguments: Sequence[str], returns_flag: bool = True) -> str:
        """Call a long-running function, or add it to the concurrent ones; return its i1 result, if it has one."""
        if self.launches is not None and self.launches.cut is None:
            return self.launches.add(function, arguments, returns_flag)
        text = f"@{function}({', '.join(arguments)})"
        if returns_flag:
            return self.out.new(f"call i1 {text}")
        self.out.line(f"call void {text}")
        return ""

    def loop_arguments(self, item: Item, kernel: LoopNestWriter) -> tuple[dict[Value, str], list[str]]:
        """Allocate the loops' results; return the cells of scalar ones, and the arguments of the loops' function."""
        arguments = []
        for value in kernel.arguments:
            if is_scalar(value.type):
                arguments.append(f"{register(value.dtype)} {self.number(value).ir}")
            elif value in self._plan.lent:
                array = self.lent_array(value)
                arguments.append(f"ptr {array.pointer}")
                pairs = zip(array.strides, strides_of(value), strict=True)
                arguments += [f"i64 {stride}" for stride, known in pairs if known is None]
            else:
                arguments.append(f"ptr {self.data(value)}")
        for view in kernel.checked_views:
            arguments += [f"i64 {pick}" for pick in self.checked_positions[view] if isinstance(pick, str)]
        cells: dict[Value, str] = {}
        for value in item.stored:
            if is_scalar(value.type):
                cells[value] = self.out.alloca(memory(value.dtype))
                arguments.append(f"ptr {cells[value]}")
            else:
                scatter = value.node is not None and self._plan.classes[value.node] == "scatter"
                place = self.body.locals.take(value.type) if is_local(self._plan, value) else None
                made = Object("", memory=place) if place is not None else None
                self.set(value, scatter_base(self, item, value) if scatter else made or self.new_array(value.type))
                arguments.append(f"ptr {self.data(value)}")
        return cells, [*arguments, *(f"i64 {size}" for size in self.body.module.sizes)]

    def call_kernel_if(self, node: Node, rare: str) -> None:
        """Call the op's kernel if the i1 `rare` is true. It raises, or its results replace those of native code."""
        out, fast = self.out, [self.object(value) for value in node.results]
        before = out.block
        with out.unlikely(rare):
            slow = [native for native in self.call_kernel(node, rarely=True) if isinstance(native, Object)]
            for old, new in zip(fast, slow, strict=True):
                self.body.release(old.slot)
                out.store("ptr", "null", new.slot)
                out.store("ptr", new.ir, old.slot)
            after = out.block
        for value, old, new in zip(node.results, fast, slow, strict=True):
            found = out.phi((Operand.of(old.ir, "ptr"), before), (new.ir, after))
            self.set(value, Object(found, old.slot))

    def is_view(self, value: Value) -> bool:
        return value in self._plan.views

    def patches(self, node: Node) -> Patches | None:
        """Return the patches that a matrix product reads, if any."""
        return self._plan.patches.get(node)

    def release_after_item(self, made: Object, type_: Type) -> None:
        """Release, after the present item, an object that no value refers to."""
        assert made.slot is not None
        self._dropped.append((made.slot, type_))

    def new_array(self, type_: Type) -> Object:
        """Make an uninitialised array of the type."""
        return self.body.new_array(type_)


def write_region(body: Body, graph: Graph, arguments: Sequence[Native], owners: tuple[Node, ...] = ()) -> Region:
    """Schedule a graph, and write it into a native function."""
    sizes_outside = body.module.sizes
    outside = {given.ir: body.ranges.get(given.ir) for given in arguments if isinstance(given, Element)}
    positions, bounds = body.normalised_positions, body.slice_bounds
    body.normalised_positions = positions.new_child()  # checks of this region do not hold elsewhere
    body.slice_bounds = bounds.new_child()
    region = Region(body, schedule(graph, body.classes), arguments, owners)
    body.normalised_positions, body.slice_bounds = positions, bounds
    body.module.sizes = sizes_outside  # sizes that the region computes are not in scope after it
    for register_, range_ in outside.items():  # in the region, a condition may have restricted it
        body.ranges.pop(register_, None)
        if range_ is not None:
            body.ranges[register_] = range_
    return region
