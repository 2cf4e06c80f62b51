"""Reduction of the values of replicas to one value."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.tensors.reductions import reduce_sum
from autoconv.api.tensors.shaping import shape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply


class ReduceOp(enum.Enum):
    """The reduction of the values of replicas to one value.

    >>> autoconv.distribute.ReduceOp.SUM.value
    'SUM'
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """Return the reduction of a variable's aggregation; raises ValueError for an aggregation without one."""
        result = {"SUM": ReduceOp.SUM, "MEAN": ReduceOp.MEAN}.get(getattr(aggregation, "name", ""))
        if result is None:
            raise ValueError(f"the aggregation {aggregation} of variables has no ReduceOp")
        return result


def reduce_op_of(name_or_op: Any) -> ReduceOp:
    """Return the reduction that a ReduceOp or its name gives; raises ValueError for another value."""
    name = str(getattr(name_or_op, "value", name_or_op)).upper()
    if name not in ReduceOp.__members__:
        raise ValueError(f"Unknown reduce_op {name_or_op!r}: there are ReduceOp.SUM and ReduceOp.MEAN, and their names")
    return ReduceOp[name]


def combine(op: ReduceOp, values: Sequence[Any]) -> Any:
    """Return the sum or mean of tensors, added in the order of the replicas."""
    total, *other_values = map(convert_to_tensor, values)
    for tensor in other_values:
        total = total + tensor
    return total / len(values) if op is ReduceOp.MEAN else total


def combine_along(op: ReduceOp, values: Sequence[Any], axis: int, reduce_across: Callable[[Any], Any]) -> Any:
    """Return the sum or mean along an axis and over replicas; `values` are the tensors of this process's replicas.

    Sizes along the axis may differ. `reduce_across(total)` adds the totals of all processes.
    """
    total = reduce_across(combine(ReduceOp.SUM, [reduce_sum(value, axis) for value in values]))
    if op is ReduceOp.SUM:
        return total
    row_count = reduce_across(combine(ReduceOp.SUM, [shape(value)[axis] for value in values]))
    return total / apply("cast", row_count, dtype=total.dtype)
