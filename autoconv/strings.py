"""Tensors of strings."""

from autoconv.api.string_parts import (
    bytes_split,
    ngrams,
    split,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_split,
    unicode_split_with_offsets,
)
from autoconv.api.string_scripts import unicode_script
from autoconv.api.strings import (
    as_string,
    format,
    join,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    strip,
    substr,
    to_hash_bucket,
    to_hash_bucket_fast,
    to_hash_bucket_strong,
    to_number,
    unicode_encode,
    unicode_transcode,
    unsorted_segment_join,
    upper,
)
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong",
    "to_number", "unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_script", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper",
]  # fmt: skip

_wrap_public_functions(globals())
