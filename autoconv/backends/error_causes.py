"""The exceptions that nodes raise: classes, messages, and tests of operands, for code that has error codes instead.

A handler of the program catches the codes of the classes that its clause names. Codes without a class are not errors of
the program, and nothing catches them: those for missing memory, and for integers of more than 64 bits.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autoconv.errors import FailedPreconditionError, IndexOutOfRangeError, InvalidArgumentError
from autoconv.graph.dtypes import bool_, float64
from autoconv.graph.graph import Node, Span
from autoconv.ops.control.checks import NUMPY_ERRORS
from autoconv.ops.rule_table import RuleTable

ErrorClass = type[BaseException] | None
# Kind of failure of `assert_true` -> exception class. Other kinds have none: they are no errors of the program.
_ASSERTION_CLASSES: dict[str, ErrorClass] = {
    "assert": AssertionError, "check": InvalidArgumentError, "precondition": FailedPreconditionError,
    **NUMPY_ERRORS,
}  # fmt: skip
Test = Callable[[Any, Sequence[Any]], Any]  # (writer of elements `b`, operands `x`) -> condition, as an element


class Cause(NamedTuple):
    """A reason for which an op fails: the class and the message of Python's exception, and a test of the operands."""

    error_class: type[BaseException]
    message: str
    test: Test


Causes = tuple[Cause, ...]


class NodeError(NamedTuple):
    """The message and the class of the exception that a node raises; None for an error of no class."""

    message: str
    error_class: ErrorClass


def clause_number(error_class: ErrorClass, clauses: tuple[Any, ...]) -> int:
    """Return the position of the clause that catches errors of a class, or the number of clauses if none does."""
    if error_class is None:
        return len(clauses)
    return next((i for i, clause in enumerate(clauses) if issubclass(error_class, clause)), len(clauses))


def error_of_node(node: Node, located_node: Node | None = None) -> NodeError:
    """Return the exception that a node raises; its message begins with the location of `located_node`, or of the node.
    """
    error = _error_without_location(node)
    return NodeError(add_location(located_node or node, error.message), error.error_class)


def add_location(node: Node, text: str) -> str:
    """Return a message with the node's location in front."""
    location = location_of(node.span)
    return f"{location}: {text}" if location else text


def location_of(span: Span | None) -> str:
    """Return `file:line` without folders, which differ between machines; "" without a span."""
    if span is None:
        return ""
    return f"{span.file.replace(chr(92), '/').rpartition('/')[2]}:{span.line}"


def _error_without_location(node: Node) -> NodeError:
    """Return the exception that a node raises."""
    name, attributes = node.op.name, node.attributes
    if name in ("raise", "object_exception"):
        error = attributes["exception"]
        error_class = type(error) if isinstance(error, BaseException) else error
        class_name = getattr(error_class, "__name__", "Exception")
        template = attributes.get("template")
        text = str(error) if isinstance(error, BaseException) else ""
        text = _fill_template(template) if template is not None else text
        message = f"{class_name}: {text}" if text else class_name
        return NodeError(message, error_class if isinstance(error_class, type) else None)
    if name == "assert_true":
        message = attributes.get("message", "")
        text = message if isinstance(message, str) else _fill_template(message)
        assertion_class = _ASSERTION_CLASSES.get(attributes.get("failure", "assert"))
        class_name = getattr(assertion_class, "__name__", "AssertionError")
        return NodeError(f"{class_name}: {text}" if text else class_name, assertion_class)
    if name == "array_new":
        return NodeError("ValueError: negative dimensions are not allowed", ValueError)
    if message := _message_of_sizes(name):
        return NodeError(f"ValueError: {message}", _class_of_sizes(node))
    traits = node.op.traits
    if traits.indexing is not None or name == "reduceat" or (traits.view and "spec" in attributes):
        return NodeError("IndexError: index out of bounds", IndexError)
    if name in ("number_sizes", "range_size"):
        return NodeError("the array is too large", None)
    if traits.overflow_error == "only":
        return NodeError(f"OverflowError: {name} exceeds 64 bits", None)
    return NodeError(f"{name} fails for these values" + (", or exceeds 64 bits" if traits.overflow_error else ""), None)


def _message_of_sizes(op: str) -> str:
    """Return NumPy's message for sizes that do not fit, without their numbers; "" for other ops."""
    match op:
        case "broadcast_to" | "eye" | "fill":
            return "negative dimensions are not allowed"
        case "repeat":
            return "repeats may not contain negative values."
        case "reshape" | "reshape_sizes":
            return "the elements do not fit the new shape"
        case "common_sizes" | "numpy_shapes":
            return "operands could not be broadcast together"
        case "some_elements" | "numpy_max" | "numpy_min" | "numpy_argmax" | "numpy_argmin":
            return "zero-size array to a reduction without an identity"
    return ""


def _class_of_sizes(node: Node) -> type[BaseException]:
    """Return NumPy's class of errors of sizes, or that of tensors, which is a subclass of it."""
    return ValueError if node.span is not None and node.span.has_plain_errors else InvalidArgumentError


def _fill_template(template: Sequence[object]) -> str:
    """Return the text of a message, with `{}` for parts that are computed at run time."""
    return "".join(part if isinstance(part, str) else "{}" for part in template)


# ---- errors of ops over numbers that fail for several reasons, with tests of the operands


def error_causes(node: Node) -> Causes:
    """Return Python's errors of a node over numbers, with tests; the first one whose test holds is raised."""
    rule = CAUSES.get(node.op.name)
    return rule(node) if rule is not None else ()


CAUSES: RuleTable[Callable[[Node], Causes]] = RuleTable("rule for the errors of ops over numbers")


@CAUSES.of("python_divide", "python_floor_divide", "python_modulo")
def _quotient_causes(node: Node) -> Causes:
    """Return the cause of a failed division: by zero."""
    return (Cause(ZeroDivisionError, "division by zero", lambda b, x: x[1].same(0)),)


@CAUSES.of("python_power")
def _power_causes(node: Node) -> Causes:
    """Return the causes of a failed power: zero to a negative exponent, or a result that is too large."""
    text = "0.0 cannot be raised to a negative power"
    causes: Causes = (Cause(ZeroDivisionError, text, lambda b, x: x[0].same(0) & (x[1] < 0)),)
    if any(value.type.dtype.is_floating for value in node.inputs):  # type: ignore[union-attr]
        causes += (Cause(OverflowError, "(34, 'Numerical result out of range')", _has_real_power),)
    return causes


@CAUSES.of("python_left_shift", "python_right_shift")
def _shift_causes(node: Node) -> Causes:
    """Return the cause of a failed shift: by a negative count."""
    return (Cause(ValueError, "negative shift count", lambda b, x: x[1] < 0),)


@CAUSES.of("number_sizes")
def _sizes_causes(node: Node) -> Causes:
    """Return the cause of sizes that fail: a negative one."""
    return (Cause(_class_of_sizes(node), "negative dimensions are not allowed", _has_negative),)


@CAUSES.of("range_size", "range")
def _range_causes(node: Node) -> Causes:
    """Return the cause of a failed range: a step of 0."""
    error_class = ZeroDivisionError if node.span is not None and node.span.has_plain_errors else InvalidArgumentError
    return (Cause(error_class, "division by zero", lambda b, x: x[2].same(0)),)


@CAUSES.of("list_position")
def _position_causes(node: Node) -> Causes:
    """Return the cause of a position in a list that is out of range."""
    return (Cause(IndexOutOfRangeError, "the list has no such element", _always),)


@CAUSES.of("python_int")
def _conversion_causes(node: Node) -> Causes:
    """Return the causes of a failed conversion to an integer: nan and infinities."""
    return (
        Cause(ValueError, "cannot convert float NaN to integer", _is_nan),
        Cause(OverflowError, "cannot convert float infinity to integer", _is_infinite),
    )


@CAUSES.of("python_math")
def _math_causes(node: Node) -> Causes:
    """Return the causes of a failed call of a function of the module math."""
    domain = Cause(ValueError, "math domain error", _always)
    match node.attributes["function"]:
        case "exp" | "exp2" | "expm1" | "sinh" | "cosh" | "ldexp":
            return (Cause(OverflowError, "math range error", _always),)
        case "floor" | "ceil" | "trunc":
            return _conversion_causes(node)
        case "gcd" | "lcm":
            return ()
        case "isqrt":
            return (Cause(ValueError, "isqrt() argument must be nonnegative", _has_negative),)
        case "gamma" | "lgamma":
            return (Cause(OverflowError, "math range error", _is_no_pole), domain)
        case "comb" | "perm" if len(node.inputs) == 2:
            return tuple(
                Cause(ValueError, f"{name} must be a non-negative integer", functools.partial(_is_negative, position=i))
                for i, name in enumerate("nk")
            )
        case "hypot":
            return ()
        case "factorial" | "perm":
            return (Cause(ValueError, "factorial() not defined for negative values", _has_negative),)
        case "pow":
            return (Cause(OverflowError, "math range error", _has_real_power), domain)
        case "log" if len(node.inputs) == 2:
            base_is_one = Cause(ZeroDivisionError, "float division by zero", lambda b, x: ~(x[0] <= 0) & x[1].same(1))
            return (base_is_one, domain)
    return (domain,)


def _has_negative(b: Any, x: Sequence[Any]) -> Any:
    """Condition of a cause: an operand is negative."""
    return functools.reduce(operator.or_, (number < 0 for number in x))


def _is_negative(b: Any, x: Sequence[Any], position: int) -> Any:
    """Condition of a cause: the operand at a position is negative."""
    return x[position] < 0


def _is_no_pole(b: Any, x: Sequence[Any]) -> Any:
    """Condition of a cause: the operand is no pole of the gamma function."""
    number = b.cast(x[0], float64)
    return (number > 0.0) | number.differs(b.intrinsic("floor", number))


def _always(b: Any, x: Sequence[Any]) -> Any:
    """Condition of a cause that remains if the tests before it do not hold."""
    return b.constant(True, bool_)


def _has_real_power(b: Any, x: Sequence[Any]) -> Any:
    """Condition of a cause: the power is a real number, so that only an overflow makes the op fail."""
    base, exponent = (b.cast(number, float64) for number in x)
    return (base > 0.0) | ((base < 0.0) & b.intrinsic("floor", exponent).same(exponent))


def _is_nan(b: Any, x: Sequence[Any]) -> Any:
    """Condition of a cause: the first operand is nan."""
    return x[0].differs(x[0]) if x[0].dtype.is_floating else b.constant(False, bool_)


def _is_infinite(b: Any, x: Sequence[Any]) -> Any:
    """Condition of a cause: the first operand is an infinity."""
    if not x[0].dtype.is_floating:
        return b.constant(False, bool_)
    return x[0].same(float("inf")) | x[0].same(float("-inf"))
