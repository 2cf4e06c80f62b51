"""Strings: arrays of `bytes`. Characters are bytes unless an attribute `unit` says "UTF8_CHAR"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, bool_, float32, float64, int32, int64, string
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.fingerprint import fingerprint
from autoconv.ops.gradients import flat
from autoconv.ops.output import element_text, filled_in
from autoconv.ops.record import define, none, sample
from autoconv.ops.rules import broadcast_shapes, reduced_shape

_NO = none("strings have no gradient")


def text_array(*items: str) -> np.ndarray:
    """A vector of strings."""
    result = np.empty(len(items), object)
    result[:] = [item.encode() for item in items]
    return result


def _check(op: str, *inputs: TensorType) -> None:
    for x in inputs:
        if not x.dtype.is_string:
            raise TypeError(f"{op} takes tensors of strings, found {x.dtype.name}")


def _each(function: Callable[..., Any], *arrays: Any, dtype: Any = object) -> Any:
    """function(elements) for each element of the broadcast arrays."""
    try:
        wide = np.broadcast_arrays(*(np.asarray(a) for a in arrays))
    except ValueError:
        shapes = " and ".join(str(list(np.shape(a))) for a in arrays)
        raise InvalidArgumentError(f"the shapes {shapes} do not broadcast") from None
    result = np.empty(wide[0].shape, dtype)
    for position in np.ndindex(result.shape):
        result[position] = function(*(a[position] for a in wide))
    return result


def _string_rule(op: str, dtype: DType = string) -> Callable[..., TensorType]:
    def rule(x: TensorType, **_: Any) -> TensorType:
        _check(op, x)
        return TensorType(dtype, x.shape)

    return rule


_ABC = text_array("a", "Bc", " d ")


def _mapped(
    name: str, graphdef: str, function: Callable[..., Any], dtype: DType = string, **samples: Any
) -> None:
    """Defines an op that maps each string by function(item, **attributes)."""

    def kernel(x: Any, **attributes: Any) -> Any:
        return _each(lambda item: function(item, **attributes), x, dtype=dtype.numpy)

    define(
        name=name, graphdef=graphdef, result=_string_rule(name, dtype), kernel=kernel, gradient=_NO,
        samples=(sample(_ABC, **samples), sample(np.array(b"xyz", object), **samples)),
    )  # fmt: skip


def _decoded(item: bytes, unit: str) -> Any:
    return item.decode("utf-8", "replace") if unit == "UTF8_CHAR" else item


def _length(item: bytes, *, unit: str = "BYTE") -> int:
    return len(_decoded(item, unit))


def _with_case(change: Callable[[Any], Any]) -> Callable[..., bytes]:
    def function(item: bytes, *, encoding: str = "") -> bytes:
        return change(item.decode("utf-8", "replace")).encode() if encoding else change(item)

    return function


def _replaced(item: bytes, *, pattern: str, rewrite: str, replace_global: bool = True) -> bytes:
    return re.sub(pattern.encode(), rewrite.encode(), item, count=0 if replace_global else 1)


def _bucket(item: bytes, *, num_buckets: int) -> int:
    return fingerprint(item) % num_buckets


_mapped("string_length", "StringLength", _length, int32, unit="BYTE")
_mapped("string_lower", "StringLower", _with_case(lambda text: text.lower()), encoding="")
_mapped("string_upper", "StringUpper", _with_case(lambda text: text.upper()), encoding="utf-8")
_mapped("string_strip", "StringStrip", bytes.strip)
_mapped("string_regex_replace", "RegexReplace", _replaced, pattern="[a-c]", rewrite="<\\g<0>>")
_mapped("string_to_hash_bucket_fast", "StringToHashBucketFast", _bucket, int64, num_buckets=10)
_mapped(
    "string_regex_full_match", "RegexFullMatch",
    lambda item, *, pattern: re.fullmatch(pattern.encode(), item) is not None, bool_, pattern="[a-z]+",
)  # fmt: skip


# ---- joining


def _join_type(*inputs: TensorType, separator: str = "") -> TensorType:
    _check("string_join", *inputs)
    return TensorType(string, broadcast_shapes(*(x.shape for x in inputs)) if inputs else ())


def _join(*inputs: Any, separator: str = "") -> Any:
    if not inputs:
        return np.array(b"", object)
    return _each(lambda *items: separator.encode().join(items), *inputs)


def _reduce_join_type(
    x: TensorType, *, axis: tuple[int, ...] | None = None, keepdims: bool = False, separator: str = ""
) -> TensorType:
    _check("string_reduce_join", x)
    return TensorType(string, reduced_shape(x.shape, axis, keepdims))


def _reduce_join(x: Any, *, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in axis)
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = np.transpose(x, [*kept, *axes]).reshape([x.shape[a] for a in kept] + [-1])
    result = np.empty(rows.shape[:-1], object)
    for position in np.ndindex(result.shape):
        result[position] = separator.encode().join(rows[position])
    return np.expand_dims(result, axes) if keepdims else result


string_join = define(
    name="string_join", graphdef="StringJoin", result=_join_type, kernel=_join, gradient=_NO,
    samples=(sample(_ABC, np.array(b"!", object), separator="-"), sample()),
)  # fmt: skip
string_reduce_join = define(
    name="string_reduce_join", graphdef="ReduceJoin", result=_reduce_join_type, kernel=_reduce_join,
    gradient=_NO,
    samples=(sample(_ABC, separator=","), sample(_ABC[None], axis=(0,), keepdims=True)),
)  # fmt: skip


# ---- taking apart


def _substr_type(
    x: TensorType, position: TensorType, length: TensorType, *, unit: str = "BYTE"
) -> TensorType:
    _check("string_substr", x)
    return TensorType(string, broadcast_shapes(x.shape, position.shape, length.shape))


def _substr(x: Any, position: Any, length: Any, *, unit: str = "BYTE") -> Any:
    def part(item: bytes, start: int, count: int) -> bytes:
        text = _decoded(item, unit)
        if not -len(text) <= start <= len(text):
            raise InvalidArgumentError(f"pos {start} out of range for string {item!r}")
        start = start if start >= 0 else start + len(text)
        found = text[start : start + max(int(count), 0)]
        return found.encode() if isinstance(found, str) else found

    return _each(part, x, position, length)


def _split_type(x: TensorType, *, sep: str | None = None, maxsplit: int = -1) -> TensorType:
    _check("string_split", x)
    return TensorType(string, None if x.shape is None else (*x.shape, None))


def _split(x: Any, *, sep: str | None = None, maxsplit: int = -1) -> Any:
    """The parts along a new last dimension, rows with fewer of them padded with empty strings."""
    divider = sep.encode() if sep else None
    return _padded(np.asarray(x), lambda item: item.split(divider, maxsplit))


def _characters_type(x: TensorType, *, unit: str = "BYTE") -> TensorType:
    return _split_type(x)


def _ngrams_type(x: TensorType, *, widths: tuple[int, ...], separator: str = " ") -> TensorType:
    _check("string_ngrams", x)
    if x.shape == ():
        raise ValueError("ngrams takes rows of strings, found a scalar")
    return TensorType(string, None if x.shape is None else (*x.shape[:-1], None))


def _ngrams(x: Any, *, widths: tuple[int, ...], separator: str = " ") -> Any:
    """For each width in turn, that many neighbours along the last dimension, joined."""
    x = np.asarray(x)
    size = x.shape[-1]
    columns = [x[..., start : start + width] for width in widths for start in range(size - width + 1)]
    result = np.empty((*x.shape[:-1], len(columns)), object)
    for number, column in enumerate(columns):
        result[..., number] = _reduce_join(column, axis=(-1,), separator=separator)
    return result


def _characters(x: Any, *, unit: str = "BYTE") -> Any:
    def split(item: bytes) -> list[bytes]:
        if unit == "UTF8_CHAR":
            return [c.encode() for c in item.decode("utf-8", "replace")]
        return [item[i : i + 1] for i in range(len(item))]

    return _padded(np.asarray(x), split)


def _padded(x: np.ndarray, split: Callable[[bytes], list[bytes]]) -> np.ndarray:
    parts = {position: split(item) for position, item in np.ndenumerate(x)}
    width = max(map(len, parts.values()), default=0)
    result = np.full((*x.shape, width), b"", object)
    for position, found in parts.items():
        result[position][: len(found)] = found
    return result


string_ngrams = define(
    name="string_ngrams", graphdef="StringNGrams", result=_ngrams_type, kernel=_ngrams, gradient=_NO,
    samples=(sample(_ABC, widths=(1, 2)), sample(_ABC[None], widths=(5,))),
)  # fmt: skip
string_substr = define(
    name="string_substr", graphdef="Substr", result=_substr_type, kernel=_substr, gradient=_NO,
    effects=Effects.RAISE,
    samples=(sample(text_array("hello", "world"), np.array(1), np.array([2, 3])),),
)  # fmt: skip
string_split = define(
    name="string_split", graphdef="StringSplitV2", result=_split_type, kernel=_split, gradient=_NO,
    samples=(sample(text_array("a b", "c d e")), sample(np.array(b"a,b", object), sep=",")),
)  # fmt: skip
string_characters = define(
    name="string_characters", graphdef="StringBytesSplit", result=_characters_type, kernel=_characters,
    gradient=_NO, samples=(sample(_ABC), sample(np.array(b"ab", object), unit="UTF8_CHAR")),
)  # fmt: skip


# ---- characters and their numbers

# Names of encodings as users write them, and as Python knows them.
ENCODINGS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


def characters_of(item: bytes, encoding: str, errors: str, replacement: int) -> str:
    """The text of bytes; `errors` is "replace" (by `replacement`), "ignore", or "strict"."""
    try:
        found = item.decode(ENCODINGS[encoding], errors)
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"Invalid formatting on input string {item!r}: {error}") from None
    # Python's own decoders write U+FFFD, which valid text may hold as well: only then it matters which is which.
    if errors == "replace" and replacement != 0xFFFD and "\ufffd" in found:
        found = _decoded_with(item, ENCODINGS[encoding], chr(replacement))
    return found


def _decoded_with(item: bytes, encoding: str, replacement: str) -> str:
    found, start = [], 0
    while start < len(item):
        try:
            found.append(item[start:].decode(encoding))
            break
        except UnicodeDecodeError as error:
            found += [item[start : start + error.start].decode(encoding), replacement]
            start += error.end
    return "".join(found)


def _decode_type(x: TensorType, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> TensorType:
    _check("unicode_decode", x)
    return TensorType(int32, None if x.shape is None else (*x.shape, None))


def _decode(x: Any, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> Any:
    x = np.asarray(x)
    rows = {p: [ord(c) for c in characters_of(item, encoding, errors, replacement)] for p, item in np.ndenumerate(x)}
    result = np.zeros((*x.shape, max(map(len, rows.values()), default=0)), np.int32)
    for position, found in rows.items():
        result[position][: len(found)] = found
    return result


def _encode_type(x: TensorType, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> TensorType:
    if not x.dtype.is_integer or x.shape == ():
        raise TypeError(f"unicode_encode takes integers, one or more dimensions of them, found {x}")
    return TensorType(string, None if x.shape is None else x.shape[:-1])


def _encode(x: Any, *, encoding: str, errors: str = "replace", replacement: int = 0xFFFD) -> Any:
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
    name="unicode_decode", graphdef="UnicodeDecode", result=_decode_type, kernel=_decode, gradient=_NO,
    effects=Effects.RAISE, samples=(sample(_ABC, encoding="UTF-8"), sample(_ABC[0], encoding="UTF-8")),
)  # fmt: skip
unicode_encode = define(
    name="unicode_encode", graphdef="UnicodeEncode", result=_encode_type, kernel=_encode, gradient=_NO,
    effects=Effects.RAISE, samples=(sample(np.array([[104, 105], [233, 8364]], np.int32), encoding="UTF-8"),),
)  # fmt: skip
_mapped(
    "unicode_transcode", "UnicodeTranscode",
    lambda item, *, encoding, output, errors="replace", replacement=0xFFFD: characters_of(
        item, encoding, errors, replacement
    ).encode(ENCODINGS[output]),
    encoding="UTF-8", output="UTF-16-BE",
)  # fmt: skip


# ---- to and from numbers


def _number_type(x: TensorType, *, dtype: DType = float32) -> TensorType:
    _check("string_to_number", x)
    if not (dtype.is_floating or dtype.is_integer):
        raise TypeError(f"string_to_number makes real numbers, not {dtype.name}")
    return TensorType(dtype, x.shape)


def _number(x: Any, *, dtype: DType = float32) -> Any:
    def parse(item: bytes) -> Any:
        try:
            if b"_" in item:
                raise ValueError("Python's own way to write numbers")
            return int(item) if dtype.is_integer else float(item)
        except ValueError:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {item.decode('utf-8', 'replace')}"
            ) from None

    try:
        return _each(parse, x, dtype=dtype.numpy)
    except OverflowError:
        raise InvalidArgumentError(f"a number is too large for {dtype.name}") from None


def _as_string_type(x: TensorType, **_: Any) -> TensorType:
    return TensorType(string, x.shape)


def _as_string(
    x: Any,
    *,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> Any:
    def text(item: Any) -> bytes:
        if isinstance(item, bytes):
            return item
        if isinstance(item, (np.bool_, bool)):
            found = "true" if item else "false"
        elif isinstance(item, np.integer):
            found = str(int(item))
        elif isinstance(item, np.complexfloating) or shortest:
            found = element_text(item)
        else:
            found = f"{float(item):.{6 if precision < 0 else precision}{'e' if scientific else 'f'}}"
        return (found.rjust(width, fill or " ") if width > 0 else found).encode()

    return _each(text, x)


string_to_number = define(
    name="string_to_number", graphdef="StringToNumber", result=_number_type, kernel=_number, gradient=_NO,
    effects=Effects.RAISE,
    samples=(sample(text_array("1.5", "-2e3"), dtype=float64), sample(text_array("12"), dtype=int32)),
)  # fmt: skip
as_string = define(
    name="as_string", graphdef="AsString", result=_as_string_type, kernel=_as_string, gradient=_NO,
    samples=(sample(np.array([1.5, 2.0])), sample(np.array([1, 2])), sample(np.array([True]))),
)  # fmt: skip


# ---- templates


def _format(*inputs: Any, template: tuple[Any, ...], summarize: int = 3, style: str = "tensorflow") -> Any:
    return np.array(filled_in(template, inputs, sep="", summarize=summarize, style=style).encode(), object)


string_format = define(
    name="string_format", graphdef="StringFormat", result=lambda *inputs, **_: TensorType(string, ()),
    kernel=_format, gradient=flat,
    samples=(sample(np.array([1.5, 2.0]), template=("x is ", 0)), sample(template=("nothing",))),
)  # fmt: skip
