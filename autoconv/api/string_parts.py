"""Splits of strings by separators, characters and code points, and joins of neighbouring strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.ragged import partitions
from autoconv.api.ragged.joining import ragged_concat
from autoconv.api.ragged.rows import gather_rows
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.strings import encoding_attributes, join, unsorted_segment_join, without_control_characters
from autoconv.api.tensors.arguments import static_int, static_text
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import fill
from autoconv.api.tensors.indexing import boolean_mask
from autoconv.api.tensors.shaping import expand_dims, reshape, shape, stack
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import int64
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.text.unicode import ENCODINGS
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def split(input: RaggedLike, sep: TensorLike | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts between separators (white space by default): a vector for one string, a ragged tensor for several.

    >>> autoconv.strings.split("a b c").numpy()
    array([b'a', b'b', b'c'], dtype=object)
    >>> autoconv.strings.split(["a b", "c"])
    <autoconv.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    is_separator_known = sep is None or isinstance(sep, (str, bytes)) or static_value(sep) is not None
    separator = static_text(sep, "sep") if is_separator_known and sep is not None else ""
    operands = () if is_separator_known else (convert_to_tensor(sep),)
    options: dict[str, Any] = {"sep": separator or None, "maxsplit": static_int(maxsplit, "maxsplit")}

    def part_counts(texts: Tensor) -> Tensor:
        return apply("string_split", texts, *operands, counts_parts=True, **options)

    return _split_texts(input, lambda texts: apply("string_split", texts, *operands, name=name, **options), part_counts)


def bytes_split(input: RaggedLike, name: str | None = None) -> Any:
    """The bytes of each string: a vector for one string, a ragged tensor for several.

    >>> autoconv.strings.bytes_split("abc").numpy()
    array([b'a', b'b', b'c'], dtype=object)
    """
    characters = lambda texts: apply("string_characters", texts, unit="BYTE", name=name)
    return _split_texts(input, characters, lambda texts: _lengths_without_padding(characters(texts)))


def unicode_split(
    input: RaggedLike, input_encoding: str = "UTF-8", errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The characters of each string: a vector for one string, a ragged tensor for several.

    >>> autoconv.strings.unicode_split("aé", "UTF-8").numpy()
    array([b'a', b'\xc3\xa9'], dtype=object)
    """
    options = encoding_attributes("unicode_split", input_encoding, errors, replacement_char)
    is_default = options == {"encoding": "UTF-8", "errors": "replace", "replacement": 0xFFFD}

    def characters(texts: Tensor) -> Tensor:
        valid_texts = texts if is_default else apply("unicode_transcode", texts, output="UTF-8", **options)
        return apply("string_characters", valid_texts, unit="UTF8_CHAR", name=name)

    return _split_texts(input, characters, lambda texts: _lengths_without_padding(characters(texts)))


def unicode_decode(
    input: RaggedLike, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The code points of each string, int32: a vector for one string, a ragged tensor for several.

    `errors` selects the treatment of invalid bytes: "replace" (by `replacement_char`), "ignore", or "strict", which
    raises InvalidArgumentError. With `replace_control_characters`, the characters 0 to 31 are treated as invalid bytes.

    >>> autoconv.strings.unicode_decode("aé", "UTF-8").numpy()
    array([ 97, 233], dtype=int32)
    """
    options = encoding_attributes("unicode_decode", input_encoding, errors, replacement_char)

    def utf8_texts(texts: Tensor) -> Tensor:
        if replace_control_characters:
            return without_control_characters(texts, options)
        return apply("unicode_transcode", texts, output="UTF-8", **options)

    def code_point_counts(texts: Tensor) -> Tensor:
        return _lengths_without_padding(apply("string_characters", utf8_texts(texts), unit="UTF8_CHAR"))

    def code_points(texts: Tensor) -> Tensor:
        return apply("unicode_decode", utf8_texts(texts), name=name, **{**options, "encoding": "UTF-8"})

    return _split_texts(input, code_points, code_point_counts)


def unicode_decode_with_offsets(
    input: RaggedLike, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The code points of each string as `unicode_decode` gives them, and the byte at which each begins, int64.

    >>> [part.numpy() for part in autoconv.strings.unicode_decode_with_offsets("éa", "UTF-8")]
    [array([233,  97], dtype=int32), array([0, 2])]
    """
    code_points = unicode_decode(input, input_encoding, errors, replacement_char, replace_control_characters, name)
    return code_points, _offsets(input, input_encoding, errors, replacement_char, replace_control_characters)


def unicode_split_with_offsets(
    input: RaggedLike, input_encoding: str = "UTF-8", errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The characters of each string as `unicode_split` gives them, and the byte at which each begins, int64.

    >>> [part.numpy() for part in autoconv.strings.unicode_split_with_offsets("éa", "UTF-8")]
    [array([b'\\xc3\\xa9', b'a'], dtype=object), array([0, 2])]
    """
    characters = unicode_split(input, input_encoding, errors, replacement_char, name)
    return characters, _offsets(input, input_encoding, errors, replacement_char)


def _offsets(
    input: RaggedLike, encoding: str, errors: str, replacement: int, replaces_control_characters: bool = False
) -> Any:
    """Return the byte at which each character begins in its string, in the structure of `unicode_decode`."""
    name = encoding_attributes("unicode_decode_with_offsets", encoding, errors, replacement)["encoding"]
    function = CharacterOffsets(name, errors == "ignore", replaces_control_characters)

    def padded_offsets(texts: Tensor) -> Tensor:
        shape = None if texts.shape.rank is None else (*texts.shape.as_list(), None)
        return numpy_function(function, [texts], [TensorSpec(shape, int64)])[0]  # type: ignore[no-any-return]

    def offset_counts(texts: Tensor) -> Tensor:
        return RaggedTensor.from_tensor(padded_offsets(texts), padding=-1).row_lengths()  # type: ignore[no-any-return]

    return _split_texts(input, padded_offsets, offset_counts)


@attribute_class
@dataclass(frozen=True)
class CharacterOffsets:
    """A function that returns the byte at which each character begins in its string, padded with -1, int64.

    A sequence of invalid bytes counts as one character, or as none with `ignores_errors`. With `has_control_errors`,
    control characters are treated as invalid bytes.
    """

    graphdef_name: ClassVar = "UnicodeDecodeWithOffsets"
    encoding: str
    ignores_errors: bool
    has_control_errors: bool

    def __call__(self, texts: Any) -> Any:
        offsets = {position: self._offsets_of(text) for position, text in np.ndenumerate(np.asarray(texts, object))}
        result = np.full((*np.shape(texts), max(map(len, offsets.values()), default=0)), -1, np.int64)
        for position, row in offsets.items():
            result[position][: len(row)] = row
        return result

    def _offsets_of(self, text: bytes) -> list[int]:
        """Return the offsets of one string."""
        codec = ENCODINGS[self.encoding]
        offsets, start = [], 0
        while start < len(text):
            valid_end = next_start = len(text)
            try:
                text[start:].decode(codec)
            except UnicodeDecodeError as error:
                valid_end, next_start = start + error.start, start + error.end
            for character in text[start:valid_end].decode(codec):
                is_error = self.has_control_errors and character < " "
                if not (is_error and self.ignores_errors):
                    offsets.append(start)
                start += len(character.encode(codec))
            if valid_end < next_start and not self.ignores_errors:
                offsets.append(valid_end)
            start = next_start
        return offsets


def ngrams(
    data: RaggedLike, ngram_width: int | Sequence[int], separator: str = " ", pad_values: Any = None,
    padding_width: int | None = None, preserve_short_sequences: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Join each `ngram_width` neighbours along the last dimension, for one width after the other if there are several.

    `pad_values`, one text or a pair, are repeated before and after each row, width - 1 times or `padding_width` times
    if that is less. With `preserve_short_sequences`, all texts of a row that is shorter than a width are joined.

    >>> autoconv.strings.ngrams(["a", "b", "c"], 2).numpy()
    array([b'a b', b'b c'], dtype=object)
    >>> autoconv.strings.ngrams(["a", "b"], 2, pad_values="_").numpy()
    array([b'_ a', b'a b', b'b _'], dtype=object)
    """
    known_widths = static_value(ngram_width)
    widths = () if known_widths is None else tuple(np.ravel(known_widths).tolist())
    if not widths or any(not isinstance(width, int) or width < 1 for width in widths):
        raise ValueError(f"ngram_width has to be positive integers, found {ngram_width!r}")
    rows = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    if pad_values is None and not preserve_short_sequences:
        return _join_neighbours(rows, widths, separator, name)
    pad_pair = (pad_values, pad_values) if pad_values is None or isinstance(pad_values, (str, bytes)) else pad_values
    if isinstance(rows, RaggedTensor):
        return _join_padded_neighbours(
            rows, widths, separator, tuple(pad_pair), padding_width, preserve_short_sequences
        )
    one_row = RaggedTensor.from_tensor(expand_dims(rows, 0), ragged_rank=rows.shape.rank or 0)
    return _join_padded_neighbours(
        one_row, widths, separator, tuple(pad_pair), padding_width, preserve_short_sequences
    ).to_tensor()[0]


def _join_neighbours(rows: RaggedLike, widths: Sequence[int], separator: str, name: str | None = None) -> Any:
    """Return the joins of neighbours in each row, for one width after the other."""
    if isinstance(rows, RaggedTensor):
        return _join_ragged_neighbours(rows, widths, separator)
    return apply("string_ngrams", rows, widths=tuple(widths), separator=separator, name=name)


def _join_padded_neighbours(
    rows: RaggedTensor, widths: Sequence[int], separator: str, pad_pair: tuple[Any, Any], max_padding: int | None,
    keeps_short_rows: bool,
) -> Any:
    """Return the joins of neighbours in each row, padded first.

    With `keeps_short_rows`, a row that is too short for each of the widths becomes one text.
    """
    if rows.ragged_rank > 1:
        joined_values = _join_padded_neighbours(rows.values, widths, separator, pad_pair, max_padding, keeps_short_rows)
        return rows.with_values(joined_values)
    joined_by_width = []
    for width in widths:
        padding_count = width - 1 if max_padding is None else min(width - 1, max_padding)
        joined_by_width.append(_join_windows(_pad_rows(rows, pad_pair, padding_count), width, separator))
    result = joined_by_width[0] if len(joined_by_width) == 1 else ragged_concat(joined_by_width, 1)
    if not keeps_short_rows:
        return result
    short_text_counts = cast((result.row_lengths() == 0) & (rows.row_lengths() > 0), int64)
    padded_rows = _pad_rows(rows, pad_pair, max_padding or 0)
    joined_rows = unsorted_segment_join(padded_rows.values, padded_rows.value_rowids(), padded_rows.nrows(), separator)
    short_texts = boolean_mask(joined_rows, short_text_counts > 0)
    short_rows = RaggedTensor.from_row_lengths(short_texts, short_text_counts, validate=False)
    return ragged_concat([result, short_rows], 1)


def _pad_rows(rows: RaggedTensor, pad_pair: tuple[Any, Any], count: int) -> RaggedTensor:
    """Return the rows with `count` texts at either end; `pad_pair` is (leading text, trailing text)."""
    leading_text, _ = pad_pair
    if leading_text is None or not count:
        return rows
    leading, trailing = (fill(stack([cast(rows.nrows(), int64), count]), end) for end in pad_pair)
    return ragged_concat([leading, rows, trailing], 1)  # type: ignore[no-any-return]


def _split_texts(
    input: RaggedLike, split_and_pad: Callable[[Tensor], Tensor], part_counts: Callable[[Tensor], Tensor]
) -> Any:
    """Return the parts of each string of `input`: a vector for a scalar, else a ragged tensor.

    `split_and_pad` returns a row of parts for each string, padded with empty parts, and `part_counts` the number of
    parts that are no padding. The padding stays for strings of unknown rank.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_split_texts(input.flat_values, split_and_pad, part_counts))
    texts = convert_to_tensor(input)
    rank = texts.shape.rank
    if not rank:
        return split_and_pad(texts)
    if rank > 1:
        result = _split_texts(reshape(texts, [-1]), split_and_pad, part_counts)
        sizes = shape(texts, int64)
        for axis in range(rank - 1, 0, -1):
            static_size = texts.shape[axis]
            size: Any = sizes[axis] if static_size is None else static_size
            result = RaggedTensor.from_uniform_row_length(result, size, validate=False)
        return result
    return RaggedTensor.from_tensor(split_and_pad(texts), lengths=part_counts(texts))


def _lengths_without_padding(parts: Tensor) -> Tensor:
    """Return the lengths of rows without the empty parts at their ends."""
    return RaggedTensor.from_tensor(parts, padding="").row_lengths()  # type: ignore[no-any-return]


def _join_ragged_neighbours(data: RaggedTensor, widths: Sequence[int], separator: str) -> Any:
    """Return the joins of neighbours in the innermost rows, for one width after the other."""
    if isinstance(data.values, RaggedTensor):
        return data.with_values(_join_ragged_neighbours(data.values, widths, separator))
    joined_by_width = [_join_windows(data, width, separator) for width in widths]
    return joined_by_width[0] if len(joined_by_width) == 1 else ragged_concat(joined_by_width, 1)


def _join_windows(data: RaggedTensor, width: int, separator: str) -> RaggedTensor:
    """Return the joins of `width` neighbours of each row."""
    first_texts = data[:, : 1 - width] if width > 1 else data  # of each window
    value_positions = partitions.positions_in_rows(first_texts) + gather_rows(
        partitions.starts(data), partitions.rowids(first_texts)
    )
    neighbours = [gather_rows(data.values, value_positions + offset) for offset in range(width)]
    return first_texts.with_values(join(neighbours, separator))
