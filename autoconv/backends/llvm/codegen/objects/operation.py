"""Registration of lowerings of ops on Python objects, and helpers: native code for common cases, kernels for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.classify import OBJECT_OPS
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.backends.llvm.codegen.registry import Fits, lowering
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import ElementWriter
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.runtime.objects import OTHER, SIGNATURES
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ObjectType


class Operation:
    """A node on Python objects, with helpers that write native code for common cases and call its kernel for others."""

    def __init__(self, region: Any, node: Node) -> None:
        self.region, self.node = region, node
        self.body, self.out = region.body, region.out
        self.attributes = node.attributes

    def operands(self) -> list[str]:
        """Return the registers of the operands, which are objects."""
        return [self.region.object(value).ir for value in self.node.inputs]

    def store_array(self, items: list[str]) -> str:
        """Store the items in consecutive memory and return its address."""
        address = self.out.alloca(f"[{max(len(items), 1)} x ptr]")
        for i, item in enumerate(items):
            self.out.store("ptr", item, self.out.gep("ptr", address, i))
        return address

    def call(self, name: str, *operands: object) -> Operand:
        """Call a function of `runtime/objects.py`."""
        return self.out.call_c(name, *SIGNATURES[name], *operands)

    def field_address(self, object_: str, offset: int) -> str:
        """Return the address `offset` bytes after the beginning of an object."""
        return self.out.gep("i8", object_, offset)

    def declare_c_api(self, name: str, *parameter_types: str) -> str:
        """Declare a function of Python's C API that returns an object, and return its address."""
        return self.body.module.declare(name, "ptr", ", ".join(parameter_types))

    def is_fresh(self, value: Value) -> bool:
        """Return whether the value is created by this run of the graph, so that changes to it need no undo log."""
        return value in self.body.fresh_values

    # ---- results

    def set_result(self, result: str, write_after_kernel: Callable[[], None] | None = None) -> None:
        """Set the node's result, if it has one, to what a function of `runtime/objects.py` returned in `result`.

        If the function returned OTHER, the kernel runs, and then the code that `write_after_kernel` writes.
        """

        def write_fast_path() -> list[str]:
            self.leave_if_failed(self.out.is_null(result))
            return [result] if self.node.results else []

        self.use_kernel_if(self.out.is_same(result, OTHER), write_fast_path, write_after_kernel)

    def leave_if_failed(self, condition: str) -> None:
        """Leave the function if the i1 `condition` is true, after adding the node's source span to the raised error."""
        with self.out.leaving(condition, unlikely=True):
            self.call("object_locate", self.body.objects.locator(self.node, self.region.enclosing_calls)(self.out))
            self.out.branch(self.body.failure_label)

    def use_kernel_if(
        self, needs_kernel: str, write_fast_path: Callable[[], list[str]],
        write_after_kernel: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Set the results to those of the kernel if the i1 `needs_kernel` is true.

        Otherwise run the code that `write_fast_path` writes; it returns registers of numbers or new references.
        """
        out = self.out
        slow_path, fast_path, done = out.label("other"), out.label("known"), out.label("done")
        out.branch_if(needs_kernel, slow_path, fast_path, unlikely=True)
        out.begin(slow_path)
        kernel_results = self.region.call_kernel(self.node, is_rare=True)
        if write_after_kernel is not None:
            write_after_kernel()
        for native in kernel_results:
            if isinstance(native, Object):
                out.store("ptr", "null", native.slot)
        slow_block = out.block
        out.branch(done)
        out.begin(fast_path)
        fast_results = write_fast_path()
        fast_block = out.block
        out.branch(done)
        out.begin(done)
        ir_types = [register(value.dtype) if is_scalar(value.type) else "ptr" for value in self.node.results]
        joined_results = [
            out.phi((Operand.of(native.ir, ir_type), slow_block), (fast_result, fast_block))
            for ir_type, native, fast_result in zip(ir_types, kernel_results, fast_results, strict=True)
        ]
        for result, ir in zip(self.node.results, joined_results, strict=True):
            self.set(result, ir)

    def set(self, result: Value, ir: str) -> None:
        """Set a result from a register: a number, or a new reference."""
        type_: Any = result.type
        number = ElementWriter(self.out).wrap(type_.dtype, ir) if is_scalar(type_) else None
        self.region.set(result, self.body.own_reference(ir) if number is None else number)

    def set_new_reference(self, reference: str) -> None:
        """Set the result to a new reference, after a check for NULL, which signals an error."""
        self.leave_if_failed(self.out.is_null(reference))
        self.set(self.node.results[0], reference)


OperationLowering = Callable[[Operation], None]


def takes_objects(node: Node) -> bool:
    """Return whether all operands are Python objects, and none is passed by keyword."""
    return all(isinstance(value.type, ObjectType) for value in node.inputs) and not node.attributes.get("keywords")


def object_lowering(*names: str, fits: Fits = takes_objects) -> Callable[[OperationLowering], OperationLowering]:
    """Register a function of an Operation as the lowering of ops, for the nodes that fit; others run by kernels."""
    OBJECT_OPS.update(dict.fromkeys(names, fits))

    def register(write: OperationLowering) -> OperationLowering:
        lowering(*names)(lambda region, node: write(Operation(region, node)))
        return write

    return register
