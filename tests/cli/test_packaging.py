"""What pyproject.toml lists is what is there."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_package_is_listed_and_cli_is_no_top_level_module():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "autoconv").rglob("*.py")
        if "__pycache__" not in path.parts
    }
    assert set(settings["packages"]) == found | {"autoconv.cli"}
    assert settings["package-dir"] == {"autoconv.cli": "cli"}
