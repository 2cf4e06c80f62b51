"""Numbers and lists of numbers among the operands of an op: whether they have a dtype of their own, or adopt one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import UnconvertibleError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import can_adopt_dtype, number_kind_order
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.tensors.conversion import to_array, weak_dtype
from autoconv.runtime.tensors.remote_ops import NUMBERS
from autoconv.runtime.tensors.tensor import Tensor


class NumberList:
    """A list of only numbers: like a single number, it adopts the dtype of the other operands."""

    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    @property
    def dtype(self) -> DType:
        """The dtype that the list has if no other operand gives one."""
        return as_dtype(to_array(self.values).dtype)

    def as_array(self, operands: Sequence[Any], is_unified: bool) -> np.ndarray:
        """Return the list as an array beside these operands; `is_unified`: the op unifies its dtype with theirs."""
        own_dtype = self.dtype
        if not is_unified:
            return to_array(self.values)
        typed_dtypes = [dtype_of(operand) for operand in operands if is_typed(operand)]
        weak_dtypes = [weak_dtype(operand) for operand in operands if isinstance(operand, NUMBERS)]
        weak_dtypes += [operand.dtype for operand in operands if isinstance(operand, NumberList)]
        if typed_dtypes:
            is_adopted = can_adopt_dtype(own_dtype, typed_dtypes[0])
            meets_tensor = any(isinstance(operand, Tensor) for operand in operands)
            if not is_adopted and meets_tensor and not current_contract().numpy_arrays:
                target = typed_dtypes[0].name
                raise UnconvertibleError(f"Cannot convert {self.values!r} to EagerTensor of dtype {target}")
            return to_array(self.values, typed_dtypes[0] if is_adopted else None)
        widest = max(weak_dtypes, key=number_kind_order, default=own_dtype)
        if number_kind_order(widest) <= number_kind_order(own_dtype):
            return to_array(self.values)
        widest_number = np.zeros((), widest.numpy).item()
        return to_array(self.values, dtype_of_numbers([widest_number]))


def holds_numbers(values: Any, takes_numpy_numbers: bool) -> bool:
    """Return whether a nested list holds only Python numbers, or also NumPy's, and at least one."""
    return bool(values) and all(
        holds_numbers(value, takes_numpy_numbers)
        if isinstance(value, (list, tuple))
        else type(value) in NUMBERS or (takes_numpy_numbers and isinstance(value, (np.number, np.bool_)))
        for value in values
    )


def is_typed(value: object) -> bool:
    """Return whether an operand has a dtype of its own: neither Python's number nor a weak tensor."""
    if isinstance(value, NUMBERS):
        return isinstance(value, np.generic)  # np.float64 is a float
    return not (isinstance(value, Tensor) and value.weak)


def dtype_of(value: Any) -> DType:
    return value.dtype if isinstance(value, Tensor) else as_dtype(value.dtype)


def dtype_of_numbers(numbers: list[Any]) -> DType:
    """Return the dtype that Python numbers have as one tensor: the widest of their kinds, int64 for large ints."""
    dtypes = [as_dtype(to_array(number).dtype) for number in numbers]
    return max(dtypes, key=lambda dtype: (number_kind_order(dtype), dtype.size))
