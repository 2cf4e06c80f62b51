"""Select the user's own files of a folder, without tool caches, build results, and files that git ignores."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from autoconv.emit.locate import is_converted
from autoconv.errors import SourceError

from .sources import decode_source
from .targets import is_own_folder, is_python_file

_BUILD_FOLDERS = frozenset({"build", "dist"})
_ORIGIN_CALL = re.compile(r"came_from\((['\"])(.*?)\1")
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def own_files(folder: Path, output: Path) -> Iterator[Path]:
    """Yield every file below a folder in a stable order, including links to folders.

    Skipped are `output` if it lies inside, files converted from others of the folder, hidden folders, caches, virtual
    environments, build results, and files that git ignores. Raises SourceError for an unreadable folder.
    """

    def refuse(error: OSError) -> None:
        raise SourceError(f"cannot read the folder {error.filename}: {error.strerror}") from error

    ignored_paths = _git_ignored_paths(folder)
    real_output = os.path.realpath(output)
    for parent, folders, files in os.walk(folder, onerror=refuse):
        parent_folder = Path(parent)
        folder_names = [
            name for name in sorted(folders) if _may_enter(parent_folder / name, folder, ignored_paths, real_output)
        ]
        link_names = [name for name in folder_names if (parent_folder / name).is_symlink()]
        folders[:] = [name for name in folder_names if name not in link_names]
        for name in sorted([*files, *link_names]):
            path = parent_folder / name
            if _is_own_file(path, folder) and _relative_path(path, folder) not in ignored_paths:
                yield path


def is_converted_file(path: Path) -> bool:
    """Return whether a file is the result of a conversion; False if it cannot be read."""
    return bool(_converted_text(path))


def _converted_text(path: Path) -> str:
    """Return the text of a file that is the result of a conversion; "" for other files."""
    try:
        text = decode_source(path.read_bytes(), str(path)) if is_python_file(path) else ""
    except (OSError, SourceError):
        return ""
    return text if is_converted(text) else ""


def _may_enter(path: Path, folder: Path, ignored_paths: frozenset[str], real_output: str) -> bool:
    """Return whether a folder below `folder` may hold the user's own files.

    Folders `build` and `dist` hold build results only if they are beside a file such as pyproject.toml.
    """
    is_output = os.path.realpath(path) == real_output
    if is_output or not is_own_folder(path) or _relative_path(path, folder) in ignored_paths:
        return False
    if path.name.endswith(".egg-info"):
        return False
    return path.name not in _BUILD_FOLDERS or not any((path.parent / name).is_file() for name in _PROJECT_FILES)


def _is_own_file(path: Path, folder: Path) -> bool:
    """Return whether the path is a file or link, not bytecode, and not converted from a file of the folder."""
    if path.is_symlink():
        return True
    if not path.is_file() or path.suffix in (".pyc", ".pyo"):
        return False
    origin = _ORIGIN_CALL.search(_converted_text(path))
    if origin is None:
        return True
    source = os.path.realpath(path.parent / origin[2])
    return not (os.path.isfile(source) and source.startswith(os.path.join(os.path.realpath(folder), "")))


def _relative_path(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _git_ignored_paths(folder: Path) -> frozenset[str]:
    """Return the relative paths that git ignores below a folder; empty without git or a repository."""
    git = shutil.which("git")
    if git is None or not os.path.isabs(git):  # an executable in the current folder is never run
        return frozenset()
    command = [git, "-c", "core.fsmonitor=false", "-C", str(folder), "ls-files"]
    command += ["--others", "--ignored", "--exclude-standard", "--directory", "-z", "."]
    try:
        completed = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    if completed.returncode:
        return frozenset()
    return frozenset(os.fsdecode(name).rstrip("/") for name in completed.stdout.split(b"\0") if name)
