"""References from native code to Python: objects by position in a table, kernels as functions that locate errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.backends.interpreter import Compile, compile_with_recursion, error_span, locate, node_function
from autoconv.backends.llvm.analysis.representation import is_array, is_open, is_scalar, sizes
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.graph.graph import Node, Span, Value

Reference = Callable[[FunctionText], str]
Operands = Callable[[Value], Any]  # the native form of a node's input, None where it has none


@dataclass(frozen=True, slots=True)
class Address:
    """A memory address in the table of objects."""

    at: int


class Calls:
    """The objects of one native function, in the order of the table `@objects`, which is filled when it is loaded."""

    has_python = True  # whether the code runs in a Python process

    def __init__(self, module: ModuleText, compile_region: Compile) -> None:
        self.objects: list[Any] = []
        self.kernels: list[tuple[str, Span | None]] = []  # nodes that run by kernels: op name and span
        self._positions: dict[int, int] = {}
        self._module = module
        self._compile_region = compile_region
        self._shapes: dict[tuple[int, ...], str] = {}

    def object(self, value: Any) -> Reference:
        """Return a reference to an object, which lives as long as the code."""
        position = self._positions.get(id(value))
        if position is None:
            position = self._positions[id(value)] = len(self.objects)
            self.objects.append(value)

        def reference(out: FunctionText) -> str:
            place = out.gep("ptr", "@objects", position)
            return out.load("ptr", place, ", !invariant.load !1")

        return reference

    def shape(self, dimensions: Sequence[int]) -> str:
        """Return the name of a constant that holds the dimensions."""
        key = tuple(dimensions)
        if key not in self._shapes:
            name = f"shape{len(self._shapes)}"
            items = ", ".join(f"i64 {d}" for d in key)
            text = f"@{name} = internal constant [{len(key)} x i64] [{items}]"
            self._shapes[key] = self._module.constant(name, text)
        return self._shapes[key]

    def kernel(self, node: Node, owners: Sequence[Node], rarely: bool, operands: Operands | None = None) -> Reference:
        """Return the function that runs one node on Python objects, and adds the spans of enclosing calls to errors.

        `operands` gives the inputs in registers, for code without kernels.
        """
        if not rarely:
            self.kernels.append((node.op.name, node.span))
        run = node_function(node, self._compile_region)
        finish = _finisher(node.results)
        spans = [owner.span for owner in owners]

        def call(*inputs: Any) -> Any:
            try:
                result = run(*inputs)
            except Exception as error:
                for span in spans:
                    locate(error, span)
                raise
            return finish(result)

        return self.object(call)

    def constant_object(self, node: Node) -> Reference | None:
        """Return the object that a node always makes, where it is a constant of the code."""
        return None

    def match(self, out: FunctionText, error: str, clauses: tuple[Any, ...]) -> str:
        """Return the number of the first clause that catches the error, or the number of clauses if none does."""
        result = str(len(clauses))
        for number, kinds in reversed(list(enumerate(clauses))):
            matches = out.call_c("PyErr_GivenExceptionMatches", "i32", "ptr, ptr", error, self.object(kinds)(out))
            result = out.select(out.icmp("ne", matches, 0), number, result)
        return result

    def deep_call(self, node: Node, owners: Sequence[Node]) -> Reference:
        """Return the function that runs a recursive call on an explicit stack.

        Its last argument is the number of Python frames that the enclosing calls represent.
        """
        finish, region, spans = _finisher(node.results), node.regions[0], [one.span for one in (node, *owners)]
        compile_region = self._compile_region
        compiled: list[Any] = []

        def call(*inputs: Any) -> Any:
            if not compiled:
                compiled.append(compile_with_recursion(region, compile_region, inside_recursion=True))
            try:
                return finish(tuple(compiled[0](inputs[:-1], int(inputs[-1]))))
            except Exception as error:
                for span in spans:
                    locate(error, span)
                raise

        return self.object(call)

    def call_locator(self, node: Node, owners: Sequence[Node]) -> Reference:
        """Return the function, as `locator`, for an error that the call of a function raised."""
        spans = [one.span for one in (node, *owners)]

        def reraise(error: BaseException) -> None:
            if isinstance(error, Exception):
                for span in spans:
                    locate(error, span)
            raise error

        return self.object(reraise)

    def locator(self, node: Node, owners: Sequence[Node]) -> Reference:
        """Return the function that reraises an error with the spans of the node and of the calls around it."""
        spans = [error_span(node), *(one.span for one in owners)]

        def reraise(error: BaseException) -> None:
            if isinstance(error, Exception):
                span_count = "_autoconv_spans" in error.__dict__  # raised before and reraised by a handler
                for span in spans[span_count:]:
                    locate(error, span)
            raise error

        return self.object(reraise)


def _finisher(results: Sequence[Value]) -> Callable[[Any], Any]:
    """Return the function that converts results of a kernel to the form of native code."""
    forms = [_result_conversion(value) for value in results]
    if len(forms) == 1:
        form = forms[0]
        return lambda found: form(found[0] if type(found) is tuple else found)
    return lambda found: tuple(form(one) for form, one in zip(forms, found or (), strict=True))


def _result_conversion(value: Value) -> Callable[[Any], Any]:
    type_: Any = value.type
    if value.node is not None and value.node.op.name == "numpy_read_only":
        return lambda found: found  # passed out unchanged
    if is_scalar(type_):
        dtype = type_.dtype.numpy
        return lambda found: _checked_result(np.asarray(found, dtype), ())
    if is_open(type_):
        dtype = type_.dtype.numpy
        return lambda found: _contiguous(np.asarray(found, dtype))
    if is_array(type_):
        dtype, shape = type_.dtype.numpy, sizes(type_)
        return lambda found: _checked_result(np.asarray(found, dtype), shape)
    return lambda found: found


def _checked_result(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if array.shape != shape:
        raise AssertionError(f"a kernel returned the shape {array.shape}, its result rule has {shape}")
    return _contiguous(array)


def _contiguous(array: np.ndarray) -> np.ndarray:
    if type(array) is not np.ndarray or not array.flags.carray:
        array = np.array(array, order="C", subok=False)
    return array
