"""Import Keras so that its TensorFlow backend runs on autoconv."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from autoconv.importing import RenamingHook

OLDEST = (3, 10)  # earlier releases were not tried
_VARIABLE = "KERAS_BACKEND"
_HOOK = RenamingHook("tensorflow", "autoconv.tensorflow", ["keras"])


def load() -> ModuleType:
    """Return Keras, imported over autoconv if it is not imported yet.

    Raises ImportError without Keras, for a release before 3.10, and if it was imported over another backend.
    """
    loaded = sys.modules.get("keras")
    if loaded is not None:
        return _check_keras(loaded)
    before = os.environ.get(_VARIABLE)
    prepare()
    try:
        return _check_keras(importlib.import_module("keras"))
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        raise ImportError("autoconv.keras needs the package keras: pip install 'autoconv[keras]'") from None
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def prepare() -> None:
    """Let the next `import keras` import it over autoconv."""
    os.environ[_VARIABLE] = "tensorflow"
    _HOOK.install()


def _check_keras(keras: ModuleType) -> ModuleType:
    version = tuple(int(part) for part in keras.__version__.split(".")[:2])
    if version < OLDEST:
        raise ImportError(f"autoconv.keras needs Keras 3.10 or later, found {keras.__version__}.")
    backend = keras.backend.backend()
    module = sys.modules.get("keras.src.backend.tensorflow.core")
    if backend != "tensorflow" or getattr(module, "tf", None) is not sys.modules["autoconv.tensorflow"]:
        raise ImportError(
            f"Keras is imported already, over {backend}. Import autoconv.keras first, or set KERAS_BACKEND=autoconv "
            "and import autoconv before keras."
        )
    return keras
