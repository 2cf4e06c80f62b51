"""The prose of the pages keeps some rules of docs/style.md: short sentences, no personified values."""

from __future__ import annotations

import re

import pytest
from site_generator.markdown import ROOT, written_pages

PAGES = [str(path.relative_to(ROOT)) for path in written_pages() if path.name != "style.md"]
MOST_WORDS = 28
PERSONIFIED = re.compile(r"\b(knows?|wants?|lets? go of|gone over|goes over|nobody|is asked|are asked)\b")


def sentences(text: str) -> list[str]:
    """The sentences outside of code blocks and tables; a span of code counts as a word."""
    text = re.sub(r"^ *(```+).*?^ *\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", text))
    paragraphs = re.split(r"\n\s*\n|\n(?=- |#|\d+\.)", text)
    return [each for part in paragraphs for each in re.split(r"(?<=[.:;?!])\s+", " ".join(part.split())) if each]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page):
    found = sentences((ROOT / page).read_text(encoding="utf-8"))
    assert [each for each in found if len(re.findall(r"\w\S*", each)) > MOST_WORDS] == []


@pytest.mark.parametrize("page", PAGES)
def test_values_are_not_personified(page):
    found = sentences((ROOT / page).read_text(encoding="utf-8"))
    assert [each for each in found if PERSONIFIED.search(each)] == []
