"""The pages of README and docs, and their code blocks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<language>[\w-]*)(?P<options>[^\n]*)\n(?P<text>.*?)^ *(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block: its language, its text, the line of its fence, and the output that follows it, if any.

    `end` is where the text of the output ends in the page, or that of the block where the output is part of it.
    """

    language: str
    title: str
    text: str
    line: int
    end: int
    output: str | None = None


def written_pages() -> list[Path]:
    """Return every Markdown file that is written by hand."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page; a `text` block right behind another block is that block's output."""
    found: list[Block] = []
    behind = 0
    for match in _FENCE.finditer(page):
        text = match["text"]
        if match["language"] == "text" and found and not page[behind : match.start()].strip():
            found[-1] = found[-1]._replace(output=text, end=match.end("text"))
        else:
            title = _TITLE.search(match["options"])
            line = page.count("\n", 0, match.start()) + 1
            block = Block(match["language"], title[1] if title else "", text, line, match.end("text"))
            found.append(block._replace(output=text) if block.language == "console" else block)
        behind = match.end()
    return found
