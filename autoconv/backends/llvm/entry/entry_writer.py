"""Native code that checks and unwraps the arguments of a call, and calls the graph's function."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autoconv.backends.call_form import (
    ABSENT,
    DICT_COUNT,
    CallForm,
    CellGuard,
    GlobalGuard,
    Guard,
    InstanceParameter,
    ListParameter,
)
from autoconv.backends.llvm.analysis.representation import is_open, is_scalar, sizes
from autoconv.backends.llvm.codegen.memory.array_view import byte_bounds, sizes_or_strides
from autoconv.backends.llvm.codegen.object_table import Address, ObjectTable
from autoconv.backends.llvm.codegen.values import Memory, Object
from autoconv.backends.llvm.entry.results import ResultWriter
from autoconv.backends.llvm.entry.symbolic_sizes import ArgumentDimensions
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE, NULL
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph, Value


class EntryWriter:
    """A writer of the function of an entry; its methods write checks and steps in the order of their calls.

    A check that fails branches to the exit that refuses the call: the entry returns NotImplemented. `parameter_count`
    is the number of arguments; the last of them may be omitted and then have `defaults`.
    """

    def __init__(
        self, graph: Graph, module: ModuleText, objects: ObjectTable, name: str, parameter_count: int,
        defaults: Sequence[Any] = (),
    ) -> None:
        self._graph = graph
        self._module = module
        self.objects = objects
        self._memories: list[tuple[str, Any]] = []  # mutable arrays among the arguments, and their types
        self.copies: list[str] = []  # slots of C-contiguous copies or views of arguments
        self._saved_slots: list[str] = []  # slots of copies of arrays that are restored if the graph fails
        self._restore_arguments: tuple[str, str, int] | None = None  # arguments of `restore_arrays`
        parameters = ("ptr %self", "ptr %arguments", "i64 %count")
        self.out = FunctionText(module, Signature("ptr", parameters, f"nounwind {QUICK}", name, exported=True))
        self.result_writer = ResultWriter(self.out, objects)
        self._refusal_label = self.out.label("other")
        self._defaults, self._required_count = defaults, parameter_count - len(defaults)
        # As an unsigned number, the difference is large if there are too few arguments.
        self._check(self.out.icmp("ule", self.out.op("sub", "%count", self._required_count), len(defaults)))
        self.open_dimensions = ArgumentDimensions(module.open_sizes, self.out, objects, self._check)

    def _check(self, test: str) -> None:
        """Write a branch to the exit that refuses the call, unless the test holds."""
        passed_label = self.out.label("ok")
        self.out.branch_if(test, passed_label, self._refusal_label)
        self.out.begin(passed_label)

    def _load_field(self, object_: str, offset: int, ir_type: str) -> str:
        """Load the field of an object at an offset in bytes."""
        address = self.out.gep("i8", object_, offset)
        return self.out.load(ir_type, address)

    def load_argument(self, position: int) -> str:
        """Return an argument of the call, or its default if the call omits it."""
        if position < self._required_count:
            return self._load_field("%arguments", 8 * position, "ptr")
        out, default = self.out, self.objects.reference(self._defaults[position - self._required_count])
        cell = out.alloca("ptr")
        out.store("ptr", default(out), cell)
        is_given = out.icmp("ugt", "%count", position)
        return out.load("ptr", out.select(is_given, out.gep("i8", "%arguments", 8 * position), cell))

    # ---- checks

    def check_idle(self, form: CallForm) -> None:
        """Check that no graph is being recorded and no tape is active."""
        cell = self.objects.reference(Address(ctypes.addressof(form.busy)))(self.out)
        busy = self.out.new(f"load atomic i64, ptr {cell} monotonic, align 8")
        self._check(self.out.icmp("eq", busy, 0))

    def check_guards(self, form: CallForm) -> None:
        """Check the trace's guards: cells, globals and fields of objects still hold the same objects."""
        guards_by_namespace: dict[int, list[GlobalGuard]] = {}
        for guard in form.guards:
            if isinstance(guard, GlobalGuard):
                guards_by_namespace.setdefault(id(guard.namespace), []).append(guard)
        for guards in guards_by_namespace.values():
            self._check_names(guards)
        for guard in form.guards:
            if isinstance(guard, CellGuard):
                contents = self._load_field(self.objects.reference(guard.cell)(self.out), abi.CELL_CONTENTS, "ptr")
                self._check(self.out.is_same(contents, self.objects.reference(guard.value)(self.out)))
            self._check_fields(guard)

    def _check_names(self, guards: Sequence[GlobalGuard]) -> None:
        """Check that names of one namespace are bound to the same objects.

        They are looked up only after a change of the namespace: a global variable holds the version of the dict at the
        last successful check.
        """
        namespace = self.objects.reference(guards[0].namespace)(self.out)
        offset = abi.dict_version_offset()
        if offset is None:
            self._check_bindings(namespace, guards)
            return
        name = self._module.unique_name("version")
        self._module.variable(name, "i64")
        version = self._load_field(namespace, offset, "i64")
        with self.out.unless(self.out.icmp("eq", version, self.out.load("i64", f"@{name}"))):
            self._check_bindings(namespace, guards)
            self.out.store("i64", version, f"@{name}")

    def _check_bindings(self, namespace: str, guards: Sequence[GlobalGuard]) -> None:
        """Check that the names of the guards still have the same values in the namespace, or are still absent."""
        self._module.declare("PyDict_GetItemWithError", "ptr", "ptr, ptr")
        for guard in guards:
            name = self.objects.reference(guard.name)(self.out)
            current_value = self.out.call("PyDict_GetItemWithError", namespace, name)
            expected_value = "null" if guard.value is ABSENT else self.objects.reference(guard.value)(self.out)
            self._check(self.out.is_same(current_value, expected_value))

    def _check_fields(self, guard: Guard) -> None:
        """Check the fields of a guarded object, and that the guard's `empty_dict`, if any, is still empty."""
        if guard.fields:
            object_ = self.objects.reference(guard.value)(self.out)
            for offset, expected_object in guard.fields:
                expected = "null" if expected_object is None else self.objects.reference(expected_object)(self.out)
                self._check(self.out.is_same(self._load_field(object_, offset, "ptr"), expected))
        if guard.empty_dict is not None:
            container = self.objects.reference(guard.empty_dict)(self.out)
            self._check(self.out.icmp("eq", self._load_field(container, DICT_COUNT, "i64"), 0))

    def check_distinct(self, array: str, other_arrays: Sequence[str]) -> None:
        """Check that an array is not identical to one of the other arrays."""
        for other_array in other_arrays:
            self._check(self.out.differs(array, other_array))

    # ---- arguments

    def move_donated(self, position: int, form: CallForm, to_graph: bool) -> None:
        """Move the array out of a donated tensor, in which the donation mark replaces it.

        If `to_graph`, the graph gets the reference to the array; otherwise it is released.
        """
        out, donation = self.out, self.objects.reference(form.donation)(self.out)
        slot = out.gep("i8", self.load_argument(position), form.array_slot)
        out.call("retain", donation)
        if not to_graph:
            out.call("release", slot)
        out.store("ptr", donation, slot)

    def unwrap_tensor(self, tensor: str, form: CallForm, is_weak: bool) -> str:
        """Check that an object is a tensor, and weak if `is_weak`; return its array."""
        tensor_class = self.objects.reference(form.tensor_class)(self.out)
        self._check(self.out.is_same(self._load_field(tensor, abi.TYPE_OFFSET, "ptr"), tensor_class))
        expected = self.objects.reference(is_weak)(self.out)
        self._check(self.out.is_same(self._load_field(tensor, form.weak_slot, "ptr"), expected))
        return self._load_field(tensor, form.array_slot, "ptr")

    def check_array(self, array: str, value: Value) -> str:
        """Check that an object is a C-contiguous ndarray of the value's type, and return it."""
        type_: Any = value.type
        shape = sizes(type_)
        if is_open(type_):
            self.open_dimensions.bind_array(array, type_)
            return array
        array_class, descriptor = (self.objects.reference(item)(self.out) for item in (np.ndarray, type_.dtype.numpy))
        dimensions = self.objects.shape(shape) if shape else "null"
        has_type = self.out.call("is_contiguous_array", array, array_class, descriptor, len(shape), dimensions)
        self._check(self.out.icmp("ne", has_type, FALSE))
        return array

    def copy_unless_row_major(self, array: str, value: Value, is_column_major: bool) -> str:
        """Return a C-contiguous array for the graph: the argument itself, or a copy.

        If `is_column_major`, return the transposed view of an array in Fortran order, and refuse other arrays.
        """
        out = self.out
        array_class, descriptor = (self.objects.reference(item)(out) for item in (np.ndarray, value.dtype.numpy))
        arguments = array, array_class, descriptor, len(sizes(value.type))
        if is_column_major:
            result = out.call("transposed_view", *arguments)
        else:
            result = out.call("contiguous_copy", *arguments, value.dtype.size)
        self.copies.append(self.result_writer.hold(result))
        if is_column_major:
            self._check(out.icmp("ne", result, NULL))
            return result
        return out.select(out.is_null(result), array, result)

    def check_not_all_column_major(self, arrays: Sequence[str]) -> None:
        """Check that not all of the arrays are in Fortran order, since another trace is for such arguments."""
        if not arrays:
            return
        array_class, are_column_major = self.objects.reference(np.ndarray)(self.out), ""
        for array in arrays:
            is_column_major = self.out.call("is_column_major", array, array_class)
            are_column_major = self.out.and_(are_column_major, is_column_major) if are_column_major else is_column_major
        self._check(self.out.icmp("eq", are_column_major, FALSE))

    def check_memory(self, array: str, value: Value) -> str:
        """Check that an object is an ndarray with the layout in memory that its type states, and return it."""
        type_: Any = value.type
        array_class, descriptor = (self.objects.reference(item)(self.out) for item in (np.ndarray, type_.dtype.numpy))
        layout = (type_.shape, type_.strides)
        expected_layout = [[n if isinstance(n, int) else abi.ANY_NUMBER for n in dimensions] for dimensions in layout]
        shape, strides = (self.objects.shape(expected) if expected else "null" for expected in expected_layout)
        has_layout = self.out.call("is_memory", array, array_class, descriptor, type_.rank, shape, strides)
        self._check(self.out.icmp("ne", has_layout, FALSE))
        self.open_dimensions.bind_memory(array, type_)
        self._memories.append((array, type_))
        return array

    def check_list(self, list_: str, parameter: ListParameter) -> str:
        """Check that an object is a list of the parameter's depth and items, by each first item; return the object."""
        out, length_product, item = self.out, "1", list_
        for _ in range(parameter.list_depth):
            item_class = self._load_field(item, abi.TYPE_OFFSET, "ptr")
            self._check(self.out.is_same(item_class, self.objects.reference(list)(out)))
            count = self._load_field(item, abi.LIST_COUNT, "i64")
            self._check(self.out.icmp("ne", count, 0))
            length_product = out.op("mul", length_product, count)
            item = self._load_field(self._load_field(item, abi.LIST_ITEMS, "ptr"), 0, "ptr")
        self._check(self.out.icmp("uge", length_product, parameter.min_length_product))
        item_class = self.objects.reference(parameter.item_type)(out)
        self._check(self.out.is_same(self._load_field(item, abi.TYPE_OFFSET, "ptr"), item_class))
        return list_

    def check_instance(self, instance: str, parameter: InstanceParameter) -> str:
        """Check the class of an object, and return the object."""
        class_ = self.objects.reference(parameter.instance_type)(self.out)
        self._check(self.out.is_same(self._load_field(instance, abi.TYPE_OFFSET, "ptr"), class_))
        return instance

    def check_disjoint(self) -> None:
        """Check that mutable arrays do not overlap, unless their types allow it.

        An array counts as the whole range from its first to its last byte, so the check may refuse disjoint arrays.
        """
        ranges: list[tuple[str, str]] = []
        memories = [(array, type_) for array, type_ in self._memories if not type_.shared]
        for array, type_ in memories if len(memories) > 1 else ():
            pointer = self._load_field(array, abi.DATA, "ptr")
            shape = sizes_or_strides(self.out, array, type_.shape, abi.DIMENSIONS)
            strides = sizes_or_strides(self.out, array, type_.strides, abi.STRIDES)
            memory = Memory(Object(array), pointer, shape, strides, is_whole="true")
            ranges.append(byte_bounds(self.out, memory, type_.dtype.size))
        for i, (low, high) in enumerate(ranges):
            for other_low, other_high in ranges[:i]:
                is_before = self.out.icmp("ule", high, other_low)
                is_after = self.out.icmp("ule", other_high, low)
                self._check(self.out.or_(is_before, is_after))

    def graph_argument(self, array: str, value: Value) -> str:
        """Return the argument of the graph's function: a number, loaded from its array, or the array itself."""
        if not is_scalar(value.type):
            return array
        element = load(ElementWriter(self.out), value.dtype, self._load_field(array, abi.DATA, "ptr"), 0)
        return element.ir

    def unwrap_number(self, object_: str, value: Value) -> str | tuple[str, str]:
        """Return the number of an object whose class is exactly bool, int or float, or both parts of a complex number.
        """
        dtype = value.dtype
        if dtype.is_complex:
            complex_class = self.objects.reference(complex)(self.out)
            self._check(self.out.is_same(self._load_field(object_, abi.TYPE_OFFSET, "ptr"), complex_class))
            real, imag = (self._load_field(object_, part, "double") for part in (abi.REAL_PART, abi.IMAGINARY_PART))
            return real, imag
        return self._unwrap_number(object_, bool if dtype.is_bool else int if dtype.is_integer else float)

    def unwrap_scalar(self, object_: str, value: Value) -> str:
        """Return the number of a NumPy scalar of exactly the value's dtype; an array of rank 0 is refused."""
        dtype = value.dtype
        scalar_class = self.objects.reference(dtype.numpy.type)(self.out)
        self._check(self.out.is_same(self._load_field(object_, abi.TYPE_OFFSET, "ptr"), scalar_class))
        address = self.out.gep("i8", object_, abi.SCALAR_VALUE)
        return load(ElementWriter(self.out), dtype, address, 0).ir

    def box_complex(self, real_and_imaginary: tuple[str, str]) -> tuple[str, str]:
        """Box a complex number in an array of rank 0; return the array and the slot that owns it."""
        b = ElementWriter(self.out)
        array = self.result_writer.box(b.pair(*(b.wrap(float64, part) for part in real_and_imaginary)))
        return array, self.result_writer.hold(array)

    def save_arrays(self, natives: Sequence[str], form: CallForm) -> None:
        """Copy the arrays that have to be restored if the graph fails; `natives` are the arguments of its function."""
        arrays = [natives[i] for i in sorted(form.saved)]
        if not arrays:
            return
        out = self.out
        arguments = out.alloca(f"[{1 + 2 * len(arrays)} x ptr]")  # the error becomes the first argument
        for i, array in enumerate(arrays):
            copy = self.result_writer.check_not_null(out.call_c("PyArray_NewCopy", "ptr", "ptr, i32", array, 0))
            self._saved_slots.append(self.result_writer.hold(copy))
            for position, object_ in enumerate((array, copy), 1 + 2 * i):
                out.store("ptr", object_, out.gep("ptr", arguments, position))
        self._restore_arguments = self.objects.reference(form.restore)(out), arguments, 1 + 2 * len(arrays)

    def check_constant(self, object_: str, constant: Any) -> None:
        """Check that an argument equals the constant for which the graph was traced."""
        if type(constant) not in (int, float):
            self._check(self.out.is_same(object_, self.objects.reference(constant)(self.out)))
            return
        actual, expected = self._unwrap_number(object_, type(constant)), str(constant)
        if type(constant) is float:  # compare bits
            actual = self.out.cast("bitcast", actual, "i64")
            expected = str(struct.unpack("<q", struct.pack("<d", constant))[0])
        self._check(self.out.icmp("eq", actual, expected))

    def _unwrap_number(self, object_: str, class_: type) -> str:
        """Return the number of an object whose class is exactly `class_`: bool, int or float."""
        out = self.out
        expected = self.objects.reference(class_)(out)
        self._check(self.out.is_same(self._load_field(object_, abi.TYPE_OFFSET, "ptr"), expected))
        if class_ is bool:
            return out.is_same(object_, self.objects.reference(True)(out))
        if class_ is float:
            return self._load_field(object_, abi.FLOAT_VALUE, "double")
        overflow = out.alloca("i32", "0")
        result = out.call_c("PyLong_AsLongLongAndOverflow", "i64", "ptr, ptr", object_, overflow)
        self._check(out.icmp("eq", out.load("i32", overflow), 0))
        return result

    # ---- results

    def release_copies(self) -> None:
        """Release the copies and views of arguments."""
        for slot in self.copies:
            self.out.call("release", slot)

    def call_graph(
        self, natives: Sequence[str], temporary_slots: Sequence[str] = (), transposed: Collection[int] = ()
    ) -> list[Element | Object]:
        """Call the graph's function, and return its outputs.

        Objects in `temporary_slots` are released after the call. The outputs at the positions `transposed` are
        transposed in place.
        """
        out, outputs = self.out, self._graph.outputs
        cells = out.alloca(f"[{max(len(outputs), 1)} x i64]")
        has_succeeded = out.call("graph", *natives, cells, *self._module.sizes)
        if self._restore_arguments is not None:
            with out.unless(has_succeeded):
                out.call("restore_arrays", *self._restore_arguments)
        for slot in (*temporary_slots, *self._saved_slots):
            out.call("release", slot)
        success_label, failure_label = out.label("well"), out.label("failed")
        out.branch_if(has_succeeded, success_label, failure_label)
        out.begin(failure_label)
        out.ret(NULL)
        out.begin(success_label)
        results: list[Element | Object] = []
        for i, value in enumerate(outputs):
            cell = out.gep("i64", cells, i)
            if is_scalar(value.type):
                results.append(load(ElementWriter(out), value.dtype, cell, 0))
            else:
                results.append(Object(out.load("ptr", cell)))
                if i in transposed:
                    out.call("transpose_in_place", results[-1].ir)
        return results

    def write_refusal(self) -> None:
        """End the function with the exit that refuses a call: it returns NotImplemented."""
        self.out.begin(self._refusal_label)
        self.release_copies()
        not_implemented = self.objects.reference(NotImplemented)(self.out)
        self.out.call("retain", not_implemented)
        self.out.ret(not_implemented, "ptr")
        self.out.finish()
