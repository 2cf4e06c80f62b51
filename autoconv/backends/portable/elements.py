"""The operations that element rules use, composed of the operations that a writer implements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from autoconv.backends.portable.arrays import Arrays
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType, bool_, float16, float32, int16, int32, int64
from autoconv.ops.elements.maths import VECTORISED
from autoconv.ops.elements.special import erf, erfc


class Elementwise(Arrays):
    """The operations that element rules (`autoconv.ops.elements.Elements`) and ops' rules use, composed of `Arrays`."""

    avoids_library_calls = False  # so that element rules call elementary functions by name, see `libm`
    # {name in the C library: name in StableHLO}, of functions that the runtime has; others are composed of operations.
    runtime_functions: ClassVar[Mapping[str, str]] = {}

    def as_term(self, value: Any, model: Term) -> Term:
        """Return an operand as an array; a number gets the dtype of `model`."""
        return value if isinstance(value, Term) else self.constant(value, model.dtype)

    def _broadcast_together(self, x: Any, y: Any) -> list[Term]:
        """Return both operands as arrays of one shape; a number gets the dtype of the other operand."""
        model = x if isinstance(x, Term) else y
        return self.broadcast(self.as_term(x, model), self.as_term(y, model))

    def binary(self, name: str, x: Any, y: Any) -> Term:
        """Apply an operation of two operands, at least one of which is a term.

        The value of a result of two constant integers is recorded.
        """
        result = self.emit_binary(name, *self._broadcast_together(x, y))
        number = _fold_integers(_INTEGER_FOLDS.get(name), x, y)
        if number is not None and result.dtype.is_integer and result.dtype.min <= number <= result.dtype.max:
            result.constant_value = number
        return result

    def compare(self, test: str, x: Any, y: Any) -> Term:
        """Compare two operands; the comparison of two constant integers is a constant."""
        number = _fold_integers(getattr(operator, test), x, y)
        if number is not None:
            return self._constant_condition(number)
        return self.emit_comparison(test, *self._broadcast_together(x, y))

    def _constant_condition(self, value: object) -> Term:
        """Return a constant condition."""
        result = self.constant(bool(value), bool_)
        result.constant_value = int(bool(value))
        return result

    def select(self, condition: Term, x: Any, y: Any) -> Term:
        """Choose between two operands, at least one a term; a constant condition gives one of them."""
        model = x if isinstance(x, Term) else y
        if not isinstance(model, Term):
            raise TypeError("a choice between two numbers has no dtype")
        if condition.constant_value is not None:
            pair = self.broadcast(self.as_term(x, model), self.as_term(y, model))
            return pair[0] if condition.constant_value else pair[1]
        return self.emit_select(*self.broadcast(condition, self.as_term(x, model), self.as_term(y, model)))

    def cast(self, x: Term, dtype: DType) -> Term:
        """Convert as NumPy does: a number to bool is a comparison with 0, a complex number loses its imaginary part."""
        if x.dtype is dtype:
            return x
        if dtype.is_bool:
            return self.compare("ne", x, 0)
        if x.dtype.is_complex and not dtype.is_complex:
            return self.cast(self.emit_unary("real", x), dtype)
        if x.dtype.is_floating and dtype.is_integer:
            return self._float_to_integer(x, dtype)
        result = self.emit_cast(x, dtype)
        result.constant_value = x.constant_value if dtype.is_integer else None
        return result

    def _float_to_integer(self, x: Term, dtype: DType) -> Term:
        """Convert floats to integers as x86-64 does: one that does not fit 64 bits becomes the lowest int64."""
        if dtype.is_unsigned and dtype.size == 8:
            return self.emit_cast(x, dtype)
        wide_x = self.cast(x, float32) if x.dtype is float16 else x
        is_in_range = self.compare("ge", wide_x, -(2.0**63)) & self.compare("lt", wide_x, 2.0**63)
        integer = self.emit_cast(self.select(is_in_range, wide_x, 0.0), int64)
        integer = self.select(is_in_range, integer, int64.min)
        if dtype is int64:
            return integer
        return self.emit_cast(integer, dtype)

    def bits(self, name: str, x: Any, y: Any) -> Term:
        """Apply an operation on bits or bools, by LLVM's name."""
        number = _fold_integers(_CONDITION_FOLDS.get(name), x, y)
        if number is not None and all(isinstance(operand, Term) and operand.dtype.is_bool for operand in (x, y)):
            return self._constant_condition(number)
        names = {"shl": "shift_left", "ashr": "shift_right_arithmetic", "lshr": "shift_right_logical"}
        return self.emit_binary(names.get(name, name), *self._broadcast_together(x, y))

    def fma(self, x: Any, y: Any, z: Any) -> Term:
        """Multiply and add, rounded twice."""
        return x * y + z

    def scale_by_power_of_two(self, x: Term, n: Term) -> Term:
        """Return x·2^n, in two steps: 2^n alone may overflow."""
        half = self.bits("ashr", n, 1)
        for exponent in (half, n - half):
            x = x * self.binary("power", 2.0, self.cast(exponent, x.dtype))
        return x

    def intrinsic(self, name: str, *operands: Any) -> Term:
        """Apply a function by LLVM's name."""
        if name == "copysign":
            x, sign = self._broadcast_together(*operands)
            integer_dtype = _INTEGER_DTYPE_OF_SIZE[x.dtype.size]
            magnitude_bits = self.bitcast(x, integer_dtype) & integer_dtype.max
            return self.bitcast(magnitude_bits | (self.bitcast(sign, integer_dtype) & integer_dtype.min), x.dtype)
        if name == "trunc":
            (x,) = operands
            return self.intrinsic("copysign", self.emit_unary("floor", self.emit_unary("abs", x)), x)
        return self.emit_unary(_INTRINSICS[name], operands[0])

    def known_exponent(self, _y: Term) -> None:
        return None

    def libm(self, name: str, *operands: Any) -> Term:
        """Apply a function by its name in the C library."""
        if name == "pow":
            return self.binary("power", *operands)
        if name == "exp2":
            return self.binary("power", 2.0, operands[0])
        if name == "atan2":
            return self.binary("atan2", *operands)
        if name == "hypot":
            return self._hypot(*self._broadcast_together(*operands))
        (x,) = operands
        if name in ("log2", "log10"):
            return self._log_to_base(2.0 if name == "log2" else 10.0, x)
        if name in self.runtime_functions:
            return self.emit_unary(self.runtime_functions[name], x)
        if name in ("asinh", "acosh", "atanh"):
            return self._inverse_hyperbolic(name, x)
        if name in ("sinh", "cosh"):
            return self._hyperbolic(name, x)
        rule = _SCALAR_RULES.get(name) or VECTORISED.get(name)
        if rule is None:
            raise GraphUnfit(name, f"{self.runtime} has no such function")
        return rule(self, x)

    def _log_to_base(self, base: float, x: Term) -> Term:
        """Scale the natural logarithm; where the nearest integer is the exact result, return that."""
        result = self.emit_unary("log", x) * (1 / math.log(base))
        integer = self.intrinsic("rint", result)
        return self.select(self.binary("power", base, integer).same(x), integer, result)

    def _hyperbolic(self, name: str, x: Term) -> Term:
        """Compute from half of e^|x|, as a product of two square roots, because e^|x| itself overflows earlier."""
        magnitude = self.emit_unary("abs", x)
        root = self.libm("exp", magnitude * 0.5)
        half_exponential = root * 0.5 * root
        if name == "cosh":
            return half_exponential + 0.25 / half_exponential
        # Above 20, e^-|x| is lost beside e^|x|.
        expm1 = self.libm("expm1", self.select(magnitude > 20.0, 0.0, magnitude))
        moderate_result = (expm1 + expm1 / (expm1 + 1.0)) * 0.5
        return self.intrinsic("copysign", self.select(magnitude > 20.0, half_exponential, moderate_result), x)

    def _inverse_hyperbolic(self, name: str, x: Term) -> Term:
        """Compute by log1p, which is exact near 0; for large numbers, by the logarithm of 2x."""
        if name == "atanh":
            return self.libm("log1p", x * 2.0 / (1.0 - x)) * 0.5
        nonnegative_x = self.emit_unary("abs", x) if name == "asinh" else x
        is_large = nonnegative_x > 1e8  # then x² + 1 and x² - 1 round to x²
        moderate_x = self.select(is_large, 1.0, nonnegative_x)
        if name == "asinh":
            square = moderate_x * moderate_x
            magnitude = self.libm("log1p", moderate_x + square / (self.emit_unary("sqrt", square + 1.0) + 1.0))
        else:
            excess = moderate_x - 1.0
            magnitude = self.libm("log1p", excess + self.emit_unary("sqrt", excess * 2.0 + excess * excess))
        log_of_double = self.emit_unary("log", self.select(is_large, nonnegative_x, 1.0)) + math.log(2.0)
        magnitude = self.select(is_large, log_of_double, magnitude)
        if name == "acosh":
            return self.select(x < 1.0, math.nan, magnitude)
        return self.intrinsic("copysign", magnitude, x)

    def _hypot(self, x: Term, y: Term) -> Term:
        """Compute √(x² + y²), scaled by the larger one, because squares may overflow."""
        x, y = self.emit_unary("abs", x), self.emit_unary("abs", y)
        larger = self.select(x > y, x, y)
        scale = self.select((larger > 0.0) & (larger < math.inf), larger, 1.0)
        scaled_x, scaled_y = x / scale, y / scale
        norm = self.emit_unary("sqrt", scaled_x * scaled_x + scaled_y * scaled_y) * scale
        return self.select(x.same(math.inf) | y.same(math.inf), math.inf, norm)

    def divide(self, x: Any, y: Any) -> Term:
        """Divide integers, rounded towards 0."""
        return self.binary("divide", x, y)

    def remainder(self, x: Any, y: Any) -> Term:
        """Return the remainder of `divide`, which has the sign of `x`."""
        return self.binary("remainder", x, y)

    def is_nan(self, x: Term) -> Term:
        """Return where the elements are nan."""
        return self.compare("ne", x, x)

    def pair(self, real: Any, imag: Any) -> Term:
        """Return complex numbers of these parts."""
        return self.binary("complex", real, imag)

    def with_overflow(self, name: str, x: Any, y: Any) -> tuple[Term, Term]:
        """Return x + y, x - y or x·y in int64, and where it overflows."""
        x, y = self._broadcast_together(x, y)
        if name == "mul":
            result = x * y
            divisor = self.select(x.same(0), 1, x)
            quotient = self.binary("divide", result, self.select(divisor.same(-1), 1, divisor))
            is_overflow = self.select(divisor.same(-1), y.same(int64.min), quotient.differs(y))
            return result, x.differs(0) & is_overflow
        if name == "add":
            result = x + y
            return result, ((x ^ result) & (y ^ result)) < 0
        result = x - y
        return result, ((x ^ y) & (x ^ result)) < 0

    def fail_if(self, condition: Term) -> None:
        """Set the error word if the condition holds anywhere; one that is constant and false is left out."""
        if condition.constant_value == 0:
            return
        self.fail_where(condition)

    raise_if = fail_if

    def warn(self, error: str, condition: Term) -> None:
        """Ignore the condition: NumPy's warnings have no counterpart."""

    def reduce_any(self, x: Term) -> Term:
        """Return whether any element is true."""
        return self.reduce(x, range(x.rank), "or", start=False)

    def mark_rare(self, condition: Term) -> None:
        """Ignore operands for which native code calls the C library: the runtime has functions of its own."""


def _fold_integers(compute: Callable[[int, int], int] | None, x: Any, y: Any) -> int | None:
    """Return the result for two integer constants; None for other operands, and for an operation without a fold."""
    first, second = (operand.constant_value if isinstance(operand, Term) else operand for operand in (x, y))
    if compute is None or not isinstance(first, int) or not isinstance(second, int):
        return None
    return compute(first, second)


_INTEGER_FOLDS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
}  # fmt: skip
_CONDITION_FOLDS: dict[str, Callable[[int, int], int]] = {"and": operator.and_, "or": operator.or_}
# Scalar rules, used because vector rules round by (x + large) - large, which XLA simplifies to x.
_SCALAR_RULES: dict[str, Callable[[Any, Any], Any]] = {"erf": erf, "erfc": erfc}

# {LLVM's name: StableHLO's name}.
_INTRINSICS = {"fabs": "abs", "floor": "floor", "ceil": "ceil", "rint": "round_nearest_even", "sqrt": "sqrt"}

_INTEGER_DTYPE_OF_SIZE = {2: int16, 4: int32, 8: int64}  # by the number of bytes
