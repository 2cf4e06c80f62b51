"""Build the result of a call: Python objects around the numbers and arrays that a graph returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.call_form import (
    CallForm,
    ConstantResult,
    ContainerResult,
    OutputResult,
    ResultForm,
    SelectedResult,
    outputs_of,
)
from autoconv.backends.llvm.codegen.object_table import Calls
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import NULL, Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import complex128

# For each container class: the function that makes one of a size, and the function that stores an item.
_MAKERS: dict[type, tuple[str, str]] = {
    tuple: ("PyTuple_New", "i64"),
    list: ("PyList_New", "i64"),
    dict: ("PyDict_New", ""),
}
_SETTERS: dict[type, tuple[str, str]] = {
    tuple: ("PyTuple_SetItem", "ptr, i64, ptr"),
    list: ("PyList_SetItem", "ptr, i64, ptr"),
    dict: ("PyDict_SetItem", "ptr, ptr, ptr"),
}


class ResultWriter:
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
        held = [self.hold(native.ir) if isinstance(native, Object) else "" for native in found]
        made, slot = self._new_container(tuple, len(found))
        for i, (native, own) in enumerate(zip(found, held, strict=True)):
            if isinstance(native, Element):
                part = self.box(native)
            else:
                part = self._move_from_slot(native.ir, own)
            self._set_item(tuple, made, i, part)
        self._out.ret(self._move_from_slot(made, slot), "ptr")
        self.end()

    def as_form(self, found: Sequence[Element | Object], form: CallForm, made: Sequence[bool]) -> None:
        """Return what the form describes; `made` flags the outputs that the graph allocated."""
        kinds = outputs_of(form.result)
        self._form = form
        self._found: list[Element | Object] = []
        held = [self.hold(native.ir) if isinstance(native, Object) else "" for native in found]
        others: list[tuple[str, str]] = []  # arrays that may have other owners, and their replacements
        for i, (native, made_here) in enumerate(zip(found, made, strict=True)):
            if isinstance(native, Object) and kinds.get(i) in ("array", "tensor") and not (form.may_share or made_here):
                owned = self.check_not_null(self._owned_array(self._move_from_slot(native.ir, held[i]), others))
                others.append((native.ir, owned))
                self._out.store("ptr", owned, held[i])
                native = Object(owned)
            self._found.append(native)
        made_result = self._build_result(form.result)  # NULL after an error, and returned then
        for slot in held:
            if slot:
                self._out.call("release", slot)
        self._out.ret(made_result, "ptr")
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

    def check_not_null(self, object_: str) -> str:
        """Return the object; leave the function if it is NULL."""
        if self._failed is None:
            self._failed = self._out.label("missing")
        self._out.leave_if(self._out.is_null(object_), self._failed)
        return object_

    def hold(self, object_: str) -> str:
        """Store the reference in a new slot, and return the slot."""
        slot = self._out.slot()
        self._out.store("ptr", object_, slot)
        return slot

    def _move_from_slot(self, object_: str, slot: str) -> str:
        """Move the reference out of the slot."""
        self._out.store("ptr", "null", slot)
        return object_

    # ---- parts of the result

    def _build_result(self, wanted: ResultForm) -> str:
        """Return a new reference to the result; NULL after an error."""
        if isinstance(wanted, OutputResult):
            return self._convert_output(self._found[wanted.position], wanted.kind)
        if isinstance(wanted, ConstantResult):
            object_ = self._calls.object(wanted.value)(self._out)
            self._out.call("retain", object_)
            return object_
        if isinstance(wanted, ContainerResult):
            return self._build_container(wanted)
        return self._build_selected(wanted)

    def _build_selected(self, wanted: SelectedResult) -> str:
        """Build the arm that the tag selects."""
        out, tag = self._out, self._found[wanted.tag]
        assert isinstance(tag, Element)
        done = out.label("chosen")
        ends: list[tuple[Operand, str]] = []
        for number, arm in enumerate(wanted.arms):
            if number < len(wanted.arms) - 1:
                this, other = out.label("arm"), out.label("other")
                out.branch_if(out.icmp("eq", tag.ir, number), this, other)
                out.begin(this)
            ends.append((Operand.of(self._build_result(arm), "ptr"), out.block))
            out.branch(done)
            if number < len(wanted.arms) - 1:
                out.begin(other)
        out.begin(done)
        return out.phi(*ends)

    def _owned_array(self, array: str, others: Sequence[tuple[str, str]]) -> str:
        """Return the array, or a copy if its memory has other owners (the caller, or the code whose constant it is).

        An array that is identical to one of `others` maps to the same replacement. NULL after an error.
        """
        out = self._out
        if others:
            (other, owned), rest = others[-1], others[:-1]

            def share_replacement() -> Operand:
                out.call("retain", owned)
                self._release(array)
                return Operand.of(owned, "ptr")

            return out.either(out.is_same(array, other), share_replacement, lambda: self._owned_array(array, rest))
        before, alone = out.block, out.call("is_alone", array)
        with out.unless(alone):
            copy = out.call_c("PyArray_NewCopy", "ptr", "ptr, i32", array, 0)
            self._release(array)
            copied = out.block
        return out.phi((Operand.of(array, "ptr"), before), (copy, copied))

    def _release(self, object_: str) -> None:
        slot = self._out.alloca("ptr")
        self._out.store("ptr", object_, slot)
        self._out.call("release", slot)

    def _build_container(self, wanted: ContainerResult) -> str:
        kind: type = dict if wanted.keys is not None else wanted.kind
        made, slot = self._new_container(kind, len(wanted.parts))
        for i, part in enumerate(wanted.parts):
            key = i if wanted.keys is None else wanted.keys[i]
            self._set_item(kind, made, key, self.check_not_null(self._build_result(part)))
        return self._move_from_slot(made, slot)

    def _new_container(self, kind: type, size: int) -> tuple[str, str]:
        """Make a container; return it and the slot that owns it."""
        maker, parameters = _MAKERS[kind]
        made = self.check_not_null(self._out.call_c(maker, "ptr", parameters, *([size] if parameters else [])))
        return made, self.hold(made)

    def _set_item(self, kind: type, container: str, key: Any, part: str) -> None:
        """Store a part in a container, which takes over the new reference."""
        out, (setter, parameters) = self._out, _SETTERS[kind]
        if kind is not dict:
            out.call_c(setter, "i32", parameters, container, key, part)
            return
        went = out.call_c(setter, "i32", parameters, container, self._calls.object(key)(out), part)
        self._release(part)
        self.check_not_null(out.select(out.icmp("eq", went, 0), container, NULL))

    def box(self, element: Element) -> str:
        """Return the number as an array of rank 0."""
        out = self._out
        descriptor = self._calls.object(element.dtype.numpy)(out)
        result = self.check_not_null(out.call("new_array", 0, "null", descriptor))
        place = out.gep("i8", result, abi.DATA)
        store(ElementWriter(out), element, out.load("ptr", place), 0)
        return result

    def _convert_output(self, native: Element | Object, kind: str) -> str:
        """Convert an output to the form in which the user gets it."""
        out = self._out
        if kind == "number":
            return self._python_number(native) if isinstance(native, Element) else self._complex_number(native)
        if kind == "tensor":
            return self._tensor(native)
        whole = self._as_object(native)
        if kind in ("memory", "object"):
            return whole
        assert kind == "array"  # complex numbers are arrays of rank 0 here
        return out.call_c("PyArray_Return", "ptr", "ptr", whole)

    def _as_object(self, native: Element | Object) -> str:
        if isinstance(native, Element):
            return self.box(native)
        self._out.call("retain", native.ir)
        return native.ir

    def _tensor(self, native: Element | Object) -> str:
        out, form = self._out, self._form
        kind = self._calls.object(form.tensor_class)(out)
        made = self.check_not_null(out.call_c("PyType_GenericAlloc", "ptr", "ptr, i64", kind, 0))
        slot = self.hold(made)
        whole, typed = self._as_object(native), self._calls.object(False)(out)
        out.call("retain", typed)
        for offset, held in ((form.array_slot, whole), (form.weak_slot, typed)):
            place = out.gep("i8", made, offset)
            out.store("ptr", held, place)
        return self._move_from_slot(made, slot)

    def _complex_number(self, held: Object) -> str:
        """Convert an array of rank 0 to a Python complex."""
        out = self._out
        data = out.load("ptr", out.gep("i8", held.ir, abi.DATA))
        found = load(ElementWriter(out), complex128, data, 0)
        assert isinstance(found, Pair)
        return out.call_c("PyComplex_FromDoubles", "ptr", "double, double", found.real.ir, found.imag.ir)

    def _python_number(self, element: Element) -> str:
        out = self._out
        if element.dtype.is_floating:
            return out.call_c("PyFloat_FromDouble", "ptr", "double", element.ir)
        if element.dtype.is_bool:
            yes, no = (self._calls.object(truth)(out) for truth in (True, False))
            chosen = out.select(element.ir, yes, no)
            out.call("retain", chosen)
            return chosen
        return out.call_c("PyLong_FromLongLong", "ptr", "i64", element.ir)


__all__ = ["ResultWriter"]
