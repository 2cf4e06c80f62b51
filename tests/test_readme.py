"""The length of README, and the table of tests in CONTRIBUTING: a row for every folder, and only existing paths."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAD = "| a change in | runs |\n| --- | --- |\n"
TABLE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0]
ROWS = {folder: paths for folder, *paths in (re.findall("`(.*?)`", row) for row in TABLE.splitlines())}


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_every_folder_has_a_row():
    folders = {f"autoconv/{path.parent.name}" for path in (ROOT / "autoconv").glob("*/*.py")}
    assert set(ROWS) == folders | {"cli"}


@pytest.mark.parametrize("folder", sorted(ROWS))
def test_paths_in_the_table_exist(folder):
    assert ROWS[folder]
    for name in ROWS[folder]:
        path = ROOT / name
        assert name.startswith("tests/") and (path.is_file() or any(path.glob("test_*.py"))), name
