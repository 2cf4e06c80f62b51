"""Elementwise logic on bool tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.record import Op, define, no_gradient, sample
from autoconv.ops.rules import broadcast

_X = np.array([[True], [False]])
_Y = np.array([True, False])


def _define_logical(name: str, graphdef: str, kernel: Callable[..., Any], *inputs: Any, **facts: Any) -> Op:
    """Define an elementwise op on bools; its one sample has the operands `inputs`."""

    def result(*types: TensorType, **_: Any) -> TensorType:
        for type_ in types:
            if not type_.dtype.is_bool:
                raise TypeError(f"{name} takes bool tensors, found {type_.dtype.name}; cast first")
        return broadcast(*types)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(kernel),
        gradient=no_gradient("the result is a bool"), elementwise=True, samples=(sample(*inputs),), **facts,
    )  # fmt: skip


logical_and = _define_logical("logical_and", "LogicalAnd", np.logical_and, _X, _Y, commutative=True, identity=True)
logical_or = _define_logical("logical_or", "LogicalOr", np.logical_or, _X, _Y, commutative=True, identity=False)
logical_xor = _define_logical("logical_xor", "LogicalXor", np.logical_xor, _X, _Y, commutative=True, identity=False)
logical_not = _define_logical("logical_not", "LogicalNot", np.logical_not, _Y)
