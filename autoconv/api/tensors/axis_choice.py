"""Axes known only at run time: a conditional with one arm for each possible axis."""

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
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Axes = tuple[int, ...]  # one possible value of a vector of axes; a single axis counts as a vector of one element


def accepts_run_time_axes(
    new_axes: int = 0, ordered: bool = False
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function to accept axes known only at run time, if its first operand has a known rank.

    The graph then has an arm with the function's result for each possible axis, or for each set of axes of a vector.
    `new_axes` is the number of dimensions that the function inserts: axes are counted in the result, with these
    dimensions. `ordered` is true if the order of the axes matters, as in a transposition.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def with_run_time_axes(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            try:
                return function(*args, **kwargs)
            except UnknownAxis as error:
                operand = args[0] if args else next(iter(kwargs.values()))
                choices = _axis_choices(operand, error.axis, new_axes, ordered)
                if choices is None:
                    raise
                unknown_axis = error

            def call_with_axes(axes: Axes) -> Result:
                axis = axes if unknown_axis.axis.shape.rank else axes[0]
                positional = [axis if unknown_axis.is_axis(value) else value for value in args]
                named = {name: axis if unknown_axis.is_axis(value) else value for name, value in kwargs.items()}
                return function(*positional, **named)  # type: ignore[arg-type]

            return _switch_over_axes(unknown_axis.axis, choices, call_with_axes)

        # `api_dispatch` unwraps functions to register and find handlers of composite tensors: it must stop here.
        with_run_time_axes.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        del with_run_time_axes.__wrapped__  # type: ignore[attr-defined]
        return with_run_time_axes

    return decorate


def _axis_choices(operand: object, axis: SymbolicTensor, new_axes: int, ordered: bool) -> list[Axes] | None:
    """Return all values that the tensor `axis` may have for this operand; None if there are too many to be listed."""
    tensor = operand[0] if isinstance(operand, Sequence) and operand else operand
    rank = convert_to_tensor(tensor).shape.rank  # type: ignore[arg-type]
    is_index = axis.shape.rank in (0, 1) and axis.dtype.is_integer
    if rank is None or not is_index:
        return None
    count = 1 if axis.shape.rank == 0 else axis.shape[0]
    if count is None and ordered:
        return None
    axes = range(rank + new_axes)
    arrangements = itertools.permutations if ordered else itertools.combinations
    counts = range(len(axes) + 1) if count is None else [count]
    all_choices = itertools.chain.from_iterable(arrangements(axes, count) for count in counts)
    choices = list(itertools.islice(all_choices, MAX_ARMS + 1))
    return choices if 0 < len(choices) <= MAX_ARMS else None


MAX_ARMS = 120  # the permutations of five dimensions


def _switch_over_axes(
    axis: SymbolicTensor, choices: list[Axes], call_with_axes: Callable[[Axes], Result]
) -> Result:
    """Record a conditional with an arm for each choice, selected by the axes at run time; return its result."""
    rank = 1 + max(itertools.chain.from_iterable(choices), default=0)
    run_time_axes = apply("reshape", apply("cast", axis, dtype=int64), shape=(-1,))
    positive_axes = apply(
        "select", apply("less", run_time_axes, np.int64(0)), apply("add", run_time_axes, np.int64(rank)), run_time_axes
    )
    needs_order = len({frozenset(axes) for axes in choices}) < len(choices)
    index = _choice_index(positive_axes, choices, rank, needs_order)
    arms = [functools.partial(_call_for_axes, call_with_axes, axes) for axes in choices]
    results: tuple[Result, ...] = stage_arms(
        index, [*arms, _raise_no_such_axis], [], ("the result",)  # type: ignore[arg-type]
    )
    return results[0]


def _choice_index(positive_axes: Tensor, choices: list[Axes], rank: int, needs_order: bool) -> Tensor:
    """Return the index of the run-time axes in `choices`, or len(choices) if they are not in it.

    The axes are the digits of a number in base `rank`, or, if their order does not matter, the bits of a number. For
    each number, one table has the index in `choices` and another one the number of axes. The latter differs from the
    number of run-time axes if one of these occurs twice, since the sum of the bits is then another number.
    """
    is_in_range = apply(
        "logical_and", apply("greater_equal", positive_axes, np.int64(0)), apply("less", positive_axes, np.int64(rank))
    )
    axes_in_range = apply("select", is_in_range, positive_axes, np.int64(0))
    weights = np.asarray(rank, np.int64) ** np.arange(len(choices[0]))
    table = np.full(rank ** len(choices[0]) if needs_order else 2**rank, len(choices), np.int64)
    counts = np.zeros(len(table), np.int64)
    for position, axes in enumerate(choices):
        number = int(np.dot(axes, weights)) if needs_order else sum(1 << axis for axis in axes)
        table[number], counts[number] = position, len(axes)
    digits = apply("multiply", axes_in_range, weights) if needs_order else apply("power", np.int64(2), axes_in_range)
    number_at_run_time = apply("reduce_sum", digits, axis=(0,), keepdims=False)
    all_in_range = apply("reduce_all", is_in_range, axis=(0,), keepdims=False)
    is_in_table = apply("logical_and", all_in_range, apply("less", number_at_run_time, np.int64(len(table))))
    row = apply("select", is_in_table, number_at_run_time, np.int64(0))
    choice, count = (apply("gather", values, row, axis=0, batch_dims=0) for values in (table, counts))
    is_valid = apply("logical_and", is_in_table, apply("equal", count, apply("size", positive_axes, dtype=int64)))
    return apply("select", is_valid, choice, np.int64(len(choices)))


def _call_for_axes(call_with_axes: Callable[[Axes], Result], axes: Axes) -> tuple[Result]:
    """Return the result for the axes; mark errors to be raised only if the arm is taken at run time."""
    try:
        return (call_with_axes(axes),)
    except (ValueError, InvalidArgumentError) as error:
        mark_program_error(error)
        raise


def _raise_no_such_axis() -> tuple[object]:
    """Raise the error of the arm for axes that are not among the choices."""
    raise mark_program_error(InvalidArgumentError("the tensor has no such axis, or one of the axes twice"))
