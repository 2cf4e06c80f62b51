"""Names of Python's operators: in the `operator` module, among ops, in NumPy and in CPython's C API."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from autoconv.lazy_dataclass import dataclass

SUM_COMPENSATES = sys.version_info >= (3, 12)
"""True if Python's `sum` adds, at the end, the rounding errors of its additions of floats."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator.

    name            in special methods, and the name of the function on Python objects: "add", "and"
    symbol          in source text
    tensor_op       the op on tensors
    number_op       the op on Python numbers, with Python's errors; None if there is none
    ufunc           NumPy's function
    c_api           the name of CPython's function without "PyNumber_"; of a comparison, its constant without "Py_"
    mirrored        the name of the comparison with exchanged operands
    """

    name: str
    symbol: str
    tensor_op: str
    number_op: str | None
    ufunc: str
    c_api: str
    mirrored: str = ""

    @property
    def method(self) -> str:
        """The special method of the first operand."""
        return f"__{self.name}__"

    @property
    def reflected(self) -> str:
        """The special method of the second operand."""
        return f"__{self.mirrored or 'r' + self.name}__"

    @property
    def in_place(self) -> str:
        """The name of the augmented assignment: "iadd"."""
        return f"i{self.name}"

    @property
    def function(self) -> Callable[..., Any]:
        """The function of the `operator` module."""
        function: Callable[..., Any] | None = getattr(operator, self.name, None)
        return function or getattr(operator, f"{self.name}_")  # type: ignore[no-any-return]

    @property
    def in_place_function(self) -> Callable[[Any, Any], Any]:
        """The function of the augmented assignment: `operator.iadd`."""
        return getattr(operator, self.in_place)  # type: ignore[no-any-return]


BINARY = (
    Operator("add", "+", "add", "python_add", "add", "Add"),
    Operator("sub", "-", "subtract", "python_subtract", "subtract", "Subtract"),
    Operator("mul", "*", "multiply", "python_multiply", "multiply", "Multiply"),
    Operator("truediv", "/", "divide", "python_divide", "true_divide", "TrueDivide"),
    Operator("floordiv", "//", "floor_divide", "python_floor_divide", "floor_divide", "FloorDivide"),
    Operator("mod", "%", "modulo", "python_modulo", "remainder", "Remainder"),
    Operator("pow", "**", "power", "python_power", "power", "Power"),
    Operator("matmul", "@", "matmul", None, "matmul", "MatrixMultiply"),
    Operator("lshift", "<<", "left_shift", "python_left_shift", "left_shift", "Lshift"),
    Operator("rshift", ">>", "right_shift", "python_right_shift", "right_shift", "Rshift"),
    Operator("and", "&", "bitwise_and", "python_and", "bitwise_and", "And"),
    Operator("or", "|", "bitwise_or", "python_or", "bitwise_or", "Or"),
    Operator("xor", "^", "bitwise_xor", "python_xor", "bitwise_xor", "Xor"),
)
COMPARISONS = (
    Operator("eq", "==", "equal", "python_equal", "equal", "EQ", "eq"),
    Operator("ne", "!=", "not_equal", "python_not_equal", "not_equal", "NE", "ne"),
    Operator("lt", "<", "less", "python_less", "less", "LT", "gt"),
    Operator("le", "<=", "less_equal", "python_less_equal", "less_equal", "LE", "ge"),
    Operator("gt", ">", "greater", "python_greater", "greater", "GT", "lt"),
    Operator("ge", ">=", "greater_equal", "python_greater_equal", "greater_equal", "GE", "le"),
)
UNARY = (
    Operator("neg", "-", "negative", "python_negative", "negative", "Negative"),
    Operator("abs", "abs()", "abs", "python_abs", "absolute", "Absolute"),
    Operator("invert", "~", "invert", "python_invert", "invert", "Invert"),
)
ARITHMETIC = BINARY[:7]  # + - * / // % **
BITWISE = BINARY[8:]  # << >> & | ^
OPERATORS = (*BINARY, *COMPARISONS, *UNARY)
OPERATOR_BY_NAME = {record.name: record for record in OPERATORS}
OPERATOR_BY_TENSOR_OP = {record.tensor_op: record for record in OPERATORS}
MIRRORED_BY_COMPARISON = {record.name: record.mirrored for record in COMPARISONS}
