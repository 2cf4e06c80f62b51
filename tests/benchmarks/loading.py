"""Load modules twice in one process, as they are and converted."""

from __future__ import annotations

import importlib.util
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import autoconv.operators  # noqa: F401 - imports heapq, which is incomplete while a converted heapq runs
from autoconv.emit.module import convert_source

# Without these C modules, the Python code of the library runs.
ACCELERATORS = ("_heapq", "_bisect", "_json", "_datetime", "_functools")


def load(names: Sequence[str], converted: bool) -> dict[str, ModuleType]:
    """Load new modules of these names, in pure Python, which import each other."""
    loaded: dict[str, ModuleType] = {}
    with _hide_modules(ACCELERATORS), _restore_after(loaded):
        for name in names:
            spec = importlib.util.find_spec(name)
            assert spec is not None and spec.origin is not None, name
            module = ModuleType(name)
            module.__file__ = spec.origin
            module.__package__ = name.rpartition(".")[0]
            loaded[name] = sys.modules[name] = module
            exec(_code(Path(spec.origin), converted), module.__dict__)
    return loaded


def load_file(path: Path, converted: bool) -> ModuleType:
    module = ModuleType(path.stem)
    exec(_code(path, converted), module.__dict__)
    return module


def _code(path: Path, converted: bool):
    with tokenize.open(path) as file:
        text = file.read()
    if converted:
        text = convert_source(text, str(path)).text
    return compile(text, str(path), "exec", dont_inherit=True)


@contextmanager
def _hide_modules(names: Sequence[str]) -> Iterator[None]:
    previous_modules = {name: sys.modules.get(name) for name in names}
    sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]  # None: importing it fails
    try:
        yield
    finally:
        _restore(previous_modules)


@contextmanager
def _restore_after(loaded: Mapping[str, ModuleType]) -> Iterator[None]:
    previous_modules = dict(sys.modules)
    try:
        yield
    finally:
        _restore({name: previous_modules.get(name) for name in loaded})


def _restore(modules: Mapping[str, ModuleType | None]) -> None:
    for name, module in modules.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
