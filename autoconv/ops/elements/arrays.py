"""Element rules applied to NumPy's arrays, a block at a time: kernels of functions that NumPy does not have."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, float64
from autoconv.ops.elements.registry import Rule

BLOCK = 8192  # elements, which stay in the processor's cache


def kernel_of(rule: Rule) -> Callable[..., Any]:
    """Return a kernel of one operand that evaluates the rule in float64."""

    def run(x: Any) -> Any:
        array = np.asarray(x)
        flat = array.reshape(-1)
        result = np.empty(flat.shape, array.dtype)
        with np.errstate(all="ignore"):
            for start in range(0, flat.size, BLOCK):
                block = flat[start : start + BLOCK].astype(np.float64)
                result[start : start + BLOCK] = rule(_ELEMENTS, Element(block, float64)).array
        return result.reshape(array.shape)

    return run


class Element:
    """An array in the place of one element."""

    __slots__ = ("array", "dtype")

    def __init__(self, array: Any, dtype: DType) -> None:
        self.array = array
        self.dtype = dtype

    def same(self, other: object) -> Element:
        """Return where both are equal."""
        return _as_element(np.equal(self.array, _as_array(other)))

    def differs(self, other: object) -> Element:
        """Return where they differ."""
        return _as_element(np.not_equal(self.array, _as_array(other)))

    def __neg__(self) -> Element:
        return _as_element(-self.array)

    def __invert__(self) -> Element:
        return _as_element(~self.array)


def _operator(function: Callable[[Any, Any], Any], reflected: bool = False) -> Any:
    def run(self: Element, other: object) -> Element:
        pair = (_as_array(other), self.array) if reflected else (self.array, _as_array(other))
        return _as_element(function(*pair))

    return run


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Element, f"__{_name}__", _operator(getattr(operator, _name)))
    setattr(Element, f"__r{_name}__", _operator(getattr(operator, _name), reflected=True))
for _name in ("lt", "le", "gt", "ge", "and_", "or_"):
    setattr(Element, f"__{_name.strip('_')}__", _operator(getattr(operator, _name)))


def _as_array(value: object) -> Any:
    return value.array if isinstance(value, Element) else value


def _as_element(array: Any) -> Element:
    return Element(array, as_dtype(array.dtype))


class _ArrayElements:
    """The part of `Elements` that rules of such functions use."""

    in_loop = False

    def constant(self, number: Any, dtype: DType) -> Element:
        return Element(dtype.numpy.type(number), dtype)

    def select(self, condition: Any, x: object, y: object) -> Element:
        return _as_element(np.where(_as_array(condition), _as_array(x), _as_array(y)))

    def fma(self, x: Any, y: Any, z: Any) -> Element:
        return _as_element(x.array * _as_array(y) + _as_array(z))

    def intrinsic(self, name: str, *operands: Any) -> Element:
        return _as_element(getattr(np, name)(*map(_as_array, operands)))

    libm = intrinsic


_ELEMENTS: Any = _ArrayElements()
