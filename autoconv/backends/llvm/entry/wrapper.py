"""Entry points: METH_FASTCALL functions that check and unwrap arguments, call the graph, and wrap its results.

`autoconv_run` takes and returns arrays. `autoconv_call` takes a user's call in the form that a CallForm describes. Both
return NotImplemented for arguments that do not fit, before any side effect.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from autoconv.backends.call_form import BY_COLUMNS, BY_STRIDES, CallForm, Captured, InstanceParameter, ListParameter
from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.analysis.indexing import updates_in_routine
from autoconv.backends.llvm.analysis.list_stacks import stack_versions
from autoconv.backends.llvm.analysis.representation import elements_of, is_dense, is_memory, is_open, is_scalar, sizes
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.memory.array_view import as_ndarray
from autoconv.backends.llvm.codegen.object_table import ObjectTable
from autoconv.backends.llvm.codegen.region import write_region
from autoconv.backends.llvm.codegen.values import Memory, Native, Object
from autoconv.backends.llvm.entry.entry_writer import EntryWriter
from autoconv.backends.llvm.entry.list_stacks import write_list_of_stack, write_stack_of_list
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import NULL
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.graph import Graph, Value
from autoconv.graph.linear_form import Range
from autoconv.graph.region_flow import runs_region_once
from autoconv.ops.control.resources import VARIABLE_OPS

RUN, CALL = "autoconv_run", "autoconv_call"  # names of the entry points
# Lowering classes whose nodes become functions of their own, and classes whose inline code takes little time.
_FUNCTION_CLASSES, _INLINE_CLASSES = {"element", "reduce", "matmul", "join", "scatter"}, {"scalar", "view", "kernel"}
_MANY_NODES = 1000  # nodes of a graph whose function is long


class GeneralCode(Protocol):
    """Code that assumes no ranges of numbers: its entries take what `autoconv_run` and `autoconv_call` take."""

    def run(self, *arguments: Any) -> Any: ...
    def call(self, *arguments: Any) -> Any: ...


def write_graph(graph: Graph, module: ModuleText, objects: ObjectTable, donated: Collection[int] = ()) -> None:
    """Write `i1 @graph(parameters, ptr %results)`, which returns true if it succeeded.

    Numbers are passed by value, objects by address. Each result takes eight bytes at `%results`: a number, or a new
    reference. The function owns the references of the parameters at the positions `donated`. Its callers test
    the ranges of numbers that the module assumes.
    """
    registers = [f"%p{i}" for i in range(len(graph.parameters))]
    pairs = zip(graph.parameters, registers, strict=True)
    graph_parameters = [f"{_parameter_type(value)} {register_name}" for value, register_name in pairs]
    parameters = [*graph_parameters, "ptr %results", *(f"i64 {size}" for size in module.sizes)]
    classes = LoweringClasses()
    optimisation_attribute = QUICK if _mostly_calls(graph, classes) else ""
    out = FunctionText(module, Signature("i1", parameters, f"nounwind {optimisation_attribute}", "graph"))
    body = Body(module, out, objects, graph, stack_versions(graph), classes)
    b = ElementWriter(out)
    arguments: list[Native] = [
        b.wrap(value.dtype, register_name) if is_scalar(value.type) else Object(register_name)
        for value, register_name in zip(graph.parameters, registers, strict=True)
    ]
    for argument, value in zip(arguments, graph.parameters, strict=True):
        if value in module.assumed_ranges:
            assert isinstance(argument, Element)
            body.record_range(argument, module.assumed_ranges[value])
    donated = [i for i in donated if is_dense(graph.parameters[i].type)]
    for i in donated:
        arguments[i] = body.own_reference(registers[i])
    if donated:
        body.begin_loop(())  # as in a loop, dead arrays become spare arrays: donated memory is reused
    for i, value in enumerate(graph.parameters):
        if value in body.stacks:
            arguments[i] = write_stack_of_list(body, registers[i], value)
    region = write_region(body, graph, arguments)
    results = region.results()
    if donated:
        body.end_loop()
    for i, (native, value) in enumerate(zip(results, graph.outputs, strict=True)):
        if isinstance(native, Memory):
            owner = body.own_reference(native.owner.ir)
            native = as_ndarray(region, native, value.type)  # type: ignore[arg-type]
            out.store("ptr", "null", native.slot)
            body.release(owner.slot)
        elif value in body.stacks:
            assert isinstance(native, Object)
            native = write_list_of_stack(body, native, value)
        cell = out.gep("i64", "%results", i)
        if isinstance(native, Element):
            store(b, native, cell, 0)
        else:
            out.store("ptr", native.ir, cell)
    body.finish_with_flag()


def _mostly_calls(graph: Graph, classes: LoweringClasses) -> bool:
    """Return whether the function of a graph mostly calls loops over arrays, so that optimising it gains nothing.

    A function with loops of short updates gains by optimisation; but if it is long, the gain is not worth LLVM's time.
    """
    nodes = [
        node for node in graph.walk()
        if node.op.name not in VARIABLE_OPS and not updates_in_routine(node, classes[node])
    ]  # fmt: skip
    if len(nodes) > _MANY_NODES:
        nodes = [node for node in nodes if classes[node] != "update" and not runs_region_once(node)]
    node_classes = {classes[node] for node in nodes}
    return bool(node_classes & _FUNCTION_CLASSES) and node_classes <= _FUNCTION_CLASSES | _INLINE_CLASSES


def _parameter_type(value: Value) -> str:
    """Return the LLVM type of a parameter of the graph's function."""
    return register(value.dtype) if is_scalar(value.type) else "ptr"


def write_run(
    graph: Graph, module: ModuleText, objects: ObjectTable, donated: Collection[int] = (),
    transposed: Collection[int] = (), general_code: GeneralCode | None = None,
) -> None:
    """Write the entry that takes arrays and returns a tuple of arrays; objects of other types are passed unchanged.

    The outputs at the positions `transposed` are new arrays, which are transposed in place. Calls with
    numbers outside of the module's assumed ranges run `general_code`.
    """
    entry = EntryWriter(graph, module, objects, RUN, len(graph.parameters))
    arguments = [entry.load_argument(i) for i in range(len(graph.parameters))]
    natives = [
        entry.graph_argument(entry.check_array(argument, value), value)
        if is_scalar(value.type) or is_dense(value.type)
        else argument
        for argument, value in zip(arguments, graph.parameters, strict=True)
    ]
    for argument, value in zip(arguments, graph.parameters, strict=True):
        if is_memory(value.type):
            entry.open_dimensions.bind_memory(argument, value.type)
    entry.open_dimensions.compute_derived()
    if general_code is not None:
        _leave_unless_assumed(entry, graph, natives, module.assumed_ranges, general_code.run)
    for i in donated:
        if is_dense(graph.parameters[i].type):  # the caller keeps its reference, so the array is not written to
            entry.out.call("retain", natives[i])
    outputs = entry.call_graph(natives, transposed=transposed)
    entry.result_writer.return_tuple(outputs)
    entry.write_refusal()


def write_call(
    graph: Graph, module: ModuleText, objects: ObjectTable, form: CallForm, transposed: Collection[int] = (),
    general_code: GeneralCode | None = None,
) -> None:
    """Write the entry for a user's call; `transposed` and `general_code` are as for `write_run`."""
    passed_parameters = [i for i, parameter in enumerate(form.parameters) if not isinstance(parameter, Captured)]
    argument_count, constants = len(passed_parameters) + len(form.fixed_arguments), dict(form.fixed_arguments)
    variable_positions = [position for position in range(argument_count) if position not in constants]
    argument_positions = dict(zip(passed_parameters, variable_positions, strict=True))
    entry = EntryWriter(graph, module, objects, CALL, argument_count, form.defaults)
    entry.check_idle(form)
    for position, expected in constants.items():
        entry.check_constant(entry.load_argument(position), expected)
    entry.check_guards(form)
    matrices = [position for i, position in argument_positions.items() if _is_matrix(form, graph, i)]
    entry.check_not_all_column_major([entry.load_argument(position) for position in matrices])
    weak_flags = iter(form.weak)
    natives: list[Any] = []
    for i, (parameter, value) in enumerate(zip(form.parameters, graph.parameters, strict=True)):
        if isinstance(parameter, Captured):
            object_ = objects.reference(parameter.value)(entry.out)
            array = entry.check_array(object_, value) if is_open(value.type) else object_
            natives.append(entry.graph_argument(array, value) if is_scalar(value.type) else array)
            continue
        argument = entry.load_argument(argument_positions[i])
        natives.append(_unwrap_argument(entry, form, parameter, value, argument, weak_flags))
    entry.check_disjoint()
    entry.open_dimensions.compute_derived()
    if general_code is not None:
        _leave_unless_assumed(entry, graph, natives, module.assumed_ranges, general_code.call)
    complex_parameters = [i for i, native in enumerate(natives) if isinstance(native, tuple)]
    array_parameters = [i for i, value in enumerate(graph.parameters) if is_dense(value.type)]
    for i in sorted(form.donated):
        if i in array_parameters:
            other_arrays = [natives[j] for j in array_parameters if j != i and j not in complex_parameters]
            entry.check_distinct(natives[i], other_arrays)
    box_slots = []
    for i in complex_parameters:  # after the last check, so that nothing is allocated for a refused call
        natives[i], slot = entry.box_complex(natives[i])
        box_slots.append(slot)
    entry.save_arrays(natives, form)
    for i in sorted(form.donated):
        entry.move_donated(argument_positions[i], form, to_graph=i in array_parameters)
    outputs = entry.call_graph(natives, [*box_slots, *entry.copies], transposed)
    entry.result_writer.return_form(outputs, form, graph)
    entry.write_refusal()


def _leave_unless_assumed(
    entry: EntryWriter, graph: Graph, natives: Sequence[Any], ranges: Mapping[Value, Range],
    general_entry: Callable[..., Any],
) -> None:  # fmt: skip
    """Return the result of `general_entry` if an argument of the graph is out of its assumed range."""
    out, is_outside = entry.out, ""
    for native, value in zip(natives, graph.parameters, strict=True):
        if value in ranges:
            low, high = ranges[value]
            # As an unsigned number, the difference is large for a number below the range.
            test = out.icmp("ugt", out.op("sub", native, low), high - low)
            is_outside = out.or_(is_outside, test) if is_outside else test
    with out.leaving(is_outside, unlikely=True):
        entry.release_copies()
        arguments = entry.objects.reference(general_entry)(out), "%arguments", "%count", NULL
        out.ret(out.call_c("PyObject_Vectorcall", "ptr", "ptr, ptr, i64, ptr", *arguments))


def _unwrap_argument(
    entry: EntryWriter, form: CallForm, parameter: Any, value: Value, argument: str, weak_flags: Iterator[bool]
) -> Any:
    """Check and unwrap an argument; a complex number stays a pair of its parts until all checks are written."""
    if parameter == "number":
        return entry.unwrap_number(argument, value)
    if isinstance(parameter, ListParameter):
        return entry.check_list(argument, parameter)
    if isinstance(parameter, InstanceParameter):
        return entry.check_instance(argument, parameter)
    if parameter in ("memory", BY_STRIDES):
        return entry.check_memory(argument, value)
    if parameter == "array" and is_scalar(value.type):
        return entry.unwrap_scalar(argument, value)
    if parameter == "tensor":
        argument = entry.unwrap_tensor(argument, form, next(weak_flags))
    elif is_dense(value.type):
        argument = entry.copy_unless_row_major(argument, value, parameter == BY_COLUMNS)
    return entry.graph_argument(entry.check_array(argument, value), value)


def _is_matrix(form: CallForm, graph: Graph, i: int) -> bool:
    """Return whether a parameter is an array of two or more dimensions that need not be in Fortran order."""
    is_array = form.parameters[i] in ("array", BY_STRIDES)
    return is_array and len(sizes(elements_of(graph.parameters[i].type))) > 1
