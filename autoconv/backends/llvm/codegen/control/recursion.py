"""Lower recursive functions to native functions with C calls.

    define i1 @recursive_fib1(i64 %p0, i64 %depth, ptr %results, ptr %state)

`%depth` is the number of Python frames that the nested calls would have. `%state` is shared by all calls in one run of
the graph: the limit of frames, the number of polls, and the lowest address on the thread's stack that the calls may
use. A call below that address runs on a stack in the heap, as all recursive functions without native code do (see
backends/heap_stack.py).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence

from autoconv.backends import interpreter
from autoconv.backends.heap_stack import count_call_frames, count_stack_frames
from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_complex, is_scalar
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.frame import POLL_INTERVAL, Body
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.objects.write_barrier import SITE_CELLS_OFFSET, SITE_LIMIT
from autoconv.backends.llvm.codegen.values import Memory, Native, Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import memory_type, register
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, is_recursive, leads_to_recursion

# Depth of calls up to which the frames on Python's stack are not counted, because counting takes time.
_UNCOUNTED_DEPTH = 100
# Bytes of a thread's stack that the calls of one graph may use; a main thread usually has 8 MB.
_STACK_BYTES = 2 << 20
# Bytes of a thread's stack that they may use in a C library, whose threads are those of another program.
LIBRARY_STACK_BYTES = 256 << 10
# Bytes above the end of the thread's stack (see runtime/references.py) that are reserved for callees of native code.
_RESERVED_BYTES = 192 << 10
# Byte offsets of fields of the state. The cells of write sites follow them, from SITE_CELLS_OFFSET on.
_FRAME_LIMIT_OFFSET, _POLL_COUNT_OFFSET, _STACK_END_OFFSET = 0, 8, 16
_CONTROL_OPS = ("call", "cond", "while")


def has_native_recursion(graph: Graph) -> bool:
    """Return whether all recursive functions of the graph can be native functions.

    Every node around a recursive call has to be a call, or a condition or a loop that a scalar controls.
    """
    if any(is_complex(value.type) for node in graph.walk() for value in (*node.inputs, *node.results)):
        return False
    return all(
        node.op.name in _CONTROL_OPS
        and lowering_class(node) == "control"
        and (not is_recursive(node) or _keeps_representations(node))
        for node in graph.walk()
        if leads_to_recursion(node)
    )


def _keeps_representations(node: Node) -> bool:
    """Return whether each operand has the representation of its parameter, and each result that of its output."""
    (graph,) = node.regions
    pairs = [*zip(node.inputs, graph.parameters, strict=True), *zip(node.results, graph.outputs, strict=True)]
    return all(
        (outer.type == inner.type or not (is_scalar(outer.type) or is_scalar(inner.type)))
        and representation.is_memory(outer.type) == representation.is_memory(inner.type)
        for outer, inner in pairs
    )


def write_recursive_call(region: LoweringContext, node: Node) -> None:
    """Call the node's native function, or run it on a stack in the heap if the thread's stack is used up."""
    body, out = region.body, region.out
    (graph,) = node.regions
    name = _recursive_function(region, graph)
    state, depth = _activation_state(body)
    depth = out.op("add", depth, count_call_frames(node.span, is_outermost=body.recursion is None))
    results = out.alloca(f"[{max(len(node.results), 1)} x i64]")
    cells = [out.alloca(memory_type(value.dtype)) if is_scalar(value.type) else out.slot() for value in node.results]
    deep_label, shallow_label, done_label = out.label("far"), out.label("near"), out.label("called")
    stack_end = out.load("i64", _field_address(out, state, _STACK_END_OFFSET))
    is_deep = out.icmp("ult", out.cast("ptrtoint", results, "i64"), stack_end)
    out.branch_if(is_deep, deep_label, shallow_label, unlikely=True)

    out.begin(deep_label)
    deep_call = body.objects.deep_call(node, region.enclosing_calls)
    _store_results(region, cells, region.call_function(node, deep_call, ElementWriter(out).wrap(int64, depth)))
    out.branch(done_label)

    out.begin(shallow_label)
    arguments, box_slots = _write_arguments(region, node)
    size_operands = [f"i64 {size}" for size in body.module.sizes]
    call_operands = ", ".join([*arguments, f"i64 {depth}", f"ptr {results}", f"ptr {state}", *size_operands])
    has_succeeded = out.new(f"call i1 @{name}({call_operands})")
    for slot in box_slots:
        body.release(slot)
    raised_label, returned_label = out.label("raised"), out.label("fine")
    out.branch_if(has_succeeded, returned_label, raised_label)
    out.begin(raised_label)
    if body.objects.has_python:
        out.call_c("object_locate", "void", "ptr", body.objects.call_locator(node, region.enclosing_calls)(out))
    out.branch(body.failure_label)
    out.begin(returned_label)
    _store_results(region, cells, [_load_result(out, results, i, value) for i, value in enumerate(node.results)])
    out.branch(done_label)

    out.begin(done_label)
    for value, cell in zip(node.results, cells, strict=True):
        if is_scalar(value.type):
            region.set(value, load(ElementWriter(out), value.dtype, cell, 0))
        else:
            region.set(value, Object(out.load("ptr", cell), cell))


def _write_arguments(region: LoweringContext, node: Node) -> tuple[list[str], list[str]]:
    """Return the arguments of a call as typed operands, and the slots of temporary objects among them."""
    arguments, box_slots = [], []
    for value in node.inputs:
        representation = region.representation_of(value)
        if isinstance(representation, Memory):
            representation = array_view.as_ndarray(region, representation, value.type)  # type: ignore[arg-type]
            box_slots.append(representation.slot or "")
        if isinstance(representation, Element):
            arguments.append(f"{register(representation.dtype)} {representation.ir}")
        else:
            arguments.append(f"ptr {representation.ir}")
    return arguments, box_slots


def _load_result(out: FunctionText, results: str, position: int, value: Value) -> Native:
    """Load one result of a recursive call: a number, or an owned object."""
    cell = out.gep("i64", results, position)
    if is_scalar(value.type):
        return load(ElementWriter(out), value.dtype, cell, 0)
    return Object(out.load("ptr", cell))


def _store_results(region: LoweringContext, cells: Sequence[str], natives: Sequence[Native]) -> None:
    """Store the results of a call in cells; objects move to the cells with their references."""
    out = region.out
    for cell, native in zip(cells, natives, strict=True):
        if isinstance(native, Element):
            store(ElementWriter(out), native, cell, 0)
            continue
        owner = native.owner if isinstance(native, Memory) else native
        if owner.slot is not None:
            out.store("ptr", "null", owner.slot)
        out.store("ptr", owner.ir, cell)


# ---- the function


def _recursive_function(region: LoweringContext, graph: Graph) -> str:
    """Return the name of the native function of a graph; write the function at its first call."""
    module = region.body.module
    if graph in module.recursive:
        return str(module.recursive[graph])
    name = module.recursive[graph] = module.unique_name("recursive")
    registers = [f"%p{i}" for i in range(len(graph.parameters))]
    ir_types = [register(value.dtype) if is_scalar(value.type) else "ptr" for value in graph.parameters]
    value_parameters = [f"{ir_type} {register_}" for ir_type, register_ in zip(ir_types, registers, strict=True)]
    size_parameters = [f"i64 {size}" for size in module.sizes]
    parameters = [*value_parameters, "i64 %depth", "ptr %results", "ptr %state", *size_parameters]
    out = FunctionText(module, Signature("i1", parameters, "nounwind", name))
    classes = region.body.classes
    body = Body(module, out, region.body.objects, graph, frozenset(), classes, arguments_are_disjoint=False)
    body.recursion = "%state", "%depth"
    body.share_poll_counter(_field_address(out, "%state", _POLL_COUNT_OFFSET))
    _check_depth(body)
    body.poll(often=False)
    arguments: list[Native] = [
        ElementWriter(out).wrap(value.dtype, register_) if is_scalar(value.type) else Object(register_)
        for value, register_ in zip(graph.parameters, registers, strict=True)
    ]
    inner_region = region.write_function(body, graph, arguments)
    for i, (native, value) in enumerate(zip(inner_region.results(), graph.outputs, strict=True)):
        cell = out.gep("i64", "%results", i)
        if isinstance(native, Element):
            store(ElementWriter(out), native, cell, 0)
            continue
        if isinstance(native, Memory):
            reference = body.own_reference(native.owner.ir)
            native = array_view.as_ndarray(inner_region, native, value.type)  # type: ignore[arg-type]
            out.store("ptr", "null", native.slot)
            body.release(reference.slot)
        out.store("ptr", native.ir, cell)
    body.finish_with_flag()
    return name


def _check_depth(body: Body) -> None:
    """Write a check, at the start of a recursive function, that raises RecursionError beyond Python's limit."""
    if not body.objects.has_python:
        return
    out = body.out
    limit_address = _field_address(out, "%state", _FRAME_LIMIT_OFFSET)
    with out.unlikely(out.icmp("sgt", "%depth", out.load("i64", limit_address))):
        frames_left = _int_from_python(body, _frames_left)
        out.store("i64", frames_left, limit_address)
        with out.leaving(out.icmp("sgt", "%depth", frames_left)):
            out.call("call_python", body.objects.reference(_raise_recursion_error)(out), "null", 0)
            out.branch(body.failure_label)


def _activation_state(body: Body) -> tuple[str, str]:
    """Return the registers of the address of the state and of the depth.

    Outside of recursive functions the depth is 0, and code is written that initialises the state before the first call.
    """
    if body.recursion is not None:
        return body.recursion
    out = body.out
    if body.recursion_state is None:
        body.recursion_state = out.alloca(f"[{SITE_CELLS_OFFSET // 8 + SITE_LIMIT} x i64]", "zeroinitializer")
    state = body.recursion_state
    limit_address = _field_address(out, state, _FRAME_LIMIT_OFFSET)
    with out.if_(out.icmp("eq", out.load("i64", limit_address), 0)):  # the state is not initialised yet
        stack_bytes = _stack_size() if body.objects.has_python else LIBRARY_STACK_BYTES
        stack_end = out.op("sub", out.cast("ptrtoint", Operand.of(state, "ptr"), "i64"), stack_bytes)
        if body.objects.has_python:
            _write_first_limit(body, limit_address)
            lowest_end = out.op("add", out.call("stack_floor"), _RESERVED_BYTES)
            stack_end = out.select(out.icmp("ugt", lowest_end, stack_end), lowest_end, stack_end)
        out.store("i64", stack_end, _field_address(out, state, _STACK_END_OFFSET))
        out.store("i64", POLL_INTERVAL, _field_address(out, state, _POLL_COUNT_OFFSET))
    return state, "0"


def _write_first_limit(body: Body, limit_address: str) -> None:
    """Store the number of frames that Python still allows, or `_UNCOUNTED_DEPTH` if it allows more.

    Counting the frames takes time. Where Python's state has a field with the number, an exact count is only made if the
    field is at most `_UNCOUNTED_DEPTH`.
    """
    out = body.out
    offset = abi.frames_left_offset()
    count_label, enough_label, done_label = out.label("count"), out.label("many"), out.label("limit")
    if offset is None:
        out.branch(count_label)
    else:
        thread_state = out.call_c("PyThreadState_Get", "ptr", "")
        frames_left = out.load("i32", _field_address(out, thread_state, offset))
        out.branch_if(out.icmp("sgt", frames_left, _UNCOUNTED_DEPTH), enough_label, count_label)
        out.begin(enough_label)
        out.store("i64", _UNCOUNTED_DEPTH, limit_address)
        out.branch(done_label)
    out.begin(count_label)
    out.store("i64", _int_from_python(body, _frames_left), limit_address)
    out.branch(done_label)
    out.begin(done_label)


def _int_from_python(body: Body, function: Callable[[], int]) -> str:
    """Return the register with the int that a Python function returns."""
    out = body.out
    result = out.call("call_python", body.objects.reference(function)(out), "null", 0)
    body.fail_if(out.is_null(result))
    number = out.call_c("PyLong_AsLongLong", "i64", "ptr", result)
    slot = out.alloca("ptr")
    out.store("ptr", result, slot)
    body.release(slot)
    return number


def _field_address(out: FunctionText, state: str, offset: int) -> str:
    """Return the address of the field at an offset in bytes."""
    return out.gep("i8", state, offset)


# ---- Python functions that native code calls


def _frames_left() -> int:
    """Return how many more nested frames Python's recursion limit allows."""
    return sys.getrecursionlimit() - count_stack_frames(interpreter.is_own_file)


def _stack_size() -> int:
    """Return how many bytes of a thread's stack the recursive calls may use.

    On systems other than Linux, that is at most a quarter of the stack size that Python gives to new threads.
    """
    thread_bytes = threading.stack_size() if sys.platform != "linux" else 0
    return min(_STACK_BYTES, thread_bytes // 4) if thread_bytes else _STACK_BYTES


def _raise_recursion_error() -> None:
    raise RecursionError("maximum recursion depth exceeded")
