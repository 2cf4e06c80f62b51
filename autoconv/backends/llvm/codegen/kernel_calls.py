"""Calls of ops' kernels, which are Python functions, from native code: box the inputs, unbox the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.contiguity import base_of
from autoconv.backends.llvm.analysis.representation import (
    is_dense,
    is_memory,
    is_open,
    is_scalar,
    is_static_array,
    sizes,
)
from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.memory.array_view import as_ndarray as box_memory
from autoconv.backends.llvm.codegen.memory.array_view import ndarray_memory, placeholder_memory
from autoconv.backends.llvm.codegen.registry import BY_OP
from autoconv.backends.llvm.codegen.values import Memory, Native, Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, product, row_major_strides
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ObjectType, Type


class KernelCalls:
    """A base class of `Region` with the methods that call kernels."""

    body: Body
    out: FunctionText
    enclosing_calls: tuple[Node, ...]
    set: Callable[[Value, Native], None]
    object: Callable[[Value], Object]
    _values: dict[Value, Native]
    _plan: Any

    def write_kernel(self, node: Node) -> None:
        """Define the results of a node of the class "kernel".

        They are constants, placeholders, lists on a stack of native code, or results of a call of the kernel.
        """
        name = node.op.name
        if name == "constant" or (name == "absent" and is_scalar(node.results[0].type)):
            self._write_constant(node)
            return
        if node.results and node.results[0] in self.body.stacks:
            BY_OP[name](self, node)  # type: ignore[arg-type]
            return
        if name == "absent" and isinstance(node.results[0].type, ObjectType):  # a placeholder, which is never read
            self.set(node.results[0], Object(self.body.objects.reference(None)(self.out)))
            return
        if name == "absent" and is_memory(node.results[0].type):
            self.set(node.results[0], placeholder_memory(self, node.results[0].type))  # type: ignore[arg-type]
            return
        if name == "absent" and is_dense(node.results[0].type) and is_known(sizes(node.results[0].type)):
            self.set(node.results[0], self._zeroed_array(node.results[0]))
            return
        constant = self.body.objects.constant_object(node)
        if constant is not None:
            self.set(node.results[0], Object(constant(self.out)))
            return
        for value, native in zip(node.results, self.call_kernel(node), strict=True):
            self.set(value, native)

    def _zeroed_array(self, value: Value) -> Object:
        """Return a new array of zeros, of the value's type."""
        out, array = self.out, self.body.new_array(value.type)
        data = out.load("ptr", out.gep("i8", array.ir, abi.DATA))
        out.clear(data, product(out, element_count(out, sizes(value.type)), value.dtype.size))
        return array

    def _write_constant(self, node: Node) -> None:
        """Define the result of a constant, or of an absent number, which is 0."""
        (result,) = node.results
        if is_scalar(result.type):
            number = np.asarray(node.attributes["value"]).item() if node.op.name == "constant" else 0
            dtype = result.dtype
            self.set(result, ElementWriter(self.out).constant(number, dtype))
        else:
            value = node.attributes["value"]
            if is_static_array(result.type):
                value = np.ascontiguousarray(value)
            self.set(result, Object(self.body.objects.reference(value)(self.out)))

    def call_kernel(self, node: Node, is_rare: bool = False) -> list[Native]:
        """Call the op's kernel and return its results; `is_rare` is true in cases that native code does not handle."""
        return self.call_function(node, self.body.objects.kernel(node, self.enclosing_calls, is_rare, self._values.get))

    def call_function(self, node: Node, function: Callable[[FunctionText], str], *numbers: Element) -> list[Native]:
        """Call a Python function that takes the node's inputs, then `numbers`, and returns the node's results.

        `function` writes code that loads the function, and returns its register. In a C library there is no function:
        the call records an error code.
        """
        out, body = self.out, self.body
        if not body.objects.has_python:
            error = out.call("call_python", function(out), "null", 0)
            body.fail_if(out.is_null(error))
            return [self._as_native(value, body.own_reference(error)) for value in node.results]
        count = len(node.inputs) + len(numbers)
        arguments = out.alloca(f"[{max(count, 1)} x ptr]")
        box_slots: list[str] = []
        for i, value in enumerate(node.inputs):
            native = self._values.get(value)
            if self._plan.classes.get(node) == "sizes" and i in node.op.traits.shape_only:
                # The kernel reads only the shape, and the array may not exist now.
                native = self._broadcast_zeros(value)
            elif native is None:  # a view, which exists only as an index map: the kernel needs an array
                native = self._shape_placeholder(value)
            if isinstance(native, Memory):
                # A lent value is represented by the array from which it was loaded.
                boxed_value = value.node.inputs[0] if value in self._plan.lent and value.node is not None else value
                native = box_memory(self, native, boxed_value.type)  # type: ignore[arg-type]
                box_slots.append(native.slot or "")
            elif isinstance(native, Element):
                native = self.box(native)
                box_slots.append(native.slot or "")
            elif native.original_type is not None:  # the object has another shape than the value
                native = self._reshape(native, value.type)
                box_slots.append(native.slot or "")
            cell = out.gep("ptr", arguments, i)
            out.store("ptr", native.ir, cell)
        for i, number in enumerate(numbers, len(node.inputs)):
            box = self.box(number)
            box_slots.append(box.slot or "")
            out.store("ptr", box.ir, out.gep("ptr", arguments, i))
        result = out.call("call_python", function(out), arguments, count)
        for slot in box_slots:
            body.release(slot)
        body.fail_if(out.is_null(result))
        return self._unpack(node, result)

    def _shape_placeholder(self, value: Value) -> Object:
        """Return an array with the shape of a view, for a kernel that is about to raise and reads only shapes.

        The array of a contiguous view has its elements; other arrays have zeros.
        """
        base = base_of(value, self._plan.views)
        if base in self._values and is_dense(base.type) and base not in self._plan.lent:
            return self._reshape(self.object(base), value.type)
        return self._broadcast_zeros(value)

    def _broadcast_zeros(self, value: Value) -> Object:
        """Return zeros of a value's dtype and shape, broadcast from a single number in memory."""
        zero = np.zeros((), value.dtype.numpy)
        shape = sizes(value.type)
        if is_known(shape):
            return Object(self.body.objects.reference(np.broadcast_to(zero, shape))(self.out))
        return self._new_view(Object(self.body.objects.reference(zero)(self.out)), value.dtype, shape, [0] * len(shape))

    def _reshape(self, array: Object, type_: Type) -> Object:
        """Return a view of an array's elements with the shape of `type_`."""
        shape = sizes(type_)
        if not is_known(shape):
            return self._new_view(array, type_.dtype, shape)  # type: ignore[union-attr]
        return self.body.own_reference(self.body.call_python(lambda x: x.reshape(shape), array.ir))

    def _new_view(
        self, array: Object, dtype: DType, shape: Sequence[Position], strides: Sequence[Position] | None = None
    ) -> Object:
        """Return a view of an array with another shape, and `strides` in bytes; without them it is C-contiguous."""
        out = self.out
        if strides is None:
            strides = row_major_strides(out, shape, dtype.size)
        array_class, descriptor = (self.body.objects.reference(item)(out) for item in (np.ndarray, dtype.numpy))
        address = out.load("ptr", out.gep("i8", array.ir, abi.DATA))
        shape_and_strides = [self.body.store_dimensions(numbers) for numbers in (shape, strides)]
        result = out.call(
            "new_view", array_class, descriptor, len(shape), *shape_and_strides, address, array.ir, abi.WRITABLE_FLAGS
        )
        self.body.fail_if(out.is_null(result))
        return self.body.own_reference(result)

    def box(self, element: Element) -> Object:
        """Return the number as an array of rank 0."""
        out = self.out
        descriptor = self.body.objects.reference(element.dtype.numpy)
        result = out.call("new_array", 0, "null", descriptor(out))
        self.body.fail_if(out.is_null(result))
        address = out.gep("i8", result, abi.DATA)
        pointer = out.load("ptr", address)
        store(ElementWriter(out), element, pointer, 0)
        return self.body.own_reference(result)

    def _unpack(self, node: Node, result: str) -> list[Native]:
        """Return the results of a kernel in their representations; several results are in a tuple."""
        out, body = self.out, self.body
        owned_result = body.own_reference(result)
        natives: list[Native] = []
        if len(node.results) == 1:
            natives.append(self._as_native(node.results[0], owned_result))
            return natives
        body.module.declare("PyTuple_GetItem", "ptr", "ptr, i64")
        for i, value in enumerate(node.results):
            ir = out.call("PyTuple_GetItem", result, i)
            out.call("retain", ir)
            natives.append(self._as_native(value, body.own_reference(ir)))
        body.release(owned_result.slot)
        return natives

    def _check_sizes(self, value: Value, object_: Object) -> None:
        """Write a check that a kernel's result has the shape of its type, whose open sizes are known at run time."""
        out, body, shape = self.out, self.body, sizes(value.type)
        dtype = value.dtype
        array_class, descriptor = (body.objects.reference(item)(out) for item in (np.ndarray, dtype.numpy))
        dimensions = body.store_dimensions(shape)
        with out.unless(out.call("is_contiguous_array", object_.ir, array_class, descriptor, len(shape), dimensions)):
            body.call_python(_raise_size_mismatch, object_.ir)

    def _as_native(self, value: Value, object_: Object) -> Native:
        """Return a kernel's result, an object, in the representation of `value`."""
        if is_memory(value.type):
            return ndarray_memory(self, object_, value.type)  # type: ignore[arg-type]
        if is_open(value.type) and self.body.objects.has_python:
            self._check_sizes(value, object_)
        if not is_scalar(value.type):
            return object_
        out = self.out
        address = out.gep("i8", object_.ir, abi.DATA)
        element = load(ElementWriter(out), value.dtype, out.load("ptr", address), 0)
        self.body.release(object_.slot)
        return element


def _raise_size_mismatch(array: np.ndarray) -> None:
    raise AssertionError(f"a kernel returned an array of shape {array.shape}, which differs from its result's type")
