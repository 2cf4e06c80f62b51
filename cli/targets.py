"""Finds what a TARGET means by walking files: nothing of the user's is imported."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autoconv.emit.locate import definitions, first_line, is_converted
from autoconv.errors import AutoconvError, TargetError

from .sources import parse, read_source

_IGNORED = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and in it a function or class by its qualified name; "" is the whole file."""

    path: Path
    name: str = ""


def find_target(target: str) -> Target:
    """What `file.py`, `file.py:func`, `file.py:Class.method`, `pkg.mod:func` or a bare `func` names.

    Raises TargetError where nothing or several things have that name, SourceError for a file that cannot be
    read.
    """
    if os.path.isdir(target):
        raise TargetError(f"{target} is a folder; name a file in it, or a function as in file.py:func")
    if os.path.exists(target):
        return Target(Path(target))
    place, colon, name = target.rpartition(":")
    if not colon:
        return _bare(target)
    path = Path(place)
    if not path.is_file():
        if place.endswith(".py") or os.sep in place:
            raise TargetError(f"{place}: no such file")
        path = find_module(place)
    if not name:
        return Target(path)
    check_name(path, name)
    return Target(path, name)


def find_module(module: str) -> Path:
    """The source file of a module, looked for under the current folder and then along `sys.path`."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        raise TargetError(f"{module!r} is neither a file nor the name of a module")
    for entry in (os.curdir, *sys.path):
        base = Path(entry or os.curdir, *parts)
        for candidate in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if candidate.is_file():
                return shown(candidate)
    if module in sys.builtin_module_names:
        raise TargetError(f"the module {module} is built into Python and has no source")
    raise TargetError(f"no module {module} under the current folder or on Python's path")


def check_name(path: Path, name: str) -> None:
    """Raises TargetError, with close matches, where a file has no function or class of that qualified
    name."""
    known = definitions(parse(read_source(path), str(path)))
    if name not in known:
        raise unknown_name(name, known, str(path))


def unknown_name(name: str, known: Iterable[str], where: str) -> TargetError:
    """The error for a name that is not there, with the names that it may have been meant to be."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    close += [other for other in names if other.rpartition(".")[2] == name and other not in close]
    hint = f"; did you mean {' or '.join(close[:5])}?" if close else ""
    if not names:
        hint = "; it defines none at all"
    return TargetError(f"{where}: no function or class {name}{hint}")


def python_files(folder: Path) -> Iterator[Path]:
    """The Python files under a folder in a stable order, without virtual environments and hidden folders."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if is_own_folder(Path(parent, name)))
        yield from (Path(parent, name) for name in sorted(files) if is_python_file(Path(name)))


def is_own_folder(path: Path) -> bool:
    """Not hidden, not a cache, not a virtual environment."""
    if path.name.startswith(".") or path.name in _IGNORED:
        return False
    return not (path / "pyvenv.cfg").exists() and not (path / "conda-meta").is_dir()


def is_python_file(path: Path) -> bool:
    """By the ending of its name."""
    return path.suffix in (".py", ".pyw")


def shown(path: Path) -> Path:
    """A path as a user would write it: relative where it lies under, or beside, the current folder."""
    relative = os.path.relpath(path)
    return Path(relative) if not relative.startswith(os.path.join(os.pardir, os.pardir)) else path


def _bare(name: str) -> Target:
    """A name without a file: a function of some Python file here, else a module."""
    if name.endswith(".py") or os.sep in name:
        raise TargetError(f"{name}: no such file")
    if not all(part.isidentifier() for part in name.split(".")):
        raise TargetError(f"{name!r} is neither a file nor the name of a function")
    found: list[tuple[Target, int]] = []
    seen: set[str] = set()
    word = re.compile(rf"\b(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")
    for path in python_files(Path()):
        known = _definitions_quietly(path, word, seen)
        for qualified, line in known.items():
            if qualified == name or qualified.endswith(f".{name}"):
                found.append((Target(path, qualified), line))
    exact = [each for each in found if each[0].name == name]
    found = exact or found
    if len(found) == 1:
        return found[0][0]
    if found:
        lines = [f"    {target.path}:{target.name}  (line {line})" for target, line in found]
        raise TargetError("\n".join([f"{name} is ambiguous; name one of these:", *lines]))
    try:
        return Target(find_module(name))
    except TargetError:
        raise unknown_name(name, seen, "the Python files here") from None


def _definitions_quietly(path: Path, word: re.Pattern[str], seen: set[str]) -> dict[str, int]:
    """Name -> line in a file that defines the word; `seen` gathers names for close matches. Bad files hold
    none."""
    try:
        source = read_source(path)
        if is_converted(source):
            return {}
        seen.update(re.findall(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", source, re.MULTILINE))
        if not word.search(source):
            return {}
        return {name: first_line(nodes[0]) for name, nodes in definitions(parse(source, str(path))).items()}
    except AutoconvError:
        return {}
