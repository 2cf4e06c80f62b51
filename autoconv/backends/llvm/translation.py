"""Translate a graph to a module of LLVM text, with the table of objects that the module refers to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.backends.call_form import CallForm, output_kinds
from autoconv.backends.interpreter import Compile
from autoconv.backends.llvm.analysis.assumed_ranges import assumed_ranges
from autoconv.backends.llvm.analysis.ownership import holds_no_arguments
from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import OpenSizes, open_sizes
from autoconv.backends.llvm.codegen import lowerings  # noqa: F401  (its import registers all lowerings)
from autoconv.backends.llvm.codegen.object_table import ObjectTable
from autoconv.backends.llvm.entry.eligibility import is_eligible
from autoconv.backends.llvm.entry.wrapper import CALL, RUN, GeneralCode, write_call, write_graph, write_run
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.legalize.pipeline import legalize_graph
from autoconv.backends.llvm.legalize.sink_transposes import take_transposed_outputs
from autoconv.backends.llvm.runtime.references import declare_shared
from autoconv.graph.graph import Graph, Span
from autoconv.lazy_dataclass import dataclass

OBJECTS = "objects"  # name of the table of objects in a module


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """The native code of a graph as text.

    texts       the texts of the module, with the level at which LLVM optimises each
    items       the objects of the table, in its order
    exports     the names of the entries and of the table
    sizes       the open dimensions of the code
    kernels     the ops that run by their kernels, with their spans
    holds_no_arguments  whether no result or side effect holds a reference to an argument
    has_general_code    whether the code assumes ranges of ints, and other calls run code without ranges
    """

    texts: Mapping[str, int]
    items: Sequence[Any]
    exports: Sequence[str]
    sizes: OpenSizes
    kernels: Sequence[tuple[str, Span | None]]
    holds_no_arguments: bool
    has_general_code: bool


def translate(
    graph: Graph, form: CallForm | None, general_code: GeneralCode | None, compile_region: Compile,
    begin_compilation: Callable[[str, int], None] | None = None,
) -> Translation:  # fmt: skip
    """Translate a graph, with an entry for the user's calls if a native entry can take those of the form.

    With `general_code`, the code may assume ranges of ints; calls with other ints run the entries of `general_code`.
    Finished parts of a large module are passed to `begin_compilation` while the rest is written.
    """
    nonnegative_sizes, graph = graph.nonnegative_sizes, legalize_graph(graph)
    module = ModuleText(begin_compilation)
    declare_shared(module)
    module.open_sizes = open_sizes(graph, nonnegative_sizes)
    module.sizes = tuple(map(register_of, module.open_sizes.symbols))
    objects = ObjectTable(module, compile_region)
    if form is not None and not is_eligible(graph, form):
        form = None
    kinds_by_output = {} if form is None else output_kinds(form.result)
    transposed_outputs = take_transposed_outputs(graph) if "array" in kinds_by_output.values() else frozenset()
    donated = form.donated if form is not None else frozenset()
    if general_code is not None:
        module.assumed_ranges = assumed_ranges(graph)
    if not module.assumed_ranges:
        general_code = None
    write_graph(graph, module, objects, donated)
    write_run(graph, module, objects, donated, transposed_outputs, general_code)
    if form is not None:
        write_call(graph, module, objects, form, transposed_outputs, general_code)
    module.variable(OBJECTS, f"[{len(objects.items)} x ptr]")
    return Translation(
        texts=module.texts(), items=objects.items,
        exports=[RUN, OBJECTS] if form is None else [RUN, CALL, OBJECTS], sizes=module.open_sizes,
        kernels=objects.kernels, holds_no_arguments=holds_no_arguments(graph),
        has_general_code=general_code is not None,
    )  # fmt: skip
