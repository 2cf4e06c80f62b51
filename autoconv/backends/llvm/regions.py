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
from autoconv.backends.llvm.fusion import WHOLE, Item, Plan
from autoconv.backends.llvm.kernels import JoinText, KernelText
from autoconv.backends.llvm.products import write_matmul
from autoconv.backends.llvm.roles import is_array, is_scalar, role, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, memory, register, store
from autoconv.backends.llvm.search import write_search
from autoconv.backends.llvm.stack_code import write_list_empty, write_list_pop, write_list_push
from autoconv.backends.llvm.updates import write_update
from autoconv.backends.llvm.values import Body, Native, Object, RegisterWriter
from autoconv.backends.llvm.views import Index, linear, viewed
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import Type
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.index_spec import INPUT

_SHORT = frozenset({"scalar", "pick", "view", "control"})  # roles of what takes a few nanoseconds
# Who writes the roles that are no part of this file.
_WRITERS: dict[str, Callable[[Any, Node], None]] = {
    "matmul": write_matmul, "update": write_update, "search": write_search,
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
        self._plan = Plan(graph)
        self.uses = Counter(value for item in self._plan.items for value in self._reads(item))
        self.uses.update(graph.outputs)
        for value in graph.parameters:
            self._let_go_if_unused(value)
        for item in self._plan.items:
            self._write(item)
            for value in dict.fromkeys(self._reads(item)):
                self._used(value, self._reads(item).count(value))
            for node in item.nodes:
                for value in node.results:
                    if value in self._values:
                        self._let_go_if_unused(value)

    def _reads(self, item: Item) -> list[Value]:
        single = item.nodes[0]
        return list(single.inputs) if self._plan.roles[single] in WHOLE else item.reads

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
        """The address of an array's first element."""
        address = self.out.new(f"getelementptr inbounds i8, ptr {self.object(value).ir}, i64 {abi.DATA}")
        return self.out.new(f"load ptr, ptr {address}")

    def _used(self, value: Value, times: int) -> None:
        self.uses[value] -= times
        self._let_go_if_unused(value)

    def _let_go_if_unused(self, value: Value) -> None:
        found = self._values.get(value)
        if self.uses[value] <= 0 and isinstance(found, Object) and found.slot is not None:
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

    def set(self, value: Value, native: Native) -> None:
        self._values[value] = native

    # ---- items

    def _write(self, item: Item) -> None:
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
        if node in self.picks or node.op.name not in ("get_item", "gather", "set_item", "add_at_item"):
            return
        operands = iter(node.inputs[2 if node.op.name in ("set_item", "add_at_item") else 1 :])
        picks: list[Any] = []
        b = RegisterWriter(self)
        gathers = node.op.name == "gather"
        spec = (("int", INPUT),) if gathers else node.attributes["spec"]
        shape = sizes(node.inputs[0].type)
        axis = node.attributes.get("axis", 0) % len(shape) if gathers else 0
        covered = sum(entry[0] in ("int", "slice") for entry in spec)
        for entry in spec:
            if entry[0] == "ellipsis":
                axis += len(shape) - covered
            elif entry[0] in ("int", "slice"):
                if INPUT in entry:
                    picks.append(self._position(b, node, self.number(next(operands)), shape[axis]))
                axis += 1
        self.picks[node] = picks

    def _position(self, b: ElementWriter, node: Node, given: Element, size: int) -> str:
        index = b.cast(given, int64)
        from_end = index < 0
        if node.op.name == "gather" and not node.inputs[1].type.weak:  # type: ignore[union-attr]
            found = index
        else:
            found = b.select(from_end, index + size, index)
        outside = b.out.new(f"icmp uge i64 {found.ir}, {size}")
        cold, fine = self.out.label("cold"), self.out.label("fine")
        self.out.branch_if(outside, cold, fine, unlikely=True)
        self.out.begin(cold)
        self.call_kernel(node, rarely=True)
        self.out.branch(fine)  # not reached: the kernel raises
        self.out.begin(fine)
        return found.ir

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
            if self._plan.roles[node] == "copy":
                self.guard(node)
        self._call_loops(item, KernelText(self.body.module, self._plan, item, self.picks))

    def _call_loops(self, item: Item, kernel: KernelText) -> None:
        self.body.module.has_loops = True
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
                self.set(value, self.new_array(value.type))
                arguments.append(f"ptr {self.data(value)}")
        text = ", ".join(arguments)
        rare = self.out.new(f"call i1 @{kernel.name}({text})")
        if kernel.has_rare and item.nodes[0].effects:
            self._ask_kernel(item.nodes[0], rare)
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

    def _ask_kernel(self, node: Node, rare: str) -> None:
        """Where a loop met something out of the ordinary: the op's kernel raises, or answers instead of the loop."""
        out, (result,) = self.out, node.results
        fast = self.object(result)
        assert fast.slot is not None
        before, cold, done = out.block, out.label("cold"), out.label("done")
        out.branch_if(rare, cold, done, unlikely=True)
        out.begin(cold)
        (slow,) = self.call_kernel(node, rarely=True)
        assert isinstance(slow, Object) and slow.slot is not None
        self.body.release(fast.slot)
        out.line(f"store ptr null, ptr {slow.slot}")
        out.line(f"store ptr {slow.ir}, ptr {fast.slot}")
        after = out.block
        out.branch(done)
        out.begin(done)
        found = out.new(f"phi ptr [ {fast.ir}, %{before} ], [ {slow.ir}, %{after} ]")
        self.set(result, Object(found, fast.slot))

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
            place = out.new(f"getelementptr inbounds ptr, ptr {arguments}, i64 {i}")
            out.line(f"store ptr {native.ir}, ptr {place}")
        function = body.calls.kernel(node, self.owners, rarely)
        found = out.new(f"call ptr @call_python(ptr {function(out)}, ptr {arguments}, i64 {len(node.inputs)})")
        for slot in boxes:
            body.release(slot)
        body.check(out.new(f"icmp eq ptr {found}, null"))
        return self._unpacked(node, found)

    def _shown(self, value: Value) -> Object:
        """Something of the shape of a view, for a kernel that is about to raise."""
        zero = np.zeros((), value.type.dtype.numpy)  # type: ignore[union-attr]
        return Object(self.body.calls.object(np.broadcast_to(zero, sizes(value.type)))(self.out))

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

    # ---- control flow

    def _write_control(self, node: Node) -> None:
        getattr(self, f"_write_{node.op.name}")(node)

    def _lent(self, node: Node, inputs: Sequence[Value]) -> list[Native]:
        """The inputs as a region gets them: objects that are not used after it are its own."""
        lent: list[Native] = []
        for value in inputs:
            native = self._values[value]
            if isinstance(native, Object):
                last = node.inputs.count(value) == 1 and self.uses[value] == 1
                native = Object(native.ir, native.slot if last else None)
            lent.append(native)
        return lent

    def _write_call(self, node: Node) -> None:
        owners = (node, *self.owners)
        inner = Region(self.body, node.regions[0], self._lent(node, node.inputs), owners)
        for value, output, native in zip(node.results, node.regions[0].outputs, inner.results(), strict=True):
            self.set(value, self._converted(native, output.type, value.type))

    def _converted(self, native: Native, from_type: Type, to_type: Type) -> Native:
        """A result of a region as a value of its owner's type, which may know less: numbers may need a box."""
        if isinstance(native, Element):
            if is_scalar(to_type):
                return native
            return self.boxed(native)
        return native if native.slot is not None else self.body.own(native.ir)

    def _write_cond(self, node: Node) -> None:
        out = self.out
        index = self.number(node.inputs[0])
        cells = [self._cell(value.type) for value in node.results]
        done, arms = out.label("joined"), [out.label("arm") for _ in node.regions]
        if len(arms) == 1:
            out.branch(arms[0])
        elif index.dtype.is_bool:
            out.branch_if(index.ir, arms[0], arms[1])
            if len(arms) > 2:
                raise AssertionError("a bool chooses between two arms")
        else:
            kind = register(index.dtype)
            cases = " ".join(f"{kind} {i}, label %{arm}" for i, arm in enumerate(arms[:-1]))
            out.line(f"switch {kind} {index.ir}, label %{arms[-1]} [ {cases} ]")
        lent = self._lent(node, node.inputs[1:])
        for region, arm in zip(node.regions, arms, strict=True):
            out.begin(arm)
            inner = Region(self.body, region, lent, self.owners)
            self._fill(cells, node.results, region.outputs, inner.results())
            out.branch(done)
        out.begin(done)
        for value, cell in zip(node.results, cells, strict=True):
            self.set(value, self._read(cell, value.type))

    def _cell(self, type_: Type) -> str:
        return self.out.alloca(memory(type_.dtype)) if is_scalar(type_) else self.out.slot()  # type: ignore[union-attr]

    def _fill(
        self, cells: Sequence[str], results: Sequence[Value], outputs: Sequence[Value], natives: Sequence[Native]
    ) -> None:
        for cell, value, output, native in zip(cells, results, outputs, natives, strict=True):
            native = self._converted(native, output.type, value.type)
            if isinstance(native, Element):
                store(ElementWriter(self.out), native, cell, 0)
            else:
                if native.slot is not None:
                    self.out.line(f"store ptr null, ptr {native.slot}")
                self.out.line(f"store ptr {native.ir}, ptr {cell}")

    def _read(self, cell: str, type_: Type) -> Native:
        if is_scalar(type_):
            return load(ElementWriter(self.out), type_.dtype, cell, 0)  # type: ignore[union-attr]
        return Object(self.out.new(f"load ptr, ptr {cell}"), cell)

    def _write_while(self, node: Node) -> None:
        out = self.out
        count = node.attributes["state"]
        test, body = node.regions
        types = [value.type for value in body.parameters[:count]]
        cells = [self._cell(type_) for type_ in types]
        start: list[Native] = []
        for value in node.inputs[:count]:
            native = self._values[value]
            if isinstance(native, Object):
                last = node.inputs.count(value) == 1 and self.uses[value] == 1
                native = Object(self.take(value, last))
            start.append(native)
        self._fill(cells, body.parameters[:count], node.inputs[:count], start)
        captures = [
            Object(native.ir) if isinstance(native, Object) else native
            for native in (self._values[value] for value in node.inputs[count:])
        ]
        head, again, done = out.label("while"), out.label("again"), out.label("after")
        self.body.loops += 1
        out.branch(head)
        out.begin(head)
        self.body.poll(often=any(role(inner) not in _SHORT for region in node.regions for inner in region.walk()))
        state = [self._read(cell, type_) for cell, type_ in zip(cells, types, strict=True)]
        seen = [Object(native.ir) if isinstance(native, Object) else native for native in state]
        inner = Region(self.body, test, [*seen, *captures], self.owners)
        (condition,) = inner.results()
        if isinstance(condition, Object):
            raise AssertionError("the role of a loop says that its condition is a number")
        out.branch_if(ElementWriter(out).cast(condition, bool_).ir, again, done)
        out.begin(again)
        inner = Region(self.body, body, [*state, *captures], self.owners)
        self._fill(cells, body.parameters[:count], body.outputs, inner.results())
        out.branch(head)
        out.begin(done)
        self.body.end_loop()
        for value, cell, type_ in zip(node.results, cells, types, strict=True):
            native = self._read(cell, type_)
            self.set(value, self._converted(native, type_, value.type))
