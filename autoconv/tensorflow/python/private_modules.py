"""Private modules of TensorFlow whose names are public ones: `tensorflow.python.ops.array_ops.concat` is `concat`.

A module that is neither in the rows nor a file of this folder does not exist. A name that none of a module's public
namespaces has raises AttributeError.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from autoconv.tensorflow.missing import Missing

_PACKAGE = __package__ + "."
_ROOT = __package__.removesuffix(".python")
_VERSION_1 = "autoconv.compat.v1"
# Rows of a folder, its modules, and the namespaces in which their names are looked up before `compat.v1`.
_MODULE_ROWS = (
    ("client", "session", ""),
    ("data.ops", "dataset_ops iterator_ops readers", f"autoconv.data {_PACKAGE}data.sources"),
    ("data.ops", "from_generator_op from_sparse_tensor_slices_op from_tensor_slices_op from_tensors_op range_op",
     f"{_PACKAGE}data.sources"),
    ("data.util", "structure", ""),
    ("distribute", "input_lib input_ops", "autoconv.distribute"),
    ("eager", "backprop def_function", ""),
    ("eager", "forwardprop", "autoconv.autodiff"),
    ("framework", "constant_op device_spec dtypes function graph_util importer indexed_slices random_seed", ""),
    ("framework", "sparse_tensor tensor versions", ""),
    ("framework", "errors errors_impl", "autoconv.errors"),
    ("framework", "extension_type", "autoconv.experimental"),
    ("keras.engine", "input_spec", "autoconv.keras"),
    ("layers", "base convolutional core layers normalization pooling", f"{_VERSION_1}.layers"),
    ("lib.io", "file_io", f"{_VERSION_1}.gfile"),
    ("lib.io", "python_io", f"{_VERSION_1}.python_io"),
    ("module", "module", ""),
    ("ops", "array_ops bitwise_ops check_ops clip_ops cond confusion_matrix custom_gradient", ""),
    ("ops", "data_flow_ops functional_ops gradients gradients_impl histogram_ops linalg_ops", ""),
    ("ops", "logging_ops map_fn numerics partitioned_variables script_ops sort_ops special_math_ops", ""),
    ("ops", "standard_ops state_ops template tensor_array_ops variable_scope variables while_loop", ""),
    ("ops", "candidate_sampling_ops ctc_ops embedding_ops nn nn_impl nn_ops rnn", f"{_VERSION_1}.nn"),
    ("ops", "rnn_cell rnn_cell_impl", f"{_VERSION_1}.nn.rnn_cell"),
    ("ops", "image_ops image_ops_impl", f"{_VERSION_1}.image"),
    ("ops", "init_ops_v2", "autoconv.initializers"),
    ("ops", "io_ops parsing_ops", f"{_VERSION_1}.io"),
    ("ops", "lookup_ops", "autoconv.lookup"),
    ("ops", "math_ops", f"{_VERSION_1}.math"),
    ("ops", "metrics metrics_impl", f"{_VERSION_1}.metrics"),
    ("ops", "gen_resource_variable_ops", ""),
    ("ops", "sets", f"{_VERSION_1}.sets"),
    ("ops", "sparse_ops", f"{_VERSION_1}.sparse"),
    ("ops", "stateless_random_ops", "autoconv.random"),
    ("ops", "string_ops", f"{_VERSION_1}.strings"),
    ("ops.linalg", "linalg linalg_impl", "autoconv.linalg"),
    ("ops.losses", "losses losses_impl util", f"{_VERSION_1}.losses"),
    ("ops.ragged", "ragged_array_ops ragged_factory_ops ragged_map_ops ragged_math_ops", "autoconv.ragged"),
    ("ops.signal", "fft_ops signal spectral_ops window_ops", "autoconv.signal"),
    ("platform", "app", f"{_VERSION_1}.app"),
    ("platform", "flags", f"{_VERSION_1}.flags"),
    ("platform", "gfile", f"{_VERSION_1}.gfile"),
    ("platform", "googletest test", f"{_VERSION_1}.test"),
    ("platform", "tf_logging", f"{_VERSION_1}.logging"),
    ("saved_model", "load loader save saved_model", f"{_VERSION_1}.saved_model"),
    ("summary", "summary summary_iterator", f"{_VERSION_1}.summary"),
    ("trackable", "autotrackable base", f"{_ROOT}.__internal__.tracking"),
    ("training", "adadelta adagrad adam basic_session_run_hooks checkpoint_management", f"{_VERSION_1}.train"),
    ("training", "checkpoint_utils coordinator ftrl gradient_descent input learning_rate_decay", f"{_VERSION_1}.train"),
    ("training", "momentum monitored_session moving_averages optimizer queue_runner", f"{_VERSION_1}.train"),
    ("training", "queue_runner_impl rmsprop saver session_manager session_run_hook", f"{_VERSION_1}.train"),
    ("training", "training training_util", f"{_VERSION_1}.train"),
    ("util", "compat", "autoconv.compat"),
    ("util", "tf_contextlib", "contextlib"),
)
# Folders whose modules exist so that libraries can be imported: what is in them raises when it is used.
_FOLDERS_WITHOUT_CONTENT = {"autograph": "Use autoconv.autograph."}
_NAMESPACES = {f"{folder}.{module}": space for folder, modules, space in _MODULE_ROWS for module in modules.split()}


def _remedy(path: str) -> str | None:
    """Return what to use in place of a module without content; None for a module that has its content."""
    return _FOLDERS_WITHOUT_CONTENT.get(path.partition(".")[0])


def lookup_in(module: str, *namespaces: str) -> Callable[[str], object]:
    """Return a module's `__getattr__`, which finds a name in the first namespace that has it.

    A name that ends in `_v2` is the public name of version 2; one that ends in `_v1`, that of version 1.
    """

    def find(name: str) -> object:
        public_name, is_version_2 = name.removesuffix("_v1").removesuffix("_v2"), name.endswith("_v2")
        for path in (*namespaces, _VERSION_1, "autoconv"):
            if path.startswith(f"{_ROOT}."):
                importlib.import_module(path)  # so that it is an attribute of its package
            package, *members = path.replace(_VERSION_1, "autoconv").split(".") if is_version_2 else path.split(".")
            namespace = functools.reduce(getattr, members, importlib.import_module(package))
            if not name.startswith("__") and hasattr(namespace, public_name):
                return getattr(namespace, public_name)
        module_name = module.replace(_PACKAGE, "tensorflow.python.")
        raise AttributeError(f"module {module_name!r} has no attribute {name!r} (it is autoconv here)")

    return find


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder of the modules in the rows, and of the packages above these that have no folder here."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PACKAGE):
            return None
        path_below = fullname.removeprefix(_PACKAGE)
        is_folder = _remedy(path_below) is not None or any(known.startswith(f"{path_below}.") for known in _NAMESPACES)
        if not is_folder and path_below not in _NAMESPACES:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=is_folder)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: the module is an ordinary one."""

    def exec_module(self, module: ModuleType) -> None:
        path = module.__name__.removeprefix(_PACKAGE)
        remedy = _remedy(path)
        if remedy is not None:
            module.__getattr__ = Missing(f"python.{path}", remedy).__getattr__  # type: ignore[method-assign]
        namespace = _NAMESPACES.get(path)
        if namespace is not None:
            module.__getattr__ = lookup_in(module.__name__, *namespace.split())  # type: ignore[method-assign]


def install() -> None:
    """Add the finder behind Python's own, so that files of this folder come first."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
