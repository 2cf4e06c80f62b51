"""Modules that are loaded from their files: programs of fixtures, and scripts beside their tests."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def load_module(path: Path, name: str = "", registered: bool = False) -> ModuleType:
    """Run the file as a module; `registered`: where dataclasses and pickles look modules up."""
    spec = importlib.util.spec_from_file_location(name or path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if registered:
        sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
