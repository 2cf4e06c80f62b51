"""README, CONTRIBUTING and CHANGELOG as pages of the site, with their links adapted."""

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
