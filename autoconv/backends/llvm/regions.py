"""A graph, its regions included, as the body of one native function.

Numbers live in registers. Arrays of known shape and everything else are Python objects: each that a region makes has
a slot that owns a reference, let go after its last use; whoever takes the last use takes the reference. Where
something fails, all slots are let go of and the function answers NULL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.block_code import write_blocks
from autoconv.backends.llvm.contiguous import base_of
from autoconv.backends.llvm.control import write_control
from autoconv.backends.llvm.fusion import WHOLE, Item, Plan
from autoconv.backends.llvm.indexing import scatter_base, write_guard
from autoconv.backends.llvm.joins import JoinText
from autoconv.backends.llvm.kernels import KernelText
from autoconv.backends.llvm.locals import is_local
from autoconv.backends.llvm.natives import write_whole
from autoconv.backends.llvm.patches import Patches
from autoconv.backends.llvm.positions import Index, linear
from autoconv.backends.llvm.products import write_matmul
from autoconv.backends.llvm.roles import is_array, is_scalar, sizes
from autoconv.backends.llvm.rows import RowsText
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, memory, register, store
from autoconv.backends.llvm.search import write_search
from autoconv.backends.llvm.stack_code import write_list_empty, write_list_pop, write_list_push
from autoconv.backends.llvm.updates import write_update
from autoconv.backends.llvm.values import Body, Native, Object, RegisterWriter
from autoconv.backends.llvm.views import viewed
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import Type
from autoconv.ops.elements import ELEMENTS

# Who writes the roles that are no part of this file.
_WRITERS: dict[str, Callable[[Any, Node], None]] = {
    "control": write_control, "matmul": write_matmul, "update": write_update, "search": write_search,
    "whole": write_whole,
    "list_empty": write_list_empty, "list_push": write_list_push, "list_pop": write_list_pop,
}  # fmt: skip


class Region:
    """Writes one graph; `outputs` are its results then. `arguments` are what its parameters stand for: an Object
    with a slot is the region's to let go of. `owners` are the calls around it, whose spans errors get."""

    def __init__(self, body: Body, graph: Graph, arguments: Sequence[Native], owners: tuple[Node, ...] = ()) -> None:
        self.body = body
        self.out = body.out
        self.graph = graph
        self.owners = owners
        self._values: dict[Value, Native] = dict(zip(graph.parameters, arguments, strict=True))
        self.picks: dict[Node, list[Any]] = {}
        self._dropped: list[tuple[str, Type]] = []
        self._plan = Plan(graph)
        self.uses = Counter(value for item in self._plan.items for value in self._reads(item))
        self.uses.update(graph.outputs)
        for value in graph.parameters:
            self._let_go_if_unused(value)
        for item in self._plan.items:
            self._write(item)
            for slot, type_ in self._dropped:
                self.body.let_go(slot, type_)
            self._dropped.clear()
            for value in dict.fromkeys(self._reads(item)):
                self._used(value, self._reads(item).count(value))
            for node in item.nodes:
                for value in node.results:
                    if value in self._values:
                        self._let_go_if_unused(value)

    def _reads(self, item: Item) -> list[Value]:
        if item.members:
            return [value for member in item.members for value in self._reads(member)]
        single = item.nodes[0]
        return list(self._plan.inputs(single)) if self._plan.roles[single] in WHOLE else item.reads

    # ---- values and their references

    def number(self, value: Value) -> Element:
        found = self._values[value]
        assert isinstance(found, Element), value
        return found

    def object(self, value: Value) -> Object:
        found = self._values[value]
        assert isinstance(found, Object), value
        return found

    def data(self, value: Value) -> str:
        """The address of an array's first element; of a contiguous view's, in what it looks at."""
        if value in self._plan.views:
            value = base_of(value, self._plan.views)
        return self.address(self.object(value))

    def address(self, array: Object) -> str:
        """Of its first element."""
        if array.memory:
            return array.memory
        address = self.out.new(f"getelementptr inbounds i8, ptr {array.ir}, i64 {abi.DATA}")
        return self.out.new(f"load ptr, ptr {address}")

    def _used(self, value: Value, times: int) -> None:
        self.uses[value] -= times
        self._let_go_if_unused(value)

    def _let_go_if_unused(self, value: Value) -> None:
        found = self._values.get(value)
        if self.uses[value] > 0 or not isinstance(found, Object):
            return
        if found.memory:
            self.body.locals.give(found.memory)
        elif found.slot is not None:
            self.body.let_go(found.slot, found.made_as or value.type)

    def take(self, value: Value, last: bool) -> str:
        """A new reference to an object; where this is its last use, the one that its slot owned."""
        found = self.object(value)
        if last and found.slot is not None:
            self.out.line(f"store ptr null, ptr {found.slot}")
        else:
            self.out.line(f"call void @retain(ptr {found.ir})")
        return found.ir

    def results(self) -> list[Native]:
        """The outputs: numbers, and new references to objects, without slots."""
        found: list[Native] = []
        for value in self.graph.outputs:
            native = self._values[value]
            if isinstance(native, Object):
                self.uses[value] -= 1
                native = Object(self.take(value, self.uses[value] == 0))
            found.append(native)
        return found

    def is_last_reader(self, item: Item, value: Value) -> bool:
        """Whether nothing after the item reads the value, and in it a single node."""
        return self.uses[value] == 1 and self._plan.reads(item, value) == 1

    def set(self, value: Value, native: Native) -> None:
        self._values[value] = native

    def native(self, value: Value) -> Native:
        return self._values[value]

    def inner(self, graph: Graph, arguments: Sequence[Native], owners: tuple[Node, ...] | None = None) -> list[Native]:
        """Writes a region of one of the nodes, and answers its results."""
        return Region(self.body, graph, arguments, self.owners if owners is None else owners).results()

    # ---- items

    def _write(self, item: Item) -> None:
        if item.members:
            if not write_blocks(self, self._plan, item):
                for member in item.members:
                    self._write(member)
            return
        if item.shape is not None:
            self._write_loops(item)
            return
        (node,) = item.nodes
        kind = self._plan.roles[node]
        if kind == "join":
            self._call_loops(item, JoinText(self.body.module, self._plan, item, self.picks))
            return
        if kind in _WRITERS:
            _WRITERS[kind](self, node)
        elif kind == "kernel":
            self.write_kernel(node)
        else:
            getattr(self, f"_write_{kind}")(node)

    def _write_scalar(self, node: Node) -> None:
        """By the op's element rule; where that says that something is out of the ordinary, by the kernel."""
        operands = [self.number(value) for value in node.inputs]
        (result,) = node.results
        cold, done = self.out.label("cold"), self.out.label("done")
        failing: list[str] = []

        def fail(condition: Element) -> None:
            go_on = self.out.label("fine")
            self.out.branch_if(condition.ir, cold, go_on, unlikely=True)
            self.out.begin(go_on)
            failing.append(go_on)

        b = RegisterWriter(self, fail)
        found = ELEMENTS[node.op.name](b, *operands, **node.attributes)
        if not failing:
            self.set(result, found)
            return
        fast = self.out.block
        self.out.branch(done)
        self.out.begin(cold)
        slow = self.call_kernel(node, rarely=True)[0]
        assert isinstance(slow, Element)
        after = self.out.block
        self.out.branch(done)
        self.out.begin(done)
        kind = register(found.dtype)
        self.set(
            result, b.wrap(found.dtype, self.out.new(f"phi {kind} [ {found.ir}, %{fast} ], [ {slow.ir}, %{after} ]"))
        )

    def _write_view(self, node: Node) -> None:
        self.guard(node)

    def _write_alias(self, node: Node) -> None:
        """The same object under another type: nobody reads more of it than its elements."""
        (result,) = node.results
        source = node.inputs[0]
        found = self.object(source)
        own = self.body.own(self.take(source, self.uses[source] == 1))
        self.set(result, replace(own, made_as=found.made_as or source.type))

    def guard(self, node: Node) -> None:
        """Makes the dynamic indices of a view positive; where one is out of range, the kernel says so."""
        if node not in self.picks:
            self.picks[node] = write_guard(self, node)

    def refuse(self, node: Node, outside: str) -> None:
        """Where the i1 holds, the node's kernel raises."""
        cold, fine = self.out.label("cold"), self.out.label("fine")
        self.out.branch_if(outside, cold, fine, unlikely=True)
        self.out.begin(cold)
        self.call_kernel(node, rarely=True)
        self.out.branch(fine)  # not reached: the kernel raises
        self.out.begin(fine)

    def _write_pick(self, node: Node) -> None:
        """A single element of an array."""
        self.guard(node)
        (result,) = node.results
        b = RegisterWriter(self)
        self.set(result, self._element_at(b, viewed(b, node, (), self.picks.get(node, []))))

    def _element_at(self, b: Any, place: Any) -> Element:
        if isinstance(place, Element):
            return place
        value, index, finish = place
        found = self.element(value, index)
        return finish(found) if finish is not None else found

    def element(self, value: Value, index: Index) -> Element:
        """The number at `index` of a value, looking through views."""
        b = RegisterWriter(self)
        if is_scalar(value.type):
            return self.number(value)
        if value in self._plan.views:
            assert value.node is not None
            return self._element_at(b, viewed(b, value.node, index, self.picks.get(value.node, [])))
        dtype = value.type.dtype  # type: ignore[union-attr]
        return load(b, dtype, self.data(value), linear(self.out, index, sizes(value.type)))

    def _write_loops(self, item: Item) -> None:
        for node in item.nodes:
            if self._plan.roles[node] in ("copy", "scatter"):
                self.guard(node)
        loops = RowsText if item.phases else KernelText
        self._call_loops(item, loops(self.body.module, self._plan, item, self.picks))

    def _call_loops(self, item: Item, kernel: KernelText) -> None:
        self.body.module.has_loops = True
        cells, arguments = self.loop_arguments(item, kernel)
        text = ", ".join(arguments)
        rare = self.out.new(f"call i1 @{kernel.name}({text})")
        if kernel.has_rare and item.nodes[0].effects and self._plan.roles[item.nodes[0]] == "element":
            self.ask_kernel(item.nodes[0], rare)
        elif kernel.has_rare:
            again, done = self.out.label("careful"), self.out.label("done")
            self.out.branch_if(rare, again, done, unlikely=True)
            self.out.begin(again)
            self.out.new(f"call i1 @{kernel.careful_name}({text})")
            self.out.branch(done)
            self.out.begin(done)
        b = RegisterWriter(self)
        for value, cell in cells.items():
            self.set(value, load(b, value.type.dtype, cell, 0))  # type: ignore[union-attr]

    def loop_arguments(self, item: Item, kernel: KernelText) -> tuple[dict[Value, str], list[str]]:
        """Makes what the loops store; answers the memory of single numbers among it, and what their function takes."""
        arguments = []
        for value in kernel.arguments:
            if is_scalar(value.type):
                arguments.append(f"{register(value.type.dtype)} {self.number(value).ir}")  # type: ignore[union-attr]
            else:
                arguments.append(f"ptr {self.data(value)}")
        for view in kernel.indices:
            arguments += [f"i64 {pick}" for pick in self.picks[view] if isinstance(pick, str)]
        cells: dict[Value, str] = {}
        for value in item.stored:
            if is_scalar(value.type):
                cells[value] = self.out.alloca(memory(value.type.dtype))  # type: ignore[union-attr]
                arguments.append(f"ptr {cells[value]}")
            else:
                scatter = value.node is not None and self._plan.roles[value.node] == "scatter"
                place = self.body.locals.take(value.type) if is_local(self._plan, value) else None
                made = Object("", memory=place) if place is not None else None
                self.set(value, scatter_base(self, item, value) if scatter else made or self.new_array(value.type))
                arguments.append(f"ptr {self.data(value)}")
        return cells, arguments

    def ask_kernel(self, node: Node, rare: str) -> None:
        """Where native code met something out of the ordinary: the op's kernel raises, or answers instead."""
        out, fast = self.out, [self.object(value) for value in node.results]
        before, cold, done = out.block, out.label("cold"), out.label("done")
        out.branch_if(rare, cold, done, unlikely=True)
        out.begin(cold)
        slow = [native for native in self.call_kernel(node, rarely=True) if isinstance(native, Object)]
        for old, new in zip(fast, slow, strict=True):
            self.body.release(old.slot or "")
            out.line(f"store ptr null, ptr {new.slot}")
            out.line(f"store ptr {new.ir}, ptr {old.slot}")
        after = out.block
        out.branch(done)
        out.begin(done)
        for value, old, new in zip(node.results, fast, slow, strict=True):
            found = out.new(f"phi ptr [ {old.ir}, %{before} ], [ {new.ir}, %{after} ]")
            self.set(value, Object(found, old.slot))

    def patches(self, node: Node) -> Patches | None:
        """Of a product."""
        return self._plan.patches.get(node)

    def drop_later(self, made: Object, type_: Type) -> None:
        """Lets go of an object that is no value's behind what is being written."""
        assert made.slot is not None
        self._dropped.append((made.slot, type_))

    def new_array(self, type_: Type) -> Object:
        """An array of that type, its elements not set."""
        return self.body.new_array(type_)

    def write_kernel(self, node: Node) -> None:
        name = node.op.name
        if name == "constant" or (name == "absent" and is_scalar(node.results[0].type)):
            self._write_constant(node)
            return
        if node.results and node.results[0] in self.body.stacks:
            _WRITERS[name](self, node)
            return
        for value, native in zip(node.results, self.call_kernel(node), strict=True):
            self.set(value, native)

    def _write_constant(self, node: Node) -> None:
        (result,) = node.results
        if is_scalar(result.type):
            number = np.asarray(node.attributes["value"]).item() if node.op.name == "constant" else 0
            dtype = result.type.dtype  # type: ignore[union-attr]
            self.set(result, RegisterWriter(self).constant(number, dtype))
        else:
            value = node.attributes["value"]
            if is_array(result.type):
                value = np.ascontiguousarray(value)
            self.set(result, Object(self.body.calls.object(value)(self.out)))

    def call_kernel(self, node: Node, rarely: bool = False) -> list[Native]:
        """The op's kernel, called as the Python function that it is; `rarely`: where native code cannot go on."""
        out, body = self.out, self.body
        arguments = out.alloca(f"[{max(len(node.inputs), 1)} x ptr]")
        boxes: list[str] = []
        for i, value in enumerate(node.inputs):
            native = self._values.get(value)
            if native is None:  # a view: it is looked at only, but the kernel wants to see it
                native = self._shown(value)
            if isinstance(native, Element):
                box = self.boxed(native)
                boxes.append(box.slot or "")
                native = box
            elif native.made_as is not None:  # the same memory under another shape
                native = self._reshaped(native, value.type)
                boxes.append(native.slot or "")
            place = out.new(f"getelementptr inbounds ptr, ptr {arguments}, i64 {i}")
            out.line(f"store ptr {native.ir}, ptr {place}")
        function = body.calls.kernel(node, self.owners, rarely)
        found = out.new(f"call ptr @call_python(ptr {function(out)}, ptr {arguments}, i64 {len(node.inputs)})")
        for slot in boxes:
            body.release(slot)
        body.check(out.new(f"icmp eq ptr {found}, null"))
        return self._unpacked(node, found)

    def _shown(self, value: Value) -> Object:
        """For a kernel that is about to raise: of a contiguous view what it is, else something of its shape."""
        base = base_of(value, self._plan.views)
        if base in self._values and is_array(base.type):
            return self._reshaped(self.object(base), value.type)
        zero = np.zeros((), value.type.dtype.numpy)  # type: ignore[union-attr]
        return Object(self.body.calls.object(np.broadcast_to(zero, sizes(value.type)))(self.out))

    def _reshaped(self, array: Object, type_: Type) -> Object:
        """The same elements as an object of that type's shape."""
        shape, out = sizes(type_), self.out
        function, argument = self.body.calls.object(lambda x: x.reshape(shape)), out.alloca("ptr")
        out.line(f"store ptr {array.ir}, ptr {argument}")
        made = out.new(f"call ptr @call_python(ptr {function(out)}, ptr {argument}, i64 1)")
        self.body.check(out.new(f"icmp eq ptr {made}, null"))
        return self.body.own(made)

    def boxed(self, element: Element) -> Object:
        """The number as an array without dimensions."""
        out = self.out
        descriptor = self.body.calls.object(element.dtype.numpy)
        made = out.new(f"call ptr @new_array(i32 0, ptr null, ptr {descriptor(out)})")
        self.body.check(out.new(f"icmp eq ptr {made}, null"))
        address = out.new(f"getelementptr inbounds i8, ptr {made}, i64 {abi.DATA}")
        pointer = out.new(f"load ptr, ptr {address}")
        store(ElementWriter(out), element, pointer, 0)
        return self.body.own(made)

    def _unpacked(self, node: Node, found: str) -> list[Native]:
        """The results, from the object that a kernel answered: the only one itself, several in a tuple."""
        out, body = self.out, self.body
        whole = body.own(found)
        natives: list[Native] = []
        if len(node.results) == 1:
            natives.append(self._held(node.results[0], whole))
            return natives
        body.module.declare("PyTuple_GetItem", "ptr", "ptr, i64")
        for i, value in enumerate(node.results):
            ir = out.new(f'call ptr @"PyTuple_GetItem"(ptr {found}, i64 {i})')
            out.line(f"call void @retain(ptr {ir})")
            natives.append(self._held(value, body.own(ir)))
        body.release(whole.slot or "")
        return natives

    def _held(self, value: Value, object_: Object) -> Native:
        if not is_scalar(value.type):
            return object_
        out = self.out
        address = out.new(f"getelementptr inbounds i8, ptr {object_.ir}, i64 {abi.DATA}")
        element = load(ElementWriter(out), value.type.dtype, out.new(f"load ptr, ptr {address}"), 0)  # type: ignore[union-attr]
        self.body.release(object_.slot or "")
        return element
