"""Native code that builds the result of a call: Python objects around a graph's numbers and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends.call_form import (
    CalledResult,
    CallForm,
    ConstantResult,
    ContainerResult,
    OutputResult,
    ResultForm,
    SelectedResult,
    output_kinds,
)
from autoconv.backends.llvm.analysis.ownership import allocated_outputs
from autoconv.backends.llvm.codegen.object_table import ObjectTable
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import NULL, Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, memory_type, store
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import complex128
from autoconv.graph.graph import Graph, Value

# Container class -> (C API function, types of its parameters): constructors, which take a size, and setters of an item.
_CONSTRUCTORS: dict[type, tuple[str, str]] = {
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
    """A writer of the end of an entry, which builds and returns the result.

    If an allocation fails, the entry releases the objects in its slots and returns NULL.
    """

    def __init__(self, out: FunctionText, objects: ObjectTable) -> None:
        self._out = out
        self._objects = objects
        self._module = out.module
        self._failure_label: str | None = None

    def return_tuple(self, outputs: Sequence[Element | Object]) -> None:
        """Write the return of a tuple of the outputs: numbers as arrays of rank 0, objects unchanged."""
        slots = [self.hold(native.ir) if isinstance(native, Object) else "" for native in outputs]
        tuple_, slot = self._new_container(tuple, len(outputs))
        for i, (native, output_slot) in enumerate(zip(outputs, slots, strict=True)):
            if isinstance(native, Element):
                item = self.box(native)
            else:
                item = self._move_from_slot(native.ir, output_slot)
            self._set_item(tuple, tuple_, i, item)
        self._out.ret(self._move_from_slot(tuple_, slot), "ptr")
        self.write_failure_exit()

    def return_form(self, outputs: Sequence[Element | Object], form: CallForm, graph: Graph) -> None:
        """Write the return of the result that the form describes; `outputs` are those of the graph."""
        kinds = output_kinds(form.result)
        self._form = form
        self._outputs: list[Element | Object] = []
        slots = [self.hold(native.ir) if isinstance(native, Object) else "" for native in outputs]
        replacements: list[tuple[str, str]] = []  # (array that may have other owners, its replacement)
        for i, (native, is_allocated) in enumerate(zip(outputs, allocated_outputs(graph), strict=True)):
            needs_owner = kinds.get(i) in ("array", "tensor") and not (form.outputs_may_share_memory or is_allocated)
            if isinstance(native, Object) and needs_owner:
                array = self._move_from_slot(native.ir, slots[i])
                is_zero = _is_zero_constant(graph.outputs[i])
                owned_array = self.check_not_null(self._write_owned_array(array, replacements, is_zero))
                replacements.append((native.ir, owned_array))
                self._out.store("ptr", owned_array, slots[i])
                native = Object(owned_array)
            self._outputs.append(native)
        result = self._build_result(form.result)  # NULL after an error, and returned then
        for slot in slots:
            if slot:
                self._out.call("release", slot)
        self._out.ret(result, "ptr")
        self.write_failure_exit()

    def write_failure_exit(self) -> None:
        """Write the exit for failed allocations, if a check branches to it."""
        if self._failure_label is None:
            return
        self._out.begin(self._failure_label)
        if self._out.slot_count:
            self._out.call("release_all", "%slots", self._out.slot_count)
        self._out.ret(NULL)

    # ---- owned references

    def check_not_null(self, object_: str) -> str:
        """Write a branch that leaves the function if an object is NULL; return the object."""
        if self._failure_label is None:
            self._failure_label = self._out.label("missing")
        self._out.leave_if(self._out.is_null(object_), self._failure_label)
        return object_

    def hold(self, object_: str) -> str:
        """Store a reference in a new slot, and return the slot."""
        slot = self._out.slot()
        self._out.store("ptr", object_, slot)
        return slot

    def _move_from_slot(self, object_: str, slot: str) -> str:
        """Move the reference to an object out of its slot, and return the object."""
        self._out.store("ptr", "null", slot)
        return object_

    # ---- parts of the result

    def _build_result(self, form: ResultForm) -> str:
        """Return a new reference to a result of the given form; it is NULL after an error."""
        if isinstance(form, OutputResult):
            return self._convert_output(self._outputs[form.position], form.kind)
        if isinstance(form, ConstantResult):
            object_ = self._objects.reference(form.value)(self._out)
            self._out.call("retain", object_)
            return object_
        if isinstance(form, ContainerResult):
            return self._build_container(form)
        if isinstance(form, CalledResult):
            return self._call_function(form)
        return self._build_selected(form)

    def _build_selected(self, form: SelectedResult) -> str:
        """Build the alternative that the tag selects."""
        out, tag = self._out, self._outputs[form.tag_position]
        assert isinstance(tag, Element)
        done_label = out.label("chosen")
        ends: list[tuple[Operand, str]] = []
        for number, arm in enumerate(form.arms):
            if number < len(form.arms) - 1:
                arm_label, other_label = out.label("arm"), out.label("other")
                out.branch_if(out.icmp("eq", tag.ir, number), arm_label, other_label)
                out.begin(arm_label)
            ends.append((Operand.of(self._build_result(arm), "ptr"), out.block))
            out.branch(done_label)
            if number < len(form.arms) - 1:
                out.begin(other_label)
        out.begin(done_label)
        return out.phi(*ends)

    def _write_owned_array(self, array: str, replacements: Sequence[tuple[str, str]], is_zero: bool) -> str:
        """Return the array, or a copy if the caller or the code also refers to it; NULL after an error.

        If `is_zero`, the copy is of zeros, which NumPy makes in half of the time.

        `replacements` are pairs (other array, its replacement). If the array is one of these others, the result is the
        other's replacement.
        """
        out = self._out
        if replacements:
            (other_array, replacement), earlier_replacements = replacements[-1], replacements[:-1]

            def share_replacement() -> Operand:
                out.call("retain", replacement)
                self._release(array)
                return Operand.of(replacement, "ptr")

            is_other = out.is_same(array, other_array)
            return out.either(
                is_other, share_replacement, lambda: self._write_owned_array(array, earlier_replacements, is_zero)
            )
        sole_block, is_sole_owner = out.block, out.call("is_alone", array)
        with out.unless(is_sole_owner):
            copy = self._new_zeros(array) if is_zero else out.call_c("PyArray_NewCopy", "ptr", "ptr, i32", array, 0)
            self._release(array)
            copy_block = out.block
        return out.phi((Operand.of(array, "ptr"), sole_block), (copy, copy_block))

    def _new_zeros(self, array: str) -> Operand:
        """Return a new array of zeros with the dtype and the shape of an array; NULL after an error."""
        out = self._out
        rank = out.load("i32", out.gep("i8", array, abi.RANK))
        dimensions, descriptor = (out.load("ptr", out.gep("i8", array, x)) for x in (abi.DIMENSIONS, abi.DESCRIPTOR))
        out.call("retain", descriptor)
        return out.call_c("PyArray_Zeros", "ptr", "i32, ptr, ptr, i32", rank, dimensions, descriptor, 0)

    def _release(self, object_: str) -> None:
        """Release a reference that no slot owns."""
        slot = self._out.alloca("ptr")
        self._out.store("ptr", object_, slot)
        self._out.call("release", slot)

    def _build_container(self, form: ContainerResult) -> str:
        """Return a new list, tuple or dict of the results of the form's members."""
        class_: type = dict if form.keys is not None else form.container_type
        container, slot = self._new_container(class_, len(form.parts))
        for i, part in enumerate(form.parts):
            key = i if form.keys is None else form.keys[i]
            self._set_item(class_, container, key, self.check_not_null(self._build_result(part)))
        return self._move_from_slot(container, slot)

    def _call_function(self, form: CalledResult) -> str:
        """Call a Python function with the parts; the result is NULL after an error."""
        out = self._out
        arguments = self.check_not_null(self._build_container(ContainerResult(tuple, None, form.parts)))
        function = self._objects.reference(form.function)(out)
        result = out.call_c("PyObject_CallObject", "ptr", "ptr, ptr", function, arguments)
        self._release(arguments)
        return result

    def _new_container(self, class_: type, size: int) -> tuple[str, str]:
        """Allocate a container; return it and the slot that owns it."""
        constructor, parameters = _CONSTRUCTORS[class_]
        arguments = [size] if parameters else []
        container = self.check_not_null(self._out.call_c(constructor, "ptr", parameters, *arguments))
        return container, self.hold(container)

    def _set_item(self, class_: type, container: str, key: Any, item: str) -> None:
        """Store an item in a container, which takes over the reference."""
        out, (setter, parameters) = self._out, _SETTERS[class_]
        if class_ is not dict:
            out.call_c(setter, "i32", parameters, container, key, item)
            return
        status = out.call_c(setter, "i32", parameters, container, self._objects.reference(key)(out), item)
        self._release(item)
        self.check_not_null(out.select(out.icmp("eq", status, 0), container, NULL))

    def box(self, element: Element) -> str:
        """Return a number as an array of rank 0."""
        out = self._out
        descriptor = self._objects.reference(element.dtype.numpy)(out)
        result = self.check_not_null(out.call("new_array", 0, "null", descriptor))
        address = out.gep("i8", result, abi.DATA)
        store(ElementWriter(out), element, out.load("ptr", address), 0)
        return result

    def _convert_output(self, native: Element | Object, kind: str) -> str:
        """Convert an output to the user's object of a kind: "number", "tensor", "array", "memory" or "object"."""
        out = self._out
        if kind == "number":
            return self._new_python_number(native) if isinstance(native, Element) else self._new_complex(native)
        if kind == "tensor":
            return self._new_tensor(native)
        if kind == "array" and isinstance(native, Element):
            return self._new_scalar(native)
        object_ = self._as_object(native)
        if kind in ("memory", "object"):
            return object_
        assert kind == "array"  # a complex number is an array of rank 0, which NumPy makes a scalar
        return out.call_c("PyArray_Return", "ptr", "ptr", object_)

    def _new_scalar(self, element: Element) -> str:
        """Return a number as a scalar of NumPy's."""
        out = self._out
        cell, descriptor = out.alloca(memory_type(element.dtype)), self._objects.reference(element.dtype.numpy)(out)
        store(ElementWriter(out), element, cell, 0)
        return out.call_c("PyArray_Scalar", "ptr", "ptr, ptr, ptr", cell, descriptor, NULL)

    def _as_object(self, native: Element | Object) -> str:
        """Return a new reference to an output; a number becomes an array of rank 0."""
        if isinstance(native, Element):
            return self.box(native)
        self._out.call("retain", native.ir)
        return native.ir

    def _new_tensor(self, native: Element | Object) -> str:
        """Return a new tensor around the array of a native value."""
        out, form = self._out, self._form
        tensor_class = self._objects.reference(form.tensor_class)(out)
        tensor = self.check_not_null(out.call_c("PyType_GenericAlloc", "ptr", "ptr, i64", tensor_class, 0))
        slot = self.hold(tensor)
        array, false_object = self._as_object(native), self._objects.reference(False)(out)
        out.call("retain", false_object)
        for offset, field in ((form.array_slot, array), (form.weak_slot, false_object)):  # results are not weak
            address = out.gep("i8", tensor, offset)
            out.store("ptr", field, address)
        return self._move_from_slot(tensor, slot)

    def _new_complex(self, array: Object) -> str:
        """Convert an array of rank 0 to a Python complex."""
        out = self._out
        data = out.load("ptr", out.gep("i8", array.ir, abi.DATA))
        number = load(ElementWriter(out), complex128, data, 0)
        assert isinstance(number, Pair)
        return out.call_c("PyComplex_FromDoubles", "ptr", "double, double", number.real.ir, number.imag.ir)

    def _new_python_number(self, element: Element) -> str:
        """Return a new Python float, bool or int."""
        out = self._out
        if element.dtype.is_floating:
            return out.call_c("PyFloat_FromDouble", "ptr", "double", element.ir)
        if element.dtype.is_bool:
            true, false = (self._objects.reference(truth)(out) for truth in (True, False))
            truth_object = out.select(element.ir, true, false)
            out.call("retain", truth_object)
            return truth_object
        return out.call_c("PyLong_FromLongLong", "ptr", "i64", element.ir)


def _is_zero_constant(value: Value) -> bool:
    """Return whether an output of a graph is a constant array of numbers whose bits are all 0."""
    if value.node is None or value.node.op.name != "constant":
        return False
    array = value.node.attributes["value"]
    if type(array) is not np.ndarray or array.dtype.kind not in "biufc":
        return False
    return not np.ascontiguousarray(array).view(np.uint8).any()  # only contiguous arrays have views as bytes
