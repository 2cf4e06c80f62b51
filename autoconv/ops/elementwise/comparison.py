"""Comparisons, and the maximum and minimum of two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import unbroadcast
from autoconv.ops.record import Builder, Gradient, Op, Sample, define, no_gradient, sample
from autoconv.ops.rules import broadcast, broadcast_to_bool

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, np.nan]])
_Y = np.array([1.5, -1.25, 0.25])
_INTEGERS = np.array([7, -7, 5], np.int64)
_OTHER_INTEGERS = np.array([2, -7, -4], np.int64)
_NAMES = (np.array([b"a", b"b"], object), np.array(b"b", object))
_COMPLEX = (np.array([1 + 2j, 3 - 1j]), np.array([1 + 2j, 3 + 1j]))
_DISTINCT_OPERANDS = (np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]]), np.array([1.5, -2.0, 0.25]))


def _define_comparison(name: str, graphdef: str, kernel: Callable[..., Any], **facts: Any) -> Op:
    """Define an elementwise op with a bool result; only tests of equality take operands that are not real."""
    takes_any_dtype = name in ("equal", "not_equal")

    def result(x: TensorType, y: TensorType, **_: Any) -> TensorType:
        if not takes_any_dtype:
            _check_real(name, x)
        return broadcast_to_bool(x, y)

    def bool_kernel(x: Any, y: Any) -> Any:
        mask = kernel(x, y)
        return mask if mask.dtype == bool else np.asarray(mask, bool)

    samples: tuple[Sample, ...] = (sample(_X, _Y), sample(_INTEGERS, _OTHER_INTEGERS))
    if takes_any_dtype:
        samples += (sample(*_NAMES), sample(*_COMPLEX), sample(np.array([True, False]), np.array(True)))
    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(bool_kernel),
        gradient=no_gradient("the result is a bool"), unify="all", elementwise=True, samples=samples, **facts,
    )  # fmt: skip


def _define_extremum(name: str, graphdef: str, kernel: Callable[..., Any], gradient: Gradient) -> Op:
    """Define the maximum or minimum of two real operands."""

    def result(x: TensorType, y: TensorType, **_: Any) -> TensorType:
        _check_real(name, x)
        return broadcast(x, y)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(kernel), gradient=gradient, unify="all",
        elementwise=True, commutative=True, samples=(sample(*_DISTINCT_OPERANDS), sample(_INTEGERS, _OTHER_INTEGERS)),
    )  # fmt: skip


def _check_real(name: str, x: TensorType) -> None:
    """Raise TypeError unless the operand is an integer or floating tensor."""
    if not (x.dtype.is_integer or x.dtype.is_floating):
        raise TypeError(f"{name} takes integer or floating tensors, found {x.dtype.name}")


def _maximum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return _route_cotangent(b, b.greater_equal(*inputs), inputs, cotangents[0])


def _minimum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return _route_cotangent(b, b.less_equal(*inputs), inputs, cotangents[0])


def _route_cotangent(b: Builder, selects_first: Any, inputs: Any, cotangent: Any) -> Any:
    """Return the cotangents of both operands: that of the result for the selected one, zero for the other."""
    zeros = b.zeros_like(cotangent)
    x, y = inputs
    return (
        unbroadcast(b, b.select(selects_first, cotangent, zeros), x),
        unbroadcast(b, b.select(selects_first, zeros, cotangent), y),
    )


equal = _define_comparison("equal", "Equal", np.equal, commutative=True)
not_equal = _define_comparison("not_equal", "NotEqual", np.not_equal, commutative=True)
less = _define_comparison("less", "Less", np.less)
less_equal = _define_comparison("less_equal", "LessEqual", np.less_equal)
greater = _define_comparison("greater", "Greater", np.greater)
greater_equal = _define_comparison("greater_equal", "GreaterEqual", np.greater_equal)
maximum = _define_extremum("maximum", "Maximum", np.maximum, _maximum_gradient)
minimum = _define_extremum("minimum", "Minimum", np.minimum, _minimum_gradient)
