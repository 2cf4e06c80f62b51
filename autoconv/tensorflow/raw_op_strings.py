"""Raw ops of TensorFlow on strings, and those that print and assert."""

from __future__ import annotations

import sys
from collections.abc import Callable

import autoconv as tf
from autoconv.runtime.annotations import TensorLike
from autoconv.tensorflow.raw_op_sparse import sparse_parts

_STREAMS = {"stdout": sys.stdout, "stderr": sys.stderr}


def _string_split(input: TensorLike, sep: TensorLike, maxsplit: int = -1) -> tuple[object, ...]:
    """Split each string at `sep`, or at whitespace if `sep` is empty."""
    return sparse_parts(tf.strings.split(input, sep, maxsplit).to_sparse())


# Name of a raw op -> a function with its parameters, written in public functions.
FORMS: dict[str, Callable[..., object]] = {
    "StringJoin": lambda inputs, separator="": tf.strings.join(inputs, separator),
    "StringSplitV2": _string_split,
    "StringLength": lambda input, unit="BYTE": tf.strings.length(input, unit),
    "StringLower": lambda input, encoding="": tf.strings.lower(input, encoding),
    "StringUpper": lambda input, encoding="": tf.strings.upper(input, encoding),
    "StringStrip": lambda input: tf.strings.strip(input),
    "StringToNumber": lambda string_tensor, out_type=tf.float32: tf.strings.to_number(string_tensor, out_type),
    "StringToHashBucketFast": lambda input, num_buckets: tf.strings.to_hash_bucket_fast(input, num_buckets),
    "StringToHashBucketStrong": lambda input, num_buckets, key: tf.strings.to_hash_bucket_strong(
        input, num_buckets, key
    ),
    "StringToHashBucket": lambda string_tensor, num_buckets: tf.strings.to_hash_bucket(string_tensor, num_buckets),
    "StringFormat": lambda inputs, template="%s", placeholder="%s", summarize=3: tf.strings.format(
        template, inputs, placeholder, summarize
    ),
    "StaticRegexReplace": lambda input, pattern, rewrite, replace_global=True: tf.strings.regex_replace(
        input, pattern, rewrite, replace_global
    ),
    "StaticRegexFullMatch": lambda input, pattern: tf.strings.regex_full_match(input, pattern),
    "ReduceJoin": lambda inputs, reduction_indices, keep_dims=False, separator="": tf.strings.reduce_join(
        inputs, reduction_indices, keep_dims, separator
    ),
    "DecodeRaw": lambda bytes, out_type, little_endian=True: tf.io.decode_raw(bytes, out_type, little_endian),
    "DecodePaddedRaw": lambda input_bytes, fixed_length, out_type, little_endian=True: tf.io.decode_raw(
        input_bytes, out_type, little_endian, fixed_length
    ),
    "UnicodeEncode": lambda input_values, input_splits, output_encoding, errors="replace", replacement_char=65533: (
        tf.strings.unicode_encode(
            tf.RaggedTensor.from_row_splits(input_values, input_splits), output_encoding, errors, replacement_char
        )
    ),
    # messages
    "Assert": lambda condition, data, summarize=3: tf.debugging.Assert(condition, data, summarize),
    "PrintV2": lambda input, output_stream="stderr", end="\n": tf.print(
        input, output_stream=_STREAMS.get(output_stream, output_stream), end=end
    ),
}  # fmt: skip
