"""Import Keras so that its TensorFlow backend runs on autoconv."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from types import ModuleType

from autoconv.importing import RenamingHook

OLDEST_RELEASE = (3, 10)  # earlier releases are not tested
_BACKEND_VARIABLE = "KERAS_BACKEND"
_HOOK = RenamingHook("tensorflow", "autoconv.tensorflow", ["keras"])


def load() -> ModuleType:
    """Return Keras under the names of `tf.keras`, imported over autoconv if it is not imported yet.

    Raises ImportError without Keras, for a release before 3.10, and if it was imported over another backend.
    """
    loaded = sys.modules.get("keras")
    if loaded is not None:
        return _tensorflow_names(_check_keras(loaded))
    previous_backend = os.environ.get(_BACKEND_VARIABLE)
    prepare()
    try:
        return _tensorflow_names(_check_keras(importlib.import_module("keras")))
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


@functools.cache
def _tensorflow_names(keras: ModuleType) -> ModuleType:
    """Return a module with the names that Keras has for `tf.keras`, older ones among them, and else with its own."""
    return _joined("autoconv.keras", importlib.import_module("keras._tf_keras.keras"), keras)


def _joined(name: str, first: ModuleType, second: ModuleType) -> ModuleType:
    """Return a module with the names of both, those of `first` where both have one; modules in them are joined."""
    result = ModuleType(name, second.__doc__)
    vars(result).update({key: value for key, value in vars(second).items() if key not in _OWN_ATTRIBUTES})
    for key, value in vars(first).items():
        if key not in _OWN_ATTRIBUTES:
            other = getattr(second, key, None)
            if isinstance(value, ModuleType) and isinstance(other, ModuleType):
                value = _joined(f"{name}.{key}", value, other)
            setattr(result, key, value)
    result.__file__, result.__path__ = second.__file__, [*first.__path__, *second.__path__]
    sys.modules[name] = result
    return result


_OWN_ATTRIBUTES = {"__name__", "__doc__", "__package__", "__loader__", "__spec__", "__path__", "__file__", "__cached__"}
