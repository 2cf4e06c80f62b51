"""The native backend: a graph, its loops and conditions included, becomes one machine-code function.

    graph ─ fusion (what shares a loop) ─ regions (numbers, references, control flow) + kernels (loop nests)
          ─ text ─ engine (LLVM) ─ an entry that takes and answers Python objects

Ops without a native form run by their kernels, called from native code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends import reference
from autoconv.backends.form import CallForm
from autoconv.backends.llvm import (
    assertions,
    batches,
    choosing,
    distinct,
    draws,
    fourier,
    generator_code,
    layouts,
    linalg,
    open_roles,
    patterns,
    recursive,
    scans,
    searching,
    sorting,
    typed_list_loops,
    typed_lists,
)
from autoconv.backends.llvm.callable import can_call
from autoconv.backends.llvm.calls import Address, Calls
from autoconv.backends.llvm.complex_parts import is_split
from autoconv.backends.llvm.engine import Code, NoMachineCode, make_ready, native_entry, notes
from autoconv.backends.llvm.entry import CALL, RUN, write_call, write_graph, write_run
from autoconv.backends.llvm.expand import is_composite
from autoconv.backends.llvm.fresh import keeps_nothing
from autoconv.backends.llvm.open_sizes import open_sizes
from autoconv.backends.llvm.positions import Size
from autoconv.backends.llvm.prelude import declare_shared
from autoconv.backends.llvm.prepare import prepared
from autoconv.backends.llvm.roles import is_dense, is_scalar, register_of, role, sizes
from autoconv.backends.llvm.shared import addresses, pending
from autoconv.backends.llvm.text import ModuleText
from autoconv.graph.graph import Graph, Value, has_recursion
from autoconv.graph.types import ArrayType

# Whose native code says so when it is imported.
NATIVE_OPS = (
    assertions, batches, choosing, distinct, draws, fourier, generator_code, layouts, linalg, open_roles, patterns,
    scans, searching, sorting, typed_list_loops, typed_lists,
)  # fmt: skip


class NativeGraph:
    """Native code for a graph: called with a list of arguments it answers a list of results. `entry` is what a user's
    call may go to, where a CallForm was given; `kernels` are the ops that run by their kernels, by name, and
    `kernel_calls` those with the lines of the user's program that they are for."""

    def __init__(self, graph: Graph, form: CallForm | None) -> None:
        given, graph = graph, prepared(graph)
        module = ModuleText()
        module.open = self.open = open_sizes(graph, given.needs)
        module.sizes = tuple(map(register_of, module.open.symbols))
        calls = Calls(module, compile_region)
        if form is not None and not can_call(graph, form):
            form = None
        donated = form.donated if form is not None else frozenset()
        write_graph(graph, module, calls, donated)
        write_run(graph, module, calls, donated)
        if form is not None:
            write_call(graph, module, calls, form)
        module.variable("objects", f"[{len(calls.objects)} x ptr]")
        declare_shared(module)
        exports = [RUN, "objects"] if form is None else [RUN, CALL, "objects"]
        texts = module.texts()
        make_ready({**texts, **pending("".join(texts))})
        code = Code(texts, exports, addresses("".join(texts)))
        self.notes = notes(texts)
        objects = tuple(calls.objects)
        table = (ctypes.c_void_p * len(objects)).from_address(code.address("objects"))
        for i, item in enumerate(objects):
            table[i] = item.at if isinstance(item, Address) else id(item)
        keep = code, objects, form
        self._run = native_entry(code.address(RUN), graph.name, keep)
        self.entry = None if form is None else native_entry(code.address(CALL), graph.name, keep)
        self.kernel_calls = calls.kernels
        self.kernels = [name for name, _ in calls.kernels]
        self.keeps_nothing = keeps_nothing(graph)
        self._graph = given
        self._forms = [_form(value) for value in graph.parameters]
        self._plain: reference.Run | None = None

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        found = self._run(*arguments)
        if found is NotImplemented:  # an argument lies in memory in another way, or is of another type, than it should
            try:
                found = self._run(*(form(a) for form, a in zip(self._forms, arguments, strict=True)))
            except _Misfit:
                found = NotImplemented
        if found is NotImplemented:
            if self._plain is None:
                self._plain = reference.compile_graph(self._graph)
            return self._plain([a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
        return list(found)


class Interpreted:
    """A graph that LLVM makes no machine code of, run by the reference backend; `notes` say why."""

    def __init__(self, graph: Graph, why: str) -> None:
        self._run = reference.compile_graph(graph)
        self.notes = [f"no native code: {why}"]

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        return self._run(arguments)


def compile_graph(graph: Graph, form: CallForm | None = None) -> reference.Run:
    """A NativeGraph; the reference backend's function for a graph in which nothing has a native form.

    Where functions call themselves, conditions and loops without such calls are native. Raises abi.UnknownLayout on a
    Python or NumPy that native code does not know.
    """
    if has_recursion(graph) and not recursive.has_form(graph):
        return reference.compile_with_recursion(graph, compile_region)
    if not _is_worth_it(graph):
        return reference.compile_graph(graph)
    try:
        return NativeGraph(graph, form)
    except NoMachineCode as error:
        return Interpreted(graph, str(error))


def compile_region(graph: Graph) -> reference.Run:
    """As `compile_graph`, for a region that runs by itself: arrays in memory that it is given may be views of one."""
    for value in graph.parameters:
        if isinstance(value.type, ArrayType):
            value.type = replace(value.type, shared=True)
    return compile_graph(graph)


def _is_worth_it(graph: Graph) -> bool:
    """Whether anything but calls of kernels would come out."""
    idle = ("constant", "identity", "call")
    return any(
        node.op.name not in idle and (role(node) != "kernel" or is_composite(node) or is_split(node))
        for node in graph.walk()
    )


class _Misfit(Exception):
    """An argument that cannot be brought into the form that native code takes."""


def _form(value: Value) -> Any:
    type_: Any = value.type
    if not (is_scalar(type_) or is_dense(type_)):
        return lambda argument: argument
    dtype, shape = type_.dtype.numpy, sizes(type_)
    rank = len(shape)

    def plain(argument: Any) -> Any:
        array = np.asarray(argument)
        as_wide = all(a == b or isinstance(b, Size) for a, b in zip(array.shape, shape, strict=False))
        if array.ndim != rank or not as_wide or array.dtype != dtype:
            raise _Misfit
        return np.array(array, dtype, order="C")

    return plain
