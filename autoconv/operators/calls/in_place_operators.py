"""Augmented assignments (`+=`, `|=`, …), which mutate lists, dicts and sets in place."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.python_operators import BINARY, Operator
from autoconv.operators.control.conditionals import user_defined_method
from autoconv.operators.control.variants import distribute
from autoconv.operators.regions.layout import Variant
from autoconv.operators.values.items import record_array_change, record_container_write
from autoconv.operators.values.numbers import is_compiled
from autoconv.operators.values.set_operators import bitand, bitor, bitxor, sub
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TracedList
from autoconv.runtime.objects.symbolic_objects import apply_object, is_object
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

_FROZENSET_OPERATORS = {operator.ior: bitor, operator.iand: bitand, operator.ixor: bitxor, operator.isub: sub}


def _augmented_assignment(binary_operator: Operator) -> Callable[[Any, Any], Any]:
    """Wrap an in-place operator so that its mutation of a container or array is journalled during a trace."""
    operate_in_place, operate = binary_operator.in_place_function, binary_operator.function

    def augment(x: object, value: object) -> Any:
        """Compute `x <operator>= value`; return what Python then assigns to `x`."""
        if type(x) is Variant:
            return distribute(lambda arm, other: (operate if _is_replaced(arm) else augment)(arm, other), x, value)
        if isinstance(x, (list, dict, set)):
            record_container_write(x)
        elif isinstance(x, np.ndarray):
            record_array_change(x)
        if type(x) is SymbolicArray and type(value) is Variant:
            distribute(lambda arm: operate_in_place(x, arm), value)
            return x
        if type(x) is list and operate_in_place is operator.iadd and type(value) is TracedList:
            x.extend(value)  # `+=` would create a new list out of both
            return x
        is_number = type(x) is SymbolicTensor and x.weak
        if (is_number or _is_simple_value(x, operate_in_place)) and is_object(value):
            return apply_object(operate_in_place.__name__, x, value)
        try:
            if isinstance(x, frozenset) and operate_in_place in _FROZENSET_OPERATORS:
                return _FROZENSET_OPERATORS[operate_in_place](x, value)
            return operate_in_place(x, value)
        except TypeError as error:
            operands = getattr(error, "_autoconv_operands", None)
            if operands is not None:  # Python's message for `+` differs from that for `+=`
                try:
                    operate_in_place(*operands)
                except TypeError as python_error:
                    error.args = python_error.args
            raise

    return augment


iadd, isub, imul, itruediv, ifloordiv, imod, ipow, imatmul, ilshift, irshift, iand, ior, ixor = map(
    _augmented_assignment, BINARY
)


def _is_simple_value(x: object, operate_in_place: Any) -> bool:
    """Return whether `x` is None or of a simple type, and no method of the program computes `x += value`."""
    methods = f"__{operate_in_place.__name__}__", f"__{operate_in_place.__name__[1:]}__"
    return (x is None or isinstance(x, _SIMPLE_CLASSES)) and not any(user_defined_method(x, name) for name in methods)


_SIMPLE_CLASSES = (bool, int, float, complex, str, bytes, tuple, frozenset, range)


def _is_replaced(x: object) -> bool:
    """Return whether `+=` creates a new value: for NumPy's scalars, and for arrays unless under `compile`."""
    return isinstance(x, Tensor) and not x.weak and (not is_compiled() or x.type.shape == ())
