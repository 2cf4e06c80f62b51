"""Hooks of mkdocs: add the generated pages to the site, and adapt links to files outside of docs/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from site_generator import generated_pages
from site_generator.included import adapt_links_to_included

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, *, config: Any) -> Files:
    """Add each generated page as if it were a file of this folder."""
    for path, text in generated_pages(ROOT).items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Adapt links to the files of the repository that the site includes: in a checkout they lead to these files."""
    return adapt_links_to_included(markdown, page.file.src_uri)
