"""Native code for eager calls of ops whose kernels are slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.hooks import Hook
from autoconv.ops.record import Op

_MIN_ELEMENTS = 4096  # elements of a call; kernels take less than a millisecond for fewer
# Elements that an op's kernel computes before the op is compiled: that takes about as long as to compile it.
_COMPILE_THRESHOLD = 1 << 18

# (op, attributes, types) -> a function of arrays, or None without native code. A type is a dtype's name, and whether
# the operand is an array.
_COMPILE_HOOK: Hook = Hook("autoconv.tracing.execute.single_ops")
_computed_elements: Counter[str] = Counter()


def run(op: Op, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Run an elementwise op: by native code if the arrays are large and the op is used often, or by its kernel."""
    assert op.kernel is not None
    size = max(np.size(array) for array in arrays)
    if size >= _MIN_ELEMENTS and all(np.ndim(array) == 0 or np.shape(array) == np.shape(arrays[0]) for array in arrays):
        _computed_elements[op.name] += size
        if _computed_elements[op.name] >= _COMPILE_THRESHOLD:
            types = tuple((array.dtype.name, np.ndim(array) > 0) for array in arrays)
            compiled_op = _COMPILE_HOOK(op, attributes, types)
            if compiled_op is not None:
                vectors = [np.ascontiguousarray(array).reshape(-1) if np.ndim(array) else array for array in arrays]
                return compiled_op(vectors).reshape(np.shape(arrays[0]))
    return op.kernel(*arrays, **attributes)


set_compiler = _COMPILE_HOOK.set
