"""Printing of tensors at run time."""

from __future__ import annotations

import sys
from typing import Any

from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply


def print_(
    *inputs: Any, output_stream: Any = None, sep: str = " ", end: str = "\n", summarize: int | None = 3,
    name: str | None = None,
) -> None:  # fmt: skip
    """Print tensors and other values, including tensors in lists, tuples and dicts, each time the graph runs.

    The stream is sys.stderr by default, or sys.stdout, or a "file://" path that is appended to. If a dimension has
    more than 2 * `summarize` elements, only `summarize` at either end are shown (-1 shows all). Raises ValueError for
    another stream.

    >>> import sys
    >>> autoconv.print("x =", autoconv.range(9), output_stream=sys.stdout)
    x = [0 1 2 ... 6 7 8]
    """
    operands: list[Any] = []
    shown_count = 3 if summarize is None else int(summarize)
    template = tuple(argument_piece(value, operands, shown_count) for value in inputs)
    apply(
        "print", *operands, template=template, end=str(end), sep=str(sep), stream=_stream_name(output_stream),
        summarize=shown_count, name=name,
    )  # fmt: skip


def _stream_name(stream: Any) -> str:
    """Return the attribute `stream` of the op `print`; raises ValueError for another stream."""
    if any(stream is standard_error for standard_error in (None, sys.stderr, sys.__stderr__)) or stream == "stderr":
        return "stderr"
    if stream is sys.stdout or stream is sys.__stdout__ or stream == "stdout":
        return "stdout"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(f"output_stream has to be sys.stderr, sys.stdout or a 'file://' path, found {stream!r}")


def argument_piece(value: TensorLike, operands: list[Any], summarize: int = 3) -> Any:
    """Return the template piece of one argument: text, or the number of its operand; strings appear without quotes."""
    return value if isinstance(value, str) else nested_piece(value, operands, summarize)


def nested_piece(value: TensorLike, operands: list[Any], summarize: int = 3) -> Any:
    """Append the tensors of a value, or the value if it is one, to `operands`; return its piece of the template.

    Strings in containers are quoted, and dicts sorted by key if their keys can be compared.

    A piece is text, the number of an operand, or a tuple of the pieces of a container. The number n of an operand that
    is a text without quotes is written as -1 - n. Sparse and ragged tensors have `_printed_parts`: texts and tensors.
    """
    if hasattr(type(value), "_printed_parts"):
        parts = value._printed_parts(summarize)  # type: ignore[union-attr]
        return tuple(part if isinstance(part, str) else _component_number(part, operands) for part in parts)
    tensor = as_tensor(value)
    if tensor is not None:
        operands.append(convert_to_tensor(tensor))
        return len(operands) - 1
    if isinstance(value, dict):
        keys = _sorted_if_comparable(value)
        labelled_pieces = [(f"{key!r}: ", nested_piece(value[key], operands, summarize)) for key in keys]
        return _enclose_pieces("{", labelled_pieces, "}")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = zip(value._fields, value, strict=True)
        labelled_pieces = [(f"{name}=", nested_piece(item, operands, summarize)) for name, item in fields]
        return _enclose_pieces(f"{type(value).__name__}(", labelled_pieces, ")")
    if isinstance(value, (list, tuple)):
        labelled_pieces = [("", nested_piece(item, operands, summarize)) for item in value]
        if isinstance(value, list):
            return _enclose_pieces("[", labelled_pieces, "]")
        return _enclose_pieces("(", labelled_pieces, ",)" if len(labelled_pieces) == 1 else ")")
    return repr(value)


def _component_number(component: Any, operands: list[Any]) -> int:
    """Add a component of a composite tensor to the operands; return its number, below 0 for a scalar text."""
    operands.append(component)
    is_text = component.dtype.is_string and component.shape.rank == 0
    return -len(operands) if is_text else len(operands) - 1


def _sorted_if_comparable(mapping: dict[Any, Any]) -> list[Any]:
    """Return the keys sorted, or in their own order if they cannot be compared."""
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def _enclose_pieces(opening: str, labelled_pieces: list[tuple[str, Any]], closing: str) -> tuple[Any, ...]:
    """Return the template piece of a container, from pairs of a label before an item and the item's piece."""
    pieces: list[Any] = [opening]
    for position, (label, piece) in enumerate(labelled_pieces):
        pieces += [", " if position else "", label, piece]
    return tuple(piece for piece in (*pieces, closing) if piece != "")
