"""Conversion between encoded text and characters or code points."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int32, string
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.record import define, sample
from autoconv.ops.text.strings import ABC, NO_GRADIENT, check_strings, define_string_map

# Python's names of encodings, by the names that users pass.
ENCODINGS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


def characters_of(item: bytes, encoding: str, errors: str, replacement: int) -> str:
    """Decode bytes; `errors` is "replace" (by the code point `replacement`), "ignore", or "strict", which raises."""
    try:
        result = item.decode(ENCODINGS[encoding], errors)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"Invalid formatting on input string {item!r}: {error}") from None
    # Python's decoders insert U+FFFD for errors. Only a result with U+FFFD needs the slow path; it may stem from an
    # error or from the text.
    if errors == "replace" and replacement != 0xFFFD and "\ufffd" in result:
        result = _decode_replacing(item, ENCODINGS[encoding], chr(replacement))
    return result


def _decode_replacing(item: bytes, encoding: str, replacement: str) -> str:
    """Decode bytes with `replacement` for each invalid sequence."""
    pieces, start = [], 0
    while start < len(item):
        try:
            pieces.append(item[start:].decode(encoding))
            break
        except UnicodeDecodeError as error:
            pieces += [item[start : start + error.start].decode(encoding), replacement]
            start += error.end
    return "".join(pieces)


def _decode_type(x: TensorType, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> TensorType:
    check_strings("unicode_decode", x)
    return TensorType(int32, None if x.shape is None else (*x.shape, None))


def _decode(x: Any, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> Any:
    """Return the code points of each string along a new last dimension; shorter rows are padded with 0."""
    x = np.asarray(x)
    rows = {
        position: list(map(ord, characters_of(item, encoding, errors, replacement)))
        for position, item in np.ndenumerate(x)
    }
    result = np.zeros((*x.shape, max(map(len, rows.values()), default=0)), np.int32)
    for position, values in rows.items():
        result[position][: len(values)] = values
    return result


def _encode_type(x: TensorType, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> TensorType:
    if not x.dtype.is_integer or x.shape == ():
        raise TypeError(f"unicode_encode takes integers, one or more dimensions of them, found {x}")
    return TensorType(string, None if x.shape is None else x.shape[:-1])


def _encode(x: Any, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> Any:
    """Return each vector of code points as an encoded string."""
    def character(number: int) -> str:
        if 0 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF:
            return chr(number)
        if errors == "strict":
            raise InvalidArgumentError(f"Code point is out of range for Unicode, or a noncharacter: {number}")
        return chr(replacement) if errors == "replace" else ""

    x = np.asarray(x)
    result = np.empty(x.shape[:-1], object)
    for position in np.ndindex(result.shape):
        result[position] = "".join(map(character, x[position].tolist())).encode(ENCODINGS[encoding])
    return result


unicode_decode = define(
    name="unicode_decode", graphdef="UnicodeDecode", result=_decode_type, kernel=_decode, gradient=NO_GRADIENT,
    effects=Effects.RAISE, samples=(sample(ABC, encoding="UTF-8"), sample(ABC[0], encoding="UTF-8")),
)  # fmt: skip
unicode_encode = define(
    name="unicode_encode", graphdef="UnicodeEncode", result=_encode_type, kernel=_encode, gradient=NO_GRADIENT,
    effects=Effects.RAISE, samples=(sample(np.array([[104, 105], [233, 8364]], np.int32), encoding="UTF-8"),),
)  # fmt: skip
define_string_map(
    "unicode_transcode", "UnicodeTranscode",
    lambda item, *, encoding, output, errors="replace", replacement=0xFFFD: characters_of(
        item, encoding, errors, replacement
    ).encode(ENCODINGS[output]),
    sample_attributes={"encoding": "UTF-8", "output": "UTF-16-BE"},
)  # fmt: skip
