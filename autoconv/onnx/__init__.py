"""Functions as ONNX models, and ONNX models as functions (the extra `onnx`).

A model's inputs are the function's tensors in order, by the names of its parameters; variables and arrays from outside
that it only reads are part of the model. Its outputs are `result_0` and so on, `new_NAME` for what it writes, and
`autoconv_error`: 0, or the number of the place that failed first, which the model's metadata names.
"""

from autoconv.backends.portable import GraphUnfit
from autoconv.onnx.exporting import export
from autoconv.onnx.loading import Model, load
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = ["GraphUnfit", "Model", "export", "load"]

_wrap_public_functions(globals())
