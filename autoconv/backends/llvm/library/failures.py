"""Errors of a library in place of exceptions: an error code for each place, with its message.

A handler of the program catches the codes of the classes that its clause names. Codes without a class, such as that of
missing memory or of an integer that needs more than 64 bits, are no errors of the program: nothing catches them.
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
ERRORS, CAUGHT = "library_errors", "library_caught"  # tables: by code, the error, and whether handlers see it

Kind = type[BaseException] | None
Test = Callable[[ElementWriter, Sequence[Element]], Element]
Causes = tuple[tuple[type[BaseException], str, Test], ...]


class Failures:
    """The codes of a library's errors, in the order in which code was written; equal messages share a code."""

    def __init__(self) -> None:
        self._codes = {"out of memory": NO_MEMORY}
        self._kinds: list[Kind] = [None]
        self._clauses: list[tuple[Any, ...]] = []

    def code(self, message: str, kind: Kind = None) -> int:
        if message not in self._codes:
            self._codes[message] = len(self._codes) + 1
            self._kinds.append(kind)
        return self._codes[message]

    def match(self, clauses: tuple[Any, ...]) -> str:
        """Return the name of the table from a code to the number of the clause that catches it."""
        if clauses not in self._clauses:
            self._clauses.append(clauses)
        return f"library_match{self._clauses.index(clauses)}"

    @property
    def messages(self) -> list[str]:
        """The messages; the first one has the code 1."""
        return list(self._codes)

    def tables(self) -> list[str]:
        """Return the definitions of the tables, once all code is written."""
        kinds: list[Kind] = [None, *self._kinds]
        errors = ", ".join(f"{{ i64, i64 }} {{ i64 -1, i64 {code} }}" for code in range(len(kinds)))
        texts = [f"@{ERRORS} = constant [{len(kinds)} x {{ i64, i64 }}] [{errors}]"]
        texts.append(list_constant(CAUGHT, [int(kind is not None) for kind in kinds]))
        for clauses in self._clauses:
            numbers = [_clause_number(kind, clauses) for kind in kinds]
            texts.append(list_constant(self.match(clauses), numbers))
        return [text.replace("= internal constant", "= constant") for text in texts]


def _clause_number(kind: Kind, clauses: tuple[Any, ...]) -> int:
    if kind is None:
        return len(clauses)
    return next((i for i, one in enumerate(clauses) if issubclass(kind, one)), len(clauses))


def failure_of(node: Node, at: Node | None = None) -> tuple[str, Kind]:
    """Return what the program would raise in a node: the place, the exception, its text where it is constant.

    The class comes second. `at` is the node whose place it is, where that is another one.
    """
    kind, text = _reason(node)
    return add_place(at or node, text), kind


def add_place(node: Node, text: str) -> str:
    place = line_of(node.span)
    return f"{place}: {text}" if place else text


def line_of(span: Span | None) -> str:
    """Return `file:line`, without the folders of the file, which differ from machine to machine."""
    if span is None:
        return ""
    return f"{span.file.replace(chr(92), '/').rpartition('/')[2]}:{span.line}"


def _reason(node: Node) -> tuple[Kind, str]:
    name, attributes = node.op.name, node.attributes
    if name in ("raise", "object_exception"):
        error = attributes.get("exception", attributes.get("kind"))
        kind = type(error) if isinstance(error, BaseException) else error
        shown = getattr(kind, "__name__", "Exception")
        template = attributes.get("template")
        text = str(error) if isinstance(error, BaseException) else ""
        text = _fill_template(template) if template is not None else text
        return (kind if isinstance(kind, type) else None), f"{shown}: {text}" if text else shown
    if name == "assert_true":
        message = attributes.get("message", "")
        shown = message if isinstance(message, str) else _fill_template(message)
        return AssertionError, f"AssertionError: {shown}" if shown else "AssertionError"
    traits = node.op.traits
    if traits.indexing is not None or (traits.view and "spec" in attributes):
        return IndexError, "IndexError: index out of bounds"
    if traits.limited == "only":
        return None, f"OverflowError: {name} exceeds 64 bits"
    return None, f"{name} fails for these values" + (", or exceeds 64 bits" if traits.limited else "")


def _fill_template(template: Sequence[object]) -> str:
    """Return the text of a message, with `{}` for what is computed at run time."""
    return "".join(part if isinstance(part, str) else "{}" for part in template)


# ---- ops over numbers that fail for several reasons: what they raise where a test of the operands holds


def error_causes(node: Node) -> Causes:
    """Return the errors of Python's among the failures of a node over numbers; the first that holds is raised."""
    rule = CAUSES.get(node.op.name)
    return rule(node) if rule is not None else ()


CAUSES: RuleTable[Callable[[Node], Causes]] = RuleTable("what ops over numbers raise")


@CAUSES.of("python_divide", "python_floor_divide", "python_modulo")
def _of_quotients(node: Node) -> Causes:
    return ((ZeroDivisionError, "division by zero", lambda b, x: x[1].same(0)),)


@CAUSES.of("python_power")
def _of_powers(node: Node) -> Causes:
    text = "0.0 cannot be raised to a negative power"
    found: Causes = ((ZeroDivisionError, text, lambda b, x: x[0].same(0) & (x[1] < 0)),)
    if any(value.type.dtype.is_floating for value in node.inputs):  # type: ignore[union-attr]
        found += ((OverflowError, "(34, 'Numerical result out of range')", _has_real_power),)
    return found


@CAUSES.of("python_left_shift", "python_right_shift")
def _of_shifts(node: Node) -> Causes:
    return ((ValueError, "negative shift count", lambda b, x: x[1] < 0),)


@CAUSES.of("list_position")
def _of_positions(node: Node) -> Causes:
    return ((IndexOutOfRangeError, "the list has no such element", _is_any),)


@CAUSES.of("python_int")
def _of_conversions(node: Node) -> Causes:
    return (
        (ValueError, "cannot convert float NaN to integer", _is_nan),
        (OverflowError, "cannot convert float infinity to integer", _is_infinite),
    )


@CAUSES.of("python_math")
def _of_maths(node: Node) -> Causes:
    domain = (ValueError, "math domain error", _is_any)
    match node.attributes["function"]:
        case "exp" | "exp2" | "expm1" | "sinh" | "cosh":
            return ((OverflowError, "math range error", _is_any),)
        case "floor" | "ceil" | "trunc":
            return _of_conversions(node)
        case "pow":
            return ((OverflowError, "math range error", _has_real_power), domain)
        case "log" if len(node.inputs) == 2:
            return ((ZeroDivisionError, "float division by zero", lambda b, x: ~(x[0] <= 0) & x[1].same(1)), domain)
    return (domain,)


def _is_any(b: ElementWriter, x: Sequence[Element]) -> Element:
    return b.constant(True, bool_)


def _has_real_power(b: ElementWriter, x: Sequence[Element]) -> Element:
    """Return whether x to the y is a real number, if it is finite."""
    base, exponent = (b.cast(one, float64) for one in x)
    return (base > 0.0) | ((base < 0.0) & b.intrinsic("floor", exponent).same(exponent))


def _is_nan(b: ElementWriter, x: Sequence[Element]) -> Element:
    return x[0].differs(x[0]) if x[0].dtype.is_floating else b.constant(False, bool_)


def _is_infinite(b: ElementWriter, x: Sequence[Element]) -> Element:
    if not x[0].dtype.is_floating:
        return b.constant(False, bool_)
    return x[0].same(float("inf")) | x[0].same(float("-inf"))


__all__ = ["CAUGHT", "ERRORS", "NO_MEMORY", "Failures", "error_causes", "failure_of", "line_of", "add_place"]
