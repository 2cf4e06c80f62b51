"""Compile graphs to the object file of a C library, which needs only libc and libm."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from autoconv.backends.library_form import LibraryForm, LibraryObject, NoLibraryCode, WrongTarget
from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import open_sizes
from autoconv.backends.llvm.codegen.control import recursion
from autoconv.backends.llvm.entry.wrapper import write_graph
from autoconv.backends.llvm.ir.constants import bytes_constant, table_constant
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.signature import Parameter, Signature, names_in
from autoconv.backends.llvm.legalize.pipeline import legalize_graph
from autoconv.backends.llvm.library import assembly
from autoconv.backends.llvm.library.entry import write_function, write_variant
from autoconv.backends.llvm.library.failures import CATCHABLE, ERRORS, NO_MEMORY, Failures
from autoconv.backends.llvm.library.linear_algebra import LINEAR_ALGEBRA, write_linear_algebra
from autoconv.backends.llvm.library.processors import Processor, processor
from autoconv.backends.llvm.library.products import write_products
from autoconv.backends.llvm.library.references import LibraryModule, LibraryObjectTable, PythonNeed
from autoconv.backends.llvm.runtime import references
from autoconv.backends.llvm.runtime.llvm_text import read
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import compiling_for
from autoconv.config import SETTINGS
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, has_recursion

_LEVELS = (3, 2, 1)  # levels of optimisation, to be tried in turn if LLVM ends its process over a module


def library_object(form: LibraryForm, graphs: Sequence[Graph], cpu: str, triple: str) -> LibraryObject:
    """Return the object file. `cpu` is "native" or a name that LLVM has; an empty triple is that of this machine.

    Raises NoLibraryCode for graphs that need Python, and WrongTarget for an unknown processor.
    """
    target_processor = processor(cpu, triple)
    failures = Failures()
    with compiling_for(target_processor.target):
        texts: list[str] = []
        for graph in graphs:
            variant = _write_graph_variant(form, graph, failures, len(texts), target_processor)
            if not variant.needs_python:
                texts.append(variant.text)
            elif not texts:  # a further graph, for certain small sizes, is left out instead
                # One node for each op and span.
                nodes = {(name, str(node.span) if node else ""): node for name, node in variant.needs_python}
                raise NoLibraryCode([(name, node.span if node else None) for (name, _), node in nodes.items()])
        function = _write_library_function(form, failures, len(texts), target_processor)
        texts += [*_shared_texts(target_processor), *_linear_algebra_texts(texts), function]
    public_names = [form.name, f"{form.name}_message", f"{form.name}_free"]
    return LibraryObject(_compile(texts, public_names, target_processor), tuple(failures.messages))


def unsupported_ops(form: LibraryForm, graph: Graph, cpu: str = "x86-64-v3") -> list[str]:
    """Return the ops of a graph that need Python."""
    target_processor = processor(cpu, "x86_64-linux-gnu")
    with compiling_for(target_processor.target):
        variant = _write_graph_variant(form, graph, Failures(), 0, target_processor)
    return [need.name for need in variant.needs_python]


class _Variant(NamedTuple):
    """The text of the code of one graph, and what in it needs Python."""

    text: str
    needs_python: list[PythonNeed]


def _write_graph_variant(
    form: LibraryForm, graph: Graph, failures: Failures, variant_number: int, target_processor: Processor
) -> _Variant:
    """Write the code of one graph, without text if the graph has recursive functions that need Python."""
    if has_recursion(graph) and not recursion.has_native_recursion(graph):
        recursive_node = next(node for node in graph.walk() if node.op.traits.control and "name" in node.attributes)
        name = recursive_node.attributes.get("name", "a function")
        need = PythonNeed(f"{name} (it calls itself, which has no native form here)", recursive_node)
        return _Variant("", [need])
    legalized_graph = legalize_graph(graph)
    _remove_unread_objects(legalized_graph)
    module = LibraryModule()
    references.declare_shared(module)
    module.constant("code", _error_code_global(target_processor))
    module.constant(ERRORS, f"@{ERRORS} = external constant i8")
    module.is_shared = False
    module.open_sizes = open_sizes(legalized_graph, graph.nonnegative_sizes)
    module.sizes = tuple(map(register_of, module.open_sizes.symbols))
    objects = LibraryObjectTable(module, failures)
    write_graph(legalized_graph, module, objects)
    module.is_shared = True
    write_variant(form, legalized_graph, module, objects, failures, variant_number)
    return _Variant(f"{module.single_text()}\n{objects.text()}", module.needs_python)


def _write_library_function(
    form: LibraryForm, failures: Failures, variant_count: int, target_processor: Processor
) -> str:  # fmt: skip
    """Return the text of the C functions of a library: the function, its messages, and the release of results."""
    module = ModuleText()
    module.constant("code", _error_code_global(target_processor))
    write_function(form, module, failures, variant_count)
    texts = ("no error", *failures.messages, "no such code")
    _write_message(form, module, len(texts))
    _write_free(form, module)
    lines = [bytes_constant(f"text{number}", text.encode() + b"\0") for number, text in enumerate(texts)]
    table = table_constant("texts", [f"@text{number}" for number in range(len(texts))])
    return "\n".join([module.single_text(), *lines, table, *failures.tables(), ""])


def _remove_unread_objects(graph: Graph) -> None:
    """Remove unused reads from a graph and its regions: objects for handlers, which read cells instead."""
    for region in graph.subgraphs():
        read_values = set(region.outputs)
        nodes: list[Node] = []
        for node in reversed(region.nodes):
            if node.regions or node.effects is not Effects.READ or not read_values.isdisjoint(node.results):
                nodes.append(node)
                read_values.update(node.inputs)
        region.nodes = nodes[::-1]


def _write_message(form: LibraryForm, module: ModuleText, text_count: int) -> None:
    """Write the function that returns the text of an error code, the last of `text_count` texts for unknown codes."""
    code = Parameter("i32", "%code")
    out = FunctionText(module, Signature("ptr", (code,), "nounwind", f"{form.name}_message", exported=True))
    is_known_code = out.icmp("ult", Operand.of("%code", "i32"), text_count - 1)
    number = out.select(is_known_code, Operand.of("%code", "i32"), Operand.of(text_count - 1, "i32"))
    address = out.gep("ptr", "@texts", out.cast("zext", number, "i64"))
    out.ret(out.load("ptr", address))
    out.finish()


def _write_free(form: LibraryForm, module: ModuleText) -> None:
    """Write the function that frees the data of a result."""
    data = Parameter("ptr", "%data")
    out = FunctionText(module, Signature("void", (data,), "nounwind", f"{form.name}_free", exported=True))
    out.call_c("free", "void", "ptr", Operand.of("%data", "ptr"))
    out.ret()
    out.finish()


def _error_code_global(target_processor: Processor) -> str:
    """Return the declaration of the global that holds the error code of the call in progress."""
    return f"@code = external {target_processor.thread_local} global i32"


def _shared_texts(target_processor: Processor) -> list[str]:
    """Return the texts that all graphs share: references, and replacements of CPython, NumPy and BLAS."""
    is_32_bit = target_processor.target.pointer == 4
    host = read(
        "library_host", WORD="i32" if is_32_bit else "i64", NARROW="trunc" if is_32_bit else "add",
        TO="to i32" if is_32_bit else ", 0", COUNT="%count", LOCAL=target_processor.thread_local,
        NO_MEMORY=NO_MEMORY, ERRORS=ERRORS, CATCHABLE=CATCHABLE,
        LARGEST=(1 << 31) - 1 if is_32_bit else (1 << 62), DATA=abi.DATA, RANK=abi.RANK, DIMENSIONS=abi.DIMENSIONS,
        STRIDES=abi.STRIDES, BASE=abi.BASE, DESCRIPTOR=abi.DESCRIPTOR, FLAGS=abi.FLAGS, TYPE=abi.TYPE_OFFSET,
        BYTE_COUNT=abi.BYTE_COUNT, BYTE_CAPACITY=abi.BYTE_CAPACITY, BYTE_MEMORY=abi.BYTE_MEMORY,
        BYTE_START=abi.BYTE_START,
        ALL_FLAGS=abi.PLAIN_FLAGS | abi.OWNED_FLAGS, SHELL_FLAGS=abi.WRITABLE_FLAGS | abi.PLAIN_FLAGS,
    )  # fmt: skip
    module = ModuleText()
    write_products(module)
    return [host, references.text(has_stack_floor=False, has_float_flags=False), module.single_text()]


def _linear_algebra_texts(texts: Sequence[str]) -> list[str]:
    """Return the text of the routines of linear algebra that the texts call."""
    called_routines = LINEAR_ALGEBRA & names_in("\n".join(texts))
    module = ModuleText()
    write_linear_algebra(module, called_routines)
    return [module.single_text()] if called_routines else []


def _compile(texts: Sequence[str], public_names: Sequence[str], target_processor: Processor) -> bytes:
    """Return the object file, compiled in a separate process, since some code makes LLVM end its process."""
    import json  # on demand: few programs build libraries
    import subprocess

    message = ""
    for level in (level for level in _LEVELS if level <= max(SETTINGS.llvm_level, min(_LEVELS))):
        request = {
            "texts": texts, "public": public_names, "triple": target_processor.triple, "cpu": target_processor.cpu,
            "level": level, "features": "",
        }  # fmt: skip
        command = [sys.executable, "-I", str(Path(assembly.__file__))]
        process = subprocess.run(command, input=json.dumps(request).encode(), capture_output=True, check=False)
        if not process.returncode:
            return process.stdout
        message = process.stderr.decode(errors="replace").strip()
        if process.returncode == assembly.WRONG_TARGET:
            raise WrongTarget(message)
    raise RuntimeError(f"LLVM produces no object file: {message}")
