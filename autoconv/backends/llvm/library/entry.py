"""The C function of a library: its checks, the choice among the graphs by sizes, and the results.

    int f(const autoconv_float64_2 *x, …, f_result *result)      checks what all graphs require
    └ f.0, f.1, …                                                one graph each; -1: written for other sizes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.backends.library_form import Argument, Fields, FixedParameter, LibraryForm, Output, ResultTree
from autoconv.backends.llvm.analysis.representation import is_scalar, register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import SMALLEST_OPEN_SIZE, define_dimension, dimension
from autoconv.backends.llvm.codegen.object_table import Calls
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import TRUE, Operand
from autoconv.backends.llvm.ir.scalars import ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Parameter, Signature
from autoconv.backends.llvm.ir.types import memory
from autoconv.backends.llvm.library.failures import Failures
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph
from autoconv.graph.types import Symbol

OTHER_SIZES = -1
_HOST = {
    "library_shell": ("void", "ptr, ptr, ptr, ptr, i32, ptr"),
    "library_dense": ("ptr", "ptr"),
    "library_give": ("i1", "ptr, ptr"),
}


def write_variant(
    form: LibraryForm, graph: Graph, module: ModuleText, calls: Calls, failures: Failures, number: int
) -> None:
    """Write `f.number`: run the graph if the sizes are those that it is written for."""
    for name, (result, parameters) in _HOST.items():
        module.declare(name, result, parameters)
    _Variant(form, graph, module, calls, failures, f"{form.name}.{number}").write()


class _Function:
    """The parameters that both functions have, and the tensors among them."""

    def __init__(self, form: LibraryForm, module: ModuleText, name: str) -> None:
        self.form = form
        parameters = [Parameter(parameter_type(one), f"%given{i}") for i, one in self.arguments()]
        parameters.append(Parameter("ptr", "%result"))
        self.out = FunctionText(module, Signature("i32", parameters, "nounwind", name, exported=True))

    def arguments(self) -> Iterator[tuple[int, Argument]]:
        return ((i, one) for i, one in enumerate(self.form.parameters) if isinstance(one, Argument))

    def data(self, i: int, argument: Argument) -> str:
        """Return the address of the first element."""
        return self.out.load("ptr", f"%given{i}") if argument.shape else Operand.of(f"%given{i}", "ptr")

    def lists(self, i: int, argument: Argument) -> tuple[str, str]:
        """Return the addresses of the sizes and of the strides."""
        if not argument.shape:
            return Operand.of("null", "ptr"), Operand.of("null", "ptr")
        kind = tensor(len(argument.shape))
        return self.out.field(kind, f"%given{i}", 1), self.out.field(kind, f"%given{i}", 2)

    def leave_unless(self, test: str, code: int) -> None:
        go_on, leave = self.out.label("fits"), self.out.label("leave")
        self.out.branch_if(test, go_on, leave)
        self.out.begin(leave)
        self.out.ret(code, "i32")
        self.out.begin(go_on)


class _Variant(_Function):
    def __init__(
        self, form: LibraryForm, graph: Graph, module: ModuleText, calls: Calls, failures: Failures, name: str
    ) -> None:
        super().__init__(form, module, name)
        self._graph = graph
        self._module = module
        self._calls = calls
        self._unknown = failures.code("the function failed")

    def write(self) -> None:
        out, graph = self.out, self._graph
        self._take_sizes()
        natives, copies = [], []
        for i, (parameter, value) in enumerate(zip(self.form.parameters, graph.parameters, strict=True)):
            if isinstance(parameter, FixedParameter):
                array = self._calls.object(np.asarray(parameter.value))(out)
                natives.append(self._number(array, value) if is_scalar(value.type) else array)
            elif is_scalar(value.type):
                natives.append(self._passed_number(i, parameter))
            else:
                native = self._array(i, parameter)
                if not parameter.is_memory:
                    slot = out.slot()
                    native = out.call("library_dense", native)
                    out.store("ptr", native, slot)
                    copies.append(slot)
                    out.leave_if(out.is_null(native), "failed")
                natives.append(native)
        cells = out.alloca(f"[{max(len(graph.outputs), 1)} x i64]")
        well = out.call("graph", *natives, cells, *self._module.sizes)
        out.leave_if(out.not_(well), "failed")
        self._give(cells)
        self._release_slots()
        out.ret(0, "i32")
        out.begin("failed")
        self._release_slots()
        code = out.load("i32", "@code")
        out.ret(out.select(out.icmp("eq", code, 0), Operand.of(self._unknown, "i32"), code))
        out.finish()

    def _release_slots(self) -> None:
        if self.out.slots:
            self.out.call("release_all", "%slots", self.out.slots)

    def _take_sizes(self) -> None:
        """Load open sizes into their registers; leave if they are other sizes than the graph's."""
        out, seen_sizes = self.out, set()
        for i, argument in self.arguments():
            type_: Any = self._graph.parameters[i].type
            for axis, (wanted, declared) in enumerate(zip(type_.shape, argument.shape, strict=True)):
                if not isinstance(declared, Symbol):
                    continue
                size = out.load("i64", out.gep("i64", self.lists(i, argument)[0], axis))
                if not isinstance(wanted, Symbol):
                    self.leave_unless(out.icmp("eq", size, wanted), OTHER_SIZES)
                elif wanted not in seen_sizes:
                    seen_sizes.add(wanted)
                    out.define(register_of(wanted), size)
                    self.leave_unless(out.icmp("sge", register_of(wanted), SMALLEST_OPEN_SIZE), OTHER_SIZES)
        for symbol in self._module.open_sizes.symbols:
            if symbol not in seen_sizes:
                define_dimension(out, symbol)
                self.leave_unless(out.icmp("sge", register_of(symbol), SMALLEST_OPEN_SIZE), OTHER_SIZES)
        for need in self._module.open_sizes.needs:
            self.leave_unless(out.icmp("sge", dimension(out, need), 0), OTHER_SIZES)

    def _passed_number(self, i: int, argument: Argument) -> str:
        """Return the number in the form that the graph takes."""
        out, place = self.out, self.out.alloca("i64")
        kind, given = parameter_type(argument), f"%given{i}"
        if argument.dtype.is_bool:
            given = out.cast("zext", out.icmp("ne", Operand.of(given, "i8"), 0), "i8")
        out.store(kind, given, place)
        return load(ElementWriter(out), argument.dtype, place, 0).ir

    def _number(self, array: str, value: Any) -> str:
        pointer = self.out.load("ptr", self.out.gep("i8", array, 16))
        return load(ElementWriter(self.out), value.dtype, pointer, 0).ir

    def _array(self, i: int, argument: Argument) -> str:
        """Return the tensor as the array that the graph takes."""
        out, shell = self.out, self.out.alloca("[10 x i64]")
        kind = self._calls.object(argument.dtype.numpy)(out)
        out.call("library_shell", shell, self.data(i, argument), *self.lists(i, argument), len(argument.shape), kind)
        return shell

    def _give(self, cells: str) -> None:
        """Store the outputs into the result; without memory for one of them, give back those before it."""
        out = self.out
        places = [
            (output, out.gep("i64", cells, output.position), self._field(path))
            for path, output in outputs(self.form.result)
        ]
        arrays = [(place, field) for output, place, field in places if output.rank]
        for _, field in arrays:
            out.store("ptr", "null", field)
        broken, done = out.label("broken"), out.label("given")
        for output, place, field in places:
            if output.rank:
                out.leave_if(out.call("library_give", place, field), broken)
            elif output.dtype.is_complex:
                array = out.load("ptr", place)
                out.copy(field, out.load("ptr", out.gep("i8", array, 16)), output.dtype.size)
                out.call("release", place)
            else:
                b = ElementWriter(out)
                store(b, load(b, output.dtype, place, 0), field, 0)
        out.branch(done)
        if arrays:
            out.begin(broken)
            for place, field in arrays:
                out.call("release", place)
                out.call_c("free", "void", "ptr", out.load("ptr", field))
                out.store("ptr", "null", field)
            out.branch("failed")
        out.begin(done)

    def _field(self, path: Sequence[int]) -> str:
        return self.out.field(structure(self.form.result), "%result", *path)


def write_function(form: LibraryForm, module: ModuleText, failures: Failures, count: int) -> None:
    """Write the C function: check the arguments, and call the first of `count` graphs that takes their sizes."""
    entry = _Entry(form, module, form.name)
    entry.write(failures, count)


class _Entry(_Function):
    def write(self, failures: Failures, count: int) -> None:
        out, module = self.out, self.out.module
        self._failures = failures
        self._sizes: dict[Symbol, tuple[str, str]] = {}
        self._require(out.differs("%result", "null"), "result is NULL")
        tensors = [(i, one) for i, one in self.arguments() if not one.is_passed_by_value]
        for i, one in tensors:
            self._check(i, one)
        self._check_apart(tensors)
        out.store("i32", 0, "@code")
        arguments = [f"%given{i}" for i, _ in self.arguments()]
        kinds = ", ".join([*(parameter_type(one) for _, one in self.arguments()), "ptr"])
        for number in range(count):
            name = f"{self.form.name}.{number}"
            module.declare(name, "i32", kinds)
            result = out.call(name, *arguments, "%result")
            leave, go_on = out.label("done"), out.label("next")
            out.branch_if(out.icmp("ne", result, OTHER_SIZES), leave, go_on)
            out.begin(leave)
            out.ret(result)
            out.begin(go_on)
        out.ret(failures.code(self.form.no_code_message), "i32")
        out.finish()

    def _require(self, test: str, message: str) -> None:
        self.leave_unless(test, self._failures.code(message))

    def _check(self, i: int, argument: Argument) -> None:
        """Check the tensor's sizes, its alignment, and the strides that the code depends on."""
        out, name = self.out, argument.name
        self._require(out.differs(f"%given{i}", "null"), f"{name} is NULL")
        sizes, strides = self.lists(i, argument)
        some = TRUE
        for axis, declared in enumerate(argument.shape):
            found = out.load("i64", out.gep("i64", sizes, axis))
            where = f"{name}: dimension {axis}"
            some = out.and_(some, out.icmp("ne", found, 0))
            if not isinstance(declared, Symbol):
                self._require(out.icmp("eq", found, declared), f"{where} has to be {declared}")
            elif declared in self._sizes:
                first_size, first = self._sizes[declared]
                self._require(out.icmp("eq", found, first_size), f"{where} has to be that of {first}")
            else:
                self._sizes[declared] = found, name
                self._require(out.icmp("sge", found, 0), f"{where} is negative")
        for axis, stride in enumerate(argument.strides):
            if isinstance(stride, int):
                short = out.icmp("sle", out.load("i64", out.gep("i64", sizes, axis)), 1)
                found = out.load("i64", out.gep("i64", strides, axis))
                right = out.or_(out.or_(short, out.not_(some)), out.icmp("eq", found, stride))
                self._require(right, f"{name}: stride {axis} has to be {stride}")
        data = self.data(i, argument)
        if argument.shape:
            self._require(out.or_(out.not_(some), out.differs(data, "null")), f"{name}: data is NULL")
        size = argument.dtype.size // (2 if argument.dtype.is_complex else 1)
        if size > 1:
            rest = out.op("and", out.cast("ptrtoint", data, "i64"), size - 1)
            self._require(out.icmp("eq", rest, 0), f"{name}: data is not aligned to {size} bytes")

    def _check_apart(self, tensors: Sequence[tuple[int, Argument]]) -> None:
        """Check that no tensor lies in memory that the function may write to by another."""
        if not any(one.is_memory for _, one in tensors):
            return
        ends = [(one, *self._address_range(i, one)) for i, one in tensors]
        for number, (one, low, high) in enumerate(ends):
            for other, other_low, other_high in ends[:number]:
                if one.is_memory or other.is_memory:
                    apart = self.out.or_(self.out.icmp("ule", high, other_low), self.out.icmp("ule", other_high, low))
                    self._require(apart, f"{other.name} and {one.name} overlap")

    def _address_range(self, i: int, argument: Argument) -> tuple[str, str]:
        """Return the addresses of the first byte, and of the byte behind the last."""
        out = self.out
        low = high = out.cast("ptrtoint", self.data(i, argument), "i64")
        sizes, strides = self.lists(i, argument)
        for axis in range(len(argument.shape)):
            size, stride = (out.load("i64", out.gep("i64", list_, axis)) for list_ in (sizes, strides))
            reach = out.op("mul", out.op("sub", size, 1), stride)
            back = out.icmp("slt", reach, 0)
            low = out.op("add", low, out.select(back, reach, 0))
            high = out.op("add", high, out.select(back, 0, reach))
        return low, out.op("add", high, argument.dtype.size)


def parameter_type(argument: Argument) -> str:
    """Return LLVM's type of the C parameter."""
    if not argument.is_passed_by_value:
        return "ptr"
    return "i16" if memory(argument.dtype) == "half" else memory(argument.dtype)


def tensor(rank: int) -> str:
    """Return LLVM's type of a tensor: the data, the sizes, and the strides in bytes."""
    return f"{{ ptr, [{rank} x i64], [{rank} x i64] }}"


def structure(tree: ResultTree) -> str:
    """Return LLVM's type of a result."""
    if isinstance(tree, Fields):
        return f"{{ {', '.join(structure(one) for _, one in tree.fields)} }}"
    return tensor(tree.rank) if tree.rank else _number(tree.dtype)


def _number(dtype: DType) -> str:
    return "i16" if memory(dtype) == "half" else memory(dtype)


def outputs(tree: ResultTree, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Output]]:
    """Yield the outputs of a result, each with its place."""
    if isinstance(tree, Output):
        yield path, tree
        return
    for number, (_, one) in enumerate(tree.fields):
        yield from outputs(one, (*path, number))


__all__ = ["write_function", "write_variant"]
