"""One function in one file: its traces, the variables that it uses, and its large constants.

The file is a safetensors file. Its metadata has the graphs as text, the signatures, the checksums of the
arrays, and a checksum of the metadata.
"""

from __future__ import annotations

import os
from typing import Any

from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import recording
from autoconv.saved_model.load import Loading
from autoconv.saved_model.loaded_function import LoadedFunction
from autoconv.saved_model.objects import FUNCTION_CLASSES
from autoconv.saved_model.options import LoadOptions, SaveOptions
from autoconv.saved_model.save import make_content
from autoconv.storage.arrays import DocumentFormat, damage_of_document
from autoconv.tracing.api.function import Function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction

FORMAT = DocumentFormat("autoconv.function", version=1, file_kind="file of a saved function")


def save_function(function: object, path: str | os.PathLike[str]) -> None:
    """Write a function with its traces, and the variables that they use, to one file.

    Existing traces are saved, and the trace of the `input_signature`. The file is written completely or not at
    all. Raises TypeError for anything but a function, and ValueError for one without a trace. Raises AssertionError for
    one that uses an asset, which a folder of `save` can hold. Raises AutoconvError for Python functions in the graph.

    >>> import os, tempfile
    >>> scale = autoconv.Variable(2.0)
    >>> scaled = autoconv.function(lambda x: x * scale, input_signature=[autoconv.TensorSpec([None])])
    >>> path = os.path.join(tempfile.mkdtemp(), "scaled.safetensors")
    >>> autoconv.saved_model.save_function(scaled, path)
    >>> autoconv.saved_model.load_function(path)([1.0, 2.0]).numpy()
    array([2., 4.], dtype=float32)
    """
    if not isinstance(function, FUNCTION_CLASSES):
        raise TypeError(f"save_function takes what autoconv.function returns; found {function!r}")
    traces = _traces(function)
    if not traces:
        raise ValueError(f"{function!r} has no trace to save: call it, or give it an input_signature")
    variables = {id(variable.storage): variable for trace in traces for variable in trace.variables}
    with recording(region=None):
        saved_object = {"function": function, "variables": list(variables.values())}
        content = make_content(saved_object, {}, SaveOptions())
    writer = content.writer
    FORMAT.write(path, writer.arrays, {"format": FORMAT.name, "graphs": writer.graphs, **content.index_values})


def load_function(path: str | os.PathLike[str]) -> LoadedFunction:
    """Return the function of a file that `save_function` wrote; its `variables` are those that it uses.

    Only graphs of the file are executed, after verification. Raises NotFoundError without the file, ValueError
    for another version, and DataLossError for damage and for other files.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "doubled.safetensors")
    >>> doubled = autoconv.function(lambda x: x * 2, input_signature=[autoconv.TensorSpec([], autoconv.int32)])
    >>> autoconv.saved_model.save_function(doubled, path)
    >>> autoconv.saved_model.load_function(path)(3).numpy()
    np.int32(6)
    """
    index, arrays = FORMAT.open(path)
    with recording(region=None), damage_of_document(path):
        loaded_object = Loading(index, index["graphs"], arrays, [], LoadOptions()).load_root()
        function, variables = loaded_object["function"], tuple(loaded_object["variables"])
    if not isinstance(function, LoadedFunction) or not all(isinstance(variable, Variable) for variable in variables):
        raise FORMAT.other_file(path)
    function.variables = variables
    return function


def _traces(function: Function[..., Any] | LoadedFunction | ConcreteFunction) -> list[ConcreteFunction]:
    """Return the traces of a function that can be saved."""
    if isinstance(function, ConcreteFunction):
        return [function]
    if isinstance(function, LoadedFunction):
        return function.concrete_functions
    return list(function._list_all_concrete_functions_for_serialization())
