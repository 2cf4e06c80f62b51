"""The operators of tensors and variables; each applies an op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.runtime.tracebacks import present, presented


def _dispatch() -> Any:
    from autoconv.runtime import (
        dispatch,  # the operators of a class, and the function they call, need each other
    )

    return dispatch


def _binary(op: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    def forward(self: Any, other: Any) -> Any:
        try:
            return _dispatch().binary(op, self, other)
        except BaseException as error:
            present(error)
            raise

    def reflected(self: Any, other: Any) -> Any:
        try:
            return _dispatch().binary(op, other, self)
        except BaseException as error:
            present(error)
            raise

    return forward, reflected


def _comparison(op: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        if other is None:
            return op == "not_equal"
        try:
            return _dispatch().binary(op, self, other)
        except BaseException as error:
            present(error)
            raise

    return compare


class TensorMethods:
    """Operators on tensors; both operands broadcast as in NumPy, Python numbers take the tensor's dtype."""

    __slots__ = ()

    __add__, __radd__ = _binary("add")
    __sub__, __rsub__ = _binary("subtract")
    __mul__, __rmul__ = _binary("multiply")
    __truediv__, __rtruediv__ = _binary("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide")
    __mod__, __rmod__ = _binary("modulo")
    __pow__, __rpow__ = _binary("power")
    __matmul__, __rmatmul__ = _binary("matmul")
    __and__, __rand__ = _binary("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift")
    __lt__ = _comparison("less")
    __le__ = _comparison("less_equal")
    __gt__ = _comparison("greater")
    __ge__ = _comparison("greater_equal")
    __eq__ = _comparison("equal")  # type: ignore[assignment]
    __ne__ = _comparison("not_equal")  # type: ignore[assignment]

    @presented
    def __neg__(self) -> Any:
        return _dispatch().apply("negative", self)

    def __pos__(self) -> Any:
        return self

    @presented
    def __abs__(self) -> Any:
        return _dispatch().apply("abs", self)

    @presented
    def __invert__(self) -> Any:
        return _dispatch().apply("invert", self)

    @presented
    def __round__(self, digits: int | None = None) -> Any:
        return _dispatch().round_to(self, digits)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    @presented
    def __getitem__(self, index: Any) -> Any:
        return _dispatch().get_item(self, index)
