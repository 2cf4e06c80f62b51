"""The native backend in the form of `protocol.Backend`, through which the rest of the package uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends import llvm
from autoconv.backends.call_form import CallForm
from autoconv.backends.library_form import LibraryForm, LibraryObject
from autoconv.backends.llvm import describe
from autoconv.backends.llvm.analysis.symbolic_sizes import open_sizes
from autoconv.backends.llvm.jit.engine import COMPILATION_ERRORS
from autoconv.backends.llvm.library.build import library_object
from autoconv.backends.llvm.runtime.call_dispatch import (
    dispatching_method,
    entry_of_function,
    is_dispatchable,
    is_readable,
    mark_method_descriptor,
    take_float_errors,
)
from autoconv.backends.llvm.runtime.library import shared_address, start_compiling_ahead, using_pool
from autoconv.backends.llvm.target.abi import UnknownLayout
from autoconv.backends.protocol import CompiledGraph, Dispatch, OpenSizes, Unsupported
from autoconv.graph.graph import Graph, Node
from autoconv.graph.types import Symbol
from autoconv.helper_process import is_started_ahead, reap_child, start_ahead


class NativeCodeForAnySize:
    """Queries about the native code of graphs with open dimensions."""

    def sizes(self, graph: Graph, nonnegative_sizes: Sequence[Symbol]) -> OpenSizes:
        return open_sizes(graph, nonnegative_sizes)

    def accepts_symbolic_attributes(self, node: Node) -> bool:
        return describe.accepts_symbolic_attributes(node)

    def has_kernels_with_symbolic_attributes(self, graph: Graph) -> bool:
        return describe.has_kernels_with_symbolic_attributes(graph)

    def kernels(self, graph: Graph, all_kernels: bool = True) -> list[str]:
        return describe.kernels(graph, all_kernels)


class NativeBackend:
    """The backend that compiles graphs to machine code by LLVM."""

    name = "llvm"
    symbolic_code = NativeCodeForAnySize()

    def compile_library(self, form: LibraryForm, graphs: Sequence[Graph], cpu: str, triple: str) -> LibraryObject:
        return library_object(form, graphs, cpu, triple)

    def compile(self, graph: Graph, form: CallForm | None = None, pool_number: int = 0) -> CompiledGraph:
        try:
            with using_pool(pool_number):
                return llvm.compile_graph(graph, form)
        except (UnknownLayout, ImportError) as error:
            raise Unsupported(str(error)) from error

    def describe(self, graph: Graph) -> list[str]:
        return describe.describe(graph)

    def prepare_in_background(self) -> None:
        start_compiling_ahead()

    def prepare_for_file(self, file: str) -> None:
        start_ahead(file)
        reap_child()
        if is_started_ahead():
            start_compiling_ahead()

    def dispatch_method(self, dispatch: Dispatch) -> Any:
        try:
            return dispatching_method(shared_address, dispatch)
        except (*COMPILATION_ERRORS, UnknownLayout, ImportError):
            return None  # Python's own method remains

    def mark_method_descriptor(self, kind: type) -> bool:
        return mark_method_descriptor(kind)

    def take_float_errors(self) -> int:
        try:
            return take_float_errors(shared_address)
        except (*COMPILATION_ERRORS, UnknownLayout, ImportError):
            return 0

    def entry_of_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return entry_of_function(shared_address, function)  # type: ignore[no-any-return]
        except (*COMPILATION_ERRORS, UnknownLayout, ImportError):
            return function

    def can_dispatch(self, cells: Sequence[Any], entry_functions: Sequence[Callable[..., Any]]) -> bool:
        return all(map(is_readable, cells)) and all(map(is_dispatchable, entry_functions))
