"""Rules of Python's complex numbers, by the element rules of their parts.

The error word is set where Python raises, and also for infinite or nan operands of functions.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.writing import Rules
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node
from autoconv.ops.elements.python_complex import RULES as COMPLEX_RULES
from autoconv.ops.elementwise.python_complex import CMATH_WITH_BOOL_RESULT, FUNCTIONS_OF_REALS

# {op: key in `COMPLEX_RULES`}.
_RULE_OF_OP = {"python_multiply": "multiply", "python_divide": "divide", "python_abs": "abs"}


@lowers("python_add", "python_subtract", "python_multiply", "python_divide", "python_negative", "python_abs")
def arithmetic(writer: Rules, node: Node, *operands: Term) -> Term | None:
    """Apply the rule to the parts; None if all operands are real, which other rules take."""
    if not any(x.dtype.is_complex for x in operands):
        return None
    name, pairs = node.op.name, [_parts(writer, x) for x in operands]
    if name == "python_negative":
        ((real, imag),) = pairs
        return writer.pair(-real, -imag)
    if name in _RULE_OF_OP:
        return _apply(writer, _RULE_OF_OP[name], [part for pair in pairs for part in pair])
    (xr, xi), (yr, yi) = pairs
    return writer.pair(xr + yr, xi + yi) if name == "python_add" else writer.pair(xr - yr, xi - yi)


@lowers("python_cmath")
def cmath(writer: Rules, node: Node, *operands: Term) -> Term | None:
    """Apply the rule of a function of `cmath` to the parts of its operands."""
    function = node.attributes["function"]
    if function in FUNCTIONS_OF_REALS:
        return _apply(writer, function, [writer.cast(x, float64) for x in operands])
    if function == "log" and len(operands) == 2:
        logarithms = [_apply(writer, "log", _parts(writer, x)) for x in operands]
        return _apply(writer, "divide", [part for x in logarithms for part in _parts(writer, x)])
    parts = [part for x in operands for part in _parts(writer, x)]
    if function in CMATH_WITH_BOOL_RESULT:
        real_holds, imag_holds = (_test_part(writer, function, part) for part in parts)
        return real_holds & imag_holds if function == "isfinite" else real_holds | imag_holds
    return _apply(writer, function, parts) if function in COMPLEX_RULES else None


def power(writer: Rules, x: Term, y: Term) -> Term:
    """Raise complex numbers to a power."""
    if y.dtype.is_integer:
        return _apply(writer, "power_by_int", [*_parts(writer, x), *_parts(writer, y)])
    return _apply(writer, "power", [*_parts(writer, x), *_parts(writer, y)])


def _parts(writer: Rules, x: Term) -> tuple[Term, Term]:
    """Return the real and imaginary parts."""
    if x.dtype.is_complex:
        return writer.emit_unary("real", x), writer.emit_unary("imag", x)
    real = writer.cast(x, float64)
    return real, writer.fill_like(real, 0.0, float64)


def _apply(writer: Rules, function: str, real_numbers: Any) -> Term:
    """Apply the rule of a function to the real and imaginary part of each operand, in order."""
    result = COMPLEX_RULES[function](writer, *real_numbers)
    return writer.pair(*result) if isinstance(result, tuple) else result  # type: ignore[no-any-return]


def _test_part(writer: Rules, function: str, x: Term) -> Term:
    """Test the real or imaginary part of a number."""
    if function == "isnan":
        return writer.is_nan(x)
    magnitude = writer.emit_unary("abs", x)
    return magnitude < float("inf") if function == "isfinite" else magnitude.same(float("inf"))
