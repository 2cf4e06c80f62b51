"""Entry points: METH_FASTCALL functions that check and unwrap arguments, call the graph, and wrap its results.

`run` takes and returns arrays; `call` accepts a user's call, as its CallForm describes. Both return NotImplemented,
before any side effect, for arguments of another form.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autoconv.backends.call_form import BY_COLUMNS, CallForm, Captured, InstanceParameter, ListParameter
from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.analysis.list_stacks import stack_versions
from autoconv.backends.llvm.analysis.ownership import allocated_outputs
from autoconv.backends.llvm.analysis.representation import is_dense, is_memory, is_open, is_scalar, sizes
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.memory.array_view import as_ndarray
from autoconv.backends.llvm.codegen.object_table import Calls
from autoconv.backends.llvm.codegen.region import write_region
from autoconv.backends.llvm.codegen.values import Memory, Native, Object
from autoconv.backends.llvm.entry.eligibility import is_data
from autoconv.backends.llvm.entry.entry_writer import EntryWriter
from autoconv.backends.llvm.entry.list_stacks import write_borrowed, write_given
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.graph import Graph, Value

RUN, CALL = "autoconv_run", "autoconv_call"
# Roles lowered to functions of their own, and roles that take next to no time inline.
_OWN_FUNCTIONS, _SHORT = {"element", "reduce", "matmul", "join"}, {"scalar", "view", "kernel"}


def write_graph(graph: Graph, module: ModuleText, calls: Calls, donated: Collection[int] = ()) -> None:
    """Write `i1 @graph(parameters, ptr %results)`, which returns whether it succeeded.

    Numbers are passed by value, objects by address. A result is a number in its eight bytes, or a new reference. The
    function owns the references of the parameters at the positions `donated`.
    """
    names = [f"%p{i}" for i in range(len(graph.parameters))]
    leading = [f"{_kind(v)} {n}" for v, n in zip(graph.parameters, names, strict=True)]
    parameters = [*leading, "ptr %results", *(f"i64 {size}" for size in module.sizes)]
    # Without loops of its own, the function does little but call those over arrays.
    classes = LoweringClasses()
    roles = {classes[node] for node in graph.walk()}
    speed = QUICK if roles & _OWN_FUNCTIONS and roles <= _OWN_FUNCTIONS | _SHORT else ""
    out = FunctionText(module, Signature("i1", parameters, f"nounwind {speed}", "graph"))
    body = Body(module, out, calls, graph, stack_versions(graph), classes)
    b = ElementWriter(out)
    arguments: list[Native] = [
        b.wrap(v.dtype, n) if is_scalar(v.type) else Object(n) for v, n in zip(graph.parameters, names, strict=True)
    ]
    donated = [i for i in donated if is_dense(graph.parameters[i].type)]
    for i in donated:
        arguments[i] = body.own_reference(names[i])
    if donated:
        body.begin_loop(())  # arrays are kept for reuse, as in a loop
    for i, value in enumerate(graph.parameters):
        if value in body.stacks:
            arguments[i] = write_borrowed(body, names[i], value)
    region = write_region(body, graph, arguments)
    results = region.results()
    if donated:
        body.end_loop()
    for i, (native, value) in enumerate(zip(results, graph.outputs, strict=True)):
        if isinstance(native, Memory):
            reference = body.own_reference(native.owner.ir)
            native = as_ndarray(region, native, value.type)  # type: ignore[arg-type]
            out.store("ptr", "null", native.slot)
            body.release(reference.slot)
        elif value in body.stacks:
            assert isinstance(native, Object)
            native = write_given(body, native, value)
        place = out.gep("i64", "%results", i)
        if isinstance(native, Element):
            store(b, native, place, 0)
        else:
            out.store("ptr", native.ir, place)
    body.finish_with_flag()


def _kind(value: Value) -> str:
    return register(value.dtype) if is_scalar(value.type) else "ptr"


def write_run(
    graph: Graph, module: ModuleText, calls: Calls, donated: Collection[int] = (), turned: Collection[int] = ()
) -> None:
    """Write the entry from arrays to a tuple of arrays; values of other types are passed through.

    The outputs at the positions `turned` are new arrays, which are transposed in place.
    """
    entry = EntryWriter(graph, module, calls, RUN, len(graph.parameters))
    arguments = [entry.argument(i) for i in range(len(graph.parameters))]
    natives = [
        entry.graph_argument(entry.array_of(argument, value), value)
        if is_data(value) and not is_memory(value.type)
        else argument
        for argument, value in zip(arguments, graph.parameters, strict=True)
    ]
    for argument, value in zip(arguments, graph.parameters, strict=True):
        if is_memory(value.type):
            entry.open.take_memory(argument, value.type)
    entry.open.compute()
    for i in donated:
        if is_dense(graph.parameters[i].type):  # the caller keeps its reference, so the array is not written to
            entry.out.call("retain", natives[i])
    natives_out = entry.results(natives, turned=turned)
    entry.result_writer.as_tuple(natives_out)
    entry.refuse()


def write_call(
    graph: Graph, module: ModuleText, calls: Calls, form: CallForm, turned: Collection[int] = ()
) -> None:
    """Write the entry for a user's call; for `turned` see `write_run`."""
    positions = [i for i, parameter in enumerate(form.parameters) if not isinstance(parameter, Captured)]
    count, exact = len(positions) + len(form.fixed_arguments), dict(form.fixed_arguments)
    places = dict(zip(positions, (position for position in range(count) if position not in exact), strict=True))
    entry = EntryWriter(graph, module, calls, CALL, count)
    entry.check_idle(form)
    for position, expected in exact.items():
        entry.check_exactly(entry.argument(position), expected)
    entry.check_guards(form)
    entry.check_rows([entry.argument(place) for i, place in places.items() if _is_matrix(form, graph, i)])
    weak = iter(form.weak)
    natives: list[Any] = []
    for i, (parameter, value) in enumerate(zip(form.parameters, graph.parameters, strict=True)):
        if isinstance(parameter, Captured):
            object_ = calls.object(parameter.value)(entry.out)
            array = entry.array_of(object_, value) if is_open(value.type) else object_
            natives.append(entry.graph_argument(array, value) if is_scalar(value.type) else array)
            continue
        argument = entry.argument(places[i])
        if parameter == "number":
            natives.append(entry.number(argument, value))
            continue
        if isinstance(parameter, ListParameter):
            natives.append(entry.list_of(argument, parameter))
            continue
        if isinstance(parameter, InstanceParameter):
            natives.append(entry.check_instance(argument, parameter))
            continue
        if parameter == "memory":
            natives.append(entry.memory_of(argument, value))
            continue
        if parameter == "array" and is_scalar(value.type):
            natives.append(entry.scalar(argument, value))
            continue
        if parameter == "tensor":
            argument = entry.unwrap_tensor(argument, form, next(weak))
        elif is_dense(value.type):
            argument = entry.as_row_major(argument, value, parameter == BY_COLUMNS)
        natives.append(entry.graph_argument(entry.array_of(argument, value), value))
    entry.check_apart()
    entry.open.compute()
    boxes = [i for i, native in enumerate(natives) if isinstance(native, tuple)]
    arrays = [i for i, value in enumerate(graph.parameters) if is_dense(value.type)]
    for i in sorted(form.donated):
        if i in arrays:
            entry.check_different(natives[i], [natives[j] for j in arrays if j != i and j not in boxes])
    slots = []
    for i in boxes:  # after the last check, so that a refusal has allocated nothing
        natives[i], slot = entry.box(natives[i])
        slots.append(slot)
    entry.save_arrays(natives, form)
    for i in sorted(form.donated):
        entry.give_away(places[i], form, to_graph=i in arrays)
    natives_out = entry.results(natives, [*slots, *entry.copies], turned)
    entry.result_writer.as_form(natives_out, form, allocated_outputs(graph))
    entry.refuse()


def _is_matrix(form: CallForm, graph: Graph, i: int) -> bool:
    """Return whether a parameter is an array of two or more dimensions, by rows."""
    type_ = graph.parameters[i].type
    return form.parameters[i] == "array" and is_dense(type_) and len(sizes(type_)) > 1


__all__ = ["CALL", "RUN", "write_call", "write_graph", "write_run"]
