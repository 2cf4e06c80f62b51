"""Every error that a user can meet.

AutoconvError
├── SourceError                   a file cannot be read or parsed (exit code 3)
├── TargetError                   a function or file that was asked for is not there (exit code 2)
├── ConversionError               a construct that cannot be converted, with its place
│   └── UnsupportedError          … met while converting statically (exit code 1)
├── StagingError                  something that cannot become part of a graph, met while tracing
│   └── NotInGraphError           met while the graph runs; under `compile` the call is made again as plain Python
├── InternalError                 a fault of this package; raised with AUTOCONV_STRICT=1 alone, else plain Python runs
├── DonatedTensorError            (also a ValueError) a tensor is used that was given away with `donate=`
└── OpError                       an op failed, with TensorFlow's classes below
    ├── InvalidArgumentError      (also a ValueError)
    │   ├── IndexOutOfRangeError  (also an IndexError)
    │   │   └── ListReadError     (also an OutOfRangeError)
    │   └── AssertionFailedError  (also an AssertionError)
    ├── OutOfRangeError           the end of a sequence
    │   └── EndOfSequenceError    (also a StopIteration) an iterator over a dataset has no more elements
    ├── NotFoundError, UnimplementedError, FailedPreconditionError, DataLossError
ItemAssignmentError               a TypeError: an item of a tensor is assigned where the tensor cannot be replaced
OperatorNotAllowedInGraphError    a TypeError: a symbolic tensor used as a Python bool or iterated over
InaccessibleTensorError           a TypeError: a symbolic tensor used outside of the function that made it
IntegerLimitError                 an OverflowError: a Python int beyond the 64 bits of a graph
OtherKindError                    a ValueError: a Python number of another kind than the graph was recorded for
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

# Ends the qualified name of a function that conversion made of a part of the user's function.
REGION = ".<part>"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is in the user's source; columns count from 1, 0 is unknown."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    text: str = ""

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"

    def caret(self) -> str:
        """The source line and, where the column is known, a caret under the place."""
        if not self.text:
            return ""
        shown = self.text.rstrip("\n")
        stripped = shown.lstrip()
        if not self.column:
            return f"    {stripped}"
        offset = max(self.column - 1 - (len(shown) - len(stripped)), 0)
        width = max(self.end_column - self.column, 1) if self.end_column else 1
        return f"    {stripped}\n    {' ' * offset}{'^' * min(width, max(len(stripped) - offset, 1))}"


class AutoconvError(Exception):
    """`message` says what was found; `place` where in the user's source; `remedy` what to write instead."""

    def __init__(self, message: str, place: Place | None = None, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        lines = [f"{self.place}: {self.message}" if self.place else self.message]
        if self.place and self.place.caret():
            lines.append(self.place.caret())
        if self.remedy:
            lines.append(f"Write instead: {self.remedy}")
        return "\n".join(lines)


class SourceError(AutoconvError):
    """A file that cannot be read, decoded or parsed."""


class TargetError(AutoconvError):
    """A name or file that was asked for and is not there."""


class ConversionError(AutoconvError, ValueError):
    """Something that cannot be converted."""


class UnsupportedError(ConversionError):
    """A construct of the language that cannot be converted."""


class StagingError(AutoconvError, TypeError):
    """Something that cannot become part of a graph, met while a function was traced."""


class NotInGraphError(StagingError):
    """What a running graph cannot do by itself; under `compile` the call is made again as plain Python."""


class InternalError(AutoconvError):
    """This package failed where the program is sound. Raised with AUTOCONV_STRICT=1, from the error itself; without,
    the call runs as plain Python and `explain()` shows the error with its place."""


class DonatedTensorError(AutoconvError, ValueError):
    """A tensor is used that was donated to a call before."""


class ItemAssignmentError(TypeError):
    """An item of a tensor is assigned, which cannot be changed; converted code replaces the tensor instead."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor was used where Python needs a value now: as a bool, or to iterate over."""


class InaccessibleTensorError(TypeError, ValueError):
    """A symbolic tensor was used outside of the function or branch that made it."""


class OpError(AutoconvError):
    """An op failed while it ran; `error_code` is TensorFlow's number for the class. `plain` is what NumPy raises in its
    place, where that is known: programs under `compile` raise it."""

    error_code = 2
    plain: Exception | None = None

    def in_place_of(self, plain: Exception) -> Self:
        """The error, which says what NumPy raises there."""
        self.plain = plain
        return self

    def name_op(self, op: str) -> None:
        """Adds which op failed to the message, unless that says so already or an assertion speaks for itself."""
        if "[Op:" not in self.message and not isinstance(self, AssertionError):
            self.message = f"{self.message} [Op:{op}]"
            self.args = (self.message, *self.args[1:])


class InvalidArgumentError(OpError, ValueError):
    error_code = 3


class IndexOutOfRangeError(InvalidArgumentError, IndexError):
    """An index outside of the dimension it is for."""


class AssertionFailedError(InvalidArgumentError, AssertionError):
    """A condition that was asserted did not hold."""


class NotFoundError(OpError, KeyError):
    error_code = 5

    __str__ = AutoconvError.__str__


class FailedPreconditionError(OpError):
    error_code = 9


class OutOfRangeError(OpError):
    """The end of a sequence."""

    error_code = 11


class DataLossError(OpError):
    """A file that is not what it says it is."""

    error_code = 15


class EndOfSequenceError(OutOfRangeError, StopIteration):
    """An iterator over a dataset has no more elements."""


class UnimplementedError(OpError, NotImplementedError):
    error_code = 12


class ListReadError(OutOfRangeError, IndexOutOfRangeError):
    """A list was read, or written, where it has no element: an IndexError, as for Python's lists."""


class IntegerLimitError(OverflowError):
    """A Python int that the 64 bits of a graph do not hold."""


class OtherKindError(ValueError):
    """A Python number of another kind than the graph was recorded for."""
