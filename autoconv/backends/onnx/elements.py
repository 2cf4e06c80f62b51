"""Elementwise operations as ONNX nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from autoconv.backends.onnx.nodes import DTYPES_COMPUTED_AS_INT64, NodeWriter
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.unfit import GraphUnfit
from autoconv.graph.dtypes import DType, bool_, float32, int8, int16, int32, int64, uint8, uint16, uint32, uint64

# {StableHLO's name, by which `Arrays` calls operations: ONNX's operator}.
_BINARY_OPERATORS = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow", "maximum": "Max",
    "minimum": "Min",
}  # fmt: skip
_UNARY_OPERATORS = {
    "abs": "Abs", "floor": "Floor", "ceil": "Ceil", "round_nearest_even": "Round", "sqrt": "Sqrt", "exponential": "Exp",
    "log": "Log", "sine": "Sin", "cosine": "Cos", "tanh": "Tanh", "sign": "Sign",
}  # fmt: skip
# {name in the C library: ONNX's operator}, of functions that runtimes of ONNX have for float32 only.
_FLOAT32_FUNCTIONS = {
    "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
    "erf": "Erf",
}  # fmt: skip
_COMPARISONS = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
_BITCAST_OPSET = 26  # the first version of ONNX's operators that has BitCast
_UNSIGNED_OF_SIGNED = {int8: uint8, int16: uint16, int32: uint32, int64: uint64}
_UNSIGNED_OF_SIZE = {dtype.size: dtype for dtype in _UNSIGNED_OF_SIGNED.values()}


class ElementWriter(NodeWriter):
    """A writer of elementwise functions: ONNX's operators, and compositions of them for functions that ONNX lacks."""

    runtime_functions: ClassVar[Mapping[str, str]] = {
        "exp": "exponential", "log": "log", "sin": "sine", "cos": "cosine", "tanh": "tanh",
    }  # fmt: skip

    def emit_unary(self, name: str, x: Term) -> Term:
        """Write a unary operation; functions that ONNX lacks are refused."""
        if name == "not":
            return self.emit("Not" if x.dtype.is_bool else "BitwiseNot", [x], x.dtype, x.shape)
        if name == "negate":
            if x.dtype.is_unsigned:
                return self.emit_cast(self.emit_unary("negate", self.emit_cast(x, int64)), x.dtype)
            return self.emit("Neg", [x], x.dtype, x.shape)
        if name in ("real", "imag"):
            position = self.constant(("real", "imag").index(name), int64)
            return self.emit("Gather", [self.as_pairs(x), position], x.dtype.real_dtype, x.shape, axis=x.rank)
        if name not in _UNARY_OPERATORS:
            raise GraphUnfit(name, "ONNX has no such function")
        return self.emit(_UNARY_OPERATORS[name], [x], x.dtype, x.shape)

    def emit_binary(self, name: str, x: Term, y: Term) -> Term:
        """Write a binary operation; narrow integers have their extremes and powers as int64."""
        dtype = x.dtype
        if name == "complex":
            columns = [
                self.emit("Unsqueeze", [part, self.integers([x.rank])], dtype, (*part.shape, 1)) for part in (x, y)
            ]
            return self.from_pairs(self.emit("Concat", columns, dtype, (*x.shape, 2), axis=x.rank))
        if name in ("and", "or", "xor"):
            op = name.capitalize() if dtype.is_bool else f"Bitwise{name.capitalize()}"
            return self.emit(op, [x, y], dtype, x.shape)
        if name.startswith("shift_"):
            return self._shift_bits(name, x, y)
        if name == "remainder":
            return self.emit("Mod", [x, y], dtype, x.shape, fmod=1)
        if name == "atan2":
            return self._atan2(x, y)
        if dtype is uint64 and name in ("maximum", "minimum"):
            return self.emit_select(self.emit_comparison("gt" if name == "maximum" else "lt", x, y), x, y)
        if dtype in DTYPES_COMPUTED_AS_INT64 and name in ("maximum", "minimum", "power"):
            return self.emit_cast(self.emit_binary(name, self.emit_cast(x, int64), self.emit_cast(y, int64)), dtype)
        return self.emit(_BINARY_OPERATORS[name], [x, y], dtype, x.shape)

    def _shift_bits(self, name: str, x: Term, y: Term) -> Term:
        """Shift bits; ONNX shifts unsigned numbers only, so signed ones are converted."""
        direction = "LEFT" if name == "shift_left" else "RIGHT"
        if x.dtype.is_unsigned:
            return self.emit("BitShift", [x, y], x.dtype, x.shape, direction=direction)
        unsigned_dtype = _UNSIGNED_OF_SIGNED[x.dtype]
        if name != "shift_right_arithmetic":
            shifted_x = self._shift_bits(name, self.emit_cast(x, unsigned_dtype), self.emit_cast(y, unsigned_dtype))
            return self.emit_cast(shifted_x, x.dtype)
        is_negative = self.compare("lt", x, 0)
        magnitude = self.emit_cast(self.emit_select(is_negative, ~x, x), unsigned_dtype)
        shifted_x = self._shift_bits(name, magnitude, self.emit_cast(y, unsigned_dtype))
        shifted_magnitude = self.emit_cast(shifted_x, x.dtype)
        return self.emit_select(is_negative, ~shifted_magnitude, shifted_magnitude)

    def _atan2(self, y: Term, x: Term) -> Term:
        """Compute the angle from the quotient of the smaller and the larger coordinate."""
        magnitude_x, magnitude_y = self.emit_unary("abs", x), self.emit_unary("abs", y)
        larger = self.emit_binary("maximum", magnitude_x, magnitude_y)
        smaller = self.emit_binary("minimum", magnitude_x, magnitude_y)
        are_both_infinite = larger.same(math.inf) & smaller.same(math.inf)
        ratio = self.select(are_both_infinite, 1.0, smaller / self.select(larger.same(0.0), 1.0, larger))
        angle = self.libm("atan", ratio)
        angle = self.select(magnitude_y > magnitude_x, math.pi / 2 - angle, angle)
        angle = self.select(self._is_negative(x), math.pi - angle, angle)
        angle_with_sign = self.intrinsic("copysign", angle, y)
        return self.select(self.is_nan(x) | self.is_nan(y), math.nan, angle_with_sign)

    def _is_negative(self, x: Term) -> Term:
        """Return where numbers are negative, -0.0 included."""
        return (x < 0.0) | (x.same(0.0) & (self.binary("divide", 1.0, x) < 0.0))

    def intrinsic(self, name: str, *operands: Any) -> Term:
        """Apply a function by LLVM's name; ONNX has no bits of floats, so the sign is copied by a choice."""
        if name != "copysign":
            return super().intrinsic(name, *operands)
        x, sign = self._broadcast_together(*operands)
        magnitude = self.emit_unary("abs", x)
        return self.emit_select(self._is_negative(sign), -magnitude, magnitude)

    def libm(self, name: str, *operands: Any) -> Term:
        """Compute a function that ONNX may lack for the dtype, such as expm1, from functions that it has."""
        x = operands[0]
        if name in _FLOAT32_FUNCTIONS and x.dtype is float32:
            return self.emit(_FLOAT32_FUNCTIONS[name], [x], x.dtype, x.shape)
        if name == "expm1":  # by Kahan's method: the error of exp(x) cancels
            exp = self.emit_unary("exponential", x)
            expm1 = exp - 1.0
            safe_exp = self.select(exp.same(1.0) | (expm1 <= -1.0) | ~(exp < math.inf), 2.0, exp)
            quotient = expm1 * (x / self.emit_unary("log", safe_exp))
            quotient = self.select((expm1 <= -1.0) | ~(exp < math.inf), expm1, quotient)
            return self.select(exp.same(1.0), x, quotient)
        if name == "log1p":
            total = x + 1.0
            safe_total = self.select(total.same(1.0) | ~(total < math.inf), 2.0, total)
            quotient = self.emit_unary("log", safe_total) * (x / (safe_total - 1.0))
            quotient = self.select(~(total < math.inf), total, quotient)
            return self.select(total.same(1.0), x, quotient)
        if name == "cbrt":
            magnitude = self.emit_unary("abs", x)
            root = self.binary("power", magnitude, 1 / 3)
            safe_root = self.select(root > 0.0, root, 1.0)
            newton_step = root - (root - magnitude / (safe_root * safe_root)) / 3.0
            root = self.select((root > 0.0) & (root < math.inf), newton_step, root)
            return self.intrinsic("copysign", root, x)
        if name == "tan":
            return self.emit_unary("sine", x) / self.emit_unary("cosine", x)
        return super().libm(name, *operands)

    def emit_comparison(self, test: str, x: Term, y: Term) -> Term:
        """Compare; bools in order as int32, and narrow integers as int64."""
        if test == "ne":
            return ~self.emit_comparison("eq", x, y)
        if x.dtype.is_bool and test != "eq":
            x, y = self.emit_cast(x, int32), self.emit_cast(y, int32)
        elif x.dtype in DTYPES_COMPUTED_AS_INT64 and x.dtype is not uint64:
            x, y = self.emit_cast(x, int64), self.emit_cast(y, int64)
        return self.emit(_COMPARISONS[test], [x, y], bool_, x.shape)

    def emit_select(self, condition: Term, x: Term, y: Term) -> Term:
        """Choose elements; narrow integers are chosen as int64, bools by logic."""
        if x.dtype.is_bool:
            return (condition & x) | (~condition & y)
        if x.dtype in DTYPES_COMPUTED_AS_INT64 and x.dtype is not uint8:
            int64_result = self.emit_select(condition, self.emit_cast(x, int64), self.emit_cast(y, int64))
            return self.emit_cast(int64_result, x.dtype)
        return self.emit("Where", [condition, x, y], x.dtype, x.shape)

    def emit_cast(self, x: Term, dtype: DType) -> Term:
        """Convert; constant integers remain constants. Complex numbers and strings are refused."""
        if x.dtype is dtype:
            return x
        if dtype.is_complex or dtype.is_string:
            raise GraphUnfit(dtype.name, "ONNX has no such elements")
        result = self.emit("Cast", [x], dtype, x.shape, to=dtype)
        if dtype.is_integer and x.dtype.is_integer:
            result.constant_value = x.constant_value
        return result

    def bitcast(self, x: Term, dtype: DType) -> Term:
        """Reinterpret the bits; a narrower dtype adds a last dimension, a wider one takes it."""
        if x.dtype is dtype:
            return x
        if x.dtype.is_integer and dtype.is_integer and x.dtype.size == dtype.size:
            return self.emit_cast(x, dtype)  # integers wrap
        if x.dtype.size > dtype.size:
            return self._split_bits(x, dtype)
        if x.dtype.size < dtype.size:
            return self._join_bits(x, dtype)
        self.opset = max(self.opset, _BITCAST_OPSET)
        return self.emit("BitCast", [x], dtype, x.shape, to=dtype)

    def _split_bits(self, x: Term, dtype: DType) -> Term:
        """Read the bits of each number as several smaller numbers, in a new last dimension, the lowest bits first."""
        bits, part_dtype = self.bitcast(x, _UNSIGNED_OF_SIZE[x.dtype.size]), _UNSIGNED_OF_SIZE[dtype.size]
        parts = []
        for i in range(x.dtype.size // dtype.size):
            part = self.bits("lshr", bits, 8 * dtype.size * i) & part_dtype.max
            parts.append(self.reshape(self.emit_cast(part, part_dtype), (*x.shape, 1), [*self.sizes(x), 1]))
        return self.bitcast(self.concatenate(parts, x.rank), dtype)

    def _join_bits(self, x: Term, dtype: DType) -> Term:
        """Read the bits of the numbers along the last dimension, the lowest bits first, as one larger number."""
        part_bits, result_dtype = self.bitcast(x, _UNSIGNED_OF_SIZE[x.dtype.size]), _UNSIGNED_OF_SIZE[dtype.size]
        total: Any = None
        for i in range(dtype.size // x.dtype.size):
            part = self.static_slice(part_bits, x.rank - 1, i, i + 1)
            number = self.emit_cast(self.reshape(part, x.shape[:-1], self.sizes(x)[:-1]), result_dtype)
            shifted_number = self.bits("shl", number, 8 * x.dtype.size * i)
            total = shifted_number if total is None else total | shifted_number
        return self.bitcast(total, dtype)
