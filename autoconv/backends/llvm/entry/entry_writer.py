"""Check and unwrap the arguments of a call in native code, and call the graph."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autoconv.backends.call_form import ABSENT, DICT_COUNT, CallForm, CellGuard, InstanceParameter, ListParameter
from autoconv.backends.llvm.analysis.representation import is_open, is_scalar, sizes
from autoconv.backends.llvm.codegen.memory.array_view import byte_bounds, sizes_or_strides
from autoconv.backends.llvm.codegen.object_table import Address, Calls
from autoconv.backends.llvm.codegen.values import Memory, Object
from autoconv.backends.llvm.entry.results import ResultWriter
from autoconv.backends.llvm.entry.symbolic_sizes import SizesOfArguments
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
    """The function of an entry: its checks, in the order of the calls of its methods, and the exit that refuses."""

    def __init__(self, graph: Graph, module: ModuleText, calls: Calls, name: str, count: int) -> None:
        self._graph = graph
        self._module = module
        self._calls = calls
        self._memories: list[tuple[str, Any]] = []
        self.copies: list[str] = []  # slots of arguments that are copied where they do not lie plain
        self._saved: list[str] = []  # slots of copies of arrays that are restored where the graph fails
        self._restored: tuple[str, str, int] | None = None  # arguments of `restore_arrays`
        parameters = ("ptr %self", "ptr %arguments", "i64 %count")
        self.out = FunctionText(module, Signature("ptr", parameters, f"nounwind {QUICK}", name, exported=True))
        self.result_writer = ResultWriter(self.out, calls)
        self._refused = self.out.label("other")
        self._check(self.out.icmp("eq", "%count", count))
        self.open = SizesOfArguments(module.open_sizes, self.out, calls, self._check)

    def _check(self, test: str) -> None:
        """Refuse the call unless the test holds."""
        go_on = self.out.label("ok")
        self.out.branch_if(test, go_on, self._refused)
        self.out.begin(go_on)

    def _field(self, object_: str, offset: int, kind: str) -> str:
        place = self.out.gep("i8", object_, offset)
        return self.out.load(kind, place)

    def argument(self, position: int) -> str:
        return self._field("%arguments", 8 * position, "ptr")

    # ---- checks

    def check_idle(self, form: CallForm) -> None:
        """Check that no graph is being recorded and no tape is active."""
        cell = self._calls.object(Address(ctypes.addressof(form.busy)))(self.out)
        busy = self.out.new(f"load atomic i64, ptr {cell} monotonic, align 8")
        self._check(self.out.icmp("eq", busy, 0))

    def check_guards(self, form: CallForm) -> None:
        """Check that the trace's guards hold: cells, globals and parts of objects are as they were."""
        for guard in form.guards:
            if isinstance(guard, CellGuard):
                found = self._field(self._calls.object(guard.cell)(self.out), abi.CELL_CONTENTS, "ptr")
            else:
                self._module.declare("PyDict_GetItemWithError", "ptr", "ptr, ptr")
                namespace = self._calls.object(guard.namespace)(self.out)
                name = self._calls.object(guard.name)(self.out)
                found = self.out.call("PyDict_GetItemWithError", namespace, name)
            value = "null" if guard.value is ABSENT else self._calls.object(guard.value)(self.out)
            self._check(self.out.is_same(found, value))
            for offset, wanted in guard.words:
                expected = "null" if wanted is None else self._calls.object(wanted)(self.out)
                self._check(self.out.is_same(self._field(found, offset, "ptr"), expected))
            if guard.empty is not None:
                held = self._calls.object(guard.empty)(self.out)
                self._check(self.out.icmp("eq", self._field(held, DICT_COUNT, "i64"), 0))

    def check_different(self, array: str, others: Sequence[str]) -> None:
        """Check that the array is none of the others."""
        for other in others:
            self._check(self.out.differs(array, other))

    # ---- arguments

    def give_away(self, position: int, form: CallForm, to_graph: bool) -> None:
        """Move the array out of the tensor: its reference passes to the graph, or is released."""
        out, donation = self.out, self._calls.object(form.donation)(self.out)
        place = out.gep("i8", self.argument(position), form.array_slot)
        out.call("retain", donation)
        if not to_graph:
            out.call("release", place)
        out.store("ptr", donation, place)

    def unwrap_tensor(self, given: str, form: CallForm, weak: bool) -> str:
        """Return the array of a tensor."""
        kind = self._calls.object(form.tensor_class)(self.out)
        self._check(self.out.is_same(self._field(given, abi.TYPE, "ptr"), kind))
        expected = self._calls.object(weak)(self.out)
        self._check(self.out.is_same(self._field(given, form.weak_slot, "ptr"), expected))
        return self._field(given, form.array_slot, "ptr")

    def array_of(self, given: str, value: Value) -> str:
        """Check that the object is a plain ndarray of the exact type, and return it."""
        type_: Any = value.type
        shape = sizes(type_)
        if is_open(type_):
            self.open.take(given, type_)
            return given
        kind, descriptor = (self._calls.object(item)(self.out) for item in (np.ndarray, type_.dtype.numpy))
        dimensions = self._calls.shape(shape) if shape else "null"
        plain = self.out.call("is_plain_array", given, kind, descriptor, len(shape), dimensions)
        self._check(self.out.icmp("ne", plain, FALSE))
        return given

    def as_row_major(self, given: str, value: Value, by_columns: bool) -> str:
        """Return an array as the graph takes it.

        It is the object, or a C-contiguous copy of an array that lies otherwise. With `by_columns` it is the
        transposition of an array in Fortran order, and the entry refuses others.
        """
        out = self.out
        kind, descriptor = (self._calls.object(item)(out) for item in (np.ndarray, value.dtype.numpy))
        array = given, kind, descriptor, len(sizes(value.type))
        result = out.call("turned_view", *array) if by_columns else out.call("plain_copy", *array, value.dtype.size)
        self.copies.append(self.result_writer.hold(result))
        if by_columns:
            self._check(out.icmp("ne", result, NULL))
            return result
        return out.select(out.is_null(result), given, result)

    def check_rows(self, arrays: Sequence[str]) -> None:
        """Check that not all of the arrays lie in Fortran order: for such arguments there is a trace of its own."""
        if not arrays:
            return
        kind, found = self._calls.object(np.ndarray)(self.out), ""
        for given in arrays:
            other = self.out.call("lies_by_columns", given, kind)
            found = self.out.and_(found, other) if found else other
        self._check(self.out.icmp("eq", found, FALSE))

    def memory_of(self, given: str, value: Value) -> str:
        """Check that the object is an ndarray laid out in memory as its type states, and return it."""
        type_: Any = value.type
        kind, descriptor = (self._calls.object(item)(self.out) for item in (np.ndarray, type_.dtype.numpy))
        numbers = [[n if isinstance(n, int) else abi.ANY_NUMBER for n in all_] for all_ in (type_.shape, type_.strides)]
        lists = [self._calls.shape(wanted) if wanted else "null" for wanted in numbers]
        fits = self.out.call("is_memory", given, kind, descriptor, type_.rank, lists[0], lists[1])
        self._check(self.out.icmp("ne", fits, FALSE))
        self.open.take_memory(given, type_)
        self._memories.append((given, type_))
        return given

    def list_of(self, given: str, listed: ListParameter) -> str:
        """Check that the object is such a list, by the classes of its first items, and return it."""
        out, total, found = self.out, "1", given
        for _ in range(listed.list_depth):
            self._check(self.out.is_same(self._field(found, abi.TYPE, "ptr"), self._calls.object(list)(out)))
            count = self._field(found, abi.LIST_COUNT, "i64")
            self._check(self.out.icmp("ne", count, 0))
            total = out.op("mul", total, count)
            found = self._field(self._field(found, abi.LIST_ITEMS, "ptr"), 0, "ptr")
        self._check(self.out.icmp("uge", total, listed.min_length_product))
        self._check(self.out.is_same(self._field(found, abi.TYPE, "ptr"), self._calls.object(listed.item_type)(out)))
        return given

    def check_instance(self, given: str, whole: InstanceParameter) -> str:
        """Check the class of the object, and return it."""
        self._check(self.out.is_same(self._field(given, abi.TYPE, "ptr"), self._calls.object(whole.kind)(self.out)))
        return given

    def check_apart(self) -> None:
        """Check that arrays do not overlap, unless their types allow it.

        Conservative: an array counts as the whole range from its first to its last byte.
        """
        found: list[tuple[str, str]] = []
        memories = [(given, type_) for given, type_ in self._memories if not type_.shared]
        for given, type_ in memories if len(memories) > 1 else ():
            pointer = self._field(given, abi.DATA, "ptr")
            shape = sizes_or_strides(self.out, given, type_.shape, abi.DIMENSIONS)
            strides = sizes_or_strides(self.out, given, type_.strides, abi.STRIDES)
            taken = Memory(Object(given), pointer, shape, strides, "true")
            found.append(byte_bounds(self.out, taken, type_.dtype.size))
        for i, (low, high) in enumerate(found):
            for other_low, other_high in found[:i]:
                before = self.out.icmp("ule", high, other_low)
                behind = self.out.icmp("ule", other_high, low)
                self._check(self.out.or_(before, behind))

    def graph_argument(self, given: str, value: Value) -> str:
        """Return the graph's argument: a number loaded from its array, or the array itself."""
        if not is_scalar(value.type):
            return given
        element = load(ElementWriter(self.out), value.dtype, self._field(given, abi.DATA, "ptr"), 0)
        return element.ir

    def number(self, given: str, value: Value) -> str | tuple[str, str]:
        """Unwrap a Python bool, int or float of exactly that type, or both parts of a complex number."""
        dtype = value.dtype
        if dtype.is_complex:
            kind = self._calls.object(complex)(self.out)
            self._check(self.out.is_same(self._field(given, abi.TYPE, "ptr"), kind))
            return self._field(given, abi.REAL_PART, "double"), self._field(given, abi.IMAGINARY_PART, "double")
        return self._number(given, bool if dtype.is_bool else int if dtype.is_integer else float)

    def scalar(self, given: str, value: Value) -> str:
        """Unwrap a NumPy scalar of exactly the type; an array of rank 0 is refused."""
        dtype = value.dtype
        kind = self._calls.object(dtype.numpy.type)(self.out)
        self._check(self.out.is_same(self._field(given, abi.TYPE, "ptr"), kind))
        place = self.out.gep("i8", given, abi.SCALAR_VALUE)
        return load(ElementWriter(self.out), dtype, place, 0).ir

    def box(self, parts: tuple[str, str]) -> tuple[str, str]:
        """Box a complex number in the array of rank 0 that the graph takes; return it with the slot that owns it."""
        b = ElementWriter(self.out)
        made = self.result_writer.box(b.pair(*(b.wrap(float64, part) for part in parts)))
        return made, self.result_writer.hold(made)

    def save_arrays(self, natives: Sequence[str], form: CallForm) -> None:
        """Copy the arrays that are restored if the graph fails."""
        arrays = [natives[i] for i in sorted(form.saved)]
        if not arrays:
            return
        out = self.out
        given = out.alloca(f"[{1 + 2 * len(arrays)} x ptr]")  # the error will be the first one
        for i, array in enumerate(arrays):
            copy = self.result_writer.check_not_null(out.call_c("PyArray_NewCopy", "ptr", "ptr, i32", array, 0))
            self._saved.append(self.result_writer.hold(copy))
            for position, one in enumerate((array, copy), 1 + 2 * i):
                out.store("ptr", one, out.gep("ptr", given, position))
        self._restored = self._calls.object(form.restore)(out), given, 1 + 2 * len(arrays)

    def check_exactly(self, given: str, wanted: Any) -> None:
        if type(wanted) not in (int, float):
            self._check(self.out.is_same(given, self._calls.object(wanted)(self.out)))
            return
        found, expected = self._number(given, type(wanted)), str(wanted)
        if type(wanted) is float:  # compare bits
            found = self.out.cast("bitcast", found, "i64")
            expected = str(struct.unpack("<q", struct.pack("<d", wanted))[0])
        self._check(self.out.icmp("eq", found, expected))

    def _number(self, given: str, kind: type) -> str:
        out = self.out
        self._check(self.out.is_same(self._field(given, abi.TYPE, "ptr"), self._calls.object(kind)(out)))
        if kind is bool:
            return out.is_same(given, self._calls.object(True)(out))
        if kind is float:
            return self._field(given, abi.FLOAT_VALUE, "double")
        overflow = out.alloca("i32", "0")
        result = out.call_c("PyLong_AsLongLongAndOverflow", "i64", "ptr, ptr", given, overflow)
        self._check(out.icmp("eq", out.load("i32", overflow), 0))
        return result

    # ---- results

    def results(
        self, natives: Sequence[str], boxes: Sequence[str] = (), turned: Collection[int] = ()
    ) -> list[Element | Object]:
        """Call the graph, release the temporary objects in the slots `boxes`, transpose the outputs `turned`."""
        out, outputs = self.out, self._graph.outputs
        cells = out.alloca(f"[{max(len(outputs), 1)} x i64]")
        well = out.call("graph", *natives, cells, *self._module.sizes)
        if self._restored is not None:
            with out.unless(well):
                out.call("restore_arrays", *self._restored)
        for slot in (*boxes, *self._saved):
            out.call("release", slot)
        go_on, failed = out.label("well"), out.label("failed")
        out.branch_if(well, go_on, failed)
        out.begin(failed)
        out.ret(NULL)
        out.begin(go_on)
        found: list[Element | Object] = []
        for i, value in enumerate(outputs):
            place = out.gep("i64", cells, i)
            if is_scalar(value.type):
                found.append(load(ElementWriter(out), value.dtype, place, 0))
            else:
                found.append(Object(out.load("ptr", place)))
                if i in turned:
                    out.call("turn", found[-1].ir)
        return found

    def refuse(self) -> None:
        """End the function with the exit for arguments of another form, which returns NotImplemented."""
        self.out.begin(self._refused)
        for slot in self.copies:
            self.out.call("release", slot)
        missing = self._calls.object(NotImplemented)(self.out)
        self.out.call("retain", missing)
        self.out.ret(missing, "ptr")
        self.out.finish()
