"""Functions as ONNX models."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import autoconv.numpy  # noqa: F401  (its import registers NumPy's functions)
from autoconv.backends.onnx import to_onnx
from autoconv.graph.effects import Effects
from autoconv.graph.types import ResourceType
from autoconv.onnx.checksum import add_checksum
from autoconv.runtime.objects.storage import Storage
from autoconv.storage.files import replacing
from autoconv.tracing.api.declared_arguments import trace_for_export
from autoconv.tracing.views.portable import prepare


def export(
    function: Any, *specs: Any, path: str | PathLike[str] | None = None, capacity: int = 64, contract: str = "function"
) -> Any:
    """Return a function for arguments of these specs as an `onnx.ModelProto`.

    With `path` the model is also written there, with a checksum. `specs` are TensorSpecs, texts such as "float32[n,3]",
    or Python's values, which are constants of the model; sizes that are None, or names, stay open. A function that is
    not decorated is traced under `contract`. Lists that the graph makes have at most `capacity` elements: a longer one
    sets the error output. Raises GraphUnfit, with the op and its place, for an op that ONNX has no form for, and
    AutoconvError where the package onnx is missing.

    >>> model = autoconv.onnx.export(lambda x: x * 2.0, autoconv.TensorSpec([None], autoconv.float32))
    >>> [output.name for output in model.graph.output]
    ['result_0', 'autoconv_error']
    """
    trace = trace_for_export(function, specs, contract)
    concrete = trace.concrete
    graph = prepare(trace.graph, trace.types)
    first_capture = len(graph.parameters) - len(concrete.captures)
    has_writes = bool(graph.effects & Effects.WRITE)
    constants = {  # by the positions of parameters
        i: np.asarray(capture.value if isinstance(capture, Storage) else getattr(capture, "_array", capture))
        for i, capture in enumerate(concrete.captures, first_capture)
        if not (has_writes and isinstance(graph.parameters[i].type, ResourceType))
    }
    with trace.located_refusals():
        model = to_onnx(graph, capacity, constants)
    if path is not None:
        with replacing(str(path)) as temporary:
            Path(temporary).write_bytes(add_checksum(model.SerializeToString()))
    return model
