"""Imports of public namespaces as modules, such as `import tensorflow.io.gfile`: the modules are autoconv's own."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

_PREFIX = __package__ + "."
_HERE = Path(__file__).parent


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder that imports autoconv.X.Y under the name autoconv.tensorflow.X.Y, if X is no file of this folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PREFIX):
            return None
        name = fullname.removeprefix(_PREFIX)
        namespace = name.partition(".")[0]
        if (_HERE / namespace).exists() or (_HERE / f"{namespace}.py").exists():
            return None
        public = importlib.import_module("autoconv")
        if namespace not in public.__all__ or importlib.util.find_spec(f"autoconv.{name}") is None:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = importlib.import_module("autoconv." + spec.name.removeprefix(_PREFIX))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Restore the module's own spec; the module ran when it was imported under its own name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Install the finder before all others, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
