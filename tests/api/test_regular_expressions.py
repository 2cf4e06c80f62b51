"""Patterns in RE2's syntax: the expected texts are TensorFlow's."""

from __future__ import annotations

import pytest

import autoconv as tf

_REPLACED = [
    ("abxd", "x*", "-", "-a-b-d-"),
    ("☃a", ".", "x", "xx"),
    ("☃a", "[☃b]", "x", "xa"),
    ("¿sí?", "[^ a-z.?!,¿]+", " ", "¿s ?"),
    ("a\n", "a$", "x", "a\n"),
    ("a\nb\n", "(?m)$", "x", "ax\nbx\nx"),
    ("a\nb", "(?m)^", "x", "xa\nxb"),
    ("a\nb", ".", "x", "x\nx"),
    ("a\nb", "(?s).", "x", "xxx"),
    ("ab  c\x0b", r"\s+", "_", "ab_c\x0b"),
    ("a1_é", r"\w", "x", "xxxé"),
    ("a1-é", r"[^\W\d]", "x", "x1-é"),
    ("a é", r"\bé", "x", "a é"),
    ("a.b*", r"\Q.b\E", "x", "ax*"),
    ("a!b,c", "[[:punct:]]", "_", "a_b_c"),
    ("a!b,c D", "[[:^alpha:]]", "_", "a_b_c_D"),
    ("aé1!", r"\p{L}", "x", "xx1!"),
    ("aé1!", r"[^\pL]", "x", "aéxx"),
    ("aé1!", r"\PL", "x", "aéxx"),
    ("a☃", r"\x{2603}+", "x", "ax"),
    ("aBc", "a(?i)bC", "x", "x"),
    ("aBcB", "a(?i)b|C", "x", "xxB"),
    ("É", "(?i)é", "x", "x"),
    ("aaa", "(?U)a+", "x", "xxx"),
    ("aaa", "a{2}", "x", "xa"),
    ("a{,2}", "a{,2}", "x", "x"),
    ("ab", r"b\z", "x", "ax"),
    ("a]b^-", r"[]^-]", "x", "axbxx"),
    ("\x08a", r"\010", "x", "xa"),
    ("ab", "(a)|(b)", r"<\1,\2,\0>", "<a,,a><,b,b>"),
    ("a.b", r"\.", r"\\", "a\\b"),
    ("ab", "(a)", r"\2", "ab"),
    ("ab", "(?P<n>a)", r"\1\1", "aab"),
]


@pytest.mark.parametrize(("text", "pattern", "rewrite", "expected"), _REPLACED)
def test_replacements(text: str, pattern: str, rewrite: str, expected: str) -> None:
    assert tf.strings.regex_replace(text, pattern, rewrite).numpy().decode() == expected


def test_full_matches() -> None:
    patterns = {"a|ab": "ab", "a.b": "a\nb", ".": "☃", "a$": "a\n", r"\d": "٣", "(?i)ABC": "abc", "": ""}
    found = [bool(tf.strings.regex_full_match(text, pattern)) for pattern, text in patterns.items()]
    assert found == [True, False, True, False, False, True, True]
    assert tf.strings.regex_replace("aXbX", "X", "", replace_global=False).numpy() == b"abX"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=b)", r"invalid perl operator: \(\?="), (r"(a)\1", "invalid escape sequence"), ("a++", "bad repetition"),
        ("*", "no argument for repetition operator"), ("a{1001}", "invalid repetition size"), ("(a", r"missing \)"),
        ("a)", r"unexpected \)"), ("[a", r"missing \]"), ("a\\", "trailing"), (r"b\Z", "invalid escape sequence"),
        ("[z-a]", "invalid character class range"), ("[[:nope:]]", "invalid character class range"),
    ],
)  # fmt: skip
def test_invalid_patterns(pattern: str, reason: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Invalid pattern: .*{reason}"):
        tf.strings.regex_replace("a", pattern, "")
