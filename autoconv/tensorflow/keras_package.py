"""Import Keras so that its TensorFlow backend runs on autoconv."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from types import ModuleType
from typing import Any

from autoconv.importing import RenamingHook
from autoconv.runtime.objects.containers import TracedDict, TracedList

OLDEST_RELEASE = (3, 10)  # earlier releases are not tested
_BACKEND_VARIABLE = "KERAS_BACKEND"
_HOOK = RenamingHook("tensorflow", "autoconv.tensorflow", packages=["keras"])


def load() -> ModuleType:
    """Return Keras, with the names of `tf.keras`; import it over autoconv if it is not imported yet.

    Raises ImportError without Keras, for a release before 3.10, and if it was imported over another backend.
    """
    imported_keras = sys.modules.get("keras")
    if imported_keras is not None:
        return _with_tensorflow_names(_check_keras(imported_keras))
    previous_backend = os.environ.get(_BACKEND_VARIABLE)
    prepare()
    try:
        return _with_tensorflow_names(_check_keras(importlib.import_module("keras")))
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
    """Make the next `import keras` run over autoconv.

    `import autoconv` calls this if the variable KERAS_BACKEND is autoconv. Keras itself has to find tensorflow in the
    variable.
    """
    os.environ[_BACKEND_VARIABLE] = "tensorflow"
    _HOOK.install()


def _check_keras(keras: ModuleType) -> ModuleType:
    """Return Keras; raises ImportError for an older release, and if it does not run over autoconv."""
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


def register_traced_containers() -> None:
    """Register the lists and dicts of traced code with Keras' trees. Trees that are mapped have Python's own instead.

    Keras passes the arguments of layers, losses and metrics through such trees.
    """
    register = importlib.import_module("optree").register_pytree_node
    register(TracedList, lambda list_: (tuple(list_), None), lambda _, items: list(items), namespace="keras")
    register(
        TracedDict, _sorted_values, lambda keys, values: dict(zip(keys, values, strict=True)), namespace="keras"
    )


def _sorted_values(dict_: dict[Any, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the values in the order of their keys, and twice these keys."""
    keys = sorted(dict_)
    return [dict_[key] for key in keys], keys, keys


@functools.cache
def _with_tensorflow_names(keras: ModuleType) -> ModuleType:
    """Return Keras itself, in whose modules the names that Keras has only in `tf.keras` are found, too."""
    _add_names("autoconv.keras", keras, importlib.import_module("keras._tf_keras.keras"))
    return keras


def _add_names(name: str, module: ModuleType, source: ModuleType) -> None:
    """Let a module and its submodules find the further names of `source`, and register the module as `name`.

    Names of the module stay as they are: a function for missing attributes (PEP 562) finds those of `source`.
    """
    sys.modules[name] = module
    further_attributes: dict[str, Any] = {}
    for key, value in vars(source).items():
        own_value = vars(module).get(key)
        if isinstance(value, ModuleType) and isinstance(own_value, ModuleType):
            _add_names(f"{name}.{key}", own_value, value)
        elif key not in vars(module) and not key.startswith("__"):
            further_attributes[key] = value
            if isinstance(value, ModuleType):
                _register_modules(f"{name}.{key}", value)

    def find_attribute(key: str) -> Any:
        if key not in further_attributes:
            raise AttributeError(f"module {module.__name__!r} has no attribute {key!r}")
        return further_attributes[key]

    if further_attributes and "__getattr__" not in vars(module):
        vars(module)["__getattr__"] = find_attribute


def _register_modules(name: str, module: ModuleType) -> None:
    """Register a module and its submodules for imports under the name."""
    sys.modules[name] = module
    for key, value in vars(module).items():
        if isinstance(value, ModuleType) and value.__name__.startswith(f"{module.__name__}."):
            _register_modules(f"{name}.{key}", value)
