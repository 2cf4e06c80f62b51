"""Sets along the last dimension of tensors."""

from autoconv.api.sparse.sets import difference, intersection, size, union
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = ["difference", "intersection", "size", "union"]

_present_functions(globals())
