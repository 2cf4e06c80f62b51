"""Resolve a TARGET by searching files: no code of the user is imported."""

from __future__ import annotations

import ast
import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from autoconv.emit.locate import definitions, first_line, is_converted
from autoconv.emit.module import qualified_functions
from autoconv.errors import AutoconvError, TargetError

from .sources import parse, read_source

_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and a function or class in it by its qualified name; "" is the whole file."""

    path: Path
    name: str = ""


def find_target(target: str) -> Target:
    """Resolve `file.py`, `file.py:func`, `file.py:Class.method`, `pkg.mod:func` or a bare `func`.

    Raises TargetError if the name is unknown or ambiguous, SourceError for a file that cannot be read.
    """
    if os.path.isdir(target):
        raise TargetError(f"{target} is a folder; name a file in it, or a function as in file.py:func")
    if os.path.exists(target):
        return Target(Path(target))
    location, colon, name = target.rpartition(":")
    if not colon:
        return _resolve_bare_name(target)
    path = Path(location)
    if not path.is_file():
        if location.endswith(".py") or os.sep in location:
            raise TargetError(f"{location}: no such file")
        if path.is_dir():
            raise TargetError(f"{location} is a folder; name a file in it, as in {location}/file.py:{name or 'func'}")
        path = find_module(location)
    if not name:
        return Target(path)
    check_name(path, name)
    return Target(path, name)


def find_module(module: str) -> Path:
    """Return the source file of a module, found under the current folder or else along `sys.path`."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        raise TargetError(f"{module!r} is neither a file nor the name of a module")
    for entry in (os.curdir, *sys.path):
        base = Path(entry or os.curdir, *parts)
        for candidate in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if candidate.is_file():
                return display_path(candidate)
    if module in sys.builtin_module_names or (len(parts) == 1 and PathFinder.find_spec(module) is not None):
        raise TargetError(f"the module {module} has no source in Python")
    raise TargetError(f"no module {module} under the current folder or on Python's path")


def check_name(path: Path, name: str) -> None:
    """Raise TargetError, with close matches, if a file defines no function or class of that qualified name."""
    tree = parse(read_source(path), str(path))
    names = definitions(tree)
    if name in names:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            raise TargetError(f"{path}:{node.lineno}: {name} is assigned here; name what a def or class defines")
    raise _unknown_name(name, names, str(path))


def uncompilable_name(name: str, trees: Iterable[ast.Module], location: str) -> TargetError | None:
    """Return the error if none of the modules, or of their classes, has a function `name` to be compiled."""
    trees = list(trees)
    functions = {function for tree in trees for function, _ in qualified_functions(tree)}
    if name in functions:
        return None
    nodes_by_name = {defined: nodes[0] for tree in trees for defined, nodes in definitions(tree).items()}
    for defined, node in nodes_by_name.items():
        if defined == name and isinstance(node, ast.ClassDef):
            return TargetError(f"{location}: {name} is a class; name a method of it, as in {name}.method")
        if name in (defined, defined.rpartition(".")[2]) and defined not in functions:
            enclosing = defined.rpartition(".")[0]
            return TargetError(f"{location}: {name} is defined in {enclosing}; decorate it there, or name {enclosing}")
    return _unknown_name(name, functions, location)


def _unknown_name(name: str, defined_names: Iterable[str], location: str) -> TargetError:
    """Return the error for an unknown name, with close matches."""
    names = sorted(defined_names)
    close_names = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    close_names += [other for other in names if other.rpartition(".")[2] == name and other not in close_names]
    hint = f"; did you mean {' or '.join(close_names[:5])}?" if close_names else ""
    if not names:
        hint = "; it defines none at all"
    return TargetError(f"{location}: no function or class {name}{hint}")


def python_files(folder: Path) -> Iterator[Path]:
    """Yield the Python files under a folder in a stable order, without virtual environments and hidden folders."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if is_own_folder(Path(parent, name)))
        yield from (Path(parent, name) for name in sorted(files) if is_python_file(Path(name)))


def is_own_folder(path: Path) -> bool:
    """Return whether a folder is not hidden, not a cache, and not a virtual environment."""
    if path.name.startswith(".") or path.name in _IGNORED_FOLDERS:
        return False
    return not (path / "pyvenv.cfg").exists() and not (path / "conda-meta").is_dir()


def is_python_file(path: Path) -> bool:
    """Return whether the suffix is that of a Python file."""
    return path.suffix in (".py", ".pyw")


def display_path(path: Path) -> Path:
    """Return a path as a user would write it: relative if it is under, or beside, the current folder."""
    relative = os.path.relpath(path)
    return Path(relative) if not relative.startswith(os.path.join(os.pardir, os.pardir)) else path


def _resolve_bare_name(name: str) -> Target:
    """Resolve a name without a file: a function in the Python files of the current folder, or else a module."""
    if name.endswith(".py") or os.sep in name:
        raise TargetError(f"{name}: no such file")
    if not all(part.isidentifier() for part in name.split(".")):
        raise TargetError(f"{name!r} is neither a file nor the name of a function")
    targets: list[tuple[Target, int]] = []  # (target, line of its definition)
    known_names: set[str] = set()
    definition = re.compile(rf"\b(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")
    for path in python_files(Path()):
        lines_by_name = _definitions_if_readable(path, definition, known_names)
        for qualified_name, line in lines_by_name.items():
            if qualified_name == name or qualified_name.endswith(f".{name}"):
                targets.append((Target(path, qualified_name), line))
    exact_targets = [(target, line) for target, line in targets if target.name == name]
    targets = exact_targets or targets
    if len(targets) == 1:
        ((target, _),) = targets
        return target
    if targets:
        lines = [f"    {target.path}:{target.name}  (line {line})" for target, line in targets]
        raise TargetError("\n".join([f"{name} is ambiguous; name one of these:", *lines]))
    try:
        return Target(find_module(name))
    except TargetError:
        raise _unknown_name(name, known_names, "the Python files here") from None


def _definitions_if_readable(path: Path, definition: re.Pattern[str], known_names: set[str]) -> dict[str, int]:
    """Map the names that a file defines to their lines.

    The result is empty for a file that cannot be read or in which `definition` does not occur. `known_names` collects
    names for close matches.
    """
    try:
        source = read_source(path)
        if is_converted(source):
            return {}
        known_names.update(re.findall(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", source, re.MULTILINE))
        if not definition.search(source):
            return {}
        return {name: first_line(nodes[0]) for name, nodes in definitions(parse(source, str(path))).items()}
    except AutoconvError:
        return {}
