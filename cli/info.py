"""`autoconv info`: print installed versions, missing packages and the cache folder."""

from __future__ import annotations

import importlib.metadata
import json as jsonlib
import os
import platform
import re
from pathlib import Path
from typing import Any

import click

from autoconv.config import SETTINGS, cache_folder

from .diagnostics import say

PACKAGES = ("gast", "astunparse", "numpy", "click", "rich", "pygments", "platformdirs", "llvmlite")


@click.command(short_help="Print versions, backends, the cache folder, and what is missing.")
@click.option("--json", is_flag=True, help="Print one JSON document.")
def info(json: bool) -> None:
    """Print versions, backends, the cache folder and its size, the processor, and packages missing for each extra.

    \b
    Examples:
      autoconv info
      autoconv info --json
    """
    facts = collect_facts()
    say(jsonlib.dumps(facts, indent=2) if json else _facts_text(facts))


def collect_facts() -> dict[str, Any]:
    """Return everything that `autoconv info` prints."""
    folder = cache_folder()
    files, size = (0, 0) if folder is None else _folder_contents(folder)
    exists = folder is not None and folder.is_dir()
    return {
        "autoconv": version("autoconv"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: version(name) for name in PACKAGES},
        "backends": _backend_names(),
        "cache": {"folder": folder and str(folder), "exists": exists, "files": files, "bytes": size},
        "cpu": {"model": _processor_name(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "platform": platform.platform(),
        "disabled": SETTINGS.disabled,
        "missing": _missing_packages(),
    }


def version(name: str) -> str | None:
    """Return the installed version of a distribution, None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _backend_names() -> list[str]:
    import autoconv.backends  # imported on demand: a native backend loads its compiler

    return list(autoconv.backends.BACKENDS)


def _folder_contents(folder: Path) -> tuple[int, int]:
    """Return the number of files below a folder, and their size in bytes."""
    sizes = []
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(os.lstat(os.path.join(parent, name)).st_size)
            except OSError:
                continue
    return len(sizes), sum(sizes)


def _processor_name() -> str:
    """Return the processor's model, or its architecture where the system does not tell the model."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _missing_packages() -> dict[str, list[str]]:
    """Return, for each extra of autoconv, those of its distributions that are not installed."""
    missing: dict[str, list[str]] = {}
    try:
        requirements = importlib.metadata.requires("autoconv") or []
    except importlib.metadata.PackageNotFoundError:
        return missing
    for requirement in requirements:
        extra_match = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
        name_match = re.match(r"[\w.-]+", requirement)
        if extra_match and name_match and version(name_match[0]) is None:
            missing.setdefault(extra_match[1], []).append(name_match[0])
    return missing


def _cache_text(cache: dict[str, Any]) -> str:
    """Return the location of the cache, from the facts about it."""
    if cache["folder"] is None:
        return "none: switched off by AUTOCONV_CACHE"
    return str(cache["folder"]) if cache["exists"] else f"{cache['folder']} (not there yet)"


def _facts_text(facts: dict[str, Any]) -> str:
    """Return the facts of `collect_facts` as lines with a label each."""
    cache, cpu = facts["cache"], facts["cpu"]
    rows = [("autoconv", facts["autoconv"] or "not installed"), ("Python", facts["python"])]
    rows += [(name, installed or "not installed") for name, installed in facts["packages"].items()]
    rows.append(("backends", ", ".join(facts["backends"])))
    rows.append(("cache folder", _cache_text(cache)))
    rows.append(("cache size", f"{cache['files']} files, {cache['bytes'] / 1e6:.1f} MB"))
    rows.append(("CPU", f"{cpu['model']}, {cpu['cores']} cores, {cpu['architecture']}"))
    rows.append(("platform", facts["platform"]))
    if facts["disabled"]:
        rows.append(("disabled", "yes: AUTOCONV_DISABLE is set"))
    for extra, names in facts["missing"].items():
        rows.append((f"missing for [{extra}]", f"{', '.join(names)}   (pip install 'autoconv[{extra}]')"))
    if not facts["missing"]:
        rows.append(("missing", "nothing"))
    width = max(len(label) for label, _ in rows)
    return "\n".join(f"{label.ljust(width)}  {value}" for label, value in rows)
