"""Lower draws of `random` from NumPy's generators to calls of the function that NumPy itself calls for each number.

A Generator contains the interface of its bit generator (`bitgen_t` of NumPy's C API): the address of its state, and
those of functions on the state. The numbers therefore equal NumPy's, bit for bit.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_array, is_scalar, sizes
from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node

_NEXT_DOUBLE = 24  # offset of the function `next_double` in the interface, in bytes


def _is_float64_draw(node: Node) -> bool:
    """Return whether the draw is `random()` or `random(size)`, of float64."""
    attributes, type_ = node.attributes, node.results[0].type
    has_only_size = {"size"}.issuperset(dict(attributes["keywords"])) and len(node.inputs) == 1
    if attributes["method"] != "random" or not has_only_size or len(attributes["arguments"]) > 1:
        return False
    is_float64 = (is_scalar(type_) or is_array(type_)) and type_.dtype is float64
    return is_float64 and _interface_offset() is not None


@object_lowering("generator_draw", fits=_is_float64_draw)
def _write_draw(op: Operation) -> None:
    (result,) = op.node.results
    (generator,), out = op.operands(), op.out
    interface_offset = _interface_offset() or 0
    class_ = out.load("ptr", op.field_address(generator, abi.TYPE_OFFSET))
    is_other_class = out.differs(class_, op.body.objects.reference(np.random.Generator)(out))

    def write_number() -> str:
        offsets = interface_offset, interface_offset + _NEXT_DOUBLE
        state, function = (out.load("ptr", op.field_address(generator, offset)) for offset in offsets)
        return out.new(f"call double {function}(ptr {state})")

    def write_array() -> str:
        array = op.region.new_array(result.type)
        data = out.load("ptr", op.field_address(array.ir, abi.DATA))
        with out.loop("0", str(math.prod(sizes(result.type)))) as i:
            address = out.gep("double", data, i)
            out.store("double", write_number(), address)
        out.store("ptr", "null", array.slot)
        return str(array.ir)

    op.use_kernel_if(is_other_class, lambda: [write_number() if is_scalar(result.type) else write_array()])


@functools.cache
def _interface_offset() -> int | None:
    """Return the offset of the interface in a Generator, in bytes; None if it is not found."""
    generator: Any = np.random.default_rng(0)
    interface = generator.bit_generator.ctypes
    functions = (interface.next_uint64, interface.next_uint32, interface.next_double)
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in functions]
    interface_words = [interface.state_address, *addresses]
    words = list((ctypes.c_void_p * (generator.__sizeof__() // 8)).from_address(id(generator)))
    offsets = [8 * i for i in range(len(words)) if words[i : i + len(interface_words)] == interface_words]
    return offsets[0] if len(offsets) == 1 else None
