"""Error codes of a C library in place of exceptions: a code with a message for each place that may fail.

A handler of the program catches the codes of the classes that its clause names. Codes without a class are not errors of
the program, and nothing catches them: those for missing memory, and for integers of more than 64 bits.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.error_causes import ErrorClass, clause_number
from autoconv.backends.llvm.ir.constants import list_constant

NO_MEMORY = 1  # the code for missing memory
# Tables by code: the error, and whether handlers may catch it. An error is a pair: the reference count -1 of an
# immortal object, and the code.
ERRORS, CATCHABLE = "library_errors", "library_caught"


class Failures:
    """The codes of a library's errors, in the order of their registration; equal messages share a code."""

    def __init__(self) -> None:
        self._codes = {"out of memory": NO_MEMORY}
        self._classes: list[ErrorClass] = [None]  # classes of the codes from 1 on; NO_MEMORY has none
        self._clauses: list[tuple[Any, ...]] = []

    def code(self, message: str, error_class: ErrorClass = None) -> int:
        """Return the code of a message, a new one for a new message."""
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
        classes: list[ErrorClass] = [None, *self._classes]  # the first one is that of the code 0, no failure
        errors = ", ".join(f"{{ i64, i64 }} {{ i64 -1, i64 {code} }}" for code in range(len(classes)))
        texts = [f"@{ERRORS} = constant [{len(classes)} x {{ i64, i64 }}] [{errors}]"]
        texts.append(list_constant(CATCHABLE, [int(error_class is not None) for error_class in classes]))
        for clauses in self._clauses:
            numbers = [clause_number(error_class, clauses) for error_class in classes]
            texts.append(list_constant(self.match_table(clauses), numbers))
        return [text.replace("= internal constant", "= constant") for text in texts]  # texts of graphs refer to these
