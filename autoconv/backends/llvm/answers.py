"""What a call answers: Python objects around the numbers and arrays that a graph gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.form import Answer, CallForm, Given, OneOf, Same, Together, outputs_of
from autoconv.backends.llvm import abi
from autoconv.backends.llvm.calls import Calls
from autoconv.backends.llvm.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.text import FunctionText
from autoconv.backends.llvm.values import Object
from autoconv.graph.dtypes import complex128

# By the kind of a structure: what makes one of a size, and what puts an item into it.
_MAKERS: dict[type, tuple[str, str]] = {
    tuple: ("PyTuple_New", "PyTuple_SetItem"),
    list: ("PyList_New", "PyList_SetItem"),
}


class Answers:
    """Writes the end of an entry. Out of memory, small objects are not looked after any more."""

    def __init__(self, out: FunctionText, calls: Calls) -> None:
        self._out = out
        self._calls = calls
        self._module = out.module

    def as_tuple(self, found: Sequence[Element | Object]) -> None:
        """Answers a tuple of arrays, and of whatever else there is."""
        objects = [self.boxed(native) if isinstance(native, Element) else native.ir for native in found]
        self._out.line(f"ret ptr {self._together(tuple, None, objects)}")

    def as_form(self, found: Sequence[Element | Object], form: CallForm, made: Sequence[bool]) -> None:
        """Answers what the form says; of each output, `made` says whether the graph made it."""
        kinds = outputs_of(form.answer)
        self._form = form
        self._found: list[Element | Object] = []
        others: list[tuple[str, str]] = []  # arrays that may be somebody else's, and what is given for them
        for i, (native, made_here) in enumerate(zip(found, made, strict=True)):
            if isinstance(native, Object) and kinds.get(i) in ("array", "tensor") and not (form.shares or made_here):
                owned = self._owned(native.ir, others)
                others.append((native.ir, owned))
                native = Object(owned)
            self._found.append(native)
        made_answer = self._made(form.answer)
        for native in self._found:
            if isinstance(native, Object):
                self._release(native.ir)
        self._out.line(f"ret ptr {made_answer}")

    def _made(self, answer: Answer) -> str:
        """A new reference to the answer."""
        if isinstance(answer, Given):
            return self._given(self._found[answer.position], answer.kind)
        if isinstance(answer, Same):
            object_ = self._calls.object(answer.value)(self._out)
            self._out.line(f"call void @retain(ptr {object_})")
            return object_
        if isinstance(answer, Together):
            return self._together(answer.kind, answer.keys, [self._made(part) for part in answer.parts])
        return self._chosen(answer)

    def _chosen(self, answer: OneOf) -> str:
        """One of the arms."""
        out, tag = self._out, self._found[answer.tag]
        assert isinstance(tag, Element)
        done = out.label("chosen")
        ends: list[str] = []
        for number, arm in enumerate(answer.arms):
            if number < len(answer.arms) - 1:
                this, other = out.label("arm"), out.label("other")
                out.branch_if(out.new(f"icmp eq i64 {tag.ir}, {number}"), this, other)
                out.begin(this)
            made = self._made(arm)
            ends.append(f"[ {made}, %{out.block} ]")
            out.branch(done)
            if number < len(answer.arms) - 1:
                out.begin(other)
        out.begin(done)
        return out.new(f"phi ptr {', '.join(ends)}")

    def _owned(self, array: str, others: Sequence[tuple[str, str]]) -> str:
        """The array, or a copy where somebody else has its memory: the caller, or the code whose constant it is. One
        that is among the others becomes what they became."""
        out = self._out
        if others:
            (other, owned), rest = others[-1], others[:-1]
            this, apart, done = out.label("this"), out.label("apart"), out.label("one")
            out.branch_if(out.new(f"icmp eq ptr {array}, {other}"), this, apart)
            out.begin(this)
            out.line(f"call void @retain(ptr {owned})")
            self._release(array)
            out.branch(done)
            out.begin(apart)
            found = self._owned(array, rest)
            before = out.block
            out.branch(done)
            out.begin(done)
            return out.new(f"phi ptr [ {owned}, %{this} ], [ {found}, %{before} ]")
        self._module.declare("PyArray_NewCopy", "ptr", "ptr, i32")
        alone, copied, done = out.new(f"call i1 @is_alone(ptr {array})"), out.label("copied"), out.label("owned")
        before = out.block
        out.branch_if(alone, done, copied)
        out.begin(copied)
        copy = out.new(f'call ptr @"PyArray_NewCopy"(ptr {array}, i32 0)')
        self._release(array)
        out.branch(done)
        out.begin(done)
        return out.new(f"phi ptr [ {array}, %{before} ], [ {copy}, %{copied} ]")

    def _release(self, object_: str) -> None:
        slot = self._out.alloca("ptr")
        self._out.line(f"store ptr {object_}, ptr {slot}")
        self._out.line(f"call void @release(ptr {slot})")

    def _together(self, kind: type, keys: Sequence[Any] | None, objects: Sequence[str]) -> str:
        out = self._out
        if keys is not None:
            self._module.declare("PyDict_New", "ptr", "")
            self._module.declare("PyDict_SetItem", "i32", "ptr, ptr, ptr")
            made = out.new('call ptr @"PyDict_New"()')
            for key, object_ in zip(keys, objects, strict=True):
                out.new(f'call i32 @"PyDict_SetItem"(ptr {made}, ptr {self._calls.object(key)(out)}, ptr {object_})')
                self._release(object_)
            return made
        maker, setter = _MAKERS[kind]
        self._module.declare(maker, "ptr", "i64")
        self._module.declare(setter, "i32", "ptr, i64, ptr")
        made = out.new(f'call ptr @"{maker}"(i64 {len(objects)})')
        for i, object_ in enumerate(objects):
            out.new(f'call i32 @"{setter}"(ptr {made}, i64 {i}, ptr {object_})')
        return made

    def boxed(self, element: Element) -> str:
        """The number as an array without dimensions."""
        out = self._out
        descriptor = self._calls.object(element.dtype.numpy)(out)
        made = out.new(f"call ptr @new_array(i32 0, ptr null, ptr {descriptor})")
        place = out.new(f"getelementptr inbounds i8, ptr {made}, i64 {abi.DATA}")
        store(ElementWriter(out), element, out.new(f"load ptr, ptr {place}"), 0)
        return made

    def _given(self, native: Element | Object, kind: str) -> str:
        """A result as the user gets it."""
        out = self._out
        if kind == "number":
            return self._python_number(native) if isinstance(native, Element) else self._complex_number(native)
        if isinstance(native, Element):
            whole = self.boxed(native)
        else:
            whole = native.ir
            out.line(f"call void @retain(ptr {whole})")
        if kind in ("memory", "object"):
            return whole
        if kind == "array":  # complex numbers are arrays without dimensions here
            self._module.declare("PyArray_Return", "ptr", "ptr")
            return out.new(f'call ptr @"PyArray_Return"(ptr {whole})')
        form = self._form
        self._module.declare("PyType_GenericAlloc", "ptr", "ptr, i64")
        made = out.new(f'call ptr @"PyType_GenericAlloc"(ptr {self._calls.object(form.tensor_class)(out)}, i64 0)')
        typed = self._calls.object(False)(out)
        out.line(f"call void @retain(ptr {typed})")
        for offset, held in ((form.array_slot, whole), (form.weak_slot, typed)):
            place = out.new(f"getelementptr inbounds i8, ptr {made}, i64 {offset}")
            out.line(f"store ptr {held}, ptr {place}")
        return made

    def _complex_number(self, held: Object) -> str:
        """Out of an array without dimensions."""
        out = self._out
        self._module.declare("PyComplex_FromDoubles", "ptr", "double, double")
        data = out.new(f"load ptr, ptr {out.new(f'getelementptr inbounds i8, ptr {held.ir}, i64 {abi.DATA}')}")
        found = load(ElementWriter(out), complex128, data, 0)
        assert isinstance(found, Pair)
        return out.new(f'call ptr @"PyComplex_FromDoubles"(double {found.real.ir}, double {found.imag.ir})')

    def _python_number(self, element: Element) -> str:
        out = self._out
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


__all__ = ["Answers"]
