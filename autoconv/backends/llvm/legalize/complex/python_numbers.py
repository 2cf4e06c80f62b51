"""Rules that `split_complex` applies: ops on Python's complex numbers, in terms of real and imaginary parts.

Each of the operands `x` is a pair (real, imaginary), or a value if it is real; its imaginary part is 0.0 then. A rule
returns None if it does not fit: the op runs by its kernel. An op that may raise becomes two ops `python_complex_part`.
Each computes the whole result and returns one part; LLVM merges the computations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.llvm.legalize.complex.parts import Rule, dtype_of
from autoconv.graph.dtypes import bool_, float64
from autoconv.graph.graph import Node, Value
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.elements.python_complex import PYTHON_USES_TEXTBOOK_FORMULAS
from autoconv.ops.elementwise.python_complex import CMATH_WITH_BOOL_RESULT, CMATH_WITH_FLOAT_RESULT, FUNCTIONS_OF_REALS


def _zero(b: GraphBuilder) -> Any:
    """Return the Python float 0.0."""
    return b.constant(value=np.array(0.0), weak=True)


def _real(b: GraphBuilder, x: Value) -> Any:
    """Return a real number as a Python float."""
    return x if dtype_of(x) is float64 else b.python_cast(x, dtype=float64, weak=True)


def _pair(b: GraphBuilder, x: Any) -> tuple[Any, Any]:
    """Return the parts of an operand, which may be a real number."""
    return x if isinstance(x, tuple) else (_real(b, x), _zero(b))


def _rule_by_part(name: str) -> Rule:
    """Return the rule that applies an op to each part, as in Python after both operands are converted to complex."""

    def rule(b: GraphBuilder, node: Node, x: Any) -> Any:
        if not PYTHON_USES_TEXTBOOK_FORMULAS:
            return None
        pairs = [_pair(b, operand) for operand in x]
        return tuple(getattr(b, name)(*parts) for parts in zip(*pairs, strict=True))

    return rule


def _multiply(b: GraphBuilder, node: Node, x: Any) -> Any:
    """Multiply by the textbook formula, as Python does; None if this Python has another one."""
    if not PYTHON_USES_TEXTBOOK_FORMULAS:
        return None
    (xr, xi), (yr, yi) = (_pair(b, operand) for operand in x)
    real = b.python_subtract(b.python_multiply(xr, yr), b.python_multiply(xi, yi))
    return real, b.python_add(b.python_multiply(xr, yi), b.python_multiply(xi, yr))


def _checked_rule(function: str) -> Rule:
    """Return the rule of a function that may raise. For a float result, such as that of abs, it gives one value."""

    def rule(b: GraphBuilder, node: Node, x: Any) -> Any:
        return _checked_parts(b, node, function, [part for operand in x for part in _pair(b, operand)])

    return rule


def _checked_parts(b: GraphBuilder, node: Node, function: str, operands: list[Any]) -> Any:
    """Return the parts of Python's textbook formulas, which raise on overflow.

    None if this Python has other formulas.
    """
    if not PYTHON_USES_TEXTBOOK_FORMULAS:
        return None

    def part(name: str) -> Any:
        return b.python_complex_part(*operands, function=function, part_name=name)

    return (part("real"), part("imag")) if dtype_of(node.results[0]).is_complex else part("real")


def _power(b: GraphBuilder, node: Node, x: Any) -> Any:
    """Raise to a power; integer exponents that are ints, or small constants, are powers by multiplication."""
    is_real = not isinstance(x[1], tuple)
    has_int_exponent = is_real and (dtype_of(x[1]) is not float64 or _is_small_integer(node.inputs[1]))
    return _checked_rule("power_by_int" if has_int_exponent else "power")(b, node, x)


def _is_small_integer(exponent: Value) -> bool:
    """Return whether an exponent is a constant integer of at most 100 in magnitude."""
    if exponent.node is None or exponent.node.op.name != "constant":
        return False
    number = float(exponent.node.attributes["value"])
    return abs(number) <= 100 and number.is_integer()


def _comparison(name: str, combine: str) -> Rule:
    """Return the rule that compares the parts; an int operand is compared exactly, not as a float."""

    def rule(b: GraphBuilder, node: Node, x: Any) -> Any:
        (xr, xi), (yr, yi) = (operand if isinstance(operand, tuple) else (operand, _zero(b)) for operand in x)
        return getattr(b, combine)(getattr(b, name)(xr, yr), getattr(b, name)(xi, yi))

    return rule


def _is_nonzero(b: GraphBuilder, node: Node, x: Any) -> Any:
    """Return whether a part is not 0."""
    return b.python_or(*(b.python_not_equal(part, _zero(b)) for part in x[0]))


def _cast(b: GraphBuilder, node: Node, x: Any) -> Any:
    """Return the parts of the converted number; to bool, whether it is nonzero.

    None for targets that need the kernel.
    """
    target, weak = node.attributes["dtype"], node.attributes.get("weak", False)
    if target is bool_:
        return _is_nonzero(b, node, x)
    if not target.is_complex:
        return None
    return tuple(b.python_cast(part, dtype=target.real_dtype, weak=weak) for part in _pair(b, x[0]))


def _cmath(b: GraphBuilder, node: Node, x: Any) -> Any:
    """Apply a function of `cmath`; log with a base, and functions without a rule, run by the kernel."""
    function = node.attributes["function"]
    if function in FUNCTIONS_OF_REALS:
        return _checked_parts(b, node, function, [_real(b, operand) for operand in x])
    if len(x) > 1:
        return None
    if function in CMATH_WITH_BOOL_RESULT:
        tests = [getattr(b, _OP_OF_TEST[function])(part) for part in _pair(b, x[0])]
        combined_test = getattr(b, "logical_and" if function == "isfinite" else "logical_or")(*tests)
        return b.python_cast(combined_test, dtype=bool_, weak=True)
    has_rule = function in CMATH_WITH_FLOAT_RESULT or function in _CHECKED_CMATH
    return _checked_rule(function)(b, node, x) if has_rule else None


_OP_OF_TEST = {"isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite"}
_CHECKED_CMATH = frozenset({
    "sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh",
    "acosh", "atanh",
})  # fmt: skip

PYTHON_RULE_BY_OP: dict[str, Rule] = {
    "python_add": _rule_by_part("python_add"), "python_subtract": _rule_by_part("python_subtract"),
    "python_negative": _rule_by_part("python_negative"), "python_multiply": _multiply,
    "python_divide": _checked_rule("divide"), "python_abs": _checked_rule("abs"), "python_power": _power,
    "python_equal": _comparison("python_equal", "python_and"),
    "python_not_equal": _comparison("python_not_equal", "python_or"), "python_bool": _is_nonzero, "python_cast": _cast,
    "python_cmath": _cmath,
}  # fmt: skip
