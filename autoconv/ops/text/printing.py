"""Printing, and the text of tensors in TensorFlow's format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.types import Type
from autoconv.ops.gradients import no_cotangents
from autoconv.ops.record import define, sample

# Of a template: text, the index of an input (-1 - index for a text without quotes), or pieces to join.
Piece = str | int | tuple[Any, ...]


def format_value(array: Any, summarize: int = 3) -> str:
    """Format a tensor: `1`, `[1 2.5]`, `[0 1 2 ... 17 18 19]`.

    Dimensions longer than `2 * summarize` show that many elements at either end; -1 shows all. Strings are in quotes.
    """
    array = np.asarray(array)
    return "".join(_nested_pieces(array, summarize if summarize >= 0 else sys.maxsize, array.ndim))


def element_text(element: Any, quoted: bool = True) -> str:
    """Format one number, bool (1 or 0) or string; a float has as many digits as TensorFlow prints."""
    if isinstance(element, (bytes, str)):
        text = element if isinstance(element, str) else element.decode("utf-8", "backslashreplace")
        return f'"{_escape(text)}"' if quoted else text
    if isinstance(element, (np.bool_, bool)):
        return str(int(element))
    if isinstance(element, (np.integer, int)):
        return str(int(element))
    dtype = as_dtype(np.asarray(element).dtype)
    if dtype.is_complex:
        is_double = dtype.size == 16
        return f"({_float_text(float(element.real), is_double)},{_float_text(float(element.imag), is_double)})"
    return _float_text(float(element), is_double=dtype.size == 8)


def _float_text(number: float, is_double: bool) -> str:
    """Format with six digits (fifteen for a double) if these give the number again, else with nine (seventeen)."""
    short_digits, full_digits = (15, 17) if is_double else (6, 9)
    text = f"{number:.{short_digits}g}"
    with np.errstate(over="ignore"):
        is_exact = float(text) == number if is_double else np.float32(text) == np.float32(number)
    return text if is_exact or number != number else f"{number:.{full_digits}g}"


def _escape(text: str) -> str:
    escapes = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
    return "".join(
        escapes.get(character) or (character if character.isprintable() else f"\\{ord(character):03o}")
        for character in text
    )


def _nested_pieces(array: np.ndarray, end_count: int, total_rank: int) -> Iterator[str]:
    """Yield the parts of an array's text; a long dimension shows `end_count` rows at either end.

    `total_rank` is the rank of the outermost array.
    """
    if not array.ndim:
        yield element_text(array[()])
        return
    count = len(array)
    depth = total_rank - array.ndim
    separator = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    row_positions: list[int | None] = list(range(count))
    if count > 2 * end_count:
        row_positions = [*range(end_count), None, *range(count - end_count, count)]
    yield "["
    for position, row in enumerate(row_positions):
        if position:
            yield separator
        if row is None:
            yield "..."
        else:
            yield from _nested_pieces(np.asarray(array[row]), end_count, total_rank)
    yield "]"


def fill_template(
    template: Any, inputs: Any, *, sep: str = " ", summarize: int = 3, style: str = "tensorflow"
) -> str:
    """Format a template, a sequence of `Piece`s that are joined by `sep`.

    The `style` of arrays is "tensorflow" or "python". In the style "tensorflow", a scalar string has quotes unless it
    is the only piece.
    """
    is_single_input = len(template) == 1 and isinstance(template[0], int)
    if is_single_input and style == "tensorflow":
        value: Any = inputs[template[0]]
        is_scalar = isinstance(value, (np.ndarray, np.generic)) and not value.ndim
        if is_scalar and isinstance(value.item(), (bytes, str)):
            return element_text(value.item(), quoted=False)
    return sep.join(_piece_text(piece, inputs, summarize, style) for piece in template)


def _piece_text(piece: Piece, inputs: Any, summarize: int, style: str) -> str:
    """Format one piece of a template, with the options of `fill_template`."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, tuple):
        return "".join(_piece_text(part, inputs, summarize, style) for part in piece)
    if piece < 0:  # a text without quotes
        return element_text(np.asarray(inputs[-1 - piece]).item(), quoted=False)
    value = inputs[piece]
    is_array = isinstance(value, (np.ndarray, np.generic))
    if not is_array and hasattr(value, "items") and hasattr(value, "length"):  # a list of tensors
        return f"[{', '.join(_piece_text(0, [item], summarize, style) for item in value)}]"
    return format_value(value, summarize) if style == "tensorflow" else _python_text(value)


def _python_text(value: Any) -> str:
    """Format an array as Python's print does; a string is decoded."""
    scalar = np.asarray(value)[()]
    return scalar.decode("utf-8", "backslashreplace") if isinstance(scalar, bytes) else str(scalar)


def _print_type(*inputs: Type, **_: Any) -> tuple[Type, ...]:
    return ()


def _print(
    *inputs: Any, template: tuple[Piece, ...], end: str = "\n", sep: str = " ", stream: str = "stderr",
    summarize: int = 3, style: str = "tensorflow",
) -> tuple[Any, ...]:  # fmt: skip
    """Print the filled template: append it to a file if `stream` is "file://PATH", else write to stdout or stderr."""
    text = fill_template(template, inputs, sep=sep, summarize=summarize, style=style) + end
    if stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
    else:
        # Looked up at each run, so that a redirection at run time is effective.
        output = sys.stdout if stream == "stdout" else sys.stderr
        if output is not None:
            output.write(text)
            output.flush()
    return ()


print_ = define(
    name="print", graphdef="PrintV2", result=_print_type, kernel=_print, gradient=no_cotangents,
    effects=Effects.OUTPUT,
    samples=(sample(np.array([1.5, 2.0]), template=("x:", 0)), sample(template=("done",), stream="stdout")),
    irreversible=True,
)  # fmt: skip
