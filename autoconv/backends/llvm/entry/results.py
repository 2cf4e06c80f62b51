"""Build the result of a call: Python objects around the numbers and arrays that a graph returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.call_form import Answer, CallForm, Given, OneOf, Same, Together, outputs_of
from autoconv.backends.llvm.codegen.object_table import Calls
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import NULL
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import complex128

# For each container class: the function that makes one of a size, and the function that stores an item.
_MAKERS: dict[type, tuple[str, str, str]] = {
    tuple: ("PyTuple_New", "i64", "i64 {}"),
    list: ("PyList_New", "i64", "i64 {}"),
    dict: ("PyDict_New", "", ""),
}
_SETTERS: dict[type, tuple[str, str]] = {
    tuple: ("PyTuple_SetItem", "ptr, i64, ptr"),
    list: ("PyList_SetItem", "ptr, i64, ptr"),
    dict: ("PyDict_SetItem", "ptr, ptr, ptr"),
}


class Answers:
    """Write the end of an entry.

    If memory runs out, the entry returns NULL; objects made so far are in slots of the frame, which are released then.
    """

    def __init__(self, out: FunctionText, calls: Calls) -> None:
        self._out = out
        self._calls = calls
        self._module = out.module
        self._failed: str | None = None

    def as_tuple(self, found: Sequence[Element | Object]) -> None:
        """Return a tuple of arrays, and of the other objects as they are."""
        held = [self.held(native.ir) if isinstance(native, Object) else "" for native in found]
        made, slot = self._container(tuple, len(found))
        for i, (native, own) in enumerate(zip(found, held, strict=True)):
            if isinstance(native, Element):
                part = self.boxed(native)
            else:
                part = self._taken(native.ir, own)
            self._put(tuple, made, i, part)
        self._out.ret(self._taken(made, slot), "ptr")
        self.end()

    def as_form(self, found: Sequence[Element | Object], form: CallForm, made: Sequence[bool]) -> None:
        """Return what the form describes; `made` flags the outputs that the graph allocated."""
        kinds = outputs_of(form.answer)
        self._form = form
        self._found: list[Element | Object] = []
        held = [self.held(native.ir) if isinstance(native, Object) else "" for native in found]
        others: list[tuple[str, str]] = []  # arrays that may have other owners, and their replacements
        for i, (native, made_here) in enumerate(zip(found, made, strict=True)):
            if isinstance(native, Object) and kinds.get(i) in ("array", "tensor") and not (form.shares or made_here):
                owned = self._checked(self._owned(self._taken(native.ir, held[i]), others))
                others.append((native.ir, owned))
                self._out.store("ptr", owned, held[i])
                native = Object(owned)
            self._found.append(native)
        made_answer = self._made(form.answer)  # NULL after an error, and returned then
        for slot in held:
            if slot:
                self._out.call("release", slot)
        self._out.ret(made_answer, "ptr")
        self.end()

    def end(self) -> None:
        """Write the exit for a failed allocation."""
        if self._failed is None:
            return
        self._out.begin(self._failed)
        if self._out.slots:
            self._out.call("release_all", "%slots", self._out.slots)
        self._out.ret(NULL)

    # ---- owned references

    def _checked(self, object_: str) -> str:
        """Return the object; leave the function if it is NULL."""
        if self._failed is None:
            self._failed = self._out.label("missing")
        go_on = self._out.label("there")
        missing = self._out.is_null(object_)
        self._out.branch_if(missing, self._failed, go_on, unlikely=True)
        self._out.begin(go_on)
        return object_

    def held(self, object_: str) -> str:
        """Store the reference in a new slot, and return the slot."""
        slot = self._out.slot()
        self._out.store("ptr", object_, slot)
        return slot

    def _taken(self, object_: str, slot: str) -> str:
        """Move the reference out of the slot."""
        self._out.store("ptr", "null", slot)
        return object_

    # ---- parts of the result

    def _made(self, answer: Answer) -> str:
        """Return a new reference to the answer; NULL after an error."""
        if isinstance(answer, Given):
            return self._given(self._found[answer.position], answer.kind)
        if isinstance(answer, Same):
            object_ = self._calls.object(answer.value)(self._out)
            self._out.call("retain", object_)
            return object_
        if isinstance(answer, Together):
            return self._together(answer)
        return self._chosen(answer)

    def _chosen(self, answer: OneOf) -> str:
        """Build the arm that the tag selects."""
        out, tag = self._out, self._found[answer.tag]
        assert isinstance(tag, Element)
        done = out.label("chosen")
        ends: list[str] = []
        for number, arm in enumerate(answer.arms):
            if number < len(answer.arms) - 1:
                this, other = out.label("arm"), out.label("other")
                out.branch_if(out.icmp("eq", tag.ir, number), this, other)
                out.begin(this)
            made = self._made(arm)
            ends.append(f"[ {made}, %{out.block} ]")
            out.branch(done)
            if number < len(answer.arms) - 1:
                out.begin(other)
        out.begin(done)
        return out.new(f"phi ptr {', '.join(ends)}")

    def _owned(self, array: str, others: Sequence[tuple[str, str]]) -> str:
        """Return the array, or a copy if its memory has other owners (the caller, or the code whose constant it is).

        An array that is identical to one of `others` maps to the same replacement. NULL after an error.
        """
        out = self._out
        if others:
            (other, owned), rest = others[-1], others[:-1]
            this, apart, done = out.label("this"), out.label("apart"), out.label("one")
            out.branch_if(out.is_same(array, other), this, apart)
            out.begin(this)
            out.call("retain", owned)
            self._release(array)
            out.branch(done)
            out.begin(apart)
            found = self._owned(array, rest)
            before = out.block
            out.branch(done)
            out.begin(done)
            return out.new(f"phi ptr [ {owned}, %{this} ], [ {found}, %{before} ]")
        self._module.declare("PyArray_NewCopy", "ptr", "ptr, i32")
        alone, copied, done = out.call("is_alone", array), out.label("copied"), out.label("owned")
        before = out.block
        out.branch_if(alone, done, copied)
        out.begin(copied)
        copy = out.call("PyArray_NewCopy", array, 0)
        self._release(array)
        out.branch(done)
        out.begin(done)
        return out.new(f"phi ptr [ {array}, %{before} ], [ {copy}, %{copied} ]")

    def _release(self, object_: str) -> None:
        slot = self._out.alloca("ptr")
        self._out.store("ptr", object_, slot)
        self._out.call("release", slot)

    def _together(self, answer: Together) -> str:
        kind: type = dict if answer.keys is not None else answer.kind
        made, slot = self._container(kind, len(answer.parts))
        for i, part in enumerate(answer.parts):
            key = i if answer.keys is None else answer.keys[i]
            self._put(kind, made, key, self._checked(self._made(part)))
        return self._taken(made, slot)

    def _container(self, kind: type, size: int) -> tuple[str, str]:
        """Make a container; return it and the slot that owns it."""
        maker, parameters, given = _MAKERS[kind]
        self._module.declare(maker, "ptr", parameters)
        made = self._checked(self._out.new(f'call ptr @"{maker}"({given.format(size)})'))
        return made, self.held(made)

    def _put(self, kind: type, container: str, key: Any, part: str) -> None:
        """Store a part in a container, which takes over the new reference."""
        out, (setter, parameters) = self._out, _SETTERS[kind]
        self._module.declare(setter, "i32", parameters)
        if kind is not dict:
            out.new(f'call i32 @"{setter}"(ptr {container}, i64 {key}, ptr {part})')
            return
        went = out.new(f'call i32 @"{setter}"(ptr {container}, ptr {self._calls.object(key)(out)}, ptr {part})')
        self._release(part)
        self._checked(out.select(out.new(f"icmp eq i32 {went}, 0"), container, NULL))

    def boxed(self, element: Element) -> str:
        """Return the number as an array of rank 0."""
        out = self._out
        descriptor = self._calls.object(element.dtype.numpy)(out)
        made = self._checked(out.call("new_array", 0, "null", descriptor))
        place = out.gep("i8", made, abi.DATA)
        store(ElementWriter(out), element, out.load("ptr", place), 0)
        return made

    def _given(self, native: Element | Object, kind: str) -> str:
        """Convert an output to the form in which the user gets it."""
        out = self._out
        if kind == "number":
            return self._python_number(native) if isinstance(native, Element) else self._complex_number(native)
        if kind == "tensor":
            return self._tensor(native)
        whole = self._whole(native)
        if kind in ("memory", "object"):
            return whole
        assert kind == "array"  # complex numbers are arrays of rank 0 here
        self._module.declare("PyArray_Return", "ptr", "ptr")
        return out.call("PyArray_Return", whole)

    def _whole(self, native: Element | Object) -> str:
        if isinstance(native, Element):
            return self.boxed(native)
        self._out.call("retain", native.ir)
        return native.ir

    def _tensor(self, native: Element | Object) -> str:
        out, form = self._out, self._form
        self._module.declare("PyType_GenericAlloc", "ptr", "ptr, i64")
        kind = self._calls.object(form.tensor_class)(out)
        made = self._checked(out.call("PyType_GenericAlloc", kind, 0))
        slot = self.held(made)
        whole, typed = self._whole(native), self._calls.object(False)(out)
        out.call("retain", typed)
        for offset, held in ((form.array_slot, whole), (form.weak_slot, typed)):
            place = out.gep("i8", made, offset)
            out.store("ptr", held, place)
        return self._taken(made, slot)

    def _complex_number(self, held: Object) -> str:
        """Convert an array of rank 0 to a Python complex."""
        out = self._out
        self._module.declare("PyComplex_FromDoubles", "ptr", "double, double")
        data = out.load("ptr", out.gep("i8", held.ir, abi.DATA))
        found = load(ElementWriter(out), complex128, data, 0)
        assert isinstance(found, Pair)
        return out.call("PyComplex_FromDoubles", found.real.ir, found.imag.ir)

    def _python_number(self, element: Element) -> str:
        out = self._out
        if element.dtype.is_floating:
            self._module.declare("PyFloat_FromDouble", "ptr", "double")
            return out.call("PyFloat_FromDouble", element.ir)
        if element.dtype.is_bool:
            yes, no = (self._calls.object(truth)(out) for truth in (True, False))
            chosen = out.new(f"select i1 {element.ir}, ptr {yes}, ptr {no}")
            out.call("retain", chosen)
            return chosen
        self._module.declare("PyLong_FromLongLong", "ptr", "i64")
        return out.call("PyLong_FromLongLong", element.ir)


__all__ = ["Answers"]
