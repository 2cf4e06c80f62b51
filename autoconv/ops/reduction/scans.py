"""Cumulative sums, products and extremes along an axis, linear recurrences, and reductions of segments.

With `exclusive`, element i of a result combines the elements before i. With `reverse`, an op goes from the last
element of the axis to the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import conjugate
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import broadcast, check_axis_of

_X = np.array([[0.5, -1.25, 2.0], [3.5, 0.75, 1.5]])
_INTEGERS = np.array([[7, -7, 5], [1, 2, -4]], np.int32)
_WITH_NAN = np.array([1.0, 2.0, np.nan, 3.0])
_COMPLEX = np.array([0.5 + 0.25j, -0.75 - 1.5j, 1.0j])


def _axis_rule(name: str) -> Callable[..., TensorType]:
    """Return the type rule of the op `name`: its operands broadcast to the result, and the first has the axis."""

    def rule(x: TensorType, *further_operands: TensorType, axis: int, **_: Any) -> TensorType:
        if not x.dtype.is_numeric:
            raise TypeError(f"{name} takes numeric tensors, found {x.dtype.name}")
        check_axis_of(name, x, axis)
        return broadcast(x, *further_operands)

    return rule


def _check_axis(x: Any, axis: int) -> None:
    if not -x.ndim <= axis < x.ndim:
        raise InvalidArgumentError(f"axis {axis} is out of range for a tensor of {x.ndim} dimensions")


def _scan_kernel(operation: np.ufunc, neutral_element: int) -> Callable[..., Any]:
    """Return the kernel of a scan by an operation, whose neutral element begins an exclusive one."""

    def kernel(x: Any, *, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        """Accumulate along the axis, from its end if `reverse` is set."""
        _check_axis(x, axis)
        source = np.flip(x, axis) if reverse else x
        result = operation.accumulate(source, axis=axis, dtype=x.dtype)
        if exclusive:
            result = _shift_by_one(result, axis, reverse=False, fill_value=neutral_element)
        return np.flip(result, axis) if reverse else result

    return kernel


def _extreme_kernel(operation: np.ufunc) -> Callable[..., Any]:
    def kernel(x: Any, *, axis: int) -> Any:
        _check_axis(x, axis)
        return operation.accumulate(x, axis=axis)

    return kernel


def _shift_by_one(x: Any, axis: int, reverse: bool, fill_value: int) -> Any:
    """Move all elements to the next position, or with `reverse` to the previous one; fill the position left free."""
    result = np.full_like(x, fill_value)
    source, target = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    all_but_first, all_but_last = slice(1, None), slice(None, -1)
    source[axis], target[axis] = (all_but_first, all_but_last) if reverse else (all_but_last, all_but_first)
    result[tuple(target)] = x[tuple(source)]
    return result


def _shift(x: Any, *, axis: int, reverse: bool = False) -> Any:
    _check_axis(x, axis)
    return _shift_by_one(x, axis, reverse, fill_value=0)


def _recurrence(coefficient: Any, addend: Any, *, axis: int, reverse: bool = False) -> Any:
    """Return s along the axis, where s_0 = addend_0 and s_i = addend_i + coefficient_i·s_(i-1)."""
    _check_axis(addend, axis)
    result = np.array(np.broadcast_arrays(coefficient, addend)[1])
    factors = np.moveaxis(np.broadcast_to(coefficient, result.shape), axis, 0)
    rows = np.moveaxis(result, axis, 0)
    positions = range(len(rows) - 2, -1, -1) if reverse else range(1, len(rows))
    for i in positions:
        rows[i] += factors[i] * rows[i + 1 if reverse else i - 1]
    return result


def _cumsum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    reversed_attributes = {**attributes, "reverse": not attributes.get("reverse", False)}
    return (b.cumsum(cotangents[0], **reversed_attributes),)


def _cumprod_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Differentiate without division, so that zeros among the elements are allowed.

    The cotangent of x_i is p·s_i. Here p is the product of all elements before i, s_i is c_i + x_(i+1)·s_(i+1), and c
    is the cotangent of the result.
    """
    (cotangent,), (x,) = cotangents, inputs
    axis, gradient_reverse = attributes["axis"], not attributes.get("reverse", False)
    if attributes.get("exclusive", False):
        cotangent = b.shift(cotangent, axis=axis, reverse=gradient_reverse)
    product_before = b.cumprod(x, axis=axis, exclusive=True, reverse=not gradient_reverse)
    next_factor = conjugate(b, b.shift(x, axis=axis, reverse=gradient_reverse))
    sums = b.linear_recurrence(next_factor, cotangent, axis=axis, reverse=gradient_reverse)
    return (b.multiply(conjugate(b, product_before), sums),)


def _shift_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    reversed_attributes = {**attributes, "reverse": not attributes.get("reverse", False)}
    return (b.shift(cotangents[0], **reversed_attributes),)


def _recurrence_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangents of both operands: the addend's is a recurrence in the other direction."""
    (cotangent,), (coefficient, _), (states,) = cotangents, inputs, results
    axis, reverse = attributes["axis"], attributes.get("reverse", False)
    next_coefficient = conjugate(b, b.shift(coefficient, axis=axis, reverse=not reverse))
    addend_cotangent = b.linear_recurrence(next_coefficient, cotangent, axis=axis, reverse=not reverse)
    previous_state = conjugate(b, b.shift(states, axis=axis, reverse=reverse))
    return b.multiply(addend_cotangent, previous_state), addend_cotangent


def _extreme_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Sum the cotangents of the results from each element that is a new extreme up to the next one.

    Of equal extremes the first counts. The sums are s_i = c_i + continues_(i+1)·s_(i+1), where c is the cotangent of
    the result, and `continues` is 1 where an element is no new extreme, else 0.
    """
    (cotangent,), (y,) = cotangents, results
    axis = attributes["axis"]
    is_first = b.equal(b.shift(b.ones_like(y), axis=axis, reverse=False), b.zeros_like(y))
    is_new_extreme = b.logical_or(is_first, b.not_equal(y, b.shift(y, axis=axis, reverse=False)))
    new_extremes = b.cast(is_new_extreme, dtype=y.dtype)
    next_continues = b.shift(b.subtract(b.ones_like(y), new_extremes), axis=axis, reverse=True)
    return (b.multiply(b.linear_recurrence(next_continues, cotangent, axis=axis, reverse=True), new_extremes),)


def _recurrence_type(coefficient: TensorType, addend: TensorType, *, axis: int, **_: Any) -> TensorType:
    result = _axis_rule("linear_recurrence")(coefficient, addend, axis=axis)
    ranks = {x.rank for x in (coefficient, addend) if x.rank is not None}
    if len(ranks) > 1:
        raise ValueError("linear_recurrence takes coefficients and addends of one rank")
    return result


_SCAN_SAMPLES = (
    sample(_X, axis=0, exclusive=False, reverse=False), sample(_X, axis=1, exclusive=True, reverse=False),
    sample(_X, axis=-1, exclusive=False, reverse=True), sample(_X, axis=-1, exclusive=True, reverse=True),
    sample(_INTEGERS, axis=1, exclusive=False, reverse=False),
    sample(_COMPLEX, axis=0, exclusive=False, reverse=False),
)  # fmt: skip

cumsum = define(
    name="cumsum", graphdef="Cumsum", result=_axis_rule("cumsum"), kernel=quiet(_scan_kernel(np.add, 0)),
    gradient=_cumsum_gradient, samples=_SCAN_SAMPLES,
)  # fmt: skip
cumprod = define(
    name="cumprod", graphdef="Cumprod", result=_axis_rule("cumprod"), kernel=quiet(_scan_kernel(np.multiply, 1)),
    gradient=_cumprod_gradient, samples=(*_SCAN_SAMPLES, sample(np.array([2.0, 0.0, 3.0, 0.0]), axis=0)),
)  # fmt: skip
cummax, cummin = (
    define(
        name=f"cum{kind}", graphdef=f"Cum{kind}", result=_axis_rule(f"cum{kind}"),
        kernel=quiet(_extreme_kernel(operation)), gradient=_extreme_gradient,
        samples=(
            sample(_X, axis=0), sample(_X, axis=-1), sample(_INTEGERS, axis=1),
            sample(_WITH_NAN, axis=0, differentiable=()),
        ),
    )
    for kind, operation in (("max", np.maximum), ("min", np.minimum))
)
shift = define(
    name="shift", graphdef="ShiftByOne", result=_axis_rule("shift"), kernel=_shift, gradient=_shift_gradient,
    samples=(sample(_X, axis=0, reverse=False), sample(_X, axis=-1, reverse=True)),
)  # fmt: skip
linear_recurrence = define(
    name="linear_recurrence", graphdef="LinearRecurrence", result=_recurrence_type,
    kernel=quiet(_recurrence), gradient=_recurrence_gradient, unify="all",
    samples=(sample(_X, _X + 1.0, axis=0, reverse=False), sample(_X, _X - 1.0, axis=1, reverse=True)),
)  # fmt: skip


# ---- reductions of segments


def _reduceat_type(x: TensorType, positions: TensorType, *, function: str, axis: int) -> TensorType:
    if x.shape is None or positions.shape is None:
        return TensorType(x.dtype, None)
    axis %= len(x.shape)
    return TensorType(x.dtype, (*x.shape[:axis], *positions.shape, *x.shape[axis + 1 :]))


reduceat = define(
    name="reduceat", graphdef="NumpyReduceat", result=_reduceat_type,
    kernel=quiet(lambda x, positions, *, function, axis: getattr(np, function).reduceat(x, positions, axis, x.dtype)),
    gradient=no_gradient("it runs NumPy's own function, for which there is no gradient rule"), effects=Effects.RAISE,
    samples=(
        sample(np.array([0.5, -1.5, 2.0, 4.0]), np.array([2, 0, 3]), function="add", axis=0),
        sample(np.array([[3, 1, 3], [2, 5, 4]]), np.array([1, 2]), function="maximum", axis=-1),
    ),
)  # fmt: skip
