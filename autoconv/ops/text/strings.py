"""Ops of strings, which kernels get as object arrays of `bytes`.

A character is a byte, or a code point if the attribute `unit` is "UTF8_CHAR".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, bool_, float32, float64, int32, int64, string
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.gradients import no_cotangents
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.rules import broadcast_shapes, reduced_shape
from autoconv.ops.text.fingerprint import fingerprint
from autoconv.ops.text.murmur import murmur
from autoconv.ops.text.printing import element_text, fill_template
from autoconv.ops.text.regular_expressions import matches, replace
from autoconv.ops.text.siphash import siphash

NO_GRADIENT = no_gradient("strings have no gradient")


def text_array(*items: str) -> np.ndarray:
    """Make a vector of strings."""
    result = np.empty(len(items), object)
    result[:] = [item.encode() for item in items]
    return result


def check_strings(op: str, *inputs: TensorType) -> None:
    """Raise TypeError for inputs that are not strings."""
    for x in inputs:
        if not x.dtype.is_string:
            raise TypeError(f"{op} takes tensors of strings, found {x.dtype.name}")


def _elementwise(function: Callable[..., Any], *arrays: Any, dtype: Any = object) -> Any:
    """Broadcast the arrays, and return an array of function(*elements) for each position."""
    try:
        operands = np.broadcast_arrays(*map(np.asarray, arrays))
    except ValueError:
        shapes = " and ".join(str(list(np.shape(array))) for array in arrays)
        raise InvalidArgumentError(f"the shapes {shapes} do not broadcast") from None
    result = np.empty(operands[0].shape, dtype)
    for position in np.ndindex(result.shape):
        result[position] = function(*(operand[position] for operand in operands))
    return result


def _string_rule(op: str, dtype: DType = string) -> Callable[..., TensorType]:
    """Return the type rule of an op that maps each string to an element of the dtype."""

    def rule(x: TensorType, **_: Any) -> TensorType:
        check_strings(op, x)
        return TensorType(dtype, x.shape)

    return rule


ABC = text_array("a", "Bc", " d ")  # for samples


def define_string_map(
    name: str, graphdef: str, function: Callable[..., Any], dtype: DType = string, *,
    sample_attributes: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Define an op that maps each string by function(item, **attributes); samples have `sample_attributes`."""

    def kernel(x: Any, **attributes: Any) -> Any:
        return _elementwise(lambda item: function(item, **attributes), x, dtype=dtype.numpy)

    define(
        name=name, graphdef=graphdef, result=_string_rule(name, dtype), kernel=kernel, gradient=NO_GRADIENT,
        samples=tuple(sample(x, **(sample_attributes or {})) for x in (ABC, np.array(b"xyz", object))),
    )  # fmt: skip


def _decode(item: bytes, unit: str) -> Any:
    return item.decode("utf-8", "replace") if unit == "UTF8_CHAR" else item


def _length(item: bytes, *, unit: str = "BYTE") -> int:
    return len(_decode(item, unit))


def _with_case(change: Callable[[Any], Any]) -> Callable[..., bytes]:
    """Return a function that applies `change` to the decoded text, or to the bytes if `encoding` is empty."""

    def function(item: bytes, *, encoding: str = "") -> bytes:
        return change(item.decode("utf-8", "replace")).encode() if encoding else change(item)

    return function


def _fast_bucket(item: bytes, *, num_buckets: int) -> int:
    return fingerprint(item) % num_buckets


def _strong_bucket(item: bytes, *, num_buckets: int, key: tuple[int, int]) -> int:
    return siphash(item, *key) % num_buckets


define_string_map("string_length", "StringLength", _length, int32, sample_attributes={"unit": "BYTE"})
define_string_map(
    "string_lower", "StringLower", _with_case(lambda text: text.lower()), sample_attributes={"encoding": ""}
)
define_string_map(
    "string_upper", "StringUpper", _with_case(lambda text: text.upper()), sample_attributes={"encoding": "utf-8"}
)
define_string_map("string_strip", "StringStrip", bytes.strip)
define_string_map(
    "string_regex_replace", "RegexReplace", replace,
    sample_attributes={"pattern": "[a-c]", "rewrite": "<\\0>", "replace_global": True},
)  # fmt: skip
define_string_map(
    "string_to_hash_bucket", "StringToHashBucket", lambda item, *, num_buckets: murmur(item) % num_buckets, int64,
    sample_attributes={"num_buckets": 10},
)
define_string_map(
    "string_to_hash_bucket_fast", "StringToHashBucketFast", _fast_bucket, int64, sample_attributes={"num_buckets": 10}
)
define_string_map(
    "string_to_hash_bucket_strong", "StringToHashBucketStrong", _strong_bucket, int64,
    sample_attributes={"num_buckets": 10, "key": (1, 2)},
)  # fmt: skip
define_string_map(
    "string_regex_full_match", "RegexFullMatch",
    matches, bool_, sample_attributes={"pattern": "[a-z]+"},
)  # fmt: skip


# ---- joining


def _join_type(*inputs: TensorType, separator: str = "") -> TensorType:
    check_strings("string_join", *inputs)
    return TensorType(string, broadcast_shapes(*(x.shape for x in inputs)) if inputs else ())


def _join(*inputs: Any, separator: str = "") -> Any:
    if not inputs:
        return np.array(b"", object)
    return _elementwise(lambda *items: separator.encode().join(items), *inputs)


def _reduce_join_type(
    x: TensorType, *, axis: tuple[int, ...] | None = None, keepdims: bool = False, separator: str = ""
) -> TensorType:
    check_strings("string_reduce_join", x)
    return TensorType(string, reduced_shape(x.shape, axis, keepdims))


def _reduce_join(x: Any, *, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    """Join the strings over the axes (None: all), which are joined in their order in `axis`."""
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else tuple(i % x.ndim for i in axis)
    other_axes = [i for i in range(x.ndim) if i not in axes]
    rows = np.transpose(x, [*other_axes, *axes]).reshape([*(x.shape[i] for i in other_axes), -1])
    result = np.empty(rows.shape[:-1], object)
    for position in np.ndindex(result.shape):
        result[position] = separator.encode().join(rows[position])
    return np.expand_dims(result, axes) if keepdims else result


string_join = define(
    name="string_join", graphdef="StringJoin", result=_join_type, kernel=_join, gradient=NO_GRADIENT,
    samples=(sample(ABC, np.array(b"!", object), separator="-"), sample()),
)  # fmt: skip
string_reduce_join = define(
    name="string_reduce_join", graphdef="ReduceJoin", result=_reduce_join_type, kernel=_reduce_join,
    gradient=NO_GRADIENT,
    samples=(sample(ABC, separator=","), sample(ABC[None], axis=(0,), keepdims=True)),
)  # fmt: skip


# ---- splitting


def _substr_type(
    x: TensorType, position: TensorType, length: TensorType, *, unit: str = "BYTE"
) -> TensorType:
    check_strings("string_substr", x)
    return TensorType(string, broadcast_shapes(x.shape, position.shape, length.shape))


def _substr(x: Any, position: Any, length: Any, *, unit: str = "BYTE") -> Any:
    """Return `length` characters of each string from `position` on, which counts from the end if negative."""

    def substring(item: bytes, start: int, count: int) -> bytes:
        """Return `count` characters of a string from `start` on; a start outside of it raises InvalidArgumentError."""
        text = _decode(item, unit)
        if not -len(text) <= start <= len(text):
            raise InvalidArgumentError(f"pos {start} out of range for string {item!r}")
        start = start if start >= 0 else start + len(text)
        characters = text[start : start + max(int(count), 0)]
        return characters.encode() if isinstance(characters, str) else characters

    return _elementwise(substring, x, position, length)


def _split_type(
    x: TensorType, separator: TensorType | None = None, *, sep: str | None = None, maxsplit: int = -1,
    counts_parts: bool = False,
) -> TensorType:  # fmt: skip
    """Return the type of the parts, along a new last dimension, or of the number of parts with `counts_parts`."""
    check_strings("string_split", x)
    if counts_parts:
        return TensorType(int64, x.shape)
    return TensorType(string, None if x.shape is None else (*x.shape, None))


def _split(
    x: Any, separator: Any = None, *, sep: str | None = None, maxsplit: int = -1, counts_parts: bool = False
) -> Any:
    """Split at the operand `separator` or the attribute `sep`; at whitespace if that is None or empty.

    With `counts_parts`, return the number of parts of each string instead.
    """
    encoded_separator = (np.asarray(separator).item() if separator is not None else (sep or "").encode()) or None
    x = np.asarray(x)
    if counts_parts:
        counts = [len(item.split(encoded_separator, maxsplit)) for item in x.flat]
        return np.array(counts, np.int64).reshape(x.shape)
    return _split_and_pad(x, lambda item: item.split(encoded_separator, maxsplit))


def _characters_type(x: TensorType, *, unit: str = "BYTE") -> TensorType:
    return _split_type(x)


def _ngrams_type(x: TensorType, *, widths: tuple[int, ...], separator: str = " ") -> TensorType:
    check_strings("string_ngrams", x)
    if x.shape == ():
        raise ValueError("ngrams takes rows of strings, found a scalar")
    return TensorType(string, None if x.shape is None else (*x.shape[:-1], None))


def _ngrams(x: Any, *, widths: tuple[int, ...], separator: str = " ") -> Any:
    """Join neighbours along the last dimension: for each width, every window of that many strings."""
    x = np.asarray(x)
    item_count = x.shape[-1]
    windows = [x[..., start : start + width] for width in widths for start in range(item_count - width + 1)]
    result = np.empty((*x.shape[:-1], len(windows)), object)
    for i, window in enumerate(windows):
        result[..., i] = _reduce_join(window, axis=(-1,), separator=separator)
    return result


def _characters(x: Any, *, unit: str = "BYTE") -> Any:
    """Split each string into its characters along a new last dimension, padded with empty strings."""
    def split(item: bytes) -> list[bytes]:
        if unit == "UTF8_CHAR":
            return [character.encode() for character in item.decode("utf-8", "replace")]
        return [item[i : i + 1] for i in range(len(item))]

    return _split_and_pad(np.asarray(x), split)


def _split_and_pad(x: np.ndarray, split: Callable[[bytes], list[bytes]]) -> np.ndarray:
    """Split each string into parts along a new last dimension; shorter rows are padded with empty strings."""
    parts = {position: split(item) for position, item in np.ndenumerate(x)}
    width = max(map(len, parts.values()), default=0)
    result = np.full((*x.shape, width), b"", object)
    for position, values in parts.items():
        result[position][: len(values)] = values
    return result


string_ngrams = define(
    name="string_ngrams", graphdef="StringNGrams", result=_ngrams_type, kernel=_ngrams, gradient=NO_GRADIENT,
    samples=(sample(ABC, widths=(1, 2)), sample(ABC[None], widths=(5,))),
)  # fmt: skip
string_substr = define(
    name="string_substr", graphdef="Substr", result=_substr_type, kernel=_substr, gradient=NO_GRADIENT,
    effects=Effects.RAISE,
    samples=(sample(text_array("hello", "world"), np.array(1), np.array([2, 3])),),
)  # fmt: skip
string_split = define(
    name="string_split", graphdef="StringSplitV2", result=_split_type, kernel=_split, gradient=NO_GRADIENT,
    samples=(
        sample(text_array("a b", "c d e")), sample(np.array(b"a,b", object), sep=","),
        sample(text_array("a b", "c, d,"), np.array(b", ", object)),
        sample(text_array("a", "b,c,"), sep=",", counts_parts=True),
    ),
)  # fmt: skip
string_characters = define(
    name="string_characters", graphdef="StringBytesSplit", result=_characters_type, kernel=_characters,
    gradient=NO_GRADIENT, samples=(sample(ABC), sample(np.array(b"ab", object), unit="UTF8_CHAR")),
)  # fmt: skip


# ---- conversion to and from numbers


def _parse_numbers_type(x: TensorType, *, dtype: DType = float32) -> TensorType:
    check_strings("string_to_number", x)
    if not (dtype.is_floating or dtype.is_integer):
        raise TypeError(f"string_to_number makes real numbers, not {dtype.name}")
    return TensorType(dtype, x.shape)


def _parse_numbers(x: Any, *, dtype: DType = float32) -> Any:
    """Return the numbers that the strings denote; raise InvalidArgumentError for a string that is no number."""
    def parse(item: bytes) -> Any:
        """Return the number; other text raises TensorFlow's error."""
        try:
            if b"_" in item:
                raise ValueError("only Python takes underscores in numbers")
            return int(item) if dtype.is_integer else float(item)
        except ValueError:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {item.decode('utf-8', 'replace')}"
            ) from None

    try:
        return _elementwise(parse, x, dtype=dtype.numpy)
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
    """Format each item as text, padded on the left with `fill` to `width` characters.

    Floats have `precision` digits (-1: six) in C's style %f, or %e if `scientific`. With `shortest` they are formatted
    as TensorFlow prints them.
    """
    style = f".{6 if precision < 0 else precision}{'e' if scientific else 'f'}"

    def format_item(item: Any) -> bytes:
        """Return the text of an item in the given style, padded to the width."""
        if isinstance(item, bytes):
            return item.rjust(width, (fill or " ").encode()) if width > 0 else item
        if isinstance(item, (np.bool_, bool)):
            result = "true" if item else "false"
        elif isinstance(item, np.integer):
            result = str(int(item))
        elif shortest:
            result = element_text(item)
        elif isinstance(item, np.complexfloating):
            result = f"({item.real:{style}},{item.imag:{style}})"
        else:
            result = f"{float(item):{style}}"
        return (result.rjust(width, fill or " ") if width > 0 else result).encode()

    return _elementwise(format_item, x)


string_to_number = define(
    name="string_to_number", graphdef="StringToNumber", result=_parse_numbers_type, kernel=_parse_numbers,
    gradient=NO_GRADIENT, effects=Effects.RAISE,
    samples=(sample(text_array("1.5", "-2e3"), dtype=float64), sample(text_array("12"), dtype=int32)),
)  # fmt: skip
as_string = define(
    name="as_string", graphdef="AsString", result=_as_string_type, kernel=_as_string, gradient=NO_GRADIENT,
    samples=(sample(np.array([1.5, 2.0])), sample(np.array([1, 2])), sample(np.array([True]))),
)  # fmt: skip


# ---- templates


def _format(*inputs: Any, template: tuple[Any, ...], summarize: int = 3, style: str = "tensorflow") -> Any:
    return np.array(fill_template(template, inputs, sep="", summarize=summarize, style=style).encode(), object)


string_format = define(
    name="string_format", graphdef="StringFormat", result=lambda *inputs, **_: TensorType(string, ()),
    kernel=_format, gradient=no_cotangents,
    samples=(sample(np.array([1.5, 2.0]), template=("x is ", 0)), sample(template=("nothing",))),
)  # fmt: skip
