"""Hooks of mkdocs: add the generated pages to the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from site_generator import generated_pages

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, *, config: Any) -> Files:
    """Add each generated page as if it were a file of this folder."""
    for path, text in generated_pages(ROOT).items():
        files.append(File.generated(config, path, content=text))
    return files
