"""Sets along the last dimension of tensors."""

from autoconv.api.sparse.sets import difference, intersection, size, union
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = ["difference", "intersection", "size", "union"]

_wrap_public_functions(globals())
