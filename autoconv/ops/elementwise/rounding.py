"""Rounding, and predicates on floating-point classes. Rounding has no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import bool_
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import no_cotangents
from autoconv.ops.record import Op, define, no_gradient, sample

_X = np.array([[0.5, -1.25, 2.5], [3.75, -0.75, -2.25]])
_INTEGERS = np.array([7, -7, 0], np.int64)
_SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 1.0])


def _define_rounding(name: str, graphdef: str, kernel: Callable[..., Any]) -> Op:
    """Define an op that rounds floats and returns integers as they are."""
    def result(x: TensorType, **_: Any) -> TensorType:
        if not (x.dtype.is_floating or x.dtype.is_integer):
            raise TypeError(f"{name} takes real tensors, found {x.dtype.name}")
        return x

    def rounding_kernel(x: Any) -> Any:
        return x if x.dtype.kind in "iu" else kernel(x)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(rounding_kernel),
        gradient=no_cotangents, elementwise=True, may_alias=True, samples=(sample(_X + 0.125), sample(_INTEGERS)),
    )  # fmt: skip


def _define_predicate(name: str, graphdef: str, kernel: Callable[..., Any]) -> Op:
    """Define an op on numbers whose result is bool."""
    def result(x: TensorType, **_: Any) -> TensorType:
        if not x.dtype.is_numeric:
            raise TypeError(f"{name} takes numeric tensors, found {x.dtype.name}")
        return x.with_dtype(bool_, x.weak)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(kernel),
        gradient=no_gradient("the result is a bool"), elementwise=True, samples=(sample(_SPECIAL), sample(_INTEGERS)),
    )  # fmt: skip


floor = _define_rounding("floor", "Floor", np.floor)
ceil = _define_rounding("ceil", "Ceil", np.ceil)
round_ = _define_rounding("round", "Round", np.rint)
rint = _define_rounding("rint", "Rint", np.rint)
trunc = _define_rounding("trunc", "Trunc", np.trunc)
is_nan = _define_predicate("is_nan", "IsNan", np.isnan)
sign_bit = _define_predicate("sign_bit", "SignBit", np.signbit)
is_inf = _define_predicate("is_inf", "IsInf", np.isinf)
is_finite = _define_predicate("is_finite", "IsFinite", np.isfinite)
