"""Every error that a user can meet.

AutoconvError
├── SourceError                   a file cannot be read or parsed (exit code 3)
├── TargetError                   a request names something that does not exist or cannot be used (exit code 2)
├── ConversionError               a construct that cannot be converted, with its place
│   └── UnsupportedError          the same, for a construct of the language (exit code 1)
├── StagingError                  something that cannot become part of a graph, met while tracing
│   └── NotInGraphError           met while a graph runs; `compile` repeats the call as plain Python
├── InternalError                 a fault of this package; raised only with AUTOCONV_STRICT=1; else plain Python runs
├── DonatedTensorError            (also a ValueError) a tensor is used after it was donated (`donate=`)
└── OpError                       an op failed, with TensorFlow's classes below
    ├── InvalidArgumentError      (also a ValueError)
    │   ├── IndexOutOfRangeError  (also an IndexError)
    │   │   └── ListReadError     (also an OutOfRangeError)
    │   ├── AssertionFailedError  (also an AssertionError)
    │   ├── GraphOnlyError        NumPy's error is not known: `compile` repeats the call as plain Python
    │   ├── TypeRuleError         the type rule of an op refuses a shape
    │   └── DtypeError            (also a TypeError) an op does not take an operand's dtype; TypeError in a generator
    │       ├── UnconvertibleError     a value of Python does not take the dtype of the tensor that it meets
    │       ├── MissingKernelError     (also a NotFoundError) an op has no kernel for a dtype that it accepts
    │       └── TensorConversionError  a tensor has another dtype than requested
    ├── OutOfRangeError           the end of a sequence
    │   └── EndOfSequenceError    (also a StopIteration) an iterator over a dataset has no more elements
    ├── UnavailableError          a process of a cluster cannot be reached or was lost
    ├── UnimplementedError
    │   └── UnsupportedCastError  (also a TypeError) a tensor cannot be cast to the dtype
    ├── NotFoundError, FailedPreconditionError, DataLossError
    ├── UnknownError              a Python function that a graph calls raised another error
    ├── CancelledError, AlreadyExistsError, ResourceExhaustedError, raised by queues and files
    └── AbortedError, DeadlineExceededError, PermissionDeniedError, UnauthenticatedError, never raised
ItemAssignmentError               a TypeError: an item of a tensor is assigned where the tensor cannot be replaced
OperatorNotAllowedInGraphError    a TypeError: a symbolic tensor used as a Python bool or iterated over
InaccessibleTensorError           a TypeError: a symbolic tensor used outside of the function that made it
IntegerLimitError                 an OverflowError: a Python int beyond the 64 bits of a graph
OtherKindError                    a ValueError: a Python value of another kind than the graph was recorded for
"""

from __future__ import annotations

from typing import Self

from autoconv.lazy_dataclass import dataclass

# Suffix of the qualified name of a region function, which conversion split off from the user's function.
REGION_SUFFIX = ".<part>"


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the user's source, with the `text` of its line.

    Columns count from 1, and 0 is unknown; `end_column` is the column after the last one.

    >>> str(autoconv.errors.Place("newton.py", 3, 8))
    'newton.py:3:8'
    """

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
        """Return the source line and, if the column is known, a caret under the position."""
        if not self.text:
            return ""
        shown_text = self.text.rstrip("\n")
        stripped_text = shown_text.lstrip()
        if not self.column:
            return f"    {stripped_text}"
        offset = max(self.column - 1 - (len(shown_text) - len(stripped_text)), 0)
        width = max(self.end_column - self.column, 1) if self.end_column else 1
        return f"    {stripped_text}\n    {' ' * offset}{'^' * min(width, max(len(stripped_text) - offset, 1))}"


class AutoconvError(Exception):
    """Base of this package's errors.

    `message`: what was found; `place`: where in the user's source; `remedy`: what to write instead.
    """

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
    """A file cannot be read, decoded or parsed."""


class TargetError(AutoconvError):
    """A request names a function, file, stage or option value that does not exist or cannot be used."""


class ConversionError(AutoconvError, ValueError):
    """A function or module cannot be converted."""


class UnsupportedError(ConversionError):
    """A language construct cannot be converted."""


class StagingError(AutoconvError, TypeError):
    """A construct met while tracing cannot become part of a graph."""


class NotInGraphError(StagingError):
    """A running graph cannot perform an operation; under `compile` the call is repeated as plain Python."""


class InternalError(AutoconvError):
    """This package failed although the program is valid.

    Raised from the original error with AUTOCONV_STRICT=1; otherwise the call runs as plain Python, and `explain()`
    shows the error with its position.
    """


class DonatedTensorError(AutoconvError, ValueError):
    """A tensor is used after it was donated to a call."""


class ItemAssignmentError(TypeError):
    """An item of a tensor, which is immutable, is assigned; converted code replaces the tensor instead."""


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor is used where Python needs its value now: as a bool, or in an iteration."""


class InaccessibleTensorError(TypeError, ValueError):
    """A symbolic tensor is used outside of the function or branch that created it.

    `graph` is the graph to which its value belongs, if known.
    """

    graph: object = None


class OpError(AutoconvError):
    """An op failed at run time; `error_code` is TensorFlow's number for the class.

    `plain` is NumPy's exception in the same situation, if known: programs under `compile` raise it instead.
    """

    error_code = 2
    op = node_def = None  # TensorFlow's names for the failed node, which the message shows instead
    plain: Exception | None = None

    def __init__(self, message: object, place: object = None, remedy: str = "", *others: object) -> None:
        """Take a message, a place and a remedy; or TensorFlow's arguments: a node, an op, a message and a code."""
        if not isinstance(message, str):  # TensorFlow's arguments: the message is the third
            message, place, remedy = remedy, None, ""
        super().__init__(message, place if isinstance(place, Place) else None, remedy)

    def with_plain_error(self, plain: Exception) -> Self:
        """Set `plain`, NumPy's exception in the same situation, and return this error."""
        self.plain = plain
        return self

    def name_op(self, op: str) -> None:
        """Append the name of the failed op to the message, unless it is there already or the error is an assertion."""
        if "[Op:" not in self.message and not isinstance(self, AssertionError):
            self.message = f"{self.message} [Op:{op}]"
            self.args = (self.message, *self.args[1:])


class InvalidArgumentError(OpError, ValueError):
    """An operand or attribute of an op has an invalid value, shape or dtype."""

    error_code = 3


class GraphOnlyError(InvalidArgumentError):
    """An op failed under `compile`, and NumPy's exception in the same situation is not known.

    Handlers of the program do not catch it: the call is repeated as plain Python.
    """


class DtypeError(InvalidArgumentError, TypeError):
    """An op does not take the dtype of an operand, or a value has another dtype than expected."""


class UnconvertibleError(DtypeError):
    """A value of Python does not take a dtype: TensorFlow's TypeError, or InvalidArgumentError if its op finds it."""

    def __str__(self) -> str:
        return self.message


class TypeRuleError(InvalidArgumentError):
    """The type rule of an op refuses a shape: TensorFlow's ValueError, or InvalidArgumentError if its kernel does."""

    def __str__(self) -> str:
        return self.message


class TensorConversionError(DtypeError):
    """A tensor has another dtype than requested: TensorFlow's ValueError, or InvalidArgumentError by its op."""


class IndexOutOfRangeError(InvalidArgumentError, IndexError):
    """An index is outside of its dimension."""


class AssertionFailedError(InvalidArgumentError, AssertionError):
    """An asserted condition is false."""


class NotFoundError(OpError, KeyError):
    """A file or a kernel does not exist."""

    error_code = 5

    __str__ = AutoconvError.__str__


class MissingKernelError(NotFoundError, DtypeError):
    """An op accepts a dtype that it has no kernel for: TensorFlow's NotFoundError, or an error of dtypes in a graph."""


class FailedPreconditionError(OpError):
    """TensorFlow's error for an object in a state that does not allow the op."""

    error_code = 9


class OutOfRangeError(OpError):
    """The end of a sequence."""

    error_code = 11


class DataLossError(OpError):
    """A file is damaged or not of the expected format."""

    error_code = 15


class UnavailableError(OpError):
    """A process of a cluster cannot be reached, or was lost."""

    error_code = 14


class CancelledError(OpError):
    """An operation was cancelled, such as one on a closed queue."""

    error_code = 1


class UnknownError(OpError):
    """A Python function that a graph calls raised an error of another class."""

    error_code = 2


class DeadlineExceededError(OpError):
    """A time limit passed."""

    error_code = 4


class AlreadyExistsError(OpError):
    """An object to be made exists already."""

    error_code = 6


class PermissionDeniedError(OpError):
    """The caller may not run the operation."""

    error_code = 7


class ResourceExhaustedError(OpError):
    """There is not enough of a resource, such as memory."""

    error_code = 8


class AbortedError(OpError):
    """An operation was aborted by another one."""

    error_code = 10


class UnauthenticatedError(OpError):
    """The caller has no valid credentials."""

    error_code = 16


class EndOfSequenceError(OutOfRangeError, StopIteration):
    """An iterator over a dataset has no more elements."""


class UnimplementedError(OpError, NotImplementedError):
    """An op has no implementation for its operands."""

    error_code = 12


class UnsupportedCastError(UnimplementedError, TypeError):
    """A tensor cannot be cast to the dtype."""


class ListReadError(OutOfRangeError, IndexOutOfRangeError):
    """A list has no element at the index read or written: an IndexError, as for Python's lists."""


class IntegerLimitError(OverflowError):
    """A Python int exceeds the 64 bits of a graph."""


class OtherKindError(ValueError):
    """A Python value differs in class from the recorded one, or a graph cannot represent it."""


# TensorFlow's numbers for the classes of errors.
OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = range(8, 15)
DATA_LOSS, UNAUTHENTICATED = 15, 16


def _adopt_tensorflow_names() -> None:
    """Name classes that only add a Python base class after their TensorFlow base, since programs print the name.

    Their qualified names, which tracebacks show and pickles contain, do not change.
    """
    for base in (InvalidArgumentError, OutOfRangeError, UnimplementedError):
        for subclass in base.__subclasses__():
            subclass.__name__ = base.__name__
    ListReadError.__name__, MissingKernelError.__name__ = OutOfRangeError.__name__, NotFoundError.__name__
    UnconvertibleError.__name__ = "TypeError"
    TypeRuleError.__name__ = TensorConversionError.__name__ = "ValueError"


_adopt_tensorflow_names()
