"""Pages of the site that are generated: from README, the programs under fixtures/, and docstrings."""

from __future__ import annotations

from pathlib import Path

from site_generator.errors import error_page
from site_generator.gallery import gallery_page
from site_generator.included import included_pages
from site_generator.reference import reference_pages


def generated_pages(root: Path) -> dict[str, str]:
    """Return the text of each generated page by its path under docs/."""
    return {
        **included_pages(root),
        "errors.md": error_page(root / "fixtures" / "errors"),
        "gallery.md": gallery_page(root / "fixtures" / "programs"),
        **reference_pages(),
    }
