"""Functions on tensors of strings. Strings are bytes; `unit="UTF8_CHAR"` counts characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.arguments import static_axes
from autoconv.api.output import nested_piece, top_piece
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor


def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """The strings at the same place of each (broadcast) input, joined."""
    return apply("string_join", *inputs, separator=separator, name=name)


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings along `axis` (all of them by default), joined."""
    return apply(
        "string_reduce_join",
        inputs,
        axis=static_axes(axis),
        keepdims=bool(keepdims),
        separator=separator,
        name=name,
    )


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """How long each string is, as int32."""
    return apply("string_length", input, unit=unit, name=name)


def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Lower case: of ASCII letters, of all with encoding="utf-8"."""
    return apply("string_lower", input, encoding=encoding, name=name)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Upper case: of ASCII letters, of all with encoding="utf-8"."""
    return apply("string_upper", input, encoding=encoding, name=name)


def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at either end."""
    return apply("string_strip", input, name=name)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """`len` bytes or characters from `pos` on (negative: from the end), broadcast.

    Raises InvalidArgumentError for a position outside of the string.
    """
    return apply("string_substr", input, pos, len, unit=unit, name=name)


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Tensor:
    """The parts between separators (white space by default) along a new last dimension.

    One string gives a vector; several give rows filled up with empty strings to the longest.
    """
    return apply("string_split", input, sep=sep or None, maxsplit=int(maxsplit), name=name)


def bytes_split(input: Any, name: str | None = None) -> Tensor:
    """The bytes of each string along a new last dimension, filled up with empty strings."""
    return apply("string_characters", input, unit="BYTE", name=name)


def unicode_split(input: Any, input_encoding: str = "UTF-8", name: str | None = None) -> Tensor:
    """The characters of each UTF-8 string along a new last dimension, filled up with empty strings."""
    if input_encoding.upper() != "UTF-8":
        raise ValueError(f"unicode_split reads UTF-8, found the encoding {input_encoding!r}")
    return apply("string_characters", input, unit="UTF8_CHAR", name=name)


def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Tensor:
    """The numbers that strings spell; raises InvalidArgumentError for what is no number."""
    return apply("string_to_number", input, dtype=as_dtype(out_type), name=name)


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
    fill: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers and bools written out, floats with 6 decimals unless `precision` or `shortest` is given."""
    return apply(
        "as_string", input, precision=precision, scientific=scientific, shortest=shortest, width=width,
        fill=fill, name=name,
    )  # fmt: skip


def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Matches of `pattern` (Python's syntax) replaced; \1 in `rewrite` is the first group."""
    options = {"pattern": pattern, "rewrite": rewrite, "replace_global": replace_global}
    return apply("string_regex_replace", input, **options, name=name)


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """Whether the whole string matches `pattern` (Python's syntax)."""
    return apply("string_regex_full_match", input, pattern=pattern, name=name)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """A number in [0, num_buckets) for each string, int64: always the same one, but not TensorFlow's."""
    if num_buckets <= 0:
        raise ValueError(f"num_buckets has to be positive, found {num_buckets}")
    return apply("string_to_hash_bucket_fast", input, num_buckets=int(num_buckets), name=name)


to_hash_bucket = to_hash_bucket_fast


def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """The template with each placeholder replaced by the text that print shows of an input.

    Raises ValueError when there are more or fewer placeholders than inputs.
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    texts = template.split(placeholder)
    if len(texts) != len(values) + 1:
        raise ValueError(
            f"{len(texts) - 1} placeholder(s) in template does not match {len(values)} tensor(s)"
        )
    operands: list[Any] = []
    pieces: list[Any] = [texts[0]]
    for value, text in zip(values, texts[1:], strict=True):
        piece = top_piece(value, operands) if isinstance(value, str) else nested_piece(value, operands)
        pieces += [piece, text]
    return apply("string_format", *operands, template=tuple(pieces), summarize=summarize, name=name)
