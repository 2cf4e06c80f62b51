"""Pages, docstrings and comments follow rules of docs/style.md: short sentences, no personified values."""

from __future__ import annotations

import ast
import functools
import re

import pytest
from site_generator.markdown import ROOT, written_pages

from tests import layer_tables as tables

PAGES = [str(path.relative_to(ROOT)) for path in written_pages() if path.name != "style.md"]
MAX_WORDS = 28
PERSONIFIED = re.compile(r"\b(knows?|wants?|lets? go of|gone over|goes over|nobody|is asked|are asked)\b")


def sentences(text: str) -> list[str]:
    """Return the sentences outside of code blocks and tables; a span of code counts as a word."""
    text = re.sub(r"^ *(```+).*?^ *\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", text))
    paragraphs = re.split(r"\n\s*\n|\n(?=- |#|\d+\.)", text)
    return [item for part in paragraphs for item in re.split(r"(?<=[.:;?!])\s+", " ".join(part.split())) if item]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page):
    found = sentences((ROOT / page).read_text(encoding="utf-8"))
    assert [item for item in found if len(re.findall(r"\w\S*", item)) > MAX_WORDS] == []


@pytest.mark.parametrize("page", PAGES)
def test_values_are_not_personified(page):
    found = sentences((ROOT / page).read_text(encoding="utf-8"))
    assert [item for item in found if PERSONIFIED.search(item)] == []


SOURCES = sorted(path for folder in ("autoconv", "cli") for path in (ROOT / folder).rglob("*.py"))
# A docstring begins with an imperative or a noun phrase.
FRAGMENT = re.compile(r"(What|Whether|How|Where|Who|Which|If|Of|For|By)\b")


@functools.cache
def docstrings(path):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in tables.statements(tables.tree_of(path)) if isinstance(node, kinds)]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def test_docstrings_begin_with_an_imperative_or_a_noun_phrase_and_personify_nothing():
    found = [(path, text) for path in SOURCES for text in docstrings(path)]
    wrong = [
        (str(path.relative_to(ROOT)), text.partition("\n")[0])
        for path, text in found
        if FRAGMENT.match(text) or PERSONIFIED.search(text)
    ]
    assert wrong == []


def test_predicates_say_what_true_means():
    found = [(path, node) for path in SOURCES for node in tables.statements(tables.tree_of(path))]
    predicates = [
        (f"{path.name}:{node.lineno} {node.name}", text)
        for path, node in found
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "bool"
        if (text := ast.get_docstring(node))
    ]
    assert [name for name, text in predicates if not re.search(r"whether|true|false", text, re.IGNORECASE)] == []


def prose(text: str) -> str:
    """Return the paragraphs of a docstring without examples, tables and indented parts."""
    text = re.sub(r"^\s*>>>.*?(?=\n\s*\n|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    parts = re.split(r"\n\s*\n", text)
    return "\n\n".join(part for part in parts if not re.search(r"\S {2,}\S|^ {2}", part, flags=re.MULTILINE))


def test_sentences_of_docstrings_are_short():
    found = [(path, each) for path in SOURCES for text in docstrings(path) for each in sentences(prose(text))]
    long = [(str(path.relative_to(ROOT)), each) for path, each in found if len(re.findall(r"\w\S*", each)) > MAX_WORDS]
    assert long == []


# "the block around", where "the enclosing block" is meant; "of which" without a word such as "each" before it; "so are
# the", whose verb is elsewhere; "ids are sorted", which may be a requirement ("must be sorted") or an action.
RIDDLES = re.compile(
    r"\bso (is|are) the\b|\bthose of those\b|\b(ids|indices) are sorted\b|"
    r"\b(block|scope|store|graph|session) around\b|"
    r"(?<!\beach )(?<!\ball )(?<!\bany )(?<!\bsome )(?<!\brow )(?<!\bone )(?<!\btwo )(?<!\bfirst )(?<!\blast )"
    r"(?<!\beither )\bof which\b"
)


def test_docstrings_and_comments_enclose_and_relate_plainly():
    comment = re.compile(r"^[^'\"\n]*#(.*)", re.MULTILINE)
    texts = [(path, text) for path in SOURCES for text in docstrings(path)]
    texts += [(path, text) for path in SOURCES for text in comment.findall(path.read_text(encoding="utf-8"))]
    suspects = [(path, text) for path, text in texts if RIDDLES.search(" ".join(text.split()))]
    wrong = [(path.name, item) for path, text in suspects for item in sentences(text) if RIDDLES.search(item)]
    assert wrong == []


def test_quoted_attributes_exist():
    """A docstring or comment that mentions `the attribute "name"` names one that some code reads or writes."""
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    named = [(path, name) for path, text in texts.items() for name in re.findall(r'\battribute "(\w+)"', text)]
    used = {name for text in texts.values() for name in re.findall(r'(?<!attribute )"(\w+)"', text)}
    used |= {name for text in texts.values() for name in re.findall(r"\b(\w+)=", text)}
    assert [(path.name, name) for path, name in named if name not in used] == []


def test_comments_personify_nothing():
    comment = re.compile(r"^[^'\"\n]*#.*", re.MULTILINE)
    lines = [(path, line) for path in SOURCES for line in comment.findall(path.read_text(encoding="utf-8"))]
    assert [(path.name, line) for path, line in lines if PERSONIFIED.search(line.partition("#")[2])] == []
