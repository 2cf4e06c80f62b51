"""The native backend: a graph, its loops and conditions included, becomes one machine-code function.

    graph ─ fusion (what shares a loop) ─ regions (numbers, references, control flow) + kernels (loop nests)
          ─ text ─ engine (LLVM) ─ an entry that takes and answers Python objects

Ops without a native form run by their kernels, called from native code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.backends import reference
from autoconv.backends.llvm import abi
from autoconv.backends.llvm.calls import Calls
from autoconv.backends.llvm.engine import Code, native_entry
from autoconv.backends.llvm.kernels import load
from autoconv.backends.llvm.prelude import METADATA, prelude
from autoconv.backends.llvm.regions import Body, Native, Object, Region
from autoconv.backends.llvm.roles import is_array, is_scalar, role, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.graph.graph import Graph, Value

NAME = "autoconv_entry"


def compile_graph(graph: Graph) -> reference.Run:
    """Native code for the graph, as a function from a list of arguments to a list of results.

    A graph in which nothing has a native form is run by the reference backend. Raises abi.UnknownLayout on a Python
    or NumPy that native code does not know.
    """
    if not _is_worth_it(graph):
        return reference.compile_graph(graph)
    module = ModuleText()
    calls = Calls(module, compile_graph)
    write_entry(graph, module, calls)
    module.add(f"@objects = global [{max(len(calls.objects), 1)} x ptr] zeroinitializer")
    code = Code(prelude(module) + module.text() + METADATA, thorough=has_loops(module))
    objects = tuple(calls.objects)
    table = (ctypes.c_void_p * max(len(objects), 1)).from_address(code.address("objects"))
    for i, item in enumerate(objects):
        table[i] = id(item)
    entry = native_entry(code.address(NAME), graph.name, (code, objects))
    forms = [_form(value) for value in graph.parameters]
    plain: list[Any] = []

    def run(arguments: Sequence[Any]) -> list[Any]:
        found = entry(*arguments)
        if found is NotImplemented:  # an argument lies in memory in another way, or is of another type, than it should
            try:
                found = entry(*(form(a) for form, a in zip(forms, arguments, strict=True)))
            except _Misfit:
                found = NotImplemented
        if found is NotImplemented:
            if not plain:
                plain.append(reference.compile_graph(graph))
            return plain[0](arguments)  # type: ignore[no-any-return]
        return list(found)

    return run


def has_loops(module: ModuleText) -> bool:
    return "@kernel1(" in module.text()


def _is_worth_it(graph: Graph) -> bool:
    """Whether anything but calls of kernels would come out."""
    for node in graph.walk():
        if node.op.name not in ("constant", "identity", "call") and role(node) not in ("kernel",):
            return True
    return False


class _Misfit(Exception):
    """An argument that cannot be brought into the form that native code takes."""


def _form(value: Value) -> Any:
    type_: Any = value.type
    if not (is_scalar(type_) or is_array(type_)):
        return lambda argument: argument
    dtype, shape = type_.dtype.numpy, sizes(type_)

    def plain(argument: Any) -> Any:
        array = np.asarray(argument)
        if array.shape != shape or array.dtype != dtype:
            raise _Misfit
        return np.array(array, dtype, order="C")

    return plain


def write_entry(graph: Graph, module: ModuleText, calls: Calls) -> None:
    """The METH_FASTCALL function: checks and takes the arguments, runs the graph, answers a tuple.

    Answers NotImplemented, before anything has happened, for arguments of another form.
    """
    out = FunctionText(module, f"define ptr @{NAME}(ptr %self, ptr %arguments, i64 %count) nounwind")
    body = Body(module, out, calls)
    other = out.label("other")
    expected = out.new(f"icmp eq i64 %count, {len(graph.parameters)}")
    _check(out, expected, other)
    arguments = [_taken(out, calls, value, i, other) for i, value in enumerate(graph.parameters)]
    region = Region(body, graph, arguments)
    results = region.results()
    module.declare("PyTuple_New", "ptr", "i64")
    module.declare("PyTuple_SetItem", "i32", "ptr, i64, ptr")
    owned = [
        region.boxed(native) if isinstance(native, Element) else native if native.slot else body.own(native.ir)
        for native in results
    ]
    answer = out.new(f'call ptr @"PyTuple_New"(i64 {len(owned)})')
    body.check(out.new(f"icmp eq ptr {answer}, null"))
    for i, native in enumerate(owned):
        out.line(f"store ptr null, ptr {native.slot}")
        out.new(f'call i32 @"PyTuple_SetItem"(ptr {answer}, i64 {i}, ptr {native.ir})')
    out.line(f"ret ptr {answer}")
    out.begin(other)
    missing = calls.object(NotImplemented)(out)
    out.line(f"call void @retain(ptr {missing})")
    out.line(f"ret ptr {missing}")
    out.begin(body.failed)
    for slot in body.slots:
        body.release(slot)
    out.line("ret ptr null")
    module.add(out.text())


def _check(out: FunctionText, holds: str, other: str) -> None:
    go_on = out.label("ok")
    out.branch_if(holds, go_on, other)
    out.begin(go_on)


def _taken(out: FunctionText, calls: Calls, value: Value, position: int, other: str) -> Native:
    """An argument, checked: numbers and arrays come as plain ndarrays of the very type."""
    place = out.new(f"getelementptr inbounds ptr, ptr %arguments, i64 {position}")
    given = out.new(f"load ptr, ptr {place}")
    type_: Any = value.type
    if not (is_scalar(type_) or is_array(type_)):
        return Object(given)
    shape = sizes(type_)

    def field(offset: int, kind: str) -> str:
        return out.new(f"load {kind}, ptr {out.new(f'getelementptr inbounds i8, ptr {given}, i64 {offset}')}")

    def same(offset: int, kind: str, wanted: str) -> None:
        _check(out, out.new(f"icmp eq {kind} {field(offset, kind)}, {wanted}"), other)

    same(abi.TYPE, "ptr", calls.object(np.ndarray)(out))
    same(abi.DESCRIPTOR, "ptr", calls.object(type_.dtype.numpy)(out))
    same(abi.RANK, "i32", str(len(shape)))
    flags = out.new(f"and i32 {field(abi.FLAGS, 'i32')}, {abi.PLAIN_FLAGS}")
    _check(out, out.new(f"icmp eq i32 {flags}, {abi.PLAIN_FLAGS}"), other)
    if shape:
        dimensions = field(abi.DIMENSIONS, "ptr")
        for axis, size in enumerate(shape):
            at = out.new(f"getelementptr inbounds i64, ptr {dimensions}, i64 {axis}")
            _check(out, out.new(f"icmp eq i64 {out.new(f'load i64, ptr {at}')}, {size}"), other)
        return Object(given)
    return load(ElementWriter(out), type_.dtype, field(abi.DATA, "ptr"), 0)
