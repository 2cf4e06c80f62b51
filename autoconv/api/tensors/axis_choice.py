"""Axes that only the running graph has: one arm of a `cond` for each axis that the tensor may be computed along."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import numpy as np

from autoconv.api.tensors.arguments import UnknownAxis
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.operators.control.staging import stage_arms
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Values = tuple[int, ...]


def any_axis(
    new: int = 0, ordered: bool = False
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Let the decorated function take axes that are tensors without a known value, where its first operand has a rank.

    The graph then has an arm for each axis (or set of axes, for a vector), with the function's result for that axis.
    `new`: the result has so many more dimensions than the operand, and the axis is one of the result. `ordered`: the
    order of the axes counts, as in a transposition.
    """

    def decorated(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def with_any_axis(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            try:
                return function(*args, **kwargs)
            except UnknownAxis as unknown:
                operand = args[0] if args else next(iter(kwargs.values()))
                choices = _choices(operand, unknown.axis, new, ordered)
                if choices is None:
                    raise
                failed = unknown

            def of(axes: Values) -> Result:
                axis = axes if failed.axis.shape.rank else axes[0]
                positional = [axis if failed.is_axis(value) else value for value in args]
                named = {name: axis if failed.is_axis(value) else value for name, value in kwargs.items()}
                return function(*positional, **named)  # type: ignore[arg-type]

            return _switch_over_axes(failed.axis, choices, of)

        # Handlers of composite tensors are registered for the decorated function itself.
        with_any_axis.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        del with_any_axis.__wrapped__  # type: ignore[attr-defined]
        return with_any_axis

    return decorated


def _choices(operand: object, axis: SymbolicTensor, new: int, ordered: bool) -> list[Values] | None:
    """Return the axes that the tensor may have, each as a tuple; None where they cannot be listed."""
    first = operand[0] if isinstance(operand, Sequence) and operand else operand
    rank = convert_to_tensor(first).shape.rank  # type: ignore[arg-type]
    if rank is None or axis.shape.rank is None or axis.shape.rank > 1 or not axis.dtype.is_integer:
        return None
    count = 1 if axis.shape.rank == 0 else axis.shape[0]
    if count is None:
        return None
    arrangements = itertools.permutations if ordered else itertools.combinations
    choices = list(itertools.islice(arrangements(range(rank + new), count), MOST_ARMS + 1))
    return choices if 0 < len(choices) <= MOST_ARMS else None


MOST_ARMS = 120  # the permutations of five dimensions


def _switch_over_axes(axis: SymbolicTensor, choices: list[Values], of: Callable[[Values], Result]) -> Result:
    """Record the function's results for the choices, one of which the running graph takes."""
    size = 1 + max(itertools.chain.from_iterable(choices))
    result = apply("reshape", apply("cast", axis, dtype=int64), shape=(-1,))
    places = apply("select", apply("less", result, np.int64(0)), apply("add", result, np.int64(size)), result)
    index = _position(places, choices, size, len({frozenset(c) for c in choices}) < len(choices))
    arms = [functools.partial(_result, of, axes) for axes in choices]
    found: tuple[Result, ...] = stage_arms(index, [*arms, _no_such_axis], [], ("the result",))  # type: ignore[arg-type]
    return found[0]


def _position(places: Tensor, choices: list[Values], size: int, ordered: bool) -> Tensor:
    """Return the position of the running graph's axes among the choices, their number where they are none of them."""
    count = len(choices[0])
    weights = np.asarray(size, np.int64) ** np.arange(count)
    table = np.full(size**count, len(choices), np.int64)
    for position, axes in enumerate(choices):
        for order in [axes] if ordered else itertools.permutations(axes):
            table[int(np.dot(order, weights))] = position
    fits = apply("logical_and", apply("greater_equal", places, np.int64(0)), apply("less", places, np.int64(size)))
    code = apply("reduce_sum", apply("multiply", places, weights), axis=(0,), keepdims=False)
    valid = apply("reduce_all", fits, axis=(0,), keepdims=False)
    result = apply("gather", table, apply("select", valid, code, np.int64(0)), axis=0, batch_dims=0)
    return apply("select", valid, result, np.int64(len(choices)))


def _result(of: Callable[[Values], Result], axes: Values) -> tuple[Result]:
    """Return the result for the axes; what is wrong with them is wrong only where the running graph takes them."""
    try:
        return (of(axes),)
    except (ValueError, InvalidArgumentError) as error:
        error._autoconv_run_time = True  # type: ignore[attr-defined]
        raise


def _no_such_axis() -> tuple[object]:
    error = InvalidArgumentError("the tensor has no such axis, or one of the axes twice")
    error._autoconv_run_time = True  # type: ignore[attr-defined]
    raise error
