"""README, CONTRIBUTING and CHANGELOG as pages of the site, with links from and to them adapted."""

from __future__ import annotations

import re
from pathlib import Path

INCLUDED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def included_pages(root: Path) -> dict[str, str]:
    """Return the three files by their path in the site."""
    return {page: _adapt_links((root / name).read_text(encoding="utf-8")) for name, page in INCLUDED.items()}


def _adapt_links(text: str) -> str:
    """Adapt links to the site: ](docs/limits.md) → ](limits.md), and ](CONTRIBUTING.md) → ](contributing.md)."""
    text = re.sub(r"\]\(docs/", "](", text)
    for name, page in INCLUDED.items():
        text = text.replace(f"]({name}", f"]({page}")
    return text


def adapt_links_to_included(text: str, page: str) -> str:
    """Adapt the links of a page under docs/ to the three files: ](../README.md) → ](index.md)."""
    folder = "../" * page.count("/")
    for name, included_page in INCLUDED.items():
        text = text.replace(f"](../{folder}{name}", f"]({folder}{included_page}")
    return text
