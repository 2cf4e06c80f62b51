"""The objects to which the code of a C library refers, as constants of its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.error_causes import add_location, error_causes, error_of_node, location_of
from autoconv.backends.llvm.codegen.control.recursion import LIBRARY_STACK_BYTES
from autoconv.backends.llvm.codegen.object_table import ObjectTable, Operands, Reference
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.constants import bytes_constant, list_constant, struct_constant, table_constant
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.library.failures import ERRORS, Failures
from autoconv.backends.llvm.library.linear_algebra import LINEAR_ALGEBRA
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node
from autoconv.ops.elements.maths import LIBM
from autoconv.ops.elements.python_math import C_FUNCTIONS

# Functions of the process that a library defines itself (see library_host.ll), or finds in libc and libm.
HOST_FUNCTIONS = frozenset({
    "PyByteArray_FromStringAndSize", "PyByteArray_Resize", "PyTuple_GetItem", "blas_get_threads", "blas_set_threads",
    "catch_error", "end_handling", "free",
})  # fmt: skip
_PRODUCT_FUNCTIONS = frozenset({"cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv"})
_MATH_FUNCTIONS = frozenset(
    f"{name}{suffix}" for name in (*LIBM.values(), *C_FUNCTIONS, "fmod", "ldexp") for suffix in ("", "f")
)


class PythonNeed(NamedTuple):
    """The name of an op, or of a function, that needs Python, and the node; None outside of nodes."""

    name: str
    node: Node | None


class LibraryModule(ModuleText):
    """A module of a library, without Python; `needs_python` has the nodes that would call CPython's functions."""

    def __init__(self) -> None:
        super().__init__()
        self.needs_python: list[PythonNeed] = []
        self.is_shared = True  # whether the declarations are those of shared functions, not of a node

    def declare(self, name: str, result: str, parameters: str, attributes: str = "") -> str:
        is_defined = self.is_shared or name.startswith(("llvm.", "library_"))
        if not is_defined and name not in HOST_FUNCTIONS | _PRODUCT_FUNCTIONS | _MATH_FUNCTIONS | LINEAR_ALGEBRA:
            self.record_python_need(name)
        return super().declare(name, result, parameters, attributes)

    def record_python_need(self, name: str) -> None:
        """Record that the node whose code is written needs Python."""
        node = self.node
        self.needs_python.append(PythonNeed(node.op.name if node is not None else name, node))


class LibraryObjectTable(ObjectTable):
    """References of a library: objects are constants, kernels that raise are error codes, others need Python."""

    has_python = False

    def __init__(self, module: LibraryModule, failures: Failures) -> None:
        super().__init__(module, _reject_region)
        self._library = module
        self._failures = failures

    def kernel(
        self, node: Node, enclosing_calls: Sequence[Node], is_rare: bool, operands: Operands | None = None
    ) -> Reference:
        """Return the reference to an error code: native code reports by it that a kernel would run, and why if known.
        """
        if node.op.name == "object_raise" and operands is not None:
            source = node.inputs[0].node
            if source is not None and self.constant_object(source) is not None:
                return self._code_reference(*error_of_node(source, located_node=node))
            return lambda out: _load_error_code(out, operands(node.inputs[0]))
        if not is_rare and node.op.name not in ("raise", "assert_true"):
            self._library.needs_python.append(PythonNeed(node.op.name, node))
        operands_of_node = [operands(value) for value in node.inputs] if operands is not None else []
        numbers = [operand for operand in operands_of_node if isinstance(operand, Element)]
        if not error_causes(node) or not numbers or len(numbers) < len(operands_of_node):
            return self._failure_reference(node)
        return lambda out: self._write_cause(out, node, numbers)

    def _write_cause(self, out: FunctionText, node: Node, numbers: Sequence[Element]) -> str:
        """Write the choice of the error code of a node that fails, by tests of its operands."""
        b = ElementWriter(out)
        numbers = [b.wrap(x.dtype, x.ir) for x in numbers]
        code = Operand.of(self._failures.code(*error_of_node(node)), "i64")
        for error_class, message, test in reversed(error_causes(node)):
            cause_code = self._failures.code(add_location(node, f"{error_class.__name__}: {message}"), error_class)
            code = out.select(test(b, numbers).ir, Operand.of(cause_code, "i64"), code)
        return out.cast("inttoptr", code, "ptr")

    def constant_object(self, node: Node) -> Reference | None:
        if node.op.name != "object_exception" or node.inputs:
            return None
        code = self._failures.code(*error_of_node(node))
        return lambda out: out.gep("{ i64, i64 }", f"@{ERRORS}", code)

    def matching_clause(self, out: FunctionText, error: str, clauses: tuple[Any, ...]) -> str:
        code = out.cast("ptrtoint", _load_error_code(out, error), "i64")
        name = self._failures.match_table(clauses)
        self._library.constant(name, f"@{name} = external constant i8")
        return out.load("i64", out.gep("i64", f"@{name}", code))

    def deep_call(self, node: Node, enclosing_calls: Sequence[Node]) -> Reference:
        size = LIBRARY_STACK_BYTES >> 10
        message = f"RecursionError: the calls need more than {size} KiB of stack"
        return self._code_reference(f"{location_of(node.span)}: {message}")

    def call_locator(self, node: Node, enclosing_calls: Sequence[Node]) -> Reference:
        return self._failure_reference(node)

    def locator(self, node: Node, enclosing_calls: Sequence[Node]) -> Reference:
        return self._failure_reference(node)

    def _failure_reference(self, node: Node) -> Reference:
        """Return the error code of a node's failure, cast to a pointer."""
        return self._code_reference(*error_of_node(node))

    def _code_reference(self, message: str, error_class: type[BaseException] | None = None) -> Reference:
        """Return a reference whose pointer is the number of an error code."""
        code = self._failures.code(message, error_class)

        def reference(out: FunctionText) -> str:
            return out.cast("inttoptr", Operand.of(code, "i64"), "ptr")

        return reference

    def reference(self, value: Any) -> Reference:
        if callable(value) and not isinstance(value, type):
            self._library.record_python_need(getattr(value, "__name__", "function"))
        return super().reference(value)

    def text(self) -> str:
        """Return the text of the objects and of their table."""
        definitions, names = ["@none = external constant i8"], []
        for i, item in enumerate(self.items):
            if isinstance(item, np.dtype):
                definitions.append(_descriptor_text(f"type{i}", item))
                names.append(f"@type{i}")
            elif isinstance(item, np.ndarray) and item.dtype.kind in "biufcV":
                definitions += _array_texts(f"array{i}", item)
                names.append(f"@array{i}")
            else:
                names.append("@none")
        return "\n".join([*definitions, table_constant("objects", names), ""])


def _load_error_code(out: FunctionText, error: Any) -> str:
    """Load the code of an error object of the table, cast to the pointer that `call_python` takes as a function."""
    address = error.ir if isinstance(error, Object) else error
    return out.cast("inttoptr", out.load("i64", out.gep("i8", address, 8)), "ptr")


def _reject_region(graph: Any) -> Callable[..., Any]:
    """Fail: native code of a library runs all regions."""
    raise AssertionError("a library runs no region by itself")


def _descriptor_text(name: str, dtype: np.dtype) -> str:
    """Return the text of a constant that stands for a dtype object: a reference count and the size of an element."""
    return struct_constant(name, [("i64", -1), ("i64", dtype.itemsize)])


def _array_texts(name: str, value: np.ndarray) -> list[str]:
    """Return the text of a constant, immortal and read-only array, in NumPy's layout."""
    array = np.ascontiguousarray(value).reshape(value.shape)
    padding = [] if current_target().pointer == 8 else [("i32", 0)]  # an address takes eight bytes everywhere
    strides = f"getelementptr (i64, ptr @{name}.lists, i64 {array.ndim})"
    fields: list[tuple[str, object]] = [("i64", -1), ("i64", 0), ("ptr", f"@{name}.data"), *padding]
    fields += [("i32", array.ndim), ("i32", 0)]
    for address in (f"@{name}.lists", strides, "null", f"@{name}.type"):
        fields += [("ptr", address), *padding]
    fields += [("i32", abi.PLAIN_FLAGS), ("i32", 0)]
    return [
        bytes_constant(f"{name}.data", array.tobytes(), 64),
        list_constant(f"{name}.lists", (*array.shape, *array.strides)),
        _descriptor_text(f"{name}.type", array.dtype),
        struct_constant(name, fields),
    ]
