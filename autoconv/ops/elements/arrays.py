"""Element rules applied to NumPy's arrays, a block at a time: kernels of functions that NumPy does not have."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, float64
from autoconv.ops.elements.registry import Rule, Step

BLOCK = 8192  # elements, which stay in the processor's cache


def kernel_of(rule: Rule) -> Callable[..., Any]:
    """Return a kernel that evaluates the rule in float64; its result has the dtype of the first operand."""
    return _kernel(rule, lambda dtype: np.dtype(np.float64))


def kernel_in_own_precision(rule: Rule) -> Callable[..., Any]:
    """Return a kernel that broadcasts operands of one dtype, and evaluates the rule in that dtype, or in float32."""
    return _kernel(rule, lambda dtype: np.promote_types(dtype, np.float32))


def _kernel(rule: Rule, working_dtype: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a kernel that evaluates the rule in `working_dtype(dtype of the first operand)`."""
    def kernel(*operands: Any, **attributes: Any) -> Any:
        """Apply the rule to blocks of the broadcast operands, in the dtype that it is computed in."""
        arrays = np.broadcast_arrays(*map(np.asarray, operands))
        dtype = working_dtype(arrays[0].dtype)
        flat_arrays = [array.reshape(-1) for array in arrays]
        result = np.empty(flat_arrays[0].shape, arrays[0].dtype)
        with np.errstate(all="ignore"):
            for start in range(0, result.size, BLOCK):
                blocks = [_as_element(x[start : start + BLOCK].astype(dtype)) for x in flat_arrays]
                result[start : start + BLOCK] = rule(_ELEMENTS, *blocks, **attributes).array
        return result.reshape(arrays[0].shape)

    return kernel


class Element:
    """An array that replaces one element: operators apply to all of its elements."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: Any, dtype: DType) -> None:
        self.array = array
        self.dtype = dtype

    def same(self, other: object) -> Element:
        """Return whether the numbers are equal, element by element; nan is not."""
        return _as_element(np.equal(self.array, _as_array(other)))

    def differs(self, other: object) -> Element:
        """Return whether the numbers differ, element by element."""
        return _as_element(np.not_equal(self.array, _as_array(other)))

    def __neg__(self) -> Element:
        return _as_element(-self.array)

    def __invert__(self) -> Element:
        return _as_element(~self.array)


def _operator(function: Callable[[Any, Any], Any], is_reflected: bool = False) -> Any:
    """Return the method of an operator; if `is_reflected`, one with its operands in reverse order."""
    def run(self: Element, other: object) -> Element:
        operands = (_as_array(other), self.array) if is_reflected else (self.array, _as_array(other))
        return _as_element(function(*operands))

    return run


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Element, f"__{_name}__", _operator(getattr(operator, _name)))
    setattr(Element, f"__r{_name}__", _operator(getattr(operator, _name), is_reflected=True))
for _name in ("lt", "le", "gt", "ge", "and_", "or_"):
    setattr(Element, f"__{_name.strip('_')}__", _operator(getattr(operator, _name)))


def _as_array(value: object) -> Any:
    """Return the array of an Element, a number unchanged."""
    return value.array if isinstance(value, Element) else value


def _as_element(array: Any) -> Element:
    """Return an array as an Element of its dtype."""
    return Element(array, as_dtype(array.dtype))


class _ArrayElements:
    """The operations of `Elements` that the rules of these kernels use."""

    avoids_library_calls = False

    def constant(self, number: Any, dtype: DType) -> Element:
        return Element(dtype.numpy.type(number), dtype)

    def select(self, condition: Any, x: object, y: object) -> Element:
        return _as_element(np.where(_as_array(condition), _as_array(x), _as_array(y)))

    def fma(self, x: Any, y: Any, z: Any) -> Element:
        return _as_element(x.array * _as_array(y) + _as_array(z))

    def intrinsic(self, name: str, *operands: Any) -> Element:
        return _as_element(getattr(np, name)(*map(_as_array, operands)))

    def libm(self, name: str, *operands: Any) -> Element:
        return self.intrinsic("power" if name == "pow" else name, *operands)

    def known_exponent(self, _y: Element) -> None:
        return None

    def cast(self, x: Element, dtype: DType) -> Element:
        return Element(x.array.astype(dtype.numpy), dtype)

    def routine(self, name: str, rule: Rule, *operands: Element) -> Any:
        return rule(self, *operands)

    def iterate(self, active: Element, state: Sequence[Element], step: Step, max_count: int) -> list[Element]:
        """Return the last state of each active element, as `Elements.iterate` does; each step computes all elements."""
        shape = active.array.shape
        result = [np.broadcast_to(x.array, shape).copy() for x in state]
        is_active = active.array
        current_state = list(state)
        for n in range(1, max_count + 1):
            if not is_active.any():
                break
            continues, current_state = step(self.constant(float(n), float64), current_state)
            for last_state, x in zip(result, current_state, strict=True):
                np.copyto(last_state, x.array, where=is_active)
            is_active = is_active & continues.array
        return [_as_element(x) for x in result]


_ELEMENTS: Any = _ArrayElements()
