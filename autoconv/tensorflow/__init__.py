"""TensorFlow's namespace over autoconv, for packages that import TensorFlow under another name.

Public names are autoconv's own. The modules beside this file are private paths of TensorFlow that libraries import. Any
other name raises AttributeError, as TensorFlow does for a name of another version.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from autoconv.tensorflow import public_modules
from autoconv.tensorflow.absent_names import message

public_modules.install()

__version__ = "2.21.0"  # the version whose behaviour is followed; libraries read it


def __getattr__(name: str) -> Any:
    """Return a module of this folder or a public name of autoconv, and store it for later accesses."""
    result = _find_name(name)
    if result is _ABSENT:
        raise AttributeError(f"{message('tensorflow', name)} (it is autoconv here)")
    globals()[name] = result
    return result


_ABSENT = object()


def _find_name(name: str) -> Any:
    """Return a module of this folder, or else a public name of autoconv; _ABSENT for an unknown name."""
    if not name.startswith("__") or name in ("__internal__", "__operators__"):
        if importlib.util.find_spec(f"{__name__}.{name}") is not None:
            return importlib.import_module(f"{__name__}.{name}")
        public = importlib.import_module("autoconv")
        return getattr(public, name, _ABSENT)
    return _ABSENT
