"""Links between the pages have targets, and paths of the repository that pages name exist."""

from __future__ import annotations

import functools
import io
import posixpath
import re
import tokenize

import pytest
from site_generator import generated_pages
from site_generator.included import INCLUDED, adapt_links_to_included
from site_generator.markdown import ROOT, written_pages

LINK = re.compile(r"(?<!!)\]\(([^)\s]+)\)")
FOLDERS = "autoconv|cli|fixtures|tests|docs|\\.ci"
PATH = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./-]*\w/?|(?<![\w/.-])(?:{FOLDERS})/(?=`)")
FENCED = re.compile(r"^ *(```+).*?^ *\1$", re.MULTILINE | re.DOTALL)
PAGES = [str(path.relative_to(ROOT)) for path in written_pages()]


@functools.cache
def site() -> dict[str, str]:
    """Return the text of each page of the site by its path under docs/."""
    folder = ROOT / "docs"
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}
    return {page: adapt_links_to_included(text, page) for page, text in texts.items()} | generated_pages(ROOT)


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings, as mkdocs and GitHub make them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.replace("\\", "")).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def test_links_of_the_site_lead_to_pages_and_headings():
    wrong = []
    for page, text in site().items():
        for link in LINK.findall(FENCED.sub("", text)):
            if link.startswith(("http://", "https://")):
                continue
            target, _, anchor = link.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page
            if path not in site() or (anchor and anchor not in anchors(site()[path])):
                wrong.append(f"{page}: {link}")
    assert not wrong


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("docs/")])
def test_links_of_files_outside_of_docs_lead_to_files(page):
    """Links of files outside of the site refer to files of the repository."""
    links = [link.partition("#")[0] for link in LINK.findall((ROOT / page).read_text()) if "://" not in link]
    assert [link for link in links if link and not (ROOT / link).exists()] == []


def test_links_to_included_files_lead_to_files_of_a_checkout():
    """A page under docs/ links to ../CONTRIBUTING.md; the site has that file as contributing.md."""
    assert adapt_links_to_included("[a](../CONTRIBUTING.md#b)", "style.md") == "[a](contributing.md#b)"
    assert adapt_links_to_included("[a](../../README.md)", "guides/c.md") == "[a](../index.md)"
    for page in (ROOT / "docs").rglob("*.md"):
        links = [link.partition("#")[0] for link in LINK.findall(page.read_text(encoding="utf-8"))]
        assert not [link for link in links if posixpath.basename(link) in INCLUDED.values()], page
        assert all((page.parent / link).exists() for link in links if posixpath.basename(link) in INCLUDED), page


@pytest.mark.parametrize("page", PAGES)
def test_paths_of_the_repository_exist(page):
    named = set(PATH.findall((ROOT / page).read_text(encoding="utf-8")))
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_names_in_the_code_map_are_in_the_named_files():
    """| topic (`name`) | `autoconv/file.py` |"""
    table = (ROOT / "docs" / "architecture.md").read_text().partition("### Files by topic")[2].partition("\n## ")[0]
    for row in re.findall(r"^\| (.*\.py.*) \|$", table, re.MULTILINE):
        topic, _, files = row.partition(" | ")
        text = "".join((ROOT / path).read_text(encoding="utf-8") for path in PATH.findall(files))
        names = {name for name in re.findall(r"\(`(\w+)`", topic) if name not in text}
        assert not names, (row, names)


def test_every_page_is_in_the_menu():
    menu = set(re.findall(r": ([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert menu == set(site())


def test_files_that_the_site_includes_exist():
    assert set(INCLUDED) <= set(PAGES)
    assert {path.name for path in ROOT.glob("*.md")} == set(INCLUDED)


FILE = re.compile(r"(?<![\w/.<*{])([a-z_]+(?:/[a-z_]+)*\.(?:py|ll))\b")
INVENTED = {  # names of files of a user or a library
    "gast.py", "numpy.py", "newton.py", "newton_graph.py", "model.py", "simulate.py", "softmax.py",
    "softmax_upgraded.py", "file.py",
}


def prose(path) -> str:
    """Return the docstrings and comments of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    is_prose = (t.string for t in tokens if t.type == tokenize.COMMENT or t.string.startswith(('"""', 'f"""', 'r"""')))
    return "\n".join(is_prose)


def test_files_that_docstrings_and_comments_name_exist():
    sources = [path for folder in ("autoconv", "cli") for path in sorted((ROOT / folder).rglob("*.py"))]
    places = [p.relative_to(ROOT).parts for p in (*sources, *(ROOT / "autoconv").rglob("*.ll"), *ROOT.glob("*.py"))]
    known = {"/".join(parts[i:]) for parts in (*places, *_tests()) for i in range(len(parts))} | INVENTED
    unknown = [path for path in sources if set(FILE.findall(path.read_text(encoding="utf-8"))) - known]
    named = [(path, name) for path in unknown for name in FILE.findall(prose(path))]
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in named if name not in known] == []


def _tests() -> list[tuple[str, ...]]:
    return [path.relative_to(ROOT).parts for path in (ROOT / "tests").rglob("*.py")]
