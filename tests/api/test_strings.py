"""Functions on strings, eager and traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autoconv.api import strings
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import float64, int32

WORDS = np.array(["ab c", "Dé", ""])


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda s: strings.join([s, "!"], "-"), [b"ab c-!", "Dé-!".encode(), b"-!"]),
        (lambda s: strings.reduce_join(s, separator="|"), "ab c|Dé|".encode()),
        (lambda s: strings.length(s), [4, 3, 0]),
        (lambda s: strings.length(s, unit="UTF8_CHAR"), [4, 2, 0]),
        (lambda s: strings.lower(s), [b"ab c", "dé".encode(), b""]),
        (lambda s: strings.upper(s, encoding="utf-8"), [b"AB C", "DÉ".encode(), b""]),
        (lambda s: strings.strip(strings.join([" ", s, " "])), [b"ab c", "Dé".encode(), b""]),
        (lambda s: strings.substr(s[0], [0, -3], [1, 2]), [b"a", b"b "]),
        (lambda s: strings.split(s), [[b"ab", b"c"], ["Dé".encode(), b""], [b"", b""]]),
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
def test_values(both: Callable[..., Any], function: Callable[..., Any], wanted: Any) -> None:
    np.testing.assert_array_equal(both(function, WORDS, unknown_rank=False).numpy(), wanted)


def test_numbers(both: Callable[..., Any]) -> None:
    texts = np.array(["1.5", "-2e3", " 7 "])
    np.testing.assert_array_equal(both(strings.to_number, texts).numpy(), [1.5, -2000, 7])
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
