"""Counts of whole numbers in a vector: NumPy's bincount."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import float64, int64, uint64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import dtype_of
from autoconv.ops.record import Builder, define, sample

_X = np.array([3, 1, 3])


def _result_type(x: TensorType, minimum_length: TensorType, weights: TensorType | None = None) -> TensorType:
    """Return the type: a vector of int64, or of float64 with weights. Raise for operands that NumPy refuses."""
    for operand in (x,) if weights is None else (x, weights):
        if operand.rank not in (None, 1):
            raise ValueError(f"numpy_bincount takes vectors, found {operand}")
    if not (x.dtype.is_integer or x.dtype.is_bool) or x.dtype is uint64:
        raise TypeError(f"numpy_bincount takes whole numbers of at most 63 bits, found {x.dtype.name}")
    if weights is not None and (weights.dtype.is_complex or not (weights.dtype.is_numeric or weights.dtype.is_bool)):
        raise TypeError(f"numpy_bincount takes real weights, found {weights.dtype.name}")
    return TensorType(int64 if weights is None else float64, (None,))


def _kernel(x: Any, minimum_length: Any, weights: Any = None) -> Any:
    return np.bincount(x, weights, int(minimum_length))


def _gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Each weight gets the cotangent of the count that it is added to; counts without weights have no gradient."""
    x, _, *weights = inputs
    if not weights or not dtype_of(weights[0]).is_differentiable:
        return (None,) * len(inputs)
    cotangent = b.gather(cotangents[0], b.cast(x, dtype=int64), axis=0)
    return None, None, b.cast(cotangent, dtype=dtype_of(weights[0]))


define(
    name="numpy_bincount", graphdef="NumpyBincount", result=_result_type, kernel=quiet(_kernel),
    gradient=_gradient, effects=Effects.RAISE,
    samples=(
        sample(_X, np.array(0)), sample(_X.astype(np.int32), np.array(6)),
        sample(_X, np.array(0), np.array([0.5, 2.0, -1.0])),
    ),
)  # fmt: skip
