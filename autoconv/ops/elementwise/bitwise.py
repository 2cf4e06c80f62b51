"""Bitwise ops, common divisors and multiples of integers. `and`, `or`, `xor` and `invert` also take bools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.record import Op, define, no_gradient, sample
from autoconv.ops.rules import broadcast

_INTEGERS = np.array([[12, -7, 0]], np.int32)
_OTHER_INTEGERS = np.array([[10], [-1]], np.int32)
_BOOLS = (np.array([True, False]), np.array([[True], [False]]))
_BYTES = (np.array([129, 3], np.uint8), np.array([1, 7], np.uint8))


def _define_bitwise(name: str, graphdef: str, kernel: Callable[..., Any], takes_bools: bool = True, **facts: Any) -> Op:
    """Define an elementwise op on integers, and on bools if it `takes_bools`."""

    def result(*types: TensorType, **_: Any) -> TensorType:
        for type_ in types:
            if not (type_.dtype.is_integer or (takes_bools and type_.dtype.is_bool)):
                requirement = "integer or bool" if takes_bools else "integer"
                raise TypeError(f"{name} takes {requirement} tensors, found {type_.dtype.name}")
        return broadcast(*types)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(kernel),
        gradient=no_gradient("the result is an integer"), unify="all", elementwise=True, **facts,
    )  # fmt: skip


_SAMPLES = (sample(_INTEGERS, _OTHER_INTEGERS), sample(*_BOOLS), sample(*_BYTES))
_SHIFT_SAMPLES = (sample(_INTEGERS, np.array([[2], [0]], np.int32)), sample(*_BYTES))

bitwise_and = _define_bitwise("bitwise_and", "BitwiseAnd", np.bitwise_and, commutative=True, samples=_SAMPLES)
bitwise_or = _define_bitwise("bitwise_or", "BitwiseOr", np.bitwise_or, commutative=True, identity=0, samples=_SAMPLES)
bitwise_xor = _define_bitwise(
    "bitwise_xor", "BitwiseXor", np.bitwise_xor, commutative=True, identity=0, samples=_SAMPLES
)
invert = _define_bitwise("invert", "Invert", np.invert, samples=(sample(_INTEGERS), sample(_BOOLS[0])))
left_shift = _define_bitwise(
    "left_shift", "LeftShift", np.left_shift, takes_bools=False, identity=0, samples=_SHIFT_SAMPLES
)
right_shift = _define_bitwise(
    "right_shift", "RightShift", np.right_shift, takes_bools=False, identity=0, samples=_SHIFT_SAMPLES
)
gcd = _define_bitwise(
    "gcd", "NumpyGcd", np.gcd, takes_bools=False, commutative=True, costly=True, samples=(_SAMPLES[0], _SAMPLES[2])
)
lcm = _define_bitwise(
    "lcm", "NumpyLcm", np.lcm, takes_bools=False, commutative=True, costly=True, samples=(_SAMPLES[0], _SAMPLES[2])
)
