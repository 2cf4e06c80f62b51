"""Native backend: compile a graph, with its loops and conditions, to one machine-code function.

    graph ─ fusion (which nodes share a loop) ─ regions (numbers, references, control flow) + kernels (loop nests)
          ─ text ─ engine (LLVM) ─ an entry that takes and returns Python objects

Ops without a native lowering run by their kernels, which native code calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends import interpreter
from autoconv.backends.call_form import CallForm
from autoconv.backends.llvm import stored_code
from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.control import recursion
from autoconv.backends.llvm.codegen.object_table import Address
from autoconv.backends.llvm.entry.eligibility import is_eligible
from autoconv.backends.llvm.entry.wrapper import CALL, RUN
from autoconv.backends.llvm.graph_digest import GraphDigest
from autoconv.backends.llvm.ir.index_arith import Size
from autoconv.backends.llvm.jit.engine import (
    COMPILATION_ERRORS,
    Code,
    begin_compilation,
    compilation_notes,
    declarations_of,
    native_entry,
    prepare_object_files,
)
from autoconv.backends.llvm.legalize.complex.split import is_split
from autoconv.backends.llvm.legalize.computed_sizes import has_nameable_sizes
from autoconv.backends.llvm.legalize.decompose import is_composite
from autoconv.backends.llvm.runtime.library import pending_texts, resolve_item, shared_addresses
from autoconv.backends.llvm.stored_code import StoredCode
from autoconv.backends.llvm.target.machine import Target, compiling_for, current_target
from autoconv.backends.llvm.translation import OBJECTS, Translation, translate
from autoconv.graph.graph import Graph, Node, Value, has_recursion
from autoconv.graph.types import ArrayType


class NativeGraph:
    """Native code of a graph: a function from a list of arguments to a list of results.

    `entry` accepts a user's call directly; it is None without a CallForm that a native entry can take. `kernels` are
    the names of the ops that run by their kernels, `kernel_calls` pairs of such a name and the node's span. With
    `may_assume`, the code is for ints in the ranges of `assumed_ranges`, and other calls run code without assumptions.
    `stored` is code of an equal graph, with the digest that both have; without a digest, the code is not stored.
    """

    def __init__(
        self, graph: Graph, form: CallForm | None, may_assume: bool = True, digest: GraphDigest | None = None,
        stored: StoredCode | None = None,
    ) -> None:  # fmt: skip
        self._graph = graph
        general_code = _GeneralCode(graph, form) if may_assume else None
        translator = _Translator(graph, form, general_code)
        code: Translation | StoredCode
        if stored is None or digest is None:
            code = translation = translator.translate(begin_compilation)
            items, texts = translation.items, translation.texts
            prepare_object_files({**texts, **pending_texts(declarations_of(texts), items)})
            loaded_code = Code(texts, translation.exports, shared_addresses(declarations_of(texts)))
            self.notes = compilation_notes(texts)
            if digest is not None and not self.notes:
                stored_code.store(digest, translation, general_code)
        else:
            code, self.notes = stored, []
            stored_code.verify(stored, digest, translator.translate, general_code)
            items = stored_code.restore_items(stored, digest, form, general_code, translator.late_function)
            prepare_object_files(pending_texts(stored.declarations, items))
            imports = shared_addresses(stored.declarations)
            loaded_code = Code.of_object_files(stored.object_files, stored.declarations, stored.exports, imports)
        objects = tuple(map(resolve_item, items))
        table = (ctypes.c_void_p * len(objects)).from_address(loaded_code.address(OBJECTS))
        for i, item in enumerate(objects):
            table[i] = item.value if isinstance(item, Address) else id(item)
        referenced_objects = loaded_code, objects, form
        self._run = native_entry(loaded_code.address(RUN), graph.name, referenced_objects)
        has_entry = CALL in code.exports
        self.entry = native_entry(loaded_code.address(CALL), graph.name, referenced_objects) if has_entry else None
        self.kernel_calls = code.kernels
        self.kernels = [name for name, _ in code.kernels]
        self.holds_no_arguments, self.sizes = code.holds_no_arguments, code.sizes
        self._conversions: list[Any] | None = None
        self._interpreted: interpreter.Run | None = None

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        results = self._run(*arguments)
        if results is NotImplemented:  # The type or the memory layout of an argument differs from the expected one.
            try:
                if self._conversions is None:
                    self._conversions = [_argument_conversion(value) for value in self._graph.parameters]
                pairs = zip(self._conversions, arguments, strict=True)
                results = self._run(*(convert(argument) for convert, argument in pairs))
            except _UnconvertibleArgument:
                results = NotImplemented
        if results is NotImplemented:
            if self._interpreted is None:
                self._interpreted = interpreter.compile_graph(self._graph)
            return self._interpreted([item.copy() if isinstance(item, np.ndarray) else item for item in arguments])
        return list(results)


class _Translator:
    """The translation of a graph, at once or when stored code needs a function of its table."""

    def __init__(self, graph: Graph, form: CallForm | None, general_code: _GeneralCode | None) -> None:
        self._graph, self._form, self._general_code = graph, form, general_code
        self._target = current_target()
        self._items: Sequence[Any] = ()  # the table of the translation, once a function of it was called

    def translate(self, begin_compilation: Callable[[str, int], None] | None = None) -> Translation:
        """Return the translation; `begin_compilation` is as for `translation.translate`."""
        with compiling_for(self._target):
            return translate(self._graph, self._form, self._general_code, compile_region, begin_compilation)

    def late_function(self, position: int) -> Callable[..., Any]:
        """Return a function that calls the one at a position of the table, for which its first call translates."""

        def call(*arguments: Any) -> Any:
            if not self._items:
                self._items = self.translate().items
            return self._items[position](*arguments)

        return call


class _GeneralCode:
    """The code of a graph for all ints, which the first call that needs it compiles."""

    def __init__(self, graph: Graph, form: CallForm | None) -> None:
        self._graph, self._form, self._target = graph, form, current_target()
        self._code: NativeGraph | None = None

    def _compiled(self) -> NativeGraph:
        """Return the code, which is compiled at the first call."""
        if self._code is None:
            with compiling_for(self._target):
                self._code = NativeGraph(self._graph, self._form, may_assume=False)
        return self._code

    def run(self, *arguments: Any) -> Any:
        """Run the graph, as `NativeGraph._run` does."""
        return self._compiled()._run(*arguments)

    def call(self, *arguments: Any) -> Any:
        """Run a user's call, as `NativeGraph.entry` does."""
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
    digest = stored_code.digest_of(graph, form, may_assume=True)
    stored = None if digest is None else stored_code.load(digest)
    if stored is None and has_recursion(graph) and not recursion.has_native_recursion(graph):
        return interpreter.RecursiveGraph(graph, compile_region)
    if stored is None and not _has_native_work(graph) and not (form is not None and is_eligible(graph, form)):
        return interpreter.compile_graph(graph)
    try:
        return NativeGraph(graph, form, digest=digest, stored=stored)
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
