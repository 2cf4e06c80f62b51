"""Error codes of a C library in place of exceptions: a code with a message for each place that may fail.

A handler of the program catches the codes of the classes that its clause names. Codes without a class are not errors of
the program, and nothing catches them: those for missing memory, and for integers of more than 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.ir.constants import list_constant
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.errors import IndexOutOfRangeError
from autoconv.graph.dtypes import bool_, float64
from autoconv.graph.graph import Node, Span
from autoconv.ops.rule_table import RuleTable

NO_MEMORY = 1
ERRORS, CAUGHT = "library_errors", "library_caught"  # tables by code: the error, and whether handlers may catch it

ErrorClass = type[BaseException] | None
Test = Callable[[ElementWriter, Sequence[Element]], Element]
Causes = tuple[tuple[type[BaseException], str, Test], ...]


class Failures:
    """The codes of a library's errors, in the order of their registration; equal messages share a code."""

    def __init__(self) -> None:
        self._codes = {"out of memory": NO_MEMORY}
        self._classes: list[ErrorClass] = [None]
        self._clauses: list[tuple[Any, ...]] = []

    def code(self, message: str, error_class: ErrorClass = None) -> int:
        if message not in self._codes:
            self._codes[message] = len(self._codes) + 1
            self._classes.append(error_class)
        return self._codes[message]

    def match_table(self, clauses: tuple[Any, ...]) -> str:
        """Return the name of the table that maps a code to the number of the clause that catches it."""
        if clauses not in self._clauses:
            self._clauses.append(clauses)
        return f"library_match{self._clauses.index(clauses)}"

    @property
    def messages(self) -> list[str]:
        """The messages; the first one has the code 1."""
        return list(self._codes)

    def tables(self) -> list[str]:
        """Return the definitions of the tables, after all code is written."""
        classes: list[ErrorClass] = [None, *self._classes]
        errors = ", ".join(f"{{ i64, i64 }} {{ i64 -1, i64 {code} }}" for code in range(len(classes)))
        texts = [f"@{ERRORS} = constant [{len(classes)} x {{ i64, i64 }}] [{errors}]"]
        texts.append(list_constant(CAUGHT, [int(error_class is not None) for error_class in classes]))
        for clauses in self._clauses:
            numbers = [_clause_number(error_class, clauses) for error_class in classes]
            texts.append(list_constant(self.match_table(clauses), numbers))
        return [text.replace("= internal constant", "= constant") for text in texts]


def _clause_number(error_class: ErrorClass, clauses: tuple[Any, ...]) -> int:
    if error_class is None:
        return len(clauses)
    return next((i for i, clause in enumerate(clauses) if issubclass(error_class, clause)), len(clauses))


def message_and_class(node: Node, located_node: Node | None = None) -> tuple[str, ErrorClass]:
    """Return the message of the exception that a node raises, with its location, and the exception's class.

    `located_node` is the node with the location, if that is another one.
    """
    error_class, text = _class_and_text(node)
    return add_location(located_node or node, text), error_class


def add_location(node: Node, text: str) -> str:
    location = location_of(node.span)
    return f"{location}: {text}" if location else text


def location_of(span: Span | None) -> str:
    """Return `file:line` without folders, which differ between machines; "" without a span."""
    if span is None:
        return ""
    return f"{span.file.replace(chr(92), '/').rpartition('/')[2]}:{span.line}"


def _class_and_text(node: Node) -> tuple[ErrorClass, str]:
    name, attributes = node.op.name, node.attributes
    if name in ("raise", "object_exception"):
        error = attributes.get("exception", attributes.get("kind"))
        error_class = type(error) if isinstance(error, BaseException) else error
        class_name = getattr(error_class, "__name__", "Exception")
        template = attributes.get("template")
        text = str(error) if isinstance(error, BaseException) else ""
        text = _fill_template(template) if template is not None else text
        message = f"{class_name}: {text}" if text else class_name
        return (error_class if isinstance(error_class, type) else None), message
    if name == "assert_true":
        message = attributes.get("message", "")
        text = message if isinstance(message, str) else _fill_template(message)
        return AssertionError, f"AssertionError: {text}" if text else "AssertionError"
    traits = node.op.traits
    if traits.indexing is not None or (traits.view and "spec" in attributes):
        return IndexError, "IndexError: index out of bounds"
    if traits.overflow_error == "only":
        return None, f"OverflowError: {name} exceeds 64 bits"
    return None, f"{name} fails for these values" + (", or exceeds 64 bits" if traits.overflow_error else "")


def _fill_template(template: Sequence[object]) -> str:
    """Return the text of a message, with `{}` for parts that are computed at run time."""
    return "".join(part if isinstance(part, str) else "{}" for part in template)


# ---- errors of ops over numbers that fail for several reasons, with tests of the operands


def error_causes(node: Node) -> Causes:
    """Return Python's errors of a node over numbers, with tests; the first one whose test holds is raised."""
    rule = CAUSES.get(node.op.name)
    return rule(node) if rule is not None else ()


CAUSES: RuleTable[Callable[[Node], Causes]] = RuleTable("what ops over numbers raise")


@CAUSES.of("python_divide", "python_floor_divide", "python_modulo")
def _quotient_causes(node: Node) -> Causes:
    return ((ZeroDivisionError, "division by zero", lambda b, x: x[1].same(0)),)


@CAUSES.of("python_power")
def _power_causes(node: Node) -> Causes:
    text = "0.0 cannot be raised to a negative power"
    causes: Causes = ((ZeroDivisionError, text, lambda b, x: x[0].same(0) & (x[1] < 0)),)
    if any(value.type.dtype.is_floating for value in node.inputs):  # type: ignore[union-attr]
        causes += ((OverflowError, "(34, 'Numerical result out of range')", _has_real_power),)
    return causes


@CAUSES.of("python_left_shift", "python_right_shift")
def _shift_causes(node: Node) -> Causes:
    return ((ValueError, "negative shift count", lambda b, x: x[1] < 0),)


@CAUSES.of("list_position")
def _position_causes(node: Node) -> Causes:
    return ((IndexOutOfRangeError, "the list has no such element", _always),)


@CAUSES.of("python_int")
def _conversion_causes(node: Node) -> Causes:
    return (
        (ValueError, "cannot convert float NaN to integer", _is_nan),
        (OverflowError, "cannot convert float infinity to integer", _is_infinite),
    )


@CAUSES.of("python_math")
def _math_causes(node: Node) -> Causes:
    domain = (ValueError, "math domain error", _always)
    match node.attributes["function"]:
        case "exp" | "exp2" | "expm1" | "sinh" | "cosh":
            return ((OverflowError, "math range error", _always),)
        case "floor" | "ceil" | "trunc":
            return _conversion_causes(node)
        case "pow":
            return ((OverflowError, "math range error", _has_real_power), domain)
        case "log" if len(node.inputs) == 2:
            return ((ZeroDivisionError, "float division by zero", lambda b, x: ~(x[0] <= 0) & x[1].same(1)), domain)
    return (domain,)


def _always(b: ElementWriter, x: Sequence[Element]) -> Element:
    return b.constant(True, bool_)


def _has_real_power(b: ElementWriter, x: Sequence[Element]) -> Element:
    """Return whether x to the power of y is a real number, unless it is infinite."""
    base, exponent = (b.cast(number, float64) for number in x)
    return (base > 0.0) | ((base < 0.0) & b.intrinsic("floor", exponent).same(exponent))


def _is_nan(b: ElementWriter, x: Sequence[Element]) -> Element:
    return x[0].differs(x[0]) if x[0].dtype.is_floating else b.constant(False, bool_)


def _is_infinite(b: ElementWriter, x: Sequence[Element]) -> Element:
    if not x[0].dtype.is_floating:
        return b.constant(False, bool_)
    return x[0].same(float("inf")) | x[0].same(float("-inf"))


__all__ = [
    "CAUGHT", "ERRORS", "NO_MEMORY", "Failures", "add_location", "error_causes", "message_and_class", "location_of",
]  # fmt: skip
