"""The table of Python objects, kernels included, that native code refers to by position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.interpreter import Compile, compile_with_recursion, error_span, locate, node_function
from autoconv.backends.llvm.analysis.representation import is_open, is_scalar, is_static_array, sizes
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.graph.graph import Node, Span, Value
from autoconv.lazy_dataclass import dataclass

Reference = Callable[[FunctionText], str]  # a function that writes code which loads an object, and returns its register
Operands = Callable[[Value], Any]  # a function that returns the representation of a node's input, or None


@dataclass(frozen=True, slots=True)
class Address:
    """A memory address that is an entry of the table, in place of an object's address."""

    value: int


class ObjectTable:
    """The objects that the native code of a module refers to, in the order of its table `@objects`.

    The loader fills the table with addresses. `kernels` lists the nodes that run by kernels, as pairs of op name and
    span.
    """

    has_python = True  # whether the code runs in a Python process

    def __init__(self, module: ModuleText, compile_region: Compile) -> None:
        self.items: list[Any] = []
        self.kernels: list[tuple[str, Span | None]] = []
        self._positions: dict[int, int] = {}  # id of an object -> position in `items`
        self._module = module
        self._compile_region = compile_region
        self._shapes: dict[tuple[int, ...], str] = {}  # dimensions -> name of the constant that holds them

    def reference(self, value: Any) -> Reference:
        """Return a reference to an object, which is kept alive as long as the code."""
        position = self._positions.get(id(value))
        if position is None:
            position = self._positions[id(value)] = len(self.items)
            self.items.append(value)

        # A constant expression: functions of large graphs have thousands of such loads, and an instruction costs time.
        address = Operand.of(f"getelementptr inbounds (ptr, ptr @objects, i64 {position})", "ptr")

        def reference(out: FunctionText) -> str:
            return out.load("ptr", address, ", !invariant.load !1")

        return reference

    def shape(self, dimensions: Sequence[int]) -> str:
        """Return the name of a constant that holds the dimensions."""
        key = tuple(dimensions)
        if key not in self._shapes:
            name = f"shape{len(self._shapes)}"
            items = ", ".join(f"i64 {size}" for size in key)
            text = f"@{name} = internal constant [{len(key)} x i64] [{items}]"
            self._shapes[key] = self._module.constant(name, text)
        return self._shapes[key]

    def kernel(
        self, node: Node, enclosing_calls: Sequence[Node], is_rare: bool, operands: Operands | None = None
    ) -> Reference:
        """Return a reference to a function that runs a node's kernel, and adds the spans of enclosing calls to errors.

        If `is_rare` is true, the kernel runs only in exceptional cases, and is not listed in `kernels`. `operands` is
        for subclasses without kernels, which write code for the representations of the inputs.
        """
        if not is_rare:
            self.kernels.append((node.op.name, node.span))
        run = node_function(node, self._compile_region)
        convert_results = _results_converter(node.results)
        spans = [call_site.span for call_site in enclosing_calls]

        def call(*inputs: Any) -> Any:
            """Run the kernel and convert its results; errors get the spans of the node."""
            try:
                result = run(*inputs)
            except Exception as error:
                _add_spans(error, spans)
                raise
            return convert_results(result)

        return self.reference(call)

    def constant_object(self, node: Node) -> Reference | None:
        """Return a reference to the result of a node if it is a constant object of the code, else None."""
        return None

    def matching_clause(self, out: FunctionText, error: str, clauses: tuple[Any, ...]) -> str:
        """Return the register of the index of the first clause that catches the error; of `len(clauses)` if none does.

        A clause is a tuple of exception classes.
        """
        result = str(len(clauses))
        for number, classes in reversed(list(enumerate(clauses))):
            matches = out.call_c("PyErr_GivenExceptionMatches", "i32", "ptr, ptr", error, self.reference(classes)(out))
            result = out.select(out.icmp("ne", matches, 0), number, result)
        return result

    def deep_call(self, node: Node, enclosing_calls: Sequence[Node]) -> Reference:
        """Return a reference to a function that runs a recursive call on a stack in the heap.

        The function's last argument is the number of Python frames that the enclosing calls stand for.
        """
        convert_results, region = _results_converter(node.results), node.regions[0]
        spans = [call_site.span for call_site in (node, *enclosing_calls)]
        compile_region = self._compile_region
        compiled_graphs: list[Any] = []

        def call(*inputs: Any) -> Any:
            """Run the region with its operands and the depth of recursion, the last input.

            The first call compiles it.
            """
            if not compiled_graphs:
                compiled_graphs.append(compile_with_recursion(region, compile_region, inside_recursion=True))
            try:
                return convert_results(tuple(compiled_graphs[0](inputs[:-1], int(inputs[-1]))))
            except Exception as error:
                _add_spans(error, spans)
                raise

        return self.reference(call)

    def call_locator(self, node: Node, enclosing_calls: Sequence[Node]) -> Reference:
        """Return a reference to a function that reraises an error of the callee with the spans of the call `node`.

        The spans of the enclosing calls are added as well.
        """
        spans = [call_site.span for call_site in (node, *enclosing_calls)]

        def reraise(error: BaseException) -> None:
            if isinstance(error, Exception):
                _add_spans(error, spans)
            raise error

        return self.reference(reraise)

    def locator(self, node: Node, enclosing_calls: Sequence[Node]) -> Reference:
        """Return a reference to a function that reraises an error with the spans of a node and its enclosing calls."""
        spans = [error_span(node), *(call_site.span for call_site in enclosing_calls)]

        def reraise(error: BaseException) -> None:
            if isinstance(error, Exception):
                is_reraised = "_autoconv_spans" in error.__dict__  # a handler reraised it: it has its own span
                _add_spans(error, spans[1:] if is_reraised else spans)
            raise error

        return self.reference(reraise)


def _add_spans(error: Exception, spans: Sequence[Span | None]) -> None:
    """Add spans to an error, the innermost first."""
    for span in spans:
        locate(error, span)


def _results_converter(results: Sequence[Value]) -> Callable[[Any], Any]:
    """Return a function that converts the results of a kernel to the objects that native code expects."""
    converters = [_result_converter(value) for value in results]
    if len(converters) == 1:
        convert = converters[0]
        return lambda results: convert(results[0] if type(results) is tuple else results)
    return lambda results: tuple(convert(result) for convert, result in zip(converters, results or (), strict=True))


def _result_converter(value: Value) -> Callable[[Any], Any]:
    """Return a function that converts a kernel's result to the form that native code expects for the value."""
    type_: Any = value.type
    if value.node is not None and value.node.op.name == "numpy_read_only":
        return lambda result: result
    if is_scalar(type_):
        dtype = type_.dtype.numpy
        return lambda result: _check_shape(np.asarray(result, dtype), ())
    if is_open(type_):
        dtype = type_.dtype.numpy
        return lambda result: _as_contiguous(np.asarray(result, dtype))
    if is_static_array(type_):
        dtype, shape = type_.dtype.numpy, sizes(type_)
        return lambda result: _check_shape(np.asarray(result, dtype), shape)
    return lambda result: result


def _check_shape(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the array, made contiguous; raise AssertionError unless it has the shape of the op's result rule."""
    if array.shape != shape:
        raise AssertionError(f"a kernel returned the shape {array.shape}, its result rule has {shape}")
    return _as_contiguous(array)


def _as_contiguous(array: np.ndarray) -> np.ndarray:
    """Return a contiguous NumPy array, a copy if necessary."""
    if type(array) is not np.ndarray or not array.flags.carray:
        array = np.array(array, order="C", subok=False)
    return array
