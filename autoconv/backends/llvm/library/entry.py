"""The C function of a library: its checks, the choice of a graph by the sizes, and the results.

    int f(const autoconv_float64_2 *x, …, f_result *result)      checks requirements of all graphs
    └ f.0, f.1, …                                                run one graph each, or return -1 for other sizes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.library_form import Argument, Fields, FixedParameter, LibraryForm, Output, ResultTree
from autoconv.backends.llvm.analysis.representation import is_scalar, register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import MIN_OPEN_SIZE, define_dimension, write_dimension
from autoconv.backends.llvm.codegen.object_table import ObjectTable
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import TRUE, Operand
from autoconv.backends.llvm.ir.scalars import ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Parameter, Signature
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.backends.llvm.library.failures import Failures
from autoconv.backends.llvm.target.abi import DATA
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph
from autoconv.graph.types import Symbol

SIZES_DO_NOT_FIT = -1  # result of the function of a graph that is for other sizes
# Functions of `library_host.ll`: {name: (type of the result, types of the parameters)}.
_HOST_FUNCTIONS = {
    "library_shell": ("void", "ptr, ptr, ptr, ptr, i32, ptr"),
    "library_dense": ("ptr", "ptr"),
    "library_give": ("i1", "ptr, ptr"),
}


def write_variant(
    form: LibraryForm, graph: Graph, module: ModuleText, objects: ObjectTable, failures: Failures, variant_number: int
) -> None:
    """Write the function `f.<variant_number>`, which runs the graph if the arguments have the graph's sizes."""
    for name, (result, parameters) in _HOST_FUNCTIONS.items():
        module.declare(name, result, parameters)
    _VariantWriter(form, graph, module, objects, failures, f"{form.name}.{variant_number}").write()


class _Layout(NamedTuple):
    """The addresses of a tensor's sizes and of its strides."""

    sizes: str
    strides: str


class _FunctionWriter:
    """A base class of writers of functions with the parameters of the C function."""

    def __init__(self, form: LibraryForm, module: ModuleText, name: str) -> None:
        self.form = form
        parameters = [Parameter(parameter_type(argument), f"%argument{i}") for i, argument in self.numbered_arguments()]
        parameters.append(Parameter("ptr", "%result"))
        self.out = FunctionText(module, Signature("i32", parameters, "nounwind", name, exported=True))

    def numbered_arguments(self) -> Iterator[tuple[int, Argument]]:
        """Iterate over the arguments, each with the position of its parameter."""
        return ((i, argument) for i, argument in enumerate(self.form.parameters) if isinstance(argument, Argument))

    def data_address(self, i: int, argument: Argument) -> str:
        """Return the address of the first element; that of the number itself for a number."""
        return self.out.load("ptr", f"%argument{i}") if argument.shape else Operand.of(f"%argument{i}", "ptr")

    def layout(self, i: int, argument: Argument) -> _Layout:
        """Return the layout of an argument, with null addresses for a number."""
        if not argument.shape:
            return _Layout(Operand.of("null", "ptr"), Operand.of("null", "ptr"))
        type_ = tensor_type(len(argument.shape))
        return _Layout(self.out.field(type_, f"%argument{i}", 1), self.out.field(type_, f"%argument{i}", 2))

    def leave_unless(self, test: str, code: int) -> None:
        """Write a return of an error code for the case that a test, an i1, does not hold."""
        passed_label, leave_label = self.out.label("fits"), self.out.label("leave")
        self.out.branch_if(test, passed_label, leave_label)
        self.out.begin(leave_label)
        self.out.ret(code, "i32")
        self.out.begin(passed_label)


class _VariantWriter(_FunctionWriter):
    """The writer of a function that runs one graph."""

    def __init__(
        self, form: LibraryForm, graph: Graph, module: ModuleText, objects: ObjectTable, failures: Failures, name: str
    ) -> None:
        super().__init__(form, module, name)
        self._graph = graph
        self._module = module
        self._objects = objects
        self._unknown_error = failures.code("the function failed")

    def write(self) -> None:
        """Write the arguments' conversion, the call of the graph, the stores of the results and the error code."""
        out, graph = self.out, self._graph
        self._bind_sizes()
        graph_arguments = []
        for i, (parameter, value) in enumerate(zip(self.form.parameters, graph.parameters, strict=True)):
            if isinstance(parameter, FixedParameter):
                array = self._objects.reference(np.asarray(parameter.value))(out)
                graph_arguments.append(self._load_number(array, value) if is_scalar(value.type) else array)
            elif is_scalar(value.type):
                graph_arguments.append(self._convert_number(i, parameter))
            else:
                array_header = self._new_array_header(i, parameter)
                if not parameter.may_be_written:
                    slot = out.slot()
                    array_header = out.call("library_dense", array_header)
                    out.store("ptr", array_header, slot)
                    out.leave_if(out.is_null(array_header), "failed")
                graph_arguments.append(array_header)
        cells = out.alloca(f"[{max(len(graph.outputs), 1)} x i64]")
        has_succeeded = out.call("graph", *graph_arguments, cells, *self._module.sizes)
        out.leave_if(out.not_(has_succeeded), "failed")
        self._store_outputs(cells)
        self._release_slots()
        out.ret(0, "i32")
        out.begin("failed")
        self._release_slots()
        code = out.load("i32", "@code")
        out.ret(out.select(out.icmp("eq", code, 0), Operand.of(self._unknown_error, "i32"), code))
        out.finish()

    def _release_slots(self) -> None:
        """Release the objects in the slots of the function."""
        if self.out.slot_count:
            self.out.call("release_all", "%slots", self.out.slot_count)

    def _bind_sizes(self) -> None:
        """Load open sizes into their registers; leave the function if the graph is for other sizes."""
        out, bound_sizes = self.out, set()
        for i, argument in self.numbered_arguments():
            type_: Any = self._graph.parameters[i].type
            for axis, (size_of_graph, declared_size) in enumerate(zip(type_.shape, argument.shape, strict=True)):
                if not isinstance(declared_size, Symbol):
                    continue
                size = out.load("i64", out.gep("i64", self.layout(i, argument).sizes, axis))
                if not isinstance(size_of_graph, Symbol):
                    self.leave_unless(out.icmp("eq", size, size_of_graph), SIZES_DO_NOT_FIT)
                elif size_of_graph not in bound_sizes:
                    bound_sizes.add(size_of_graph)
                    out.define(register_of(size_of_graph), size)
                    self.leave_unless(out.icmp("sge", register_of(size_of_graph), MIN_OPEN_SIZE), SIZES_DO_NOT_FIT)
        for symbol in self._module.open_sizes.symbols:
            if symbol not in bound_sizes:
                define_dimension(out, symbol)
                self.leave_unless(out.icmp("sge", register_of(symbol), MIN_OPEN_SIZE), SIZES_DO_NOT_FIT)
        for size in self._module.open_sizes.nonnegative_sizes:
            self.leave_unless(out.icmp("sge", write_dimension(out, size), 0), SIZES_DO_NOT_FIT)

    def _convert_number(self, i: int, argument: Argument) -> str:
        """Convert a number of the C function to a number of the graph."""
        out, cell = self.out, self.out.alloca("i64")
        type_, number = parameter_type(argument), f"%argument{i}"
        if argument.dtype.is_bool:
            number = out.cast("zext", out.icmp("ne", Operand.of(number, "i8"), 0), "i8")
        out.store(type_, number, cell)
        return load(ElementWriter(out), argument.dtype, cell, 0).ir

    def _load_number(self, array: str, value: Any) -> str:
        """Return the number that an array object without dimensions holds."""
        pointer = self.out.load("ptr", self.out.gep("i8", array, DATA))
        return load(ElementWriter(self.out), value.dtype, pointer, 0).ir

    def _new_array_header(self, i: int, argument: Argument) -> str:
        """Write an array object on the stack that refers to the data of a C tensor."""
        out, header = self.out, self.out.alloca("[10 x i64]")
        dtype = self._objects.reference(argument.dtype.numpy)(out)
        addresses = self.data_address(i, argument), *self.layout(i, argument)
        out.call("library_shell", header, *addresses, len(argument.shape), dtype)
        return header

    def _store_outputs(self, cells: str) -> None:
        """Store the outputs in the C result; if an allocation fails, release the outputs stored before."""
        out = self.out
        destinations = [
            (output, out.gep("i64", cells, output.position), self._result_field(path))
            for path, output in outputs(self.form.result)
        ]
        arrays = [(cell, field) for output, cell, field in destinations if output.rank]
        for _, field in arrays:
            out.store("ptr", "null", field)
        failed_label, done_label = out.label("no_memory"), out.label("stored")
        for output, cell, field in destinations:
            if output.rank:
                out.leave_if(out.call("library_give", cell, field), failed_label)
            elif output.dtype.is_complex:
                array = out.load("ptr", cell)
                out.copy(field, out.load("ptr", out.gep("i8", array, DATA)), output.dtype.size)
                out.call("release", cell)
            else:
                b = ElementWriter(out)
                store(b, load(b, output.dtype, cell, 0), field, 0)
        out.branch(done_label)
        if arrays:
            out.begin(failed_label)
            for cell, field in arrays:
                out.call("release", cell)
                out.call_c("free", "void", "ptr", out.load("ptr", field))
                out.store("ptr", "null", field)
            out.branch("failed")
        out.begin(done_label)

    def _result_field(self, path: Sequence[int]) -> str:
        """Return the address of a field of the C result, by the positions of fields that lead to it."""
        return self.out.field(result_type(self.form.result), "%result", *path)


def write_function(form: LibraryForm, module: ModuleText, failures: Failures, variant_count: int) -> None:
    """Write the C function: it checks the arguments, and calls the first of `variant_count` graphs for their sizes."""
    entry = _EntryWriter(form, module, form.name)
    entry.write(failures, variant_count)


class _NamedSize(NamedTuple):
    """A size that several arguments have: its register, and the name of the first of these arguments."""

    register: str
    argument_name: str


class _EntryWriter(_FunctionWriter):
    """The writer of the C function, which chooses a graph."""

    def write(self, failures: Failures, variant_count: int) -> None:
        """Write the checks, and calls of the graphs one after the other, until one's sizes fit."""
        out, module = self.out, self.out.module
        self._failures = failures
        self._sizes: dict[Symbol, _NamedSize] = {}
        self._require(out.differs("%result", "null"), "result is NULL")
        tensors = [(i, argument) for i, argument in self.numbered_arguments() if not argument.is_passed_by_value]
        for i, argument in tensors:
            self._check_tensor(i, argument)
        self._check_disjoint(tensors)
        out.store("i32", 0, "@code")
        arguments = [f"%argument{i}" for i, _ in self.numbered_arguments()]
        parameter_types = ", ".join([*(parameter_type(argument) for _, argument in self.numbered_arguments()), "ptr"])
        for number in range(variant_count):
            name = f"{self.form.name}.{number}"
            module.declare(name, "i32", parameter_types)
            result = out.call(name, *arguments, "%result")
            leave_label, next_label = out.label("done"), out.label("next")
            out.branch_if(out.icmp("ne", result, SIZES_DO_NOT_FIT), leave_label, next_label)
            out.begin(leave_label)
            out.ret(result)
            out.begin(next_label)
        out.ret(failures.code(self.form.no_code_message), "i32")
        out.finish()

    def _require(self, test: str, message: str) -> None:
        """Write a return of the code of a message for the case that a test, an i1, does not hold."""
        self.leave_unless(test, self._failures.code(message))

    def _check_tensor(self, i: int, argument: Argument) -> None:
        """Check a tensor's sizes and alignment, and the strides that are constants of the code."""
        out, name = self.out, argument.name
        self._require(out.differs(f"%argument{i}", "null"), f"{name} is NULL")
        sizes, strides = self.layout(i, argument)
        is_nonempty = TRUE
        for axis, declared_size in enumerate(argument.shape):
            actual_size = out.load("i64", out.gep("i64", sizes, axis))
            dimension_name = f"{name}: dimension {axis}"
            is_nonempty = out.and_(is_nonempty, out.icmp("ne", actual_size, 0))
            if not isinstance(declared_size, Symbol):
                self._require(out.icmp("eq", actual_size, declared_size), f"{dimension_name} has to be {declared_size}")
            elif declared_size in self._sizes:
                first_size = self._sizes[declared_size]
                is_same = out.icmp("eq", actual_size, first_size.register)
                self._require(is_same, f"{dimension_name} has to be that of {first_size.argument_name}")
            else:
                self._sizes[declared_size] = _NamedSize(actual_size, name)
                self._require(out.icmp("sge", actual_size, 0), f"{dimension_name} is negative")
        for axis, stride in enumerate(argument.strides):
            if isinstance(stride, int):
                is_short = out.icmp("sle", out.load("i64", out.gep("i64", sizes, axis)), 1)
                actual_stride = out.load("i64", out.gep("i64", strides, axis))
                is_expected = out.or_(out.or_(is_short, out.not_(is_nonempty)), out.icmp("eq", actual_stride, stride))
                self._require(is_expected, f"{name}: stride {axis} has to be {stride}")
        data = self.data_address(i, argument)
        if argument.shape:
            self._require(out.or_(out.not_(is_nonempty), out.differs(data, "null")), f"{name}: data is NULL")
        alignment = argument.dtype.size // (2 if argument.dtype.is_complex else 1)
        if alignment > 1:
            misalignment = out.op("and", out.cast("ptrtoint", data, "i64"), alignment - 1)
            self._require(out.icmp("eq", misalignment, 0), f"{name}: data is not aligned to {alignment} bytes")

    def _check_disjoint(self, tensors: Sequence[tuple[int, Argument]]) -> None:
        """Check that no tensor overlaps another one that the function may write."""
        if not any(argument.may_be_written for _, argument in tensors):
            return
        ranges = [(argument, *self._address_range(i, argument)) for i, argument in tensors]
        for i, (argument, low, high) in enumerate(ranges):
            for other_argument, other_low, other_high in ranges[:i]:
                if argument.may_be_written or other_argument.may_be_written:
                    is_before, is_after = self.out.icmp("ule", high, other_low), self.out.icmp("ule", other_high, low)
                    are_disjoint = self.out.or_(is_before, is_after)
                    self._require(are_disjoint, f"{other_argument.name} and {argument.name} overlap")

    def _address_range(self, i: int, argument: Argument) -> tuple[str, str]:
        """Return the addresses of the first byte, and of the byte after the last."""
        out = self.out
        low = high = out.cast("ptrtoint", self.data_address(i, argument), "i64")
        sizes, strides = self.layout(i, argument)
        for axis in range(len(argument.shape)):
            size, stride = (out.load("i64", out.gep("i64", entries, axis)) for entries in (sizes, strides))
            extent = out.op("mul", out.op("sub", size, 1), stride)
            is_negative = out.icmp("slt", extent, 0)
            low = out.op("add", low, out.select(is_negative, extent, 0))
            high = out.op("add", high, out.select(is_negative, 0, extent))
        return low, out.op("add", high, argument.dtype.size)


def parameter_type(argument: Argument) -> str:
    """Return LLVM's type of the C parameter."""
    if not argument.is_passed_by_value:
        return "ptr"
    return _number_type(argument.dtype)


def tensor_type(rank: int) -> str:
    """Return LLVM's type of a tensor: the data, the sizes, and the strides in bytes."""
    return f"{{ ptr, [{rank} x i64], [{rank} x i64] }}"


def result_type(tree: ResultTree) -> str:
    """Return LLVM's type of a result."""
    if isinstance(tree, Fields):
        return f"{{ {', '.join(result_type(field) for _, field in tree.fields)} }}"
    return tensor_type(tree.rank) if tree.rank else _number_type(tree.dtype)


def _number_type(dtype: DType) -> str:
    """Return LLVM's type of a number in C, which has float16 as its bits."""
    return "i16" if memory_type(dtype) == "half" else memory_type(dtype)


def outputs(tree: ResultTree, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Output]]:
    """Yield the outputs of a result, each with the path of fields that leads to it."""
    if isinstance(tree, Output):
        yield path, tree
        return
    for number, (_, subtree) in enumerate(tree.fields):
        yield from outputs(subtree, (*path, number))
