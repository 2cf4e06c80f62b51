"""Reference backend: run a graph node by node through the kernels of its ops. It defines the semantics of graphs."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.call_form import CallForm
from autoconv.backends.heap_stack import LIMIT_ERRORS, Step, compile_recursive
from autoconv.backends.protocol import Dispatch
from autoconv.config.paths import is_own_file
from autoconv.errors import GraphOnlyError, InvalidArgumentError, OpError, Place
from autoconv.graph.graph import Graph, Node, Span, has_recursion
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import take_float_errors

Run = Callable[[Sequence[Any]], list[Any]]
Function = Callable[..., Any]
Compile = Callable[[Graph], Run]


class InterpretedGraph:
    """A graph that runs node by node; it is a `protocol.CompiledGraph`. `notes` state why it has no native code."""

    entry = None
    kernel_calls = None
    holds_no_arguments = False
    sizes = None

    def __init__(self, graph: Graph, notes: Sequence[str] = ()) -> None:
        self.notes = list(notes)
        slots: dict[Any, int] = {}
        for value in graph.parameters:
            slots[value] = len(slots)
        self._steps: list[Step] = []
        for node in graph.nodes:
            inputs = [slots[value] for value in node.inputs]
            outputs = [slots.setdefault(value, len(slots)) for value in node.results]
            self._steps.append(Step(node_function(node, InterpretedGraph), inputs, outputs))
        self._unset_locals = [None] * (len(slots) - len(graph.parameters))
        self._results = [slots[value] for value in graph.outputs]

    def __call__(self, arguments: Sequence[Any], /) -> list[Any]:
        frame = [*arguments, *self._unset_locals]
        for function, inputs, outputs in self._steps:
            result = function(*[frame[slot] for slot in inputs])
            if len(outputs) == 1:
                frame[outputs[0]] = result[0] if type(result) is tuple else result
            elif outputs:
                for slot, value in zip(outputs, result, strict=True):
                    frame[slot] = value
        return [frame[slot] for slot in self._results]


class RecursiveGraph(InterpretedGraph):
    """A graph with recursive functions. `compile_region` compiles its regions without recursion."""

    def __init__(self, graph: Graph, compile_region: Compile) -> None:
        self.notes = []
        self._run = compile_with_recursion(graph, compile_region)

    def __call__(self, arguments: Sequence[Any], /) -> list[Any]:
        return self._run(arguments)


def compile_graph(graph: Graph) -> InterpretedGraph:
    """Compile a graph to a function from parameter values (arrays, storages, lists) to output values.

    Exceptions of kernels carry the user's spans in `_autoconv_spans`, and errors of this package a `place`.
    Recursive functions may recurse as deep as Python's limit allows.
    """
    return RecursiveGraph(graph, InterpretedGraph) if has_recursion(graph) else InterpretedGraph(graph)


class Interpreter:
    """The reference backend. Compiled graphs run for all sizes, and have no entries."""

    name = "reference"
    symbolic_code = None
    compile_library = None

    def compile(self, graph: Graph, form: CallForm | None = None, pool_number: int = 0) -> InterpretedGraph:
        return compile_graph(graph)

    def describe(self, graph: Graph) -> list[str]:
        return [f"kernel: {node.op.name}" for node in graph.walk() if node.op.name != "constant"]

    def prepare_in_background(self) -> None: ...

    def prepare_for_file(self, file: str) -> None: ...

    def dispatch_method(self, dispatch: Dispatch) -> None: ...

    def mark_method_descriptor(self, kind: type) -> bool:
        return False

    def take_float_errors(self) -> int:
        return take_float_errors()

    def entry_of_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def can_dispatch(self, cells: Sequence[Any], entry_functions: Sequence[Callable[..., Any]]) -> bool:
        return False


def compile_with_recursion(
    graph: Graph, compile_region: Compile, inside_recursion: bool = False
) -> Callable[..., list[Any]]:
    """Compile a graph with recursive functions; `compile_region` compiles the regions without recursion.

    For `inside_recursion` see `compile_recursive`.
    """
    lower = functools.partial(node_function, compile_region=compile_region)
    return compile_recursive(graph, lower, locate, is_own_file, inside_recursion)


def node_function(node: Node, compile_region: Compile) -> Function:
    """Return a function from the node's inputs to the tuple of its results, or to the result of a single-result kernel.
    """
    return _FUNCTION_MAKERS.get(node.op.name, _kernel)(node, compile_region)


def _kernel(node: Node, compile_region: Compile) -> Function:
    """Return the function of a node with a kernel.

    The function locates the kernel's errors. Where the span has plain errors, it raises plain Python's error instead.
    """
    # `run` refers to no node, since a node would keep its graph alive.
    kernel, attributes, span, error_location = node.op.kernel, node.attributes, node.span, error_span(node)
    assert kernel is not None

    def run(*inputs: Any) -> Any:
        """Return the kernel's results; an error is located, and may become plain Python's."""
        try:
            return kernel(*inputs, **attributes)
        except Exception as error:
            if "_autoconv_spans" in error.__dict__:  # raised before and reraised by a handler
                raise
            is_plain = span is not None and span.has_plain_errors
            python_error = error.plain if is_plain and isinstance(error, OpError) else None
            if python_error is None and is_plain and type(error) is InvalidArgumentError:
                python_error = GraphOnlyError(error.message)
            locate(python_error or error, error_location)
            if python_error is None:
                raise
        raise python_error

    has_strings = any(isinstance(r.type, TensorType) and r.type.dtype.is_string for r in node.results)
    return (lambda *inputs: _texts_as_arrays(run(*inputs))) if has_strings else run


def _texts_as_arrays(results: Any) -> Any:
    """Return the results of a kernel, with arrays in place of bytes: NumPy unwraps scalar arrays of objects."""
    if isinstance(results, tuple):
        return tuple(map(_texts_as_arrays, results))
    return np.array(results, object) if isinstance(results, bytes) else results


def _constant(node: Node, compile_region: Compile) -> Function:
    """Return the function of a constant."""
    value = node.attributes["value"]
    return lambda: (value,)


def _cond(node: Node, compile_region: Compile) -> Function:
    """Return the function of a conditional: it runs the arm that the first input selects, by a bool or a number."""
    arms = [compile_region(region) for region in node.regions]

    def run(choice: Any, *captures: Any) -> Any:
        arm = (0 if choice else 1) if np.asarray(choice).dtype == bool else int(choice)
        return tuple(arms[arm](captures))

    return run


def _while(node: Node, compile_region: Compile) -> Function:
    """Return the function of a loop."""
    state_count = state_size(node)
    test, body = (compile_region(region) for region in node.regions)

    def run(*inputs: Any) -> Any:
        state: Sequence[Any] = inputs[:state_count]
        captures = inputs[state_count:]
        while test([*state, *captures])[0]:
            state = body([*state, *captures])
        return tuple(state)

    return run


def _call(node: Node, compile_region: Compile) -> Function:
    """Return the function of a call: it locates the errors of the callee."""
    callee, span = compile_region(node.regions[0]), node.span

    def run(*inputs: Any) -> Any:
        try:
            return tuple(callee(inputs))
        except Exception as error:
            locate(error, span)
            raise

    return run


def _try(node: Node, compile_region: Compile) -> Function:
    """Return the function of a try: the handler gets the error, the normal region the outputs of the body."""
    body, normal, handler = (compile_region(region) for region in node.regions)

    def run(*captures: Any) -> Any:
        """Return the results of the handler if the body raises an error, otherwise those of the normal region."""
        try:
            outputs = body(captures)
        except LIMIT_ERRORS:
            raise
        except BaseException as error:
            return tuple(handler([error, *captures]))
        return tuple(normal([*outputs, *captures]))

    return run


# Makers of functions of nodes, by the name of the op; `_kernel` makes those of other ops.
_FUNCTION_MAKERS: dict[str, Callable[[Node, Compile], Function]] = {
    "constant": _constant, "cond": _cond, "while": _while, "call": _call, "try": _try,
}  # fmt: skip


def error_span(node: Node) -> Span | None:
    """Return the span for errors of the node: its own, or that of the call around it if it re-raises an error."""
    return node.span.caller if node.span is not None and node.attributes.get("again") else node.span


def locate(error: BaseException, span: Span | None) -> None:
    """Append the span of the failing node, or of a call around it, to the error; set the place of an OpError."""
    if span is None:
        return
    spans = error.__dict__.setdefault("_autoconv_spans", [])
    spans.append(span)
    if isinstance(error, OpError) and error.place is None:
        text = linecache.getline(span.file, span.line).rstrip()
        end = span.end_column if span.end_line in (0, span.line) else len(text) + 1
        error.place = Place(span.file, span.line, span.column, end, text)
