"""Turn ordinary Python into compiled, differentiable dataflow graphs."""

# ruff: noqa: E402
from __future__ import annotations

from autoconv._start import end_quietly_while_loading, leave_current_folder

leave_current_folder()  # before anything third-party is imported
end_quietly_while_loading()

from importlib import import_module
from os import environ
from sys import _getframe, modules

from autoconv.forks import LazyImport  # now, as a fork during its import could not wait for it

TYPE_CHECKING = False  # the name that type checkers take for true; its module `typing` takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from autoconv import importing as importing
    from autoconv import keras as keras
    from autoconv import tensorflow as tensorflow
    from autoconv._public import *  # noqa: F403

__version__ = "0.1.0"


def _load(name: str) -> Any:
    """Load the public names of `_public` at the first use of one of them.

    The command line and the import hook convert without NumPy and the ops, and need not wait for their import.
    """
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'autoconv' has no attribute {name!r}")
    with LazyImport(freezes=True):
        if name in _LAZY_MODULES:
            return import_module(f"autoconv.{name}")
        if name in _TENSORFLOW_MODULES:
            return import_module(f"autoconv.tensorflow.{name}")
        if name in _KERAS_MODULES:
            return getattr(import_module("autoconv.keras"), name)
        if name in _MODULE_BY_NAME:
            return getattr(import_module(_MODULE_BY_NAME[name]), name)
        helper_process = import_module("autoconv.helper_process")
        if "autoconv._public" not in modules:  # later, the caller is a module of this package
            helper_process.start_ahead(_calling_file())
        public_names = vars(import_module("autoconv._public"))
        helper_process.reap_child()
    if "__all__" not in public_names:  # this thread is loading it right now, and imports the module of that name next
        raise AttributeError(name)
    globals().update({key: public_names[key] for key in ("__all__", *public_names["__all__"]) if key in public_names})
    if name not in globals():
        message = import_module("autoconv.tensorflow.absent_names").message("autoconv", name)
        raise AttributeError(message, name=name, obj=modules[__name__])  # Python appends a similar name
    return globals()[name]


def _calling_file() -> str:
    """Return the file of the code that takes a name of this package."""
    frame = _getframe(2)
    while frame.f_code.co_filename.startswith("<frozen importlib") and frame.f_back is not None:
        frame = frame.f_back  # `from autoconv import name`
    return frame.f_code.co_filename


# Modules that do not need the public names: each is loaded at its first use.
_LAZY_MODULES = frozenset({
    "clibrary", "compat", "data", "debugging", "distribute", "experimental", "image", "importing", "io", "keras",
    "lookup", "onnx", "quantization", "ragged", "saved_model", "sets", "signal", "sparse", "stablehlo", "summary",
    "tensorflow", "train", "xp",
})  # fmt: skip
# Modules of the package `autoconv.tensorflow`, which only programs for TensorFlow use.
_TENSORFLOW_MODULES = frozenset({
    "audio", "graph_util", "profiler", "queue", "raw_ops", "sysconfig", "test", "version", "xla",
})  # fmt: skip
_MODULE_BY_NAME = {
    "OptionalSpec": "autoconv.data.optional",
    "make_ndarray": "autoconv.io.tensor_protos", "make_tensor_proto": "autoconv.io.tensor_protos",
}  # fmt: skip  # their modules load others, which `_public` need not
_KERAS_MODULES = ("initializers", "losses", "metrics", "optimizers")


if not TYPE_CHECKING:  # type checkers read the imports above, so that other names are errors for them
    __getattr__ = _load


if environ.get("KERAS_BACKEND") == "autoconv":
    import_module("autoconv.tensorflow.keras_package").prepare()


def load_ipython_extension(shell: Any) -> None:
    """Hook for `%load_ext autoconv`: add the cell magic `%%autoconv`."""
    import_module("autoconv.notebook").load(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *_load("__all__"), "importing"})
