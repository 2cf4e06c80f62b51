"""The packages and data that pyproject.toml lists exist, and are complete."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "autoconv.cli": "cli",
    "autoconv.fixtures": "fixtures",
    "autoconv.fixtures.bench": "fixtures/bench",
    "autoconv.fixtures.keras": "fixtures/keras",
    "autoconv.fixtures.numpy": "fixtures/numpy",
}


def test_every_package_is_listed_and_cli_is_no_top_level_module():
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "autoconv").rglob("*.py")
        if "__pycache__" not in path.parts
    }
    assert set(settings()["packages"]) == found | {package for package in ELSEWHERE if package != "autoconv.fixtures"}
    assert settings()["package-dir"] == ELSEWHERE


def test_data_is_installed():
    """`py.typed`, the stubs of lazy names, and native code as text."""
    kinds = ("py.typed", "*.pyi", "*.ll")
    files = {path.relative_to(ROOT) for pattern in kinds for path in (ROOT / "autoconv").rglob(pattern)}
    listed = {
        path.relative_to(ROOT)
        for package, patterns in settings()["package-data"].items()
        for pattern in patterns
        for path in source_of(package).glob(pattern)
    }
    assert files <= listed


def test_only_texts_and_test_data_are_committed():
    """Object files of a cache had been committed in a folder at the top."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in listing.split("\0") if name]
    folders = {file.parts[0] for file in files if len(file.parts) > 1}
    assert folders == {".ci", "autoconv", "cli", "docs", "fixtures", "tests"}
    assert [file for file in files if file.suffix in {".o", ".so", ".pyc"}] == []


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def source_of(package: str) -> Path:
    """Return the folder that is installed as a package, by package-dir or by its name."""
    folders = settings()["package-dir"]
    parent, _, name = package.rpartition(".")
    if package in folders:
        return ROOT / folders[package]
    return source_of(parent) / name if parent else ROOT / name


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the packages as an installation lays them out, and nothing else of the repository."""
    site = tmp_path_factory.mktemp("site")
    for package in settings()["packages"]:
        folder = site.joinpath(*package.split("."))
        folder.mkdir(parents=True)
        for pattern in ("*.py", *settings()["package-data"].get(package, ())):
            for path in source_of(package).glob(pattern):
                shutil.copy(path, folder)
    return site


@pytest.mark.parametrize(("folder", "arguments"), [("bench", []), ("numpy", ["--suite", "numpy"])])
def test_the_workloads_are_installed(installed: Path, tmp_path: Path, folder: str, arguments: list[str]) -> None:
    completed = subprocess.run(
        [sys.executable, "-P", "-m", "autoconv", "bench", *arguments, "--only", "none"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    names = sorted(path.stem for path in (ROOT / "fixtures" / folder).glob("*.py"))
    assert f"there are: {', '.join(names)}" in completed.stderr


def test_an_installed_workload_is_converted(installed: Path, tmp_path: Path) -> None:
    """It lies in the folder of the package, but is a program: a loop until a tensor has a value stays a loop."""
    arguments = ["bench", "--only", "newton", "--small", "--rounds", "1", "--seconds", "0"]
    completed = subprocess.run(
        [sys.executable, "-P", "-m", "autoconv", *arguments, "--peer", "numpy", "--peer", "autoconv", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert "autoconv" in json.loads(completed.stdout)["workloads"]["newton"]["peers"], completed.stdout
