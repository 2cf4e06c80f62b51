"""Raw ops of TensorFlow on strings, and the one that prints."""

from __future__ import annotations

import sys
from collections.abc import Callable

import autoconv as tf
from autoconv.runtime.annotations import TensorLike
from autoconv.tensorflow.raw_op_sparse import sparse_parts


def _string_split(input: TensorLike, sep: TensorLike, maxsplit: int = -1) -> tuple[object, ...]:
    """Split each string at `sep`, or at whitespace if `sep` is empty."""
    return sparse_parts(tf.strings.split(input, sep, maxsplit).to_sparse())


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    "StringSplitV2": _string_split,
    "UnicodeEncode": lambda input_values, input_splits, output_encoding, errors="replace", replacement_char=65533: (
        tf.strings.unicode_encode(
            tf.RaggedTensor.from_row_splits(input_values, input_splits), output_encoding, errors, replacement_char
        )
    ),
    # messages
    "PrintV2": lambda input, output_stream="stderr", end="\n": tf.print(
        input, output_stream=getattr(sys, output_stream, output_stream), end=end
    ),
}  # fmt: skip
