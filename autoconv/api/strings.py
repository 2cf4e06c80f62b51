"""Functions on tensors of strings. Strings are bytes; with `unit="UTF8_CHAR"`, lengths and positions are characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.control.output import nested_piece
from autoconv.api.tensors.accepted_dtypes import check_result_dtype
from autoconv.api.tensors.arguments import static_axes, static_text
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import LARGE_INTEGERS, SINGLE_OR_DOUBLE
from autoconv.graph.dtypes import as_dtype, float32, uint32, uint64
from autoconv.ops.text.unicode import ENCODINGS
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """The strings at the same position of all inputs, which are broadcast, joined with `separator` between them.

    >>> autoconv.strings.join([["a", "b"], ["c", "d"]], separator="-").numpy()
    array([b'a-c', b'b-d'], dtype=object)
    """
    return apply("string_join", *inputs, separator=separator, name=name)


def reduce_join(
    inputs: TensorLike, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings along `axis` (all axes by default), joined.

    >>> autoconv.strings.reduce_join(["a", "b"], separator=" ").numpy()
    b'a b'
    """
    options = {"axis": static_axes(axis), "keepdims": bool(keepdims), "separator": separator}
    return apply("string_reduce_join", inputs, **options, name=name)


def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The length of each string, as int32.

    >>> autoconv.strings.length(["a", "bcd"]).numpy()
    array([1, 3], dtype=int32)
    """
    return apply("string_length", input, unit=unit, name=name)


def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """The strings in lower case: ASCII letters only, or all letters with encoding="utf-8".

    >>> autoconv.strings.lower(["AB"]).numpy()
    array([b'ab'], dtype=object)
    """
    return apply("string_lower", input, encoding=encoding, name=name)


def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """The strings in upper case: ASCII letters only, or all letters with encoding="utf-8".

    >>> autoconv.strings.upper(["ab"]).numpy()
    array([b'AB'], dtype=object)
    """
    return apply("string_upper", input, encoding=encoding, name=name)


def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """The strings without white space at either end.

    >>> autoconv.strings.strip([" a "]).numpy()
    array([b'a'], dtype=object)
    """
    return apply("string_strip", input, name=name)


def substr(input: TensorLike, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The `len` bytes or characters from `pos` on; a negative `pos` counts from the end. The arguments broadcast.

    Raises InvalidArgumentError for a position outside of the string.

    >>> autoconv.strings.substr(["hello"], 1, 3).numpy()
    array([b'ell'], dtype=object)
    """
    return apply("string_substr", input, pos, len, unit=unit, name=name)


def unicode_encode(
    input: TensorLike, output_encoding: str = "UTF-8", errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The strings whose code points are along the last dimension of `input`.

    >>> autoconv.strings.unicode_encode([97, 233], "UTF-8").numpy()
    b'a\xc3\xa9'
    """
    options = encoding_attributes("unicode_encode", output_encoding, errors, replacement_char)
    return apply("unicode_encode", input, name=name, **options)


def unicode_transcode(
    input: TensorLike, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Strings converted from one encoding to another, with invalid bytes treated as in `unicode_decode`.

    With `replace_control_characters`, the characters 0 to 31 count as invalid bytes. With `errors` "strict" that
    raises NotImplementedError.

    >>> autoconv.strings.unicode_transcode("é", "UTF-8", "UTF-16-BE").numpy().hex()
    '00e9'
    """
    options = encoding_attributes("unicode_transcode", input_encoding, errors, replacement_char)
    encoding = encoding_attributes("unicode_transcode", output_encoding, errors, replacement_char)["encoding"]
    texts: Any = input
    if replace_control_characters:
        texts, options = without_control_characters(input, options), {**options, "encoding": "UTF-8"}
    return apply("unicode_transcode", texts, output=encoding, name=name, **options)


def without_control_characters(texts: TensorLike, options: dict[str, Any]) -> Tensor:
    """Return the texts in UTF-8, with control characters (0 to 31) treated like invalid bytes.

    `options` are attributes that `encoding_attributes` returns. Raises NotImplementedError for "strict" among them.
    """
    if options["errors"] == "strict":
        raise NotImplementedError("replace_control_characters=True works with errors='replace' or 'ignore' only")
    replacement = "" if options["errors"] == "ignore" else chr(options["replacement"]).replace("\\", r"\\")
    utf8_texts = apply("unicode_transcode", texts, output="UTF-8", **options)
    return apply(
        "string_regex_replace", utf8_texts, pattern="[\x00-\x1f]", rewrite=replacement, replace_global=True
    )


def to_number(input: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """The numbers represented by strings; raises InvalidArgumentError for a string that is no number.

    >>> autoconv.strings.to_number(["1.5", "2"]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    check_result_dtype(out_type, SINGLE_OR_DOUBLE | LARGE_INTEGERS | {uint32, uint64})
    return apply("string_to_number", input, dtype=as_dtype(out_type), name=name)


def as_string(
    input: TensorLike, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
    fill: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Numbers and bools as strings, floats with 6 decimals unless `precision` or `shortest` is given.

    >>> autoconv.as_string([1, 2]).numpy()
    array([b'1', b'2'], dtype=object)
    """
    if not isinstance(fill, (str, bytes)):
        raise TypeError(f"Expected string for argument 'fill' not {fill!r}.")
    dtype = convert_to_tensor(input).dtype
    # A text comes back as it is, whatever the precision.
    takes_precision = dtype.is_floating or dtype.is_complex or dtype.is_string
    if precision > -1 and not takes_precision:
        raise InvalidArgumentError(f"precision not supported for datatype {dtype.name}")
    return apply(
        "as_string", input, precision=int(precision), scientific=scientific, shortest=shortest, width=int(width),
        fill=fill, name=name,
    )  # fmt: skip


def regex_replace(
    input: TensorLike, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Matches of `pattern` (Python's syntax) replaced; \1 in `rewrite` is the first group.

    >>> autoconv.strings.regex_replace(["banana"], "a", "o").numpy()
    array([b'bonono'], dtype=object)
    """
    texts = {"pattern": static_text(pattern, "pattern"), "rewrite": static_text(rewrite, "rewrite")}
    return apply("string_regex_replace", input, **texts, replace_global=replace_global, name=name)


def regex_full_match(input: TensorLike, pattern: str, name: str | None = None) -> Tensor:
    """True where the whole string matches `pattern` (Python's syntax).

    >>> autoconv.strings.regex_full_match(["ab", "b"], "a.*").numpy()
    array([ True, False])
    """
    return apply("string_regex_full_match", input, pattern=static_text(pattern, "pattern"), name=name)


def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """A number in [0, num_buckets) for each string, int64.

    The number is the same in every process: FarmHash's fingerprint modulo the number of buckets.

    >>> autoconv.strings.to_hash_bucket_fast(["a", "b"], 10).numpy()
    array([9, 2])
    """
    _check_bucket_count(num_buckets)
    return apply("string_to_hash_bucket_fast", input, num_buckets=int(num_buckets), name=name)


def to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """A number in [0, num_buckets) for each string, int64, by the hash of TensorFlow's first version.

    The number is the same in every process: MurmurHash64A modulo the number of buckets. Prefer `to_hash_bucket_fast`.

    >>> autoconv.strings.to_hash_bucket(["Hello", "TensorFlow", "2.x"], 3).numpy()
    array([2, 0, 1])
    """
    _check_bucket_count(num_buckets)
    return apply("string_to_hash_bucket", input, num_buckets=int(num_buckets), name=name)


def _check_bucket_count(num_buckets: int) -> None:
    """Raise ValueError unless the number of buckets is positive."""
    if num_buckets <= 0:
        raise ValueError(f"num_buckets has to be positive, found {num_buckets}")


def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings of each segment, joined in their order; negative segments are dropped.

    The shape of `segment_ids` is a prefix of that of `inputs`; in the result, one dimension of size `num_segments`
    replaces it.

    >>> autoconv.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, separator="-").numpy()
    array([b'b', b'a-c', b''], dtype=object)
    """
    return apply("string_segment_join", inputs, segment_ids, num_segments, separator=separator, name=name)


def to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """A number in [0, num_buckets) for each string, int64, under a key of two integers.

    The number is the same in every process: SipHash modulo the number of buckets. Raises ValueError unless `key` has
    two integers.

    >>> autoconv.strings.to_hash_bucket_strong(["a", "b"], 1000, key=[1, 2]).numpy()
    array([646, 184])
    """
    _check_bucket_count(num_buckets)
    if len(key) != 2:
        raise ValueError(f"Key must have 2 elements, found {len(key)}")
    first_word, second_word = (int(word) & (1 << 64) - 1 for word in key)
    return apply(
        "string_to_hash_bucket_strong", input, num_buckets=int(num_buckets), key=(first_word, second_word), name=name
    )


def encoding_attributes(function: str, encoding: str, errors: str, replacement: int) -> dict[str, Any]:
    """Return the attributes of the ops for Unicode: encoding, errors, replacement.

    `function` is the name of the public function in errors. Raises InvalidArgumentError for an unknown encoding, and
    ValueError for another value of `errors` than "replace", "ignore" and "strict".
    """
    name = encoding.upper().replace("UTF8", "UTF-8").replace("UTF16", "UTF-16").replace("UTF32", "UTF-32")
    if name not in ENCODINGS:
        raise InvalidArgumentError(f"{function} supports the encodings {', '.join(ENCODINGS)}; found {encoding!r}")
    if errors not in ("replace", "ignore", "strict"):
        raise ValueError(f"errors is one of 'replace', 'ignore' and 'strict'; found {errors!r}")
    return {"encoding": name, "errors": errors, "replacement": int(replacement)}


def format(
    template: str, inputs: TensorLike, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """The template with each placeholder replaced by an input, formatted as `autoconv.print` does.

    Raises ValueError when there are more or fewer placeholders than inputs.

    >>> autoconv.strings.format("x is {}", (autoconv.constant([1, 2]),)).numpy()
    b'x is [1 2]'
    """
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    literal_texts = template.split(placeholder)
    if len(literal_texts) != len(values) + 1:
        raise ValueError(
            f"{len(literal_texts) - 1} placeholder(s) in template does not match {len(values)} tensor(s)"
        )
    operands: list[Any] = []  # `nested_piece` adds to them
    pieces: list[Any] = [literal_texts[0]]
    for value, literal_text in zip(values, literal_texts[1:], strict=True):
        pieces += [nested_piece(convert_to_tensor(value), operands), literal_text]
    return apply("string_format", *operands, template=tuple(pieces), summarize=summarize, name=name)
