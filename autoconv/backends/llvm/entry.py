"""The METH_FASTCALL functions around a graph: arguments checked and taken out of their objects, results put into some.

Two of them: one takes and answers arrays (`run`), one is what a user's call goes to, as its CallForm says (`call`).
Both answer NotImplemented, before anything has happened, for arguments of another form.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autoconv.backends.form import CallForm, Captured, CellGuard
from autoconv.backends.llvm import abi
from autoconv.backends.llvm.calls import Address, Calls
from autoconv.backends.llvm.list_ends import write_borrowed, write_given
from autoconv.backends.llvm.memory_values import boxed, extent, is_memory
from autoconv.backends.llvm.regions import Region
from autoconv.backends.llvm.roles import is_array, is_scalar, role, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, register, store
from autoconv.backends.llvm.stacks import stacks
from autoconv.backends.llvm.text import QUICK, FunctionText, ModuleText
from autoconv.backends.llvm.values import Body, Memory, Native, Object
from autoconv.graph.graph import Graph, Value

RUN, CALL = "autoconv_run", "autoconv_call"
# Roles whose work is done in functions of their own; and those that take next to no time where they are.
_OWN_FUNCTIONS, _SHORT = {"element", "reduce", "matmul", "join"}, {"scalar", "view", "kernel"}


def write_graph(graph: Graph, module: ModuleText, calls: Calls, donated: Collection[int] = ()) -> None:
    """`i1 @graph(parameters, ptr %results)`: numbers by value, objects by address; whether all went well. A result
    is a number in its eight bytes, or a new reference. Of the parameters at the positions `donated` it is given
    references of its own."""
    names = [f"%p{i}" for i in range(len(graph.parameters))]
    header = ", ".join([f"{_kind(v)} {n}" for v, n in zip(graph.parameters, names, strict=True)] + ["ptr %results"])
    # Without loops of its own it does little but call those over arrays.
    roles = {role(node) for node in graph.walk()}
    speed = QUICK if roles & _OWN_FUNCTIONS and roles <= _OWN_FUNCTIONS | _SHORT else ""
    out = FunctionText(module, f"define internal i1 @graph({header}) nounwind {speed}")
    body = Body(module, out, calls, graph, stacks(graph))
    b = ElementWriter(out)
    arguments: list[Native] = [
        b.wrap(v.type.dtype, n) if is_scalar(v.type) else Object(n)  # type: ignore[union-attr]
        for v, n in zip(graph.parameters, names, strict=True)
    ]
    donated = [i for i in donated if is_array(graph.parameters[i].type)]
    for i in donated:
        arguments[i] = body.own(names[i])
    if donated:
        body.begin_loop(())  # arrays are kept for the next ones, as in a loop
    for i, value in enumerate(graph.parameters):
        if value in body.stacks:
            arguments[i] = write_borrowed(body, names[i], value)
    region = Region(body, graph, arguments)
    results = region.results()
    if donated:
        body.end_loop()
    for i, (native, value) in enumerate(zip(results, graph.outputs, strict=True)):
        if isinstance(native, Memory):
            held = body.own(native.owner.ir)
            native = boxed(region, native, value.type)  # type: ignore[arg-type]
            out.line(f"store ptr null, ptr {native.slot}")
            body.release(held.slot or "")
        elif value in body.stacks:
            assert isinstance(native, Object)
            native = write_given(body, native, value)
        place = out.new(f"getelementptr inbounds i64, ptr %results, i64 {i}")
        if isinstance(native, Element):
            store(b, native, place, 0)
        else:
            out.line(f"store ptr {native.ir}, ptr {place}")
    out.line("ret i1 true")
    out.begin(body.failed)
    if out.slots:
        out.line(f"call void @release_all(ptr %slots, i64 {out.slots})")
    out.line("ret i1 false")
    module.add(out.text())


def _kind(value: Value) -> str:
    return register(value.type.dtype) if is_scalar(value.type) else "ptr"  # type: ignore[union-attr]


def write_run(graph: Graph, module: ModuleText, calls: Calls, donated: Collection[int] = ()) -> None:
    """From arrays to a tuple of arrays; whatever else a parameter is comes and goes as it is."""
    entry = _Entry(graph, module, calls, RUN, len(graph.parameters))
    arguments = [entry.argument(i) for i in range(len(graph.parameters))]
    natives = [
        entry.taken(entry.array_of(given, value), value) if _is_data(value) and not is_memory(value.type) else given
        for given, value in zip(arguments, graph.parameters, strict=True)
    ]
    for i in donated:
        if is_array(graph.parameters[i].type):  # the caller keeps it: nothing is written to it
            entry.out.line(f"call void @retain(ptr {natives[i]})")
    found = entry.results(natives)
    entry.answer([entry.boxed(native) if isinstance(native, Element) else native for native in found], single=False)


def write_call(graph: Graph, module: ModuleText, calls: Calls, form: CallForm) -> None:
    """From what a user passes to what a user gets."""
    given = [i for i, parameter in enumerate(form.parameters) if not isinstance(parameter, Captured)]
    entry = _Entry(graph, module, calls, CALL, len(given))
    entry.check_idle(form)
    entry.check_guards(form)
    weak = iter(form.weak)
    natives: list[Any] = []
    for i, (parameter, value) in enumerate(zip(form.parameters, graph.parameters, strict=True)):
        if isinstance(parameter, Captured):
            object_ = calls.object(parameter.value)(entry.out)
            natives.append(entry.taken(object_, value) if is_scalar(value.type) else object_)
            continue
        argument = entry.argument(given.index(i))
        if parameter == "number":
            natives.append(entry.number(argument, value))
            continue
        if parameter == "memory":
            natives.append(entry.memory_of(argument, value))
            continue
        if parameter == "tensor":
            argument = entry.unwrapped(argument, form, next(weak))
        natives.append(entry.taken(entry.array_of(argument, value), value))
    entry.check_apart()
    arrays = [i for i, value in enumerate(graph.parameters) if is_array(value.type)]
    for i in sorted(form.donated):
        if i in arrays:
            entry.check_different(natives[i], [natives[j] for j in arrays if j != i])
    for i in sorted(form.donated):
        entry.give_away(given.index(i), form, to_graph=i in arrays)
    found = entry.results(natives)
    entry.answer([entry.given_back(n, kind, form) for n, kind in zip(found, form.results, strict=True)], form.single)


def can_call(graph: Graph, form: CallForm) -> bool:
    """Whether arguments and results of those forms can be taken apart and made natively.

    Arrays that a user passes may be changed later: then every array that comes out has to be made in the call.
    """
    parameters = zip(form.parameters, graph.parameters, strict=True)
    if not all(isinstance(given, Captured) or _is_data(value) for given, value in parameters):
        return False
    own = "array" not in form.parameters
    return all(
        kind == "memory"
        or is_scalar(value.type)
        or (kind != "number" and is_array(value.type) and (own or _is_made(value)))
        for kind, value in zip(form.results, graph.outputs, strict=True)
    )


def _is_made(value: Value) -> bool:
    return value.node is not None and role(value.node) in ("element", "reduce", "matmul")


def _is_data(value: Value) -> bool:
    return is_scalar(value.type) or is_array(value.type) or is_memory(value.type)


class _Entry:
    def __init__(self, graph: Graph, module: ModuleText, calls: Calls, name: str, count: int) -> None:
        self._graph = graph
        self._module = module
        self._calls = calls
        self._memories: list[tuple[str, Any]] = []
        header = f"define ptr @{name}(ptr %self, ptr %arguments, i64 %count) nounwind {QUICK}"
        self.out = FunctionText(module, header)
        self._other = self.out.label("other")
        self._check("icmp eq i64 %count, " + str(count))

    def _check(self, test: str) -> None:
        """Goes on where the test holds."""
        go_on = self.out.label("ok")
        self.out.branch_if(self.out.new(test), go_on, self._other)
        self.out.begin(go_on)

    def _field(self, object_: str, offset: int, kind: str) -> str:
        place = self.out.new(f"getelementptr inbounds i8, ptr {object_}, i64 {offset}")
        return self.out.new(f"load {kind}, ptr {place}")

    def argument(self, position: int) -> str:
        return self._field("%arguments", 8 * position, "ptr")

    # ---- what has to hold

    def check_idle(self, form: CallForm) -> None:
        cell = self._calls.object(Address(ctypes.addressof(form.busy)))(self.out)
        busy = self.out.new(f"load atomic i64, ptr {cell} monotonic, align 8")
        self._check(f"icmp eq i64 {busy}, 0")

    def check_guards(self, form: CallForm) -> None:
        for guard in form.guards:
            if isinstance(guard, CellGuard):
                found = self._field(self._calls.object(guard.cell)(self.out), abi.CELL_CONTENTS, "ptr")
            else:
                self._module.declare("PyDict_GetItemWithError", "ptr", "ptr, ptr")
                namespace = self._calls.object(guard.namespace)(self.out)
                name = self._calls.object(guard.name)(self.out)
                found = self.out.new(f'call ptr @"PyDict_GetItemWithError"(ptr {namespace}, ptr {name})')
            self._check(f"icmp eq ptr {found}, {self._calls.object(guard.value)(self.out)}")

    def check_different(self, array: str, others: Sequence[str]) -> None:
        for other in others:
            self._check(f"icmp ne ptr {array}, {other}")

    # ---- arguments

    def give_away(self, position: int, form: CallForm, to_graph: bool) -> None:
        """Takes the array out of the tensor: its reference is the graph's now, or nobody's."""
        out, donation = self.out, self._calls.object(form.donation)(self.out)
        place = out.new(f"getelementptr inbounds i8, ptr {self.argument(position)}, i64 {form.array_slot}")
        out.line(f"call void @retain(ptr {donation})")
        if not to_graph:
            out.line(f"call void @release(ptr {place})")
        out.line(f"store ptr {donation}, ptr {place}")

    def unwrapped(self, given: str, form: CallForm, weak: bool) -> str:
        """The array of a tensor."""
        kind = self._calls.object(form.tensor_class)(self.out)
        self._check(f"icmp eq ptr {self._field(given, abi.TYPE, 'ptr')}, {kind}")
        expected = self._calls.object(weak)(self.out)
        self._check(f"icmp eq ptr {self._field(given, form.weak_slot, 'ptr')}, {expected}")
        return self._field(given, form.array_slot, "ptr")

    def array_of(self, given: str, value: Value) -> str:
        """The object, having checked that it is a plain ndarray of the very type."""
        type_: Any = value.type
        shape = sizes(type_)
        kind, descriptor = (self._calls.object(item)(self.out) for item in (np.ndarray, type_.dtype.numpy))
        dimensions = self._calls.shape(shape) if shape else "null"
        plain = self.out.new(
            f"call i1 @is_plain_array(ptr {given}, ptr {kind}, ptr {descriptor}, i64 {len(shape)}, ptr {dimensions})"
        )
        self._check(f"icmp ne i1 {plain}, false")
        return given

    def memory_of(self, given: str, value: Value) -> str:
        """The object, having checked that it is a plain ndarray that lies in memory as its type says."""
        type_: Any = value.type
        kind, descriptor = (self._calls.object(item)(self.out) for item in (np.ndarray, type_.dtype.numpy))
        lists = [self._calls.shape(numbers) if numbers else "null" for numbers in (type_.shape, type_.strides)]
        fits = self.out.new(
            f"call i1 @is_memory(ptr {given}, ptr {kind}, ptr {descriptor}, i64 {type_.rank}, ptr {lists[0]}, "
            f"ptr {lists[1]})"
        )
        self._check(f"icmp ne i1 {fits}, false")
        self._memories.append((given, type_))
        return given

    def check_apart(self) -> None:
        """That arrays share no memory, each taken as all that lies between its first and its last byte."""
        ends: list[list[str]] = []
        for given, type_ in self._memories:
            offsets = extent(type_)
            data = self.out.new(f"ptrtoint ptr {self._field(given, abi.DATA, 'ptr')} to i64")
            ends.append([self.out.new(f"add i64 {data}, {offset}") for offset in offsets])
        for i, (low, high) in enumerate(ends):
            for other_low, other_high in ends[:i]:
                before = self.out.new(f"icmp ule i64 {high}, {other_low}")
                behind = self.out.new(f"icmp ule i64 {other_high}, {low}")
                self._check(f"or i1 {before}, {behind}")

    def taken(self, given: str, value: Value) -> str:
        """What the graph takes: a number out of its array, an array as it is."""
        if not is_scalar(value.type):
            return given
        element = load(ElementWriter(self.out), value.type.dtype, self._field(given, abi.DATA, "ptr"), 0)  # type: ignore[union-attr]
        return element.ir

    def number(self, given: str, value: Value) -> str:
        """Out of a Python bool, int or float, of exactly that type."""
        dtype = value.type.dtype  # type: ignore[union-attr]
        out, kind = self.out, bool if dtype.is_bool else int if dtype.is_integer else float
        self._check(f"icmp eq ptr {self._field(given, abi.TYPE, 'ptr')}, {self._calls.object(kind)(out)}")
        if kind is bool:
            return out.new(f"icmp eq ptr {given}, {self._calls.object(True)(out)}")
        if kind is float:
            return self._field(given, abi.FLOAT_VALUE, "double")
        self._module.declare("PyLong_AsLongLongAndOverflow", "i64", "ptr, ptr")
        overflow = out.alloca("i32", "0")
        found = out.new(f'call i64 @"PyLong_AsLongLongAndOverflow"(ptr {given}, ptr {overflow})')
        self._check(f"icmp eq i32 {out.new(f'load i32, ptr {overflow}')}, 0")
        return found

    # ---- results

    def results(self, natives: Sequence[str]) -> list[Element | Object]:
        """Runs the graph."""
        out, outputs = self.out, self._graph.outputs
        cells = out.alloca(f"[{max(len(outputs), 1)} x i64]")
        texts = [f"{_kind(v)} {n}" for v, n in zip(self._graph.parameters, natives, strict=True)]
        well = out.new(f"call i1 @graph({', '.join([*texts, f'ptr {cells}'])})")
        go_on, failed = out.label("well"), out.label("failed")
        out.branch_if(well, go_on, failed)
        out.begin(failed)
        out.line("ret ptr null")
        out.begin(go_on)
        found: list[Element | Object] = []
        for i, value in enumerate(outputs):
            place = out.new(f"getelementptr inbounds i64, ptr {cells}, i64 {i}")
            if is_scalar(value.type):
                found.append(load(ElementWriter(out), value.type.dtype, place, 0))  # type: ignore[union-attr]
            else:
                found.append(Object(out.new(f"load ptr, ptr {place}")))
        return found

    def boxed(self, element: Element) -> Object:
        """The number as an array without dimensions."""
        descriptor = self._calls.object(element.dtype.numpy)(self.out)
        made = self.out.new(f"call ptr @new_array(i32 0, ptr null, ptr {descriptor})")
        store(ElementWriter(self.out), element, self._field(made, abi.DATA, "ptr"), 0)
        return Object(made)

    def given_back(self, native: Element | Object, kind: str, form: CallForm) -> Object:
        """A result as the user gets it."""
        out = self.out
        if kind == "number":
            assert isinstance(native, Element)
            return Object(self._python_number(native))
        whole = self.boxed(native) if isinstance(native, Element) else native
        if kind == "memory":
            return whole
        if kind == "array":
            if not isinstance(native, Element):
                return whole
            self._module.declare("PyArray_Return", "ptr", "ptr")
            return Object(out.new(f'call ptr @"PyArray_Return"(ptr {whole.ir})'))
        self._module.declare("PyType_GenericAlloc", "ptr", "ptr, i64")
        made = out.new(f'call ptr @"PyType_GenericAlloc"(ptr {self._calls.object(form.tensor_class)(out)}, i64 0)')
        typed = self._calls.object(False)(out)
        out.line(f"call void @retain(ptr {typed})")
        for offset, held in ((form.array_slot, whole.ir), (form.weak_slot, typed)):
            place = out.new(f"getelementptr inbounds i8, ptr {made}, i64 {offset}")
            out.line(f"store ptr {held}, ptr {place}")
        return Object(made)

    def _python_number(self, element: Element) -> str:
        out = self.out
        if element.dtype.is_floating:
            self._module.declare("PyFloat_FromDouble", "ptr", "double")
            return out.new(f'call ptr @"PyFloat_FromDouble"(double {element.ir})')
        if element.dtype.is_bool:
            yes, no = (self._calls.object(truth)(out) for truth in (True, False))
            chosen = out.new(f"select i1 {element.ir}, ptr {yes}, ptr {no}")
            out.line(f"call void @retain(ptr {chosen})")
            return chosen
        self._module.declare("PyLong_FromLongLong", "ptr", "i64")
        return out.new(f'call ptr @"PyLong_FromLongLong"(i64 {element.ir})')

    def answer(self, objects: Sequence[Object], single: bool) -> None:
        """Ends the function with its result. Out of memory, small objects are not looked after any more."""
        out = self.out
        if single and not objects:
            none = self._calls.object(None)(out)
            out.line(f"call void @retain(ptr {none})")
            out.line(f"ret ptr {none}")
        elif single:
            out.line(f"ret ptr {objects[0].ir}")
        else:
            self._module.declare("PyTuple_New", "ptr", "i64")
            self._module.declare("PyTuple_SetItem", "i32", "ptr, i64, ptr")
            answer = out.new(f'call ptr @"PyTuple_New"(i64 {len(objects)})')
            for i, object_ in enumerate(objects):
                out.new(f'call i32 @"PyTuple_SetItem"(ptr {answer}, i64 {i}, ptr {object_.ir})')
            out.line(f"ret ptr {answer}")
        out.begin(self._other)
        missing = self._calls.object(NotImplemented)(out)
        out.line(f"call void @retain(ptr {missing})")
        out.line(f"ret ptr {missing}")
        self._module.add(out.text())


__all__ = ["CALL", "RUN", "can_call", "write_call", "write_graph", "write_run"]
