"""Lower recursive functions to native functions, which are called as C functions are.

    define i1 @recursive_fib1(i64 %p0, i64 %depth, ptr %results, ptr %state)

`%depth` is the number of Python frames that the calls so far stand for. `%state` is shared by all calls of an
activation of the graph: the limit of frames, the number of polls, and the address where the thread's stack has to end.
A call beyond that address runs on an explicit stack, and so do all functions without a native form (see
backends/heap_stack.py).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence

from autoconv.backends import interpreter
from autoconv.backends.heap_stack import frames_of, frames_on_stack
from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_complex, is_scalar
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.objects.write_barrier import FIRST_SITE, SITES
from autoconv.backends.llvm.codegen.values import Memory, Native, Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import memory, register
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, is_recursive, leads_to_recursion

# Frames that a call may use before those on Python's stack are counted.
_UNCOUNTED_FRAMES = 100
# Largest use of a thread's stack by the calls of one graph, in bytes; a main thread has 8 MB as a rule.
_STACK_BYTES = 2 << 20
# The same in a library, whose threads are another program's.
LIBRARY_STACK = 256 << 10
# Bytes above the thread's floor (see runtime/references.py) that are reserved for callees of these calls.
_RESERVE = 192 << 10
_LIMIT, _TICKS, _END = 0, 8, 16  # offsets in the state, which ends with the cells of writes
_CONTROL = ("call", "cond", "while")


def has_form(graph: Graph) -> bool:
    """Return whether all recursive functions of the graph can be native.

    Every node that leads to a recursive call has to be a call, or a condition or loop controlled by a scalar.
    """
    if any(is_complex(value.type) for node in graph.walk() for value in (*node.inputs, *node.results)):
        return False
    return all(
        node.op.name in _CONTROL
        and lowering_class(node) == "control"
        and (not is_recursive(node) or _keeps_types(node))
        for node in graph.walk()
        if leads_to_recursion(node)
    )


def _keeps_types(node: Node) -> bool:
    """Return whether operands and parameters agree in being scalars or memory, and so do results."""
    (graph,) = node.regions
    pairs = [*zip(node.inputs, graph.parameters, strict=True), *zip(node.results, graph.outputs, strict=True)]
    return all(
        (is_scalar(a.type) or is_scalar(b.type)) <= (a.type == b.type)
        and representation.is_memory(a.type) == representation.is_memory(b.type)
        for a, b in pairs
    )


def write_recursive_call(region: LoweringContext, node: Node) -> None:
    """Call the node's function; beyond the end of the thread's stack, run it on an explicit stack."""
    body, out = region.body, region.out
    (graph,) = node.regions
    name = _function_of(region, graph)
    state, depth = _state_of(body)
    depth = out.op("add", depth, frames_of(node.span, outermost=body.recursion is None))
    results = out.alloca(f"[{max(len(node.results), 1)} x i64]")
    cells = [out.alloca(memory(v.dtype)) if is_scalar(v.type) else out.slot() for v in node.results]
    far, near, done = out.label("far"), out.label("near"), out.label("called")
    end = out.load("i64", _field(out, state, _END))
    out.branch_if(out.icmp("ult", out.cast("ptrtoint", results, "i64"), end), far, near, unlikely=True)

    out.begin(far)
    deeper = body.calls.deep_call(node, region.call_sites)
    _store_results(region, cells, region.call_function(node, deeper, ElementWriter(out).wrap(int64, depth)))
    out.branch(done)

    out.begin(near)
    arguments, boxes = _arguments(region, node)
    text = ", ".join([*arguments, f"i64 {depth}", f"ptr {results}", f"ptr {state}"])
    sizes = "".join(f", i64 {size}" for size in body.module.sizes)
    succeeded = out.new(f"call i1 @{name}({text}{sizes})")
    for box in boxes:
        body.release(box)
    failed, fine = out.label("raised"), out.label("fine")
    out.branch_if(succeeded, fine, failed)
    out.begin(failed)
    if body.calls.has_python:
        out.call_c("object_locate", "void", "ptr", body.calls.call_locator(node, region.call_sites)(out))
    out.branch(body.failed)
    out.begin(fine)
    _store_results(region, cells, [_result(out, results, i, value) for i, value in enumerate(node.results)])
    out.branch(done)

    out.begin(done)
    for value, cell in zip(node.results, cells, strict=True):
        if is_scalar(value.type):
            region.set(value, load(ElementWriter(out), value.dtype, cell, 0))
        else:
            region.set(value, Object(out.load("ptr", cell), cell))


def _arguments(region: LoweringContext, node: Node) -> tuple[list[str], list[str]]:
    """Return the arguments of the function, and the slots of temporary objects among them."""
    arguments, boxes = [], []
    for value in node.inputs:
        native = region.native(value)
        if isinstance(native, Memory):
            native = array_view.as_ndarray(region, native, value.type)  # type: ignore[arg-type]
            boxes.append(native.slot or "")
        if isinstance(native, Element):
            arguments.append(f"{register(native.dtype)} {native.ir}")
        else:
            arguments.append(f"ptr {native.ir}")
    return arguments, boxes


def _result(out: FunctionText, results: str, position: int, value: Value) -> Native:
    place = out.gep("i64", results, position)
    if is_scalar(value.type):
        return load(ElementWriter(out), value.dtype, place, 0)
    return Object(out.load("ptr", place))


def _store_results(region: LoweringContext, cells: Sequence[str], natives: Sequence[Native]) -> None:
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


def _function_of(region: LoweringContext, graph: Graph) -> str:
    """Return the name of the function, which is written at its first call."""
    module = region.body.module
    if graph in module.recursive:
        return str(module.recursive[graph])
    name = module.recursive[graph] = module.unique("recursive")
    names = [f"%p{i}" for i in range(len(graph.parameters))]
    kinds = [register(v.dtype) if is_scalar(v.type) else "ptr" for v in graph.parameters]
    leading = [f"{kind} {name}" for kind, name in zip(kinds, names, strict=True)]
    sizes = [f"i64 {size}" for size in module.sizes]
    parameters = [*leading, "i64 %depth", "ptr %results", "ptr %state", *sizes]
    out = FunctionText(module, Signature("i1", parameters, "nounwind", name))
    classes = region.body.classes
    body = Body(module, out, region.body.calls, graph, frozenset(), classes, arguments_are_apart=False)
    body.recursion = "%state", "%depth"
    body.count_in(_field(out, "%state", _TICKS))
    _check_depth(body)
    body.poll(often=False)
    arguments: list[Native] = [
        ElementWriter(out).wrap(v.dtype, ir) if is_scalar(v.type) else Object(ir)
        for v, ir in zip(graph.parameters, names, strict=True)
    ]
    inner = region.function(body, graph, arguments)
    for i, (native, value) in enumerate(zip(inner.results(), graph.outputs, strict=True)):
        place = out.gep("i64", "%results", i)
        if isinstance(native, Element):
            store(ElementWriter(out), native, place, 0)
            continue
        if isinstance(native, Memory):
            reference = body.own(native.owner.ir)
            native = array_view.as_ndarray(inner, native, value.type)  # type: ignore[arg-type]
            out.store("ptr", "null", native.slot)
            body.release(reference.slot)
        out.store("ptr", native.ir, place)
    body.finish_with_flag()
    return name


def _check_depth(body: Body) -> None:
    """Write a check that raises RecursionError if there are more frames than Python allows."""
    if not body.calls.has_python:
        return
    out = body.out
    place = _field(out, "%state", _LIMIT)
    with out.unlikely(out.icmp("sgt", "%depth", out.load("i64", place))):
        exact = _int_from_python(body, _frames_left)
        out.store("i64", exact, place)
        with out.leaving(out.icmp("sgt", "%depth", exact)):
            out.call("call_python", body.calls.object(_refuse)(out), "null", 0)
            out.branch(body.failed)


def _state_of(body: Body) -> tuple[str, str]:
    """Return the registers with the address of the state and with the depth.

    Outside of recursive functions, the state is that of the whole activation, initialised on first use.
    """
    if body.recursion is not None:
        return body.recursion
    out = body.out
    if body.recursion_state is None:
        body.recursion_state = out.alloca(f"[{FIRST_SITE // 8 + SITES} x i64]", "zeroinitializer")
    state = body.recursion_state
    place = _field(out, state, _LIMIT)
    with out.if_(out.icmp("eq", out.load("i64", place), 0)):
        size = _stack_size() if body.calls.has_python else LIBRARY_STACK
        end = out.op("sub", out.cast("ptrtoint", Operand.of(state, "ptr"), "i64"), size)
        if body.calls.has_python:
            _write_first_limit(body, place)
            least = out.op("add", out.call("stack_floor"), _RESERVE)
            end = out.select(out.icmp("ugt", least, end), least, end)
        out.store("i64", end, _field(out, state, _END))
    return state, "0"


def _write_first_limit(body: Body, place: str) -> None:
    """Store a limit of frames: the exact one, or a lower bound, which is found faster."""
    out = body.out
    offset = abi.frames_left_offset()
    count, many, counted = out.label("count"), out.label("many"), out.label("limit")
    if offset is None:
        out.branch(count)
    else:
        state = out.call_c("PyThreadState_Get", "ptr", "")
        left = out.load("i32", _field(out, state, offset))
        out.branch_if(out.icmp("sgt", left, _UNCOUNTED_FRAMES), many, count)
        out.begin(many)
        out.store("i64", _UNCOUNTED_FRAMES, place)
        out.branch(counted)
    out.begin(count)
    out.store("i64", _int_from_python(body, _frames_left), place)
    out.branch(counted)
    out.begin(counted)


def _int_from_python(body: Body, function: Callable[[], int]) -> str:
    """Return the register with the int that a Python function returns."""
    out = body.out
    result = out.call("call_python", body.calls.object(function)(out), "null", 0)
    body.check(out.is_null(result))
    number = out.call_c("PyLong_AsLongLong", "i64", "ptr", result)
    slot = out.alloca("ptr")
    out.store("ptr", result, slot)
    body.release(slot)
    return number


def _field(out: FunctionText, state: str, offset: int) -> str:
    return out.gep("i8", state, offset)


# ---- Python functions that native code calls


def _frames_left() -> int:
    """Return how many more nested Python frames the limit allows."""
    return sys.getrecursionlimit() - frames_on_stack(interpreter.is_own)


def _stack_size() -> int:
    """Return the bytes of stack for these calls.

    Where the system does not report the end of a stack, that is at most a quarter of Python's size for new threads.
    """
    own = threading.stack_size() if sys.platform != "linux" else 0
    return min(_STACK_BYTES, own // 4) if own else _STACK_BYTES


def _refuse() -> None:
    raise RecursionError("maximum recursion depth exceeded")
