"""Import Keras so that its TensorFlow backend runs on autoconv."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from autoconv.importing import RenamingHook

OLDEST_RELEASE = (3, 10)  # earlier releases are not tested
_BACKEND_VARIABLE = "KERAS_BACKEND"
_HOOK = RenamingHook("tensorflow", "autoconv.tensorflow", ["keras"])


def load() -> ModuleType:
    """Return Keras, imported over autoconv if it is not imported yet.

    Raises ImportError without Keras, for a release before 3.10, and if it was imported over another backend.
    """
    loaded = sys.modules.get("keras")
    if loaded is not None:
        return _check_keras(loaded)
    previous_backend = os.environ.get(_BACKEND_VARIABLE)
    prepare()
    try:
        return _check_keras(importlib.import_module("keras"))
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        raise ImportError("autoconv.keras needs the package keras: pip install 'autoconv[keras]'") from None
    finally:
        if previous_backend is None:
            del os.environ[_BACKEND_VARIABLE]
        else:
            os.environ[_BACKEND_VARIABLE] = previous_backend


def prepare() -> None:
    """Make the next `import keras` run over autoconv."""
    os.environ[_BACKEND_VARIABLE] = "tensorflow"
    _HOOK.install()


def _check_keras(keras: ModuleType) -> ModuleType:
    version = tuple(int(part) for part in keras.__version__.split(".")[:2])
    if version < OLDEST_RELEASE:
        raise ImportError(f"autoconv.keras needs Keras 3.10 or later, found {keras.__version__}.")
    backend = keras.backend.backend()
    module = sys.modules.get("keras.src.backend.tensorflow.core")
    if backend != "tensorflow" or getattr(module, "tf", None) is not sys.modules["autoconv.tensorflow"]:
        raise ImportError(
            f"Keras is imported already, over {backend}. Import autoconv.keras first, or set KERAS_BACKEND=autoconv "
            "and import autoconv before keras."
        )
    return keras
