"""Native backend: compile a graph, with its loops and conditions, to one machine-code function.

    graph ─ fusion (which nodes share a loop) ─ regions (numbers, references, control flow) + kernels (loop nests)
          ─ text ─ engine (LLVM) ─ an entry that takes and returns Python objects

Ops without a native lowering run by their kernels, which native code calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends import interpreter
from autoconv.backends.call_form import CallForm, output_kinds
from autoconv.backends.llvm.analysis.assumed_ranges import assumed_ranges
from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.ownership import holds_no_arguments
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, register_of, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import open_sizes
from autoconv.backends.llvm.codegen import lowerings  # noqa: F401  (its import registers all lowerings)
from autoconv.backends.llvm.codegen.control import recursion
from autoconv.backends.llvm.codegen.object_table import Address, ObjectTable
from autoconv.backends.llvm.entry.eligibility import is_eligible
from autoconv.backends.llvm.entry.wrapper import CALL, RUN, write_call, write_graph, write_run
from autoconv.backends.llvm.ir.index_arith import Size
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.jit.engine import (
    COMPILATION_ERRORS,
    Code,
    begin_compilation,
    compilation_notes,
    native_entry,
    prepare_object_files,
)
from autoconv.backends.llvm.legalize.complex.split import is_split
from autoconv.backends.llvm.legalize.computed_sizes import has_nameable_sizes
from autoconv.backends.llvm.legalize.decompose import is_composite
from autoconv.backends.llvm.legalize.pipeline import legalize_graph
from autoconv.backends.llvm.legalize.sink_transposes import take_transposed_outputs
from autoconv.backends.llvm.runtime.library import pending_texts, resolve_item, shared_addresses
from autoconv.backends.llvm.runtime.references import declare_shared
from autoconv.backends.llvm.target.machine import Target, compiling_for, current_target
from autoconv.graph.graph import Graph, Node, Value, has_recursion
from autoconv.graph.types import ArrayType


class NativeGraph:
    """Native code of a graph: a function from a list of arguments to a list of results.

    `entry` accepts a user's call directly; it is None without a CallForm that a native entry can take. `kernels` are
    the names of the ops that run by their kernels, `kernel_calls` pairs of such a name and the node's span. With
    `may_assume`, the code is for ints in the ranges of `assumed_ranges`, and other calls run code without assumptions.
    """

    def __init__(self, graph: Graph, form: CallForm | None, may_assume: bool = True) -> None:
        original_graph, graph = graph, legalize_graph(graph)
        module = ModuleText(begin_compilation)
        declare_shared(module)
        module.open_sizes = self.sizes = open_sizes(graph, original_graph.nonnegative_sizes)
        module.sizes = tuple(map(register_of, module.open_sizes.symbols))
        objects = ObjectTable(module, compile_region)
        if form is not None and not is_eligible(graph, form):
            form = None
        kinds_by_output = {} if form is None else output_kinds(form.result)
        transposed_outputs = take_transposed_outputs(graph) if "array" in kinds_by_output.values() else frozenset()
        donated = form.donated if form is not None else frozenset()
        if may_assume:
            module.assumed_ranges = assumed_ranges(graph)
        general_code = _GeneralCode(original_graph, form) if module.assumed_ranges else None
        write_graph(graph, module, objects, donated)
        write_run(graph, module, objects, donated, transposed_outputs, general_code)
        if form is not None:
            write_call(graph, module, objects, form, transposed_outputs, general_code)
        module.variable("objects", f"[{len(objects.items)} x ptr]")
        exports = [RUN, "objects"] if form is None else [RUN, CALL, "objects"]
        texts = module.texts()
        prepare_object_files({**texts, **pending_texts("".join(texts), objects.items)})
        code = Code(texts, exports, shared_addresses("".join(texts)))
        self.notes = compilation_notes(texts)
        resolved_objects = tuple(map(resolve_item, objects.items))
        table = (ctypes.c_void_p * len(resolved_objects)).from_address(code.address("objects"))
        for i, item in enumerate(resolved_objects):
            table[i] = item.value if isinstance(item, Address) else id(item)
        referenced_objects = code, resolved_objects, form
        self._run = native_entry(code.address(RUN), graph.name, referenced_objects)
        self.entry = None if form is None else native_entry(code.address(CALL), graph.name, referenced_objects)
        self.kernel_calls = objects.kernels
        self.kernels = [name for name, _ in objects.kernels]
        self.holds_no_arguments = holds_no_arguments(graph)
        self._graph = original_graph
        self._conversions = [_argument_conversion(value) for value in graph.parameters]
        self._interpreted: interpreter.Run | None = None

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        results = self._run(*arguments)
        if results is NotImplemented:  # The type or the memory layout of an argument differs from the expected one.
            try:
                pairs = zip(self._conversions, arguments, strict=True)
                results = self._run(*(convert(argument) for convert, argument in pairs))
            except _UnconvertibleArgument:
                results = NotImplemented
        if results is NotImplemented:
            if self._interpreted is None:
                self._interpreted = interpreter.compile_graph(self._graph)
            return self._interpreted([item.copy() if isinstance(item, np.ndarray) else item for item in arguments])
        return list(results)


class _GeneralCode:
    """The code of a graph for all ints, which the first call that needs it compiles."""

    def __init__(self, graph: Graph, form: CallForm | None) -> None:
        self._graph, self._form, self._target = graph, form, current_target()
        self._code: NativeGraph | None = None

    def _compiled(self) -> NativeGraph:
        if self._code is None:
            with compiling_for(self._target):
                self._code = NativeGraph(self._graph, self._form, may_assume=False)
        return self._code

    def run(self, *arguments: Any) -> Any:
        return self._compiled()._run(*arguments)

    def call(self, *arguments: Any) -> Any:
        entry = self._compiled().entry
        return NotImplemented if entry is None else entry(*arguments)


def compile_graph(
    graph: Graph, form: CallForm | None = None, target: Target | None = None
) -> NativeGraph | interpreter.InterpretedGraph:
    """Compile to a NativeGraph, or by the reference backend if no node of the graph has a native lowering.

    The code is written for `target`, by default this machine. In graphs with recursive functions that have no native
    form, conditions and loops without such calls are native. Raises abi.UnknownLayout on an unsupported Python or
    NumPy.
    """
    with compiling_for(target):
        return _compile(graph, form)


def _compile(graph: Graph, form: CallForm | None) -> NativeGraph | interpreter.InterpretedGraph:
    """Compile a graph natively, or for the interpreter where native code cannot help or fails to compile."""
    if has_recursion(graph) and not recursion.has_native_recursion(graph):
        return interpreter.RecursiveGraph(graph, compile_region)
    if not _has_native_work(graph) and not (form is not None and is_eligible(graph, form)):
        return interpreter.compile_graph(graph)
    try:
        return NativeGraph(graph, form)
    except COMPILATION_ERRORS as error:
        return interpreter.InterpretedGraph(graph, [f"no native code: {error or type(error).__name__}"])


def compile_region(graph: Graph) -> interpreter.Run:
    """Compile a region that runs by itself; its array parameters in memory are declared as possible aliases."""
    for value in graph.parameters:
        if isinstance(value.type, ArrayType):
            value.type = replace(value.type, shared=True)
    return compile_graph(graph)


def _has_native_work(graph: Graph) -> bool:
    """Return whether native code would consist of more than calls of kernels.

    Code that accepts users' calls is compiled in any case: Python takes ten times as long to bind their arguments.
    """

    def is_native(node: Node) -> bool:
        is_legalized = is_composite(node) or is_split(node) or has_nameable_sizes(node)
        return is_legalized or lowering_class(node) != "kernel"

    uncounted_ops = ("constant", "identity", "call")
    return any(node.op.name not in uncounted_ops and is_native(node) for node in graph.walk())


class _UnconvertibleArgument(Exception):
    """An argument that cannot be converted to the form that native code takes."""


def _argument_conversion(value: Value) -> Any:
    """Return a function that converts arguments to the form of a parameter, or raises _UnconvertibleArgument."""
    type_: Any = value.type
    if not (is_scalar(type_) or is_dense(type_)):
        return lambda argument: argument
    dtype, shape = type_.dtype.numpy, sizes(type_)
    rank = len(shape)

    def convert(argument: Any) -> Any:
        """Return a new array in C order with the argument's numbers; raise if its rank, sizes or dtype differ."""
        array = np.asarray(argument)
        sizes_and_expected = zip(array.shape, shape, strict=False)
        shape_fits = all(isinstance(expected, Size) or size == expected for size, expected in sizes_and_expected)
        if array.ndim != rank or not shape_fits or array.dtype != dtype:
            raise _UnconvertibleArgument
        return np.array(array, dtype, order="C")

    return convert
