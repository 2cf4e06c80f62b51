"""Functions on strings, eager and traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv import strings
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import float64, int32
from autoconv.ops.text.fingerprint import fingerprint
from autoconv.runtime.tensors.conversion import constant

WORDS = np.array(["ab c", "Dé", ""])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda s: strings.join([s, "!"], "-"), [b"ab c-!", "Dé-!".encode(), b"-!"]),
        (lambda s: strings.reduce_join(s, separator="|"), "ab c|Dé|".encode()),
        (lambda s: strings.length(s), [4, 3, 0]),
        (lambda s: strings.length(s, unit="UTF8_CHAR"), [4, 2, 0]),
        (lambda s: strings.lower(s), [b"ab c", "dé".encode(), b""]),
        (lambda s: strings.upper(s, encoding="utf-8"), [b"AB C", "DÉ".encode(), b""]),
        (lambda s: strings.strip(strings.join([" ", s, " "])), [b"ab c", "Dé".encode(), b""]),
        (lambda s: strings.substr(s[0], [0, -3], [1, 2]), [b"a", b"b "]),
        (lambda s: strings.split(s).to_tensor(), [[b"ab", b"c"], ["Dé".encode(), b""], [b"", b""]]),
        (lambda s: strings.split(s[0], "b"), [b"a", b" c"]),
        (lambda s: strings.bytes_split(s[0]), [b"a", b"b", b" ", b"c"]),
        (lambda s: strings.unicode_split(s[1]), [b"D", "é".encode()]),
        (lambda s: strings.regex_replace(s, "[a-c]", "x"), [b"xx x", "Dé".encode(), b""]),
        (lambda s: strings.regex_replace(s[0], "([a-c])", r"<\1>", replace_global=False), b"<a>b c"),
        (lambda s: strings.regex_full_match(s, "a.*"), [True, False, False]),
        (lambda s: strings.format("<{}|{}>", [s[:1], 1]), b'<["ab c"]|1>'),
        (lambda s: s[0] + "x", b"ab cx"),
        (lambda s: strings.to_hash_bucket_fast(s, 1), [0, 0, 0]),
    ],
)
def test_values(run_and_trace: Callable[..., Any], function: Callable[..., Any], expected: Any) -> None:
    np.testing.assert_array_equal(run_and_trace(function, WORDS, unknown_rank=False).numpy(), expected)


def test_numbers(run_and_trace: Callable[..., Any]) -> None:
    texts = np.array(["1.5", "-2e3", " 7 "])
    np.testing.assert_array_equal(run_and_trace(strings.to_number, texts).numpy(), [1.5, -2000, 7])
    assert strings.to_number("3", int32).dtype is int32 and strings.to_number("3", float64).dtype is float64
    with pytest.raises(InvalidArgumentError, match="could not correctly convert string: x"):
        strings.to_number("x")
    assert strings.as_string([1, 20], width=3, fill="0").numpy().tolist() == [b"001", b"020"]
    assert strings.as_string(3.14159265).numpy() == b"3.141593"
    assert strings.as_string(0.5, precision=1).numpy() == b"0.5"
    assert strings.as_string(0.1, shortest=True).numpy() == b"0.1"
    assert strings.as_string(1234.5, scientific=True, precision=2).numpy() == b"1.23e+03"
    assert strings.as_string([True, False]).numpy().tolist() == [b"true", b"false"]


def test_hash_is_stable() -> None:
    found = strings.to_hash_bucket_fast(["a", "b", "a"], 1000).numpy()
    assert found[0] == found[2] and found.dtype == np.int64 and 0 <= found.min() <= found.max() < 1000


def test_errors() -> None:
    with pytest.raises(InvalidArgumentError, match="out of range for string"):
        strings.substr("abc", 5, 1)
    with pytest.raises(ValueError, match="placeholder"):
        strings.format("{} {}", [1])
    with pytest.raises(ValueError, match="positive"):
        strings.to_hash_bucket_fast("a", 0)


# Results of Google's FarmHash (the package pyfarmhash) for the first n characters of "abcdefghijabcdefghij…".
FINGERPRINTS = {
    0: 11160318154034397263, 1: 12917804110809363939, 3: 2640714258260161385,
    4: 1897425971756105985, 7: 4341691227789030229, 8: 18368443631171807497,
    16: 4848994001858006574, 17: 17429800987940222465, 32: 13319027929656294515,
    33: 13549487170563238788, 64: 8115176665984236569, 65: 12090645907386023856,
    128: 11127909914777135623, 129: 17645447107499386126, 200: 10143958508126119551,
}  # fmt: skip


def test_hashes_are_those_of_farmhash() -> None:
    text = "abcdefghij" * 20
    assert {n: fingerprint(text[:n].encode()) for n in FINGERPRINTS} == FINGERPRINTS
    # FARM_FINGERPRINT in BigQuery's documentation, and ac.strings.to_hash_bucket_fast in TensorFlow's.
    assert fingerprint(b"1footrue") == 2**64 - 1541654101129638711
    assert fingerprint(b"2applefalse") == 2794438866806483259
    found = strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3)
    assert found.numpy().tolist() == [0, 2, 2] and found.dtype.name == "int64"


def test_code_points(run_and_trace: Callable[..., Any]) -> None:
    texts = np.array(["Dé", "€", ""])
    decode = lambda s: strings.unicode_decode(s, "UTF-8")
    assert run_and_trace(lambda s: decode(s).to_tensor(), texts, unknown_rank=False).numpy().tolist() == [
        [68, 233],
        [8364, 0],
        [0, 0],
    ]
    assert decode("ab").numpy().tolist() == [97, 98] and decode("ab").dtype is int32
    assert run_and_trace(strings.unicode_encode, np.array([[68, 233]], np.int32)).numpy().tolist() == ["Dé".encode()]
    wide = run_and_trace(lambda s: strings.unicode_transcode(s, "UTF-8", "UTF-16-BE"), texts[:1])
    assert wide.numpy().tolist() == ["Dé".encode("utf-16-be")]
    assert strings.unicode_split(wide, "UTF-16-BE").to_list() == [[b"D", "é".encode()]]


def test_invalid_bytes() -> None:
    broken = b"a\xffb"
    assert strings.unicode_decode(broken, "UTF-8").numpy().tolist() == [97, 0xFFFD, 98]
    assert strings.unicode_decode(broken, "UTF-8", "replace", ord("?")).numpy().tolist() == [97, 63, 98]
    assert strings.unicode_decode(broken, "UTF-8", "ignore").numpy().tolist() == [97, 98]
    with pytest.raises(InvalidArgumentError, match="Invalid formatting"):
        strings.unicode_decode(broken, "UTF-8", "strict")
    texts = [b"\xff a\xc3\xa9b", b"", "\u20ac\U0001f600\x01".encode()]
    offsets = lambda errors, **options: strings.unicode_decode_with_offsets(texts, "UTF-8", errors, **options)[1]
    assert offsets("replace").to_list() == [[0, 1, 2, 3, 5], [], [0, 3, 7]]
    assert offsets("ignore").to_list() == [[1, 2, 3, 5], [], [0, 3, 7]]
    assert offsets("ignore", replace_control_characters=True).to_list() == [[1, 2, 3, 5], [], [0, 3]]
    wide = ["a\u20ac".encode("utf-16-be"), "\U0001f600b".encode("utf-16-be")]
    starts = ac.function(lambda s: strings.unicode_split_with_offsets(s, "UTF-16-BE")[1])(ac.constant(wide))
    assert starts.to_list() == [[0, 2], [0, 4]]
    options = {"replace_control_characters": True}
    assert strings.unicode_decode(["a\x01\xe9", "\n"], "UTF-8", **options).to_list() == [[97, 0xFFFD, 0xE9], [0xFFFD]]
    transcode = ac.function(lambda s: strings.unicode_transcode(s, "UTF-8", "UTF-16-BE", "ignore", **options))
    assert transcode(["a\x1fb", "\n"]).numpy().tolist() == [b"\0a\0b", b""]
    assert strings.unicode_encode([97, 0x110000]).numpy() == "a\ufffd".encode()
    with pytest.raises(InvalidArgumentError, match="out of range"):
        strings.unicode_encode([0x110000], errors="strict")
    with pytest.raises(ValueError, match="supports the encodings UTF-8, UTF-16-BE, UTF-32-BE; found 'latin-1'"):
        strings.unicode_decode("a", "latin-1")
    with pytest.raises(ValueError, match="errors is one of"):
        strings.unicode_split("a", errors="loud")


def test_ngrams(run_and_trace: Callable[..., Any]) -> None:
    words = np.array([["a", "b", "c"], ["d", "e", "f"]])
    found = run_and_trace(lambda s: strings.ngrams(s, 2), words, unknown_rank=False)
    assert found.numpy().tolist() == [[b"a b", b"b c"], [b"d e", b"e f"]]
    assert strings.ngrams(words[0], [1, 3], "-").numpy().tolist() == [b"a", b"b", b"c", b"a-b-c"]
    assert strings.ngrams(words[0], 4).numpy().tolist() == []
    with pytest.raises(ValueError, match="positive integers"):
        strings.ngrams(words, 0)


def test_number_forms_that_only_python_accepts_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="1_000"):
        strings.to_number("1_000", int32)


def test_zeros_at_the_end_are_kept() -> None:
    assert constant("a\x00").numpy() == b"a\x00" and constant(b"\x00").numpy() == b"\x00"
    assert constant(["a\x00", b"b\x00\x00"]).numpy().tolist() == [b"a\x00", b"b\x00\x00"]
    assert constant([["a"], ["bc"]]).shape.as_list() == [2, 1]
    with pytest.raises(ValueError, match="mixed types"):
        constant(["a", 1])


PARTS = {
    "split": (lambda: strings.split(["a b", "", "c"]), [[b"a", b"b"], [], [b"c"]]),
    "split_by": (lambda: strings.split(["a,,", ",b", ""], ","), [[b"a", b"", b""], [b"", b"b"], [b""]]),
    "split_once": (lambda: strings.split(["a,b,c"], ",", maxsplit=1), [[b"a", b"b,c"]]),
    "bytes": (lambda: strings.bytes_split(["ab", "", "c"]), [[b"a", b"b"], [], [b"c"]]),
    "characters": (lambda: strings.unicode_split(["aé", ""]), [[b"a", "é".encode()], []]),
    "code_points": (lambda: strings.unicode_decode(["aé", "", "b"], "UTF-8"), [[97, 233], [], [98]]),
    "matrix": (lambda: strings.split([["a b"], ["c"]]), [[[b"a", b"b"]], [[b"c"]]]),
    "of_ragged": (lambda: strings.split(ac.ragged.constant([["a b"], []])), [[[b"a", b"b"]], []]),
    "ngrams": (lambda: strings.ngrams(strings.split(["a b c", "d"]), 2), [[b"a b", b"b c"], []]),
    "ngrams_of_two": (lambda: strings.ngrams(strings.split(["a b", "d"]), (1, 2)), [[b"a", b"b", b"a b"], [b"d"]]),
    "lower": (lambda: strings.lower(strings.split(["A B", "C"])), [[b"a", b"b"], [b"c"]]),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_several_strings_are_ragged(name: str) -> None:
    function, expected = PARTS[name]
    assert function().to_list() == expected
    assert ac.function(function)().to_list() == expected


def test_hashes_under_a_key_are_those_of_tensorflow(run_and_trace: Callable[..., Any]) -> None:
    texts = np.array(["", "a", "hello world", "x" * 20])
    found = run_and_trace(lambda s: strings.to_hash_bucket_strong(s, 1000003, [1, 2]), texts)
    assert found.numpy().tolist() == [383377, 332029, 598105, 103526]  # printed by TensorFlow 2.21
    with pytest.raises(ValueError, match="2 elements"):
        strings.to_hash_bucket_strong("a", 3, [1])


@pytest.mark.parametrize(
    ("rows", "width", "options", "expected"),
    [
        ([["a", "b"]], [1, 2], {"pad_values": ("<", ">")}, [["a", "b", "< a", "a b", "b >"]]),
        (["a", "b", "c"], 3, {"pad_values": "_"}, ["_ _ a", "_ a b", "a b c", "b c _", "c _ _"]),
        (["a", "b", "c"], 3, {"pad_values": "_", "padding_width": 1}, ["_ a b", "a b c", "b c _"]),
        (["a", "b"], 3, {"preserve_short_sequences": True}, ["a b"]),
        (["a", "b"], 4, {"pad_values": "_", "padding_width": 1, "preserve_short_sequences": True}, ["_ a b _"]),
    ],
)
def test_padded_neighbours(rows, width, options, expected):
    found = ac.strings.ngrams(rows, width, **options).numpy().tolist()
    assert found == [[x.encode() for x in row] if isinstance(row, list) else row.encode() for row in expected]


def test_padded_neighbours_of_ragged_rows():
    rows = ac.ragged.constant([["a"], ["b", "c", "d"], []])
    padded = ac.strings.ngrams(rows, 2, pad_values=("L", "R"))
    assert padded.to_list() == [[b"L a", b"a R"], [b"L b", b"b c", b"c d", b"d R"], [b"L R"]]
    ngrams = ac.strings.ngrams(rows, [2, 3], preserve_short_sequences=True)
    assert ngrams.to_list() == [[b"a"], [b"b c", b"c d", b"b c d"], []]


@pytest.mark.parametrize("sep, parts", [
    (",", [["a", "b", "c"], ["d", ""], [" e f "]]), ("", [["a,b,c"], ["d,"], ["e", "f"]]),
])  # fmt: skip
def test_a_separator_may_be_a_tensor(sep, parts):
    texts = ac.constant(["a,b,c", "d,", " e f "])
    split = ac.function(lambda texts, sep: ac.strings.split(texts, sep))
    raw_split = ac.function(lambda texts, sep: ac.raw_ops.StringSplitV2(input=texts, sep=sep)[1])
    expected = [[part.encode() for part in row] for row in parts]
    for function in (split, ac.strings.split):
        assert function(texts, ac.constant(sep)).to_list() == expected
    assert raw_split(texts, ac.constant(sep)).numpy().tolist() == [part for row in expected for part in row]


def test_pads_of_strings():
    assert ac.pad(["a"], [[1, 1]], constant_values="é").numpy().tolist() == ["é".encode(), b"a", "é".encode()]
    assert ac.pad(["a"], [[0, 1]]).numpy().tolist() == [b"a", b""]


def test_fingerprints_of_rows_with_one_string():
    expected = [[227, 117, 223, 182, 101, 66, 69, 179], [22, 241, 200, 94, 33, 96, 178, 163]]  # TensorFlow's
    assert ac.fingerprint(["a", "b"]).numpy().tolist() == expected
    assert ac.fingerprint([["a"], ["b"]]).numpy().tolist() == expected
