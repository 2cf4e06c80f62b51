"""Lower draws from NumPy's random generators: `random` calls the function that NumPy itself calls for each number.

A Generator contains the interface of its bit generator (`bitgen_t` of NumPy's C API): the address of its state, and of
functions that take it. The numbers therefore equal NumPy's, bit for bit.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_array, is_scalar, sizes
from autoconv.backends.llvm.codegen.objects.operation import Operation, on_objects
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node

_NEXT_DOUBLE = 24  # offset in the interface, in bytes


def _is_float64_draw(node: Node) -> bool:
    """Return whether the draw is `random()` or `random(size)`, of float64."""
    attributes, type_ = node.attributes, node.results[0].type
    sized = {"size"}.issuperset(dict(attributes["keywords"])) and len(node.inputs) == 1
    if attributes["method"] != "random" or not sized:
        return False
    is_scalar_call = (is_scalar(type_) or is_array(type_)) and type_.dtype is float64
    return is_scalar_call and len(attributes["arguments"]) <= 1 and _interface() is not None


@on_objects("generator_draw", fits=_is_float64_draw)
def _draw(op: Operation) -> None:
    (result,) = op.node.results
    (generator,), out = op.operands(), op.out
    at = _interface() or 0
    kind = out.load("ptr", op.place(generator, abi.TYPE))
    other = out.differs(kind, op.body.calls.object(np.random.Generator)(out))

    def number() -> str:
        state, function = (out.load("ptr", op.place(generator, at + more)) for more in (0, _NEXT_DOUBLE))
        return out.new(f"call double {function}(ptr {state})")

    def array() -> str:
        made = op.region.new_array(result.type)
        data = out.load("ptr", op.place(made.ir, abi.DATA))
        with out.loop("0", str(math.prod(sizes(result.type)))) as i:
            place = out.gep("double", data, i)
            out.store("double", number(), place)
        out.store("ptr", "null", made.slot)
        return str(made.ir)

    op.by_kernel_if(other, lambda: [number() if is_scalar(result.type) else array()])


@functools.cache
def _interface() -> int | None:
    """Return the offset of the interface in a Generator, in bytes; None if it is not found."""
    generator: Any = np.random.default_rng(0)
    interface = generator.bit_generator.ctypes
    functions = (interface.next_uint64, interface.next_uint32, interface.next_double)
    words_sought = [interface.state_address, *(ctypes.cast(function, ctypes.c_void_p).value for function in functions)]
    words = list((ctypes.c_void_p * (generator.__sizeof__() // 8)).from_address(id(generator)))
    offsets = [8 * i for i in range(len(words)) if words[i : i + len(words_sought)] == words_sought]
    return offsets[0] if len(offsets) == 1 else None
