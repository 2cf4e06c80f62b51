"""Loop nests: one function each, over the elements of arrays of known shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.fusion import Item, Plan
from autoconv.backends.llvm.indices import SCATTERS, place, updates
from autoconv.backends.llvm.positions import Index, linear, plus
from autoconv.backends.llvm.roles import LOOP_REDUCTIONS, is_array, is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter, literal, memory, register
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.views import Place, viewed
from autoconv.graph.dtypes import bool_, float64
from autoconv.graph.graph import Node, Value
from autoconv.ops.elements import ELEMENTS

_BLOCK = 4096  # elements that are summed up before their sum joins the total


class LoopWriter(ElementWriter):
    """Writes elements inside of a loop. `rare(condition)` says for which the rule is not exact enough, and
    `fail(condition)` for which the op's kernel has to say what happens."""

    def __init__(self, out: FunctionText, careful: bool, at: Callable[[Value, Index], Element]) -> None:
        super().__init__(out)
        self.at = at
        self.in_loop = not careful
        self.rare_flag: str | None = None

    def number(self, value: Value) -> Element:
        return self.at(value, ())

    def rare(self, condition: Element) -> None:
        if self.rare_flag is None:
            self.rare_flag = self.out.alloca("i1", "false")
        before = self.out.new(f"load i1, ptr {self.rare_flag}")
        after = self.out.new(f"or i1 {before}, {condition.ir}")
        self.out.line(f"store i1 {after}, ptr {self.rare_flag}")

    fail = rare


class KernelText:
    """The function of one item. `arguments` are the values it takes, in order: arrays as pointers, numbers as such,
    guarded indices of views as i64; then come pointers to what it stores."""

    def __init__(self, module: ModuleText, plan: Plan, item: Item, picks: dict[Node, list[Any]]) -> None:
        self._plan = plan
        self._item = item
        self._module = module
        self.arguments = list(item.reads)
        self.indices = [view for view in _guarded_views(plan, item) if picks.get(view)]
        self._pick_names = {
            view: [pick if isinstance(pick, int) else f"%x{i}_{j}" for j, pick in enumerate(picks[view])]
            for i, view in enumerate(self.indices)
        }
        self._names: dict[Value, str] = {v: f"%p{i}" for i, v in enumerate(self.arguments)}
        self._stores: dict[Value, str] = {v: f"%s{i}" for i, v in enumerate(item.stored)}
        self.name, self.has_rare = self._write(careful=False)
        self.careful_name = self._write(careful=True)[0] if self.has_rare else ""

    # ---- the function around the loops

    def _write(self, careful: bool) -> tuple[str, bool]:
        """The name of the function, and whether it answers that something was not exact enough."""
        parameters = [
            f"{register(v.type.dtype)} {n}" if is_scalar(v.type) else f"ptr noalias readonly {n}"  # type: ignore[union-attr]
            for v, n in self._names.items()
        ]
        for view in self.indices:
            parameters += [f"i64 {pick}" for pick in self._pick_names[view] if isinstance(pick, str)]
        parameters += [f"ptr noalias {n}" for n in self._stores.values()]
        header = f"define internal i1 @FUNCTION({', '.join(parameters)}) noinline nounwind"
        self.out = FunctionText(self._module, header)
        self.b = LoopWriter(self.out, careful, self.element)
        self._memo: dict[Any, Element] = {}
        if self._is_flat():
            self._flat_loop()
        else:
            self._nest()
        flag = self.b.rare_flag
        self.out.line(f"ret i1 {self.out.new(f'load i1, ptr {flag}') if flag else 'false'}")
        return self._module.function("kernel", self.out.text()), flag is not None

    def _is_flat(self) -> bool:
        """Whether one counter reaches everything: all arrays are of the loop's shape, all reductions total."""
        shape = self._item.shape
        for node in self._item.nodes:
            kind = self._plan.roles[node]
            if kind in ("copy", "place", "scatter") or (kind == "reduce" and len(_axes(node)) != len(shape or ())):
                return False
            operands = node.inputs[:1] if kind == "reduce" else node.inputs
            for value in operands:
                if is_scalar(value.type) or (value not in self._plan.views and sizes(value.type) == shape):
                    continue
                return False
        return True

    def _flat_loop(self) -> None:
        total = 1
        for size in self._item.shape or ():
            total *= size
        sums = [_Register(self, node, total) for node in self._item.nodes if self._plan.roles[node] == "reduce"]
        if any(s.blocks for s in sums):
            with self.out.loop("0", str(-(-total // _BLOCK))) as block:
                start = self.out.new(f"mul nsw i64 {block}, {_BLOCK}")
                end = self.out.new(f"add nsw i64 {start}, {_BLOCK}")
                inside = self.out.new(f"icmp slt i64 {end}, {total}")
                end = self.out.new(f"select i1 {inside}, i64 {end}, i64 {total}")
                length = self.out.new(f"sub nsw i64 {end}, {start}")
                with self.out.loop("0", length) as offset:
                    self._body((self.out.new(f"add nsw i64 {start}, {offset}"),), flat=True, sums=sums)
                for one in sums:
                    one.end_block()
        else:
            with self.out.loop("0", str(total)) as index:
                self._body((index,), flat=True, sums=sums)
        for one in sums:
            one.finish(())

    def _nest(self) -> None:
        shape = self._item.shape or ()
        registers: dict[int, list[_Register]] = {}
        gathered: list[_Gathered] = []
        for node in self._item.nodes:
            if self._plan.roles[node] == "reduce":
                depth = _register_depth(node, shape)
                if depth is None:
                    gathered.append(_Gathered(self, node))
                else:
                    count = 1
                    for size in shape[depth:]:
                        count *= size
                    registers.setdefault(depth, []).append(_Register(self, node, count, blocked=False))
        for one in gathered:
            one.start()
        for node in self._item.nodes:
            if self._plan.roles[node] == "place":
                self._fill_around(node)
        self._dimension((), shape, registers, [*gathered, *(r for rs in registers.values() for r in rs)])
        for one in gathered:
            one.finish()

    def _fill_around(self, node: Node) -> None:
        """Sets all of what the loops place their elements in."""
        type_: Any = node.results[0].type
        constant = self.b.constant(node.attributes.get("constant_values", 0), type_.dtype)
        with self.out.loop("0", str(math.prod(sizes(type_)))) as i:
            store(self.b, constant, self._stores[node.results[0]], i)

    def _dimension(self, index: Index, shape: Sequence[int], registers: Any, sums: Any) -> None:
        depth = len(index)
        for one in registers.get(depth, ()):
            one.start()
        if depth == len(shape):
            self._body(index, flat=False, sums=sums)
        elif shape[depth] == 1:
            self._dimension((*index, 0), shape, registers, sums)
        else:
            with self.out.loop("0", str(shape[depth])) as i:
                self._dimension((*index, i), shape, registers, sums)
        for one in registers.get(depth, ()):
            one.finish(index)

    def _body(self, index: Index, flat: bool, sums: Any) -> None:
        self._memo.clear()
        self._flat = flat
        self._index = index
        for node in self._item.nodes:
            (value,) = node.results
            if self._plan.roles[node] == "place":
                before = [pair[0] for pair in node.attributes["paddings"]]
                place = tuple(plus(self.out, i, by) for i, by in zip(index, before, strict=True))
                self._store(self.element(node.inputs[0], index), self._stores[value], sizes(value.type), place)
            elif self._plan.roles[node] == "scatter":
                self._scatter(node, index)
            elif self._plan.roles[node] != "reduce":
                found = self.element(value, index)
                if value in self._stores:
                    self._store(found, self._stores[value], sizes(value.type), index)
        for one in sums:
            one.take(self.element(one.node.inputs[0], index), index)

    def _store(self, element: Element, pointer: str, shape: tuple[int, ...], index: Index) -> None:
        offset = index[0] if self._flat else linear(self.out, index, shape)
        store(self.b, element, pointer, offset)

    def _scatter(self, node: Node, index: Index) -> None:
        """What it writes goes where its positions say; the memory of its result holds its base already."""
        (result,) = node.results
        type_: Any = result.type
        found = self.b.cast(self._operand(updates(node), result, index), type_.dtype)
        target = place(self.b, node, index, self._pick_names.get(node, []))
        offset = linear(self.out, target, sizes(type_))
        combine = SCATTERS[node.op.name].combine
        if combine is not None:
            before = load(self.b, type_.dtype, self._stores[result], offset)
            name = "logical_or" if combine == "add" and type_.dtype.is_bool else combine
            found = ELEMENTS[name](self.b, before, found)
        store(self.b, found, self._stores[result], offset)

    # ---- elements

    def element(self, value: Value, index: Index) -> Element:
        """The number at `index` of a value; for a flat loop the index is that of the memory."""
        if is_scalar(value.type):
            return self.b.wrap(value.type.dtype, self._names[value])  # type: ignore[union-attr]
        key = value, index
        if key not in self._memo:
            self._memo[key] = self._element(value, index)
        return self._memo[key]

    def _element(self, value: Value, index: Index) -> Element:
        node = value.node
        if value in self._names:
            offset = index[0] if self._flat else linear(self.out, index, sizes(value.type))
            return load(self.b, value.type.dtype, self._names[value], offset)  # type: ignore[union-attr]
        assert node is not None
        if value in self._plan.views or self._plan.roles[node] == "copy":
            place = viewed(self.b, node, index, self._pick_names.get(node, []))
            return self._at(place)
        operands = [self._operand(operand, value, index) for operand in node.inputs]
        found = ELEMENTS[node.op.name](self.b, *operands, **node.attributes)
        assert found is not None, node.op.name
        return found

    def _at(self, place: Place) -> Element:
        if isinstance(place, Element):
            return place
        value, index, finish = place
        found = self.element(value, index)
        return finish(found) if finish is not None else found

    def _operand(self, operand: Value, result: Value, index: Index) -> Element:
        """An operand at the index of the result that it is broadcast to."""
        if is_scalar(operand.type) or self._flat:
            return self.element(operand, index)
        own = sizes(operand.type)
        aligned = (*[0] * (len(own) - len(index)), *index[max(len(index) - len(own), 0) :])
        return self.element(operand, tuple(0 if size == 1 else i for size, i in zip(own, aligned, strict=True)))


def load(b: ElementWriter, dtype: Any, pointer: str, offset: Any) -> Element:
    kind = memory(dtype)
    address = b.out.new(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {offset}")
    found = b.out.new(f"load {kind}, ptr {address}")
    if dtype is bool_:
        found = b.out.new(f"trunc i8 {found} to i1")
    return b.wrap(dtype, found)


def store(b: ElementWriter, element: Element, pointer: str, offset: Any) -> None:
    kind, ir = memory(element.dtype), element.ir
    if element.dtype is bool_:
        ir = b.out.new(f"zext i1 {ir} to i8")
    address = b.out.new(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {offset}")
    b.out.line(f"store {kind} {ir}, ptr {address}")


def _guarded_views(plan: Plan, item: Item) -> list[Node]:
    """The views that the loops of the item look through, itself included, that take indices."""
    found: dict[Node, None] = {}

    def visit(value: Value) -> None:
        if value in plan.views and value.node is not None:
            found[value.node] = None
            for operand in value.node.inputs[:1]:
                visit(operand)

    for node in item.nodes:
        if plan.roles[node] in ("copy", "scatter"):
            found[node] = None
        for value in node.inputs:
            visit(value)
    return list(found)


# ---- reductions


def _axes(node: Node) -> frozenset[int]:
    """The dimensions of the operand that are reduced."""
    shape = sizes(node.inputs[0].type)
    if node.op.name == "sum_to_shape_of":
        like = sizes(node.results[0].type) if is_array(node.results[0].type) else ()
        lead = len(shape) - len(like)
        kept = {lead + i for i, size in enumerate(like) if size == shape[lead + i]}
        return frozenset(range(len(shape))) - kept
    axis = node.attributes.get("axis")
    if axis is None:
        return frozenset(range(len(shape)))
    axes = (axis,) if isinstance(axis, int) else axis
    return frozenset(a % len(shape) for a in axes)


def _register_depth(node: Node, shape: Sequence[int]) -> int | None:
    """The depth from which all loops are reduced, where all reduced ones are inside of all others."""
    axes = _axes(node)
    wide = [d for d in range(len(shape)) if shape[d] != 1]
    depth = min((d for d in wide if d in axes), default=len(shape))
    return depth if all(d in axes for d in wide if d >= depth) else None


def _kept_index(node: Node, index: Index) -> Index:
    axes = _axes(node)
    if not is_array(node.results[0].type):
        return ()
    like = sizes(node.results[0].type)
    if len(like) == len(index):
        return tuple(0 if d in axes else i for d, i in enumerate(index))
    return tuple(i for d, i in enumerate(index) if d not in axes)


_STARTS = {"sum": 0, "mean": 0, "prod": 1, "any": False, "all": True}


class _Reduction:
    def __init__(self, kernel: KernelText, node: Node) -> None:
        self.kernel = kernel
        self.node = node
        self.kind = LOOP_REDUCTIONS[node.op.name]
        self.dtype = node.inputs[0].type.dtype  # type: ignore[union-attr]
        self.pointer = kernel._stores[node.results[0]]
        self.result_shape = sizes(node.results[0].type)

    def identity(self) -> str:
        if self.kind in ("max", "min"):
            sign = 1 if self.kind == "min" else -1
            if self.dtype.is_floating:
                return literal(sign * float("inf"), self.dtype)
            return literal(self.dtype.max if sign > 0 else self.dtype.min, self.dtype)
        return literal(_STARTS[self.kind], self.dtype)

    def combine(self, total: str, element: Element, ordered: bool = False) -> str:
        out, kind = self.kernel.out, register(self.dtype)
        if self.kind in ("max", "min"):
            if self.dtype.is_floating:
                return self.kernel.b.intrinsic(f"{self.kind}imum", self.kernel.b.wrap(self.dtype, total), element).ir
            sign = "u" if self.dtype.is_unsigned or self.dtype.is_bool else "s"
            return self.kernel.b.intrinsic(f"{sign}{self.kind}", self.kernel.b.wrap(self.dtype, total), element).ir
        if self.kind in ("any", "all"):
            truth = self.kernel.b.cast(element, bool_)
            return out.new(f"{'or' if self.kind == 'any' else 'and'} i1 {total}, {truth.ir}")
        name = "mul" if self.kind == "prod" else "add"
        flags = "" if not self.dtype.is_floating else f"f{name} {'' if ordered or name == 'mul' else 'reassoc '}"
        return out.new(f"{flags or name + ' '}{kind} {total}, {element.ir}")

    def put(self, total: str, index: Index) -> None:
        b = self.kernel.b
        element = b.wrap(self.dtype, total)
        if self.kind == "mean":
            element = element / float(_count(self.node))
        store(b, element, self.pointer, linear(b.out, index, self.result_shape))


class _Register(_Reduction):
    """A sum that is kept in a register while its loops run. Long ones are added up block by block, the blocks in
    float64, so that rounding grows with the number of blocks only."""

    def __init__(self, kernel: KernelText, node: Node, count: int, blocked: bool = True) -> None:
        super().__init__(kernel, node)
        self.blocks = blocked and count > _BLOCK and self.dtype.is_floating and self.kind in ("sum", "mean")
        self.cell = kernel.out.alloca(register(self.dtype))
        self.total = kernel.out.alloca("double", literal(0, float64)) if self.blocks else ""
        if blocked:
            self.start()

    def start(self) -> None:
        self.kernel.out.line(f"store {register(self.dtype)} {self.identity()}, ptr {self.cell}")

    def take(self, element: Element, index: Index) -> None:
        out, kind = self.kernel.out, register(self.dtype)
        found = self.combine(out.new(f"load {kind}, ptr {self.cell}"), element)
        out.line(f"store {kind} {found}, ptr {self.cell}")

    def end_block(self) -> None:
        if not self.blocks:
            return
        out, b = self.kernel.out, self.kernel.b
        part = b.cast(b.wrap(self.dtype, out.new(f"load {register(self.dtype)}, ptr {self.cell}")), float64)
        total = out.new(f"fadd double {out.new(f'load double, ptr {self.total}')}, {part.ir}")
        out.line(f"store double {total}, ptr {self.total}")
        self.start()

    def finish(self, index: Index) -> None:
        out, b = self.kernel.out, self.kernel.b
        if self.blocks:
            total = b.cast(b.wrap(float64, out.new(f"load double, ptr {self.total}")), self.dtype).ir
        else:
            total = out.new(f"load {register(self.dtype)}, ptr {self.cell}")
        rank = len(self.kernel._item.shape or ())
        whole = (*index, *[0] * (rank - len(index)))
        self.put(total, _kept_index(self.node, whole))


class _Gathered(_Reduction):
    """A sum whose loops do not lie inside of all others: it is added up where it is stored."""

    def start(self) -> None:
        count = 1
        for size in self.result_shape:
            count *= size
        with self.kernel.out.loop("0", str(count)) as i:
            store(self.kernel.b, self.kernel.b.wrap(self.dtype, self.identity()), self.pointer, i)

    def take(self, element: Element, index: Index) -> None:
        b = self.kernel.b
        offset = linear(b.out, _kept_index(self.node, index), self.result_shape)
        before = load(b, self.dtype, self.pointer, offset)
        store(b, b.wrap(self.dtype, self.combine(before.ir, element, ordered=True)), self.pointer, offset)

    def finish(self) -> None:
        if self.kind != "mean":
            return
        count = 1
        for size in self.result_shape:
            count *= size
        b = self.kernel.b
        with b.out.loop("0", str(count)) as i:
            store(b, load(b, self.dtype, self.pointer, i) / float(_count(self.node)), self.pointer, i)


def _count(node: Node) -> int:
    count = 1
    for axis in _axes(node):
        count *= sizes(node.inputs[0].type)[axis]
    return count
