"""The objects that the code of a library refers to, as constants of its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.codegen.control.recursion import LIBRARY_STACK
from autoconv.backends.llvm.codegen.object_table import Calls, Operands, Reference
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.constants import bytes_constant, list_constant, struct_constant, table_constant
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.library.failures import ERRORS, Failures, add_place, error_causes, failure_of, line_of
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node
from autoconv.ops.elements.maths import LIBM
from autoconv.ops.elements.python_math import C_FUNCTIONS

# Functions of the process that a library defines itself (see library_host.ll), or finds in libc and libm.
HOST = frozenset({
    "PyByteArray_FromStringAndSize", "PyByteArray_Resize", "PyTuple_GetItem", "blas_get_threads", "blas_set_threads",
    "catch_error", "end_handling", "free",
})  # fmt: skip
_PRODUCTS = frozenset({"cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv"})
_MATHS = frozenset(
    f"{name}{suffix}" for name in (*LIBM.values(), *C_FUNCTIONS, "fmod", "ldexp") for suffix in ("", "f")
)


class LibraryModule(ModuleText):
    """A module without Python: functions of CPython that a node uses are noted with the node."""

    def __init__(self) -> None:
        super().__init__()
        self.needs_python: list[tuple[str, Node | None]] = []
        self.is_shared = True  # while the functions are declared that all code shares

    def declare(self, name: str, result: str, parameters: str, attributes: str = "") -> str:
        if not (self.is_shared or name.startswith(("llvm.", "library_")) or name in HOST | _PRODUCTS | _MATHS):
            self.note(name)
        return super().declare(name, result, parameters, attributes)

    def note(self, what: str) -> None:
        """Note that the node being written needs Python."""
        node = self.node
        self.needs_python.append((node.op.name if node is not None else what, node))


class LibraryCalls(Calls):
    """Objects become constants; a kernel that only raises becomes its error code; other functions are noted."""

    has_python = False

    def __init__(self, module: LibraryModule, failures: Failures) -> None:
        super().__init__(module, _no_region)
        self._library = module
        self._failures = failures

    def kernel(self, node: Node, owners: Sequence[Node], is_rare: bool, operands: Operands | None = None) -> Reference:
        if node.op.name == "object_raise" and operands is not None:
            source = node.inputs[0].node
            if source is not None and self.constant_object(source) is not None:
                return self._error_code(*failure_of(source, at=node))
            return lambda out: _code_of(out, operands(node.inputs[0]))
        if not is_rare and node.op.name not in ("raise", "assert_true"):
            self._library.needs_python.append((node.op.name, node))
        operands_of_node = [operands(value) for value in node.inputs] if operands is not None else []
        numbers = [one for one in operands_of_node if isinstance(one, Element)]
        if not error_causes(node) or not numbers or len(numbers) < len(operands_of_node):
            return self._failure(node)
        return lambda out: self._cause(out, node, numbers)

    def _cause(self, out: FunctionText, node: Node, numbers: Sequence[Element]) -> str:
        """Return the code of the error that fits the operands of a node that fails."""
        b = ElementWriter(out)
        numbers = [b.wrap(x.dtype, x.ir) for x in numbers]
        code = Operand.of(self._failures.code(*failure_of(node)), "i64")
        for kind, text, test in reversed(error_causes(node)):
            own = self._failures.code(add_place(node, f"{kind.__name__}: {text}"), kind)
            code = out.select(test(b, numbers).ir, Operand.of(own, "i64"), code)
        return out.cast("inttoptr", code, "ptr")

    def constant_object(self, node: Node) -> Reference | None:
        if node.op.name != "object_exception" or node.inputs:
            return None
        code = self._failures.code(*failure_of(node))
        return lambda out: out.gep("{ i64, i64 }", f"@{ERRORS}", code)

    def match(self, out: FunctionText, error: str, clauses: tuple[Any, ...]) -> str:
        code = out.cast("ptrtoint", _code_of(out, error), "i64")
        name = self._failures.match(clauses)
        self._library.constant(name, f"@{name} = external constant i8")
        return out.load("i64", out.gep("i64", f"@{name}", code))

    def deep_call(self, node: Node, owners: Sequence[Node]) -> Reference:
        size = LIBRARY_STACK >> 10
        return self._error_code(f"{line_of(node.span)}: RecursionError: the calls need more than {size} KiB of stack")

    def call_locator(self, node: Node, owners: Sequence[Node]) -> Reference:
        return self._failure(node)

    def locator(self, node: Node, owners: Sequence[Node]) -> Reference:
        return self._failure(node)

    def _failure(self, node: Node) -> Reference:
        return self._error_code(*failure_of(node))

    def _error_code(self, message: str, kind: type[BaseException] | None = None) -> Reference:
        code = self._failures.code(message, kind)

        def reference(out: FunctionText) -> str:
            return out.cast("inttoptr", Operand.of(code, "i64"), "ptr")

        return reference

    def object(self, value: Any) -> Reference:
        if callable(value) and not isinstance(value, type):
            self._library.note(getattr(value, "__name__", "function"))
        return super().object(value)

    def text(self) -> str:
        """Return the table of objects and the objects."""
        parts, names = ["@none = external constant i8"], []
        for i, item in enumerate(self.objects):
            if isinstance(item, np.dtype):
                parts.append(_descriptor(f"type{i}", item))
                names.append(f"@type{i}")
            elif isinstance(item, np.ndarray) and item.dtype.kind in "biufcV":
                parts += _array(f"array{i}", item)
                names.append(f"@array{i}")
            else:
                names.append("@none")
        return "\n".join([*parts, table_constant("objects", names), ""])


def _code_of(out: FunctionText, error: Any) -> str:
    """Return the code of an error of the table, as the function that fails with it."""
    place = error.ir if isinstance(error, Object) else error
    return out.cast("inttoptr", out.load("i64", out.gep("i8", place, 8)), "ptr")


def _no_region(graph: Any) -> Callable[..., Any]:
    raise AssertionError("a library runs no region by itself")


def _descriptor(name: str, dtype: np.dtype) -> str:
    return struct_constant(name, [("i64", -1), ("i64", dtype.itemsize)])


def _array(name: str, given: np.ndarray) -> list[str]:
    """Return the text of a constant array, immortal and read-only, in the layout of NumPy's."""
    array = np.ascontiguousarray(given).reshape(given.shape)
    rest = [] if current_target().pointer == 8 else [("i32", 0)]  # an address takes eight bytes everywhere
    strides = f"getelementptr (i64, ptr @{name}.lists, i64 {array.ndim})"
    fields: list[tuple[str, object]] = [("i64", -1), ("i64", 0), ("ptr", f"@{name}.data"), *rest]
    fields += [("i32", array.ndim), ("i32", 0)]
    for address in (f"@{name}.lists", strides, "null", f"@{name}.type"):
        fields += [("ptr", address), *rest]
    fields += [("i32", abi.PLAIN_FLAGS), ("i32", 0)]
    return [
        bytes_constant(f"{name}.data", array.tobytes(), 64),
        list_constant(f"{name}.lists", (*array.shape, *array.strides)),
        _descriptor(f"{name}.type", array.dtype),
        struct_constant(name, fields),
    ]
